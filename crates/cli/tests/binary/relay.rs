//! A relay of TCP connections on loopback, for tests: both ends see its addresses and not each other's, and
//! one data connection can be spoilt on its way. Not the lab's relay, which moves packets.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// What happens to one data connection.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Of which flow.
    pub flow: u32,
    /// At which byte of what its server sends, else its client.
    pub down: bool,
    pub at: u64,
    pub what: What,
    /// Whether the end of one side is not told to the other, so that it waits for ever.
    pub half_open: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// A bit is flipped.
    Flip,
    /// That byte and what follows it never arrives.
    Swallow,
}

impl Fault {
    /// A bit of what the client sends.
    pub const fn flip(flow: u32, at: u64) -> Self {
        Self { flow, down: false, at, what: What::Flip, half_open: false }
    }
}

/// Relays every connection to `server`, for as long as the test runs.
pub fn relay(server: &str, fault: Option<Fault>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let server = server.to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&server) else { return };
            std::thread::spawn(move || carry(client, server, fault));
        }
    });
    address
}

/// Bytes of the opening of every connection: `docs/protocol.md`, section 1.
const OPENING: usize = 32;
/// Bytes of the server's answer to one of data.
const ACK: u64 = 4;

/// Bytes of one of version 2 that is no greeting.
const LONG_OPENING: usize = 48;

/// Lets the opening of a connection through.
pub fn pass_opening(client: &mut TcpStream, server: &mut TcpStream) -> Option<[u8; OPENING]> {
    let mut said = [0; LONG_OPENING];
    client.read_exact(&mut said[..OPENING]).ok()?;
    let length = if matches!(said[8], 3 | 4) { LONG_OPENING } else { OPENING };
    client.read_exact(&mut said[OPENING..length]).ok()?;
    server.write_all(&said[..length]).ok()?;
    said.first_chunk().copied()
}

fn carry(mut client: TcpStream, mut server: TcpStream, fault: Option<Fault>) {
    let Some(opening) = pass_opening(&mut client, &mut server) else { return };
    let flow = u32::from_be_bytes([opening[12], opening[13], opening[14], opening[15]]);
    let fault = fault.filter(|fault| matches!(opening[8], 2 | 4) && flow == fault.flow);
    let (up, down) = match fault {
        Some(fault) if fault.down => (None, Some((fault.at + ACK, fault.what))),
        Some(fault) => (Some((fault.at, fault.what)), None),
        None => (None, None),
    };
    let half_open = fault.is_some_and(|fault| fault.half_open);
    let (Ok(from_server), Ok(to_client)) = (server.try_clone(), client.try_clone()) else { return };
    std::thread::spawn(move || copy(from_server, to_client, (down, half_open)));
    copy(client, server, (up, half_open));
}

fn copy(mut from: TcpStream, mut to: TcpStream, (fault, half_open): (Option<(u64, What)>, bool)) {
    let mut buffer = vec![0; 64 << 10];
    let mut position = 0;
    let mut is_swallowing = false;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let index = fault.and_then(|(at, _)| usize::try_from(at.checked_sub(position)?).ok());
        let mut passed = count;
        match (fault, index.filter(|&index| index < count)) {
            (Some((_, What::Flip)), Some(index)) => buffer[index] ^= 1,
            (Some((_, What::Swallow)), Some(index)) => {
                passed = index;
                is_swallowing = true;
            }
            _ if is_swallowing => passed = 0,
            _ => {}
        }
        position += count as u64;
        if to.write_all(&buffer[..passed]).is_err() {
            break;
        }
    }
    if half_open {
        // Both stay open, whatever became of the other, and nothing is read any more.
        std::mem::forget((from, to));
        return;
    }
    // The other way goes on until its own end.
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
