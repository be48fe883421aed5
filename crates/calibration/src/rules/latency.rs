//! Of round trips.

use pathscope_experiments::plan::Tolerance::{Absolute, Relative};
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::figures::Found;

use super::{none_where_sound, percentile};
use crate::cell::UDP_BYTES;
use crate::evidence::{ETHERNET_BYTES, Evidence, PROBE_BYTES, SERVER_STAMPS, TAKEN, Way};
use crate::rule::{Against, NONE, Rule};

const A_STACK_MORE: &str =
    "waking up a program at each end, which a ping that the kernel answers does not need";

const NAMELESS: &str = "damage may leave nothing by which a datagram could be known";

/// Those of pings alone, and of the probes beside a load.
macro_rules! of_any {
    ($group:literal) => {
        &[
            not_below(concat!($group, ".rtt.min"), |it, _| it.least_rtt_ns(0)),
            not_below(concat!($group, ".service.min"), |it, _| it.least_rtt_ns(0)),
            not_below(concat!($group, ".rtt_since_scheduled.min"), |it, _| it.least_rtt_ns(0)),
            not_below(concat!($group, ".one_way.forward.min"), |it, _| one_way(it)),
            not_below(concat!($group, ".one_way.back.min"), |it, _| one_way(it)),
            Rule::exact(concat!($group, ".foreign"), Against::Asked, none_where_sound),
            Rule::exact(concat!($group, ".unreachable"), Against::Asked, |_, _| Some(0.0)),
            Rule::exact(concat!($group, ".corrupt_echoes"), Against::Asked, none_where_sound),
            Rule::exact(concat!($group, ".corrupt"), Against::Asked, none_where_sound),
            // Echoes are whole, so that the client sees all damage but that of what the server writes.
            Rule::exact(concat!($group, ".corrupt_forward"), Against::Ledger, |it, _| {
                Some(it.damages(0, Way::Up, SERVER_STAMPS))
            }),
            when_quiet(concat!($group, ".unsent")),
            when_quiet(concat!($group, ".late")),
            when_quiet(concat!($group, ".socket_drops.client")),
            when_quiet(concat!($group, ".socket_drops.server")),
            Rule::exact(concat!($group, ".rtt.count"), Against::Figures, |it, found| {
                Some(it.sibling(found, "received")? - it.sibling(found, "warm_up")?)
            }),
            Rule::exact(concat!($group, ".rtt.iqr"), Against::Figures, |it, found| {
                between(it, found, 25.0, 75.0)
            }),
            Rule::exact(concat!($group, ".iqr"), Against::Figures, |it, found| {
                between(it, found, 25.0, 75.0)
            }),
            Rule::exact(concat!($group, ".p95_minus_p50"), Against::Figures, |it, found| {
                between(it, found, 50.0, 95.0)
            }),
            Rule::exact(concat!($group, ".pdv"), Against::Figures, above_least),
            Rule::exact(concat!($group, ".deviation"), Against::Figures, |it, found| {
                it.sibling(found, "rtt/standard_deviation_ns")
            }),
            Rule::exact(concat!($group, ".reordered_share"), Against::Figures, |it, found| {
                Some(it.sibling(found, "reordered")? / it.sibling(found, "received")?)
            }),
        ]
    };
}

/// Those that pings and probes have in common.
pub const OF_PINGS: &[Rule] = of_any!("latency");
/// The same of probes.
pub const OF_PROBES: &[Rule] = of_any!("loaded");

/// Those of probes alone.
pub const PROBES: &[Rule] = &[
    Rule {
        below: None,
        above: Some(Absolute(5_000_000.0)),
        reason: "what waits longest waits for full queues, and then for processors that carry a load, too",
        holds_when_busy: false,
        ..Rule::exact("loaded.rtt.max", Against::Links, |it, _| {
            let link = it.cell.conditions.first()?;
            let frame_bits = 8.0 * (it.cell.place.mtu() + ETHERNET_BYTES) as f64;
            let queue_ns = link.queue_packets? as f64 * frame_bits / link.rate_bps? * 1e9;
            Some(2.0 * (link.delay_ns as f64 + queue_ns))
        })
    },
    Rule {
        below: Some(Relative(0.1)),
        above: Some(Relative(0.1)),
        reason: "what is let in finds the queue full but for one place, and probes among the load, which are shorter",
        holds_when_busy: false,
        ..Rule::exact("loaded.rtt.p50", Against::Links, full_queue)
    },
    Rule {
        below: Some(Absolute(6.0)),
        above: Some(NONE),
        reason: "what a flow is opened with is as long as a probe, and in the ledger, too",
        ..Rule::exact("loaded.sent", Against::Ledger, |it, _| {
            Some(it.probes(0, Way::Up)?.offered.frames as f64)
        })
    },
    Rule::exact("loaded.received", Against::Ledger, |it, _| {
        it.echoes(0, |counts| counts.delivered)
    }),
    Rule::exact("loaded.lost_return", Against::Ledger, |it, _| {
        TAKEN.into_iter().map(|of| it.echoes(0, of)).sum()
    }),
    Rule {
        below: None,
        above: Some(NONE),
        reason: "what a flow is opened with is as long as a probe, and in the ledger, too",
        ..Rule::exact("loaded.lost_forward", Against::Ledger, |it, _| {
            let counts = it.probes(0, Way::Up)?;
            Some(TAKEN.into_iter().map(|of| of(&counts).frames).sum::<u64>() as f64)
        })
    },
    Rule::exact("loaded.lost", Against::Figures, |it, found| {
        Some(it.sibling(found, "lost_forward")? + it.sibling(found, "lost_return")?)
    }),
    Rule::exact("loaded.duplicates", Against::Ledger, |it, _| {
        it.echoes(0, |counts| counts.duplicated)
    }),
];

/// Those of pings alone.
pub const RULES: &[Rule] = &[
    Rule {
        below: Some(NONE),
        above: Some(Absolute(300_000.0)),
        reason: A_STACK_MORE,
        holds_when_busy: false,
        ..Rule::exact("latency.rtt.min", Against::Links, |it, _| {
            is_unhurried(it).then_some(it.least_rtt_ns(0)?)
        })
    },
    not_below("latency.parts.wire.min", |it, _| it.least_rtt_ns(0)),
    Rule {
        below: None,
        above: Some(Absolute(50_000.0)),
        reason: "what both ends' stacks and wake-ups took is taken off by the kernels' stamps",
        holds_when_busy: false,
        ..Rule::exact("latency.parts.wire.p50", Against::Ping, |it, _| Some(it.ping_ns?.1))
    },
    Rule {
        below: None,
        above: Some(Absolute(300_000.0)),
        reason: A_STACK_MORE,
        holds_when_busy: false,
        ..Rule::exact("latency.rtt.p50", Against::Ping, |it, _| {
            is_unhurried(it).then_some(it.ping_ns?.1)
        })
    },
    Rule::exact("latency.sent", Against::Samples, |it, _| Some(it.pings()?.sent())),
    Rule::exact("latency.unsent", Against::Samples, |it, _| {
        Some(it.cell.asked.number? as f64 - it.pings()?.sent())
    }),
    Rule::exact("latency.received", Against::Samples, |it, _| {
        Some(it.pings()?.answered + it.pings()?.warm_up)
    }),
    Rule::exact("latency.sent", Against::Ledger, |it, _| {
        pings(it, Way::Up, |counts| counts.offered)
    }),
    Rule::exact("latency.received", Against::Ledger, |it, _| {
        // Of one that comes twice the second is a duplicate.
        let delivered = pings(it, Way::Down, |counts| counts.delivered)?;
        let again = pings(it, Way::Up, |counts| counts.duplicated)?;
        let twice = again + pings(it, Way::Down, |counts| counts.duplicated)?;
        Some(delivered - twice - drops(it, "client")? - damaged_echoes(it)?)
    }),
    Rule::exact("latency.lost", Against::Ledger, |it, found| {
        let taken = lost_on_the_way(it, Way::Up)? + lost_on_the_way(it, Way::Down)?;
        // Of a damaged one nobody may know which it was.
        let nameless = damaged_echoes(it)? - it.sibling(found, "corrupt")?;
        Some(taken + unanswered(it)? + nameless)
    }),
    Rule::exact("latency.lost_forward", Against::Ledger, |it, _| {
        Some(lost_on_the_way(it, Way::Up)? + unanswered(it)?)
    }),
    Rule::exact("latency.lost_return", Against::Ledger, |it, found| {
        let nameless = damaged_echoes(it)? - it.sibling(found, "corrupt")?;
        Some(lost_on_the_way(it, Way::Down)? + nameless)
    }),
    Rule::exact("latency.corrupt_echoes", Against::Ledger, |it, found| {
        // What is no datagram of ours any more is foreign.
        Some(damaged_echoes(it)? - it.sibling(found, "foreign")?)
    }),
    Rule::at_most("latency.foreign", Against::Ledger, NAMELESS, |it, _| {
        pings(it, Way::Down, |counts| counts.corrupted)
    }),
    Rule::at_most(
        "latency.corrupt",
        Against::Figures,
        "each of them came at least once",
        |it, found| it.sibling(found, "corrupt_echoes"),
    ),
    Rule::exact("latency.duplicates", Against::Ledger, |it, _| {
        let there = pings(it, Way::Up, |counts| counts.duplicated)?;
        // Doubled on their way there, they come back twice.
        Some(there + pings(it, Way::Down, |counts| counts.duplicated)?)
    }),
    Rule::exact("latency.reordered_forward", Against::Ledger, |it, _| {
        pings(it, Way::Up, |counts| counts.reordered)
    }),
    Rule::exact("latency.reordered_return", Against::Ledger, |it, _| {
        pings(it, Way::Down, |counts| counts.reordered)
    }),
    Rule::exact("latency.warm_up", Against::Samples, |it, _| Some(it.pings()?.warm_up)),
    Rule::exact("latency.corrupt", Against::Samples, |it, _| Some(it.pings()?.corrupt)),
    Rule::exact("latency.lost", Against::Samples, |it, _| Some(it.pings()?.lost)),
    Rule::exact("latency.reordered", Against::Samples, |it, _| Some(it.pings()?.reordered)),
    Rule::exact("latency.reordering.max", Against::Samples, |it, _| {
        Some(it.pings()?.longest_extent)
    }),
    Rule::by_sums("latency.reordering.mean", |it, _| {
        let pings = it.pings()?;
        (pings.reordered > 0.0).then(|| pings.extents / pings.reordered)
    }),
    Rule::extremes("latency.rtt", rtt),
    Rule::sums("latency.rtt", rtt),
    Rule::percentiles("latency.rtt", rtt),
    Rule::extremes("latency.rtt_since_scheduled", since_scheduled),
    Rule::sums("latency.rtt_since_scheduled", since_scheduled),
    Rule::percentiles("latency.rtt_since_scheduled", since_scheduled),
    Rule::extremes("latency.service", service),
    Rule::sums("latency.service", service),
    Rule::percentiles("latency.service", service),
    Rule::extremes("latency.send_lag", send_lag),
    Rule::sums("latency.send_lag", send_lag),
    Rule::percentiles("latency.send_lag", send_lag),
    Rule::extremes("latency.server_residence", residence),
    Rule::sums("latency.server_residence", residence),
    Rule::percentiles("latency.server_residence", residence),
    // What is no time on the way is the server's.
    Rule::by_parts("latency.one_way.forward.mean", |it, found| {
        Some(
            mean(it, found, "rtt")?
                - mean(it, found, "server_residence")?
                - mean(it, found, "one_way/back")?,
        )
    }),
    Rule::by_parts("latency.one_way.back.mean", |it, found| {
        Some(
            mean(it, found, "rtt")?
                - mean(it, found, "server_residence")?
                - mean(it, found, "one_way/forward")?,
        )
    }),
    Rule::exact("latency.parts.of", Against::Samples, |it, _| Some(it.pings()?.answered)),
    Rule::exact("latency.parts.implausible", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("latency.parts.client_clock_steps", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("latency.parts.server_clock_steps", Against::Asked, |_, _| Some(0.0)),
    stamped("latency.parts.client_send.count"),
    stamped("latency.parts.wire.count"),
    stamped("latency.parts.server_receive.count"),
    stamped("latency.parts.server_residence.count"),
    stamped("latency.parts.server_send.count"),
    stamped("latency.parts.client_receive.count"),
];

/// The round trip of a probe that is let in where datagrams of one size overload its link: behind a queue of them.
fn full_queue(it: &Evidence<'_>, _: &Found) -> Option<f64> {
    it.cell.setting("probes").filter(|_| it.cell.is_impaired())?;
    let link = it.cell.conditions.first()?;
    let rate_bps = link.rate_bps?;
    let header_bytes = ETHERNET_BYTES + it.cell.family.header_bytes() + UDP_BYTES;
    let frame_ns = |payload: u64| 8e9 * (payload + header_bytes) as f64 / rate_bps;
    let queue_ns = link.queue_packets? as f64 * frame_ns(it.cell.asked.bytes?);
    Some(2.0 * (link.delay_ns as f64 + frame_ns(PROBE_BYTES)) + queue_ns)
}

/// Nothing is sooner than the links allow, on any machine.
const fn not_below(figure: &'static str, truth: fn(&Evidence<'_>, &Found) -> Option<f64>) -> Rule {
    Rule {
        below: Some(NONE),
        above: None,
        reason: "nothing comes sooner than the links allow",
        ..Rule::exact(figure, Against::Links, truth)
    }
}

/// What a machine that has nothing else to do never has.
const fn when_quiet(figure: &'static str) -> Rule {
    Rule { holds_when_busy: false, ..Rule::exact(figure, Against::Asked, |_, _| Some(0.0)) }
}

/// A part has as many samples as there are pings with all stamps.
const fn stamped(figure: &'static str) -> Rule {
    Rule::exact(figure, Against::Figures, |it, found| it.sibling(found, "parts/pings"))
}

fn rtt(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.pings()?.rtt.statistic(found.statistic.as_deref()?)
}

fn since_scheduled(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.pings()?.since_scheduled.statistic(found.statistic.as_deref()?)
}

fn send_lag(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.pings()?.send_lag.statistic(found.statistic.as_deref()?)
}

fn residence(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.pings()?.residence.statistic(found.statistic.as_deref()?)
}

fn service(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    it.pings()?.service.statistic(found.statistic.as_deref()?)
}

/// The mean of a distribution of the same group.
fn mean(it: &Evidence<'_>, found: &Found, name: &str) -> Option<f64> {
    it.sibling(found, &format!("{name}/mean_ns"))
}

/// From one percentile of round trips to another, as they are stated.
fn between(it: &Evidence<'_>, found: &Found, low: f64, high: f64) -> Option<f64> {
    let stated = it.beside(found, "rtt")?;
    Some(percentile(stated, high)? - percentile(stated, low)?)
}

/// A percentile of round trips above the least of them.
fn above_least(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    let place = format!("rtt/percentiles/{}/value_ns", found.entry?);
    Some(it.sibling(found, &place)? - it.sibling(found, "rtt/min_ns")?)
}

/// Pings that are counted so in the ledger, where all are told apart.
fn pings(it: &Evidence<'_>, way: Way, of: fn(&Counts) -> Tally) -> Option<f64> {
    it.datagrams(0, way, of, it.cell.asked.bytes?, &[way.opening_bytes()])
}

/// Pings that came to the server and that it did not answer, since their damage left nothing that could be known.
fn unanswered(it: &Evidence<'_>) -> Option<f64> {
    if !it.cell.is_damaged() {
        return Some(0.0);
    }
    let came = pings(it, Way::Up, |counts| counts.delivered)?;
    Some(came - pings(it, Way::Down, |counts| counts.offered)? - drops(it, "server")?)
}

/// Echoes that came back with other bytes: damaged on their way, or those of damaged pings. No link damages both ways.
fn damaged_echoes(it: &Evidence<'_>) -> Option<f64> {
    let there = pings(it, Way::Up, |counts| counts.corrupted)?;
    let back = pings(it, Way::Down, |counts| counts.corrupted)?;
    let seen = there - unanswered(it)? + back;
    // Within a round trip a server's stamps can be anything, so that damage there may be told as none.
    let told = it.measurement.pointer("/summary/latency/corrupt_echoes")?.as_f64()?;
    let foreign = it.measurement.pointer("/summary/latency/foreign")?.as_f64()?;
    let unseen = seen - told - foreign;
    Some(seen - unseen.clamp(0.0, it.damages(0, Way::Down, SERVER_STAMPS)))
}

fn lost_on_the_way(it: &Evidence<'_>, way: Way) -> Option<f64> {
    let lost: Option<f64> = TAKEN.into_iter().map(|of| pings(it, way, of)).sum();
    // Whose socket had no room is in no ledger.
    Some(lost? + drops(it, if way == Way::Up { "server" } else { "client" })?)
}

/// What the sockets of an end dropped, where that is known.
fn drops(it: &Evidence<'_>, end: &str) -> Option<f64> {
    it.measurement.pointer(&format!("/summary/latency/socket_drops/{end}"))?.as_f64()
}

fn one_way(it: &Evidence<'_>) -> Option<f64> {
    it.cell.conditions.first().map(|it| it.delay_ns as f64)
}

/// Whether pings are few enough that none waits for another.
fn is_unhurried(it: &Evidence<'_>) -> bool {
    let is_few = matches!(it.cell.setting("schedule"), Some("2/s" | "50/s" | "closed"));
    is_few && it.cell.asked.flows == 1 && it.cell.asked.bytes.is_some_and(|bytes| bytes <= 1_400)
}
