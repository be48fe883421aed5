//! What goes ahead of the first ping where a kind of peer has it so: one message as long as a ping, which is no ping. It comes back
//! as pings do, and tells whether the other end echoes messages of this length at all. The run begins when it is back.

use pathscope_core::Tick;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_core::record::FlowErrorKind;
use pathscope_flow::{Gather, RecvWant, SendWant, Want};

use super::PingFlow;
use crate::conventions::{NumberedPings, Pings};
use crate::latency::LatencyPlan;
use crate::latency::content::Content;

/// So long after something of it has moved, more of it has to.
const PATIENCE: Period = Period::from_secs(5);

/// The message, as far as it is.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pings: NumberedPings,
    length: usize,
    sent: usize,
    echoed: usize,
    /// [`Tick::NEVER`]: the flow has not begun.
    deadline: Tick,
}

impl Opening {
    /// That of a flow, where there is one.
    pub fn of(content: &Content) -> Option<Self> {
        let Pings::Numbered(pings) = content.over_streams else { return None };
        let (sent, echoed, deadline) = (0, 0, Tick::NEVER);
        Some(Self { pings, length: content.ping, sent, echoed, deadline })
    }

    /// It may go.
    pub fn start(&mut self, now: Tick) {
        self.deadline = now.plus_nanos(PATIENCE.0);
    }

    pub fn gather(&self, gather: &mut Gather<'_>) {
        self.pings.gather_opening(self.length, self.sent, gather);
    }

    pub fn sent(&mut self, amount: usize, at: Tick) {
        self.sent += amount;
        self.start(at);
    }

    fn want(&self) -> Want {
        let wake = Some(self.deadline);
        let send = match self.length - self.sent.min(self.length) {
            0 => SendWant::Nothing,
            max => SendWant::Stream { max },
        };
        Want { send, recv: RecvWant::Any, wake, ..Want::NOTHING }
    }

    /// What is said of an echo that does not come, or not whole.
    fn overdue(&self) -> String {
        let (length, came) = (Bytes(self.length as u64), Bytes(self.echoed as u64));
        let what = match self.echoed {
            0 => format!("nothing came back of the first message, of {length}, within {PATIENCE}"),
            _ => format!(
                "of the first message, of {length}, {came} came back and no more within {PATIENCE}"
            ),
        };
        format!(
            "{what}: the server echoes messages of another length, or is none that echoes. Both ends need the same message \
             size: start lagscope's receiver with -z{} as well, or ping with the size that it has (4 B by default)",
            self.length
        )
    }
}

impl PingFlow {
    /// What is wanted before the first ping; `None` where that is over or there is nothing of the kind.
    pub(super) fn want_opened(&mut self, now: Tick) -> Option<Want> {
        let opening = self.opening.as_ref()?;
        if opening.deadline == Tick::NEVER || self.error.is_some() {
            return Some(Want::NOTHING);
        }
        if now < opening.deadline {
            return Some(opening.want());
        }
        self.fail(FlowErrorKind::Protocol, opening.overdue(), None);
        Some(Want::NOTHING)
    }

    /// Bytes came. Those that are left are of pings.
    pub(super) fn opened<'a>(
        &mut self,
        plan: &LatencyPlan,
        bytes: &'a [u8],
        now: Tick,
    ) -> &'a [u8] {
        let Some(opening) = &mut self.opening else { return bytes };
        let (own, pings) = bytes.split_at(bytes.len().min(opening.length - opening.echoed));
        if opening.echoed + own.len() > opening.sent
            || !opening.pings.is_opening(opening.echoed, own)
        {
            let text = "what came back of the first message is not what was sent: the server does not echo, so it is no \
                        lagscope";
            self.fail(FlowErrorKind::Data, text, None);
            return &[];
        }
        opening.echoed += own.len();
        opening.start(now);
        if opening.echoed == opening.length {
            self.opening = None;
            self.begin(plan, now);
        }
        pings
    }

    /// Whether something is to come back that has not.
    pub(super) fn awaits_echo(&self) -> bool {
        self.opening.is_some() || self.settled < self.next
    }
}
