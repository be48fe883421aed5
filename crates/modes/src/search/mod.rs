//! The highest rate without loss (RFC 1242, section 3.17; RFC 2544, section 26.1), found by trials: each is a test of
//! datagram goodput like any other. Which rate is next is `decide`'s; here it becomes a test, and a measurement a trial.

mod decide;
pub(crate) mod figures;
pub(crate) mod findings;
pub(crate) mod presentation;

#[cfg(test)]
mod tests;

use pathscope_core::quantity::{BitRate, Bytes, Period};

use self::decide::{Bounds, MOST_TRIALS, Next, RESOLUTION, Trying};
use crate::datagrams::DatagramsPlan;
use crate::document::{Document, Measurement};
use crate::follow_up::{FollowUp, Step};
use crate::groups::Test;
use crate::limits::{self, PlanError};
use crate::load::{Extent, Pattern};
pub use crate::rate_search::{FoundRate, RateSearch, RateTrial, SearchEnd, TrialVerdict};
use crate::registry::Plan;

/// A trial that searches lasts this part of the duration, and no less than so long.
const TRIAL_PART: u64 = 5;
const LEAST_TRIAL: Period = Period::from_millis(500);
/// A trial of fewer datagrams tells nothing of the path.
const FEWEST_DATAGRAMS: u64 = 20;
/// A sender that was behind its schedule by more made up for it in a burst that is not the rate that was asked for.
const LATE_NS: u64 = 5_000_000;
/// From this share of the rate on that was asked for, a sender has reached it. Nearer than the resolution, so that a search
/// for what a sender reaches comes to an end.
const RATE_REACHED: f64 = 1.0 - RESOLUTION / 2.0;

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    /// A trial of the whole duration.
    plan: DatagramsPlan,
    /// What goes beside each trial.
    around: Test,
    duration: Period,
    bounds: Bounds,
    /// What was asked for in the trial that is running.
    running: Option<Trying>,
    trials: Vec<RateTrial>,
}

impl Search {
    /// A search for what `test` asks for: its rate is the most that is tried, and its duration how long the rate that is
    /// found has to hold. And its first trial.
    pub fn begin(test: &Test) -> Result<(Self, (String, Test)), PlanError> {
        let against =
            |other, advice| PlanError::Contradiction { one: "--find-rate", other, advice };
        let Plan::Datagrams(plan) = &test.plan else {
            let advice = "connections find their rate by themselves: give --protocol udp with it";
            return Err(against("--protocol tcp", advice));
        };
        if plan.is_up() && plan.is_down() {
            let advice = "a rate is found in one direction at a time: choose push or pull";
            let is_bidir = plan.pattern == Pattern::Bidir;
            return Err(against(
                if is_bidir { "--pattern bidir" } else { "--pattern duplex" },
                advice,
            ));
        }
        let Extent::DurationNs(duration) = plan.extent else {
            let advice = "say with --duration how long the rate has to hold";
            return Err(against("--transfer", advice));
        };
        test.validate()?;
        let mut search = Self {
            plan: plan.clone(),
            around: test.clone(),
            duration,
            bounds: bounds(plan, duration)?,
            running: None,
            trials: Vec::new(),
        };
        let first = search.next().expect("what was not tried yet has a first trial");
        Ok((search, first))
    }

    /// The next trial, if there is one more.
    fn next(&mut self) -> Option<(String, Test)> {
        let Next::Try(Trying { asked_bps, whole }) = decide::next(self.bounds, &self.trials) else {
            return None;
        };
        let flows = u64::from(self.plan.connections);
        // Each flow has an equal part.
        let part = asked_bps.map(|asked| BitRate((asked / flows).max(limits::RATE.start().0)));
        let asked_bps = part.map(|part| part.0.saturating_mul(flows));
        self.running = Some(Trying { asked_bps, whole });
        let length = if whole { self.duration } else { trial_length(self.duration) };
        let plan = DatagramsPlan {
            rate_bps: part,
            extent: Extent::DurationNs(length),
            warm_up_ns: self.plan.warm_up_ns.min(Period(length.0 / 10)),
            ..self.plan.clone()
        };
        let number = self.trials.len() + 1;
        let rate = asked_bps
            .map_or_else(|| "as fast as it goes".to_owned(), |asked| BitRate(asked).to_string());
        let name = format!("trial {number}, {rate}");
        Some((name, Test { plan: plan.into(), ..self.around.clone() }))
    }

    /// The search as it stands.
    fn record(&self) -> RateSearch {
        let (found, limit) = decide::found(self.bounds, &self.trials);
        let ended = match decide::next(self.bounds, &self.trials) {
            Next::Try(_) => SearchEnd::Unfinished,
            Next::Over(ended) => ended,
        };
        RateSearch {
            pattern: self.plan.pattern,
            resolution: RESOLUTION,
            ceiling_bps: self.bounds.ceiling_bps,
            ended,
            found,
            failed_bps: decide::lowest_lost(&self.trials).map(|lost| lost.sent_bps),
            limit,
            trials: self.trials.clone(),
        }
    }

    /// Judges the trial that was running.
    fn judge(&mut self, outcome: Option<(RateTrial, u64)>) {
        let Some(trying) = self.running.take() else { return };
        let number = self.trials.len() as u64 + 1;
        let mut trial =
            trial(number, trying, outcome.unwrap_or_default(), self.plan.datagram_bytes);
        let was_disturbed =
            self.trials.last().is_some_and(|last| last.verdict == TrialVerdict::Disturbed);
        if trial.verdict == TrialVerdict::Lost && trial.is_disturbed() && !was_disturbed {
            trial.verdict = TrialVerdict::Disturbed;
        }
        self.trials.push(trial);
    }
}

impl FollowUp for Search {
    fn ahead(&self) -> String {
        let (short, whole) = (trial_length(self.duration), self.duration);
        format!(
            "what follows depends on what it loses: at most {MOST_TRIALS} trials of {short} to {whole}"
        )
    }

    fn follow(&mut self, document: &mut Document) -> Step {
        self.judge(document.measurements.last().and_then(outcome));
        let next = self.next();
        document.rate_search = Some(self.record());
        let trial = self.trials.last().copied().unwrap_or_default();
        Step { row: presentation::row(&trial), record: Box::new(trial), next }
    }
}

fn trial_length(duration: Period) -> Period {
    Period(duration.0 / TRIAL_PART).max(LEAST_TRIAL).min(duration)
}

/// What was counted in a trial, a measurement of one direction, before anything follows from it; and flows that did not come to
/// their end. None where nobody said what was sent.
fn outcome(measurement: &Measurement) -> Option<(RateTrial, u64)> {
    let Plan::Datagrams(plan) = &measurement.test.plan else { return None };
    let Extent::DurationNs(duration) = plan.extent else { return None };
    let summary = measurement.summary.datagrams.as_ref()?;
    let (_, way) = summary.directions().next()?;
    let ends = [Some(&measurement.client), measurement.server.as_ref()];
    let still_ns = ends.into_iter().flatten().map(|end| end.facts().still_ns());
    let counted = RateTrial {
        duration_ns: duration.0,
        sent: way.sent?,
        unsent: way.unsent?,
        received: way.received,
        received_bps: way.goodput_bps,
        lost: way.lost,
        late: way.late.unwrap_or(0),
        corrupt: way.corrupt.unwrap_or(0),
        socket_drops: way.socket_drops,
        lost_on_the_way: way.lost_on_the_way,
        send_lag_max_ns: way.send_lag.as_ref().and_then(|lag| lag.max_ns),
        stood_still_ns: still_ns.max().unwrap_or(0),
        ..RateTrial::default()
    };
    Some((counted, summary.failed))
}

impl RateTrial {
    /// Whether its sender sent a burst to make up for a pause.
    fn is_late(&self) -> bool {
        self.send_lag_max_ns.is_some_and(|lag| lag > LATE_NS)
    }

    /// Whether what it lost may be lost by an end, and not at this rate: so it is tried once more.
    fn is_disturbed(&self) -> bool {
        self.is_late() || self.stood_still_ns > 0
    }
}

/// The rates that can be tried: so high that a trial holds enough datagrams, and no higher than was asked for.
fn bounds(plan: &DatagramsPlan, duration: Period) -> Result<Bounds, PlanError> {
    let flows = u64::from(plan.connections);
    let trial_ns = trial_length(duration).0.max(1);
    let datagrams = FEWEST_DATAGRAMS.div_ceil(flows) * flows;
    let bits = u128::from(datagrams) * u128::from(plan.datagram_bytes.0) * 8 * 1_000_000_000;
    let least = u64::try_from(bits.div_ceil(u128::from(trial_ns))).unwrap_or(u64::MAX);
    let least_bps = least.max(limits::RATE.start().0 * flows);
    let ceiling_bps = plan.rate_bps.map(|rate| rate.0.saturating_mul(flows));
    if let Some(ceiling_bps) = ceiling_bps.filter(|&ceiling| ceiling < least_bps) {
        let (least, length) = (BitRate(least_bps), trial_length(duration));
        let low = format!("{least} ({datagrams} datagrams in a trial of {length})");
        let option = "with --find-rate, the rate of all flows,";
        let ends = (low, limits::RATE.end());
        return Err(PlanError::out_of_range(option, BitRate(ceiling_bps), ends));
    }
    Ok(Bounds { ceiling_bps, least_bps })
}

/// A trial and what follows from it. What passed, passed at the rate that was sent.
fn trial(
    number: u64,
    trying: Trying,
    (counted, failed): (RateTrial, u64),
    Bytes(datagram_bytes): Bytes,
) -> RateTrial {
    let Trying { asked_bps, whole } = trying;
    let RateTrial { sent, unsent, received, .. } = counted;
    let share = sent as f64 / sent.saturating_add(unsent).max(1) as f64;
    let bits = sent as f64 * datagram_bytes as f64 * 8.0;
    let as_it_went = bits * 1e9 / counted.duration_ns.max(1) as f64;
    let sent_bps = asked_bps.map_or(as_it_went, |asked| asked as f64 * share) as u64;
    let verdict = match received {
        _ if sent == 0 || failed > 0 => TrialVerdict::Unjudged,
        None => TrialVerdict::Unjudged,
        Some(received) if received < sent => TrialVerdict::Lost,
        _ if asked_bps.is_some() && share < RATE_REACHED => TrialVerdict::SenderSlower,
        _ => TrialVerdict::Passed,
    };
    // The receiver's window is shorter than the time in which they were sent, and a queue empties faster than it was
    // filled: but no more came than that share of what was sent.
    let received_share = received.map(|received| received as f64 / sent.max(1) as f64);
    let most_bps = received_share.map_or(f64::INFINITY, |share| share.min(1.0) * sent_bps as f64);
    let received_bps = counted.received_bps.map(|received| received.min(most_bps));
    RateTrial { number, asked_bps, whole, sent_bps, received_bps, verdict, ..counted }
}
