//! Very many clients of one server who mean no harm: each has a session of its own with one test of pings, a few threads are all of
//! them, and none waits for another. What is told is how many came in, what each of their pings came to, and how long those took.
//!
//! A process may have so many descriptors, and a session takes two: so the clients are shared out over as many processes as hold
//! them, which begin what is measured together.

mod one;
mod parts;
mod told;
mod turns;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::words::Words;

/// What a ping has of bytes.
const PING_BYTES: usize = 64;

/// What the clients are to do.
#[derive(Clone, Debug)]
struct Order {
    server: SocketAddr,
    /// Before the first address that they come from.
    base: IpAddr,
    /// Clients.
    count: u32,
    /// Clients from one address.
    of_an_address: u32,
    /// From the moment that all are there, for which pings are measured.
    lasts: Duration,
    /// From one ping of a client to its next.
    period: Duration,
    /// From one report of the server's to its next.
    report_every: Duration,
    /// Pings are datagrams.
    is_over_udp: bool,
    /// Clients that come in at once.
    at_once: u32,
    /// The first client of these.
    first: u32,
}

impl Order {
    /// As words state it.
    fn of(words: &Words) -> Result<Self, String> {
        let address = |name: &str| {
            let text = words.option(name)?;
            Ok::<_, String>((text.to_owned(), name.to_owned()))
        };
        let unread = |(text, name): (String, String)| format!("read --{name} `{text}`");
        let (server, base) = (address("server")?, address("base")?);
        let number = |name: &str, otherwise: u64| -> Result<u32, String> {
            let number = words.number(name, otherwise)?;
            u32::try_from(number).map_err(|_| format!("read --{name} `{number}`: too many"))
        };
        let milliseconds = |name: &str| {
            let number = words.number(name, 1_000)?.max(1);
            Ok::<_, String>(Duration::from_millis(number))
        };
        let is_over_udp = match words.option("protocol").unwrap_or("tcp") {
            "tcp" => false,
            "udp" => true,
            other => return Err(format!("read --protocol `{other}`: tcp or udp")),
        };
        Ok(Self {
            server: server.0.parse().map_err(|_| unread(server))?,
            base: base.0.parse().map_err(|_| unread(base))?,
            count: number("count", 10)?.max(1),
            of_an_address: number("of-an-address", 100)?.max(1),
            lasts: Duration::from_secs(words.number("for", 5)?),
            period: milliseconds("period-ms")?,
            report_every: milliseconds("report-every-ms")?,
            is_over_udp,
            at_once: number("at-once", 64)?.max(1),
            first: number("first", 0)?,
        })
    }

    /// The address of a client.
    fn address(&self, client: u32) -> IpAddr {
        let above = client / self.of_an_address + 1;
        match self.base {
            IpAddr::V4(base) => IpAddr::V4(u32::from(base).saturating_add(above).into()),
            IpAddr::V6(base) => IpAddr::V6(u128::from(base).saturating_add(above.into()).into()),
        }
    }
}

/// All clients: has them shared out, and tells what came of them, a line when all are there and one at the end.
pub fn run(words: &Words) -> Result<(), String> {
    parts::run(words, &Order::of(words)?)
}

/// Some of them, in a process that another one has started: it is told when to begin by a line.
pub fn run_part(words: &Words) -> Result<(), String> {
    let order = Order::of(words)?;
    turns::run(&order).map_err(|error| format!("turn to sessions: {error}"))
}
