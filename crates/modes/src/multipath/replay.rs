//! A test again from the stamps of its datagrams, whoever measured them: counts, latencies, gaps and policies as a test of
//! ours has them, and how the latencies moved over time.
//!
//! Not here: what the stamps do not tell (copies, damage, what a machine did not send), and how a file is read (`foreign`).

#[cfg(test)]
mod tests;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::presentation::{Chart, Figure, Section, Series, SeriesPoint, Table};
use pathscope_core::stats::{LatencyHistogram, Percentile};

use super::args::DEFAULT_LATE_BY;
use super::charts;
use super::figures::GROUP;
use super::ledger::{Ledger, Terms};
use super::presentation::{answers, side_by_side};
use super::ring::Head;
use super::sample::Stamps;
use super::{MultipathReport, MultipathSummary};
use crate::figure::Part;
use crate::results::Charts;

/// The least time from one point of a series to the next.
const LEAST_STEP_NS: u64 = 1_000_000_000;
/// And no series has many more points than this.
const MOST_POINTS: u64 = 1_000;
/// Columns of tables that stamps say nothing of.
const UNKNOWN: [&str; 6] =
    ["lost_forward", "lost_return", "corrupt", "duplicates", "refused", "sent_bytes"];

/// What the stamps came to.
#[derive(Debug)]
pub struct Replay {
    /// As the client of a test would have told it. What stamps do not say is nothing in it.
    pub report: MultipathReport,
    /// What that comes to, the same left out.
    pub summary: MultipathSummary,
    /// From the first sending to the last.
    pub sending_ns: u64,
    series: Vec<Series>,
}

impl Replay {
    /// From the stamps of each number on each of the paths, number after number, the primary first. `names`: the paths'.
    pub fn of(names: &[String], stamps: &[Stamps]) -> Self {
        let rows: Vec<&[Stamps]> = stamps.chunks_exact(names.len().max(1)).collect();
        let due = due(&rows);
        let terms = Terms {
            lanes: names.len() as u8,
            named: 0,
            length_ns: ends(&due).1.nanos_since(ends(&due).0),
            interval_ns: interval_ns(&due),
            late_by_ns: DEFAULT_LATE_BY.0,
        };
        let mut replaying = Replaying::new(&terms, &due);
        let mut arrivals = arrivals(&rows).into_iter().peekable();
        for (number, row) in rows.iter().enumerate() {
            while let Some(arrival) = arrivals.next_if(|it| it.at < due[number]) {
                replaying.received(arrival, rows[arrival.number]);
            }
            replaying.sent(number, row, due[number]);
        }
        arrivals.for_each(|arrival| replaying.received(arrival, rows[arrival.number]));
        replaying.finish(&rows, names)
    }

    /// What views show of it.
    pub fn section(&self) -> Section {
        let mut charts = Charts { series: self.series.clone(), ..Charts::default() };
        charts::add(&self.summary, &self.report, &mut charts);
        let sent = GROUP.figure("sent", self.summary.sent);
        let figures: Vec<Figure> = [sent].into_iter().chain(answers(&self.summary)).collect();
        Section {
            figures,
            tables: side_by_side(&self.summary).into_iter().map(known).collect(),
            series: charts.series,
            distributions: charts::distributions(&self.report),
            timelines: charts.timelines,
            boxes: charts.boxes,
            ..Section::default()
        }
    }
}

/// A table without what stamps do not say.
fn known(mut table: Table) -> Table {
    let keep: Vec<bool> =
        table.columns.iter().map(|column| !UNKNOWN.contains(&column.id.as_str())).collect();
    let mut kept = keep.iter();
    table.columns.retain(|_| kept.next().copied().unwrap_or(true));
    for row in &mut table.rows {
        let mut kept = keep.iter();
        row.cells.retain(|_| kept.next().copied().unwrap_or(true));
    }
    table
}

/// When each number was due, as far as that is known: when it first left. One that never did, with the one before it.
fn due(rows: &[&[Stamps]]) -> Vec<Tick> {
    let first_sent = |row: &&[Stamps]| {
        row.iter().map(|stamps| stamps.sent).min().filter(|&sent| sent != Tick::NEVER)
    };
    let mut last = rows.iter().find_map(first_sent).unwrap_or(Tick::ZERO);
    let due = |row| {
        last = first_sent(row).unwrap_or(last);
        last
    };
    rows.iter().map(due).collect()
}

/// When the first number was due, and the last.
fn ends(due: &[Tick]) -> (Tick, Tick) {
    let (start, end) = (due.first().copied(), due.iter().max().copied());
    (start.unwrap_or(Tick::ZERO), end.unwrap_or(Tick::ZERO))
}

/// From one group of numbers to the next: the time between two numbers that lie so far apart that half of all the time lies
/// between such. Numbers that leave one by one are groups of their own.
fn interval_ns(due: &[Tick]) -> u64 {
    let mut distances: Vec<u64> = due.windows(2).map(|pair| pair[1].nanos_since(pair[0])).collect();
    distances.sort_unstable();
    let half = distances.iter().map(|&it| u128::from(it)).sum::<u128>() / 2;
    let mut passed = 0;
    let reaches = distances.iter().find(|&&distance| {
        passed += u128::from(distance);
        passed > half
    });
    reaches.copied().unwrap_or(0)
}

/// An answer.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Arrival {
    at: Tick,
    number: usize,
    lane: u8,
}

/// All answers, in the order in which they came.
fn arrivals(rows: &[&[Stamps]]) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let came = (0..).zip(*row).filter(|(_, stamps)| stamps.is_received());
        arrivals.extend(came.map(|(lane, stamps)| Arrival { at: stamps.received, number, lane }));
    }
    arrivals.sort_unstable();
    arrivals
}

/// What is known while stamps are gone through in the order of time.
struct Replaying {
    ledger: Ledger,
    fail_over_after_ns: u64,
    start: Tick,
    end: Tick,
    interval_ns: u64,
    /// Of each number.
    heads: Vec<Head>,
    /// When each path last answered, or came into use.
    heard: Vec<Tick>,
    /// Whether the last number left on it.
    is_used: Vec<bool>,
    step_ns: u64,
    /// Which step it is of the series.
    step: u64,
    /// All paths together, then each.
    latencies: Vec<LatencyHistogram>,
    points: Vec<Vec<SeriesPoint>>,
}

impl Replaying {
    fn new(terms: &Terms, due: &[Tick]) -> Self {
        let lanes = usize::from(terms.lanes);
        let (start, end) = ends(due);
        let steps = (end.nanos_since(start) / MOST_POINTS).div_ceil(LEAST_STEP_NS);
        let mut ledger = Ledger::new(terms);
        ledger.start = start;
        Self {
            ledger,
            fail_over_after_ns: terms.fail_over_after_ns(),
            start,
            end,
            interval_ns: terms.interval_ns,
            heads: Vec::with_capacity(due.len()),
            heard: vec![start; lanes],
            is_used: vec![false; lanes],
            step_ns: LEAST_STEP_NS.saturating_mul(steps.max(1)),
            step: 0,
            latencies: vec![LatencyHistogram::new(); lanes + 1],
            points: vec![Vec::new(); lanes + 1],
        }
    }

    /// A number left on those of its paths that have a stamp of it.
    fn sent(&mut self, number: usize, row: &[Stamps], due: Tick) {
        debug_assert_eq!(number, self.heads.len(), "one after the other");
        for (lane, stamps) in row.iter().enumerate() {
            if stamps.is_sent() && !self.is_used[lane] {
                self.heard[lane] = due;
            }
            self.is_used[lane] = stamps.is_sent();
        }
        let used = || (0..row.len()).filter(|&lane| row[lane].is_sent());
        let answers = |&lane: &usize| due.nanos_since(self.heard[lane]) <= self.fail_over_after_ns;
        let fail_over = used().find(answers).or_else(|| used().next());
        let fail_over = fail_over.map_or(Lane::ONLY, |lane| Lane(lane as u8));
        self.heads.push(Head { due, fail_over });
        let mut first = Some(due);
        for lane in used() {
            self.ledger.sent(Lane(lane as u8), row[lane].sent, first.take());
        }
    }

    /// An answer came to one of these stamps.
    fn received(&mut self, Arrival { at, number, lane }: Arrival, row: &[Stamps]) {
        let step = at.nanos_since(self.start) / self.step_ns;
        if step != self.step {
            self.close_step(step);
        }
        // What was known then: those that came later had not come yet.
        let is_later = |stamps: &Stamps, of: u8| (stamps.received, of) > (at, lane);
        let then: Vec<Stamps> = (0..)
            .zip(row)
            .map(|(of, stamps)| {
                let received = if is_later(stamps, of) { Tick::NEVER } else { stamps.received };
                Stamps { received, ..*stamps }
            })
            .collect();
        self.ledger.received(number as u64, Lane(lane), &then);
        let (path, stamps) = (usize::from(lane), row[usize::from(lane)]);
        self.heard[path] = at;
        if let Some(latency_ns) = stamps.latency_ns() {
            self.latencies[path + 1].record(latency_ns);
        }
        let first_sent = row.iter().map(|stamps| stamps.sent).min();
        let is_first = then.iter().filter(|stamps| stamps.is_received()).count() == 1;
        if let Some(sent) = first_sent.filter(|_| is_first) {
            self.latencies[0].record(at.nanos_since(sent));
        }
    }

    /// The step is over, and `next` is the one that begins.
    fn close_step(&mut self, next: u64) {
        let at_ns = |step: u64| self.step_ns.saturating_mul(step);
        for (points, latencies) in self.points.iter_mut().zip(&mut self.latencies) {
            let median = Percentile::of(latencies, 50.0).value_ns;
            let (start_ns, end_ns) = (at_ns(self.step), at_ns(self.step + 1));
            points.push(SeriesPoint::over(start_ns, end_ns, median.map(|median| median as f64)));
            if next > self.step + 1 {
                // A gap is told once, however long it is.
                points.push(SeriesPoint::over(end_ns, at_ns(next), None));
            }
            if !latencies.is_empty() {
                latencies.clear();
            }
        }
        self.step = next;
    }

    /// Nothing comes any more.
    fn finish(mut self, rows: &[&[Stamps]], names: &[String]) -> Replay {
        self.close_step(self.step + 1);
        self.heads.iter().zip(rows).for_each(|(head, row)| self.ledger.settle(*head, row));
        self.ledger.finish(self.end.plus_nanos(self.interval_ns));
        let mut report = self.ledger.report();
        // By construction nothing: when numbers were due is not known.
        report.send_lag = None;
        for (path, name) in report.paths.iter_mut().zip(names) {
            name.clone_into(&mut path.facts.interface);
        }
        let summary = MultipathSummary::of(0, &report, None);
        let sending_ns = self.end.nanos_since(self.start);
        Replay { series: series(names, self.points), report, summary, sending_ns }
    }
}

/// The medians of all paths together and of each, over time.
fn series(names: &[String], points: Vec<Vec<SeriesPoint>>) -> Vec<Series> {
    let source = |part: &Part, name, label: String| {
        let source = GROUP.series(part, name, "", Chart::Line);
        pathscope_core::presentation::Source { label, place: String::new(), ..source }
    };
    let all = source(&Part::Whole, "effective.p50", "effective latency p50".to_owned());
    let each = names.iter().map(|name| {
        source(&Part::Entry(name.clone()), "path.latency.p50", format!("latency p50 of {name}"))
    });
    let sources = [all].into_iter().chain(each);
    let series = sources.zip(points).map(|(source, points)| Series { source, points });
    series.filter(|it| it.points.iter().any(|point| point.value.is_some())).collect()
}
