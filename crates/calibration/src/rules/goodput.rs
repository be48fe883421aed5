//! Of goodput over TCP.

use pathscope_experiments::plan::Tolerance::{Absolute, Relative};
use pathscope_lab::link::Counts;
use pathscope_modes::figures::Found;

use crate::evidence::{Evidence, TCP, Way};
use crate::rule::{Against, NONE, Rule};

/// Streams that share a line without waiting for timers.
const FEW_STREAMS: u64 = 8;

/// Of a run of stated duration; a tenth of it, where that is less.
const LONGEST_WARM_UP_NS: f64 = 5e8;

const OPENINGS: &str = "what connections say when they are opened is in the ledger, too";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        below: None,
        above: Some(Relative(0.001)),
        reason: "a line carries no more, but for a window that the first frame opens up to 1 ms late",
        // Where others have work to do, it is opened later.
        holds_when_busy: false,
        ..Rule::exact("goodput.rate", Against::Links, line)
    },
    Rule {
        below: Some(Relative(0.15)),
        above: None,
        reason: "a few streams need most of a second to fill a line, and one way alone is filled; of a hundred some wait for timers all the time",
        holds_when_busy: false,
        ..Rule::exact("goodput.rate", Against::Links, |it, found| {
            let is_one_way = matches!(it.cell.setting("pattern"), Some("push" | "pull"));
            let is_timed = it.cell.setting("until") == Some("time");
            let are_few = it.cell.asked.flows <= FEW_STREAMS;
            line(it, found).filter(|_| is_one_way && is_timed && are_few)
        })
    },
    Rule {
        below: Some(Relative(0.02)),
        above: Some(Relative(0.02)),
        reason: "rates are kept by parts of 1 ms, and the window ends between two of them",
        holds_when_busy: false,
        ..Rule::exact("goodput.rate", Against::Asked, |it, _| it.cell.asked.rate_bps)
    },
    Rule::exact("goodput.sent", Against::Asked, |it, _| {
        it.cell.asked.transfer_bytes.map(|bytes| bytes as f64)
    }),
    Rule::exact("goodput.received", Against::Asked, |it, _| {
        it.cell.asked.transfer_bytes.map(|bytes| bytes as f64)
    }),
    Rule::exact("goodput.received", Against::Figures, |it, found| it.sibling(found, "sent_bytes")),
    Rule {
        below: Some(Relative(0.01)),
        above: Some(NONE),
        reason: OPENINGS,
        ..Rule::exact("goodput.received", Against::Ledger, |it, found| {
            let counts = it.counts(0, Way::of(found)?, TCP)?;
            // What had to be sent again came twice, and what reports a gap is longer.
            let other = if Way::of(found)? == Way::Up { Way::Down } else { Way::Up };
            let is_whole = |counts: Counts| counts.dropped.frames == 0 && counts.lost.frames == 0;
            let is_once = is_whole(counts) && is_whole(it.counts(0, other, TCP)?);
            // Where nobody had a turn there is nothing but what opens connections and ends them.
            let is_sent = it.sibling(found, "sent_bytes")? > 0.0;
            (is_once && is_sent).then_some(it.stream_bytes(counts.delivered) as f64)
        })
    },
    Rule::at_most(
        "goodput.received",
        Against::Ledger,
        "nothing comes that was not carried",
        |it, found| Some(it.stream_bytes(it.counts(0, Way::of(found)?, TCP)?.delivered) as f64),
    ),
    Rule {
        below: Some(Relative(0.12)),
        above: None,
        reason: "what the link took had to be sent again, but for what opens and ends connections and for copies of what had come; a sender may send more",
        holds_when_busy: false,
        ..Rule::exact("goodput.retransmits", Against::Ledger, |it, _| {
            // What the other way carries beside data are acknowledgements, which nobody sends again.
            let way = match it.cell.setting("pattern")? {
                "push" => Way::Up,
                "pull" => Way::Down,
                _ => return None,
            };
            let data = it.counts(0, way, TCP)?;
            let taken = data.lost.frames + data.dropped.frames;
            // Of few the last ones of each connection are a large share.
            (taken >= 200).then_some(taken as f64)
        })
    },
    Rule {
        below: None,
        above: Some(NONE),
        reason: "what came did so while the test went on at the receiver's end",
        ..Rule::exact("goodput.window", Against::Figures, |it, found| {
            let end = if Way::of(found)? == Way::Up { "server" } else { "client" };
            it.measurement.pointer(&format!("/{end}/elapsed_ns"))?.as_f64()
        })
    },
    Rule {
        below: None,
        above: Some(Absolute(10e6)),
        reason: "it is in the time that was asked for, less the warm-up, whatever comes later; workers begin up to 10 ms apart",
        holds_when_busy: false,
        ..Rule::exact("goodput.window", Against::Asked, |it, _| {
            let is_timed = it.cell.setting("until") == Some("time");
            let duration_ns = it.cell.duration.0 as f64;
            is_timed.then_some(duration_ns - (duration_ns / 10.0).min(LONGEST_WARM_UP_NS))
        })
    },
    Rule {
        below: Some(Relative(1e-9)),
        above: None,
        reason: "no fastest is below the slowest",
        ..Rule::exact("goodput.fastest", Against::Figures, |it, found| {
            it.sibling(found, "slowest_bps")
        })
    },
    Rule {
        below: None,
        above: Some(NONE),
        reason: "a worker is part of a test",
        ..Rule::exact("end.worker.elapsed", Against::Figures, |it, found| {
            it.measurement.pointer(&format!("/{}/elapsed_ns", found.side?))?.as_f64()
        })
    },
    Rule {
        below: None,
        above: Some(Relative(1e-9)),
        reason: "no middle is above the fastest",
        ..Rule::exact("goodput.median", Against::Figures, |it, found| {
            it.sibling(found, "fastest_bps")
        })
    },
    Rule {
        below: None,
        above: Some(Relative(1e-9)),
        reason: "no slowest is above the middle",
        ..Rule::exact("goodput.slowest", Against::Figures, |it, found| {
            it.sibling(found, "median_bps")
        })
    },
    Rule {
        below: Some(Relative(1e-9)),
        above: None,
        reason: "Jain's index of n connections is no less than 1/n",
        ..Rule::exact("goodput.fairness", Against::Asked, |it, _| {
            Some(1.0 / it.cell.asked.flows as f64)
        })
    },
    Rule {
        below: None,
        above: Some(Relative(1e-9)),
        reason: "Jain's index is 1 where all are equal, and else less",
        ..Rule::exact("goodput.fairness", Against::Figures, |_, _| Some(1.0))
    },
    Rule::exact("goodput.address.completed", Against::Asked, |it, _| {
        Some(it.cell.asked.flows as f64)
    }),
    Rule::exact("goodput.address.failed", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.address.cut", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.address.sent", Against::Figures, |it, _| of_ways(it, "up", "sent_bytes")),
    Rule::exact("goodput.address.received", Against::Figures, |it, _| {
        of_ways(it, "down", "received_bytes")
    }),
    Rule {
        below: Some(NONE),
        above: None,
        reason: "a connection takes a round trip to be established",
        ..Rule::exact("end.connect.min", Against::Links, |it, found| {
            (found.side == Some("client")).then_some(it.least_rtt_ns(0)?)
        })
    },
    Rule {
        below: Some(NONE),
        above: None,
        reason: "a test is not over before its time",
        ..Rule::exact("end.elapsed", Against::Asked, |it, found| {
            // The end that sends has the time, counted from its own begin.
            let senders: &[&str] = match it.cell.setting("pattern")? {
                "push" => &["client"],
                "pull" => &["server"],
                "duplex" | "bidir" => &["client", "server"],
                _ => &[],
            };
            let is_timed = it.cell.setting("until") == Some("time");
            (is_timed && senders.contains(&found.side?)).then_some(it.cell.duration.0 as f64)
        })
    },
    Rule::exact("goodput.connections", Against::Asked, |it, _| Some(it.cell.asked.flows as f64)),
    Rule::exact("goodput.completed", Against::Asked, |it, _| Some(it.cell.asked.flows as f64)),
    Rule::exact("goodput.failed", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.unknown", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.cut", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.failures.network", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.failures.protocol", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("goodput.failures.data", Against::Asked, |_, _| Some(0.0)),
];

/// The most that the line carries, where streams fill it.
fn line(it: &Evidence<'_>, _: &Found) -> Option<f64> {
    let conditions = it.cell.conditions.first().filter(|_| it.cell.asked.rate_bps.is_none())?;
    conditions.rate_bps.map(|rate| it.most_stream_bps(rate))
}

/// What a client has of one direction; nothing where it has none.
fn of_ways(it: &Evidence<'_>, way: &str, name: &str) -> Option<f64> {
    let summary = it.measurement.pointer("/summary/goodput")?;
    Some(summary[way][name].as_f64().unwrap_or(0.0))
}
