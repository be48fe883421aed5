//! What the ends of a media test say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::presentation::{Figure, Shape, Table};
use pathscope_core::record::{Caveat, Check, Limit, Verdict};
use pathscope_core::stats::Distribution;

use super::figures::GROUP;
use super::findings::{self, MediaCaveat, MediaCheck};
use super::{MediaInterval, MediaPlan, MediaReport, MediaSummary, checks, presentation, verdict};
use crate::figure::{Group, Part, Point};
use crate::results::{Detail, Ends, Results, Slice, Slices};

impl Results for MediaPlan {
    type Interval = MediaInterval;
    type Report = MediaReport;
    type Summary = MediaSummary;

    const FIGURES: &'static [Group] = &[GROUP];
    const CHECKS: &'static [FindingDefinition] = MediaCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = MediaCaveat::ALL;
    const LIMITS: &'static [Limit] = findings::LIMITS;

    /// Frames that are played from the buffer are progress, too.
    fn has_moved(interval: &MediaInterval) -> bool {
        let moved = interval.sent_datagrams > 0 || interval.received_datagrams > 0;
        moved || interval.frames.judged() > 0
    }

    fn halve(report: &mut MediaReport) {
        let streams = report.streams.len();
        report.streams.truncate(streams / 2);
        report.streams_omitted += (streams - report.streams.len()) as u64;
        let distributions = [&mut report.delay, &mut report.send_lag];
        distributions.into_iter().flatten().for_each(Distribution::halve);
    }

    fn summary(
        &self,
        ends: &Ends<'_, MediaReport>,
        _: &[Slice<'_, MediaInterval>],
    ) -> MediaSummary {
        MediaSummary::of(self, ends.of_client(), ends.of_server())
    }

    fn checks(&self, ends: &Ends<'_, MediaReport>) -> Vec<Check> {
        checks::checks(self, ends)
    }

    fn caveats(&self, summary: &MediaSummary, ends: &Ends<'_, MediaReport>) -> Vec<Caveat> {
        checks::caveats(self, summary, ends.hosts)
    }

    fn verdict(&self, summary: &MediaSummary, ends: &Ends<'_, MediaReport>) -> Option<Verdict> {
        let server = ends.server.map(|server| server.facts);
        verdict::verdict(self, summary, ends.client.facts, server)
    }

    fn cells(&self, interval: Slices<'_, MediaInterval>) -> Vec<Figure> {
        presentation::cells(self, interval)
    }

    fn points(&self, interval: Slices<'_, MediaInterval>) -> Vec<Point> {
        let received = presentation::received(self, interval);
        received.map(|it| it.point(&GROUP, "received_rate")).collect()
    }

    fn figures(&self, summary: &MediaSummary) -> Vec<Figure> {
        presentation::figures(self, summary)
    }

    fn tables(
        &self,
        summary: &MediaSummary,
        ends: &Ends<'_, MediaReport>,
        _: Detail,
    ) -> Vec<Table> {
        let streams = presentation::streams(summary, ends.of_client(), ends.of_server());
        streams.into_iter().collect()
    }

    fn distributions(ends: &Ends<'_, MediaReport>) -> Vec<Shape> {
        let receivers = [
            ("down", "client.media.delay", Some(ends.of_client())),
            ("up", "server.media.delay", ends.of_server()),
        ];
        let shape = |(way, place, end): (&'static str, &str, Option<&MediaReport>)| {
            let delay = end?.delay.as_ref()?;
            Some(GROUP.shape(&Part::Side(way), ("delay", place, "RelativeInFlightTimeMs"), delay))
        };
        receivers.into_iter().filter_map(shape).collect()
    }

    fn overview(runs: &[(&str, &MediaSummary)]) -> Option<Table> {
        Some(presentation::overview(runs))
    }
}
