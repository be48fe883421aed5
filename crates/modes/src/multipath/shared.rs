//! What the client of a multipath test keeps beside its machine: plan, ring and ledger.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::Shared;

use super::ledger::{Ledger, Terms};
use super::report::{MultipathReport, MultipathTally};
use super::ring::{Arrival, Head, Ring};
use super::sample::{MultipathSample, Stamps};
use super::{MOST_PATHS, MultipathPlan, datagram};
use crate::conventions::Framing;
use crate::samples::SampleBuffer;

/// An answer is waited for so long, at the most.
pub(super) const ANSWER_WITHIN_NS: u64 = 5_000_000_000;
/// Numbers that are remembered: at least and at most. The most are 0.5 s at a gigabit a second.
pub(super) const WINDOW: std::ops::RangeInclusive<u64> = 1 << 14..=1 << 16;

/// Paths that came into use, as far as they are told one by one.
const TOLD: usize = 1_000;

/// The client's.
#[derive(Debug)]
pub struct MultipathShared {
    pub(super) plan: MultipathPlan,
    pub(super) ring: Ring,
    pub(super) ledger: Ledger,
    fail_over_after_ns: u64,
    /// When each path last answered, or came up.
    heard: [Tick; MOST_PATHS as usize],
    /// Paths that came up while the test ran, and when the server first answered on them.
    pub(super) used: Vec<(Lane, Tick)>,
    pub(super) samples: Option<SampleBuffer<MultipathSample>>,
}

impl MultipathShared {
    /// For a test of `plan`.
    pub fn new(plan: &MultipathPlan) -> Self {
        let terms = Terms::of(plan);
        let per_second = plan.rate_bps.0 / (8 * plan.datagram_bytes.0.max(1)) + 1;
        let awaited = (per_second * (ANSWER_WITHIN_NS / 1_000_000_000 + 1))
            .saturating_add(2 * u64::from(plan.grouping));
        let window = awaited.clamp(*WINDOW.start(), *WINDOW.end());
        Self {
            plan: plan.clone(),
            ring: Ring::new(window as usize, usize::from(plan.lanes)),
            ledger: Ledger::new(&terms),
            fail_over_after_ns: terms.fail_over_after_ns(),
            heard: [Tick::ZERO; MOST_PATHS as usize],
            used: Vec::with_capacity(TOLD),
            samples: None,
        }
    }

    /// The same, of datagrams that are laid out like this.
    pub fn framed(mut self, framing: Framing) -> Self {
        self.ring.stamp_tick_ns = datagram::stamp_tick_ns(framing);
        self
    }

    /// A path can be used from now on.
    pub(super) fn came_up(&mut self, lane: Lane, now: Tick) {
        self.heard[lane.index()] = now;
    }

    /// The server has answered on a path that came up while the test ran.
    pub(super) fn came_into_use(&mut self, lane: Lane, now: Tick) {
        self.came_up(lane, now);
        if self.used.len() < TOLD {
            self.used.push((lane, now));
        }
    }

    /// One more number is about to leave, on these paths.
    pub(super) fn begin(&mut self, due: Tick, usable: impl Fn(Lane) -> bool, now: Tick) {
        if self.ring.is_full() {
            self.settle_oldest();
        }
        let answers = |lane: &Lane| {
            usable(*lane) && now.nanos_since(self.heard[lane.index()]) <= self.fail_over_after_ns
        };
        let lanes = || (0..self.plan.lanes).map(Lane);
        let fail_over = lanes().find(answers).or_else(|| lanes().find(|&lane| usable(lane)));
        self.ring.begin(Head { due, fail_over: fail_over.unwrap_or(Lane::ONLY) });
    }

    /// The number that is leaving has left on this path.
    pub(super) fn sent(&mut self, number: u64, lane: Lane, at: Tick) {
        let (head, stamps) = self.ring.get(number);
        let is_first = !stamps.iter().any(Stamps::is_sent);
        self.ring.sent(number, lane, at);
        self.ledger.sent(lane, at, is_first.then_some(head.due));
    }

    /// An echo came, every byte of its filler as it was sent.
    pub(super) fn arrived(&mut self, number: u64, lane: Lane, stamps: Stamps) {
        self.heard[lane.index()] = stamps.received;
        let path = &mut self.ledger.paths[lane.index()].counts;
        match self.ring.arrived(number, lane, stamps) {
            Arrival::First => self.ledger.received(number, lane, self.ring.get(number).1),
            Arrival::Again => path.duplicates += 1,
            Arrival::Late => path.late += 1,
            Arrival::Altered => path.corrupt += 1,
            Arrival::Unknown => self.ledger.counts.foreign += 1,
        }
    }

    /// Gives up what need not be awaited any longer: the oldest that are answered on every path, or that left
    /// before `before`. The number that is `leaving` stays.
    pub(super) fn settle(&mut self, before: Tick, leaving: Option<u64>) {
        while let Some((number, head, stamps)) = self.ring.oldest() {
            let is_answered = stamps.iter().all(|it| !it.is_sent() || it.is_received());
            if Some(number) == leaving || !is_answered && left_at(head, stamps) >= before {
                return;
            }
            self.settle_oldest();
        }
    }

    /// When the oldest is given up.
    pub(super) fn oldest_left(&self) -> Option<Tick> {
        self.ring.oldest().map(|(_, head, stamps)| left_at(head, stamps))
    }

    fn settle_oldest(&mut self) {
        let Some((number, head, stamps)) = self.ring.oldest() else { return };
        self.ledger.settle(head, stamps);
        if let Some(samples) = &mut self.samples {
            for (lane, &stamps) in (0..).map(Lane).zip(stamps) {
                samples.push(MultipathSample { number, lane, stamps });
            }
        }
        self.ring.retire();
    }

    /// What the test came to.
    pub fn report_all(&self) -> MultipathReport {
        self.ledger.report()
    }
}

/// When a number left on the last of its paths; one that never did, when it was due.
fn left_at(head: Head, stamps: &[Stamps]) -> Tick {
    stamps.iter().filter(|it| it.is_sent()).map(|it| it.sent).max().unwrap_or(head.due)
}

impl Shared for MultipathShared {
    type Report = MultipathTally;

    fn report(&mut self, _now: Tick) -> MultipathTally {
        if let Some(samples) = &mut self.samples {
            samples.hand_over();
        }
        self.ledger.take_interval()
    }
}
