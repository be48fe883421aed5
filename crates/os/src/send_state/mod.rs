//! What a connected TCP socket waits for at a moment: what is unsent, what is on its way, who has room for more.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use pathscope_core::sending::SendState;

use crate::Socket;

/// How this socket stands; `None` where the kernel does not say, for anything but TCP, and for a connection that is gone.
pub fn send_state(socket: &Socket) -> Option<SendState> {
    imp::send_state(socket)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use pathscope_core::sending::HeldBy;

    use super::*;

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let sender = TcpStream::connect(address).expect("it listens");
        (sender, listener.accept().expect("it has come").0)
    }

    /// Looks until it is so; not for ever.
    fn await_state(socket: &Socket, mut holds: impl FnMut(&SendState) -> bool) -> SendState {
        let end = crate::clock::now().plus_nanos(20_000_000_000);
        loop {
            let state = send_state(socket).expect("connected");
            if holds(&state) {
                return state;
            }
            assert!(crate::clock::now() < end, "{state:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_reader_that_takes_nothing_is_told_from_a_program_that_gives_nothing() {
        let (sender, mut reader) = connection();
        let socket = Socket::from(sender.try_clone().expect("one more descriptor"));
        let idle = await_state(&socket, SendState::is_delivered);
        assert_eq!(idle.held_by(), HeldBy::Program);

        sender.set_nonblocking(true).expect("a socket");
        let mut sent = 0;
        let data = vec![7; 1 << 20];
        // Until both buffers are full, and the kernel has found out that the window is closed.
        let held = await_state(&socket, |state| {
            sent += (&sender).write(&data).unwrap_or(0);
            !state.has_room && state.held_by() == HeldBy::ReceiveWindow
        });
        assert!(held.unsent_bytes > 0 && !held.is_delivered(), "{held:?}");

        let mut left = sent;
        reader.set_nonblocking(true).expect("a socket");
        let mut room = vec![0; 1 << 20];
        let delivered = await_state(&socket, |state| {
            left -= reader.read(&mut room).unwrap_or(0);
            left == 0 && state.is_delivered()
        });
        assert_eq!(delivered.held_by(), HeldBy::Program);
        assert!(delivered.acknowledged_bytes >= sent as u64, "{delivered:?}");
    }

    #[test]
    fn what_is_no_tcp_connection_has_no_state() {
        let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
        assert_eq!(send_state(&Socket::from(datagrams)), None);
        let (sender, reader) = connection();
        let socket = Socket::from(sender);
        socket.reset().expect("connected");
        assert_eq!(send_state(&socket), None);
        drop(reader);
    }
}
