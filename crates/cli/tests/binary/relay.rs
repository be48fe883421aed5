//! A relay of TCP connections on loopback, for tests: both ends see its addresses and not each other's, and
//! one data connection can be damaged on its way up. Not the lab's relay, which moves packets.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// A bit to flip: in which flow, at which byte of what its client sends.
#[derive(Clone, Copy, Debug)]
pub struct Flip {
    pub flow: u32,
    pub at: u64,
}

/// Relays every connection to `server`, for as long as the test runs.
pub fn relay(server: &str, flip: Option<Flip>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let server = server.to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&server) else { return };
            std::thread::spawn(move || carry(client, server, flip));
        }
    });
    address
}

/// Bytes of the opening of every connection: `docs/protocol.md`, section 1.
const OPENING: usize = 32;

fn carry(mut client: TcpStream, mut server: TcpStream, flip: Option<Flip>) {
    let mut opening = [0; OPENING];
    if client.read_exact(&mut opening).is_err() || server.write_all(&opening).is_err() {
        return;
    }
    let flow = u32::from_be_bytes([opening[12], opening[13], opening[14], opening[15]]);
    let flip = flip.filter(|flip| opening[8] == 2 && flow == flip.flow);
    let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else { return };
    std::thread::spawn(move || copy(from_server, to_client, None));
    copy(client, server, flip.map(|flip| flip.at));
}

fn copy(mut from: TcpStream, mut to: TcpStream, flip_at: Option<u64>) {
    let mut buffer = vec![0; 64 << 10];
    let mut position = 0;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let index = flip_at.and_then(|at| usize::try_from(at.checked_sub(position)?).ok());
        if let Some(byte) = index.and_then(|index| buffer[..count].get_mut(index)) {
            *byte ^= 1;
        }
        position += count as u64;
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other way goes on until its own end.
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
