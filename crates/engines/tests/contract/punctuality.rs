//! Timers in their time: a worker that spins waits for them on the clock, and what they call for goes out before the
//! report that is due at the same moment. Both count from the session's start, so a frame or a ping in each second would
//! otherwise be late by the making of a report.

use std::time::Duration;

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::FlowError;
use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, Command, Notice, SystemCalls, Terms, Trouble};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, SendWant, Shared, Totals,
    Transport, Want,
};
use pathscope_os::sockets::Settings;
use pathscope_os::{Socket, clock};

use crate::harness::{PATIENCE, everywhere, pair, start, start_on, terms};
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
    due: Tick,
    rung: bool,
    sent: u64,
}

impl Machine for Alarm {
    type Shared = Gone;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        FlowId(0)
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

    fn fill(&mut self, _: &mut Gone, _: Lane, _: &mut Batch<'_>, _: Tick) {}

    fn sent(&mut self, gone: &mut Gone, _: Lane, amount: usize, _: Tick) {
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
        Phase::Running
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: 0 }
    }

    fn error(&self) -> Option<FlowError> {
        None
    }
}

#[test]
fn what_is_due_with_a_report_goes_before_it() {
    goes_first(Duration::ZERO);
}

#[test]
fn what_is_due_right_after_a_report_goes_before_it() {
    goes_first(Duration::from_millis(5));
}

/// A machine where each call takes a microsecond, and reading the clock 50 ns.
#[derive(Clone, Debug)]
struct Slow(u64);

impl SystemCalls for Slow {
    fn now(&mut self) -> Tick {
        self.0 += 50;
        Tick::from_nanos(self.0)
    }

    fn receive(&mut self, _: &Socket, _: &mut [u8], _: Blocking) -> Result<usize, Trouble> {
        self.0 += 1_000;
        Err(Trouble::Blocked)
    }

    fn wait<R>(&mut self, call: impl FnOnce() -> Result<R, Trouble>) -> Result<R, Trouble> {
        self.0 += 1_000;
        call()
    }
}

#[test]
fn a_spinning_worker_begins_no_call_that_would_end_after_the_next_timer() {
    everywhere(|engine, wait| {
        if wait != Wait::Spin {
            return;
        }
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        let mut clock = Clockwork::new(0, 7_919, 200);
        clock.listens = true;
        let report_every = Duration::from_secs(1);
        let terms = Terms { start: Tick::ZERO, report_every, ..terms(wait, Transport::Stream) };
        let flows = vec![(clock, vec![here])];
        let running = start_on(engine, terms, flows, Bench::new(), Slow(0));
        let [(clock, _)] = &running.finish().flows[..] else { panic!("one flow came back") };
        let latest = clock.lateness_ns.iter().max().copied();
        assert!(clock.woken == 200 && latest < Some(200), "{engine}: {latest:?} ns late");
    });
}

/// A timer that is due so long after the first report.
fn goes_first(later: Duration) {
    everywhere(|engine, wait| {
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        // The only interval is as long as the clock has run, so that its report can wait for a two thousandth of that:
        // where a machine is a minute up, 30 ms.
        let due = clock::now() + Duration::from_millis(50);
        let report_every = Duration::from_nanos(due.as_nanos());
        let terms = Terms { start: Tick::ZERO, report_every, ..terms(wait, Transport::Stream) };
        let alarm = Alarm { due: due + later, rung: false, sent: 0 };
        let running = start(engine, terms, vec![(alarm, vec![here])], Gone(0));
        let report = running.notices.recv_timeout(PATIENCE).expect("the first report");
        assert!(matches!(report, Notice::Report { report: 1, .. }), "{engine} {wait}: {report:?}");
        running.remote.send(Command::Abandon);
        running.finish();
    });
}
