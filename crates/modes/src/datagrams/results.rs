//! What the ends of a test of datagram goodput say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::{Caveat, Check, Limit, Verdict};

use super::figures::GROUP;
use super::findings::{self, DatagramsCaveat, DatagramsCheck};
use super::{
    DatagramsInterval, DatagramsPlan, DatagramsReport, DatagramsSummary, checks, together, verdict,
};
use crate::amounts::{Amounts, Moved};
use crate::end::EndedConnections;
use crate::figure::Group;
use crate::load::Verify;
use crate::results::{Beside, BesideOthers, Ends, Results, Slice};

impl Results for DatagramsPlan {
    type Interval = DatagramsInterval;
    type Report = DatagramsReport;
    type Summary = DatagramsSummary;

    const FIGURES: &'static [Group] = &[GROUP];
    const CHECKS: &'static [FindingDefinition] = DatagramsCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = DatagramsCaveat::ALL;
    const LIMITS: &'static [Limit] = findings::LIMITS;

    fn has_moved(interval: &DatagramsInterval) -> bool {
        interval.sent > 0 || interval.received > 0
    }

    fn moved_bytes(report: &DatagramsReport) -> Option<u64> {
        Some(report.sent_bytes.saturating_add(report.received_bytes))
    }

    fn amounts_in(interval: &DatagramsInterval, _: Option<EndedConnections>) -> Amounts {
        let moved = |datagrams, bytes| Moved { bytes, datagrams, pings: 0 };
        let sent = moved(interval.sent, interval.sent_bytes);
        let received = moved(interval.received, interval.received_bytes);
        Amounts { sent, received, ..Amounts::default() }
    }

    /// Of what flows beyond those failed that are told one by one is not known.
    fn amounts(report: &DatagramsReport) -> Amounts {
        let moved = |datagrams, bytes| Moved { bytes, datagrams, pings: 0 };
        let errors = report.flows.iter().map(|flow| flow.error.as_ref());
        let told = errors.fold(Amounts::default(), Amounts::with_error);
        Amounts {
            sent: moved(report.sent, report.sent_bytes),
            received: moved(report.received, report.received_bytes),
            ended: EndedConnections {
                completed: report.completed,
                failed: report.failed,
                ..told.ended
            },
        }
    }

    /// It is never cut: at most 1,000 flows are told one by one.
    fn halve(_: &mut DatagramsReport) {}

    /// A server that says how many it has sent with its report alone has not said it to the flows: what was lost behind the last that came
    /// is known now.
    fn complete(
        client: &mut DatagramsReport,
        server: Option<&DatagramsReport>,
        beside: &Beside<'_>,
    ) {
        let Some(server) = server.filter(|server| server.sent > 0) else { return };
        if client.expected.is_some() || beside.hosts.tells().is_everything() {
            return;
        }
        for flow in &mut client.flows {
            let sent = server.flows.iter().find(|there| there.flow == flow.flow && there.sent > 0);
            if let Some(sent) = sent.map(|there| there.sent) {
                let behind = sent.saturating_sub(flow.highest.unwrap_or(sent));
                (flow.expected, flow.lost) = (Some(sent), flow.lost.saturating_add(behind));
                client.lost = client.lost.saturating_add(behind);
            }
        }
        client.expected = Some(server.sent);
    }

    fn summary(&self, ends: &Ends<'_, Self>, _: &[Slice<'_, Self>]) -> Self::Summary {
        let mut summary = DatagramsSummary::of(self, ends.of_client(), ends.of_server());
        let tells = ends.hosts.tells();
        for (way, is_compared) in
            [(&mut summary.up, tells.verification), (&mut summary.down, tells.payload)]
        {
            if let (Some(way), false) = (way, is_compared) {
                way.verify = Some(Verify::Off);
            }
        }
        if let Some(up) = summary.up.as_mut().filter(|_| !tells.is_everything()) {
            up.forget_untold();
        }
        summary
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        checks::checks(self, ends)
    }

    fn caveats(&self, summary: &DatagramsSummary, _: &Ends<'_, Self>) -> Vec<Caveat> {
        checks::caveats(self, summary)
    }

    fn verdict(&self, summary: &Self::Summary, ends: &Ends<'_, Self>) -> Option<Verdict> {
        let server = ends.server.as_ref().filter(|_| summary.failed == 0)?;
        verdict::verdict(self, summary, ends.client.facts, server.facts)
    }

    fn carried(summary: &DatagramsSummary) -> Vec<u64> {
        summary.directions().filter_map(|(_, way)| way.received_bytes).collect()
    }

    fn together(all: &[&DatagramsSummary], is_shared: bool) -> Option<DatagramsSummary> {
        Some(together::together(all, is_shared))
    }

    fn beside_others(summary: &DatagramsSummary) -> BesideOthers<'_> {
        let goodput_bps = [&summary.up, &summary.down].map(|way| way.as_ref()?.goodput_bps);
        BesideOthers { goodput_bps, ..BesideOthers::default() }
    }
}
