//! What the ends of a media test say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::{Caveat, Check, Limit, Verdict};
use pathscope_core::stats::Distribution;

use super::figures::GROUP;
use super::findings::{self, MediaCaveat, MediaCheck};
use super::{MediaInterval, MediaPlan, MediaReport, MediaSummary, checks, verdict};
use crate::amounts::{Amounts, Moved};
use crate::end::EndedConnections;
use crate::figure::Group;
use crate::results::{Ends, Results, Slice};

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

    fn moved_bytes(report: &MediaReport) -> Option<u64> {
        Some(report.sent_bytes.saturating_add(report.received_bytes))
    }

    fn amounts_in(interval: &MediaInterval, _: Option<EndedConnections>) -> Amounts {
        let moved = |datagrams, bytes| Moved { bytes, datagrams, pings: 0 };
        let sent = moved(interval.sent_datagrams, interval.sent_bytes);
        let received = moved(interval.received_datagrams, interval.received_bytes);
        Amounts { sent, received, ..Amounts::default() }
    }

    /// Of what streams beyond those failed that are told one by one is not known.
    fn amounts(report: &MediaReport) -> Amounts {
        let moved = |datagrams, bytes| Moved { bytes, datagrams, pings: 0 };
        let errors = report.streams.iter().map(|stream| stream.error.as_ref());
        let told = errors.fold(Amounts::default(), Amounts::with_error);
        let streams = (report.streams.len() as u64).saturating_add(report.streams_omitted);
        Amounts {
            sent: moved(report.sent_datagrams, report.sent_bytes),
            received: moved(report.received_datagrams, report.received_bytes),
            ended: EndedConnections {
                completed: streams.saturating_sub(report.failed),
                failed: report.failed,
                ..told.ended
            },
        }
    }

    fn halve(report: &mut MediaReport) {
        let streams = report.streams.len();
        report.streams.truncate(streams / 2);
        report.streams_omitted += (streams - report.streams.len()) as u64;
        let distributions = [&mut report.delay, &mut report.send_lag];
        distributions.into_iter().flatten().for_each(Distribution::halve);
    }

    fn summary(&self, ends: &Ends<'_, Self>, _: &[Slice<'_, Self>]) -> MediaSummary {
        MediaSummary::of(self, ends.of_client(), ends.of_server())
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        checks::checks(self, ends)
    }

    fn caveats(&self, summary: &MediaSummary, ends: &Ends<'_, Self>) -> Vec<Caveat> {
        checks::caveats(self, summary, ends)
    }

    fn verdict(&self, summary: &MediaSummary, ends: &Ends<'_, Self>) -> Option<Verdict> {
        let server = ends.server.as_ref().map(|server| server.facts);
        verdict::verdict(self, summary, ends.client.facts, server)
    }
}
