//! The bare loops: the least a program must do to move bytes or to bounce a ping, with the standard
//! library alone. Not scheduled, not reported, and not verified unless it is told to: the bound that we want to stay close to.
//! Run as processes of their own (`cargo xtask bare-loop …`), so that they are pinned and accounted like
//! any other tool.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand};
use serde_json::json;

use super::case::PING_BYTES;
use super::relay::{self, Paced};
use crate::console::say;
use transfer::move_bytes;

mod checked;
mod churn;
mod datagrams;
mod transfer;

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

/// What processors compare of two addresses to see whether a load waits for a store. Copies whose source
/// and target get in each other's way by it are many times slower: the floor has to keep clear of that,
/// as the engines' room does.
const PAGE: usize = 4096;

fn lost() -> anyhow::Error {
    anyhow!("join a thread")
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
