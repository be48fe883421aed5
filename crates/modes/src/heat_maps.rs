//! Distributions over time, from the intervals of a measurement: those of one source become one map, of no more columns than
//! a page has room for.

use pathscope_core::presentation::{HeatColumn, HeatMap, Source};
use pathscope_core::stats::{HalfOctaveCounts, HalfOctaves};

use crate::document::Measurement;
use crate::probes;
use crate::registry::{EndInterval, ProbePlan};

/// Columns of one map at the most: where there are more intervals, neighbours are one.
const MOST_COLUMNS: usize = 512;

/// The maps of a measurement, in the order in which the mode and the probes have them. Times are since the start of the document.
pub(crate) fn heat_maps(measurement: &Measurement) -> Vec<HeatMap> {
    let Measurement { test, start_ns, intervals, summary, .. } = measurement;
    let mut all: Vec<HeatMap> = Vec::new();
    for interval in intervals {
        let Some(client) = &interval.client else { continue };
        let mut heats = test.plan.heats_of(summary, interval);
        let probes = test.probe().into_iter();
        heats.extend(probes.filter_map(|_| probes::heat(&interval.slices::<ProbePlan>())));
        for heat in heats {
            let column = column(*start_ns, client, heat.counts);
            map_of(&mut all, heat.source).columns.push(column);
        }
    }
    all.iter_mut().for_each(|map| merge_neighbours(&mut map.columns, MOST_COLUMNS));
    all
}

fn column(start_ns: u64, interval: &EndInterval, counts: &HalfOctaves) -> HeatColumn {
    HeatColumn {
        start_ns: start_ns.saturating_add(interval.start_ns),
        end_ns: start_ns.saturating_add(interval.end_ns),
        counts: counts.clone(),
    }
}

/// Paths share an id and differ in what they are called.
fn map_of(all: &mut Vec<HeatMap>, source: Source) -> &mut HeatMap {
    let place = all.iter().position(|map| map.source == source).unwrap_or_else(|| {
        all.push(HeatMap { source, columns: Vec::new() });
        all.len() - 1
    });
    &mut all[place]
}

/// As many neighbours become one, each time the same number, as it takes to have no more than `most`. Counts stay exact.
fn merge_neighbours(columns: &mut Vec<HeatColumn>, most: usize) {
    let together = columns.len().div_ceil(most);
    if together < 2 {
        return;
    }
    let merged = columns.chunks(together).filter_map(|columns| {
        let mut counts = HalfOctaveCounts::default();
        columns.iter().for_each(|column| counts.add(&column.counts));
        let (first, last) = columns.first().zip(columns.last())?;
        let counts = counts.told().unwrap_or_default();
        Some(HeatColumn { start_ns: first.start_ns, end_ns: last.end_ns, counts })
    });
    *columns = merged.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_where_there_are_too_many() {
        let column = |at: u64| HeatColumn {
            start_ns: at,
            end_ns: at + 1,
            counts: HalfOctaves { first: at as u8, counts: vec![1, at] },
        };
        let mut columns: Vec<_> = (0..7).map(column).collect();
        merge_neighbours(&mut columns, 7);
        assert_eq!(columns, (0..7).map(column).collect::<Vec<_>>());
        merge_neighbours(&mut columns, 3);
        let times: Vec<_> = columns.iter().map(|it| (it.start_ns, it.end_ns)).collect();
        assert_eq!(times, [(0, 3), (3, 6), (6, 7)]);
        assert_eq!(columns[0].counts, HalfOctaves { first: 0, counts: vec![1, 1, 2, 2] });
        let all = |it: &HeatColumn| it.counts.counts.iter().sum::<u64>();
        assert_eq!(columns.iter().map(all).sum::<u64>(), 28);
        let mut many: Vec<_> = (0..513).map(|_| column(3)).collect();
        merge_neighbours(&mut many, MOST_COLUMNS);
        assert_eq!(many.len(), 257);
    }
}
