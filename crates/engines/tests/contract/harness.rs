//! Workers on threads of their own, and sockets between them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    EngineError, EngineKind, Finished, Inbox, Kernel, Notice, Outbox, Part, Remote, ReportOf,
    SharedThread, SystemCalls, Terms, Worker, registry, worker_inbox, worker_inbox_of,
};
use pathscope_flow::{Batches, Machine, Phase, Transport};
use pathscope_os::flow_sockets::FlowOpener;
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{Socket, clock};

/// Far longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Names the one engine that is held to the contract; without it, all are.
const ONLY: &str = "PATHSCOPE_CONTRACT_ENGINE";

/// Every engine that this machine has with every way to wait.
#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
pub fn everywhere(mut test: impl FnMut(EngineKind, Wait)) {
    let only = std::env::var(ONLY).ok();
    let is_meant = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let meant = EngineKind::ALL.into_iter().filter(|(name, _)| is_meant(name));
    let mut tests = 0;
    for (_, engine) in meant {
        tests += 1;
        if let Err(why) = engine.available() {
            println!("skipped, because {why}");
            continue;
        }
        for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
            test(engine, wait);
        }
    }
    assert!(tests > 0, "{only:?} is no engine");
}

pub type Flows<M> = Vec<(M, Vec<Socket>)>;

/// A worker that runs.
pub struct Running<M: Machine> {
    pub remote: Remote,
    pub notices: Receiver<Notice<ReportOf<M>>>,
    outcome: Receiver<Result<Finished<M>, EngineError>>,
    /// Its part of a thread, where it runs beside others: what it leaves open is there as long as this.
    _part: Option<Part>,
}

impl<M: Machine> Running<M> {
    /// Waits until a flow is told to be in this phase.
    pub fn tells_of(&self, awaited: Phase) -> bool {
        let deadline = clock::now() + PATIENCE;
        while clock::now() < deadline {
            match self.notices.recv_timeout(PATIENCE) {
                Ok(Notice::Phase { phase, .. }) if phase == awaited => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// What it comes to once nobody can tell it anything any more.
    pub fn orphan(self) -> Finished<M> {
        let Self { remote, outcome, _part, .. } = self;
        drop(remote);
        let outcome = outcome.recv_timeout(PATIENCE).expect("the worker hangs or panicked");
        outcome.expect("the engine runs")
    }

    /// What it comes to; panics where it hangs.
    pub fn finish(&self) -> Finished<M> {
        let outcome = self.outcome.recv_timeout(PATIENCE).expect("the worker hangs or panicked");
        outcome.expect("the engine runs")
    }
}

pub fn terms(wait: Wait, transport: Transport) -> Terms {
    Terms {
        transport,
        wait,
        start: clock::now(),
        begin: Tick::ZERO,
        report_every: Duration::from_millis(10),
        receive_buffer_bytes: 64 << 10,
        counts_lost: true,
        stamps: false,
        batches: Batches::One,
    }
}

/// Starts a worker on a thread of its own.
pub fn start<M>(engine: EngineKind, terms: Terms, flows: Flows<M>, shared: M::Shared) -> Running<M>
where
    M: Machine + 'static,
    M::Shared: 'static,
{
    start_with(terms, flows, shared, move |worker| registry::run(engine, worker, Kernel))
}

/// Starts a worker with calls of the test's own.
pub fn start_on<M, S>(
    engine: EngineKind,
    terms: Terms,
    flows: Flows<M>,
    shared: M::Shared,
    calls: S,
) -> Running<M>
where
    M: Machine + 'static,
    M::Shared: 'static,
    S: SystemCalls + Send + 'static,
{
    start_with(terms, flows, shared, move |worker| registry::run(engine, worker, calls))
}

/// Starts whatever runs a worker.
pub fn start_with<M>(
    terms: Terms,
    flows: Flows<M>,
    shared: M::Shared,
    run: impl FnOnce(Worker<M>) -> Result<Finished<M>, EngineError> + Send + 'static,
) -> Running<M>
where
    M: Machine + 'static,
    M::Shared: 'static,
{
    let (remote, inbox): (Remote, Inbox) = worker_inbox().expect("an inbox");
    let (sender, notices) = channel();
    let (done, outcome) = channel();
    let outbox = Outbox::new(sender, None);
    let worker = Worker { flows, shared, terms, inbox, outbox, made: None, succession: None };
    std::thread::spawn(move || done.send(run(worker)));
    Running { remote, notices, outcome, _part: None }
}

/// Hands a worker to a thread that runs others, too.
pub fn start_beside<M>(
    thread: &Arc<SharedThread>,
    terms: Terms,
    flows: Flows<M>,
    shared: M::Shared,
) -> Running<M>
where
    M: Machine + 'static,
    M::Shared: 'static,
{
    let part = thread.part();
    let (remote, inbox) = worker_inbox_of(part.waker.clone());
    let (sender, notices) = channel();
    let (done, outcome) = channel();
    let outbox = Outbox::new(sender, None);
    let worker = Worker { flows, shared, terms, inbox, outbox, made: None, succession: None };
    let started = part.run(worker, move |mut finished| {
        // What is open in the thread's table is nothing elsewhere.
        let kept = finished.iter_mut().flat_map(|finished| {
            let flows = finished.flows.iter_mut();
            flows.flat_map(|(flow, sockets)| {
                std::mem::take(sockets).into_iter().map(|socket| (flow.id(), socket))
            })
        });
        let kept = kept.collect();
        let _ = done.send(finished);
        kept
    });
    started.expect("it is handed over");
    Running { remote, notices, outcome, _part: Some(part) }
}

/// Two connected sockets of this kind.
pub fn pair(transport: Transport, settings: &Settings) -> (Socket, Socket) {
    let (one, other) = match transport {
        Transport::Stream => stream_pair(settings),
        Transport::Datagram => datagram_pair(settings),
    };
    (one, other)
}

fn stream_pair(settings: &Settings) -> (Socket, Socket) {
    let listener = sockets::listen_tcp("127.0.0.1:0".parse().expect("an address"), 1);
    let listener = listener.expect("loopback");
    let address = listener.local_addr().expect("bound");
    let deadline = clock::now() + PATIENCE;
    let client = sockets::connect_tcp(address, settings, deadline, None).expect("listening");
    while clock::now() < deadline {
        if let Some((server, _)) = sockets::accept_tcp(&listener).expect("listening") {
            return (client, server);
        }
    }
    panic!("the connection never reached the listener");
}

/// As client and server make it, so that no port is ever free in between for another test to take.
fn datagram_pair(settings: &Settings) -> (Socket, Socket) {
    let listener = sockets::bind_udp("127.0.0.1:0".parse().expect("an address")).expect("loopback");
    let address = listener.local_addr().expect("bound");
    let client = sockets::connect_udp(address, settings).expect("loopback");
    let from = client.local_addr().expect("bound");
    let server = FlowOpener::beside(&listener).open((address, from), settings).expect("loopback");
    (client, server)
}
