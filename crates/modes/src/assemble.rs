//! What both ends said, as one measurement: summary, checks, caveats, verdict.

use pathscope_core::id::FlowId;
use pathscope_core::record::{Caveat, Check, FlowError, Substitution};

use crate::document::{Interval, Measurement};
use crate::end::Hosts;
use crate::finding::TestCaveat;
use crate::groups::Test;
use crate::registry::EndReport;
use crate::results::Beside;
use crate::{probes, still};

/// All that is known of one test when it has ended, well or not.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What it is called.
    pub name: String,
    /// The test as it ran.
    pub test: Test,
    /// What was asked for and came out otherwise, or was left open and chosen.
    pub substitutions: Vec<Substitution>,
    /// Its begin, in time since the begin of the document.
    pub start_ns: u64,
    /// From the start of its flows to the last report.
    pub duration_ns: u64,
    /// The report intervals, in order.
    pub intervals: Vec<Interval>,
    /// What the client's end said.
    pub client: EndReport,
    /// What the server's end said; absent where it was lost.
    pub server: Option<EndReport>,
    /// Connections of which the server said, while the test ran, that they failed there.
    pub failed_there: Vec<(FlowId, FlowError)>,
}

impl Findings {
    /// Of what the two ends do not say the same, a sentence each.
    pub fn disagreements(&self) -> Vec<String> {
        self.test.plan.disagreements_of(&self.client, self.server.as_ref())
    }
}

/// The measurement that the findings make.
pub fn measurement(findings: Findings, hosts: &Hosts) -> Measurement {
    let Findings { name, test, substitutions, start_ns, duration_ns, intervals, .. } = findings;
    let (mut client, server) = (findings.client, findings.server);
    let beside = Beside { failed_there: &findings.failed_there, hosts };
    let judged = test.plan.judge(&mut client, server.as_ref(), &intervals, &beside);
    let mut summary = judged.summary;
    let of_probes = probes::summary(&test, (&mut client, server.as_ref()), &intervals, &beside);
    let mut caveats = Vec::new();
    caveats.extend(untold(&judged.checks, server.is_some(), hosts));
    if let Some(of_probes) = of_probes {
        caveats.extend(probes::caveats(&test, &of_probes, &summary));
        summary.probe = Some(of_probes);
    }
    caveats.extend(judged.caveats);
    caveats.extend(still::caveats(&test.plan, &client, server.as_ref()));
    caveats.extend(client.caveats.iter().cloned());
    caveats.extend(server.iter().flat_map(|server| server.caveats.iter().cloned()));
    Measurement {
        name,
        test,
        run: None,
        substitutions,
        start_ns,
        duration_ns,
        intervals,
        client,
        server,
        summary,
        verdict: judged.verdict,
        checks: judged.checks,
        caveats,
    }
}

/// What the server has not said, be it that it never does.
fn untold(checks: &[Check], has_reported: bool, hosts: &Hosts) -> Option<Caveat> {
    let tells = hosts.tells();
    if tells.report && !has_reported {
        return Some(Caveat::new(
            TestCaveat::ServerReportMissing,
            "the server's report never came: what it received is unknown, and nothing is concluded from it",
        ));
    }
    let unknown: Vec<&str> =
        checks.iter().filter(|it| it.is_unknown()).map(|it| &*it.name).collect();
    if tells.report && unknown.is_empty() {
        return None;
    }
    let name = hosts.peer.as_ref().map_or("", |peer| &peer.name);
    let all = [
        (tells.report, "what it counted"),
        (tells.verification, "whether what it received is right"),
        (tells.payload, "what it sends is made of"),
    ];
    let what: Vec<&str> =
        all.into_iter().filter(|&(is_told, _)| !is_told).map(|(_, what)| what).collect();
    let what = what.join(", nor ");
    let unknown = match unknown[..] {
        [] => "no check rests on that".to_owned(),
        [one] => format!("this end cannot verify {one}"),
        _ => format!("this end cannot verify {}", unknown.join(", ")),
    };
    let text = format!("a server of the kind {name} does not tell {what}: {unknown}");
    Some(Caveat::new(TestCaveat::PeerTellsLess, text))
}

/// The measurement that is under way: neither end has reported, and nothing is wrong with that.
pub fn unfinished(findings: Findings, hosts: &Hosts) -> Measurement {
    let text = "it was under way when this was saved: its intervals alone are here";
    let caveats = vec![Caveat::new(TestCaveat::Unfinished, text)];
    Measurement { caveats, ..measurement(findings, hosts) }
}

#[cfg(test)]
mod tests;
