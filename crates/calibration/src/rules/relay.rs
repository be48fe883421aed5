//! Which truth the relay is held to, and what is held to others than the relay in its stead.

use pathscope_experiments::plan::Tolerance::{Absolute, Relative};
use pathscope_lab::link::Tally;
use pathscope_modes::figures::Found;

use crate::cell::Conditions;
use crate::evidence::{Evidence, TCP, UDP, Way};
use crate::rule::{Against, Rule};
use crate::samples::Durations;

const NEVER_EARLY: &str = "nothing comes sooner than the link's delay and its own transmission";
const PUNCTUAL: &str = "a thread that is woken for each frame, on processors that others use, too; beyond 1 ms a lab is invalid";
const SAME_FRAMES: &str = "the ledger's time ends when a batch is handed over, and captures begin before the relay's own stamp";
const ON_THE_WIRE: &str = "the wire is a part of what a program sees";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule::exact("relay.offered", Against::Counters, |it, found| {
        Some(interfaces(it, found)?[0].frames as f64)
    }),
    Rule::exact("relay.offered.bytes", Against::Counters, |it, found| {
        Some(interfaces(it, found)?[0].bytes as f64)
    }),
    Rule::exact("relay.delivered", Against::Counters, |it, found| {
        Some(interfaces(it, found)?[1].frames as f64)
    }),
    Rule::exact("relay.delivered.bytes", Against::Counters, |it, found| {
        Some(interfaces(it, found)?[1].bytes as f64)
    }),
    filtered("relay.udp.offered", |it, found| Some(packets(it, found, UDP, true)?.0)),
    filtered("relay.udp.offered.bytes", |it, found| Some(packets(it, found, UDP, true)?.1)),
    filtered("relay.udp.delivered", |it, found| Some(packets(it, found, UDP, false)?.0)),
    filtered("relay.udp.delivered.bytes", |it, found| Some(packets(it, found, UDP, false)?.1)),
    filtered("relay.tcp.delivered", |it, found| Some(packets(it, found, TCP, false)?.0)),
    filtered("relay.tcp.delivered.bytes", |it, found| Some(packets(it, found, TCP, false)?.1)),
    Rule::at_least("relay.one_way.min", Against::Links, NEVER_EARLY, |it, found| {
        let (link, way) = place(it, found)?;
        let above = it.witnesses.crossing.as_ref()?.above_least(way, link);
        Some(found.number - above.statistic("min")?)
    }),
    late("relay.one_way.p50", 150_000.0),
    late("relay.one_way.p99", 600_000.0),
    same("relay.lateness.p50", 50_000.0),
    same("relay.lateness.p99", 300_000.0),
    Rule::at_least("latency.rtt.min", Against::Captures, ON_THE_WIRE, |it, _| {
        it.witnesses.round_trips.as_ref()?.wire.statistic("min")
    }),
    Rule::at_least("latency.rtt.mean", Against::Captures, ON_THE_WIRE, |it, found| {
        let wire = &it.witnesses.round_trips.as_ref()?.wire;
        // Of pings that are left out the wire does not know.
        let is_same = it.sibling(found, "rtt/count") == wire.statistic("count");
        wire.statistic("mean").filter(|_| is_same)
    }),
    Rule {
        below: None,
        above: Some(Absolute(50_000.0)),
        reason: "what both ends' stacks and wake-ups took is taken off by captures at both interfaces",
        holds_when_busy: false,
        ..Rule::exact("latency.rtt.p50", Against::Ping, |it, found| {
            let path = it.witnesses.round_trips.as_ref()?.path.statistic("p50")?;
            // What the ends took is the rest.
            Some(it.ping_ns?.1 + (found.number - path)).filter(|_| is_alone_on_the_way(it))
        })
    },
    shaped("datagrams.rate", 0.01),
    shaped("goodput.rate", 0.05),
];

const fn filtered(figure: &'static str, truth: fn(&Evidence<'_>, &Found) -> Option<f64>) -> Rule {
    Rule::exact(figure, Against::Filter, truth)
}

/// By how much frames come later than they have to, each behind those before it.
const fn late(figure: &'static str, most_ns: f64) -> Rule {
    Rule {
        below: None,
        above: Some(Absolute(most_ns)),
        reason: PUNCTUAL,
        holds_when_busy: false,
        ..Rule::exact(figure, Against::Links, |it, found| {
            Some(found.number - excess(it, found)?.statistic(found.statistic.as_deref()?)?)
        })
    }
}

/// How late the relay says that it was beside how late frames were.
const fn same(figure: &'static str, most_ns: f64) -> Rule {
    Rule {
        below: Some(Absolute(most_ns)),
        above: Some(Absolute(most_ns)),
        reason: SAME_FRAMES,
        holds_when_busy: false,
        ..Rule::exact(figure, Against::Captures, |it, found| {
            excess(it, found)?.statistic(found.statistic.as_deref()?)
        })
    }
}

/// What the same programs measured where the kernel shaped the link.
const fn shaped(figure: &'static str, share: f64) -> Rule {
    Rule {
        below: Some(Relative(share)),
        above: Some(Relative(share)),
        reason: "both carry what the rate allows, and windows end between two packets",
        holds_when_busy: false,
        ..Rule::exact(figure, Against::Shaper, |it, found| {
            let place = found.group.place_of(found.figure).replace('.', "/");
            let place = place.replace("{way}", found.side?);
            it.witnesses.shaped.as_ref()?.pointer(&format!("/{place}"))?.as_f64()
        })
    }
}

fn interfaces(it: &Evidence<'_>, found: &Found) -> Option<[Tally; 2]> {
    let link = it.witnesses.counters.get(found.entry?)?;
    Some(link.of(usize::from(Way::of(found)? == Way::Down)))
}

fn packets(it: &Evidence<'_>, found: &Found, protocol: u8, is_offered: bool) -> Option<(f64, f64)> {
    let filtered = it.witnesses.filtered.as_ref()?;
    let (packets, bytes) = filtered.frames(protocol, Way::of(found)?, is_offered)?;
    Some((packets as f64, bytes as f64))
}

fn place<'cell>(it: &Evidence<'cell>, found: &Found) -> Option<(&'cell Conditions, Way)> {
    Some((it.cell.conditions.get(found.entry?)?, Way::of(found)?))
}

/// Absent where a link without a rate is given dozens of frames at once, as the fragments of a long datagram are: to hand these over
/// takes the relay longer than the conditions say, and its ledger has the end of that for all of them.
fn excess(it: &Evidence<'_>, found: &Found) -> Option<Durations> {
    const MOST_AT_ONCE: u64 = 8;
    let (link, way) = place(it, found)?;
    // All flows of a cell keep one schedule.
    let of_each = it.cell.ping_bytes.unwrap_or(0).div_ceil(it.cell.place.mtu());
    let at_once = of_each.saturating_mul(it.cell.asked.flows);
    if link.rate_bps.is_none() && at_once > MOST_AT_ONCE {
        return None;
    }
    Some(it.witnesses.crossing.as_ref()?.excess(way, link))
}

/// Whether no ping waits for another on its way.
fn is_alone_on_the_way(it: &Evidence<'_>) -> bool {
    let is_few = matches!(it.cell.setting("schedule"), Some("2/s" | "50/s" | "2000/s"));
    // Segments of a long message wait for TCP's turns, which a ping of as many fragments does not.
    let is_in_one = it.cell.ping_bytes.is_some_and(|bytes| it.cell.is_whole(bytes));
    is_few && is_in_one && it.cell.asked.flows <= 8
}
