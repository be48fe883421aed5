//! Pings by engines on a scripted clock: what a ping waits for its own worker is no part of its round trip, and what it
//! waits for a system that refuses it is.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::time::Duration;

use pathscope_core::id::{FlowId, Role, Token};
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, EngineKind, Kernel, SystemCalls, Terms, Trouble, worker_inbox};
use pathscope_flow::{Batches, Transport};
use pathscope_modes::latency::{
    Arrivals, Extent, LatencyPlan, LatencyReport, LatencySummary, LoadModel, PingFlow,
};
use pathscope_modes::pattern::SessionKey;
use pathscope_os::Socket;

use crate::common::{loopback, work};

const MILLISECOND: u64 = 1_000_000;
/// From a ping's leaving to its echo's coming.
const TRIP_NS: u64 = 500_000;
/// What a look at a socket takes where nothing has come.
const LOOK_NS: u64 = 5_000;
/// When the flow starts.
const BEGIN_NS: u64 = 10 * MILLISECOND;
const PERIOD_NS: u64 = 200 * MILLISECOND;
const PINGS: u64 = 5;

/// A clock that calls move, and the other end: it echoes at once, and what it says comes when its time has come.
#[derive(Debug)]
struct Scripted {
    now_ns: u64,
    there: UdpSocket,
    /// When each echo comes.
    coming: VecDeque<u64>,
    /// For so long from each ping's due time on, something else has the processor.
    taken_ns: u64,
    /// In this stretch of time the kernel has no room.
    refuses: std::ops::Range<u64>,
}

impl Scripted {
    fn has_come(&self) -> bool {
        self.coming.front().is_some_and(|&at| at <= self.now_ns)
    }

    /// The processor is taken from a little before each ping is due, since the schedule begins when the worker does.
    fn lose_the_processor(&mut self) {
        let before_ns = MILLISECOND;
        let Some(since) = (self.now_ns + before_ns).checked_sub(BEGIN_NS + PERIOD_NS) else {
            return;
        };
        if self.taken_ns > 0 && since % PERIOD_NS < self.taken_ns + before_ns {
            self.now_ns += self.taken_ns + before_ns - since % PERIOD_NS;
        }
    }
}

impl SystemCalls for Scripted {
    fn now(&mut self) -> Tick {
        self.now_ns += 30;
        self.lose_the_processor();
        Tick::from_nanos(self.now_ns)
    }

    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        if self.refuses.contains(&self.now_ns) {
            return Err(Trouble::Blocked);
        }
        let sent = Kernel.send_datagrams(socket, bytes, stride, blocking)?;
        let mut room = [0; 2_048];
        let len = self.there.recv(&mut room).expect("it was sent");
        // An echo: the ping with another kind.
        room[4] = 2;
        self.there.send(&room[..len]).expect("loopback");
        self.coming.push_back(self.now_ns + TRIP_NS);
        Ok(sent)
    }

    fn receive(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        if blocking == Blocking::UntilTimeout {
            let timeout = self.now_ns + 60 * MILLISECOND;
            let wakes = self.coming.front().map_or(timeout, |&at| at.min(timeout));
            self.now_ns = self.now_ns.max(wakes);
        }
        if !self.has_come() {
            self.now_ns += LOOK_NS;
            return Err(Trouble::Blocked);
        }
        self.coming.pop_front();
        Kernel.receive(socket, room, Blocking::Never)
    }

    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        let look = Duration::from_nanos(LOOK_NS);
        let timer = timeout.map(|timeout| self.now_ns + timeout.max(look).as_nanos() as u64);
        let room = self.refuses.contains(&self.now_ns).then_some(self.refuses.end);
        let wakes = [timer, self.coming.front().copied(), room].into_iter().flatten().min();
        self.now_ns = self.now_ns.max(wakes.expect("something is waited for"));
        call(Some(Duration::ZERO))
    }
}

fn plan(period_ns: u64, pings: u64) -> LatencyPlan {
    LatencyPlan {
        load_model: LoadModel::Open { period_ns: Period(period_ns), arrivals: Arrivals::Fixed },
        extent: Extent::Iterations(pings),
        size_bytes: Bytes(64),
        ..LatencyPlan::probe(Frequency(1))
    }
}

/// What a client reports whose calls are these.
fn ping(
    plan: &LatencyPlan,
    (engine, wait): (EngineKind, Wait),
    script: impl FnOnce(&mut Scripted),
) -> LatencyReport {
    let (here, there) = loopback();
    let (coming, refuses) = (VecDeque::new(), 0..0);
    let mut calls = Scripted { now_ns: 0, there, coming, taken_ns: 0, refuses };
    script(&mut calls);
    let (_remote, inbox) = worker_inbox().expect("a worker_inbox");
    let flow = PingFlow::new(plan, SessionKey::from(Token([5; 16])), FlowId(0));
    let terms = Terms {
        transport: Transport::Datagram,
        wait,
        start: Tick::ZERO,
        begin: Tick::from_nanos(BEGIN_NS),
        report_every: Duration::ZERO,
        receive_buffer_bytes: 64 << 10,
        counts_lost: false,
        stamps: false,
        batches: Batches::One,
    };
    let (_, tally) = work((plan, Role::Client), (flow, here), inbox, (engine, terms), calls);
    tally.report(None)
}

#[expect(clippy::print_stdout, reason = "a test that cannot run says why")]
fn everywhere(mut test: impl FnMut((EngineKind, Wait))) {
    for (_, engine) in EngineKind::ALL {
        if let Err(why) = engine.available() {
            println!("skipped, because {why}");
            continue;
        }
        for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
            test((engine, wait));
        }
    }
}

fn caveats(plan: &LatencyPlan, report: &LatencyReport) -> Vec<String> {
    let summary = LatencySummary::of(plan, report, None);
    plan.probe_caveats(&summary).into_iter().map(|caveat| caveat.name).collect()
}

#[test]
fn a_worker_that_wakes_up_30_ms_late_gives_the_same_round_trips_a_send_lag_and_a_caveat() {
    let plan = plan(PERIOD_NS, PINGS);
    everywhere(|who| {
        for taken_ns in [0, 30 * MILLISECOND] {
            let report = ping(&plan, who, |script| script.taken_ns = taken_ns);
            assert_eq!((report.sent, report.received), (PINGS, PINGS), "{who:?}");
            let rtt = report.rtt.as_ref().expect("all came");
            let (least, most) = (rtt.min_ns.expect("5 of them"), rtt.max_ns.expect("5 of them"));
            assert!(least >= TRIP_NS && most < TRIP_NS + 4 * LOOK_NS, "{who:?} {least} {most}");
            // The first is due when the worker starts.
            let lag = report.send_lag.as_ref().and_then(|lag| lag.max_ns).expect("an open loop");
            let late = taken_ns.saturating_sub(4 * LOOK_NS)..=taken_ns + 4 * LOOK_NS;
            assert!(late.contains(&lag), "{who:?}: {lag} ns, {taken_ns} taken");
            let since = report.rtt_since_scheduled.as_ref().and_then(|since| since.max_ns);
            assert!(since >= Some(TRIP_NS + lag), "{who:?}: {since:?}");
            let expected: &[&str] = if taken_ns > 0 { &["send_lag"] } else { &[] };
            assert_eq!(caveats(&plan, &report), expected, "{who:?}");
        }
    });
}

#[test]
fn what_falls_due_while_the_system_refuses_counts_from_then() {
    const EVERY_NS: u64 = 10 * MILLISECOND;
    let plan = plan(EVERY_NS, 30);
    everywhere(|who| {
        // Those that are due 100, 110 … 190 ms after the start find no room before 195 ms.
        let full = BEGIN_NS + 95 * MILLISECOND..BEGIN_NS + 195 * MILLISECOND;
        let report = ping(&plan, who, |script| script.refuses = full.clone());
        assert_eq!((report.sent, report.received), (30, 30), "{who:?}");
        let rtt = report.rtt.as_ref().expect("all came");
        let above = |most_ns: u64| {
            let buckets = rtt.buckets.iter().filter(|bucket| bucket.upper_ns > most_ns);
            buckets.map(|bucket| bucket.count).sum::<u64>()
        };
        for waited in 0..10 {
            let most_ns = (95 - 10 * waited) * MILLISECOND;
            assert_eq!(above(most_ns), waited + 1, "{who:?} {waited}");
        }
        assert_eq!(above(2 * MILLISECOND), 10, "{who:?}");
        assert!(rtt.max_ns < Some(97 * MILLISECOND), "{who:?}: {:?}", rtt.max_ns);
        let lag = report.send_lag.as_ref().and_then(|lag| lag.max_ns);
        assert!(lag < Some(4 * LOOK_NS), "{who:?}: {lag:?}");
        // From the send that was accepted, each took the same.
        let service = report.service.as_ref().and_then(|service| service.max_ns);
        assert!(service < Some(MILLISECOND), "{who:?}: {service:?}");
    });
}
