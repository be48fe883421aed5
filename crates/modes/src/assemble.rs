//! What both ends said, as one measurement: summary, checks, caveats, verdict.

use pathscope_core::id::FlowId;
use pathscope_core::record::{Caveat, Check, FlowError, Substitution, Verdict};

use crate::document::{Interval, Measurement, client_slices};
use crate::end::Hosts;
use crate::finding::TestCaveat;
use crate::groups::Test;
use crate::registry::{EndReport, InDocuments, Summary, Visitor};
use crate::results::{Beside, Ends};
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
        self.test.plan.visit(Disagreements(self))
    }
}

struct Disagreements<'all>(&'all Findings);

impl Visitor for Disagreements<'_> {
    type Output = Vec<String>;

    fn visit<M: InDocuments>(self, _: &M) -> Vec<String> {
        let ends = M::report(&self.0.client).zip(self.0.server.as_ref().and_then(M::report));
        ends.map(|(here, there)| M::disagreements(here, there)).unwrap_or_default()
    }
}

/// What the plan's own flows came to.
#[derive(Default)]
struct Judged {
    checks: Vec<Check>,
    caveats: Vec<Caveat>,
    verdict: Option<Verdict>,
}

/// The measurement that the findings make.
pub fn measurement(findings: Findings, hosts: &Hosts) -> Measurement {
    let Findings { name, test, substitutions, start_ns, duration_ns, intervals, .. } = findings;
    let (mut client, server) = (findings.client, findings.server);
    let mut summary = Summary::default();
    let beside = Beside { failed_there: &findings.failed_there, hosts };
    let judged = test.plan.visit(Judge {
        client: &mut client,
        server: server.as_ref(),
        intervals: &intervals,
        beside: &beside,
        summary: &mut summary,
    });
    let of_probes = probes::summary(&test, (&mut client, server.as_ref()), &intervals, &beside);
    let mut caveats = Vec::new();
    if server.is_none() {
        caveats.push(Caveat::new(TestCaveat::ServerReportMissing,
            "the server's report never came: what it received is unknown, and nothing is concluded from it",
        ));
    }
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

/// The measurement that is under way: neither end has reported, and nothing is wrong with that.
pub fn unfinished(findings: Findings, hosts: &Hosts) -> Measurement {
    let text = "it was under way when this was saved: its intervals alone are here";
    let caveats = vec![Caveat::new(TestCaveat::Unfinished, text)];
    Measurement { caveats, ..measurement(findings, hosts) }
}

/// Has a mode say what its flows came to.
struct Judge<'all> {
    client: &'all mut EndReport,
    server: Option<&'all EndReport>,
    intervals: &'all [Interval],
    beside: &'all Beside<'all>,
    summary: &'all mut Summary,
}

impl Visitor for Judge<'_> {
    type Output = Judged;

    fn visit<M: InDocuments>(self, plan: &M) -> Judged {
        let Self { client, server, intervals, beside, summary } = self;
        if let Some(own) = M::report_mut(client).as_mut() {
            M::complete(own, server.and_then(M::report), beside);
        }
        let Some(of_client) = client.end(M::report(client)) else { return Judged::default() };
        let of_server = server.and_then(|server| server.end(M::report(server)));
        let ends = Ends { client: of_client, server: of_server, hosts: beside.hosts };
        let came_to = plan.summary(&ends, &client_slices::<M>(intervals));
        let judged = Judged {
            checks: plan.checks(&ends),
            caveats: plan.caveats(&came_to, &ends),
            verdict: plan.verdict(&came_to, &ends),
        };
        let limit = judged.verdict.as_ref().map(|verdict| verdict.limit);
        debug_assert!(
            limit.is_none_or(|limit| M::LIMITS.contains(&limit)),
            "{limit:?} is not listed"
        );
        *M::summary_mut(summary) = Some(came_to);
        judged
    }
}

#[cfg(test)]
mod tests;
