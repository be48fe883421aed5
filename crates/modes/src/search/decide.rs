//! Which rate is tried next, and what was found: from the trials so far and nothing else, so that a reader of the
//! document comes to the same. Pure; how a trial is run is not its affair.
//!
//! A rate that passed is below the answer, and one that lost is above it. The first trial shows about where it lies: what was
//! received of too much, or what a sender reaches. From there the search goes away in steps that double, up while
//! trials pass or down while they lose, and halves what lies between as soon as both are known. Trials that search are short;
//! what they find is tried once more for the whole duration. Where that loses, all further trials are as long. A trial that
//! lost while its sender was late is asked once more, since it was not at the rate that was asked for.

use pathscope_core::quantity::total;
use pathscope_core::record::Limit;
use pathscope_core::stats::bound_of_none;

use crate::rate_search::{FoundRate, RateTrial, SearchEnd, TrialVerdict};

/// The search is over when what lost is above what passed by at most this share.
pub(super) const RESOLUTION: f64 = 0.01;
/// The first step away from where the answer is expected.
const FIRST_STEP: f64 = 0.02;
/// The trials of one search at the most.
pub(super) const MOST_TRIALS: usize = 25;

/// What bounds the rates that are tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The most, where that was stated.
    pub ceiling_bps: Option<u64>,
    /// Below this a trial is too few datagrams to tell anything.
    pub least_bps: u64,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    /// One more trial.
    Try(Trying),
    /// Nothing more.
    Over(SearchEnd),
}

/// A trial at this rate, or as fast as it goes, for the whole duration or a part of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Trying {
    pub asked_bps: Option<u64>,
    pub whole: bool,
}

impl Next {
    const fn try_at(asked_bps: Option<u64>, whole: bool) -> Self {
        Self::Try(Trying { asked_bps, whole })
    }
}

/// What is to be done after these trials.
pub(super) fn next(bounds: Bounds, trials: &[RateTrial]) -> Next {
    let Some(last) = trials.last() else { return Next::try_at(bounds.ceiling_bps, false) };
    let next = match last.verdict {
        TrialVerdict::Unjudged | TrialVerdict::Unknown => Next::Over(SearchEnd::Unjudged),
        TrialVerdict::Disturbed => Next::try_at(last.asked_bps, last.whole),
        _ => Picture::of(bounds, trials).next(bounds),
    };
    match next {
        Next::Try(_) if trials.len() >= MOST_TRIALS => Next::Over(SearchEnd::OutOfTrials),
        next => next,
    }
}

/// What was found so far, and what keeps it from being more.
pub(super) fn found(bounds: Bounds, trials: &[RateTrial]) -> (Option<FoundRate>, Option<Limit>) {
    let picture = Picture::of(bounds, trials);
    let shown = picture.confirmed.or(picture.passed);
    let found = shown.map(|shown| {
        let least = shown.sent_bps as f64 * (1.0 - RESOLUTION);
        let is_there =
            |trial: &&RateTrial| (least..=shown.sent_bps as f64).contains(&(trial.sent_bps as f64));
        let there = || trials.iter().filter(is_there);
        let confirms = |trial: &&RateTrial| trial.whole && trial.has_passed();
        FoundRate {
            rate_bps: shown.sent_bps,
            datagrams_per_second: shown.sent as f64 * 1e9 / shown.duration_ns.max(1) as f64,
            confirmations: there().filter(confirms).count() as u64,
            trials: there().count() as u64,
            not_received: total(there().map(RateTrial::not_received)),
            trial: shown.number,
            datagrams: shown.sent,
            loss_ratio_below: bound_of_none(shown.sent),
        }
    });
    // None where nothing has passed.
    let limit = picture.upper(bounds).map_or(Limit::Sender, |(_, limit)| limit);
    (found, picture.passed.map(|_| limit))
}

/// The lowest rate at which something was lost, of all trials: what is told.
pub(super) fn lowest_lost(trials: &[RateTrial]) -> Option<&RateTrial> {
    let lost = trials.iter().filter(|trial| trial.not_received() > 0);
    lost.min_by_key(|trial| trial.sent_bps)
}

/// The lowest rate that is too high by a trial that was not disturbed: what the search goes by.
pub(super) fn lowest_failed(trials: &[RateTrial]) -> Option<&RateTrial> {
    let lost = trials.iter().filter(|trial| trial.verdict == TrialVerdict::Lost);
    lost.min_by_key(|trial| trial.sent_bps)
}

/// What the trials show together.
#[derive(Debug)]
struct Picture<'trials> {
    /// The lowest rate at which something was lost.
    failed: Option<&'trials RateTrial>,
    /// The lowest rate that a sender was asked for and did not reach.
    unreached_bps: Option<u64>,
    /// The highest rate that passed below both.
    passed: Option<&'trials RateTrial>,
    /// The same, of the whole duration.
    confirmed: Option<&'trials RateTrial>,
    /// About where the answer lies.
    estimate_bps: u64,
    /// A trial of the whole duration showed otherwise than shorter ones.
    is_strict: bool,
}

impl<'trials> Picture<'trials> {
    fn of(bounds: Bounds, trials: &'trials [RateTrial]) -> Self {
        let failed = lowest_failed(trials);
        let slow = || trials.iter().filter(|trial| trial.verdict == TrialVerdict::SenderSlower);
        let unreached_bps = slow().filter_map(|trial| trial.asked_bps).min();
        let is_below = |trial: &&RateTrial| {
            trial.has_passed()
                && failed.is_none_or(|failed| trial.sent_bps < failed.sent_bps)
                && unreached_bps.is_none_or(|unreached| trial.sent_bps < unreached)
        };
        let passed = || trials.iter().filter(is_below);
        let telling = |trial: &&RateTrial| {
            matches!(trial.verdict, TrialVerdict::Lost | TrialVerdict::SenderSlower)
        };
        let contradicts = |trial: &&RateTrial| trial.whole && trial.asked_bps.is_some();
        let contradiction = trials.iter().filter(telling).find(contradicts);
        let estimate = match contradiction {
            Some(contradiction) => below(contradiction),
            None => trials.iter().find(telling).map_or(0, estimate),
        };
        Self {
            failed,
            unreached_bps,
            passed: passed().max_by_key(|trial| trial.sent_bps),
            confirmed: passed().filter(|trial| trial.whole).max_by_key(|trial| trial.sent_bps),
            estimate_bps: estimate.max(bounds.least_bps),
            is_strict: contradiction.is_some(),
        }
    }

    /// The lowest of what bounds the answer, and what that is: above the answer, or the answer itself where it is the ceiling.
    fn upper(&self, bounds: Bounds) -> Option<(u64, Limit)> {
        let failed = self.failed.map(|failed| (failed.sent_bps, failed.limit()));
        let unreached = self.unreached_bps.map(|rate| (rate, Limit::Sender));
        let ceiling = bounds.ceiling_bps.map(|rate| (rate, Limit::ConfiguredRate));
        [failed, unreached, ceiling].into_iter().flatten().min_by_key(|(rate, _)| *rate)
    }

    fn next(&self, bounds: Bounds) -> Next {
        let Some(passed) = self.passed else {
            return match self.failed {
                Some(failed) => self.further_down(failed.sent_bps, bounds),
                None => Next::Over(SearchEnd::Unjudged),
            };
        };
        let Some((upper_bps, _)) = self.upper(bounds) else {
            // Nothing was lost as fast as it goes.
            return if self.confirmed.is_some() {
                Next::Over(SearchEnd::Found)
            } else {
                Next::try_at(None, true)
            };
        };
        let (low, high) = (passed.sent_bps as f64, upper_bps as f64);
        if low >= high * (1.0 - RESOLUTION) {
            let is_shown = |shown: &RateTrial| shown.sent_bps as f64 >= low * (1.0 - RESOLUTION);
            return if self.confirmed.is_some_and(is_shown) {
                Next::Over(SearchEnd::Found)
            } else {
                Next::try_at(Some(low as u64), true)
            };
        }
        let middle = low + (high - low) / 2.0;
        let estimate = self.estimate_bps as f64;
        let step = (estimate * FIRST_STEP).max(2.0 * (low - estimate));
        let is_there = low >= estimate * (1.0 - RESOLUTION);
        let onward = if is_there { low + step } else { middle };
        Next::try_at(Some(onward.min(middle) as u64), self.is_strict)
    }

    /// The next rate where none has passed yet below the lowest that failed.
    fn further_down(&self, failed_bps: u64, bounds: Bounds) -> Next {
        if failed_bps <= bounds.least_bps {
            return Next::Over(SearchEnd::EveryRateLost);
        }
        let (failed, estimate) = (failed_bps as f64, self.estimate_bps as f64);
        let step = (estimate * FIRST_STEP).max(2.0 * (estimate - failed));
        let lower = if failed > estimate { estimate } else { (failed - step).max(failed / 2.0) };
        let asked_bps = Some((lower as u64).max(bounds.least_bps));
        Next::try_at(asked_bps, self.is_strict)
    }
}

/// Where the answer lies where a short trial passed at a rate that a long one does not.
fn below(trial: &RateTrial) -> u64 {
    let share = if trial.verdict == TrialVerdict::Lost { 1.0 - FIRST_STEP } else { 1.0 };
    (trial.sent_bps as f64 * share) as u64
}

/// Where the answer lies by a trial that did not pass at the rate that was asked for: below what was sent, where
/// something was lost, at what came of it; else at what the sender reached.
fn estimate(trial: &RateTrial) -> u64 {
    if trial.verdict != TrialVerdict::Lost {
        return trial.sent_bps;
    }
    let sent = trial.sent_bps as f64;
    let share = trial.received.map(|received| received as f64 / trial.sent.max(1) as f64);
    let received = trial.received_bps.or(share.map(|share| share * sent)).unwrap_or(sent);
    received.min(sent * (1.0 - RESOLUTION / 2.0)) as u64
}
