//! Timers in their time: a worker that spins waits for them on the clock, and what they call for goes out before the
//! report that is due at the same moment. Both count from the session's start, so a frame or a ping in each second would
//! otherwise be late by the making of a report.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::{Tick, Wait};
use pathscope_engines::{
    Blocking, Command, EngineKind, Kernel, Notice, Outbox, SystemCalls, Terms, Trouble, Worker,
    registry, worker_inbox,
};
use pathscope_flow::{
    ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, SendWant, Shared, Totals,
    Transport, Want,
};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start_on, terms};
use crate::toys::{Bench, Clockwork};

/// Reports how many bytes have gone.
#[derive(Debug)]
struct Gone(u64);

impl Shared for Gone {
    type Report = u64;

    fn report(&mut self, _: Tick) -> u64 {
        self.0
    }
}

/// Sends one byte when its time has come.
#[derive(Debug)]
struct Alarm {
    flow: u32,
    due: Tick,
    rung: bool,
    sent: u64,
    /// When the byte left.
    left: Option<Tick>,
}

impl Alarm {
    fn new(flow: u32, due: Tick) -> Self {
        Self { flow, due, rung: false, sent: 0, left: None }
    }
}

impl Machine for Alarm {
    type Shared = Gone;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(self.flow)
    }

    fn want(&mut self, _: &mut Gone, _: Tick) -> Want {
        match (self.rung, self.sent) {
            (false, _) => Want { wake: Some(self.due), ..Want::NOTHING },
            (true, 0) => Want { send: SendWant::Stream { max: 1 }, ..Want::NOTHING },
            (true, _) => Want::NOTHING,
        }
    }

    fn gather<'data>(&'data self, _: &'data Gone, _: Lane, gather: &mut Gather<'data>) {
        gather.copy(b"!");
    }

    fn sent(&mut self, gone: &mut Gone, _: Lane, amount: usize, now: Tick) {
        self.left = Some(now);
        self.sent += amount as u64;
        gone.0 += amount as u64;
    }

    fn received(&mut self, _: &mut Gone, _: Lane, _: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        Consumed(0)
    }

    fn event(&mut self, _: &mut Gone, event: Event, _: Tick) {
        self.rung |= matches!(event, Event::Wake);
    }

    fn phase(&self) -> Phase {
        if self.sent > 0 && self.due == Tick::ZERO { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: 0 }
    }
}

/// A machine where each call takes a microsecond, and reading the clock 50 ns.
#[derive(Clone, Debug, Default)]
struct Slow {
    now_ns: u64,
    /// Sends that were made.
    sent: Arc<AtomicU64>,
    /// When something else has the processor, and for how long.
    taken: Vec<(u64, u64)>,
    /// How long a send sleeps that may.
    full_ns: u64,
}

impl SystemCalls for Slow {
    fn now(&mut self) -> Tick {
        self.now_ns += 50;
        if let Some((_, length_ns)) = self.taken.pop_if(|&mut (at_ns, _)| at_ns <= self.now_ns) {
            self.now_ns += length_ns;
        }
        Tick::from_nanos(self.now_ns)
    }

    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.now_ns += if blocking == Blocking::Never { 1_000 } else { 1_000 + self.full_ns };
        self.sent.fetch_add(1, Ordering::Relaxed);
        Kernel.send(socket, slices, blocking)
    }

    fn receive(&mut self, _: &Socket, _: &mut [u8], _: Blocking) -> Result<usize, Trouble> {
        self.now_ns += 1_000;
        Err(Trouble::Blocked)
    }

    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        self.now_ns += 1_000;
        call(timeout)
    }
}

#[test]
fn a_spinning_worker_begins_no_call_that_would_end_after_the_next_timer() {
    everywhere(|engine, wait| {
        if wait != Wait::Spin {
            return;
        }
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        let (other, _elsewhere) = pair(Transport::Stream, &Settings::default());
        let mut clock = Clockwork::new(0, 7_919, 200);
        clock.listens = true;
        // Another that listens makes a turn longer.
        let mut longer = Clockwork::new(1, 7_919 * 201, 1);
        longer.listens = true;
        let report_every = Duration::from_secs(1);
        let terms = Terms { start: Tick::ZERO, report_every, ..terms(wait, Transport::Stream) };
        let flows = vec![(clock, vec![here]), (longer, vec![other])];
        let finished = start_on(engine, terms, flows, Bench::new(), Slow::default()).finish();
        let clock = &finished.flows[0].0;
        let latest = clock.lateness_ns.iter().max().copied();
        assert!(clock.woken == 200 && latest < Some(200), "{engine}: {latest:?} ns late");
    });
}

#[test]
fn a_spinning_worker_says_when_it_did_not_run() {
    // The last comes first; one is too short to tell from work.
    let taken = vec![(15_000_000, 400_000), (12_000_000, 700_000), (5_500_000, 3_000_000)];
    everywhere(|engine, wait| {
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        let (period_ns, count) = if wait == Wait::Spin { (1_000_000, 20) } else { (1_000, 1) };
        let mut clock = Clockwork::new(0, period_ns, count);
        clock.listens = true;
        let report_every = Duration::from_secs(1);
        let terms = Terms { start: Tick::ZERO, report_every, ..terms(wait, Transport::Stream) };
        let calls = Slow { taken: taken.clone(), ..Slow::default() };
        let flows = vec![(clock, vec![here])];
        let finished = start_on(engine, terms, flows, Bench::new(), calls).finish();
        let off_cpu = finished.usage[0].off_cpu;
        // One that sleeps cannot tell.
        assert_eq!(off_cpu.is_some(), wait == Wait::Spin, "{engine} {wait:?}");
        if let Some(off_cpu) = off_cpu {
            assert_eq!(off_cpu.times, 2, "{engine}");
            assert!((3_000_000..3_100_000).contains(&off_cpu.longest_ns), "{engine}: {off_cpu:?}");
            assert!((3_700_000..3_900_000).contains(&off_cpu.total_ns), "{engine}: {off_cpu:?}");
        }
    });
}

#[test]
fn what_is_due_with_a_report_or_right_after_it_leaves_before_it_is_told() {
    for (later_ns, flows) in [(0, 1), (0, 3), (400_000, 1), (400_000, 3)] {
        everywhere(|engine, wait| {
            if wait == Wait::Spin {
                leaves_first(engine, later_ns, flows);
            }
        });
    }
}

/// Timers that are due so long after the first report.
fn leaves_first(engine: EngineKind, later_ns: u64, flows: u32) {
    const REPORT_EVERY: Duration = Duration::from_millis(2);
    let due = Tick::ZERO + REPORT_EVERY;
    let due = due.plus_nanos(later_ns);
    let (ours, theirs): (Vec<_>, Vec<_>) =
        (0..flows).map(|_| pair(Transport::Stream, &Settings::default())).unzip();
    let alarms = ours.into_iter().zip(0..);
    let alarms = alarms.map(|(socket, flow)| (Alarm::new(flow, due), vec![socket]));
    let sent = Arc::new(AtomicU64::new(0));
    let (remote, inbox) = worker_inbox().expect("an inbox");
    let (told, reports) = channel();
    let seen = Arc::clone(&sent);
    let outbox = Outbox::into_sink(move |notice| {
        if let Notice::Report { report, .. } = notice {
            // Nobody listens to the later ones.
            let _ = told.send((seen.load(Ordering::Relaxed), report));
        }
    });
    let terms = Terms {
        start: Tick::ZERO,
        report_every: REPORT_EVERY,
        ..terms(Wait::Spin, Transport::Stream)
    };
    let flows_of_worker = alarms.collect();
    let worker = Worker {
        flows: flows_of_worker,
        shared: Gone(0),
        terms,
        inbox,
        outbox,
        made: None,
        succession: None,
    };
    let calls = Slow { sent, ..Slow::default() };
    let running = std::thread::spawn(move || registry::run(engine, worker, calls));
    // All had left when it was told, and none had when it was taken.
    let first = reports.recv_timeout(PATIENCE).expect("the first report");
    assert_eq!(first, (u64::from(flows), 0), "{engine}: {later_ns} ns after a report");
    remote.send(Command::Abandon);
    running.join().expect("no panic").expect("the engine runs");
    drop(theirs);
}

#[test]
fn what_has_left_is_told_with_the_time_before_its_call_which_may_sleep() {
    everywhere(|engine, wait| {
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        let terms = Terms {
            start: Tick::ZERO,
            report_every: Duration::from_secs(1),
            ..terms(wait, Transport::Stream)
        };
        let calls = Slow { full_ns: 9_000_000, ..Slow::default() };
        let flows = vec![(Alarm::new(0, Tick::ZERO), vec![here])];
        let finished = start_on(engine, terms, flows, Gone(0), calls).finish();
        let left = finished.flows[0].0.left.expect("it has left").as_nanos();
        // A round trip counts from here: not from after a call that already wakes the other end.
        assert!(left < 9_000_000, "{engine} {wait:?}: {left} ns");
    });
}
