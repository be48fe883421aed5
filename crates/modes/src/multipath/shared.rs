//! What the two ends of a multipath test keep beside their machines: plan, ring and ledger at the client,
//! counts at the server.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::Shared;

use super::ledger::Ledger;
use super::report::{MultipathReport, PathInterval, PathReport};
use super::ring::{Arrival, Head, Ring, Stamps};
use super::sample::{MultipathSample, MultipathSamples};
use super::tally::MultipathTally;
use super::{MOST_PATHS, MultipathEcho, MultipathPlan};
use crate::arrivals::{Seen, Sight};
use crate::memory::{MemoryNeed, tallies};

/// An answer is waited for so long, at the most.
pub(super) const ANSWER_WITHIN_NS: u64 = 5_000_000_000;
/// Numbers that are remembered: at least and at most. The most are 0.5 s at a gigabit a second.
const WINDOW: std::ops::RangeInclusive<u64> = 1 << 14..=1 << 16;
/// A path that has not answered for so long, or for three groups, would be left by a sender that fails over.
const FAIL_OVER_AFTER_NS: u64 = 500_000_000;

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
    used: Vec<(Lane, Tick)>,
    samples: Option<MultipathSamples>,
}

impl MultipathShared {
    /// For a test of `plan`.
    pub fn new(plan: &MultipathPlan) -> Self {
        let interval_ns = plan.interval_ns();
        let per_second = plan.rate_bps.0 / (8 * plan.datagram_bytes.0.max(1)) + 1;
        let awaited = (per_second * (ANSWER_WITHIN_NS / 1_000_000_000 + 1))
            .saturating_add(2 * u64::from(plan.grouping));
        let window = awaited.clamp(*WINDOW.start(), *WINDOW.end());
        let fail_over_after_ns = FAIL_OVER_AFTER_NS.max(interval_ns.saturating_mul(3));
        Self {
            plan: plan.clone(),
            ring: Ring::new(window as usize, usize::from(plan.lanes)),
            ledger: Ledger::new(plan.lanes, interval_ns, (plan.late_by_ns.0, fail_over_after_ns))
                .with_named(plan.paths.len()),
            fail_over_after_ns,
            heard: [Tick::ZERO; MOST_PATHS as usize],
            used: Vec::with_capacity(TOLD),
            samples: None,
        }
    }

    /// The same, with the stamps of each number handed to `samples`.
    #[must_use]
    pub fn with_samples(mut self, samples: MultipathSamples) -> Self {
        self.samples = Some(samples);
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

    /// Paths that came into use while the test ran, and when.
    pub fn used(&self) -> &[(Lane, Tick)] {
        &self.used
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
        while !self.ring.is_empty() && Some(self.ring.oldest()) != leaving {
            let (head, stamps) = self.ring.get(self.ring.oldest());
            let left = stamps.iter().filter(|it| it.is_sent()).map(|it| it.sent).max();
            let is_answered = stamps.iter().all(|it| !it.is_sent() || it.is_received());
            if !is_answered && left.unwrap_or(head.due) >= before {
                return;
            }
            self.settle_oldest();
        }
    }

    /// When the oldest is given up.
    pub(super) fn oldest_left(&self) -> Option<Tick> {
        if self.ring.is_empty() {
            return None;
        }
        let (head, stamps) = self.ring.get(self.ring.oldest());
        let left = stamps.iter().filter(|it| it.is_sent()).map(|it| it.sent).max();
        Some(left.unwrap_or(head.due))
    }

    fn settle_oldest(&mut self) {
        let number = self.ring.oldest();
        let (head, stamps) = self.ring.get(number);
        self.ledger.settle(head, stamps);
        if let Some(samples) = &mut self.samples {
            for (lane, &Stamps { sent, echoed, received }) in (0..).map(Lane).zip(stamps) {
                samples.push(MultipathSample { number, lane, sent, echoed, received });
            }
        }
        self.ring.retire();
    }

    /// What the test came to.
    pub fn report_all(&self) -> MultipathReport {
        self.ledger.report()
    }
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

/// The server's.
#[derive(Debug)]
pub struct MultipathEchoShared {
    pub(super) paths: Vec<EchoedPath>,
    pub(super) foreign: u64,
}

/// What a server counts of one path.
#[derive(Debug)]
pub(super) struct EchoedPath {
    seen: Seen,
    /// In the fields that they are told in.
    pub counts: PathReport,
    /// Of them, as last told.
    told: PathInterval,
}

impl EchoedPath {
    pub fn saw(&mut self, number: u64) {
        let is_behind = self.seen.is_behind(number);
        match self.seen.saw(number) {
            Sight::First => {
                self.counts.received += 1;
                self.counts.reordered += u64::from(is_behind);
            }
            Sight::Again => self.counts.duplicates += 1,
            Sight::Forgotten => self.counts.late += 1,
        }
    }
}

impl MultipathPlan {
    /// What a server remembers of the lanes of such a test.
    pub(super) fn echo_memory(&self) -> MemoryNeed {
        let path = size_of::<EchoedPath>() as u64 + Seen::memory_bytes(*WINDOW.end() as usize);
        let tally =
            size_of::<MultipathTally>() + size_of::<PathInterval>() * usize::from(self.lanes);
        let shared = size_of::<MultipathEchoShared>() + size_of::<MultipathEcho>();
        MemoryNeed {
            flow_bytes: size_of::<MultipathEcho>() as u64,
            worker_bytes: shared as u64 + u64::from(self.lanes) * path + tallies(1, tally),
        }
    }
}

impl MultipathEchoShared {
    /// For a test of `plan`.
    pub fn new(plan: &MultipathPlan) -> Self {
        let path = || EchoedPath {
            seen: Seen::new(*WINDOW.end() as usize),
            counts: PathReport::default(),
            told: PathInterval::default(),
        };
        Self { paths: (0..plan.lanes).map(|_| path()).collect(), foreign: 0 }
    }

    /// What the test came to.
    pub fn report_all(&self) -> MultipathReport {
        MultipathReport {
            paths: self.paths.iter().map(|path| path.counts.clone()).collect(),
            foreign: self.foreign,
            ..MultipathReport::default()
        }
    }
}

impl Shared for MultipathEchoShared {
    type Report = MultipathTally;

    fn report(&mut self, _now: Tick) -> MultipathTally {
        let since = |path: &mut EchoedPath| {
            let PathReport { sent, received, .. } = path.counts;
            let sum = PathInterval { sent, received, wireless: None };
            let told = std::mem::replace(&mut path.told, sum);
            PathInterval { sent: sent - told.sent, received: received - told.received, ..told }
        };
        MultipathTally::of(self.paths.iter_mut().map(since).collect())
    }
}
