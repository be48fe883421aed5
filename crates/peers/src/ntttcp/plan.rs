//! What a server runs for a sender: what its operator has stated, on as many connections as have come, and for as long as the sender says.

use pathscope_core::quantity::Period;
use pathscope_modes::groups::Test;
use pathscope_modes::load::Extent;
use pathscope_modes::registry::Plan;

use crate::dialogue::ServerSettings;
use crate::{Refusal, in_band};

/// A test lasts no longer than a year.
const LONGEST: Period = Period::from_secs(365 * 86_400);
const SECOND_NS: u64 = 1_000_000_000;

/// For how many seconds a sender is told to send that asks for so many; 0: until it is ended, which is no longer than this end allows.
pub(super) fn agreed(seconds: u64, longest: Option<Period>) -> u64 {
    match (seconds, longest) {
        (0, Some(longest)) => longest.0 / SECOND_NS,
        (seconds, _) => seconds,
    }
}

/// The test of a sender that has made so many connections and may send for so long, where that was agreed on.
pub(super) fn planned(
    settings: &ServerSettings,
    connections: u32,
    cycle: Option<Period>,
) -> Result<Test, Refusal> {
    let unstated = || Refusal::new("unable", "it was not told how such senders are served");
    let ServerSettings { stated, limits, .. } = settings;
    let stated = stated.as_ref().ok_or_else(unstated)?;
    let Plan::Goodput(mut plan) = stated.plan.clone() else { return Err(unstated()) };
    plan.connections = connections;
    if let Extent::DurationNs(measured) = plan.extent {
        let duration = measured.min(cycle.or(limits.duration_ns).unwrap_or(LONGEST));
        plan.extent = Extent::DurationNs(duration);
        // Where nothing would be left to measure, all of it is.
        if plan.warm_up_ns >= duration {
            plan.warm_up_ns = Period(0);
        }
    }
    let test = Test::new(plan.into(), None, stated.report_every_ns);
    limits.check(&test)?;
    in_band::carries(&test)?;
    Ok(test)
}
