//! What a timer calls for goes out before the report that is due at the same moment: both count from the session's
//! start, so a frame or a ping in each second would otherwise be late by the making of a report.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_core::record::FlowError;
use pathscope_engines::{Command, Notice, Terms};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, SendWant, Shared, Totals,
    Transport, Want,
};
use pathscope_os::clock;
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, start, terms};

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
    everywhere(|engine, wait| {
        let (here, _there) = pair(Transport::Stream, &Settings::default());
        // The only interval is as long as the clock has run, so that its report can wait for a two thousandth of that:
        // where a machine is a minute up, 30 ms.
        let due = clock::now() + Duration::from_millis(50);
        let report_every = Duration::from_nanos(due.as_nanos());
        let terms = Terms { start: Tick::ZERO, report_every, ..terms(wait, Transport::Stream) };
        let alarm = Alarm { due, rung: false, sent: 0 };
        let running = start(engine, terms, vec![(alarm, vec![here])], Gone(0));
        let report = running.notices.recv_timeout(PATIENCE).expect("the first report");
        assert!(matches!(report, Notice::Report { report: 1, .. }), "{engine} {wait}: {report:?}");
        running.remote.send(Command::Abandon);
        running.finish();
    });
}
