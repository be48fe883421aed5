//! The bare loops: the least a program must do to move bytes or to bounce a ping, with the standard
//! library alone. Not scheduled, not reported, and not verified unless it is told to: the bound that we want to stay close to.
//! Run as processes of their own (`cargo xtask bare-loop …`), so that they are pinned and accounted like
//! any other tool.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use serde_json::json;
use socket2::SockRef;

use super::case::PING_BYTES;
use super::relay::{self, Paced};
use crate::console::say;
use checked::Table;

mod checked;
mod churn;
mod datagrams;

/// One end of a bare loop.
#[derive(Clone, Debug, Subcommand)]
pub enum Loop {
    /// Accepts connections and moves bytes until the client has sent all
    GoodputServer(Transfer),
    /// Connects and moves bytes for the time given
    GoodputClient(Transfer),
    /// Bounces pings until it is killed
    LatencyServer(Pings),
    /// Sends pings one at a time for the time given
    LatencyClient(Pings),
    /// Takes datagrams until none come any more
    DatagramsServer(datagrams::Flood),
    /// Sends datagrams as fast as they go for the time given
    DatagramsClient(datagrams::Flood),
    /// Answers a request on each connection until it is killed
    ChurnServer(churn::Churn),
    /// Makes connections for one request each for the time given
    ChurnClient(churn::Churn),
    /// Sends datagrams at a steady rate for the time given
    Paced(Paced),
    /// Holds a port for datagrams and reads none
    Sink {
        #[arg(long)]
        port: u16,
    },
}

/// What both ends of a transfer know.
#[derive(Args, Clone, Debug)]
pub struct Transfer {
    #[arg(long)]
    port: u16,
    #[arg(long)]
    connections: usize,
    /// Both ends send
    #[arg(long)]
    duplex: bool,
    #[arg(long)]
    write_bytes: usize,
    /// Each byte is compared with what it has to be
    #[arg(long)]
    checked: bool,
    #[arg(long)]
    congestion: String,
    #[arg(long)]
    seconds: u64,
}

/// What both ends of a ping-pong know.
#[derive(Args, Clone, Debug)]
pub struct Pings {
    #[arg(long)]
    port: u16,
    #[arg(long)]
    udp: bool,
    #[arg(long)]
    spin: bool,
    #[arg(long)]
    seconds: u64,
}

/// Plays one end.
pub fn run(end: &Loop) -> Result<()> {
    match end {
        Loop::GoodputServer(transfer) => {
            let listener = TcpListener::bind(("127.0.0.1", transfer.port)).context("listen")?;
            move_bytes(transfer, transfer.duplex, true, || {
                Ok(listener.accept().context("accept")?.0)
            })
        }
        Loop::GoodputClient(transfer) => {
            let connect = || TcpStream::connect(("127.0.0.1", transfer.port)).context("connect");
            move_bytes(transfer, true, transfer.duplex, connect)
        }
        Loop::DatagramsServer(flood) => datagrams::take(flood),
        Loop::DatagramsClient(flood) => datagrams::send(flood),
        Loop::ChurnServer(churn) => churn::answer(churn),
        Loop::ChurnClient(churn) => churn::ask(churn),
        Loop::LatencyServer(pings) => bounce(pings),
        Loop::LatencyClient(pings) => ping(pings),
        Loop::Paced(paced) => relay::send(paced),
        Loop::Sink { port } => relay::sink(*port),
    }
}

/// A thread for each direction of each connection, and all of them at work at the same time: none sends before all are connected, and
/// what comes counts for so long from the first byte of any.
fn move_bytes(
    transfer: &Transfer,
    sends: bool,
    receives: bool,
    open: impl Fn() -> Result<TcpStream>,
) -> Result<()> {
    let mut streams = Vec::with_capacity(transfer.connections);
    for _ in 0..transfer.connections {
        let stream = open()?;
        SockRef::from(&stream)
            .set_tcp_congestion(transfer.congestion.as_bytes())
            .with_context(|| format!("set congestion control {}", transfer.congestion))?;
        streams.push(stream);
    }
    let window = Arc::new(Window::of(Duration::from_secs(transfer.seconds)));
    let (bytes, checked) = (transfer.write_bytes, transfer.checked);
    let mut incoming = Vec::new();
    if receives {
        for stream in &streams {
            let (stream, window) =
                (stream.try_clone().context("share a socket")?, Arc::clone(&window));
            incoming.push(thread::spawn(move || receive(stream, bytes, checked, &window)));
        }
    }
    let mut outgoing = Vec::new();
    if sends {
        let all = Arc::new(Barrier::new(streams.len()));
        for stream in streams {
            let all = Arc::clone(&all);
            let until = transfer.seconds;
            outgoing.push(thread::spawn(move || {
                all.wait();
                if checked {
                    send_checked(stream, bytes, until)
                } else {
                    send(stream, bytes, until)
                }
            }));
        }
    }
    let mut received = Vec::with_capacity(incoming.len());
    for receiver in incoming {
        received.push(receiver.join().map_err(|_| lost())??);
    }
    outgoing.into_iter().try_for_each(|sender| sender.join().map_err(|_| lost())?)?;
    say(json!({ "receive_bps": window.rate_bps(&received), "fairness": fairness(&received) }))
}

/// The time in which what comes counts, the same for all connections: from the first byte of any. Each in its own time would count
/// what the others leave room for, and of very many all have a short one.
struct Window {
    from: OnceLock<Instant>,
    length: Duration,
}

impl Window {
    const fn of(length: Duration) -> Self {
        Self { from: OnceLock::new(), length }
    }

    /// A byte has come now. Whether it counts: the first only says when.
    fn is_open(&self, now: Instant) -> bool {
        now.duration_since(*self.from.get_or_init(|| now)) <= self.length
    }

    /// What all connections received a second, in bits.
    fn rate_bps(&self, received: &[u64]) -> f64 {
        let bytes: u64 = received.iter().sum();
        bytes as f64 * 8.0 / self.length.as_secs_f64()
    }
}

/// How evenly connections received: Jain's index.
fn fairness(received: &[u64]) -> f64 {
    let sum: f64 = received.iter().map(|&bytes| bytes as f64).sum();
    let squares: f64 = received.iter().map(|&bytes| (bytes as f64).powi(2)).sum();
    if squares > 0.0 { sum * sum / (received.len() as f64 * squares) } else { 0.0 }
}

/// What processors compare of two addresses to see whether a load waits for a store. Copies whose source
/// and target get in each other's way by it are many times slower: the floor has to keep clear of that,
/// as the engines' room does.
const PAGE: usize = 4096;

/// How much longer than its time a loop goes on where the other end has not closed.
const MARGIN: Duration = Duration::from_secs(2);

fn lost() -> anyhow::Error {
    anyhow!("join a thread")
}

fn send(mut stream: TcpStream, write_bytes: usize, seconds: u64) -> Result<()> {
    let buffer = vec![0x5a; write_bytes + PAGE];
    // From the same place in a page as the kernel copies to, or a little ahead of it.
    let start = (buffer.as_ptr().align_offset(PAGE) + PAGE - 64) % PAGE;
    let buffer = &buffer[start..start + write_bytes];
    keep_sending(seconds, || stream.write_all(buffer))
}

fn send_checked(mut stream: TcpStream, write_bytes: usize, seconds: u64) -> Result<()> {
    let table = Table::new(PAGE - 64);
    let mut position = 0;
    keep_sending(seconds, || {
        position += table.write(&mut stream, position, write_bytes)? as u64;
        Ok(())
    })
}

/// Sends until whoever receives has had its time and closes, or is far beyond it.
fn keep_sending(seconds: u64, mut send: impl FnMut() -> io::Result<()>) -> Result<()> {
    let end = now() + Duration::from_secs(seconds) + MARGIN;
    while now() < end {
        match send() {
            Ok(()) => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) =>
            {
                break;
            }
            Err(error) => return Err(error).context("send"),
        }
    }
    Ok(())
}

/// Receives while what comes counts, and closes. How many bytes did.
fn receive(
    mut stream: TcpStream,
    read_bytes: usize,
    checked: bool,
    window: &Window,
) -> Result<u64> {
    let mut buffer = vec![0; read_bytes + 2 * PAGE];
    let base = buffer.as_ptr().align_offset(PAGE);
    let table = checked.then(|| Table::new(0));
    // Whoever has no turn within the time is told so by the end of it.
    stream.set_read_timeout(Some(window.length + MARGIN)).context("set up a socket")?;
    let (mut bytes, mut counted) = (0_u64, 0);
    loop {
        let start = base + (bytes as usize + PAGE - 32) % PAGE;
        let room = &mut buffer[start..start + read_bytes];
        let came = match checked::read(&mut stream, room, bytes, table.as_ref()) {
            Ok(came) => came as u64,
            Err(error) if is_end(&error) => break,
            Err(error) => return Err(error).context("receive"),
        };
        if came == 0 || !window.is_open(now()) {
            break;
        }
        bytes += came;
        counted += came;
    }
    // It may be closed already.
    let _ = stream.shutdown(Shutdown::Both);
    Ok(counted)
}

/// Whether the other end has had its time and closed, or nothing came in all of ours.
fn is_end(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind.is_some_and(|kind| {
        matches!(
            kind,
            ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::WouldBlock
                | ErrorKind::TimedOut
        )
    })
}

/// A socket that carries pings, whichever the protocol.
trait Wire {
    fn send_ping(&mut self, ping: &[u8]) -> io::Result<()>;
    /// One read; how many bytes of a ping it brought.
    fn receive_some(&mut self, ping: &mut [u8]) -> io::Result<usize>;
}

impl Wire for TcpStream {
    fn send_ping(&mut self, ping: &[u8]) -> io::Result<()> {
        // 64 bytes after the last 64 were answered: the send buffer is never full.
        self.write_all(ping)
    }

    fn receive_some(&mut self, ping: &mut [u8]) -> io::Result<usize> {
        self.read(ping)
    }
}

impl Wire for UdpSocket {
    fn send_ping(&mut self, ping: &[u8]) -> io::Result<()> {
        self.send(ping).map(drop)
    }

    fn receive_some(&mut self, ping: &mut [u8]) -> io::Result<usize> {
        self.recv(ping)
    }
}

fn bounce(pings: &Pings) -> Result<()> {
    let address = ("127.0.0.1", pings.port);
    if pings.udp {
        let socket = UdpSocket::bind(address).context("bind")?;
        let mut first = [0; PING_BYTES];
        let (_, client) = socket.recv_from(&mut first).context("receive")?;
        socket.connect(client).context("connect")?;
        socket.send(&first).context("send")?;
        socket.set_nonblocking(pings.spin).context("set up a socket")?;
        return bounce_on(socket);
    }
    let (stream, _) = TcpListener::bind(address).context("listen")?.accept().context("accept")?;
    stream.set_nodelay(true).context("set up a socket")?;
    stream.set_nonblocking(pings.spin).context("set up a socket")?;
    bounce_on(stream)
}

fn bounce_on(mut wire: impl Wire) -> Result<()> {
    let mut ping = [0; PING_BYTES];
    while receive_ping(&mut wire, &mut ping)? {
        wire.send_ping(&ping).context("send")?;
    }
    Ok(())
}

fn ping(pings: &Pings) -> Result<()> {
    let address = ("127.0.0.1", pings.port);
    if pings.udp {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).context("bind")?;
        socket.connect(address).context("connect")?;
        socket.set_nonblocking(pings.spin).context("set up a socket")?;
        return ping_on(socket, pings.seconds);
    }
    let stream = TcpStream::connect(address).context("connect")?;
    stream.set_nodelay(true).context("set up a socket")?;
    stream.set_nonblocking(pings.spin).context("set up a socket")?;
    ping_on(stream, pings.seconds)
}

fn ping_on(mut wire: impl Wire, seconds: u64) -> Result<()> {
    let mut ping = [0x5a; PING_BYTES];
    // Room for a million a second, so that nothing is allocated between two clock readings.
    let mut round_trips_ns: Vec<u32> = Vec::with_capacity(seconds as usize * 1_000_000);
    let start = now();
    let end = start + Duration::from_secs(seconds);
    let warm = start + Duration::from_millis(seconds * 100);
    loop {
        let sent = now();
        wire.send_ping(&ping).context("send")?;
        receive_ping(&mut wire, &mut ping)?;
        let received = now();
        if sent >= warm {
            let nanoseconds = (received - sent).as_nanos();
            round_trips_ns.push(u32::try_from(nanoseconds).unwrap_or(u32::MAX));
        }
        if received >= end {
            break;
        }
    }
    let sum: u64 = round_trips_ns.iter().copied().map(u64::from).sum();
    round_trips_ns.sort_unstable();
    say(json!({
        "mean_rtt_ns": sum as f64 / round_trips_ns.len() as f64,
        "median_rtt_ns": round_trips_ns.get(round_trips_ns.len() / 2),
    }))
}

/// Takes a whole ping, asking again at once where the socket does not block. False: the other end has
/// left.
fn receive_ping(wire: &mut impl Wire, ping: &mut [u8]) -> Result<bool> {
    let mut have = 0;
    while have < ping.len() {
        match wire.receive_some(&mut ping[have..]) {
            Ok(0) => return Ok(false),
            Ok(some) => have += some,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // A client that has ended answers the last echo with a refusal.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(false),
            Err(error) => return Err(error).context("receive"),
        }
    }
    Ok(true)
}

#[expect(clippy::disallowed_methods, reason = "a loop of its own, outside of the instrument")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_count_in_one_time_from_the_first_byte_of_any() {
        let window = Window::of(Duration::from_secs(4));
        let start = now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(window.is_open(at(3)) && window.is_open(at(7)) && !window.is_open(at(8)));
        assert!((window.rate_bps(&[1_000, 1_000]) - 4_000.0).abs() < 1e-6);
        assert!(window.rate_bps(&[]).abs() < 1e-6);
    }

    #[test]
    fn fairness_is_one_of_equals_and_a_share_of_one_alone() {
        assert!((fairness(&[5, 5, 5, 5]) - 1.0).abs() < 1e-9);
        assert!((fairness(&[5, 0, 0, 0]) - 0.25).abs() < 1e-9);
        assert!(fairness(&[]).abs() < 1e-9);
    }
}
