//! Where the system has no descriptor, no memory or no room left at any one call of either end: both come to their end by themselves,
//! say what failed or go on, without waiting for what nobody will say, and a server that goes on serves the next client. How calls are made to fail is `pathscope_os::faults`'.
//!
//! Both ends are in this process, and whose call it is that fails is not chosen: the calls of a kind are numbered as they are made, and
//! each of the first ones fails in a run of its own.

#![cfg(target_os = "linux")]

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use pathscope_core::error::Failure;
use pathscope_core::quantity::{BitRate, Bytes, Frequency, Period};
use pathscope_core::record::{Check, Host};
use pathscope_modes::datagrams::DatagramArgs;
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::load::{Extent, LoadArgs, Pattern};
use pathscope_os::clock;
use pathscope_os::errno::errno_name;
use pathscope_os::faults::{Call, Errno, Faults};
use pathscope_peers::registry::PeerKind;
use pathscope_run::RunError;
use pathscope_run::client::{self, CONNECT_WITHIN, Request};
use pathscope_run::records::journal::Journal;
use pathscope_run::server::{Server, Settings};
use pathscope_run::stop::Stop;

/// Calls of a kind, which of them fail, and what the system says where it has no more of what they take.
type Failing = (Call, RangeInclusive<u64>, &'static [Errno]);

const FILES: &[Errno] = &[Errno::MFILE, Errno::NFILE, Errno::NOMEM];
const ROOM: &[Errno] = &[Errno::NOBUFS, Errno::NOMEM];
const SOCKETS: &[Errno] = &[Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
const THREADS: &[Errno] = &[Errno::AGAIN, Errno::NOMEM];

/// What runs while calls of a kind fail, and which.
type Sweep = (Way, &'static [Failing]);

/// Where the server is, and what is measured.
#[derive(Clone, Copy)]
enum Way {
    /// Beside the client.
    Beside(fn() -> Test),
    /// Inside it.
    Within(fn() -> Test),
}

/// More than are made of some kinds. The first is of all kinds but those that only others make, or make otherwise.
const SWEEPS: [Sweep; 4] = [
    (
        Way::Beside(|| duplex("epoll")),
        &[
            (Call::MakeSocket, 1..=40, SOCKETS),
            (Call::MakePoller, 1..=40, FILES),
            (Call::MakeWaker, 1..=40, FILES),
            (Call::Bind, 1..=40, ROOM),
            (Call::Watch, 1..=40, &[Errno::NOMEM]),
            (Call::SetOption, 1..=40, ROOM),
            (Call::Begin, 1..=40, THREADS),
            (Call::Connect, 1..=40, ROOM),
            (Call::Accept, 1..=40, SOCKETS),
            (Call::Send, 1..=40, ROOM),
        ],
    ),
    (Way::Beside(|| duplex("plain")), &[(Call::Duplicate, 1..=40, FILES)]),
    (Way::Beside(datagrams), &[(Call::MakePoller, 6..=12, FILES)]),
    // Those by which a server begins.
    (
        Way::Within(|| duplex("epoll")),
        &[
            (Call::MakePoller, 1..=6, FILES),
            (Call::MakeWaker, 1..=6, FILES),
            (Call::Begin, 1..=6, THREADS),
        ],
    ),
];

/// An end that waits for what nobody will say does so for 10 s and more.
const PROMPT: Duration = Duration::from_secs(8);

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Panics of any thread of this program.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// What a sweep tells.
enum Told {
    /// This run begins.
    Begins(String),
    /// This was wrong with it.
    Wrong(String),
    /// No filter can be had.
    Skipped(String),
}

/// A load both ways over two connections with pings over UDP beside it: workers of this engine, and one that waits for one socket.
fn duplex(engine: &str) -> Test {
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    plan.pattern = Pattern::Duplex;
    plan.connections = 2;
    plan.extent = Extent::TransferBytes(Bytes(100_000));
    plan.warm_up_ns = Period(0);
    plan.engine = Some(engine.to_owned());
    plan.congestion_control = Some("cubic".to_owned());
    Test::new(plan.into(), Some(LatencyPlan::probe(Frequency(100))), Period::from_millis(100))
}

/// A load both ways of datagrams alone, for a time that is over soon.
fn datagrams() -> Test {
    let words = DatagramArgs {
        protocol: "udp".to_owned(),
        datagram: None,
        offload: None,
        may_fragment: false,
        dont_fragment: false,
        find_rate: false,
    };
    let mut plan = words.into_plan(LoadArgs::usual()).expect("it can be run");
    plan.pattern = Pattern::Duplex;
    plan.connections = 2;
    plan.extent = Extent::DurationNs(Period::from_millis(100));
    plan.rate_bps = Some(BitRate(10_000_000));
    plan.warm_up_ns = Period(0);
    plan.engine = Some("epoll".to_owned());
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What a client's run came to.
type Ran = (Document, Option<(Failure, String)>);

/// Runs it with a server there, or with one that the client has inside.
fn run(server: Option<SocketAddr>, test: Test) -> Ran {
    let request = Request {
        kind: "goodput".to_owned(),
        command: Vec::new(),
        here: Host::default(),
        peer: PeerKind::OWN,
        hosts: server.iter().map(|server| server.ip().to_string()).collect(),
        port: server.map_or(0, |server| server.port()),
        probe_server: None,
        family: None,
        connect_within: CONNECT_WITHIN,
        tests: vec![("load".to_owned(), test)].into(),
        assertions: Vec::new(),
        afterwards: Box::new(Vec::new),
        journal: Journal::default(),
        samples: None,
        wall_unix_ns: clock::wall_unix_ns,
    };
    client::run(request, &Stop::default(), &mut |_| {})
}

/// Whether all was measured, and all that had to hold has.
fn is_whole((document, failure): &Ran) -> bool {
    let mut checks = document.measurements.iter().flat_map(|it| &it.checks).peekable();
    failure.is_none() && checks.peek().is_some() && checks.all(Check::has_held)
}

/// What became of a server and its clients, one of whose calls failed.
struct Round {
    /// How many did.
    failed: u64,
    /// The client of then, where the server could begin.
    ran: Option<Ran>,
    /// The next one.
    next: Option<Ran>,
    served: Result<(), RunError>,
    lines: Vec<String>,
    /// How long a client, or the end of the server, took at the most.
    longest: Duration,
}

/// Does this, and keeps how long that took, where it is the longest.
fn timed<T>(longest: &mut Duration, work: impl FnOnce() -> T) -> T {
    let began = clock::now();
    let done = work();
    *longest = Duration::from_nanos(clock::now().nanos_since(began)).max(*longest);
    done
}

impl Round {
    fn of(way: Way, faults: &Faults, (number, error): (u64, Errno)) -> Self {
        match way {
            Way::Beside(test) => Self::beside(test, faults, (number, error)),
            Way::Within(test) => Self::within(test, faults, (number, error)),
        }
    }

    /// With a server inside the client.
    fn within(test: fn() -> Test, faults: &Faults, (number, error): (u64, Errno)) -> Self {
        let mut longest = Duration::ZERO;
        faults.fail(number..=number, error);
        let ran = Some(timed(&mut longest, || run(None, test())));
        let (failed, served, lines) = (faults.stop(), Ok(()), Vec::new());
        Self { failed, ran, next: None, served, lines, longest }
    }

    /// With one beside it.
    fn beside(test: fn() -> Test, faults: &Faults, (number, error): (u64, Errno)) -> Self {
        let (stop, lines) = (&Stop::default(), &Mutex::new(Vec::new()));
        let say = |line: &str| lines.lock().expect("nobody panics with it").push(line.to_owned());
        thread::scope(|scope| {
            let ((go, may_go), (tell, bound)) = (channel::<()>(), channel::<SocketAddr>());
            let serving = scope.spawn(move || {
                // Fails only where its client has panicked.
                let _ = may_go.recv();
                let listen = vec!["127.0.0.1".to_owned()];
                let server = Server::bind(Settings { listen, ..Settings::default() })?;
                let address = server.addresses().next();
                address.iter().for_each(|&address| tell.send(address).expect("it is awaited"));
                server.serve(stop, &say)
            });
            faults.fail(number..=number, error);
            go.send(()).expect("the server's thread is there");
            let address = bound.recv().ok();
            let mut longest = Duration::ZERO;
            let mut run = |address| timed(&mut longest, || run(Some(address), test()));
            let ran = address.map(&mut run);
            let failed = faults.stop();
            let next = address.filter(|_| failed > 0).map(&mut run);
            stop.request("done");
            let served = timed(&mut longest, || serving.join().expect("it does not panic"));
            let lines = std::mem::take(&mut *lines.lock().expect("nobody panics with it"));
            Self { failed, ran, next, served, lines, longest }
        })
    }

    /// What is wrong with that, if anything is.
    fn wrong(&self, error: Errno) -> Option<String> {
        let Self { ran, next, served, lines, .. } = self;
        // Of a thread that cannot begin the library says EAGAIN, whatever the system said.
        let sentences = [error, Errno::AGAIN].map(|it| {
            let sentence = io::Error::from(it).to_string();
            sentence.split(" (os").next().unwrap_or_default().to_owned()
        });
        let is_said = |text: &String| {
            let is_there = |it: &String| text.contains(it.as_str());
            sentences.iter().any(is_there) || text.contains(errno_name(error.raw_os_error()))
        };
        if self.longest > PROMPT {
            let (client, took) = (ran.as_ref().map(|(_, failure)| failure), self.longest);
            return Some(format!(
                "after {took:?} the client said {client:?}, the server {lines:?}"
            ));
        }
        // A server that ends says why.
        if let Err(error) = served {
            let text = error.to_string();
            return (!is_said(&text)).then(|| format!("the server ended: {text}"));
        }
        let Some(ran) = ran else { return Some("the server did not listen".to_owned()) };
        let (document, failure) = ran;
        let caveats = document.measurements.iter().flat_map(|it| &it.caveats);
        let mut told = caveats.map(|caveat| &caveat.text).chain(lines);
        let is_told = match failure {
            None => is_whole(ran),
            Some((_, text)) => is_said(text) || told.any(is_said),
        };
        if !is_told {
            return Some(format!("the client said {failure:?}, the server {lines:?}"));
        }
        let has_failed = |it: &&Ran| !is_whole(it);
        let after = next.as_ref().filter(has_failed).map(|(_, failure)| failure)?;
        Some(format!(
            "the next client said {after:?}, the one before {failure:?}, the server {lines:?}"
        ))
    }
}

/// Has these calls of a kind fail, one in a run.
fn sweep(way: Way, (call, numbers, errors): Failing, tell: &Sender<(Call, Told)>) {
    let faults = Faults::new(call);
    let (failing, telling) = (faults.clone(), tell.clone());
    let work = move || {
        let tell = |told| telling.send((call, told)).expect("it is heard");
        let mut failed = 0;
        for (number, &error) in numbers.zip(errors.iter().cycle()) {
            let what = format!("{call:?} {number} {error:?}");
            tell(Told::Begins(what.clone()));
            let round = Round::of(way, &failing, (number, error));
            if let Some(wrong) = round.wrong(error) {
                tell(Told::Wrong(format!("{what}: {wrong}")));
            }
            if round.failed == 0 {
                break;
            }
            failed += 1;
        }
        if failed == 0 {
            tell(Told::Wrong(format!("{call:?}: none of them failed")));
        }
    };
    if let Err(error) = faults.within(work) {
        // Nobody hears it where another has failed.
        let _ = tell.send((call, Told::Skipped(error.to_string())));
    }
}

/// What is wrong, after all these beside each other. Nothing where no filter can be had, which is said.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn wrong((way, calls): Sweep) -> Vec<String> {
    let (tell, told) = channel();
    for failing in calls {
        let (failing, tell) = (failing.clone(), tell.clone());
        thread::spawn(move || sweep(way, failing, &tell));
    }
    drop(tell);
    let (mut running, mut all_wrong) = (Vec::new(), Vec::new());
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok((call, Told::Begins(what))) => {
                running.retain(|&(known, _)| known != call);
                running.push((call, what));
            }
            Ok((_, Told::Wrong(what))) => all_wrong.push(what),
            Ok((_, Told::Skipped(why))) => println!("skipped, because {why}"),
            Err(RecvTimeoutError::Disconnected) => return all_wrong,
            Err(RecvTimeoutError::Timeout) => panic!("one of these hangs: {running:?}"),
        }
    }
}

#[test]
fn whichever_call_fails_both_ends_say_so_or_go_on() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(panic);
    }));
    let all_wrong: Vec<String> = SWEEPS.into_iter().flat_map(wrong).collect();
    assert!(all_wrong.is_empty(), "{} wrong:\n{}", all_wrong.len(), all_wrong.join("\n"));
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}
