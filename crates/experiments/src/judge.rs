//! What was to come of a step beside what did.

use pathscope_core::quantity;
use pathscope_lab::topology::Network;
use pathscope_modes::figures::Unit;

use crate::document::{FigureResult, State, Whose};
use crate::plan::{Expectation, Of, Step};
use crate::programs::{Figure, Said};
use crate::theory::{Promises, Transmission, Way};

/// What links promise of a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Promise {
    /// Payload that arrives.
    Rate,
    /// Datagrams that do not.
    Lost,
    /// A round trip while nothing waits.
    IdleRoundTrip,
    /// A round trip through the queues that are full.
    FullRoundTrip,
    /// The connections of a run share alike.
    Fairness,
}

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
        Figure::Theirs(theirs) => match theirs.id {
            "iperf3.rate" => Some(Promise::Rate),
            "iperf3.lost_share" => Some(Promise::Lost),
            "ping.rtt.min" => Some(Promise::IdleRoundTrip),
            "ping.rtt.mean" | "ping.rtt.max" => Some(Promise::FullRoundTrip),
            _ => None,
        },
    }
}

/// Whether links promise anything of what is expected.
pub fn is_promised(expectation: &Expectation) -> bool {
    match expectation.of {
        Of::Run(_) => promise(&expectation.figure).is_some(),
        Of::Sum | Of::Jain => promise(&expectation.figure) == Some(Promise::Rate),
    }
}

/// All that was expected of a step; `said` holds what each run said, for each repetition.
pub fn judge(network: &Network, step: &Step, said: &[Vec<Said>]) -> Vec<FigureResult> {
    step.expectations.iter().map(|it| figure(network, step, it, said)).collect()
}

fn figure(network: &Network, step: &Step, it: &Expectation, said: &[Vec<Said>]) -> FigureResult {
    let values: Vec<Option<f64>> = said.iter().map(|said| measured(it, step, said)).collect();
    let measured = median(values.iter().copied().flatten().collect());
    // The same plan gives the same promise each time.
    let promised = said.iter().find_map(|said| promised(network, step, it, said));
    let expected = it.stated.or(promised);
    let least = expected.zip(it.below).map(|(expected, below)| expected - below.of(expected));
    let most = expected.zip(it.above).map(|(expected, above)| expected + above.of(expected));
    let state = match (measured, least, most) {
        (None, ..) => State::Missing,
        (_, None, None) => State::NotJudged,
        (Some(measured), ..) => {
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
        Some(Load::Datagrams { .. }) => Some(1),
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
    // What runs at the same time as the figure's own runs.
    let own: Vec<usize> = match it.of {
        Of::Run(at) => vec![at],
        Of::Sum | Of::Jain => that_have(step, &it.figure).collect(),
    };
    let beside = |at: &usize| own.iter().any(|&own| own == *at || step.overlap(own, *at));
    let together: Vec<usize> = (0..step.runs.len()).filter(beside).collect();
    let runs: Option<Vec<_>> = together
        .iter()
        .filter_map(|&at| Some((at, step.runs[at].to.as_deref()?)))
        .map(|(at, to)| Some((step.runs[at].from.as_str(), to, &said.get(at)?.transmission)))
        .collect();
    let with_nodes = together.iter().copied().filter(|&at| step.runs[at].to.is_some());
    let places: Vec<usize> = with_nodes.collect();
    let promises = Promises::new(network, &runs?);
    let place = |at: usize| places.iter().position(|&place| place == at);
    let rate = |at: usize| {
        let index = place(at)?;
        match way(&it.figure) {
            Some(way) => promises.rate_bps(index, way),
            None => {
                promises.rate_bps(index, Way::Up).or_else(|| promises.rate_bps(index, Way::Down))
            }
        }
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
                let lost = |way| promises.lost_share(place(at)?, way);
                way(&it.figure).map_or_else(|| lost(Way::Up).or_else(|| lost(Way::Down)), lost)
            }
            Promise::Fairness => Some(1.0),
            kind @ (Promise::IdleRoundTrip | Promise::FullRoundTrip) => {
                let (run, transmission) = (&step.runs[at], &said.get(at)?.transmission);
                let to = run.to.as_deref()?;
                let is_probe =
                    matches!(&it.figure, Figure::Ours(ours) if ours.group().name == "loaded");
                let sizes = if is_probe { transmission.probe? } else { transmission.ping? };
                let idle = promises.idle_rtt_ns(&run.from, to, sizes)?;
                let waiting = match kind {
                    Promise::FullRoundTrip => promises.full_queues_ns(&run.from, to)?,
                    _ => 0.0,
                };
                Some(idle + waiting)
            }
        },
    }
}

impl FigureResult {
    /// What there is to say of it where it is not as expected.
    pub fn sentence(&self) -> String {
        let name = match &self.of {
            Whose::Run { name, between } => format!("{} of {name} ({between})", self.figure),
            Whose::Sum => format!("the sum of {}", self.figure),
            Whose::Jain => format!("Jain's index of {}", self.figure),
        };
        let Some(measured) = self.measured else { return format!("{name} was not measured") };
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
fn words(unit: Unit, value: f64) -> String {
    match unit {
        Unit::BitRate => quantity::bit_rate(value),
        Unit::Duration => quantity::duration_ns(value.max(0.0).round() as u64),
        Unit::Share => quantity::ratio(value),
        Unit::PerSecond => quantity::frequency(value),
        Unit::Bytes => quantity::bytes(value.max(0.0).round() as u64),
        _ => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}
