//! How far a session of a server with a sender is. What leads from one stage to the next is `server`'s.

use pathscope_core::Tick;
use pathscope_modes::groups::Test;

use super::run::Run;
use crate::{Moment, PeerError};

/// How far it is; mostly with the time at which it is to be further.
#[derive(Debug)]
pub(super) enum Stage {
    /// It is to ask whether this end is busy.
    Greeting(Tick),
    /// It is to say how long its test takes.
    Agreeing(Tick),
    /// It makes its connections, and is to say when it begins.
    Gathering(Tick),
    /// The senders of a test of several come, and the last of them is to say so.
    Assembling,
    /// Those that have been made are counted until then.
    Counting(Tick),
    /// It sends datagrams, and their flows are counted.
    Calling(Calling),
    /// This end makes ready for the test.
    Preparing(Box<Test>),
    /// So many connections have not got their places.
    Attaching { test: Box<Test>, missing: u32, deadline: Tick },
    /// The flows run.
    Running(Box<Run>),
    /// They are over; the sender may say that it has ended, too.
    Leaving { deadline: Tick, result: Result<(), PeerError> },
    /// Nothing follows.
    Over,
}

/// Flows that begin by themselves, each with its first datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calling {
    /// No more are awaited then.
    pub until: Tick,
    /// Nor whatever comes.
    pub last: Tick,
}

impl Stage {
    /// The same, as errors name it.
    pub const fn moment(&self) -> Moment {
        match self {
            Self::Greeting(_) => Moment::Greeting,
            Self::Agreeing(_) => Moment::Agreeing,
            Self::Gathering(_) | Self::Assembling | Self::Counting(_) | Self::Calling(_) => {
                Moment::Attaching
            }
            Self::Preparing(_) | Self::Attaching { .. } => Moment::Starting,
            Self::Running(_) => Moment::Running,
            Self::Leaving { .. } | Self::Over => Moment::Ending,
        }
    }

    /// Whether connections that come are counted for a test.
    pub const fn is_before_test(&self) -> bool {
        matches!(
            self,
            Self::Greeting(_)
                | Self::Agreeing(_)
                | Self::Gathering(_)
                | Self::Assembling
                | Self::Counting(_)
        )
    }

    /// Whether this end makes ready for a test whose connections have been counted.
    pub const fn is_begun(&self) -> bool {
        matches!(self, Self::Preparing(_) | Self::Attaching { .. })
    }

    /// Whether no flow runs yet.
    pub const fn is_before_run(&self) -> bool {
        self.is_before_test() || self.is_begun() || matches!(self, Self::Calling(_))
    }

    /// Whether nothing follows.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// When there is something to do, whatever comes.
    pub fn deadline(&self) -> Option<Tick> {
        match self {
            Self::Greeting(at)
            | Self::Agreeing(at)
            | Self::Gathering(at)
            | Self::Counting(at)
            | Self::Attaching { deadline: at, .. }
            | Self::Leaving { deadline: at, .. } => Some(*at),
            Self::Calling(calling) => Some(calling.until),
            Self::Running(run) => Some(run.over_at.min(run.quiet_at)),
            Self::Assembling | Self::Preparing(_) | Self::Over => None,
        }
    }
}
