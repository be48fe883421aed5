//! The same tests again and again: so many times, until a figure is known well enough, at several values of a setting, on two sides that take
//! turns. Here it is decided which run is next; how it is run and what is measured in it is as ever.

mod args;
mod lines;
pub(crate) mod presentation;
#[cfg(test)]
mod tests;
mod together;

use std::collections::{BTreeMap, VecDeque};

use pathscope_core::quantity::counted;
use pathscope_core::stats::{median, quantile_ranks};
use thiserror::Error;

pub use self::args::{RepeatArgs, RepeatError, Times};
use crate::condition::Condition;
use crate::document::Document;
use crate::figures::{ENDS, FigureId, found};
use crate::follow_up::{FollowUp, Step};
use crate::groups::Test;
use crate::limits::PlanError;
use crate::runs::{Goal, Rounds, Run, RunSide, Sweep, Swept};
use crate::settings::settings;

/// The most tests of one command.
const MOST_TESTS: usize = 10_000;
/// From so many runs on the ranks of a median have an interval.
pub const LEAST_RUNS: u32 = 6;

/// What is to be repeated.
#[derive(Clone, Debug)]
pub struct Wish {
    /// How often.
    pub times: Times,
    /// Until what is known.
    pub until: Option<Condition>,
    /// Over which values.
    pub sweep: Vec<Sweep>,
    /// The words of the other side.
    pub interleaved_with: Option<String>,
}

impl Wish {
    /// Whether so many tests in each round are few enough; asked before they are made, too.
    pub fn bounded(&self, each: usize) -> Result<(), WishError> {
        let all = each.saturating_mul(self.times.most as usize);
        if all > MOST_TESTS { Err(WishError::TooMany(all)) } else { Ok(()) }
    }
}

/// What is done once in each round.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The settings that are swept, as they are here.
    pub point: Vec<Swept>,
    /// On which side.
    pub side: Option<RunSide>,
    /// The tests, in order.
    pub tests: Vec<(String, Test)>,
}

/// Why nothing is repeated.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WishError {
    /// Nothing is known until it is asked for often enough.
    #[error(
        "--until needs a range of times, as --repeat 6..30, which ends at {LEAST_RUNS} or later"
    )]
    UntilWithoutRange,
    /// Nothing ends it before the most.
    #[error(
        "--repeat {0}..{1} needs --until, which says when there are enough, as in --until 'goodput.rate.up ±2.5%'"
    )]
    RangeWithoutUntil(u32, u32),
    /// Only runs that are all the same reach it.
    #[error(
        "--until {0}: only runs that are all the same come so near; write how well it is to be known, as in 'goodput.rate.up ±2.5%'"
    )]
    UntilExact(String),
    /// It would never be known.
    #[error(
        "--until {until}: {tests} has no {figure}; write a figure of what is measured (docs/figures.md)"
    )]
    UntilOfAnother {
        /// As it was typed.
        until: String,
        /// The tests.
        tests: String,
        /// The figure's id.
        figure: String,
    },
    /// A median is not known to one side.
    #[error("--until takes ± and how far, as in 'goodput.rate.up ±2.5%'")]
    UntilOneWay,
    /// The runs of one cannot be told from those of the other.
    #[error(
        "{0} and {1} are one and the same test: what differs between them has no effect on what is measured"
    )]
    Alike(String, String),
    /// It would never end.
    #[error("that is {0} tests, and {MOST_TESTS} are the most: fewer times, or fewer values")]
    TooMany(usize),
    /// One of the tests cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Rounds in progress.
#[derive(Clone, Debug)]
pub struct Repeats {
    wish: Wish,
    variants: Vec<Variant>,
    /// What is left of this round; the first of it is running.
    left: VecDeque<(Run, Test)>,
    rounds: Rounds,
    /// Of the figure that is to be known: a number of each run, by test, point and side.
    numbers: BTreeMap<String, Vec<f64>>,
}

impl Repeats {
    /// The rounds that are wished for, and their first test.
    pub fn begin(wish: Wish, variants: Vec<Variant>) -> Result<(Self, (String, Test)), WishError> {
        let Times { least, most } = wish.times;
        match &wish.until {
            Some(until) if !until.is_either_way() => return Err(WishError::UntilOneWay),
            Some(_) if least == most || most < LEAST_RUNS => {
                return Err(WishError::UntilWithoutRange);
            }
            Some(until) if until.is_exact() => {
                return Err(WishError::UntilExact(until.text().to_owned()));
            }
            None if least < most => return Err(WishError::RangeWithoutUntil(least, most)),
            _ => {}
        }
        if let Some(until) = &wish.until {
            can_be_known(until, &variants)?;
        }
        let each: usize = variants.iter().map(|variant| variant.tests.len()).sum();
        wish.bounded(each)?;
        if let Some((one, other)) = alike(&variants) {
            return Err(WishError::Alike(one, other));
        }
        let mut tests = variants.iter().flat_map(|variant| &variant.tests);
        tests.try_for_each(|(_, test)| test.validate())?;
        let rounds = Rounds {
            least,
            most,
            done: 0,
            sweep: wish.sweep.clone(),
            interleaved_with: wish.interleaved_with.clone(),
            until: wish
                .until
                .as_ref()
                .map(|until| Goal { asked: until.text().to_owned(), ..Goal::default() }),
        };
        let mut repeats =
            Self { wish, variants, left: VecDeque::new(), rounds, numbers: BTreeMap::new() };
        repeats.fill();
        let first = repeats.next().expect("there are tests in a round");
        Ok((repeats, first))
    }

    /// The tests of the next round: every other one from the last to the first, so that what changes slowly meets all alike.
    fn fill(&mut self) {
        let round = self.rounds.done + 1;
        let test = |variant: &Variant, (of, test): &(String, Test)| {
            let (of, point) = (of.clone(), variant.point.clone());
            (Run { of, round, point, side: variant.side }, test.clone())
        };
        let all = |variant: &Variant| {
            variant.tests.iter().map(|it| test(variant, it)).collect::<Vec<_>>()
        };
        let mut variants: Vec<Vec<(Run, Test)>> = self.variants.iter().map(all).collect();
        if round.is_multiple_of(2) {
            variants.reverse();
        }
        self.left = variants.into_iter().flatten().collect();
    }

    /// The next test with its name, if there is one more.
    fn next(&self) -> Option<(String, Test)> {
        let (run, test) = self.left.front()?;
        let of = if self.rounds.least == self.rounds.most {
            format!(" of {}", self.rounds.most)
        } else {
            String::new()
        };
        Some((format!("{}, run {}{of}", run.title(), run.round), test.clone()))
    }

    /// Whether another round is needed once this one is over.
    fn goes_on(&mut self) -> bool {
        let Rounds { least, most, done, .. } = self.rounds;
        if let (Some(until), Some(goal)) = (&self.wish.until, &mut self.rounds.until) {
            // What no test had is not waited for in vain.
            goal.is_absent = self.numbers.is_empty();
            let medians = medians(&self.numbers);
            let distances = medians.iter().map(|it| Some((it.as_ref()?.1, it.as_ref()?.0)));
            let distances: Option<Vec<(f64, f64)>> = distances.collect();
            let distances = distances.filter(|it| !it.is_empty());
            goal.reached = distances.as_ref().is_some_and(|all| {
                all.iter().all(|(distance, median)| *distance <= until.most_of(*median))
            });
            let widest =
                distances.into_iter().flatten().max_by(|(one, one_of), (other, other_of)| {
                    share(*one, *one_of).total_cmp(&share(*other, *other_of))
                });
            goal.widest = widest.map(|(distance, _)| distance);
            goal.widest_share = widest
                .map(|(distance, median)| share(distance, median))
                .filter(|share| share.is_finite() && widest.is_some_and(|it| it.1.abs() > 0.0));
        }
        let until = self.rounds.until.as_ref();
        if until.is_some_and(|goal| goal.is_absent) {
            return false;
        }
        let is_enough = until.is_none_or(|goal| goal.reached);
        done < least || (done < most && !is_enough)
    }
}

/// Whether any test measures what is to be known. Of what they have in common with others it is seen after the first round.
fn can_be_known(until: &Condition, variants: &[Variant]) -> Result<(), WishError> {
    let mut tests = variants.iter().flat_map(|variant| &variant.tests);
    if tests.clone().any(|(_, test)| has(test, until.figure())) {
        return Ok(());
    }
    Err(WishError::UntilOfAnother {
        until: until.text().to_owned(),
        tests: tests.next().map_or_else(String::new, |(name, _)| name.clone()),
        figure: until.figure().id(),
    })
}

/// Whether a test has figures of this one's group: where a document has them says of what they are.
fn has(test: &Test, figure: &FigureId) -> bool {
    match figure.group().place.strip_prefix("summary.") {
        Some("probe") => test.probe().is_some(),
        Some(of) => of == test.plan.name(),
        // What each end says of itself is there of every test, and what a search found of none that is repeated.
        None => figure.group().name == ENDS.name,
    }
}

/// Two variants whose tests do not differ but for what is drawn: their points and sides would be names of nothing.
fn alike(variants: &[Variant]) -> Option<(String, String)> {
    let title = |variant: &Variant| {
        let of = variant.tests.first().map_or_else(String::new, |(name, _)| name.clone());
        Run { of, round: 0, point: variant.point.clone(), side: variant.side }.title()
    };
    let mut seen: BTreeMap<Vec<String>, String> = BTreeMap::new();
    variants.iter().find_map(|variant| {
        let settings = variant.tests.iter().flat_map(|(_, test)| settings(test));
        let stated = settings.filter(|setting| !setting.id.ends_with("seed"));
        let key: Vec<String> = stated.map(|it| format!("{}={:?}", it.id, it.value)).collect();
        seen.insert(key, title(variant)).map(|other| (other, title(variant)))
    })
}

/// A distance as a share of a median; of nothing, all of it or none.
fn share(distance: f64, median: f64) -> f64 {
    if distance > 0.0 { distance / median.abs() } else { 0.0 }
}

/// Of each test, point and side that has the figure: its median, and how far the ends of its 95 % interval are from it at the most; nothing where
/// the runs are too few for one.
fn medians(numbers: &BTreeMap<String, Vec<f64>>) -> Vec<Option<(f64, f64)>> {
    let of = |values: &Vec<f64>| {
        let mut values = values.clone();
        values.sort_by(f64::total_cmp);
        let (low, high) = quantile_ranks(values.len() as u64, 0.5)?;
        let median = median(&values)?;
        let at = |rank: u64| values.get(rank as usize - 1).copied();
        Some((median, (median - at(low)?).max(at(high)? - median)))
    };
    numbers.values().map(of).collect()
}

impl FollowUp for Repeats {
    fn ahead(&self) -> String {
        let Rounds { least, most, .. } = self.rounds;
        let variants = self.variants.len();
        let each = if variants == 1 {
            "all of it".to_owned()
        } else {
            format!("each of {variants} variants")
        };
        if least == most {
            format!("{each} {}", counted(u64::from(most), "time"))
        } else {
            let until = self.rounds.until.as_ref().map_or("", |goal| goal.asked.as_str());
            format!("{each} {least} to {most} times, until {until}")
        }
    }

    fn planned(&self) -> Vec<(String, Test)> {
        self.left.iter().map(|(run, test)| (run.title(), test.clone())).collect()
    }

    fn known(&mut self) -> Vec<&mut Test> {
        let ahead = self.left.iter_mut().map(|(_, test)| test);
        ahead
            .chain(self.variants.iter_mut().flat_map(|it| it.tests.iter_mut().map(|it| &mut it.1)))
            .collect()
    }

    fn follow(&mut self, document: &mut Document) -> Step {
        let run = self.left.pop_front().map(|(run, _)| run).unwrap_or_default();
        let numbers = document.measurements.last_mut().map_or_else(Vec::new, |measurement| {
            measurement.run = Some(run.clone());
            let json = serde_json::to_value(&*measurement).unwrap_or_default();
            let until = self.wish.until.as_ref();
            if let Some(number) = until.and_then(|until| until.figure().number(&json)) {
                self.numbers.entry(run.title()).or_default().push(number);
            }
            found(&json).into_iter().filter(|it| it.is_primary() && it.entry.is_none()).collect()
        });
        if self.left.is_empty() {
            self.rounds.done += 1;
            if self.goes_on() {
                self.fill();
            }
        }
        document.rounds = Some(self.rounds.clone());
        let row = presentation::row(&run, &self.rounds, &numbers);
        Step { row, record: Box::new(run), next: self.next() }
    }
}
