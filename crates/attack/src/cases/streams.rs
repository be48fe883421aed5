//! Streams over UDP that nobody asks for any more, and media that takes memory.

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use crate::caller::Caller;
use crate::crowd::at_once;
use crate::datagrams::{Seat, consent, count};
use crate::ground::Ground;
use crate::random::Random;
use crate::tests_asked_for as asked;
use crate::wire::{Token, Version};
use crate::{clock, sockets};

/// What is asked for: some 8,900 datagrams a second.
const RATE_BPS: u64 = 100_000_000;

struct Stream {
    caller: Caller,
    token: Token,
    socket: UdpSocket,
}

/// A stream that runs.
fn open(ground: &Ground, test: &serde_json::Value, index: u32) -> io::Result<Stream> {
    let source = ground.address(index);
    let mut caller = Caller::greet(source, ground.server, ground.version)?;
    let token = caller.propose(test)?;
    let socket = sockets::seat(source, 0, ground.server)?;
    let code = Seat::first(caller.pass(token)).take(&socket, &mut Random(u64::from(index) + 5))?;
    if code != 0 {
        return Err(io::Error::other(format!("the seat was refused by code {code}")));
    }
    caller.start()?;
    Ok(Stream { caller, token, socket })
}

/// The receiver stays where it is and never asks: 5 s after the start no datagram may leave. A second is allowed for
/// those on their way, and for a machine at work.
pub fn no_consent(ground: &Ground) -> io::Result<()> {
    let mut stream = open(ground, &asked::datagrams("pull", 1, RATE_BPS), 0)?;
    let before = count(&stream.socket, Duration::from_secs(6));
    stream.caller.tend(clock::now() + Duration::from_millis(50))?;
    let after = count(&stream.socket, clock::left(ground.until));
    ground.add("datagrams before", before);
    ground.add("datagrams after", after);
    if before == 0 {
        ground.broken("the stream never began".to_owned());
    }
    if after > 0 {
        ground.broken(format!("{after} datagrams came more than 6 s after the last consent"));
    }
    Ok(())
}

/// The receiver asks for 2 s, and closes its socket. After 0.8 s, and a second for a machine at work, no datagram may
/// come to whoever has the port then.
pub fn receiver_gone(ground: &Ground) -> io::Result<()> {
    let mut stream = open(ground, &asked::datagrams("pull", 1, RATE_BPS), 0)?;
    let mut before = 0;
    for number in 0..8 {
        if ground.version == Version::Two {
            stream.socket.send(&consent(stream.token, 0, number))?;
        }
        before += count(&stream.socket, Duration::from_millis(250));
        stream.caller.tend(clock::now() + Duration::from_millis(1))?;
    }
    let port = stream.socket.local_addr()?.port();
    drop(stream.socket);
    stream.caller.tend(clock::now() + Duration::from_millis(1_800))?;
    let heir = sockets::seat(ground.address(0), port, ground.server)?;
    let after = count(&heir, Duration::from_secs(3));
    ground.add("datagrams before", before);
    ground.add("datagrams after", after);
    if before == 0 {
        ground.broken("the stream never began".to_owned());
    }
    if after > 0 {
        ground.broken(format!("{after} datagrams came 1.8 s after the socket was closed"));
    }
    Ok(())
}

/// Rates and frame rates of media, those first that take most memory to remember.
const MEDIA: [(u64, u32); 6] = [
    (1_000_000_000, 10_000),
    (200_000_000, 10_000),
    (50_000_000, 5_000),
    (200_000_000, 1_000),
    (50_000_000, 1_000),
    (5_000_000, 30),
];

/// Media both ways with the deepest buffer, and the most frames of which the server accepts one stream.
pub fn media_depth(ground: &Ground) -> io::Result<()> {
    at_once(16, |index| {
        let begun = MEDIA.iter().find_map(|(rate_bps, frame_rate)| {
            let test = asked::media(*rate_bps, *frame_rate, 60_000_000_000);
            open(ground, &test, index).ok().inspect(|_| {
                ground.count(&format!("streams of {frame_rate} frames a second"));
            })
        });
        let Some(mut stream) = begun else { return ground.count("streams refused") };
        let mut number = 0;
        while ground.goes_on() {
            // What the kernel refuses now it takes later.
            let _ = stream.socket.send(&consent(stream.token, 0, number));
            number += 1;
            count(&stream.socket, Duration::from_millis(200));
            if stream.caller.tend(clock::now() + Duration::from_millis(50)).is_err() {
                return ground.count("streams ended by the server");
            }
        }
    })
}
