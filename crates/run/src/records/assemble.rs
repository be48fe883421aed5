//! What both ends said, as one measurement: summary, checks, caveats, verdict.

#[cfg(test)]
mod tests;

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{count, counted, ratio, were};
use pathscope_core::record::{Caveat, Check, FlowError, Host, Substitution};
use pathscope_core::stats::Trend;
use pathscope_modes::datagrams::{self, DatagramsSummary};
use pathscope_modes::document::{Hosts, Interval, Measurement, Summary};
use pathscope_modes::goodput::{self, FailureTimes, GoodputSummary, verdict};
use pathscope_modes::latency::{self, LatencyPlan, LatencyReport, LatencySummary};
use pathscope_modes::media::{self, MediaSummary};
use pathscope_modes::multipath::{self, MultipathSummary};
use pathscope_modes::registry::{EndReport, Plan, Test};

use crate::records::{still, streams};

/// All that is known of one test when it has ended, well or not.
#[derive(Debug)]
pub(crate) struct Findings {
    pub name: String,
    pub test: Test,
    pub substitutions: Vec<Substitution>,
    pub start_ns: u64,
    pub duration_ns: u64,
    pub intervals: Vec<Interval>,
    pub client: EndReport,
    pub server: Option<EndReport>,
    /// Connections of which the server said, while the test ran, that they failed there.
    pub failed_there: Vec<(FlowId, FlowError)>,
}

/// The measurement that the findings make.
pub(crate) fn measurement(findings: Findings, hosts: &Hosts) -> Measurement {
    let Findings { name, test, substitutions, start_ns, duration_ns, intervals, .. } = findings;
    let server = findings.server;
    let mut client = with_one_clock(findings.client, hosts);
    if let Some(goodput) = &mut client.goodput {
        let server = server.as_ref().and_then(|server| server.goodput.as_ref());
        goodput::take_in(goodput, server, &findings.failed_there);
    }
    let mut summary = summary(&test, &client, server.as_ref(), &intervals);
    bound_one_way(&mut summary, hosts);
    let verdict = match (&test.plan, &summary.goodput, &server) {
        (Plan::Goodput(plan), Some(goodput), Some(server)) if goodput.failed == 0 => {
            let cpus = hosts.client.cpus_online.filter(|_| hosts.is_one_machine());
            Some(verdict(plan, goodput, &client, server, cpus))
        }
        (Plan::Datagrams(plan), _, Some(server)) => summary
            .datagrams
            .as_ref()
            .filter(|datagrams| datagrams.failed == 0)
            .and_then(|datagrams| datagrams::verdict(plan, datagrams, &client, server)),
        (Plan::Media(plan), ..) => summary
            .media
            .as_ref()
            .and_then(|media| media::verdict(plan, media, &client, server.as_ref())),
        _ => None,
    };
    let checks = checks(&test, &client, server.as_ref());
    let mut caveats = caveats(&test, &summary, server.is_some(), hosts);
    caveats.extend(of_paths(&test, &summary, &client, server.as_ref()));
    caveats.extend(still::caveats(&test.plan, &client, server.as_ref()));
    caveats.extend(client.caveats.iter().cloned());
    caveats.extend(server.iter().flat_map(|server| server.caveats.iter().cloned()));
    Measurement {
        name,
        test,
        substitutions,
        start_ns,
        duration_ns,
        intervals,
        client,
        server,
        summary,
        verdict,
        checks,
        caveats,
    }
}

/// The measurement that is under way: neither end has reported, and nothing is wrong with that.
pub(crate) fn unfinished(findings: Findings, hosts: &Hosts) -> Measurement {
    let text = "it was under way when this was saved: its intervals alone are here";
    let caveats = vec![Caveat::new("unfinished", text)];
    Measurement { caveats, ..measurement(findings, hosts) }
}

/// Without the delays of one way where the two ends do not read one clock: they would hold its offset.
fn with_one_clock(mut client: EndReport, hosts: &Hosts) -> EndReport {
    if !hosts.read_one_clock() {
        for latency in [&mut client.latency, &mut client.probe].into_iter().flatten() {
            latency.one_way = None;
        }
    }
    client
}

/// A time is of some moment within the reading that told it, at either end.
fn bound_one_way(summary: &mut Summary, hosts: &Hosts) {
    let reading = |host: &Host| host.clock.read_ns.map(|cost| cost.ceil() as u64);
    let both = reading(&hosts.client).zip(hosts.server.as_ref().and_then(reading));
    for latency in [&mut summary.latency, &mut summary.probe].into_iter().flatten() {
        if let Some(one_way) = &mut latency.one_way {
            one_way.error_bound_ns = both.map(|(client, server)| client + server);
        }
    }
}

fn summary(
    test: &Test,
    client: &EndReport,
    server: Option<&EndReport>,
    intervals: &[Interval],
) -> Summary {
    let goodput = match (&test.plan, &client.goodput) {
        (Plan::Goodput(plan), Some(goodput)) => {
            let server = server.and_then(|server| server.goodput.as_ref());
            let summary = GoodputSummary::of(plan, goodput, server);
            let seconds = client.elapsed_ns as f64 / 1e9;
            let rate =
                (plan.replaces() && seconds > 0.0).then(|| summary.completed as f64 / seconds);
            let failure_times = FailureTimes::of(intervals.iter().filter_map(|interval| {
                let end = interval.client.as_ref()?;
                Some((end.start_ns, end.end_ns, end.ended?.failed))
            }));
            Some(GoodputSummary { completed_per_second: rate, failure_times, ..summary })
        }
        _ => None,
    };
    let latency = |plan: Option<&LatencyPlan>, client: &Option<LatencyReport>, server| {
        let mut summary = LatencySummary::of(plan?, client.as_ref()?, server);
        summary.drift = drift(intervals);
        Some(summary)
    };
    let datagrams = match (&test.plan, &client.datagrams) {
        (Plan::Datagrams(plan), Some(client)) => {
            let server = server.and_then(|server| server.datagrams.as_ref());
            Some(DatagramsSummary::of(plan, client, server))
        }
        _ => None,
    };
    let media = match (&test.plan, &client.media) {
        (Plan::Media(plan), Some(media)) => {
            let server = server.and_then(|server| server.media.as_ref());
            Some(MediaSummary::of(plan, media, server))
        }
        _ => None,
    };
    let server_of = |pick: fn(&EndReport) -> Option<&LatencyReport>| server.and_then(pick);
    Summary {
        goodput,
        datagrams,
        media,
        latency: latency(
            plan_of_pings(test),
            &client.latency,
            server_of(|server| server.latency.as_ref()),
        ),
        multipath: paths(test, client, server),
        probe: latency(
            test.probe.as_ref(),
            &client.probe,
            server_of(|server| server.probe.as_ref()),
        ),
    }
}

/// What to mind of paths.
fn of_paths(
    test: &Test,
    summary: &Summary,
    client: &EndReport,
    server: Option<&EndReport>,
) -> Vec<Caveat> {
    match (&test.plan, &summary.multipath, &client.multipath) {
        (Plan::Multipath(plan), Some(summary), Some(client)) => {
            let server = server.and_then(|server| server.multipath.as_ref());
            multipath::caveats(plan, summary, client, server)
        }
        _ => Vec::new(),
    }
}

fn paths(test: &Test, client: &EndReport, server: Option<&EndReport>) -> Option<MultipathSummary> {
    let Plan::Multipath(plan) = &test.plan else { return None };
    let server = server.and_then(|server| server.multipath.as_ref());
    Some(MultipathSummary::of(plan, client.multipath.as_ref()?, server))
}

/// How the median of the intervals changed, those of the warm-up left out: they have no figures.
fn drift(intervals: &[Interval]) -> Option<Trend> {
    let medians = intervals.iter().filter_map(|interval| {
        let end = interval.client.as_ref()?;
        let median = end.latency.as_ref()?.rtt.as_ref()?.median_ns()?;
        Some((end.start_ns, median as f64))
    });
    Trend::of(&medians.collect::<Vec<_>>())
}

fn checks(test: &Test, client: &EndReport, server: Option<&EndReport>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let (Plan::Goodput(plan), Some(client)) = (&test.plan, &client.goodput) {
        let server = server.and_then(|server| server.goodput.as_ref());
        checks.extend(goodput::checks(plan, client, server));
    }
    if let Some(latency) = &client.latency {
        checks.push(latency::verified(latency, server.and_then(|server| server.latency.as_ref())));
    }
    if let (Plan::Datagrams(plan), Some(client)) = (&test.plan, &client.datagrams) {
        let server = server.and_then(|server| server.datagrams.as_ref());
        checks.extend(crate::records::datagrams::checks(plan, client, server));
    }
    if let (Plan::Media(plan), Some(client)) = (&test.plan, &client.media) {
        checks.extend(streams::checks(
            plan,
            client,
            server.and_then(|server| server.media.as_ref()),
        ));
    }
    if let (Plan::Multipath(plan), Some(client)) = (&test.plan, &client.multipath) {
        let server = server.and_then(|server| server.multipath.as_ref());
        checks.push(multipath::verified(client, server));
        checks.extend(multipath::worked(plan, client));
    }
    checks
}

/// Of data that the server received, where its report is missing.
pub(crate) const UNKNOWN_DATA: &str =
    "it is not known whether what the server received is right: it has not said";

/// Of flows, or of what else they are called, where the server's report is missing.
pub(crate) fn unknown_end(what: &str, flows: u32) -> String {
    let flows = counted(flows.into(), what);
    format!("it is not known how {flows} ended at the server: it has not said")
}

fn caveats(test: &Test, summary: &Summary, server_reported: bool, hosts: &Hosts) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if !server_reported {
        caveats.push(Caveat::new(
            "server_report_missing",
            "the server's report never came: what it received is unknown, and nothing is concluded from it",
        ));
    }
    if let Some(probe) = &summary.probe {
        caveats.extend(unanswered(probe));
        let size = test.probe.as_ref().map_or(0, |plan| plan.size_bytes.0);
        let carried = carried(summary);
        caveats
            .extend(carried.and_then(|bytes| probe_load(size.saturating_mul(probe.sent), bytes)));
    }
    if let (Plan::Media(plan), Some(media)) = (&test.plan, &summary.media) {
        caveats.extend(streams::caveats(plan, media, hosts));
    }
    for (plan, summary) in [
        (plan_of_pings(test), summary.latency.as_ref()),
        (test.probe.as_ref(), summary.probe.as_ref()),
    ] {
        if let (Some(plan), Some(summary)) = (plan, summary) {
            caveats.extend(latency::caveats(plan, summary));
        }
    }
    if let (Plan::Datagrams(plan), Some(summary)) = (&test.plan, &summary.datagrams) {
        caveats.extend(crate::records::datagrams::doubts(plan, summary));
    }
    if hosts.client.virtualized == Some(true) && matches!(test.plan, Plan::Latency(_)) {
        caveats.push(Caveat::new(
            "virtual_machine",
            "a hypervisor may take the processor away unseen: the highest percentiles hold its pauses too",
        ));
    }
    caveats
}

fn plan_of_pings(test: &Test) -> Option<&LatencyPlan> {
    match &test.plan {
        Plan::Latency(plan) => Some(plan),
        Plan::Goodput(_) | Plan::Datagrams(_) | Plan::Media(_) | Plan::Multipath(_) => None,
    }
}

/// The payload that the load brought over, in the direction that had less of it.
fn carried(summary: &Summary) -> Option<u64> {
    let goodput = summary.goodput.as_ref();
    let streams = goodput.into_iter().flat_map(|goodput| [goodput.up, goodput.down]).flatten();
    let datagrams = summary.datagrams.iter().flat_map(DatagramsSummary::directions);
    let streams = streams.filter_map(|way| way.received_bytes);
    streams.chain(datagrams.filter_map(|(_, way)| way.received_bytes)).min()
}

/// Probes are to take nothing from the load: where the path is slow, they may.
fn probe_load(probes: u64, carried: u64) -> Option<Caveat> {
    /// From this share of the load on.
    const NOTICED: f64 = 0.02;
    let share = probes as f64 / carried.saturating_add(probes).max(1) as f64;
    let text = format!(
        "the latency probes were {} of what was carried, and the load is that much less: --probe-rate asks for fewer",
        ratio(share)
    );
    (carried > 0 && share >= NOTICED).then(|| Caveat::new("probe_load", text))
}

fn unanswered(probe: &LatencySummary) -> Option<Caveat> {
    let text = if probe.sent > 0 && probe.received == 0 {
        "no latency probe was answered: UDP may be filtered on this path, so loaded latency is unknown".to_owned()
    } else if probe.lost > 0 {
        let probes = counted(probe.sent, "latency probe");
        format!("{} of {probes} {} never answered", count(probe.lost), were(probe.lost))
    } else {
        return None;
    };
    Some(Caveat::new("probe_unanswered", text))
}
