//! What the flows of a mode are while they run, and what they leave: typed, so that whoever runs them does so for each mode
//! by itself. `registry` puts the modes side by side again.
//!
//! A worker runs flows of one end; every interval it hands over a [`Runs::Tally`], and when its flows are over a
//! [`Runs::WorkerReport`]. The end's session adds both up in a [`Runs::Accumulator`], which makes the end's report.

use std::fmt::Debug;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};
use pathscope_core::journal::{Stream, StreamStatus};
use pathscope_core::record::{FlowError, FlowErrorKind, StampFacts, WirelessFacts};
use pathscope_core::sending::SendSamples;
use pathscope_flow::{Machine, Phase, Shared, Split, Totals};

use crate::conventions::Conventions;
use crate::kernel_sending::KernelSending;
use crate::load::{Acknowledged, ConnectionEnd, Connections, Together};
use crate::paths::PathsSeen;
use crate::pattern::SessionKey;
use crate::results::Results;
use crate::samples::{SampleBuffer, SampleRows};

/// What a flow begins with beside its plan and its number.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// Which end it is at.
    pub role: Role,
    /// What the bytes of its session are made from.
    pub key: SessionKey,
    /// Whether the other end says of each stream of datagrams that it still wants it, and hears that said.
    pub consents: bool,
    /// What holds on the flows' own connections.
    pub conventions: Conventions,
    /// How the kernel sends on them.
    pub sending: KernelSending,
    /// The lanes that there are already, where they roam.
    pub lanes: &'a [Lane],
    /// What the flows of its group have received, all workers together, where somebody counts that.
    pub together: Option<&'a Together>,
}

impl Begin<'_> {
    /// At this end of this session, with nothing known of lanes, of what others have received and of how the kernel sends.
    pub fn of((role, key): (Role, SessionKey), consents: bool, conventions: Conventions) -> Self {
        let sending = KernelSending::default();
        Self { role, key, consents, conventions, sending, lanes: &[], together: None }
    }
}

/// Where a mode's samples go.
pub type Samples<M> = SampleBuffer<<<M as Runs>::Rows as SampleRows>::Sample>;

/// A mode whose flows run.
pub trait Runs: Results + Clone + Send + 'static {
    /// A flow at the client.
    type Client: Flow<Self>;
    /// A flow at the server.
    type Server: Flow<Self>;
    /// What the flows of a worker did between two reports.
    type Tally: Debug + Send + 'static;
    /// What the flows of a worker came to, beside what was counted.
    type WorkerReport: Debug + Send + 'static;
    /// What the flows of an end come to, as it becomes known.
    type Accumulator: Accumulate<Self>;
    /// The rows of what is measured one by one.
    type Rows: SampleRows;

    /// Whether what is told of an interval cannot be added up, as percentiles: then it is of the tallies of all workers together.
    const JOINS: bool = false;

    /// Those rows, where there are any.
    fn rows(&self) -> Option<Self::Rows> {
        None
    }

    /// Adds what a worker did to what all workers of an end did in an interval. Where tallies are [joined](Self::JOINS), it is that of all.
    fn add_interval(sum: &mut Self::Interval, tally: &Self::Tally);

    /// Adds what another worker counted in the same interval, where that is so.
    fn join(_sum: &mut Self::Tally, _more: &Self::Tally) {}

    /// Before anything is known.
    fn accumulator(&self, role: Role) -> Self::Accumulator;

    /// Whether the session hears of this change of a flow's phase.
    fn tells(&self, _role: Role, _flow: FlowId, _phase: Phase, _totals: Totals) -> bool {
        true
    }

    /// Adds what the radios of paths say now to what was counted in an interval that has just ended.
    fn tell_radios(_interval: &mut Self::Interval, _radios: &[Option<WirelessFacts>]) {}

    /// Adds to what a worker counted how much of what it sent was acknowledged meanwhile, of which so much is not by now.
    fn acknowledge(_tally: &mut Self::Tally, _known: &mut Acknowledged, _waiting_bytes: u64) {}

    /// Of connections and streams: what they did in an interval, as files of a session have it.
    fn status(_interval: &Self::Interval) -> Option<StreamStatus> {
        None
    }
}

/// A flow of a mode at one end.
pub trait Flow<M: Runs>: Machine<Shared: Shared<Report = M::Tally> + 'static> + 'static {
    /// What the flows of one worker have in common.
    fn shared(plan: &M, begin: &Begin<'_>, samples: Option<Samples<M>>) -> Self::Shared;

    /// One of them.
    fn begin(plan: &M, flow: FlowId, begin: &Begin<'_>) -> Self;

    /// Has them run: as they are, or in halves where that is wanted and they can be cut.
    fn run<R: Runner<Self>>(runner: R, _in_halves: bool) -> R::Output {
        runner.whole()
    }

    /// What those of a worker came to.
    fn worker_report<S: System>(plan: &M, left: &Left<'_, Self, S>) -> M::WorkerReport;

    /// Of one that is a connection: how it ended.
    fn connection_end(&self, _plan: &M) -> Option<ConnectionEnd> {
        None
    }

    /// Of one that is a stream: how it ended, as files of a session have it, and when.
    fn stream_end(&self, _plan: &M, _role: Role) -> Option<(Option<Tick>, Stream)> {
        None
    }
}

/// Who runs flows.
pub trait Runner<F> {
    /// What comes of it.
    type Output;

    /// As they are.
    fn whole(self) -> Self::Output;

    /// Each cut in two.
    fn halves(self) -> Self::Output
    where
        F: Split;
}

/// What a worker leaves when its flows are over.
#[derive(Debug)]
pub struct Left<'a, F: Machine, S> {
    /// Each flow, with what the system knows of it.
    pub flows: &'a [(F, S)],
    /// What they have in common.
    pub shared: &'a F::Shared,
    /// Of each flow whose lanes came and went: what all sockets dropped that each lane had.
    pub lane_drops: &'a [Vec<u64>],
}

/// What the system knows of a flow that is over.
pub trait System {
    /// This end's address and the other's.
    fn addresses(&self) -> [Option<String>; 2];

    /// The longest datagram that its path takes, where that is known.
    fn longest_datagram_bytes(&self) -> Option<u64>;

    /// An error with the system's name in place of its number.
    fn named(&self, error: FlowError) -> FlowError;
}

/// What the flows of an end come to, as it becomes known.
pub trait Accumulate<M: Runs>: Debug + Send {
    /// A worker has counted this.
    fn count(&mut self, tally: &M::Tally);

    /// The flows of a worker have come to this.
    fn add(&mut self, report: M::WorkerReport);

    /// A worker with so many flows could not go on.
    fn lose(&mut self, flows: u64, error: &FlowError);

    /// All of it, with what else is known of the end.
    fn report(self, end: AtEnd<'_>) -> M::Report;
}

/// What is known of an end beside what its flows came to, when it reports.
pub struct AtEnd<'a> {
    /// When its flows began.
    pub start: Tick,
    /// What its connections came to, where it had any.
    pub connections: Connections,
    /// What the first of them that were to send were seen to wait for; absent where nobody looked.
    pub sending: Option<SendSamples>,
    /// Datagrams that its own sockets dropped; absent where the system does not say, and over TCP.
    pub socket_drops: Option<u64>,
    /// Room in a socket that receives datagrams, as the system granted it, where it was asked for.
    pub receive_buffer_bytes: Option<u64>,
    /// How far stamps of its kernel can be trusted, where they were asked for.
    pub stamps: Option<StampFacts>,
    /// What ended the first of its flows that did not come to its end.
    pub error: Option<FlowError>,
    /// What is known of its paths, where they roam.
    pub paths: Option<PathsSeen>,
    /// What names a flow at both ends alike.
    pub name: &'a dyn Fn(FlowId) -> Option<String>,
}

/// How far a flow is: whether it has failed, has sent all it will, and has received all that it awaits.
pub(crate) const fn phase_of(is_failed: bool, has_sent: bool, has_received: bool) -> Phase {
    match (is_failed, has_sent, has_received) {
        (true, ..) => Phase::Failed,
        (false, true, true) => Phase::Done,
        (false, true, false) => Phase::SendingDone,
        (false, false, _) => Phase::Running,
    }
}

/// What ended a flow before its time; its own words, as far as it has any.
pub fn error_of(flow: &impl Machine) -> Option<FlowError> {
    let unfinished = || FlowError {
        kind: FlowErrorKind::Network,
        text: "it was still under way when the test ended".to_owned(),
        errno: None,
    };
    (flow.phase() != Phase::Done).then(|| flow.error().unwrap_or_else(unfinished))
}
