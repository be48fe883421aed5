//! Of streams of frames. Single frames are known of the direction to the client alone, which writes them down.
//!
//! In one file: its rules are one flat table.

use std::collections::BTreeMap;

use pathscope_experiments::plan::Tolerance::{Absolute, Relative};
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::figures::Found;
use serde_json::Value;

use super::datagrams::Runs;
use super::none_where_sound;
use crate::evidence::{CONSENT_BYTES, Evidence, TAKEN, Way};
use crate::rule::{Against, Rule};
use crate::samples::Durations;
use crate::samples::frames::{Ended, Frames, Losses, RESOLUTION_NS, Variation};

/// A histogram's: three significant digits.
const RESOLUTION: f64 = 0.001;
/// A copy comes right behind its datagram. So long after a frame was whole, none comes any more.
const COPIES_NS: f64 = 1e8;

const BY_FILE: &str = "the file has whole microseconds";
const BY_FRAMES: &str = "the file says how many of a frame are missing, and not which";
const FROM_LEAST: &str = "when a stream began is known by the least of its lags alone";
const FROM_LEAST_BY_HISTOGRAM: &str = "histograms have three significant digits; when a stream began is known by the least of its lags alone";
const SMOOTHED: &str =
    "it smooths the same differences: a sixteenth of each at first, never more than all";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule::exact("media.frames.planned", Against::Asked, |it, _| {
        it.cell.asked.number.map(|frames| frames as f64)
    }),
    Rule::exact("media.frames.sent", Against::Figures, |it, found| {
        Some(it.sibling(found, "frames_planned")? - it.sibling(found, "frames_unsent")?)
    }),
    Rule::exact("media.frames.never_left", Against::Asked, |it, found| {
        Some(it.cell.asked.number? as f64 - it.sibling(found, "frames_sent")?)
    }),
    Rule::exact("media.sent", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.offered)
    }),
    Rule::exact("media.sent", Against::Figures, |it, found| {
        Some(per_frame(it)? as f64 * it.sibling(found, "frames_sent")?)
    }),
    Rule::exact("media.received", Against::Ledger, |it, found| {
        let delivered = counted(it, found, |counts| counts.delivered)?;
        let doubled = counted(it, found, |counts| counts.duplicated)?;
        let damaged = counted(it, found, |counts| counts.corrupted)?;
        Some(delivered - doubled - damaged - it.sibling(found, "lost_in_socket")?)
    }),
    Rule::exact("media.received", Against::Samples, |it, found| {
        frames(it, found)?.came(per_frame(it)?)
    }),
    Rule::exact("media.lost", Against::Ledger, lost),
    Rule::exact("media.lost", Against::Figures, |it, found| {
        // What came damaged and no other way is neither lost nor received.
        let spoilt = receiver(it, found)?.get("spoilt_datagrams")?.as_f64()?;
        let received = it.sibling(found, "received_datagrams")?;
        Some(it.sibling(found, "sent_datagrams")? - received - spoilt)
    }),
    Rule::exact("media.lost", Against::Samples, |it, found| Some(losses(it, found)?.lost)),
    Rule::exact("media.lost_in_network", Against::Ledger, lost_on_the_way),
    Rule::exact("media.lost_in_network", Against::Figures, |it, found| {
        let lost = it.sibling(found, "lost_datagrams")?;
        let elsewhere = ["lost_in_socket", "lost_unreadable"];
        let elsewhere: Option<f64> =
            elsewhere.into_iter().map(|it_is| it.sibling(found, it_is)).sum();
        Some(lost - elsewhere?)
    }),
    Rule::exact("media.lost_in_socket", Against::Ledger, |it, found| {
        let delivered = counted(it, found, |counts| counts.delivered)?;
        let doubled = counted(it, found, |counts| counts.duplicated)?;
        let damaged = counted(it, found, |counts| counts.corrupted)?;
        Some(delivered - doubled - damaged - it.sibling(found, "received_datagrams")?)
    }),
    Rule::exact("media.lost_unreadable", Against::Asked, none_where_sound),
    Rule::at_most("media.lost_unreadable", Against::Ledger, "so many were damaged", |it, found| {
        counted(it, found, |counts| counts.corrupted)
    }),
    Rule::exact("media.bursts", Against::Figures, |it, found| Some(runs(it, found)?.all())),
    Rule::at_least("media.bursts", Against::Samples, BY_FRAMES, |it, found| {
        Some(losses(it, found)?.runs.0)
    }),
    Rule::at_most("media.bursts", Against::Samples, BY_FRAMES, |it, found| {
        Some(losses(it, found)?.runs.1)
    }),
    Rule::exact("media.bursts.lengths", Against::Figures, |it, found| {
        Some(it.sibling(found, "bursts/bursts")? - runs(it, found)?.without(found.entry?))
    }),
    Rule::exact("media.bursts.lost", Against::Ledger, lost),
    Rule::at_least("media.bursts.lost", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.fewest())
    }),
    Rule::at_most("media.bursts.lost", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.most())
    }),
    Rule::at_least("media.bursts.longest", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.longest().0)
    }),
    Rule::at_most("media.bursts.longest", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.longest().1)
    }),
    Rule::at_least("media.bursts.longest", Against::Samples, BY_FRAMES, |it, found| {
        Some(losses(it, found)?.longest.0)
    }),
    Rule::at_most("media.bursts.longest", Against::Samples, BY_FRAMES, |it, found| {
        Some(losses(it, found)?.longest.1)
    }),
    Rule::exact("media.duplicates", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.duplicated)
    }),
    Rule {
        holds_when_busy: false,
        ..Rule::exact("media.duplicates", Against::Samples, |it, found| {
            let frames = frames(it, found)?;
            frames.are_early_by(COPIES_NS).then(|| frames.repeats())
        })
    },
    Rule::exact("media.reordered", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.reordered)
    }),
    Rule::exact("media.damaged", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.corrupted)
    }),
    Rule::exact("media.frame_bytes", Against::Asked, |it, _| {
        Some((it.cell.asked.bytes? * per_frame(it)?) as f64)
    }),
    Rule::exact("media.datagrams_per_frame", Against::Asked, |it, _| {
        per_frame(it).map(|count| count as f64)
    }),
    Rule::exact("media.failed", Against::Asked, |_, _| Some(0.0)),
    // How frames ended.
    Rule::exact("media.frames.completed", Against::Samples, |it, found| {
        Some(frames(it, found)?.count(Ended::Completed))
    }),
    Rule::exact("media.frames.completed", Against::Figures, |it, found| {
        // Each that was sent ended in one of these ways, and so did those that were missed before word came that they had
        // never been sent.
        let others = ["repeated", "missed", "erroneous", "cut"];
        let others: Option<f64> = others.into_iter().map(|name| ended(it, found, name)).sum();
        Some(it.sibling(found, "frames_sent")? + ended(it, found, "unsent")? - others?)
    }),
    Rule::exact("media.frames.repeated", Against::Samples, |it, found| {
        Some(frames(it, found)?.count(Ended::Repeated))
    }),
    Rule::at_most("media.frames.repeated", Against::Figures, "each has a copy", |it, found| {
        it.sibling(found, "duplicates")
    }),
    Rule::exact("media.frames.missed", Against::Samples, |it, found| {
        let frames = frames(it, found)?;
        Some(frames.count(Ended::Dropped) + frames.count(Ended::Late))
    }),
    Rule::exact("media.frames.late", Against::Samples, |it, found| {
        Some(frames(it, found)?.count(Ended::Late))
    }),
    Rule::at_most(
        "media.frames.late",
        Against::Figures,
        "they are among the missed",
        |it, found| ended(it, found, "missed"),
    ),
    Rule::exact("media.frames.erroneous", Against::Samples, |it, found| {
        Some(frames(it, found)?.count(Ended::Erroneous))
    }),
    Rule::exact("media.frames.erroneous", Against::Asked, none_where_sound),
    Rule::at_most(
        "media.frames.erroneous",
        Against::Ledger,
        "each damage spoils one",
        |it, found| counted(it, found, |counts| counts.corrupted),
    ),
    Rule::at_least(
        "media.frames.erroneous",
        Against::Ledger,
        "a frame has so many",
        |it, found| {
            let damaged = counted(it, found, |counts| counts.corrupted)?;
            let readable = damaged - it.sibling(found, "lost_unreadable")?;
            Some((readable / per_frame(it)? as f64).ceil())
        },
    ),
    Rule::exact("media.frames.cut", Against::Samples, |it, found| {
        Some(frames(it, found)?.count(Ended::Cut))
    }),
    Rule::exact("media.frames.cut", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("media.frames.unsent", Against::Samples, |it, found| {
        frames(it, found)?.never_sent(&sent_by_stream(it, found)?)
    }),
    Rule {
        holds_when_busy: false,
        ..Rule::exact("media.frames.unsent", Against::Asked, |_, _| Some(0.0))
    },
    Rule::at_most("media.frames.late_by_sender", Against::Figures, "they are late", |it, found| {
        ended(it, found, "late")
    }),
    Rule::exact("media.played_share", Against::Samples, |it, found| {
        frames(it, found)?.played_share()
    }),
    Rule::exact("media.played_share", Against::Figures, |it, found| {
        let played = ended(it, found, "completed")? + ended(it, found, "repeated")?;
        let judged = played + not_played(it, found)?;
        (judged > 0.0).then(|| played / judged)
    }),
    Rule::exact("media.received_rate", Against::Samples, |it, found| {
        let frames = frames(it, found)?;
        rate(it, frames.came(per_frame(it)?)?, frames.number())
    }),
    Rule::exact("media.received_rate", Against::Figures, |it, found| {
        let names = ["completed", "repeated", "missed", "erroneous", "cut"];
        let all: Option<f64> = names.into_iter().map(|name| ended(it, found, name)).sum();
        rate(it, it.sibling(found, "received_datagrams")?, all?)
    }),
    Rule::exact("media.longest_freeze", Against::Samples, |it, found| {
        frames(it, found)?.longest_freeze_ns(frame_rate(it)?)
    }),
    Rule::at_most(
        "media.longest_freeze",
        Against::Figures,
        "nothing else was not there",
        |it, found| Some(not_played(it, found)? * 1e9 / frame_rate(it)? as f64),
    ),
    // Times of frames.
    Rule::extremes("media.delay", delay),
    Rule::sums("media.delay", delay),
    Rule {
        below: Some(Relative(4.0 * RESOLUTION)),
        above: Some(Relative(4.0 * RESOLUTION)),
        reason: "the least is known at the end, so histograms of three significant digits are moved to it",
        ..Rule::percentiles("media.delay", delay)
    },
    Rule::at_least(
        "media.delay.max",
        Against::Samples,
        "streams began at times that are not in the file, so each has a least of its own",
        |it, found| {
            let of_streams = delays(it, found)?;
            of_streams.iter().filter_map(|delays| delays.statistic("max")).reduce(f64::max)
        },
    ),
    Rule {
        below: Some(Absolute(RESOLUTION_NS)),
        above: Some(Absolute(RESOLUTION_NS)),
        reason: BY_FILE,
        ..Rule::exact("media.needed_depth", Against::Samples, |it, found| {
            let depth = it.measurement.pointer("/test/plan/media/buffer_depth_ns")?.as_f64()?;
            frames(it, found)?.needed_depth_ns(depth)
        })
    },
    Rule::exact("media.needed_depth", Against::Samples, |it, found| {
        single_datagrams(it, found)?.needed_depth_by_stamps_ns(frame_rate(it)?)
    }),
    Rule::by_sums("media.frame_jitter", |it, found| frames(it, found)?.changes().statistic("mean")),
    Rule::exact("media.frame_jitter.max", Against::Samples, |it, found| {
        frames(it, found)?.changes().statistic("max")
    }),
    Rule::exact("media.frame_jitter.count", Against::Samples, |it, found| {
        frames(it, found)?.changes().statistic("count")
    }),
    Rule::exact("media.frame_jitter.count", Against::Figures, |it, found| {
        // Of each stream one less than were played.
        let played = |stream: &Value| {
            let of = |name: &str| stream.get("frames")?.get(name)?.as_f64();
            Some((of("completed")? + of("repeated")? - 1.0).max(0.0))
        };
        streams(receiver(it, found)?)?.iter().map(played).sum()
    }),
    Rule::at_most(
        "media.frame_jitter",
        Against::Figures,
        "no mean is more than the most",
        |it, found| it.sibling(found, "frame_jitter/max_ns"),
    ),
    // Times of datagrams.
    Rule::by_sums("media.jitter", |it, found| Some(variation(it, found)?.mean_ns)),
    Rule::by_sums("media.jitter.max", |it, found| Some(variation(it, found)?.max_ns)),
    Rule::by_sums("media.jitter.last", |it, found| variation(it, found)?.last_ns),
    Rule::at_least("media.jitter", Against::Figures, SMOOTHED, |it, found| {
        Some(all_are_neighbours(it, found, "variation/ipdv/mean_ns")? / 16.0)
    }),
    Rule::at_most("media.jitter", Against::Figures, SMOOTHED, |it, found| {
        all_are_neighbours(it, found, "variation/ipdv/mean_ns")
    }),
    Rule::at_least("media.jitter.max", Against::Figures, SMOOTHED, |it, found| {
        Some(it.sibling(found, "variation/ipdv/max_ns")? / 16.0)
    }),
    Rule::at_most("media.jitter.max", Against::Figures, SMOOTHED, |it, found| {
        all_are_neighbours(it, found, "variation/ipdv/max_ns")
    }),
    Rule::at_most("media.jitter.last", Against::Figures, "it was that much once", |it, found| {
        it.sibling(found, "variation/rfc3550/max_ns")
    }),
    Rule::exact("media.ipdv.count", Against::Figures, |it, found| {
        all_are_neighbours(it, found, "received_datagrams")?;
        let pairs =
            |stream: &Value| Some((stream.get("received_datagrams")?.as_f64()? - 1.0).max(0.0));
        streams(receiver(it, found)?)?.iter().map(pairs).sum()
    }),
    Rule::extremes("media.ipdv", ipdv),
    Rule::sums("media.ipdv", ipdv),
    Rule::percentiles("media.ipdv", ipdv),
    Rule::exact("media.send_lag.count", Against::Figures, |it, found| {
        let counts = if is_spread(it) { "sent_datagrams" } else { "frames_sent" };
        it.sibling(found, counts)
    }),
    Rule { reason: FROM_LEAST, ..Rule::exact("media.send_lag.max", Against::Samples, lag) },
    Rule { reason: FROM_LEAST, ..Rule::sums("media.send_lag", lag) },
    Rule { reason: FROM_LEAST_BY_HISTOGRAM, ..Rule::percentiles("media.send_lag", lag) },
];

/// Single frames, of the direction whose frames the client writes down.
fn frames<'it>(it: &'it Evidence<'_>, found: &Found) -> Option<&'it Frames> {
    it.frames().filter(|_| found.side == Some("down"))
}

/// The same where each is one datagram, which the frame's stamps are those of.
fn single_datagrams<'it>(it: &'it Evidence<'_>, found: &Found) -> Option<&'it Frames> {
    frames(it, found).filter(|_| per_frame(it) == Some(1))
}

/// Delays of each stream, where the last datagram of each frame was due at the same time in it.
fn delays(it: &Evidence<'_>, found: &Found) -> Option<Vec<Durations>> {
    // Of frames that are spread the one that comes last is the last only where none overtakes another.
    let is_last_last = !is_spread(it) || it.sibling(found, "reordered")? == 0.0;
    frames(it, found).filter(|_| is_last_last)?.delays(frame_rate(it)?)
}

/// Of one stream, all of whose delays are above one least.
fn delay(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    match &delays(it, found)?[..] {
        [one] => one.statistic(found.statistic.as_deref()?),
        _ => None,
    }
}

/// How datagrams varied, where each is in the file.
fn variation(it: &Evidence<'_>, found: &Found) -> Option<Variation> {
    let is_ordered = it.sibling(found, "reordered")? == 0.0;
    single_datagrams(it, found).filter(|_| is_ordered)?.variation()
}

fn ipdv(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    variation(it, found)?.neighbours.statistic(found.statistic.as_deref()?)
}

/// How late frames left: from the least that is stated on, which is the one thing that the file does not have.
fn lag(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    let (frames, statistic) = (single_datagrams(it, found)?, found.statistic.as_deref()?);
    let above_least = frames.lags(frame_rate(it)?)?.statistic(statistic)?;
    let least = match statistic {
        "deviation" | "iqr" => 0.0,
        _ => it.sibling(found, "send_lag/min_ns")?,
    };
    // All that were sent have to be there.
    (it.sibling(found, "frames_sent")? <= frames.number()).then_some(least + above_least)
}

/// What was lost, where nothing that came damaged is missing of frames, too.
fn losses(it: &Evidence<'_>, found: &Found) -> Option<Losses> {
    let is_sound = it.sibling(found, "damaged_datagrams")? == 0.0;
    frames(it, found).filter(|_| is_sound)?.losses(per_frame(it)?, &sent_by_stream(it, found)?)
}

/// A figure, where each datagram came right after its neighbour.
fn all_are_neighbours(it: &Evidence<'_>, found: &Found, name: &str) -> Option<f64> {
    let others = ["lost_datagrams", "damaged_datagrams", "reordered"];
    let are_none = others.into_iter().all(|other| it.sibling(found, other) == Some(0.0));
    it.sibling(found, name).filter(|_| are_none)
}

/// Payload of so many datagrams in the time that so many frames of all streams stand for.
fn rate(it: &Evidence<'_>, datagrams: f64, frames: f64) -> Option<f64> {
    let seconds = frames / it.cell.asked.flows as f64 / frame_rate(it)? as f64;
    (seconds > 0.0).then_some(datagrams * it.cell.asked.bytes? as f64 * 8.0 / seconds)
}

/// Frames that were to be played and were not there.
fn not_played(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    Some(ended(it, found, "missed")? + ended(it, found, "erroneous")?)
}

/// Datagrams of a frame.
fn per_frame(it: &Evidence<'_>) -> Option<u64> {
    it.cell.setting("datagrams a frame")?.parse().ok()
}

/// Frames of a stream a second, by what was asked for.
fn frame_rate(it: &Evidence<'_>) -> Option<u64> {
    let frames = it.cell.asked.number?.checked_mul(1_000_000_000)?;
    frames.checked_div(it.cell.asked.flows.checked_mul(it.cell.duration.0)?)
}

/// Whether datagrams of a frame have times of their own.
fn is_spread(it: &Evidence<'_>) -> bool {
    it.cell.setting("pacing") == Some("spread")
}

/// What the link took, and what the receiver's own socket had no room for.
fn lost(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    let elsewhere = it.sibling(found, "lost_in_socket")? + it.sibling(found, "lost_unreadable")?;
    Some(lost_on_the_way(it, found)? + elsewhere)
}

fn lost_on_the_way(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    TAKEN.into_iter().map(|of| counted(it, found, of)).sum()
}

/// Datagrams of data that the ledger counts so, of the figure's direction.
fn counted(it: &Evidence<'_>, found: &Found, of: fn(&Counts) -> Tally) -> Option<f64> {
    let way = Way::of(found)?;
    it.datagrams(0, way, of, it.cell.asked.bytes?, &[CONSENT_BYTES, way.opening_bytes()])
}

/// How many frames ended so, as the same direction states it.
fn ended(it: &Evidence<'_>, found: &Found, how: &str) -> Option<f64> {
    it.sibling(found, &format!("frames/{how}"))
}

/// Runs of lost datagrams by their lengths.
fn runs(it: &Evidence<'_>, found: &Found) -> Option<Runs> {
    Runs::read(it.beside(found, "bursts/lengths")?)
}

/// What the end said that received.
fn receiver<'it>(it: &'it Evidence<'_>, found: &Found) -> Option<&'it Value> {
    let end = if found.side? == "up" { "server" } else { "client" };
    it.measurement.pointer(&format!("/{end}/media")).filter(|report| !report.is_null())
}

/// All streams of an end, one by one.
fn streams(report: &Value) -> Option<&Vec<Value>> {
    let are_all = report.get("streams_omitted")?.as_u64()? == 0;
    report.get("streams")?.as_array().filter(|_| are_all)
}

/// Frames that left whole, as the sender says of each stream to the client.
fn sent_by_stream(it: &Evidence<'_>, found: &Found) -> Option<BTreeMap<u64, u64>> {
    let sender = it.measurement.pointer("/server/media").filter(|_| found.side == Some("down"))?;
    let sent = |stream: &Value| {
        Some((stream.get("flow")?.as_u64()?, stream.get("frames_sent")?.as_u64()?))
    };
    streams(sender)?.iter().map(sent).collect()
}

#[cfg(test)]
mod tests {
    use pathscope_modes::figures::found;
    use serde_json::{Value, json};

    use super::RULES;
    use crate::cell::Cell;
    use crate::evidence::Evidence;
    use crate::grid::{Extent, cells};
    use crate::rule::Against;
    use crate::samples::Samples;

    /// Four frames of one datagram, the third of which was lost, at 100 a second.
    const FILE: &str = "SequenceNumber,SenderQpc,ReceiverQpc,Outcome,MissingDatagrams,\
        RepeatedDatagrams,MarginMs,Stream\n\
        1,1000,6000,completed,0,0,1000.000,0\n\
        2,10001200,10006500,completed,0,0,999.999,0\n\
        3,0,0,dropped,1,0,,0\n\
        4,30001100,30006000,completed,0,0,1000.000,0\n";

    fn single(cell: &Cell) -> bool {
        cell.setting("datagrams a frame") == Some("1") && cell.setting("direction") != Some("up")
    }

    #[test]
    fn there_are_cells_whose_file_has_a_row_for_each_datagram() {
        let cells = cells(Extent::Quick);
        let of = |streams: &'static str| {
            let is_of = move |cell: &&Cell| cell.setting("streams") == Some(streams);
            cells.iter().filter(|cell| single(cell)).filter(is_of)
        };
        // What is told of one stream alone, and of several.
        assert!(of("1").count() >= 2 && of("4").count() >= 1);
        assert!(of("1").any(|cell| cell.setting("frame rate") != Some("10")));
    }

    /// What pathscope has to say of that file; delays of two clocks are 0, 0 and 500 ns above the least.
    fn direction(bytes: f64) -> Value {
        let distribution = |count: u64, most: u64, mean: f64, deviation: f64| {
            json!({ "count": count, "min_ns": 0, "max_ns": most, "mean_ns": mean,
                "standard_deviation_ns": deviation, "percentiles": [] })
        };
        let deviation = (250_000.0_f64 / 3.0).sqrt();
        json!({
            "frames_planned": 4, "frames_sent": 4, "frames_unsent": 0,
            "frames": { "completed": 3, "repeated": 0, "missed": 1, "late": 0, "unsent": 0,
                "erroneous": 0, "cut": 0 },
            "played_ratio": 0.75, "received_bps": 3.0 * bytes * 8.0 / 0.04,
            "sent_datagrams": 4, "received_datagrams": 3, "lost_datagrams": 1,
            "lost_in_socket": 0, "lost_in_network": 1, "lost_unreadable": 0,
            "damaged_datagrams": 0, "duplicates": 0, "reordered": 0,
            "bursts": { "bursts": 1, "lost": 1, "longest": 1, "lengths": [1] },
            "delay": distribution(3, 500, 500.0 / 3.0, deviation),
            "variation": {
                "rfc3550": { "last_ns": 42.578_125, "mean_ns": 30.664_062_5, "max_ns": 42.578_125 },
                "ipdv": { "count": 1, "min_ns": 300, "max_ns": 300, "mean_ns": 300.0,
                    "standard_deviation_ns": null, "percentiles": [
                        { "percent": 50.0, "value_ns": 300 } ] } },
            "frame_jitter": { "count": 2, "mean_ns": 350.0, "max_ns": 400 },
            "longest_freeze_ns": 10_000_000, "needed_depth_ns": 500,
            "send_lag": { "count": 4, "min_ns": 7, "max_ns": 300, "mean_ns": 100.0 },
            "late_by_sender": 0, "failed": 0,
        })
    }

    #[test]
    fn what_the_file_and_other_figures_say_is_what_is_stated() {
        let cells = cells(Extent::Quick);
        let is_right = |cell: &&Cell| single(cell) && cell.setting("streams") == Some("1");
        let mut cell = cells.iter().find(is_right).expect("a cell").clone();
        cell.asked.number = Some(100 * cell.duration.0 / 1_000_000_000);
        let stated = direction(cell.asked.bytes.expect("bytes") as f64);
        let streams = |frames_sent: u64, received: u64| {
            json!([{ "flow": 0, "frames_sent": frames_sent, "received_datagrams": received,
                "frames": { "completed": received, "repeated": 0 } }])
        };
        let end = |streams: Value| json!({ "media": { "streams": streams, "streams_omitted": 0, "spoilt_datagrams": 0 } });
        let measurement = json!({
            "test": { "plan": { "media": { "buffer_depth_ns": 1_000_000_000 } } },
            "client": end(streams(0, 3)), "server": end(streams(4, 0)),
            "summary": { "media": { "down": stated, "up": stated } },
        });
        let mut samples = Samples::read(FILE);
        let evidence = |samples: &Option<Samples>| Evidence {
            cell: &cell,
            measurement: &measurement,
            links: Vec::new(),
            ping_ns: None,
            samples: samples.clone(),
            port: 1,
            witnesses: crate::relay::Witnesses::default(),
        };
        let of_file = evidence(&samples);
        let mut shown = 0;
        for rule in RULES {
            for found in found(&measurement).iter().filter(|found| rule.is_about(found)) {
                let (of, is_up) = (rule.against, found.side == Some("up"));
                let truth = (rule.truth)(&of_file, found);
                // The client's file has nothing of what the server received, and this one's server said nothing of that.
                if is_up && of == Against::Samples {
                    assert_eq!(truth, None, "{}", rule.figure);
                }
                if is_up || !matches!(of, Against::Samples | Against::Figures) {
                    continue;
                }
                let Some(truth) = truth else { continue };
                let number = found.number;
                assert!(rule.allows(number, truth), "{}: {number}, {truth}", found.kind());
                shown += usize::from(of == Against::Samples);
            }
        }
        assert!(shown >= 35, "{shown}");
        if let Some(Samples::Frames(frames)) = &mut samples {
            frames.stretch(1.002_5);
        }
        let moved = evidence(&samples);
        for rule in RULES.iter().filter(|rule| rule.against == Against::Samples) {
            // What is bounded on one side alone is not missed on the other.
            let is_bounded = rule.below.is_some() && rule.above.is_some();
            for found in found(&measurement).iter().filter(|found| rule.is_about(found)) {
                let truths = (rule.truth)(&of_file, found).zip((rule.truth)(&moved, found));
                let Some((_, moved)) =
                    truths.filter(|(truth, moved)| !crate::rule::is_same(*truth, *moved))
                else {
                    continue;
                };
                assert!(!is_bounded || !rule.allows(found.number, moved), "{}", found.kind());
            }
        }
    }
}
