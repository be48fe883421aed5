//! Tests of `running`: one of several workers fails, at either end; and how often workers take locks. The ends are joined by sockets alone:
//! of what a dialogue has them say to each other nothing is needed here.

use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::goodput::{GoodputPlan, Pace, Shape};
use pathscope_modes::load::{Extent, Pattern, Verify};
use pathscope_modes::sockets::SocketPlan;
use pathscope_os::cpus;
use pathscope_peers::native::Client;

use super::*;
use crate::messages::inbox::{InboxReader, SessionMessage};
use crate::records::names::FlowNames;
use crate::threads::{lock, taken};

const GROUP: GroupId = GroupId(0);
const FLOWS: u32 = 4;
/// What each of them carries.
const BYTES: u64 = 256 << 10;
/// What each of them carries where operations are to be many.
const MANY_BYTES: u64 = 32 << 20;
/// Workers of each end.
const WORKERS: u64 = 2;
/// The names of their threads begin so.
const WORKER: &str = "flows-";
/// Locks are counted by the names of threads: one test at a time has such.
static ALONE: Mutex<()> = Mutex::new(());
/// A processor that no system has that this one could run on.
const NO_PROCESSOR: u32 = 4_095;
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Four connections that carry so much by two workers, each of which is kept on one of these processors; on any, where there are none.
fn plan(bytes: u64, role: Role, kept_on: &[u32]) -> GoodputPlan {
    let cpus_of = |end: Role| if end == role { kept_on.to_vec() } else { Vec::new() };
    GoodputPlan {
        pattern: Pattern::Push,
        connections: FLOWS,
        extent: Extent::TransferBytes(Bytes(bytes)),
        buffer_bytes: Bytes(16 << 10),
        push_bytes: Bytes(1),
        pull_bytes: Bytes(1),
        rate_bps: None,
        warm_up_ns: Period(0),
        verify: Verify::Full,
        congestion_control: None,
        engine: Some("epoll".to_owned()),
        wait: Wait::Sleep,
        shape: Shape::default(),
        sockets: SocketPlan::default(),
        pace: Pace::default(),
        client_cpus: cpus_of(Role::Client),
        server_cpus: cpus_of(Role::Server),
    }
}

/// One end of the test.
struct End {
    test: RunningTest,
    reader: InboxReader,
    /// What its workers have said.
    words: u64,
}

impl End {
    /// With its flows on these sockets. `kept_on`: where its workers are to run once it was found that they may.
    fn start(bytes: u64, role: Role, sockets: Vec<TcpStream>, kept_on: &[u32]) -> Self {
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        let every = Period::from_secs(10);
        let credentials = Credentials { token: Token([7; 16]), session: None, goes_ahead: false };
        let means = Means { cpus: 2, spinning: 0 };
        let test = Test::new(plan(bytes, role, &[]).into(), None, every);
        let mut test =
            RunningTest::new(test, role, (credentials, None), means).expect("it can be run");
        let state = test.group_mut(GROUP).expect("there is one");
        state.placement.workers = 2;
        // They were there as it was asked whether they are, and are no more.
        state.job = plan(bytes, role, kept_on).into();
        test.make_room(false);
        for (flow, socket) in (0..).zip(sockets) {
            let socket = FlowSocket::Open(socket.into());
            assert!(test.attach((GROUP, FlowId(flow)), socket, Arrival::default()));
        }
        let tells = Tells { departures: false, rows: false, status: false, acknowledged: false };
        let terms = (true, Conventions::OWN, tells);
        test.start(&inbox, None, terms, clock::now()).expect("its workers start");
        Self { test, reader, words: 0 }
    }

    /// Hears its workers until none is left.
    fn go_on(&mut self) {
        let end = clock::now() + PATIENCE;
        while !self.test.is_over() {
            let word = self.reader.take_within(PATIENCE);
            assert!(clock::now() < end, "a worker hangs");
            self.words += 1;
            match word {
                Some(SessionMessage::Interval {
                    group, worker, index, start, end, tally, ..
                }) => {
                    self.test.interval(group, worker, (index, [start, end]), tally);
                }
                Some(SessionMessage::Phase { group, flow, phase, .. }) => {
                    self.test.phase(group, flow, phase, None);
                }
                Some(SessionMessage::WorkerOver { group, worker, outcome }) => {
                    self.test.worker_over(group, worker, *outcome, clock::now());
                }
                other => panic!("it says {other:?}"),
            }
        }
    }

    fn report(&mut self) -> Box<EndReport> {
        let names = FlowNames::of::<Client>(self.test.token);
        self.test.take_report(&names).expect("it was started")
    }
}

/// Both ends of each connection.
fn pairs() -> (Vec<TcpStream>, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let pair = |_| {
        let here = TcpStream::connect(address).expect("it listens");
        (here, listener.accept().expect("it came").0)
    };
    (0..FLOWS).map(pair).unzip()
}

#[test]
fn a_worker_that_fails_tells_why_and_the_others_results_are_kept() {
    let _alone = lock(&ALONE);
    let allowed = cpus::allowed()[0];
    for failing in [Role::Client, Role::Server] {
        let (client, server) = pairs();
        let kept_on = |role| if role == failing { vec![allowed, NO_PROCESSOR] } else { Vec::new() };
        let mut server = End::start(BYTES, Role::Server, server, &kept_on(Role::Server));
        let mut client = End::start(BYTES, Role::Client, client, &kept_on(Role::Client));
        client.go_on();
        server.go_on();
        for (role, end) in [(Role::Client, &mut client), (Role::Server, &mut server)] {
            let report = end.report();
            let told = format!("{failing:?} fails, {role:?}: {report:#?}");
            let goodput = report.goodput.as_ref().expect("it is goodput");
            // Those of the other worker have come to their end, and each of their bytes is counted.
            assert!(goodput.completed >= 2 && goodput.completed + goodput.failed == 4, "{told}");
            let moved =
                if role == Role::Client { goodput.sent_bytes } else { goodput.received_bytes };
            assert!(moved >= 2 * BYTES, "{told}");
            let why: Vec<&str> = report.caveats.iter().map(|caveat| caveat.name.as_str()).collect();
            if role != failing {
                assert_eq!((report.workers.len(), &why[..]), (2, &[][..]), "{told}");
                continue;
            }
            assert_eq!((goodput.completed, goodput.failed, moved), (2, 2, 2 * BYTES), "{told}");
            assert_eq!((report.workers.len(), &why[..]), (1, &["worker_failed"][..]), "{told}");
            let text = &report.caveats[0].text;
            assert!(text.contains("processor 4095"), "{text}");
        }
    }
}

#[test]
fn workers_take_a_lock_where_they_tell_something_and_for_no_operation() {
    let _alone = lock(&ALONE);
    let before = taken::by(WORKER);
    let (client, server) = pairs();
    let started = clock::now();
    let mut server = End::start(MANY_BYTES, Role::Server, server, &[]);
    let mut client = End::start(MANY_BYTES, Role::Client, client, &[]);
    client.go_on();
    server.go_on();
    let taken = taken::by(WORKER) - before;
    // The thread that looks out has those that send look at what they wait for, every 50 ms at the most.
    let looks = WORKERS * (1 + clock::now().nanos_since(started) / 50_000_000);
    let words = client.words + server.words;
    let reports = [client.report(), server.report()];
    let workers = reports.iter().flat_map(|report| &report.workers);
    let operations: u64 = workers.map(|worker| worker.operations).sum();
    let told = format!("{taken} locks, {words} words, {looks} looks, {operations} operations");
    // One for each word, and with a report and a look one for what the kernel says.
    assert!((words..=2 * (words + looks)).contains(&taken), "{told}");
    // No send takes more than a buffer.
    assert!(operations >= u64::from(FLOWS) * MANY_BYTES / (16 << 10), "{told}");
}
