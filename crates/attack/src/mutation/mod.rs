//! Sessions of our client with our server are recorded, changed, and said again to a live server and a live client.
//!
//! Recordings are made anew each time: what is old says nothing of today's messages. Whoever breaks is told by a
//! sentence; the seed repeats the changes, though not how two programs take turns.

mod change;
mod middle;
mod replay;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::caller::{Caller, PATIENCE};
use crate::clients::is_documented;
use crate::clock;
use crate::process::Process;
use crate::random::Random;
use crate::wire::{Message, Version};
use middle::{Middle, Plan, Recording};

/// What is recorded: the client's words, and whether it is brought down to version 1.
const SESSIONS: &[(&str, bool)] = &[
    ("goodput -t 1s --connections 2 --rate 20Mbit", false),
    ("goodput -t 1s --connections 1 --pattern duplex --rate 20Mbit", false),
    ("goodput -t 1s --connections 2 --protocol udp --rate 5Mbit --pattern duplex", false),
    ("goodput --connections 2 --iterations 3 --transfer 64KiB", false),
    ("latency -n 3", false),
    ("latency -n 3 --protocol udp", false),
    ("media --duration 1s --profile voice --direction both", false),
    ("multipath --duration 1s", false),
    ("goodput -t 1s --connections 2 --rate 20Mbit", true),
    ("latency -n 3 --protocol udp", true),
    ("multipath --duration 1s", true),
];

/// What strangers can make a server hold: docs/robustness.md.
const MOST_BYTES: u64 = 1 << 30;
const MOST_DESCRIPTORS_PERCENT: u64 = 80;
/// Sessions that the server has room for. Many of those that are replayed break off, and each of them is awaited for 15 s.
const SESSIONS_AT_ONCE: u64 = 512;
/// Callers on the server's own machine are held to no number of threads, but to one of sessions, of which as many may be away
/// again: so many threads a session are what the recorded ones need at the most, and more are threads that nobody ends.
const MOST_THREADS: u64 = 2 * SESSIONS_AT_ONCE * THREADS_OF_SESSION;
const THREADS_OF_SESSION: u64 = 4;
/// What a client holds at the most.
const MOST_BYTES_OF_CLIENT: u64 = 256 << 20;
/// A run of a second: the waits of docs/protocol.md for a report, 15 s and a second and 60 s, and room for a slow machine.
const MOST_OF_CLIENT: Duration = Duration::from_secs(110);
/// How long clients may go on when time is up; then they are ended, and nothing is said of them.
const GRACE: Duration = Duration::from_secs(4);

/// Sessions that are replayed at once: most of their time is waiting.
const REPLAYS_AT_ONCE: u64 = 8;
/// Clients that run at once.
const CLIENTS_AT_ONCE: u64 = 2;

/// How it is done.
#[derive(Debug)]
pub struct Order {
    /// The program of both ends.
    pub binary: PathBuf,
    /// From the start, recordings included.
    pub lasts: Duration,
    /// What changes are drawn from.
    pub seed: u64,
    /// Within this a greeting is answered.
    pub greeted_within: Duration,
}

/// A recorded session.
#[derive(Debug)]
struct Session {
    words: &'static str,
    version: Version,
    recording: Recording,
}

#[derive(Debug, Default)]
struct Tally {
    changes: AtomicU64,
    replays: AtomicU64,
    clients: AtomicU64,
    greetings: AtomicU64,
    slowest_greeting_ms: AtomicU64,
    codes: Mutex<BTreeMap<String, u64>>,
    broken: Mutex<Vec<String>>,
}

impl Tally {
    fn broken(&self, sentence: String) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if broken.len() < 20 && !broken.contains(&sentence) {
            broken.push(sentence);
        }
    }

    fn ended(&self, how: String) {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        *codes.entry(how).or_default() += 1;
    }
}

/// Records, changes, and tells what came of it.
pub fn run(order: &Order) -> io::Result<Value> {
    let until = clock::now() + order.lasts;
    // With the limits of a server that nobody has set up, most of what is replayed would be refused unread.
    let words = format!(
        "server --listen 127.0.0.1 --port 0 --limit-sessions {SESSIONS_AT_ONCE} --limit-sessions-per-address {SESSIONS_AT_ONCE}"
    );
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let mut server = Process::start(&order.binary, &words)?;
    let address = address_of(&server)?;
    await_greeting(address)?;
    let sessions = record(&order.binary, address)?;
    let tally = Tally::default();
    thread::scope(|scope| {
        let (sessions, tally) = (&sessions, &tally);
        for index in 0..REPLAYS_AT_ONCE {
            scope.spawn(move || replays(order, address, sessions, tally, until, index));
        }
        for index in 0..CLIENTS_AT_ONCE {
            scope.spawn(move || clients(order, address, sessions, tally, until, index));
        }
        scope.spawn(move || greetings(order, address, tally, until));
        while clock::now() < until {
            match server.look() {
                Ok(None) => {}
                ended => {
                    tally.broken(format!("the server ended: {ended:?}"));
                    break;
                }
            }
            if server.most.threads > MOST_THREADS {
                tally.broken(format!("the server had more than {MOST_THREADS} threads"));
            }
            clock::pause(Duration::from_millis(100));
        }
    });
    judge(&server, &tally);
    if tally.replays.load(Ordering::Relaxed) == 0 {
        tally.broken(
            "nothing was replayed: recording alone takes some seconds of the time".to_owned(),
        );
    }
    if let Err(error) = await_greeting(address) {
        tally.broken(format!("the server answered nobody at the end: {error}"));
    }
    Ok(told(order, &server, &tally))
}

fn judge(server: &Process, tally: &Tally) {
    if server.most.resident_bytes > MOST_BYTES {
        tally.broken("the server had more than 1 GiB resident".to_owned());
    }
    if server.most.descriptors > server.descriptor_limit() / 100 * MOST_DESCRIPTORS_PERCENT {
        tally.broken(format!(
            "the server had more than {MOST_DESCRIPTORS_PERCENT} % of its descriptors open"
        ));
    }
    if let Some(fault) = server.fault_in_what_it_said() {
        tally.broken(format!("of the server: {fault}"));
    }
}

fn told(order: &Order, server: &Process, tally: &Tally) -> Value {
    let count = |what: &AtomicU64| what.load(Ordering::Relaxed);
    let codes = tally.codes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let codes = codes.iter().map(|(how, times)| format!("{how}: {times}"));
    let summary = format!(
        "seed {}: {} messages and datagrams changed in {} s, in {} replayed sessions and {} runs of clients ({}); the \
         server had at the most {} MiB, {} threads, {} descriptors; the slowest of {} greetings took {} ms",
        order.seed,
        count(&tally.changes),
        order.lasts.as_secs(),
        count(&tally.replays),
        count(&tally.clients),
        codes.collect::<Vec<_>>().join(", "),
        server.most.resident_bytes >> 20,
        server.most.threads,
        server.most.descriptors,
        count(&tally.greetings),
        count(&tally.slowest_greeting_ms),
    );
    let broken = tally.broken.lock().unwrap_or_else(PoisonError::into_inner).clone();
    json!({ "summary": summary, "seed": order.seed, "broken": broken })
}

/// Where a server says that it listens, once it does.
fn address_of(server: &Process) -> io::Result<SocketAddr> {
    let until = clock::now() + Duration::from_secs(10);
    while clock::now() < until {
        let said = String::from_utf8_lossy(&server.said()).into_owned();
        let address = said.split_once("listening on ").and_then(|(_, rest)| rest.split_once(' '));
        if let Some(address) = address.and_then(|(address, _)| address.parse().ok()) {
            return Ok(address);
        }
        clock::pause(Duration::from_millis(5));
    }
    Err(io::Error::other("the server did not say where it listens"))
}

/// Until the server answers, for 10 s at the most.
fn await_greeting(server: SocketAddr) -> io::Result<()> {
    let until = clock::now() + Duration::from_secs(10);
    loop {
        match Caller::greet(Ipv4Addr::LOCALHOST.into(), server, Version::Two) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            Err(error) if clock::now() >= until => return Err(error),
            Err(_) => clock::pause(Duration::from_millis(20)),
        }
    }
}

/// Has clients of every kind call through somebody in between who changes nothing.
fn record(binary: &Path, server: SocketAddr) -> io::Result<Vec<Session>> {
    thread::scope(|scope| {
        let running: Vec<_> = SESSIONS
            .iter()
            .map(|(words, old)| scope.spawn(move || record_one(binary, server, words, *old)))
            .collect();
        let gone = |_| io::Error::other("a thread that records panicked");
        running.into_iter().map(|thread| thread.join().map_err(gone)?).collect()
    })
}

fn record_one(
    binary: &Path,
    server: SocketAddr,
    words: &'static str,
    old: bool,
) -> io::Result<Session> {
    let plan = Plan {
        server,
        old,
        percent_by_server: 0,
        percent_by_client: 0,
        seed: 0,
        others: Vec::new(),
    };
    let middle = Middle::start(plan)?;
    let mut client = Process::start(binary, &words_of(words, middle.port()))?;
    let ended = client.wait(Duration::from_secs(30))?;
    let recording = middle.recording();
    // Whatever it measured: what it said is what is wanted.
    if ended.is_none() || recording.by_client.len() < 3 {
        let said = String::from_utf8_lossy(&client.said()).into_owned();
        let said: String = said.chars().take(300).collect();
        return Err(io::Error::other(format!("`{words}` could not be recorded: {ended:?} {said}")));
    }
    let version = if old { Version::One } else { Version::Two };
    Ok(Session { words, version, recording })
}

fn words_of(words: &str, port: u16) -> Vec<String> {
    let mut all: Vec<String> = words.split(' ').map(str::to_owned).collect();
    all.extend(["127.0.0.1", "--quiet", "--port"].map(str::to_owned));
    all.push(port.to_string());
    all
}

fn greetings(order: &Order, server: SocketAddr, tally: &Tally, until: Instant) {
    let source = IpAddr::V4(Ipv4Addr::new(127, 0, 9, 1));
    while clock::now() < until {
        let begun = clock::now();
        // One that comes late is told with how late it was.
        let patience = order.greeted_within.max(PATIENCE);
        let answer = Caller::greet_within(source, server, Version::Two, patience);
        let took = begun.elapsed();
        let is_answered = match &answer {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        };
        tally.greetings.fetch_add(1, Ordering::Relaxed);
        tally.slowest_greeting_ms.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
        if !is_answered || took > order.greeted_within {
            let within = order.greeted_within.as_millis();
            tally.broken(format!(
                "an honest caller was not answered within {within} ms: {answer:?}"
            ));
        }
        if let Ok(mut caller) = answer {
            // One that leaves in good order is awaited by nobody.
            let _ = caller.say(crate::wire::kind::LEAVE, &json!({}));
            let _ = caller.hear(Duration::from_millis(200));
        }
        clock::pause(clock::left((begun + Duration::from_millis(500)).min(until)));
    }
}

fn replays(
    order: &Order,
    server: SocketAddr,
    sessions: &[Session],
    tally: &Tally,
    until: Instant,
    index: u64,
) {
    let mut random = Random(order.seed ^ (index + 1).rotate_left(40));
    while clock::now() < until {
        let Some(session) = random.of(sessions) else { return };
        let changes = replay::round(&mut random, session, server);
        tally.changes.fetch_add(changes, Ordering::Relaxed);
        tally.replays.fetch_add(1, Ordering::Relaxed);
    }
}

fn clients(
    order: &Order,
    server: SocketAddr,
    sessions: &[Session],
    tally: &Tally,
    until: Instant,
    index: u64,
) {
    let mut random = Random(order.seed ^ (index + 1).rotate_left(20));
    while clock::now() < until {
        let Some(session) = random.of(sessions) else { return };
        let seed = random.next();
        if let Err(error) = client(order, server, session, sessions, &mut random, tally, until) {
            tally.broken(format!("a client could not be run (`{}`): {error}", session.words));
            return;
        }
        random.0 ^= seed;
    }
}

fn client(
    order: &Order,
    server: SocketAddr,
    session: &Session,
    sessions: &[Session],
    random: &mut Random,
    tally: &Tally,
    until: Instant,
) -> io::Result<()> {
    let others: Vec<Message> =
        sessions.iter().flat_map(|other| other.recording.by_server.iter().cloned()).collect();
    let plan = Plan {
        server,
        old: session.version == Version::One,
        percent_by_server: 2 + random.below(40),
        percent_by_client: random.below(20),
        seed: random.next(),
        others,
    };
    let middle = Middle::start(plan)?;
    let mut client = Process::start(&order.binary, &words_of(session.words, middle.port()))?;
    let left = clock::left(until) + GRACE;
    let ended = client.wait(left.min(MOST_OF_CLIENT))?;
    tally.changes.fetch_add(middle.changes(), Ordering::Relaxed);
    tally.clients.fetch_add(1, Ordering::Relaxed);
    let of = |fault: &str| format!("of a client (`{}`): {fault}", session.words);
    match ended {
        Some(status) => {
            let code = status.code();
            tally.ended(code.map_or_else(|| "signal".to_owned(), |code| format!("code {code}")));
            if !is_documented(code) {
                let said = client.said();
                let said: String = String::from_utf8_lossy(&said).chars().take(400).collect();
                tally.broken(of(&format!("it ended with {status}: {said}")));
            }
        }
        None if client.runs_for() >= MOST_OF_CLIENT => {
            tally.broken(of(&format!("it did not end within {} s", MOST_OF_CLIENT.as_secs())));
        }
        None => tally.ended("still within its bound".to_owned()),
    }
    if client.most.resident_bytes > MOST_BYTES_OF_CLIENT {
        tally.broken(of(&format!("it had {} MiB resident", client.most.resident_bytes >> 20)));
    }
    if let Some(fault) = client.fault_in_what_it_said() {
        tally.broken(of(&fault));
    }
    Ok(())
}
