//! What both ends said, as one measurement: summary, checks, caveats, verdict.

use pathscope_core::quantity::count;
use pathscope_core::record::{Caveat, Check, Substitution};
use pathscope_modes::document::{Hosts, Interval, Measurement, Summary};
use pathscope_modes::goodput::{GoodputPlan, GoodputReport, GoodputSummary, Verify, verdict};
use pathscope_modes::latency::{Extent, LatencyPlan, LatencyReport, LatencySummary, LoadModel};
use pathscope_modes::registry::{EndReport, Plan, Test};

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
}

/// The measurement that the findings make.
pub(crate) fn measurement(findings: Findings, hosts: &Hosts) -> Measurement {
    let Findings { name, test, substitutions, start_ns, duration_ns, intervals, client, server } =
        findings;
    let summary = summary(&test, &client, server.as_ref());
    let verdict = match (&test.plan, &summary.goodput, &server) {
        (Plan::Goodput(plan), Some(goodput), Some(server)) if goodput.failed == 0 => {
            let cpus = hosts.client.cpus_online.filter(|_| hosts.is_one_machine());
            Some(verdict(plan, goodput, &client, server, cpus))
        }
        _ => None,
    };
    let checks = checks(&test, &client, server.as_ref());
    let mut caveats = caveats(duration_ns, &test, &summary, server.is_some(), hosts);
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

fn summary(test: &Test, client: &EndReport, server: Option<&EndReport>) -> Summary {
    let goodput = match (&test.plan, &client.goodput) {
        (Plan::Goodput(plan), Some(goodput)) => {
            let server = server.and_then(|server| server.goodput.as_ref());
            let summary = GoodputSummary::of(plan, goodput, server);
            let seconds = client.elapsed_ns as f64 / 1e9;
            let rate =
                (plan.replaces() && seconds > 0.0).then(|| summary.completed as f64 / seconds);
            Some(GoodputSummary { completed_per_second: rate, ..summary })
        }
        _ => None,
    };
    let latency = |client: &Option<LatencyReport>, server: Option<&LatencyReport>| {
        client.as_ref().map(|client| LatencySummary::of(client, server))
    };
    Summary {
        goodput,
        latency: latency(&client.latency, server.and_then(|server| server.latency.as_ref())),
        probe: latency(&client.probe, server.and_then(|server| server.probe.as_ref())),
    }
}

fn checks(test: &Test, client: &EndReport, server: Option<&EndReport>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let (Plan::Goodput(plan), Some(client)) = (&test.plan, &client.goodput) {
        let server = server.and_then(|server| server.goodput.as_ref());
        checks.extend(verified(plan, client, server));
        checks.push(completed(plan, client, server));
        checks.extend(server.map(|server| counts_agree(client, server)));
    }
    if let Some(latency) = &client.latency {
        checks.push(echoes(latency));
    }
    checks
}

/// Every received byte was what it must be.
fn verified(
    plan: &GoodputPlan,
    client: &GoodputReport,
    server: Option<&GoodputReport>,
) -> Option<Check> {
    let corruptions: usize =
        [Some(client), server].into_iter().flatten().map(|end| end.corruptions.len()).sum();
    let received: u64 =
        [Some(client), server].into_iter().flatten().map(|end| end.received_bytes).sum();
    let text = if corruptions == 0 {
        format!("all {} received bytes are the bytes that were sent", count(received))
    } else {
        format!("wrong data on {corruptions} connections: see their errors")
    };
    (plan.verify == Verify::Full && received + corruptions as u64 > 0).then(|| Check {
        name: "verified".to_owned(),
        passed: corruptions == 0,
        text,
    })
}

/// Every connection came to its planned end at both ends.
fn completed(plan: &GoodputPlan, client: &GoodputReport, server: Option<&GoodputReport>) -> Check {
    let failed = client.failed.max(server.map_or(0, |server| server.failed));
    let ended = client.completed + client.cut;
    // Where a time limit or nothing ends the run, there are as many as were made.
    let is_open = plan.shape.time_limit_ns.is_some();
    let planned = plan.connections_in_all().filter(|_| !is_open);
    let total = planned.unwrap_or(ended + client.failed);
    let failed = failed.max(total.saturating_sub(ended));
    let first =
        [Some(client), server].into_iter().flatten().flat_map(|end| &end.flows).find_map(|flow| {
            flow.error.as_ref().map(|error| format!("; flow {}: {}", flow.flow, error.text))
        });
    let text = if failed == 0 && client.cut > 0 {
        format!(
            "{} connections came to their end, and {} were under way when the run was ended",
            count(client.completed),
            count(client.cut)
        )
    } else if failed == 0 {
        format!("all {} connections came to their end", count(total))
    } else {
        format!(
            "{} of {} connections failed{}",
            count(failed),
            count(total),
            first.unwrap_or_default()
        )
    };
    Check { name: "completed".to_owned(), passed: failed == 0, text }
}

/// What one end says it sent is what the other says it received, connection by connection.
fn counts_agree(client: &GoodputReport, server: &GoodputReport) -> Check {
    let differing = client.flows.iter().filter(|here| {
        let there = server.flows.iter().find(|there| there.flow == here.flow);
        there.is_some_and(|there| {
            there.received_bytes != here.sent_bytes || here.received_bytes != there.sent_bytes
        })
    });
    let differing = differing.count();
    let sums_agree =
        client.sent_bytes == server.received_bytes && client.received_bytes == server.sent_bytes;
    let passed = differing == 0 && sums_agree;
    let text = if passed {
        format!(
            "both ends count the same: {} bytes up, {} bytes down",
            count(client.sent_bytes),
            count(client.received_bytes)
        )
    } else {
        format!(
            "sent and received differ: {} and {} bytes up, {} and {} bytes down, on {differing} connections",
            count(client.sent_bytes),
            count(server.received_bytes),
            count(server.sent_bytes),
            count(client.received_bytes)
        )
    };
    Check { name: "counts_agree".to_owned(), passed, text }
}

/// Every echo was the ping that was sent, and the flow lived to its end.
fn echoes(latency: &LatencyReport) -> Check {
    let passed = latency.corrupt == 0 && latency.error.is_none();
    let text = match &latency.error {
        Some(error) => error.text.clone(),
        None if passed => {
            format!("all {} echoes are the pings that were sent", count(latency.received))
        }
        None => format!(
            "{} of {} echoes are not what was sent",
            count(latency.corrupt),
            count(latency.sent)
        ),
    };
    Check { name: "echoes_verified".to_owned(), passed, text }
}

fn caveats(
    duration_ns: u64,
    test: &Test,
    summary: &Summary,
    server_reported: bool,
    hosts: &Hosts,
) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if !server_reported {
        caveats.push(Caveat::new(
            "server_report_missing",
            "the server's report never came: what it received is unknown, and nothing is concluded from it",
        ));
    }
    if let Some(probe) = &summary.probe {
        caveats.extend(unanswered(probe));
    }
    for (plan, summary) in [
        (plan_of_pings(test), summary.latency.as_ref()),
        (test.probe.as_ref(), summary.probe.as_ref()),
    ] {
        if let (Some(plan), Some(summary)) = (plan, summary) {
            caveats.extend(late_generator(plan, summary));
            caveats.extend(late_echoes(summary));
            caveats.extend(unsent(plan, summary, duration_ns));
        }
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
        Plan::Goodput(_) => None,
    }
}

fn unanswered(probe: &LatencySummary) -> Option<Caveat> {
    let text = if probe.sent > 0 && probe.received == 0 {
        "no latency probe was answered: UDP may be filtered on this path, so loaded latency is unknown".to_owned()
    } else if probe.lost > 0 {
        format!("{} of {} latency probes were never answered", count(probe.lost), count(probe.sent))
    } else {
        return None;
    };
    Some(Caveat::new("probe_unanswered", text))
}

/// An open loop whose sender could not keep up: the pings that were due and never left are the latest, so
/// leaving them out flatters the figures.
fn unsent(plan: &LatencyPlan, summary: &LatencySummary, duration_ns: u64) -> Option<Caveat> {
    let (LoadModel::Open { period_ns }, Extent::DurationNs(duration)) =
        (plan.load_model, plan.extent)
    else {
        return None;
    };
    let due = duration.0.div_ceil(period_ns.0);
    // A run that was stopped sent what was due until then.
    (duration_ns >= duration.0 && summary.sent < due).then(|| {
        let text = format!(
            "{} of {} pings that were due never left: this machine cannot keep a period of {period_ns}",
            count(due - summary.sent),
            count(due)
        );
        Caveat::new("pings_unsent", text)
    })
}

/// Echoes that cannot be told from duplicates any more are neither lost nor measured.
fn late_echoes(summary: &LatencySummary) -> Option<Caveat> {
    (summary.late > 0).then(|| {
        let text = format!(
            "{} echoes came when their pings had left the window of memory, which holds 65,536: they have no latency",
            count(summary.late)
        );
        Caveat::new("late_echoes", text)
    })
}

/// In an open loop a sender that lags behind its schedule adds its own lateness to every figure.
fn late_generator(plan: &LatencyPlan, summary: &LatencySummary) -> Option<Caveat> {
    let LoadModel::Open { period_ns } = plan.load_model else { return None };
    let lag = summary.send_lag.as_ref()?.median_ns()?;
    let median = summary.rtt.median_ns()?;
    (lag * 10 > period_ns.0.min(median)).then(|| {
        Caveat::new(
            "send_lag",
            format!(
                "half of the pings left {} or more after their time: part of the latency is this machine's own",
                pathscope_core::quantity::duration_ns(lag)
            ),
        )
    })
}
