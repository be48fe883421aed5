//! Pings of a file of samples, one after the other, however many: what they come to, in fixed room. Over time they are gathered in
//! steps of equal length, which become twice as long whenever there are too many; of each step its least and its greatest are exact.
//!
//! Not here: files, and how a row is found in one. Rows are of one test; where they start again, times lie over each other.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    Chart, Figure, HeatColumn, HeatMap, Section, Series, SeriesPoint, Source, Value,
};
use pathscope_core::quantity::{counted, duration_ns};
use pathscope_core::stats::{HalfOctaves, LatencyFigures, LatencyHistogram, Percentile};

use super::figures::GROUP;
use super::presentation::round_trips;
use super::summary::LatencySummary;
use crate::figure::Part;

/// Steps at the most; a chart has no room for more.
const MOST_STEPS: usize = 512;
/// The first length of a step.
const LEAST_STEP_NS: u64 = 1_000_000;
/// Percentiles among the figures, those that enough samples support.
const SHOWN: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];
/// Cells of a row in text.
const CELLS: usize = 10;

/// What a row says of a ping, as far as a reader of many wants to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeptPing<'row> {
    /// When it was to leave, since the start of the test.
    pub scheduled_ns: u64,
    /// How long it took; absent where no answer came.
    pub rtt_ns: Option<u64>,
    /// What became of it, in the word of the file.
    pub outcome: &'row str,
}

impl<'row> KeptPing<'row> {
    /// The first row of a file of them in text, without its end.
    pub const HEAD: &'static str = "flow,ping,scheduled_ns,sent_ns,received_ns,rtt_ns,server_residence_ns,outcome,counted_from_ns,server_received_ns";
    /// The columns that it is made of.
    pub const COLUMNS: [&'static str; 3] = ["scheduled_ns", "rtt_ns", "outcome"];

    /// From a row in text, without its end. An error is a sentence.
    pub fn of(row: &'row str) -> Result<Self, String> {
        let mut cells = [""; CELLS];
        let mut all = row.split(',');
        for cell in &mut cells {
            *cell = all.next().ok_or_else(|| format!("it has fewer than {CELLS} cells"))?;
        }
        if all.next().is_some() {
            return Err(format!("it has more than {CELLS} cells"));
        }
        let number = |cell: &str, name: &str| {
            cell.parse::<u64>().map_err(|_| format!("its {name} is no number of nanoseconds"))
        };
        let rtt_ns = match cells[5] {
            "" => None,
            rtt => Some(number(rtt, "rtt_ns")?),
        };
        Ok(Self { scheduled_ns: number(cells[2], "scheduled_ns")?, rtt_ns, outcome: cells[7] })
    }
}

/// What was answered, and what was not, in one step of the time.
#[derive(Clone, Debug, Default)]
struct Step {
    rtt: LatencyHistogram,
    lost: u64,
}

/// All pings of a file.
#[derive(Debug)]
pub struct KeptPings {
    step_ns: u64,
    steps: Vec<Step>,
    rtt: LatencyHistogram,
    sent: u64,
    lost: u64,
    corrupt: u64,
    warm_up: u64,
}

impl Default for KeptPings {
    fn default() -> Self {
        Self {
            step_ns: LEAST_STEP_NS,
            steps: Vec::new(),
            rtt: LatencyHistogram::new(),
            sent: 0,
            lost: 0,
            corrupt: 0,
            warm_up: 0,
        }
    }
}

impl KeptPings {
    /// One more. An error is a sentence.
    pub fn add(&mut self, ping: KeptPing<'_>) -> Result<(), String> {
        let is_answered = match (ping.outcome, ping.rtt_ns) {
            // As in a result: nothing of the warm-up is in the figures.
            ("warm_up", _) => {
                self.warm_up += 1;
                return Ok(());
            }
            ("answered", Some(_)) => true,
            ("lost", None) => {
                self.lost += 1;
                false
            }
            ("corrupt", None) => {
                self.corrupt += 1;
                false
            }
            ("answered", None) => return Err("it was answered and has no rtt_ns".to_owned()),
            ("lost" | "corrupt", Some(_)) => {
                return Err("it was not answered and has an rtt_ns".to_owned());
            }
            _ => return Err("its outcome is none of answered, warm_up, lost, corrupt".to_owned()),
        };
        self.sent += 1;
        let step = self.step_at(ping.scheduled_ns);
        step.lost += u64::from(ping.outcome == "lost");
        if let Some(rtt_ns) = ping.rtt_ns.filter(|_| is_answered) {
            step.rtt.record(rtt_ns);
            self.rtt.record(rtt_ns);
        }
        Ok(())
    }

    /// Pings that it has, those of the warm-up left out.
    pub fn count(&self) -> u64 {
        self.sent
    }

    fn step_at(&mut self, at_ns: u64) -> &mut Step {
        while at_ns / self.step_ns >= MOST_STEPS as u64 {
            self.double();
        }
        let place = (at_ns / self.step_ns) as usize;
        if self.steps.len() <= place {
            self.steps.resize_with(place + 1, Step::default);
        }
        &mut self.steps[place]
    }

    /// Two neighbours become one; no ping is forgotten.
    fn double(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        let mut steps = std::mem::take(&mut self.steps).into_iter();
        while let Some(mut step) = steps.next() {
            if let Some(Step { rtt, lost }) = steps.next() {
                step.rtt.merge(&rtt);
                step.lost += lost;
            }
            self.steps.push(step);
        }
    }

    /// What a summary has of them; what rows do not tell is what an empty one has.
    pub fn summary(&self) -> LatencySummary {
        let rtt = LatencyFigures::with(&self.rtt, &SHOWN);
        LatencySummary {
            sent: self.sent,
            received: rtt.count,
            lost: self.lost,
            corrupt: self.corrupt,
            rtt,
            ..LatencySummary::default()
        }
    }

    /// What views show of them.
    pub fn section(&self) -> Section {
        let summary = self.summary();
        let figures = round_trips(&summary, &SHOWN).into_iter().map(|figure| figure.of("RTT"));
        let mut figures: Vec<Figure> = figures.collect();
        figures.extend([
            GROUP.figure("sent", self.sent),
            GROUP.figure("received", summary.received),
            GROUP.figure("lost", self.lost),
        ]);
        figures.extend(GROUP.counted(&Part::Whole, [("corrupt", self.corrupt, "")]));
        if self.warm_up > 0 {
            figures.push(
                Figure::new("left out", Value::Count(self.warm_up)).with_note("of the warm-up"),
            );
        }
        let distribution = self.rtt.distribution();
        let mut shape = GROUP.shape(&Part::Whole, ("rtt", "client.latency.rtt", ""), &distribution);
        shape.source.sample_column = None;
        let distributions = if self.rtt.is_empty() { Vec::new() } else { vec![shape] };
        Section {
            subtitle: format!(
                "{}, in steps of {} over time",
                counted(self.sent, "ping"),
                duration_ns(self.step_ns)
            ),
            figures,
            series: self.series(),
            distributions,
            heat_maps: self.heat_map().into_iter().collect(),
            ..Section::default()
        }
    }

    /// The least, the median, the 99th percentile and the greatest of each step, and what had no answer.
    fn series(&self) -> Vec<Series> {
        type Statistic = (&'static str, fn(&Step) -> Option<u64>);
        const RTT: [Statistic; 4] = [
            ("rtt.min", |step| step.rtt.min_ns()),
            ("rtt.p50", |step| Percentile::of(&step.rtt, 50.0).value_ns),
            ("rtt.p99", |step| Percentile::of(&step.rtt, 99.0).value_ns),
            ("rtt.max", |step| step.rtt.max_ns()),
        ];
        let over_time = |name: &str, value: &dyn Fn(&Step) -> Option<f64>| {
            let source = GROUP.series(&Part::Whole, name, "", Chart::Line);
            let source = Source { place: String::new(), ..source };
            let points = (0..).zip(&self.steps);
            let points = points.map(|(place, step)| {
                let start_ns = self.step_ns * place;
                SeriesPoint::over(start_ns, start_ns.saturating_add(self.step_ns), value(step))
            });
            Series { source, points: points.collect() }
        };
        let mut series: Vec<Series> = RTT
            .iter()
            .map(|(name, value)| over_time(name, &|step| value(step).map(|it| it as f64)))
            .collect();
        if self.steps.iter().any(|step| step.lost > 0) {
            series.push(over_time("lost", &|step| Some(step.lost as f64)));
        }
        series.retain(|series| series.points.iter().any(|point| point.value.is_some()));
        debug_assert!(series.iter().all(|it| it.source.unit != Unit::Distribution));
        series
    }

    fn heat_map(&self) -> Option<HeatMap> {
        let column = |(place, step): (u64, &Step)| {
            let counts = HalfOctaves::of(&step.rtt)?;
            let start_ns = self.step_ns * place;
            Some(HeatColumn { start_ns, end_ns: start_ns.saturating_add(self.step_ns), counts })
        };
        let columns: Vec<HeatColumn> = (0..).zip(&self.steps).filter_map(column).collect();
        let source = Source { place: String::new(), ..GROUP.heat_map(&Part::Whole, "rtt", "") };
        (!columns.is_empty()).then_some(HeatMap { source, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn ping(scheduled_ns: u64, rtt_ns: u64) -> KeptPing<'static> {
        KeptPing { scheduled_ns, rtt_ns: Some(rtt_ns), outcome: "answered" }
    }

    #[test]
    fn a_row_is_what_the_writer_of_rows_made_it() {
        let row = "3,7,10,12,30,19,3,answered,11,-923";
        let expected = KeptPing { scheduled_ns: 10, rtt_ns: Some(19), outcome: "answered" };
        assert_eq!(KeptPing::of(row), Ok(expected));
        let lost = KeptPing { scheduled_ns: 10, rtt_ns: None, outcome: "lost" };
        assert_eq!(KeptPing::of("3,9,10,12,,,,lost,11,"), Ok(lost));
        for (row, why) in [
            ("", "fewer than 10 cells"),
            ("3,9,10,12,,,,lost,11,,", "more than 10 cells"),
            ("3,9,-1,12,,,,lost,11,", "scheduled_ns"),
            ("3,9,1,12,,1.5,,answered,11,", "rtt_ns"),
        ] {
            assert!(KeptPing::of(row).expect_err("it is none").contains(why), "{row}");
        }
    }

    #[test]
    fn steps_grow_with_the_test_and_keep_every_ping_and_both_extremes() {
        let mut pings = KeptPings::default();
        for number in 0..100_000 {
            // One far above the others, one far below.
            let rtt = match number {
                70_001 => 9_999_999,
                70_002 => 3,
                _ => 50_000 + number % 100,
            };
            pings.add(ping(number * 1_000_000, rtt)).expect("a ping");
        }
        pings.add(KeptPing { scheduled_ns: SECOND, rtt_ns: None, outcome: "lost" }).expect("one");
        pings.add(KeptPing { outcome: "warm_up", ..ping(0, 1) }).expect("one");
        let section = pings.section();
        assert_eq!(pings.step_ns, 256_000_000);
        let series = |id: &str| {
            let found = section.series.iter().find(|it| it.source.id == id).expect("a series");
            found.points.iter().filter_map(|point| Some(point.value? as u64))
        };
        assert_eq!(section.series[0].points.len(), 391);
        assert_eq!(series("latency.rtt.max").max(), Some(9_999_999));
        assert_eq!(series("latency.rtt.min").min(), Some(3));
        assert_eq!(series("latency.lost").sum::<u64>(), 1);
        let counts = section.heat_maps[0].columns.iter().flat_map(|it| it.counts.filled());
        assert_eq!(counts.map(|(_, count)| count).sum::<u64>(), 100_000);
        assert_eq!(section.distributions[0].distribution.count, 100_000);
        let summary = pings.summary();
        assert_eq!((summary.sent, summary.received, summary.lost), (100_001, 100_000, 1));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let mut pings = KeptPings::default();
        for (outcome, rtt_ns) in [("answered", None), ("lost", Some(1)), ("<b>", Some(1))] {
            assert!(pings.add(KeptPing { scheduled_ns: 0, rtt_ns, outcome }).is_err(), "{outcome}");
        }
        assert_eq!(pings.count(), 0);
        assert!(pings.section().series.is_empty() && pings.section().distributions.is_empty());
    }
}
