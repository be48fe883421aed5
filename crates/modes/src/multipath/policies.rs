//! What other senders would have had of the same paths: each policy's answers, computed from the stamps of
//! datagrams that really went over all of them.
//!
//! A model, and no more: what a policy does not send would have left the paths emptier than they were.

use pathscope_core::id::Lane;
use pathscope_core::stats::{Distribution, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ring::Head;
use super::sample::Stamps;

/// How a sender uses its paths.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The primary path and no other.
    PrimaryOnly,
    /// One path at a time: the first, in their order, that has answered lately.
    FailOver,
    /// The primary; and, where it has not answered in time, another one as well.
    DuplicateLate,
    /// Every path, always: what was measured.
    DuplicateAlways,
}

impl Policy {
    const ALL: [Self; 4] =
        [Self::PrimaryOnly, Self::FailOver, Self::DuplicateLate, Self::DuplicateAlways];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrimaryOnly => "primary only",
            Self::FailOver => "fail over",
            Self::DuplicateLate => "duplicate when late",
            Self::DuplicateAlways => "duplicate always",
        }
    }
}

/// What a policy came to.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PolicyReport {
    /// Which.
    pub policy: Policy,
    /// Datagrams, copies among them, that it puts on paths.
    pub sent: u64,
    /// Numbers that have an answer.
    pub answered: u64,
    /// Numbers that have none, be it that no path of the policy was there.
    pub lost: u64,
    /// From its first sending to its first answer.
    pub latency: Option<Distribution>,
}

/// Counts for one policy.
#[derive(Debug)]
struct Count {
    /// In the fields that they are told in.
    report: PolicyReport,
    latency: LatencyHistogram,
}

impl Count {
    fn add(&mut self, sent: u64, latency_ns: Option<u64>) {
        self.report.sent += sent;
        match latency_ns {
            Some(latency_ns) => self.latency.record(latency_ns),
            None => self.report.lost += 1,
        }
    }

    fn report(&self) -> PolicyReport {
        PolicyReport {
            answered: self.latency.count(),
            latency: (!self.latency.is_empty()).then(|| self.latency.distribution()),
            ..self.report.clone()
        }
    }
}

/// All policies, told of each datagram once.
#[derive(Debug)]
pub(super) struct Policies {
    late_by_ns: u64,
    counts: [Count; Policy::ALL.len()],
}

impl Policies {
    /// One that duplicates late waits so long for the primary.
    pub fn new(late_by_ns: u64) -> Self {
        let counts = Policy::ALL.map(|policy| Count {
            report: PolicyReport { policy, sent: 0, answered: 0, lost: 0, latency: None },
            latency: LatencyHistogram::new(),
        });
        Self { late_by_ns, counts }
    }

    /// What became of one datagram; `effective_ns` from its first sending to its first answer.
    pub fn saw(&mut self, head: Head, stamps: &[Stamps], effective_ns: Option<u64>) {
        let alone = |lane: Lane| {
            let stamps = stamps.get(lane.index());
            let sent = stamps.is_some_and(Stamps::is_sent);
            (u64::from(sent), stamps.and_then(Stamps::latency_ns))
        };
        let copies = stamps.iter().filter(|stamps| stamps.is_sent()).count() as u64;
        let all = [
            alone(Lane::ONLY),
            alone(head.fail_over),
            self.when_late(stamps),
            (copies, effective_ns),
        ];
        for (count, (sent, latency_ns)) in self.counts.iter_mut().zip(all) {
            count.add(sent, latency_ns);
        }
    }

    /// The primary; after the wait the next path that was there, as fast then as it was now.
    fn when_late(&self, stamps: &[Stamps]) -> (u64, Option<u64>) {
        let other = stamps.iter().skip(1).find(|stamps| stamps.is_sent());
        let Some(primary) = stamps.first().filter(|primary| primary.is_sent()) else {
            // Nothing to wait for.
            return (u64::from(other.is_some()), other.and_then(Stamps::latency_ns));
        };
        let first = primary.latency_ns();
        if first.is_some_and(|latency| latency <= self.late_by_ns) {
            return (1, first);
        }
        let second = other.and_then(Stamps::latency_ns);
        let second = second.map(|latency| latency.saturating_add(self.late_by_ns));
        (1 + u64::from(other.is_some()), [first, second].into_iter().flatten().min())
    }

    pub fn report(&self) -> Vec<PolicyReport> {
        self.counts.iter().map(Count::report).collect()
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::Tick;

    use super::*;

    const NEVER: Tick = Tick::NEVER;

    fn stamps(sent: u64, latency: Option<u64>) -> Stamps {
        let received = latency.map_or(NEVER, |latency| Tick::from_nanos(sent + latency));
        Stamps { sent: Tick::from_nanos(sent), echoed: NEVER, received }
    }

    const UNSENT: Stamps = Stamps { sent: NEVER, echoed: NEVER, received: NEVER };

    #[test]
    fn each_policy_has_the_answers_that_it_would_have_had() {
        let mut policies = Policies::new(50);
        let head = |lane| Head { due: Tick::ZERO, fail_over: Lane(lane) };
        // In time; late, and the other faster even then; lost; lost on both; primary not there.
        policies.saw(head(0), &[stamps(0, Some(40)), stamps(1, Some(30))], Some(31));
        policies.saw(head(0), &[stamps(0, Some(90)), stamps(1, Some(30))], Some(31));
        policies.saw(head(1), &[stamps(0, None), stamps(1, Some(30))], Some(31));
        policies.saw(head(1), &[stamps(0, None), stamps(1, None)], None);
        policies.saw(head(1), &[UNSENT, stamps(1, Some(30))], Some(30));
        let found: Vec<_> = policies
            .report()
            .into_iter()
            .map(|it| {
                let latency = it.latency.expect("answers");
                (it.policy, it.sent, it.answered, it.lost, latency.min_ns, latency.max_ns)
            })
            .collect();
        assert_eq!(
            found,
            [
                (Policy::PrimaryOnly, 4, 2, 3, Some(40), Some(90)),
                (Policy::FailOver, 5, 4, 1, Some(30), Some(90)),
                (Policy::DuplicateLate, 8, 4, 1, Some(30), Some(80)),
                (Policy::DuplicateAlways, 9, 4, 1, Some(30), Some(31)),
            ]
        );
    }
}
