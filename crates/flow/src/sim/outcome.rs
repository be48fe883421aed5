//! How a run ended, in a form that explains a failed test.

use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use thiserror::Error;

use crate::{Phase, RecvWant, SendWant, Totals, Want};

/// How a run ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// When, since the simulation began.
    pub at: Tick,
    /// Operations so far: each send and each receive of each end is one.
    pub operations: u64,
    /// The machines that are not over, and what they wait for.
    pub waiting: Vec<Waiting>,
}

impl Outcome {
    /// Whether every machine is over, well or not.
    pub fn is_over(&self) -> bool {
        self.ended == Ended::Over
    }
}

/// The truth about one direction of a lane, in bytes of a stream or in datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    /// Put on the link.
    pub entered: u64,
    /// Datagrams lost on it.
    pub lost: u64,
    /// Datagrams that came out twice.
    pub duplicated: u64,
    /// Datagrams dropped by the receiving socket for want of room.
    pub overflowed: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// Every machine is over, well or not.
    Over,
    /// The time given has passed; `run` may be called again.
    TimeUp,
    /// Nothing will ever happen again, and machines are not over: a deadlock.
    Stuck,
    /// Too many steps: machines spin without time passing, or the run is longer than foreseen.
    TooManySteps,
    /// A machine broke the rules of the seam.
    Broken {
        /// Its flow.
        flow: FlowId,
        /// Its end.
        role: Role,
        /// What it did.
        breach: Breach,
    },
}

/// What a machine may not do.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum Breach {
    /// It consumed bytes that it was not shown.
    #[error("consumed {consumed} of {presented} bytes")]
    ConsumedTooMuch {
        /// What it said.
        consumed: usize,
        /// What it was shown.
        presented: usize,
    },
    /// It consumed part of a datagram.
    #[error("consumed {consumed} bytes of datagrams of {stride}, which cuts one in two")]
    CutDatagram {
        /// What it said.
        consumed: usize,
        /// The length of each.
        stride: usize,
    },
    /// It wanted to send and gave nothing.
    #[error("wanted to send on lane {} and had nothing to send", .lane.0)]
    NothingToSend {
        /// On which lane.
        lane: Lane,
    },
    /// Its phase went back.
    #[error("went back from phase {from:?} to {to:?}")]
    PhaseWentBack {
        /// Where it was.
        from: Phase,
        /// Where it went.
        to: Phase,
    },
    /// It is over and wants something other than to close.
    #[error("is {phase:?} and still wants {}", Words(.want))]
    WantsThoughOver {
        /// Its phase.
        phase: Phase,
        /// What it wants.
        want: Want,
    },
    /// It wants to send with or after a close.
    #[error("wants to send after it asked to close, or with it: {}", Words(.want))]
    SendsThoughClosed {
        /// What it wants.
        want: Want,
    },
    /// It wants to send on a lane that it does not have.
    #[error("wants to send on lane {} of {lanes}", .lane.0)]
    NoSuchLane {
        /// Which.
        lane: Lane,
        /// How many it has.
        lanes: usize,
    },
    /// It wants to send a stream on datagrams, or datagrams on a stream.
    #[error("wants to send what its transport does not carry: {}", Words(.want))]
    WrongTransport {
        /// What it wants.
        want: Want,
    },
}

/// A machine that is not over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiting {
    /// Its flow.
    pub flow: FlowId,
    /// Its end.
    pub role: Role,
    /// Whether it was told to start.
    pub started: bool,
    /// How far it is.
    pub phase: Phase,
    /// What went through.
    pub totals: Totals,
    /// What it wants; ticks are of its own clock.
    pub want: Want,
    /// What it last wrote and the link has not taken, over all lanes.
    pub unsent_bytes: usize,
    /// What has arrived and it has not taken, over all lanes.
    pub unread_bytes: usize,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.at.as_nanos();
        write!(formatter, "{} at {nanoseconds} ns, {} operations", self.ended, self.operations)?;
        self.waiting.iter().try_for_each(|waiting| write!(formatter, "\n  {waiting}"))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => formatter.write_str("every machine over"),
            Self::TimeUp => formatter.write_str("time up"),
            Self::Stuck => formatter.write_str("stuck: nothing will happen any more"),
            Self::TooManySteps => formatter.write_str("too many steps: something spins"),
            Self::Broken { flow, role, breach } => {
                write!(formatter, "seam broken: flow {flow} {role:?} {breach}")
            }
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flow, role, phase, totals, want, unsent_bytes, unread_bytes, started } = self;
        let unstarted = if *started { "" } else { " (not started)" };
        write!(
            formatter,
            "flow {flow} {role:?} {phase:?}{unstarted}: wants {}; sent {}, received {}; \
             {unsent_bytes} bytes unsent, {unread_bytes} unread",
            Words(want),
            totals.sent,
            totals.received,
        )
    }
}

/// A want in a few words.
struct Words<'want>(&'want Want);

impl fmt::Display for Words<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is weighed was told by the time that anybody waits.
        let Want { send, send_lane, recv, wake, close, .. } = self.0;
        match send {
            SendWant::Nothing => formatter.write_str("to send nothing")?,
            SendWant::Stream { max } => write!(formatter, "to send up to {max} bytes")?,
            SendWant::Datagrams { stride, max } => {
                write!(formatter, "to send up to {max} datagrams of {stride} bytes")?;
            }
        }
        if *send_lane != Lane::ONLY {
            write!(formatter, " on lane {}", send_lane.0)?;
        }
        match recv {
            RecvWant::Nothing => formatter.write_str(", to receive nothing")?,
            RecvWant::UpTo(bytes) => write!(formatter, ", to receive up to {bytes} bytes")?,
            RecvWant::Any => formatter.write_str(", to receive anything")?,
        }
        wake.map_or(Ok(()), |tick| write!(formatter, ", to wake at {} ns", tick.as_nanos()))?;
        close.map_or(Ok(()), |close| write!(formatter, ", to close ({close:?})"))
    }
}
