//! What an engine is given, and what it gives back.

use std::fmt;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use pathscope_core::error::Failure;
use pathscope_core::id::FlowId;
use pathscope_core::record::{StampFacts, WorkerUsage};
use pathscope_core::{Tick, Wait};
use pathscope_flow::{Batches, Machine, Shared, Transport};
use pathscope_os::batches::MOST;
use pathscope_os::{OsError, Socket, errno::errno_name};

use crate::{Inbox, Lanes, Outbox, Preface};

/// What the flows of `M` report.
pub type ReportOf<M> = <<M as Machine>::Shared as Shared>::Report;

/// Flows that are alike, for one thread to run until all are over.
#[derive(Debug)]
pub struct Worker<M: Machine> {
    /// Each flow with its sockets, connected and in blocking mode, a lane each.
    pub flows: Vec<(M, Vec<Socket>)>,
    /// Further flows behind those, which are made where they run.
    pub made: Option<Made<M>>,
    /// What they have in common.
    pub shared: M::Shared,
    /// How they run.
    pub terms: Terms,
    /// Commands.
    pub inbox: Inbox,
    /// Notices.
    pub outbox: Outbox<ReportOf<M>>,
    /// Where flows come from that replace those that end; absent: none are replaced.
    pub succession: Option<Succession<M>>,
}

/// Flows that are made one after the other as their worker takes them in: of very many there are not two copies at any time. A dynamic
/// call: it is made once a flow.
pub struct Made<M>(Box<dyn ExactSizeIterator<Item = (M, Lanes)> + Send>);

impl<M> Made<M> {
    /// Those that come of this.
    pub fn by(flows: impl ExactSizeIterator<Item = (M, Lanes)> + Send + 'static) -> Self {
        Self(Box::new(flows))
    }

    /// They are made as this is read.
    pub(crate) fn flows(self) -> impl ExactSizeIterator<Item = (M, Lanes)> {
        self.0
    }
}

impl<M> fmt::Debug for Made<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Made").field(&self.0.len()).finish()
    }
}

impl<M: Machine> Worker<M> {
    /// How many flows there are.
    pub fn count(&self) -> usize {
        self.flows.len() + self.made.as_ref().map_or(0, |made| made.0.len())
    }

    /// For an engine that looks at flows before it takes them in: makes those that are still to be made.
    pub(crate) fn make_all(mut self) -> Self {
        let made = self.made.take().into_iter().flat_map(Made::flows);
        self.flows.extend(made.map(|(flow, sockets)| (flow, sockets.into_iter().collect())));
        self
    }
}

/// Flows that replace others while a worker runs.
pub struct Succession<M: Machine> {
    /// Those that are to be taken in, each with its sockets, whenever [`Command::Admit`] is heard. The
    /// worker goes on until no sender is left.
    ///
    /// [`Command::Admit`]: crate::Command::Admit
    pub successors: Receiver<Successor<M>>,
    /// Told of each flow that is over, once, and given its sockets, to close on that thread.
    pub departed: Departed<M>,
    /// Told of each flow whose connection did not become its own, once it is closed. A dynamic call: it is made once a
    /// connection.
    pub turned_away: Box<dyn FnMut(FlowId) + Send>,
    /// Whether it is told when each was over: what is heard late is told late.
    pub is_timed: bool,
}

/// A flow that replaces another.
pub struct Successor<M> {
    /// The flow.
    pub machine: M,
    /// Its sockets, connected unless a preface comes first.
    pub sockets: Lanes,
    /// What is said and heard on its one connection before that is its own. For engines that
    /// [know them](crate::EngineKind::speaks_prefaces).
    pub preface: Option<Box<dyn Preface>>,
}

/// Who is told of a flow that is over: the flow, its sockets, and when. A dynamic call: it is made once a
/// connection.
pub type Departed<M> = Box<dyn FnMut(&M, Lanes, Tick) + Send>;

impl<M: Machine> fmt::Debug for Succession<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Succession").finish_non_exhaustive()
    }
}

/// How a worker's flows run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// What kind of sockets.
    pub transport: Transport,
    /// How to wait. Not [`Wait::Auto`]: somebody has to have decided.
    pub wait: Wait,
    /// When the session began: reports are due each `report_every` from here.
    pub start: Tick,
    /// When flows are told to start; at once if that is past. One that is told to stop before is
    /// started first.
    pub begin: Tick,
    /// From one report to the next; zero: one at the end.
    pub report_every: Duration,
    /// The most that is received at once, and so the longest message that a machine can wait for
    /// without taking a part of it.
    pub receive_buffer_bytes: usize,
    /// Whether somebody asks what was lost with connections that were reset (`Sockets::lost_bytes`): else it is not found out.
    pub counts_lost: bool,
    /// Whether the kernel is asked to stamp datagrams as they come and leave.
    pub stamps: bool,
    /// How datagrams are handed over.
    pub batches: Batches,
}

/// Room for what one receive brings, where datagrams are handed over so.
pub const fn room_bytes(batches: Batches) -> usize {
    match batches {
        Batches::One => JOINED_BYTES,
        Batches::Several { longest } => stride_bytes(longest) * MOST,
        Batches::Joined { longest } => {
            let several = stride_bytes(longest) * MOST;
            let joined = JOINED_BYTES * JOINED_AT_ONCE;
            if several > joined { several } else { joined }
        }
    }
}

/// The most that the system joins: what IP can carry, rounded up.
pub(crate) const JOINED_BYTES: usize = 1 << 16;
/// Joined ones that come with one call.
const JOINED_AT_ONCE: usize = 4;

/// Room for a datagram that may be longer than it should be.
pub(crate) const fn stride_bytes(longest: usize) -> usize {
    (longest + 1).next_multiple_of(64)
}

/// The flows again, when all are over.
#[derive(Debug)]
pub struct Finished<M: Machine> {
    /// Each flow with its sockets, still open unless the flow had them reset. Where flows are replaced, what
    /// departed is left, without sockets.
    pub flows: Vec<(M, Lanes)>,
    /// Of each flow whose lanes came and went: what all sockets dropped that each lane had, for want of room. Empty where none of any
    /// flow did.
    pub lane_drops: Vec<Vec<u64>>,
    /// What they have in common.
    pub shared: M::Shared,
    /// What each thread used.
    pub usage: Vec<WorkerUsage>,
    /// Why it ended.
    pub ended: Ended,
    /// How far the kernel's stamps can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
}

/// Why a worker ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// Every flow was over.
    AllOver,
    /// It was told to abandon them.
    Abandoned,
    /// Nobody was left who could have told it anything.
    Orphaned,
}

/// Why an engine could not run, or go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The machine did not allow what the engine is made of.
    #[error(transparent)]
    Os(#[from] OsError),
    /// This system has no such engine.
    #[error("the {engine} engine is not possible on this system: {why}")]
    Unsupported {
        /// Which.
        engine: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// How to wait was left open.
    #[error("the way to wait was left open; a worker needs spin, sleep or hybrid")]
    WaitUndecided,
    /// The kernel would not let it wait.
    #[error("cannot wait for sockets: {}", errno_name(*.errno))]
    Wait {
        /// The system's error number.
        errno: i32,
    },
    /// A thread of a flow in two halves panicked.
    #[error("a worker thread panicked; this is a bug of pathscope")]
    Panicked,
}

impl EngineError {
    /// What kind of trouble it is, for the exit code.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Os(error) => error.failure(),
            Self::Unsupported { .. } | Self::Wait { .. } => Failure::Unsupported,
            Self::WaitUndecided | Self::Panicked => Failure::Internal,
        }
    }
}
