//! What was to come of a step beside what did.

use pathscope_core::quantity;
use pathscope_lab::topology::Network;
use pathscope_modes::figures::Unit;

use crate::document::{FigureResult, State, Whose};
use crate::plan::{Expectation, Of, Run, Step};
use crate::programs::{Figure, Said};
use crate::promise::Promise;
use crate::theory::{self, Promises, Transmission, Way, Which};

/// The figures of which links promise something.
fn promise(figure: &Figure) -> Option<Promise> {
    match figure {
        Figure::Ours(ours) => match (ours.group().name, ours.figure().name) {
            ("goodput" | "datagrams", "rate") | ("media", "received_rate") => Some(Promise::Rate),
            ("datagrams", "lost_share") => Some(Promise::Lost),
            ("goodput" | "datagrams", "fairness") => Some(Promise::Fairness),
            ("latency" | "loaded", "rtt") => match ours.statistic()? {
                "min" => Some(Promise::IdleRoundTrip),
                "count" | "deviation" | "iqr" => None,
                _ => Some(Promise::FullRoundTrip),
            },
            _ => None,
        },
        Figure::Theirs(theirs) => theirs.promise,
    }
}

/// Whether links promise anything of what is expected.
pub fn is_promised(expectation: &Expectation) -> bool {
    match expectation.of {
        Of::Run(_) => promise(&expectation.figure).is_some(),
        Of::Sum | Of::Jain => promise(&expectation.figure) == Some(Promise::Rate),
    }
}

/// Why an expectation can never come true, whatever is measured: what it allows lies beyond what the network can do.
pub fn impossible(network: &Network, step: &Step, it: &Expectation) -> Option<String> {
    let stated = it.stated?;
    let least = it.below.map_or(f64::NEG_INFINITY, |below| stated - below.of(stated));
    let most = it.above.map_or(f64::INFINITY, |above| stated + above.of(stated));
    let unit = it.figure.unit();
    if it.of == Of::Jain {
        let text = "Jain's index is above 0, and 1 at the most";
        return (most <= 0.0 || least > 1.0).then(|| text.to_owned());
    }
    let Of::Run(at) = it.of else { return None };
    if unit == Unit::Share {
        return (most < 0.0 || least > 1.0).then(|| "a share is between 0 and 100 %".to_owned());
    }
    let run = step.runs.get(at).filter(|run| goes_by_the_network(run))?;
    let (from, to) = (&run.from, run.to.as_ref()?);
    let shown = |number: f64| unit_text(unit, number);
    match promise(&it.figure)? {
        Promise::Rate => {
            let rate = theory::most_rate_bps(network, from, to).filter(|rate| least > *rate)?;
            Some(format!("between {from} and {to} no more than {} get through", shown(rate)))
        }
        Promise::IdleRoundTrip | Promise::FullRoundTrip => {
            let rtt = theory::least_rtt_ns(network, from, to).filter(|rtt| most < *rtt)?;
            Some(format!("between {from} and {to} a round trip takes {} at the least", shown(rtt)))
        }
        Promise::Lost | Promise::Fairness => None,
    }
}

/// Whether it talks with the other node by its name alone, and so by the way that the network has for that.
fn goes_by_the_network(run: &Run) -> bool {
    let chooses = ["--bind", "--interface", "--path", "-B", "-I"];
    let is_free = |word: &String| !chooses.iter().any(|it| word.starts_with(it));
    run.words.iter().any(|word| word == "{to}") && run.words.iter().all(is_free)
}

fn unit_text(unit: Unit, number: f64) -> String {
    match unit {
        Unit::BitRate => quantity::bit_rate(number),
        _ => quantity::duration_ns(number.round() as u64),
    }
}

/// All that was expected of a step; `said` holds what each run said, for each repetition.
pub fn judge(network: &Network, step: &Step, said: &[Vec<Said>]) -> Vec<FigureResult> {
    step.expectations.iter().map(|it| figure(network, step, it, said)).collect()
}

fn figure(network: &Network, step: &Step, it: &Expectation, said: &[Vec<Said>]) -> FigureResult {
    let values: Vec<Option<f64>> = said.iter().map(|said| measured(it, step, said)).collect();
    let measured = median(values.iter().copied().flatten().collect());
    // The same plan gives the same promise each time, where all that ran can be read.
    let promised = said.iter().find_map(|said| promised(network, step, it, said));
    let expected = it.stated.or(promised);
    let least = expected.zip(it.below).map(|(expected, below)| expected - below.of(expected));
    let most = expected.zip(it.above).map(|(expected, above)| expected + above.of(expected));
    let is_judged = it.below.or(it.above).is_some();
    let state = match measured.filter(|_| values.iter().all(Option::is_some)) {
        None => State::Missing,
        Some(_) if !is_judged => State::NotJudged,
        Some(_) if expected.is_none() => State::NotPromised,
        Some(measured) => {
            let is_within = least.is_none_or(|least| measured >= least)
                && most.is_none_or(|most| measured <= most);
            if is_within { State::Within } else { State::Outside }
        }
    };
    FigureResult {
        figure: it.figure.id().to_owned(),
        label: it.label.clone().unwrap_or_else(|| it.figure.id().to_owned()),
        of: whose(step, it.of),
        unit: if it.of == Of::Jain { Unit::Number } else { it.figure.unit() },
        expected,
        is_stated: it.stated.is_some(),
        published: it.published,
        measured,
        values,
        least,
        most,
        state,
    }
}

fn whose(step: &Step, of: Of) -> Whose {
    match of {
        Of::Run(at) => {
            let run = &step.runs[at];
            let between = match &run.to {
                Some(to) => format!("{}-{to}", run.from),
                None => run.from.clone(),
            };
            Whose::Run { name: run.name.clone(), between }
        }
        Of::Sum => Whose::Sum,
        Of::Jain => Whose::Jain,
    }
}

/// The middle one; of two, their mean.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// The runs of a step whose program has a figure.
fn that_have<'step>(
    step: &'step Step,
    figure: &'step Figure,
) -> impl Iterator<Item = usize> + 'step {
    let has = |at: &usize| figure.is_had_by(step.runs[*at].program, &step.runs[*at].words);
    (0..step.runs.len()).filter(has)
}

fn measured(it: &Expectation, step: &Step, said: &[Said]) -> Option<f64> {
    let number = |figure: &Figure, at: usize| figure.number(&said.get(at)?.numbers);
    match it.of {
        Of::Run(at) => number(&it.figure, at),
        Of::Sum => that_have(step, &it.figure).map(|at| number(&it.figure, at)).sum(),
        Of::Jain => {
            let fairness = it.figure.fairness()?;
            let shares = that_have(step, &it.figure).map(|at| {
                let rate = number(&it.figure, at)?;
                let connections =
                    f64::from(connections(&said.get(at)?.transmission, way(&it.figure)?)?);
                // Of one connection there is no index.
                let index = if connections > 1.0 { number(&fairness, at)? } else { 1.0 };
                Some((connections, rate, index))
            });
            jain(&shares.collect::<Option<Vec<_>>>()?)
        }
    }
}

/// Jain's index over all connections of groups, of each of which the number, the sum and the index are known: it is
/// (Σx)² ÷ (n · Σx²), so that Σx² of a group is its sum squared, divided by its number and its index.
fn jain(groups: &[(f64, f64, f64)]) -> Option<f64> {
    let count: f64 = groups.iter().map(|(count, ..)| count).sum();
    let sum: f64 = groups.iter().map(|(_, sum, _)| sum).sum();
    let squares: f64 = groups.iter().map(|(count, sum, index)| sum * sum / (count * index)).sum();
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

fn connections(transmission: &Transmission, way: Way) -> Option<u32> {
    use pathscope_modes::offered::Load;
    let offered = &transmission.offered;
    match if way == Way::Up { &offered.up } else { &offered.down } {
        Some(Load::Streams { connections, .. }) => Some(*connections),
        Some(Load::Datagrams { flows, .. }) => Some(*flows),
        None => None,
    }
}

/// The way that an id names.
fn way(figure: &Figure) -> Option<Way> {
    match figure {
        Figure::Ours(ours) if ours.is_of("up") => Some(Way::Up),
        Figure::Ours(ours) if ours.is_of("down") => Some(Way::Down),
        _ => None,
    }
}

fn promised(network: &Network, step: &Step, it: &Expectation, said: &[Said]) -> Option<f64> {
    let own: Vec<usize> = match it.of {
        Of::Run(at) => vec![at],
        Of::Sum | Of::Jain => that_have(step, &it.figure).collect(),
    };
    // What runs at the same time as the figure's own runs, and puts anything on a path.
    let beside = |at: &usize| own.iter().any(|&own| own == *at || step.overlap(own, *at));
    let has_path = |at: &usize| step.runs[*at].to.is_some();
    let together: Vec<usize> = (0..step.runs.len()).filter(beside).filter(has_path).collect();
    // One after the other, they are never all there at once, and what each gets changes in the midst of it.
    let is_steady = together
        .iter()
        .all(|&one| together.iter().all(|&other| one == other || step.overlap(one, other)));
    if !is_steady {
        return None;
    }
    let run = |&at: &usize| {
        let transmission = &said.get(at)?.transmission;
        let to = step.runs[at].to.as_deref()?;
        transmission.is_known.then_some((step.runs[at].from.as_str(), to, transmission))
    };
    let runs: Vec<_> = together.iter().map(run).collect::<Option<_>>()?;
    let promises = Promises::new(network, &runs);
    let place = |at: usize| together.iter().position(|&place| place == at);
    let either = |found: &dyn Fn(Way) -> Option<f64>| match way(&it.figure) {
        Some(way) => found(way),
        None => found(Way::Up).or_else(|| found(Way::Down)),
    };
    let rate = |at: usize| {
        let index = place(at)?;
        either(&|way| promises.rate_bps(index, way))
    };
    match it.of {
        Of::Sum => own.iter().map(|&at| rate(at)).sum(),
        Of::Jain => {
            let way = way(&it.figure)?;
            let shares = own.iter().map(|&at| {
                Some((f64::from(promises.connections(place(at)?, way)?), rate(at)?, 1.0))
            });
            jain(&shares.collect::<Option<Vec<_>>>()?)
        }
        Of::Run(at) => match promise(&it.figure)? {
            Promise::Rate => rate(at),
            Promise::Lost => {
                let index = place(at)?;
                either(&|way| promises.lost_share(index, way))
            }
            Promise::Fairness => Some(1.0),
            kind @ (Promise::IdleRoundTrip | Promise::FullRoundTrip) => {
                round_trip(&promises, kind, (step, at), it, &said.get(at)?.transmission)
            }
        },
    }
}

fn round_trip(
    promises: &Promises<'_>,
    kind: Promise,
    (step, at): (&Step, usize),
    it: &Expectation,
    transmission: &Transmission,
) -> Option<f64> {
    let (from, to) = (&step.runs[at].from, step.runs[at].to.as_deref()?);
    let is_probe = matches!(&it.figure, Figure::Ours(ours) if ours.group().name == "loaded");
    let sizes = if is_probe { transmission.probe? } else { transmission.ping? };
    if kind == Promise::IdleRoundTrip {
        return promises.idle_rtt_ns(from, to, sizes, Which::Least);
    }
    let idle = promises.idle_rtt_ns(from, to, sizes, Which::Mean)?;
    Some(idle + promises.full_queues_ns(from, to)?)
}

impl FigureResult {
    /// What there is to say of it where it is not as expected.
    pub fn sentence(&self) -> String {
        let name = match &self.of {
            Whose::Run { name, between } => format!("{} of {name} ({between})", self.figure),
            Whose::Sum => format!("the sum of {}", self.figure),
            Whose::Jain => format!("Jain's index of {}", self.figure),
            Whose::Unknown => self.figure.clone(),
        };
        let missing = self.values.iter().filter(|value| value.is_none()).count();
        let Some(measured) = self.measured.filter(|_| missing == 0) else {
            return match self.values.len() {
                0 | 1 => format!("{name} was not measured"),
                all => format!("{name} was not measured in {missing} of {all} repetitions"),
            };
        };
        if self.state == State::NotPromised {
            return format!(
                "{name} is {}, and the links promise nothing that it could be compared with: say in the file what it is to be (is = …)",
                words(self.unit, measured)
            );
        }
        let value = |value: f64| words(self.unit, value);
        let allowed = match (self.least, self.most) {
            (Some(least), Some(most)) => format!("{} to {}", value(least), value(most)),
            (Some(least), None) => format!("{} or more", value(least)),
            (None, Some(most)) => format!("{} or less", value(most)),
            (None, None) => return format!("{name} is {}", value(measured)),
        };
        format!("{name} is {}, and not {allowed}", value(measured))
    }
}

/// A number of a unit as people read it.
pub fn words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::BitRate => quantity::bit_rate(value),
        Unit::Duration => quantity::duration_ns(value.max(0.0).round() as u64),
        Unit::Share => quantity::ratio(value),
        Unit::PerSecond => quantity::frequency(value),
        Unit::Bytes => quantity::bytes(value.max(0.0).round() as u64),
        _ => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_or_lies_between_two() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn jains_index_of_groups_is_that_of_all_their_members() {
        let index = |rates: &[f64]| {
            let (sum, squares): (f64, f64) = rates
                .iter()
                .fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
            sum * sum / (rates.len() as f64 * squares)
        };
        // As published: two connections of one client, and one of each of two others.
        let pair = [7.23, 6.54];
        let groups = [(2.0, 13.77, index(&pair)), (1.0, 8.59, 1.0), (1.0, 7.13, 1.0)];
        let all = jain(&groups).expect("they have rates");
        assert!((all - index(&[7.23, 6.54, 8.59, 7.13])).abs() < 1e-12, "{all}");
        assert!((all - 0.990).abs() < 5e-4, "{all}");
        let two = jain(&[(1.0, 18.54, 1.0), (1.0, 10.37, 1.0)]).expect("they have rates");
        assert!((two - 0.926).abs() < 5e-4, "{two}");
        assert_eq!(jain(&[(1.0, 0.0, 1.0)]), None);
    }
}
