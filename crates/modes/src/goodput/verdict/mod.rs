//! What limited a goodput test, and how that is known.
//!
//! Rules, in this order; the first that holds is the verdict, and all their figures are its evidence:
//! the configured rate was reached; a worker thread of one end used its processor up, or waited for one most of the time (a
//! quota, or other programs); the program of one end stood still a good part of the time; both ends share a machine whose
//! processors were used up; the plan's own pauses between bursts kept the sender from sending; the sender waited for the
//! receiver's window, or for room in its own send buffer; in turns, each end waited for the other; data waited for the
//! path. Who waited for what is seen at the sockets while they run ([`SendSamples`]), and where nobody looked it is what
//! the kernel says of the whole run (`TCP_INFO`). Shares below a threshold give no verdict rather than a guess, and one that
//! other thresholds would change is told as not sure.
//!
//! [`SendSamples`]: pathscope_core::sending::SendSamples

mod bounds;
mod doubt;
mod evidence;
mod facts;
mod limit;
mod text;

#[cfg(test)]
mod tests;

use pathscope_core::record::Verdict;

use self::facts::Facts;
use super::{GoodputPlan, GoodputSummary};
use crate::results::End;

/// What one end says.
type GoodputEnd<'end> = &'end End<'end, GoodputPlan>;

/// The verdict on a test of `plan`. `shared_cpus`: the processors that both ends share, where they are on
/// one machine.
pub fn verdict(
    plan: &GoodputPlan,
    summary: &GoodputSummary,
    (client, server): (GoodputEnd<'_>, GoodputEnd<'_>),
    shared_cpus: Option<u32>,
) -> Verdict {
    // Of two directions, the slower one is explained.
    let [up, down] = [summary.up, summary.down].map(|way| way?.goodput_bps);
    let is_down = down.is_some_and(|down| up.is_none_or(|up| down < up));
    let ends = if is_down { (server, client) } else { (client, server) };
    let facts = Facts::of(plan, summary, ends, shared_cpus);
    let limit = facts.limit();
    let verdict = Verdict::new(limit, facts.text(limit), facts.evidence());
    verdict.doubted(&facts.doubts(limit)).decided_by(&facts.deciding(limit))
}
