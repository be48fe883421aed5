//! Small machines that each do one thing.

use pathscope_core::Tick;

use crate::{Event, RecvMeta, Shared};

/// What the machines of one end write down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Round trips, in nanoseconds.
    pub round_trips: Vec<u64>,
    /// What machines were told, and when by their clock.
    pub events: Vec<(Tick, Event)>,
    /// Numbers of datagrams received.
    pub received: Vec<u64>,
    /// What the kernel told with each receive.
    pub metas: Vec<RecvMeta>,
}

impl Shared for Log {
    type Report = usize;

    fn report(&mut self, _now: Tick) -> usize {
        std::mem::take(&mut self.events).len()
    }
}

/// The byte at a position of every stream here.
pub fn pattern(position: u64) -> u8 {
    (position % 251) as u8
}

/// The parts of the trait that are alike in all toys.
macro_rules! common {
    () => {
        type Shared = Log;

        const CLOCK: ClockNeed = ClockNeed::EveryOperation;

        fn id(&self) -> FlowId {
            FlowId(0)
        }

        fn phase(&self) -> Phase {
            self.phase
        }

        fn totals(&self) -> Totals {
            Totals { sent: self.sent, received: self.received }
        }

        fn error(&self) -> Option<FlowError> {
            (self.phase == Phase::Failed).then(|| FlowError {
                kind: FlowErrorKind::Network,
                text: "reset".to_owned(),
                errno: None,
            })
        }
    };
}

/// A machine without datagrams.
macro_rules! fills_nothing {
    () => {
        fn fill(&mut self, _log: &mut Log, _lane: Lane, _batch: &mut Batch<'_>, _now: Tick) {}
    };
}

/// A machine without a stream.
macro_rules! gathers_nothing {
    () => {
        fn gather<'data>(&'data self, _: &'data Log, _lane: Lane, _gather: &mut Gather<'data>) {}
    };
}

/// A machine that never wants to send.
macro_rules! sends_nothing {
    () => {
        fills_nothing!();
        gathers_nothing!();

        fn sent(&mut self, _log: &mut Log, _lane: Lane, _amount: usize, _at: Tick) {}
    };
}

/// A machine that never wants to receive.
macro_rules! receives_nothing {
    () => {
        fn received(
            &mut self,
            _log: &mut Log,
            _lane: Lane,
            _bytes: &[u8],
            _meta: RecvMeta,
            _now: Tick,
        ) -> Consumed {
            Consumed(0)
        }
    };
}

pub(super) use {fills_nothing, gathers_nothing, sends_nothing};

mod datagrams;
mod sleeper;
mod streams;

pub use datagrams::{Listener, Numberer};
pub use sleeper::Sleeper;
pub use streams::{Collector, Player, Pourer};
