//! What the ends of a multipath test say, and what that comes to.

use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::record::{Caveat, Check};
use pathscope_core::stats::Distribution;

use super::figures::GROUP;
use super::findings::{MultipathCaveat, MultipathCheck};
use super::losses::LossesOverTime;
use super::{
    MultipathInterval, MultipathPlan, MultipathReport, MultipathSummary, PathInterval, PathReport,
    caveats,
};
use crate::amounts::{Amounts, Moved};
use crate::end::EndedConnections;
use crate::figure::Group;
use crate::results::{Ends, Results, Slice};

impl Results for MultipathPlan {
    type Interval = MultipathInterval;
    type Report = MultipathReport;
    type Summary = MultipathSummary;

    const FIGURES: &'static [Group] = &[GROUP];
    const CHECKS: &'static [FindingDefinition] = MultipathCheck::ALL;
    const CAVEATS: &'static [FindingDefinition] = MultipathCaveat::ALL;

    fn has_moved(interval: &MultipathInterval) -> bool {
        interval.paths.iter().any(|path| path.received > 0)
    }

    fn amounts_in(interval: &MultipathInterval, _: Option<EndedConnections>) -> Amounts {
        let sum = |count: fn(&PathInterval) -> u64| Moved {
            datagrams: interval.paths.iter().map(count).fold(0, u64::saturating_add),
            ..Moved::default()
        };
        let (sent, received) = (sum(|path| path.sent), sum(|path| path.received));
        Amounts { sent, received, ..Amounts::default() }
    }

    fn amounts(report: &MultipathReport) -> Amounts {
        let sum = |count: fn(&PathReport) -> u64| Moved {
            datagrams: report.paths.iter().map(count).fold(0, u64::saturating_add),
            ..Moved::default()
        };
        let (sent, received) = (sum(|path| path.sent), sum(|path| path.received));
        Amounts { sent, received, ..Amounts::default() }.with_error(report.error.as_ref())
    }

    fn halve(report: &mut MultipathReport) {
        let transitions = report.transitions.len();
        report.transitions.truncate(transitions / 2);
        report.transitions_omitted += (transitions - report.transitions.len()) as u64;
        for path in &mut report.paths {
            path.gaps.told.truncate(path.gaps.told.len() / 2);
            path.lost_over_time.iter_mut().for_each(LossesOverTime::halve);
        }
        report.lost_over_time.iter_mut().for_each(LossesOverTime::halve);
        let paths = report.paths.iter_mut().map(|path| &mut path.latency);
        let policies = report.policies.iter_mut().map(|policy| &mut policy.latency);
        [&mut report.effective, &mut report.paired_effective, &mut report.send_lag]
            .into_iter()
            .chain(paths)
            .chain(policies)
            .flatten()
            .for_each(Distribution::halve);
    }

    fn summary(&self, ends: &Ends<'_, Self>, _: &[Slice<'_, Self>]) -> Self::Summary {
        MultipathSummary::of(self.datagram_bytes.0, ends.of_client(), ends.of_server())
    }

    fn checks(&self, ends: &Ends<'_, Self>) -> Vec<Check> {
        let worked = caveats::worked(self, ends.of_client());
        [caveats::verified(ends)].into_iter().chain(worked).collect()
    }

    fn caveats(&self, summary: &MultipathSummary, ends: &Ends<'_, Self>) -> Vec<Caveat> {
        caveats::caveats(self, summary, ends)
    }
}
