//! What each connection of a load got, as bars side by side. Who counts as starved is `rates`' affair.

use pathscope_core::figure::Part;
use pathscope_core::id::FlowId;
use pathscope_core::presentation::{Bar, Bars, Level};
use pathscope_core::quantity::{bit_rate, count, counted};

use super::rates::starved_below;
use super::{FlowRate, RateSums};
use crate::figure::{Group, notes};

/// Bars at the most: where there are more connections, neighbours are one.
const MOST: usize = 512;

/// What flows of one direction got, as their receiver says it.
pub(crate) struct Shares {
    /// What they are called: `connection`.
    pub thing: &'static str,
    /// Those that are told one by one.
    pub rates: Vec<FlowRate>,
    /// Over all of them.
    pub sums: RateSums,
    /// The middle one of all; absent where nobody is called starved.
    pub median_bps: Option<f64>,
    /// Jain's index over all.
    pub fairness: Option<f64>,
}

/// Flows of one direction that are told one by one, from the fastest to the slowest; none where that is one alone.
pub(crate) fn bars(group: &Group, way: &'static str, shares: Shares) -> Option<Bars> {
    let Shares { thing, mut rates, sums, median_bps, fairness } = shares;
    rates.retain(|rate| rate.received_bps.is_finite());
    if rates.len() < 2 {
        return None;
    }
    rates.sort_by(|one, other| other.received_bps.total_cmp(&one.received_bps));
    let limit = median_bps.map(starved_below);
    let is_fed = |rate: &FlowRate| limit.is_none_or(|limit| rate.received_bps >= limit);
    let (fed, starved) = rates.split_at(rates.partition_point(is_fed));
    // Those that are starved and those that are not have bars of their own, and each may end with one that is not full.
    let together = if rates.len() > MOST { rates.len().div_ceil(MOST - 2) } else { 1 };
    let bar = |is_marked| move |neighbours: &[FlowRate]| bar(thing, neighbours, is_marked);
    let drawn = fed.chunks(together).map(bar(false)).chain(starved.chunks(together).map(bar(true)));
    let share = (sums.flows > 0).then(|| sums.sum_bps / sums.flows as f64);
    let levels = [("fair share", share), ("a tenth of the median", limit)];
    let level = |(label, value): (&str, Option<f64>)| {
        Some(Level { label: label.to_owned(), value: value? })
    };
    let mut source = group.source(&Part::Side(way), "rate");
    source.label = format!("goodput {way}");
    Some(Bars {
        title: format!("goodput {way} of each {thing}"),
        source,
        bars: drawn.collect(),
        mark: "starved".to_owned(),
        levels: levels.into_iter().filter_map(level).collect(),
        note: notes([
            fairness.map(|index| format!("Jain's index {index:.3}")),
            share.map(|share| format!("fair share {}", bit_rate(share))),
            limit.map(|_| hungry(starved.len() as u64)),
            part(thing, rates.len() as u64, sums.flows),
            (together > 1).then(|| {
                format!("a bar is {together} neighbours, from the least to the most of them")
            }),
        ]),
    })
}

fn hungry(starved: u64) -> String {
    match starved {
        0 => "none starved".to_owned(),
        starved => format!("{} starved: less than a tenth of the median", count(starved)),
    }
}

fn part(thing: &str, told: u64, all: u64) -> Option<String> {
    let is_part = all > told;
    let told = count(told);
    is_part.then(|| format!("{told} of {}, those that are told one by one", counted(all, thing)))
}

fn bar(thing: &str, neighbours: &[FlowRate], is_marked: bool) -> Bar {
    let number = |flow: FlowId| count(flow.0.into());
    let label = match neighbours {
        [one] => format!("flow {}", number(one.flow)),
        [first, .., last] => {
            let (first, last) = (number(first.flow), number(last.flow));
            format!("{}, from flow {first} to flow {last}", counted(neighbours.len() as u64, thing))
        }
        [] => String::new(),
    };
    let rates = || neighbours.iter().map(|rate| rate.received_bps);
    Bar {
        label,
        count: neighbours.len() as u64,
        least: rates().reduce(f64::min).unwrap_or(0.0),
        most: rates().reduce(f64::max).unwrap_or(0.0),
        is_marked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goodput::figures::GROUP;
    use crate::load::RateSpread;

    fn shares(rates: &[f64]) -> Shares {
        let flows = || (0..).map(FlowId).zip(rates.iter().copied());
        let mut sums = RateSums::default();
        rates.iter().for_each(|&rate| sums.record(rate));
        Shares {
            thing: "connection",
            rates: flows().map(|(flow, received_bps)| FlowRate { flow, received_bps }).collect(),
            sums,
            median_bps: RateSpread::of(flows()).median_bps,
            fairness: Some(0.5),
        }
    }

    fn drawn(rates: &[f64]) -> Bars {
        bars(&GROUP, "up", shares(rates)).expect("several")
    }

    #[test]
    fn each_connection_has_a_bar_and_who_is_starved_is_marked() {
        let bars = drawn(&[10e6, 0.5e6, 30e6]);
        let told = bars.bars.iter().map(|bar| (&*bar.label, bar.least, bar.most, bar.is_marked));
        let wanted = [
            ("flow 2", 30e6, 30e6, false),
            ("flow 0", 10e6, 10e6, false),
            ("flow 1", 0.5e6, 0.5e6, true),
        ];
        assert_eq!(told.collect::<Vec<_>>(), wanted);
        let levels: Vec<_> = bars.levels.iter().map(|level| (&*level.label, level.value)).collect();
        assert_eq!(levels, [("fair share", 13.5e6), ("a tenth of the median", 1e6)]);
        assert_eq!(
            bars.note,
            "Jain's index 0.500; fair share 13.50 Mbit/s; 1 starved: less than a tenth of the median"
        );
        assert_eq!(bars.source.id, "goodput.rate.up");
    }

    #[test]
    fn one_connection_has_nobody_beside_it() {
        assert_eq!(bars(&GROUP, "up", shares(&[1e6])), None);
        assert_eq!(bars(&GROUP, "up", shares(&[])), None);
    }

    #[test]
    fn it_is_said_where_not_all_are_told() {
        let mut some = shares(&[1e6, 2e6]);
        (some.sums.flows, some.median_bps) = (4_000, None);
        let bars = bars(&GROUP, "up", some).expect("two");
        let wanted = "Jain's index 0.500; fair share 750.0 bit/s; 2 of 4,000 connections, those that are told one by one";
        assert_eq!((bars.note.as_str(), bars.levels.len()), (wanted, 1));
    }

    #[test]
    fn of_many_neighbours_share_a_bar_and_nobody_is_left_out() {
        for number in [512, 513, 1_000, 5_000] {
            // Every seventh is starved.
            let rate = |at: usize| if at.is_multiple_of(7) { 1e3 } else { 1e6 + at as f64 };
            let bars = drawn(&(0..number).map(rate).collect::<Vec<_>>());
            assert!(bars.bars.len() <= MOST, "{number}: {}", bars.bars.len());
            assert_eq!(bars.bars.iter().map(|bar| bar.count).sum::<u64>(), number as u64);
            let marked = bars.bars.iter().filter(|bar| bar.is_marked);
            assert_eq!(marked.map(|bar| bar.count).sum::<u64>(), number.div_ceil(7) as u64);
            assert!(bars.bars.iter().all(|bar| bar.least <= bar.most));
            assert!(
                bars.bars.iter().zip(&bars.bars[1..]).all(|(one, next)| one.least >= next.most)
            );
            assert_eq!(bars.note.contains("neighbours"), number > MOST);
        }
    }
}
