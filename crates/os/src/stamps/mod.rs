//! The kernel's own stamps on datagrams: when one came in, when one was handed to the device. They are of the wall
//! clock; [`WallClock`] makes ticks of them.
//!
//! Software stamps alone: a card's own need a card, rights and a clock of their own.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;
mod wall;

use std::io;

use crate::Socket;

pub use wall::WallClock;

/// When a datagram was handed to the device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Handover {
    /// Datagrams that left the socket before it since [`enable`] or [`restart`], modulo 2³².
    pub number: u32,
    /// When, by the wall clock.
    pub wall_ns: u64,
}

/// Has the kernel stamp what comes to and leaves a datagram socket from now on. What leaves is numbered from 0.
pub fn enable(socket: &Socket) -> io::Result<()> {
    imp::enable(socket)
}

/// Numbers what leaves from 0 again. After a send that failed it is not known whether it took a number.
pub fn restart(socket: &Socket) -> io::Result<()> {
    imp::restart(socket)
}

/// Receives one datagram; when the kernel got it, by the wall clock, where it says so.
pub fn receive(
    socket: &Socket,
    room: &mut [u8],
    may_sleep: bool,
) -> io::Result<(usize, Option<u64>)> {
    imp::receive(socket, room, may_sleep)
}

/// The next word of a datagram that was handed to the device; `None` where none waits.
pub fn handover(socket: &Socket) -> io::Result<Option<Handover>> {
    imp::handover(socket)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;
    use crate::clock;
    use crate::sockets::{self, Settings};

    fn pair() -> (Socket, Socket) {
        let any = "127.0.0.1:0".parse().expect("an address");
        let one = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let address = one.local_addr().expect("bound");
        let other =
            sockets::connect_udp(address, &Settings { local: Some(any), ..Settings::default() });
        let other = other.expect("loopback");
        one.connect(other.local_addr().expect("bound")).expect("loopback");
        (one.into(), other)
    }

    #[test]
    fn stamps_lie_between_the_clock_readings_around_them() {
        let (one, other) = pair();
        enable(&one).expect("Linux stamps");
        enable(&other).expect("Linux stamps");
        let wall = WallClock::measure();
        let mut room = [0; 64];
        for number in 0..20 {
            let before = clock::now();
            assert_eq!(rustix::net::send(&one, &[7; 40], rustix::net::SendFlags::empty()), Ok(40));
            let (len, came) = receive(&other, &mut room, true).expect("it was sent");
            let after = clock::now();
            let left = handover(&one).expect("loopback stamps at once").expect("one was sent");
            assert_eq!((len, left.number), (40, number));
            let (left, came) = (wall.tick(left.wall_ns), wall.tick(came.expect("stamped")));
            let error = wall.error_ns();
            assert!(before.as_nanos() <= left.as_nanos() + error, "{before:?} {left:?} {error}");
            assert!(left <= came, "{left:?} {came:?}");
            assert!(came.as_nanos() <= after.as_nanos() + error, "{came:?} {after:?} {error}");
            assert_eq!(handover(&one).expect("nothing is wrong"), None);
        }
        restart(&one).expect("it was enabled");
        assert_eq!(rustix::net::send(&one, &[7; 40], rustix::net::SendFlags::empty()), Ok(40));
        assert_eq!(handover(&one).expect("stamps").map(|left| left.number), Some(0));
        let nothing = receive(&one, &mut room, false).expect_err("nobody answers");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }
}
