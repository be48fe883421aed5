//! A datagram flow at one end, of the halves that it has there, and what became of it.

use pathscope_core::id::{FlowId, Role};
use pathscope_flow::Machine;

use super::receive::Receiver;
use super::send::Sender;
use super::{DatagramFlowFacts, DatagramShared, DatagramsPlan};
use crate::conventions::Framing;
use crate::memory::share_of_each;
use crate::pattern::SessionKey;
use crate::streams::{Identity, StreamFlow};

/// First four bytes of every datagram.
const MAGIC: [u8; 4] = *b"PSDG";
/// Numbers remembered of all flows together: of one flow at a million a second, more than half a second.
const WINDOW: usize = 1 << 19;
/// Of each flow at least so many, where there are [few](share_of_each); what more share is at ten million a second of all
/// the last four seconds.
const LEAST_WINDOW: u64 = 1 << 12;
/// Of each however many there are.
const LEAST_OF_MANY: usize = 1 << 10;

/// One end of one datagram flow.
pub type DatagramFlow = StreamFlow<Sender, Receiver>;

impl DatagramsPlan {
    /// Numbers that each flow remembers.
    pub(super) fn window(&self) -> usize {
        let least = share_of_each(LEAST_WINDOW, self.connections.into()) as usize;
        (WINDOW / self.connections.max(1) as usize).max(least).max(LEAST_OF_MANY)
    }
}

impl DatagramFlow {
    /// Flow number `flow` of `plan` as `role` has it.
    pub fn new(plan: &DatagramsPlan, role: Role, session: SessionKey, flow: FlowId) -> Self {
        let names = |sender: Role| {
            let from_client = sender == Role::Client;
            let identity = Identity::new(MAGIC, session.token, flow.0, from_client);
            let sends = plan.pattern.sends_on(sender, flow, plan.connections);
            sends.then(|| (session.stream(flow.0, from_client), identity))
        };
        let sender = names(role).map(Sender::new);
        let receiver = names(role.peer()).map(|names| Receiver::new(names, plan.window()));
        Self::of((role, session, flow), sender, receiver).one_of(plan.flows_in_all())
    }

    /// What became of this flow.
    pub fn facts(&self) -> DatagramFlowFacts {
        let totals = self.totals();
        DatagramFlowFacts {
            flow: self.id(),
            sent: totals.sent,
            expected: self.receiver.as_ref().map_or(Some(0), |half| half.total),
            received: totals.received,
            lost: self.receiver.as_ref().map_or(0, |half| half.lost),
            received_bps: None,
            error: self.error(),
            highest: None,
            received_bytes: None,
            smoothed_jitter_ns: None,
        }
    }

    /// The same, and what the peers of those datagrams are told that only say their number.
    pub fn facts_told(&self, shared: &DatagramShared) -> DatagramFlowFacts {
        let facts = self.facts();
        let Some(half) = &self.receiver else { return facts };
        if !matches!(shared.framing, Framing::Sequenced(_)) {
            return facts;
        }
        let (highest, jitter_ns) = half.seen_last();
        DatagramFlowFacts {
            highest: Some(highest),
            received_bytes: Some(facts.received.saturating_mul(shared.schedule.size)),
            smoothed_jitter_ns: Some(jitter_ns),
            ..facts
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_flow::sim::Weather;
    use proptest::prelude::*;

    use super::*;
    use crate::datagrams::tests::{link, plan, run, sim};
    use crate::load::Pattern;

    #[test]
    fn up_to_10_000_flows_remember_what_they_always_did_and_more_share_it() {
        let window = |connections| DatagramsPlan { connections, ..plan(Pattern::Push) }.window();
        assert_eq!([1, 16, 128, 10_000].map(window), [1 << 19, 1 << 15, 1 << 12, 1 << 12]);
        assert_eq!([20_000, 1_000_000].map(window), [1 << 11, 1 << 10]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// A flow of a million remembers fewer numbers than one alone, and counts the same of what comes within 500 of them.
        #[test]
        fn a_flow_of_a_million_counts_as_one_alone(
            seed: u64, lost_ppm in 0..300_000_u64, duplicated_ppm in 0..200_000_u64,
            delayed_ppm in 0..300_000_u64, delay_ns in 1_000..500_000_000_u64,
        ) {
            let weather =
                Weather { seed, lost_ppm, duplicated_ppm, delayed_ppm, delay_ns, ..Weather::default() };
            let [alone, of_many] = [1, 1_000_000].map(|connections| {
                let mut sim = sim(&DatagramsPlan { connections, ..plan(Pattern::Push) }, link());
                sim.datagrams(weather.fates());
                let (client, server, _) = run(&mut sim);
                (client, server)
            });
            prop_assert_eq!((alone.0.sent, alone.1.late), (1_000, 0));
            prop_assert_eq!(alone, of_many);
        }
    }
}
