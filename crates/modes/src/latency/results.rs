//! What the ends of a latency test say, and what that comes to. Probes beside a load are a latency test, too.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::{Caveat, Check, Host};
use pathscope_core::stats::Trend;

use super::figures::{GROUP, LOADED};
use super::findings::{LatencyCaveat, LatencyCheck};
use super::{LatencyInterval, LatencyPlan, LatencyReport, LatencySummary, caveats, put_off};
use crate::amounts::{Amounts, Moved};
use crate::end::EndedConnections;
use crate::figure::Group;
use crate::results::{Beside, BesideOthers, Ends, Results, Slice};

impl LatencyPlan {
    /// What to mind of probes.
    pub fn probe_caveats(&self, summary: &LatencySummary) -> Vec<Caveat> {
        caveats::caveats(self, summary)
    }
}

impl Results for LatencyPlan {
    type Interval = LatencyInterval;
    type Report = LatencyReport;
    type Summary = LatencySummary;

    const FIGURES: &'static [Group] = &[GROUP, LOADED];
    const CHECKS: &'static [FindingDefinition] = LatencyCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = LatencyCaveat::ALL;

    fn has_moved(interval: &LatencyInterval) -> bool {
        interval.received > 0
    }

    fn failure(report: &LatencyReport) -> Option<String> {
        let error = report.error.as_ref()?;
        Some(format!("its connection failed: {}", error.text))
    }

    fn amounts_in(interval: &LatencyInterval, _: Option<EndedConnections>) -> Amounts {
        let moved = |pings| Moved { pings, ..Moved::default() };
        let (sent, received) = (moved(interval.sent), moved(interval.received));
        Amounts { sent, received, ..Amounts::default() }
    }

    fn amounts(report: &LatencyReport) -> Amounts {
        let moved = |pings| Moved { pings, ..Moved::default() };
        let (sent, received) = (moved(report.sent), moved(report.received));
        Amounts { sent, received, ..Amounts::default() }.with_error(report.error.as_ref())
    }

    fn halve(report: &mut LatencyReport) {
        [
            &mut report.rtt,
            &mut report.rtt_since_scheduled,
            &mut report.service,
            &mut report.send_lag,
            &mut report.server_residence,
        ]
        .into_iter()
        .flatten()
        .for_each(pathscope_core::stats::Distribution::halve);
    }

    /// Where the two ends do not read one clock, delays of one way would hold its offset.
    fn complete(client: &mut LatencyReport, _: Option<&LatencyReport>, beside: &Beside<'_>) {
        if !beside.hosts.read_one_clock() {
            client.one_way = None;
        }
    }

    fn summary(&self, ends: &Ends<'_, Self>, intervals: &[Slice<'_, Self>]) -> Self::Summary {
        let mut summary = LatencySummary::of(self, ends.of_client(), ends.of_server());
        // Those of the warm-up have no figures.
        let median =
            |it: &Slice<'_, Self>| Some((it.start_ns, it.own?.rtt.as_ref()?.median_ns()? as f64));
        let medians: Vec<_> = intervals.iter().filter_map(median).collect();
        summary.drift = Trend::of(&medians);
        if let Some(one_way) = &mut summary.one_way {
            // A time is of some moment within the reading that told it, at either end.
            let reading = |host: &Host| host.clock.read_ns.map(|cost| cost.ceil() as u64);
            let server = ends.hosts.server.as_ref().and_then(reading);
            let both = reading(&ends.hosts.client).zip(server);
            one_way.error_bound_ns = both.map(|(client, server)| client + server);
        }
        summary
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        vec![caveats::verified(ends.of_client(), ends.of_server())]
    }

    fn caveats(&self, summary: &LatencySummary, ends: &Ends<'_, Self>) -> Vec<Caveat> {
        let mut caveats = caveats::caveats(self, summary);
        if !ends.hosts.tells().report {
            caveats.extend(put_off::put_off(self, summary));
        }
        if ends.hosts.client.virtualized == Some(true) {
            caveats.push(Caveat::new(LatencyCaveat::VirtualMachine,
                "a hypervisor may take the processor away unseen: the highest percentiles hold its pauses too",
            ));
        }
        caveats
    }

    /// Round trips of an open loop counted from the schedule once, and are told apart now.
    fn renew(summary: &mut LatencySummary) {
        if summary.counts_from_the_schedule() {
            summary.rtt_since_scheduled = Some(std::mem::take(&mut summary.rtt));
        }
    }

    fn beside_others(summary: &LatencySummary) -> BesideOthers<'_> {
        let round_trips = Some((&summary.rtt, summary.lost));
        BesideOthers { round_trips, ..BesideOthers::default() }
    }
}
