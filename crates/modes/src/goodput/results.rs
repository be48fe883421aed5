//! What the ends of a goodput test say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::{Caveat, Check, FlowFacts, Limit, Verdict};

use super::figures::GROUP;
use super::findings::{self, GoodputCaveat, GoodputCheck};
use super::{
    FailureTimes, GoodputInterval, GoodputPlan, GoodputReport, GoodputSummary, both_ends, checks,
    disagreements, together, verdict::verdict,
};
use crate::amounts::{Amounts, Moved};
use crate::end::EndedConnections;
use crate::figure::Group;
use crate::finding::caveats;
use crate::load::Verify;
use crate::results::{Beside, BesideOthers, Ends, Results, Slice};
use crate::times::ConnectionTimes;

impl Results for GoodputPlan {
    type Interval = GoodputInterval;
    type Report = GoodputReport;
    type Summary = GoodputSummary;

    const FIGURES: &'static [Group] = &[GROUP];
    const CHECKS: &'static [FindingDefinition] = GoodputCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = GoodputCaveat::ALL;
    const LIMITS: &'static [Limit] = findings::LIMITS;

    fn has_moved(interval: &GoodputInterval) -> bool {
        interval.sent_bytes > 0 || interval.received_bytes > 0
    }

    fn moved_bytes(report: &GoodputReport) -> Option<u64> {
        Some(report.sent_bytes.saturating_add(report.received_bytes))
    }

    fn amounts_in(interval: &GoodputInterval, ended: Option<EndedConnections>) -> Amounts {
        let moved = |bytes| Moved { bytes, ..Moved::default() };
        let (sent, received) = (moved(interval.sent_bytes), moved(interval.received_bytes));
        Amounts { sent, received, ended: ended.unwrap_or_default() }
    }

    fn amounts(report: &GoodputReport) -> Amounts {
        let moved = |bytes| Moved { bytes, ..Moved::default() };
        Amounts {
            sent: moved(report.sent_bytes),
            received: moved(report.received_bytes),
            ended: EndedConnections {
                completed: report.completed,
                failed: report.failed,
                network: report.failures.network,
                data: report.failures.data,
                protocol: report.failures.protocol,
            },
        }
    }

    fn halve(report: &mut GoodputReport) {
        let flows = report.flows.len();
        report.flows.truncate(flows / 2);
        report.flows_omitted += (flows - report.flows.len()) as u64;
        report.times.halve();
        report.corruptions.truncate(report.corruptions.len() / 2);
    }

    fn complete(client: &mut GoodputReport, server: Option<&GoodputReport>, beside: &Beside<'_>) {
        both_ends::take_in(client, server, beside.failed_there);
    }

    fn summary(&self, ends: &Ends<'_, Self>, intervals: &[Slice<'_, Self>]) -> Self::Summary {
        let tells_endings = checks::tells_endings(ends);
        let mut summary =
            GoodputSummary::of(self, ends.of_client(), ends.of_server(), tells_endings);
        let tells = ends.hosts.tells();
        for (way, is_compared) in
            [(&mut summary.up, tells.verification), (&mut summary.down, tells.payload)]
        {
            if let (Some(way), false) = (way, is_compared) {
                (way.verified, way.verify) = (false, Some(Verify::Off));
            }
        }
        // A server that reports in the end tells what it received, whatever is known of its intervals.
        let acknowledged = super::summary::acknowledged(self, intervals);
        let acknowledged = acknowledged.filter(|_| ends.server.is_none());
        if let (Some(up), Some((all, rate))) = (&mut summary.up, acknowledged) {
            (up.acknowledged_bytes, up.acknowledged_bps) = (Some(all), rate);
        }
        let seconds = ends.client.facts.elapsed_ns as f64 / 1e9;
        let is_rate = self.replaces() && seconds > 0.0;
        let completed_per_second = is_rate.then(|| summary.completed as f64 / seconds);
        let failed = |it: &Slice<'_, _>| Some((it.start_ns, it.end_ns, it.ended?.failed));
        let failure_times = FailureTimes::of(intervals.iter().filter_map(failed));
        GoodputSummary { completed_per_second, failure_times, ..summary }
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        checks::checks(self, ends)
    }

    fn caveats(&self, summary: &GoodputSummary, ends: &Ends<'_, Self>) -> Vec<Caveat> {
        // Those that do not follow others were made before anybody counted.
        let server = ends.server.as_ref().filter(|_| self.replaces());
        let overflows = server.and_then(|server| checks::listen_queue_full(server.facts));
        let untaken = summary.fast_open.as_ref().and_then(checks::fast_open_not_taken);
        let found = [
            (GoodputCaveat::ListenQueueFull, overflows),
            (GoodputCaveat::FastOpenNotTaken, untaken),
        ];
        caveats(found)
    }

    fn verdict(&self, summary: &GoodputSummary, ends: &Ends<'_, Self>) -> Option<Verdict> {
        let server = ends.server.as_ref().filter(|_| summary.failed == 0)?;
        let cpus = ends.hosts.client.cpus_online.filter(|_| ends.hosts.is_one_machine());
        Some(verdict(self, summary, (&ends.client, server), cpus))
    }

    fn failure(report: &GoodputReport) -> Option<String> {
        checks::failed_here(report)
    }

    fn connections(report: &GoodputReport) -> &[FlowFacts] {
        &report.flows
    }

    fn times(report: &GoodputReport) -> Option<&ConnectionTimes> {
        Some(&report.times)
    }

    fn disagreements(client: &GoodputReport, server: &GoodputReport) -> Vec<String> {
        disagreements(client, server).iter().map(ToString::to_string).collect()
    }

    fn carried(summary: &GoodputSummary) -> Vec<u64> {
        let ways = [summary.up, summary.down].into_iter().flatten();
        ways.filter_map(|way| way.received_bytes).collect()
    }

    fn together(all: &[&GoodputSummary], is_shared: bool) -> Option<GoodputSummary> {
        Some(together::together(all, is_shared))
    }

    fn beside_others(summary: &GoodputSummary) -> BesideOthers<'_> {
        let goodput_bps = [summary.up, summary.down].map(|way| way?.goodput_bps);
        BesideOthers { goodput_bps, ..BesideOthers::default() }
    }
}
