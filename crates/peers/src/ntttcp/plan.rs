//! What a server runs for a sender: what its operator has stated, on as many connections as have come, and for as long as the sender says.

use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::conventions::Framing;
use pathscope_modes::datagrams::{DatagramsPlan, Offload};
use pathscope_modes::goodput::GoodputPlan;
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

/// For how long all senders send that take part in one test, where this end's operator has said so: whatever they ask for.
pub(super) fn stated_cycle(settings: &ServerSettings) -> Option<Period> {
    let stated = settings.stated.as_ref().and_then(Test::stated_duration);
    let seconds = stated.filter(|it| *it < LONGEST).map_or(0, |it| it.0.div_ceil(SECOND_NS));
    let seconds = agreed(seconds, settings.limits.duration_ns);
    (seconds > 0).then(|| Period::from_secs(seconds))
}

/// The test of a sender that has made so many connections, or has so many flows of datagrams of that length, and may send for so long,
/// where that was agreed on.
pub(super) fn planned(
    settings: &ServerSettings,
    (connections, datagram_bytes): (u32, Option<u64>),
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
    let Some(bytes) = datagram_bytes else {
        let test = Test::new(plan.into(), None, stated.report_every_ns);
        limits.check(&test)?;
        in_band::carries(&test)?;
        return Ok(test);
    };
    let test = Test::new(of_datagrams(plan, bytes).into(), None, stated.report_every_ns);
    limits.check_of(&test, Framing::Unnumbered)?;
    Ok(test)
}

/// The same load, carried by datagrams of this length.
fn of_datagrams(plan: GoodputPlan, bytes: u64) -> DatagramsPlan {
    DatagramsPlan {
        pattern: plan.pattern,
        connections: plan.connections,
        extent: plan.extent,
        datagram_bytes: Bytes(bytes),
        rate_bps: None,
        warm_up_ns: plan.warm_up_ns,
        verify: plan.verify,
        offload: Offload::Auto,
        // Whatever is longer than the path takes whole comes in fragments.
        may_fragment: true,
        engine: plan.engine,
        wait: plan.wait,
        sockets: plan.sockets,
        client_cpus: plan.client_cpus,
        server_cpus: plan.server_cpus,
    }
}
