//! A server's port as a client finds it, with somebody in between: sessions are recorded there, or changed.
//!
//! Control connections are taken apart into messages and put together again under numbers and checks of their own.
//! Data connections and datagrams go through as they are; of datagrams some are changed where messages are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::change::{Saying, changed, flipped};
use crate::clients::refuse_return;
use crate::random::Random;
use crate::wire::{Framing, Message, Version, kind};

/// What a session was made of.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// What the client said after its hello.
    pub by_client: Vec<Message>,
    /// What the server said.
    pub by_server: Vec<Message>,
    /// Data connections: group, flow, lane.
    pub attached: Vec<(u8, u32, u8)>,
    /// Seats: the same.
    pub seats: Vec<(u8, u32, u8)>,
}

/// What is done to a session.
#[derive(Debug)]
pub struct Plan {
    /// The server.
    pub server: SocketAddr,
    /// Whether the client's opening is turned into one of version 1.
    pub old: bool,
    /// How many in a hundred messages of the server are changed; 0 where sessions are recorded.
    pub percent_by_server: usize,
    /// The same of the client's.
    pub percent_by_client: usize,
    /// What changes are drawn from.
    pub seed: u64,
    /// Messages that may be said in between.
    pub others: Vec<Message>,
}

/// The port. Its threads end soon after the value.
#[derive(Debug)]
pub struct Middle {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    plan: Plan,
    over: AtomicBool,
    changes: AtomicU64,
    recording: Mutex<Recording>,
}

impl Middle {
    /// Listens, TCP and UDP, on one port of loopback.
    pub fn start(plan: Plan) -> io::Result<Self> {
        let (listener, socket) = both()?;
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        let state = Arc::new(State {
            plan,
            over: AtomicBool::new(false),
            changes: AtomicU64::new(0),
            recording: Mutex::default(),
        });
        let (own, other) = (Arc::clone(&state), Arc::clone(&state));
        thread::spawn(move || own.accept(&listener));
        thread::spawn(move || other.forward_datagrams(&socket));
        Ok(Self { port, state })
    }

    /// Where.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many messages and datagrams were changed so far.
    pub fn changes(&self) -> u64 {
        self.state.changes.load(Ordering::Relaxed)
    }

    /// What was recorded so far.
    pub fn recording(&self) -> Recording {
        self.state.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Middle {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
    }
}

/// A port that is free for TCP may not be for UDP: some are tried.
fn both() -> io::Result<(TcpListener, UdpSocket)> {
    let mut last = None;
    for _ in 0..20 {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        match UdpSocket::bind(listener.local_addr()?) {
            Ok(socket) => return Ok((listener, socket)),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

/// Waits until one of them can be read, for 100 ms at the most.
fn wait_readable<Socket: rustix::fd::AsFd>(sockets: &[&Socket]) {
    let mut polled: Vec<PollFd<'_>> =
        sockets.iter().map(|socket| PollFd::new(*socket, PollFlags::IN)).collect();
    // What fails here fails at the read behind it.
    let _ = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 }));
}

impl State {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn record(&self, keep: impl FnOnce(&mut Recording)) {
        keep(&mut self.recording.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        let mut number = 0;
        while !self.is_over() {
            wait_readable(&[listener]);
            let Ok((stream, _)) = listener.accept() else { continue };
            let state = Arc::clone(self);
            number += 1;
            thread::spawn(move || {
                // How a session goes on is the two ends' affair.
                let _ = state.serve(stream, number);
            });
        }
    }

    fn serve(&self, mut client: TcpStream, number: u64) -> io::Result<()> {
        client.set_nonblocking(false)?;
        client.set_nodelay(true)?;
        let mut opening = [0; 32];
        client.read_exact(&mut opening)?;
        if opening[8] == 3 {
            return refuse_return(client);
        }
        let mut server = TcpStream::connect(self.plan.server)?;
        server.set_nodelay(true)?;
        if opening[8] != 1 {
            let flow = u32::from_be_bytes([opening[12], opening[13], opening[14], opening[15]]);
            self.record(|it| it.attached.push((opening[10], flow, opening[9])));
            server.write_all(&opening)?;
            return through(client, server);
        }
        if self.plan.old {
            opening[14..].fill(0);
            opening[15] = 1;
        }
        server.write_all(&opening)?;
        let mut head = [0; 6];
        client.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let mut hello = vec![0; length.min(65_536)];
        client.read_exact(&mut hello)?;
        server.write_all(&head)?;
        server.write_all(&hello)?;
        self.control(client, server, Random(self.plan.seed ^ number.rotate_left(32)))
    }

    fn control(&self, client: TcpStream, server: TcpStream, random: Random) -> io::Result<()> {
        let version = if self.plan.old { Version::One } else { Version::Two };
        let mut random = random;
        let mut ends = [Half::new(client, version), Half::new(server, version)];
        while !self.is_over() {
            wait_readable(&[&ends[0].stream, &ends[1].stream]);
            for from in [0, 1] {
                let is_open = ends[from].read()?;
                while let Some(message) = ends[from].framing.next() {
                    if message.kind == kind::ACK {
                        continue;
                    }
                    let sayings =
                        self.sayings(&mut random, from == 0, &message, &mut ends[1 - from]);
                    for saying in sayings {
                        if !ends[1 - from].say(saying)? {
                            close(&ends);
                            return Ok(());
                        }
                    }
                }
                ends[from].confirm()?;
                if !is_open {
                    close(&ends);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What is said to the other end in the place of a message.
    fn sayings(
        &self,
        random: &mut Random,
        by_client: bool,
        message: &Message,
        to: &mut Half,
    ) -> Vec<Saying> {
        let Plan { percent_by_client, percent_by_server, .. } = self.plan;
        let percent = if by_client { percent_by_client } else { percent_by_server };
        if percent == 0 {
            self.record(|it| {
                let all = if by_client { &mut it.by_client } else { &mut it.by_server };
                all.push(message.clone());
            });
        }
        if !random.happens(percent) {
            return vec![Saying::Message(message.clone())];
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        changed(random, message, &self.plan.others, &mut to.framing)
    }

    fn forward_datagrams(&self, socket: &UdpSocket) {
        let mut callers: HashMap<SocketAddr, UdpSocket> = HashMap::new();
        let mut random = Random(self.plan.seed ^ 0x5544_5000);
        let mut bytes = vec![0; 65_536];
        if socket.set_nonblocking(true).is_err() {
            return;
        }
        while !self.is_over() {
            let mut sockets: Vec<&UdpSocket> = callers.values().collect();
            sockets.push(socket);
            wait_readable(&sockets);
            while let Ok((count, from)) = socket.recv_from(&mut bytes) {
                let Some(to) = self.caller(&mut callers, from) else { continue };
                if bytes.starts_with(b"PSAT\x01") && count == 64 {
                    let flow = u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
                    let seat = (bytes[6], flow, bytes[5]);
                    self.record(|it| {
                        if !it.seats.contains(&seat) {
                            it.seats.push(seat);
                        }
                    });
                }
                let percent = self.plan.percent_by_client / 10;
                // What is lost here is lost as on any path.
                let _ = to.send(&self.datagram(&mut random, percent, &bytes[..count]));
            }
            for (address, own) in &callers {
                while let Ok(count) = own.recv(&mut bytes) {
                    let percent = self.plan.percent_by_server / 10;
                    let datagram = self.datagram(&mut random, percent, &bytes[..count]);
                    let _ = socket.send_to(&datagram, address);
                }
            }
        }
    }

    fn caller<'all>(
        &self,
        callers: &'all mut HashMap<SocketAddr, UdpSocket>,
        from: SocketAddr,
    ) -> Option<&'all mut UdpSocket> {
        match callers.entry(from) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(place) => {
                let own = UdpSocket::bind(("127.0.0.1", 0)).ok()?;
                own.connect(self.plan.server).ok()?;
                own.set_nonblocking(true).ok()?;
                Some(place.insert(own))
            }
        }
    }

    fn datagram(&self, random: &mut Random, percent: usize, bytes: &[u8]) -> Vec<u8> {
        if !random.happens(percent) {
            return bytes.to_vec();
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        let end = if random.happens(30) { random.below(bytes.len() + 1) } else { bytes.len() };
        flipped(random, &bytes[..end])
    }
}

/// One end's connection, as it is spoken with here.
struct Half {
    stream: TcpStream,
    framing: Framing,
    unconfirmed: usize,
}

impl Half {
    fn new(stream: TcpStream, version: Version) -> Self {
        // Both are read only when there is something.
        let _ = stream.set_nonblocking(true);
        Self { stream, framing: Framing::new(version), unconfirmed: 0 }
    }

    /// Whether it is still open.
    fn read(&mut self) -> io::Result<bool> {
        let mut bytes = vec![0; 65_536];
        match self.stream.read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.framing.feed(&bytes[..count]);
                self.unconfirmed += count;
                Ok(true)
            }
            Err(error) if crate::caller::is_timeout(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether the connection is to stay.
    fn say(&mut self, saying: Saying) -> io::Result<bool> {
        let bytes = match saying {
            Saying::Message(message) => {
                self.unconfirmed = 0;
                self.framing.encode(message.kind, &message.body)
            }
            Saying::Bytes(bytes) => bytes,
            Saying::Close => return Ok(false),
        };
        self.write(&bytes)?;
        Ok(true)
    }

    fn confirm(&mut self) -> io::Result<()> {
        if self.unconfirmed > 32_768 && self.framing.version == Version::Two {
            self.unconfirmed = 0;
            let frame = self.framing.checked_frame(kind::ACK, b"{}", false, 0);
            return self.write(&frame);
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        let written = self.stream.write_all(bytes);
        self.stream.set_nonblocking(true)?;
        written
    }
}

fn close(ends: &[Half; 2]) {
    for end in ends {
        // One that is closed already is closed.
        let _ = end.stream.shutdown(Shutdown::Both);
    }
}

/// Bytes both ways, as they are, until both have ended.
fn through(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let (mut client_reads, mut server_writes) = (client.try_clone()?, server.try_clone()?);
    let up = thread::spawn(move || {
        let _ = io::copy(&mut client_reads, &mut server_writes);
        let _ = server_writes.shutdown(Shutdown::Write);
    });
    let (mut server_reads, mut client_writes) = (server, client);
    let _ = io::copy(&mut server_reads, &mut client_writes);
    let _ = client_writes.shutdown(Shutdown::Write);
    let _ = up.join();
    Ok(())
}
