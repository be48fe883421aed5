//! A relay in front of a server that looks at what each data connection says before it is answered, and spoils some of them. Not
//! `relay`, which lets openings through as they come.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::caller::{PATIENCE, crc};

/// Lengths of openings and of what every opening begins with: `docs/protocol.md`, section 1.
const SHORT: usize = 32;
const LONG: usize = 48;
/// Of a frame before its body, and of its last check.
const HEAD: usize = 28;
const CHECK: usize = 4;

/// What is done with a data connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Treat {
    /// So many bytes may stand behind its opening before the server hears of it, all of them or none.
    Ahead(usize),
    /// It is taken and never answered.
    Mute,
    /// It is reset when its opening has come.
    Reset,
    /// The path flips a bit of its opening, and another connection of that flow is let through.
    Damaged,
    /// The path flips a bit of the byte at this place behind its opening.
    Spoilt(usize),
}

/// Whether the server's greeting says that it takes early data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Capability {
    Told,
    /// It is as that of an older one.
    Hidden,
    /// The client's opening is one of version 1, in which there is none.
    OfVersion1,
}

/// What came through.
#[derive(Debug, Default)]
pub struct Gate {
    /// Data connections that said what they might.
    pub ahead: AtomicU64,
    /// Those that said nothing ahead.
    pub plain: AtomicU64,
    /// Those that said more, or less.
    pub wrong: AtomicU64,
    /// Those that were spoilt.
    pub spoilt: AtomicU64,
}

impl Gate {
    /// Relays every connection to `server` for as long as the test runs, and treats those of data as is said of their flow.
    pub fn before(
        server: SocketAddr,
        capability: Capability,
        treat: impl Fn(u32) -> Treat + Send + Sync + 'static,
    ) -> (String, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        let gate = Arc::new(Self::default());
        let (counts, treat) = (Arc::clone(&gate), Arc::new(treat));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (gate, treat) = (Arc::clone(&counts), Arc::clone(&treat));
                std::thread::spawn(move || {
                    let carried = gate.carry(client, server, capability, |flow| treat(flow));
                    // Its two ends are gone.
                    drop(carried);
                });
            }
        });
        (address, gate)
    }

    fn carry(
        &self,
        mut client: TcpStream,
        server: SocketAddr,
        capability: Capability,
        treat: impl Fn(u32) -> Treat,
    ) -> io::Result<()> {
        client.set_read_timeout(Some(PATIENCE))?;
        let mut said = read(&mut client, SHORT)?;
        let kind = said[8];
        if matches!(kind, 3 | 4) {
            said.extend(read(&mut client, LONG - SHORT)?);
        }
        let flow = u32::from_be_bytes([said[12], said[13], said[14], said[15]]);
        if kind == 1 && capability == Capability::OfVersion1 {
            // Without its check.
            said[16..].fill(0);
        }
        let treated = if matches!(kind, 2 | 4) { Some(treat(flow)) } else { None };
        if let Some(treated) = treated
            && !self.looks_at(&mut client, &mut said, treated)?
        {
            return Ok(());
        }
        let mut server = TcpStream::connect(server)?;
        server.write_all(&said)?;
        client.set_read_timeout(None)?;
        let (mut from_server, to_client) = (server.try_clone()?, client.try_clone()?);
        std::thread::spawn(move || {
            let mut to = to_client.try_clone()?;
            if kind == 1 && capability == Capability::Hidden {
                to.write_all(&without_capability(&mut from_server)?)?;
            }
            copy(from_server, to_client)
        });
        copy(client, server)
    }

    /// Whether a data connection goes on to the server.
    fn looks_at(
        &self,
        client: &mut TcpStream,
        said: &mut Vec<u8>,
        treated: Treat,
    ) -> io::Result<bool> {
        if !matches!(treated, Treat::Ahead(_)) {
            self.spoilt.fetch_add(1, Ordering::SeqCst);
        }
        match treated {
            Treat::Ahead(bytes) => {
                let there = there(client, bytes + 1)?;
                let count = match there {
                    0 => &self.plain,
                    some if some == bytes => &self.ahead,
                    _ => &self.wrong,
                };
                count.fetch_add(1, Ordering::SeqCst);
                said.extend(read(client, there)?);
                Ok(true)
            }
            Treat::Mute => {
                // Until it is given up, whenever that is.
                client.set_read_timeout(None)?;
                io::copy(client, &mut io::sink()).map(|_| false)
            }
            // Closed with something unread.
            Treat::Reset => client.peek(&mut [0]).map(|_| false),
            Treat::Damaged => {
                said[20] ^= 1;
                Ok(true)
            }
            Treat::Spoilt(place) => {
                let mut ahead = read(client, place + 1)?;
                ahead[place] ^= 1;
                said.extend(ahead);
                Ok(true)
            }
        }
    }
}

/// How many bytes stand behind an opening, of so many at the most. What a client says ahead it says with the opening, and over loopback
/// one send comes as one.
fn there(client: &TcpStream, most: usize) -> io::Result<usize> {
    client.set_nonblocking(true)?;
    let there = client.peek(&mut vec![0; most]);
    client.set_nonblocking(false)?;
    match there {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        there => there,
    }
}

/// The first frame of a server, whose welcome does not name the capability.
fn without_capability(server: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut frame = read(server, HEAD)?;
    let body = usize::from(u16::from_be_bytes([frame[6], frame[7]]));
    frame.extend(read(server, body)?);
    let named = b"early_data";
    let place = frame.windows(named.len()).position(|bytes| bytes == named);
    let place = place.expect("the first frame has its capabilities");
    frame[place..place + named.len()].copy_from_slice(b"other_data");
    let check = crc(&frame).to_be_bytes();
    read(server, CHECK)?;
    frame.extend(check);
    Ok(frame)
}

fn read(stream: &mut TcpStream, bytes: usize) -> io::Result<Vec<u8>> {
    let mut read = vec![0; bytes];
    stream.read_exact(&mut read)?;
    Ok(read)
}

fn copy(mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
    let copied = io::copy(&mut from, &mut to);
    // Whatever ended it ends there as well; the other way goes on until its own end.
    to.shutdown(Shutdown::Write)?;
    copied.map(drop)
}
