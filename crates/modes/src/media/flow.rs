//! One stream at either end, of the halves that it has there, and what became of it.

use pathscope_core::id::{FlowId, Role};
use pathscope_flow::Machine;

use super::header::MAGIC;
use super::receive::Receiving;
use super::send::Sending;
use super::{Layout, MediaPlan, StreamFacts};
use crate::conventions::{Conventions, Framing};
use crate::pattern::SessionKey;
use crate::streams::{Identity, StreamFlow};

/// One stream at one end.
pub type MediaFlow = StreamFlow<Sending, Receiving>;

impl MediaFlow {
    /// Flow number `flow` of a session, at the end of this role.
    pub fn new(plan: &MediaPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        Self::by(Conventions::OWN, plan, (role, session, flow))
    }

    /// The same with a peer of such conventions.
    pub fn by(
        conventions: Conventions,
        plan: &MediaPlan,
        (role, session, flow): (Role, SessionKey, FlowId),
    ) -> Self {
        let identity = Identity::new(MAGIC, session.token, flow.0, false);
        let names = |sender: Role| {
            let key = session.stream(flow.0, sender == Role::Client);
            plan.sends(sender).then_some((key, identity))
        };
        let sender = names(role).map(Sending::new);
        let layout = Layout::framed(plan, conventions.framing);
        let receiver = names(role.peer()).map(|names| Receiving::new(names, &layout));
        let stream = Self::of((role, session, flow), sender, receiver).one_of(plan.streams);
        match conventions.framing {
            Framing::Frames => stream.with_start(start_again_ns(plan)),
            Framing::Own | Framing::Bare | Framing::Sequenced(_) | Framing::Unnumbered => stream,
        }
    }

    /// What the stream came to so far; where it went is known to others.
    pub fn facts(&self) -> StreamFacts {
        let (frames_sent, sent_bytes) =
            self.sender.as_ref().map_or((0, 0), |half| (half.frame, half.bytes));
        let received = self.receiver.as_ref().map(|half| half.stats).unwrap_or_default();
        let totals = self.totals();
        StreamFacts {
            flow: self.id(),
            frames_sent,
            sent_datagrams: totals.sent,
            sent_bytes,
            received_datagrams: totals.received,
            received_bytes: received.bytes,
            lost_datagrams: received.lost,
            frames: received.frames,
            longest_freeze_ns: received.longest_freeze_ns,
            needed_depth_ns: received.needed_depth_ns,
            error: self.error(),
            ..StreamFacts::default()
        }
    }
}

/// How often a client of ctsTraffic says that it wants its stream, until something of it came.
fn start_again_ns(plan: &MediaPlan) -> u64 {
    (1_000 / u64::from(plan.frame_rate.max(1)) + 500) * 1_000_000
}
