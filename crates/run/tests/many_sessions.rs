//! Two thousand clients at one server at once, each with a session and a flow of its own: all complete, and what is counted is exact.
//! Threads do not grow with sessions.
//!
//! The clients are dialogues that are carried out here one after the other, and one worker of the product that runs all their flows.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::thread;
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::Period;
use pathscope_core::quantity::{Bytes, Frequency};
use pathscope_core::record::Host;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{EngineKind, Kernel, Outbox, Terms, Worker, registry, worker_inbox};
use pathscope_flow::{Credentials, Dialogue, GroupId, Input, Output, Phase, Totals};
use pathscope_modes::conventions::Conventions;
use pathscope_modes::flows::{Begin, Flow};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::{Arrivals, Extent, LatencyPlan, LoadModel, Protocol};
use pathscope_modes::pattern::SessionKey;
use pathscope_modes::registry::{EndReport, FlowVisitor, InDocuments};
use pathscope_os::sockets::Socket;
use pathscope_os::{clock, limits};
use pathscope_peers::attach::{AttachStream, Seat, StreamProgress};
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::limits::Limits;
use pathscope_peers::native::{Client, StreamAttaching};
use pathscope_run::server::{Descriptors, Server, Settings, Threads};
use pathscope_run::stop::Stop;

const SESSIONS: usize = 2_000;
/// After so many no thread is added.
const FIRST: usize = 100;
/// So many have their turn before all others are kept.
const KEPT_EVERY: usize = 50;
const PINGS: u64 = 5;
const PING_BYTES: u64 = 64;

/// What each flow moves.
const WHOLE: Totals = Totals { sent: PINGS * PING_BYTES, received: PINGS * PING_BYTES };

const GROUP: GroupId = GroupId(0);
const FLOW: FlowId = FlowId(0);

/// Pings of which one is due in so long.
fn pings(period_ns: Period) -> Test {
    let plan = LatencyPlan {
        protocol: Protocol::Tcp,
        load_model: LoadModel::Open { period_ns, arrivals: Arrivals::Fixed },
        extent: Extent::Iterations(PINGS),
        size_bytes: Bytes(PING_BYTES),
        ..LatencyPlan::probe(Frequency(1))
    };
    Test::new(plan.into(), None, Period::from_secs(1))
}

/// What is proposed: so slow that the server waits for its flows until the last session has begun, however long that takes here.
fn proposed() -> Test {
    pings(Period::from_secs(10))
}

/// What is run.
fn hurried() -> Test {
    pings(Period(100_000_000))
}

/// A client as far as its session goes.
struct Caller {
    dialogue: Client,
    control: TcpStream,
    server: SocketAddr,
    credentials: Option<Credentials>,
    data: Option<Socket>,
    report: Option<Box<EndReport>>,
    is_started: bool,
    is_over: bool,
}

impl Caller {
    fn begin(server: SocketAddr) -> Self {
        let control = connect(server);
        let mut dialogue = Client::new(Host::default(), clock::now());
        dialogue.propose(proposed(), clock::now());
        let mut caller = Self {
            dialogue,
            control,
            server,
            credentials: None,
            data: None,
            report: None,
            is_started: false,
            is_over: false,
        };
        caller.go_on_until(|caller| caller.is_started);
        // How much it will be is known from the plan.
        caller.tell(Phase::SendingDone);
        caller.go_on_until(|_| true);
        caller
    }

    fn tell(&mut self, phase: Phase) {
        let (group, flow, totals) = (GROUP, FLOW, WHOLE);
        self.dialogue.input(Input::Phase { group, flow, phase, totals }, clock::now());
    }

    /// Carries out what the dialogue asks for, and hears the server, until this is so.
    fn go_on_until(&mut self, is_so: impl Fn(&Self) -> bool) {
        let mut buffer = [0; 16 << 10];
        loop {
            while let Some(output) = self.dialogue.output() {
                self.carry_out(output);
            }
            if is_so(self) {
                return;
            }
            let count = self.control.read(&mut buffer).expect("the server answers");
            assert!(count > 0, "the server has left");
            self.dialogue.input(Input::Received(&buffer[..count]), clock::now());
        }
    }

    fn carry_out(&mut self, output: Output<Client>) {
        match output {
            Output::Send(bytes) => self.control.write_all(&bytes).expect("the server listens"),
            Output::Open { credentials, .. } => {
                self.credentials = Some(credentials);
                self.data = Some(attached(self.server, credentials));
                let attached = Input::Attached { group: GROUP, flow: FLOW };
                self.dialogue.input(attached, clock::now());
            }
            Output::Start => self.is_started = true,
            Output::PeerReport(report) => self.report = Some(report),
            Output::End(result) => {
                result.expect("it ends well");
                self.is_over = true;
            }
            _ => {}
        }
    }

    /// While others have their turn: hears what was said meanwhile, and says that it is there.
    fn keep(&mut self) {
        let mut buffer = [0; 16 << 10];
        self.control.set_nonblocking(true).expect("a socket");
        while let Ok(count) = self.control.read(&mut buffer) {
            assert!(count > 0, "the server has left");
            self.dialogue.input(Input::Received(&buffer[..count]), clock::now());
        }
        self.control.set_nonblocking(false).expect("a socket");
        if self.dialogue.deadline().is_some_and(|deadline| deadline <= clock::now()) {
            self.dialogue.input(Input::Deadline, clock::now());
        }
        self.go_on_until(|_| true);
    }

    /// Its flow is over: says so, and waits for nothing.
    fn report(&mut self) {
        self.tell(Phase::Done);
        self.dialogue.input(Input::Over(Box::default()), clock::now());
        self.go_on_until(|_| true);
    }

    /// Hears what the server reports, and ends the session.
    fn end(&mut self) {
        self.dialogue.finish(clock::now());
        self.go_on_until(|caller| caller.is_over);
    }
}

/// Calls `turn` for one number after the other, and keeps all callers meanwhile.
fn each(callers: &mut Vec<Caller>, numbers: Range<usize>, turn: impl Fn(&mut Vec<Caller>, usize)) {
    for number in numbers {
        turn(callers, number);
        if number % KEPT_EVERY == 0 {
            callers.iter_mut().filter(|caller| !caller.is_over).for_each(Caller::keep);
        }
    }
}

fn connect(server: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(server).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream
}

fn attached(server: SocketAddr, Credentials { token, session, .. }: Credentials) -> Socket {
    let mut stream = connect(server);
    let seat = Seat { token, group: GROUP, flow: FLOW, lane: Lane::ONLY };
    let mut attaching = StreamAttaching::new(seat, session);
    stream.write_all(&attaching.opening()).expect("it listens");
    let mut answer = vec![0; attaching.missing_bytes()];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(attaching.received(&answer), Ok(StreamProgress::Attached));
    stream.set_read_timeout(None).expect("a socket");
    Socket::from(stream)
}

/// One worker with the flows of all callers; how many were whole, and their sockets again.
struct Flows<'callers>(&'callers mut [Caller]);

impl FlowVisitor for Flows<'_> {
    type Output = (usize, Vec<Socket>);

    fn visit<M: InDocuments, F: Flow<M>>(self, plan: &M) -> Self::Output {
        let begin = |token| {
            let key = SessionKey::from(token);
            Begin::of((Role::Client, key), false, Conventions::default())
        };
        let flow = |caller: &mut Caller| {
            let begin = begin(caller.credentials.expect("it is attached").token);
            (F::begin(plan, FLOW, &begin), caller.data.take().into_iter().collect())
        };
        let (_remote, inbox) = worker_inbox().expect("an inbox");
        let terms = Terms {
            transport: pathscope_flow::Transport::Stream,
            wait: Wait::Sleep,
            start: clock::now(),
            begin: Tick::ZERO,
            report_every: Duration::ZERO,
            receive_buffer_bytes: 64 << 10,
            counts_lost: false,
            stamps: false,
            batches: plan.receives().batches,
        };
        let worker = Worker {
            flows: self.0.iter_mut().map(flow).collect(),
            shared: F::shared(plan, &begin(Token([0; 16])), None),
            terms,
            inbox,
            outbox: Outbox::into_sink(|_| {}),
            made: None,
            succession: None,
        };
        let finished = registry::run(EngineKind::Epoll, worker, Kernel).expect("it runs");
        let whole = |flow: &F| flow.phase() == Phase::Done && flow.totals() == WHOLE;
        let count = finished.flows.iter().filter(|(flow, _)| whole(flow)).count();
        (count, finished.flows.into_iter().flat_map(|(_, sockets)| sockets).collect())
    }
}

/// Threads of this process.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("it runs").count()
}

/// The server ends however the test does.
struct Ends<'stop>(&'stop Stop);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.request("the test is over");
    }
}

#[test]
fn two_thousand_sessions_complete_on_few_threads() {
    // Each end has two for a session, and a server keeps some of its own from tests.
    if limits::raise_open_files().unwrap_or(0) < 6 * SESSIONS as u64 {
        return println!("skipped, because this system allows too few open files");
    }
    let settings = Settings {
        listen: vec!["127.0.0.1".to_owned()],
        limits: Limits::NONE,
        descriptors: Descriptors { session: Some(0), address: Some(0) },
        threads: Threads { all: Some(0), address: Some(0) },
        ..Settings::default()
    };
    let server = Server::bind(settings).expect("a free port");
    let address = server.addresses().next().expect("it listens");
    let stop = Stop::default();
    thread::scope(|scope| {
        let hears = &stop;
        let _ends = Ends(hears);
        let serving = scope.spawn(move || server.serve(hears, &|_| {}));
        let begin = |callers: &mut Vec<Caller>, _| callers.push(Caller::begin(address));
        let mut callers = Vec::new();
        each(&mut callers, 0..FIRST, begin);
        let few = threads();
        each(&mut callers, FIRST..SESSIONS, begin);
        assert_eq!(threads(), few, "threads of {FIRST} and of {SESSIONS} sessions");
        let (whole, _sockets) = hurried().plan.run(Role::Client, Flows(&mut callers));
        assert_eq!(whole, SESSIONS, "flows whose pings were all answered");
        callers.iter_mut().for_each(Caller::report);
        each(&mut callers, 0..SESSIONS, |callers, number| callers[number].end());
        for caller in &callers {
            let report = caller.report.as_ref().expect("the server reports");
            let pings = report.latency.as_ref().expect("it is a test of pings");
            assert_eq!((pings.received, pings.sent), (PINGS, PINGS), "{pings:?}");
            assert!(pings.corrupt == 0 && pings.error.is_none(), "{pings:?}");
        }
        // What a thread used that many share is nobody's.
        let shared = callers.iter().filter_map(|caller| caller.report.as_ref());
        let shared = shared.filter(|report| report.workers.is_empty()).count();
        assert!(shared >= SESSIONS - FIRST, "{shared}");
        stop.request("done");
        serving.join().expect("it does not panic").expect("it serves");
    });
}
