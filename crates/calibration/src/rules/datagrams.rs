//! Of goodput over UDP.
//!
//! In one file: its rules are one flat table.

use pathscope_experiments::plan::Tolerance::{Absolute, Relative};
use pathscope_lab::link::{Counts, Tally};
use pathscope_modes::figures::Found;
use serde_json::Value;

use crate::cell::UDP_BYTES;
use crate::evidence::{CONSENT_BYTES, ETHERNET_BYTES, Evidence, TAKEN, Way};
use crate::rule::{Against, NONE, Rule};

/// Datagrams and bytes that a kernel joins at the most.
const MOST_JOINED: (u64, u64) = (64, 65_507);

const FIRST_RECEIVE: &str =
    "the first receive opens the window and is not in it, nor what waited behind it";
const FIRST_OF_EACH: &str = "no flow counts more than it received";
const SMOOTHED: &str =
    "it smooths the same differences: a sixteenth of each at first, never more than all";
const EXTENTS: &str = "no mean is more than the most, and the most is one of those that it is of";

/// All of them.
pub const RULES: &[Rule] = &[
    Rule::exact("datagrams.sent", Against::Asked, |it, found| {
        Some(it.cell.asked.number? as f64 - it.sibling(found, "unsent")?)
    }),
    Rule::exact("datagrams.sent", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.offered)
    }),
    Rule::exact("datagrams.received", Against::Ledger, |it, found| {
        // A copy of what was received is no other datagram; a damaged one is none of those that were received.
        let delivered = counted(it, found, |counts| counts.delivered)?;
        let doubled = counted(it, found, |counts| counts.duplicated)?;
        let corrupt = counted(it, found, |counts| counts.corrupted)?;
        Some(delivered - doubled - corrupt - it.sibling(found, "socket_drops")?)
    }),
    Rule::exact("datagrams.lost", Against::Ledger, lost),
    Rule::exact("datagrams.lost_on_the_way", Against::Ledger, lost_on_the_way),
    Rule::exact("datagrams.bursts.lost", Against::Ledger, |it, found| {
        // A number that cannot be read is missing, too.
        let headers = receiver(it, found)?.get("corrupt_headers")?.as_f64()?;
        Some(lost(it, found)? + headers)
    }),
    Rule::exact("datagrams.lost_share", Against::Ledger, |it, found| {
        Some(lost(it, found)? / counted(it, found, |counts| counts.offered)?)
    }),
    Rule::exact("datagrams.duplicates", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.duplicated)
    }),
    Rule::exact("datagrams.reordered", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.reordered)
    }),
    Rule::exact("datagrams.reordered_share", Against::Ledger, |it, found| {
        let received = it.sibling(found, "received")?;
        Some(counted(it, found, |counts| counts.reordered)? / received)
    }),
    Rule::exact("datagrams.corrupt", Against::Ledger, |it, found| {
        counted(it, found, |counts| counts.corrupted)
    }),
    Rule {
        reason: "each damage is told at its very byte",
        ..Rule::exact("datagrams.corrupt", Against::Ledger, told_at_their_places)
    },
    Rule::exact("datagrams.received_bytes", Against::Figures, |it, found| {
        Some(it.sibling(found, "received")? * it.cell.asked.bytes? as f64)
    }),
    Rule {
        below: Some(Relative(0.02)),
        above: Some(Relative(0.02)),
        reason: "what is lost or late is missing, and the window ends between two datagrams",
        holds_when_busy: false,
        ..Rule::exact("datagrams.rate", Against::Asked, |it, found| {
            // From the first to the last of n there are n - 1 steps.
            let is_long = it.cell.asked.number? >= 100 * it.cell.asked.flows;
            // A sender that had no processor is behind its schedule, and says so.
            let late_ns = it.sibling(found, "send_lag/max_ns")?;
            let is_kept = late_ns <= 0.01 * it.cell.duration.0 as f64;
            (is_long && is_kept && is_all_there(it, found)).then_some(it.cell.asked.rate_bps?)
        })
    },
    Rule {
        below: None,
        above: Some(Relative(0.01)),
        reason: "a line carries no more, but a program that is woken late for the first datagram begins to count late",
        holds_when_busy: false,
        ..Rule::exact("datagrams.rate", Against::Links, |it, _| {
            let rate = it.cell.conditions.first()?.rate_bps?;
            let bytes = it.cell.asked.bytes?;
            let frame = ETHERNET_BYTES + it.cell.family.header_bytes() + UDP_BYTES + bytes;
            Some(rate * bytes as f64 / frame as f64)
        })
    },
    Rule {
        holds_when_busy: false,
        ..Rule::exact("datagrams.late", Against::Asked, |_, _| Some(0.0))
    },
    Rule::exact("datagrams.foreign", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("datagrams.completed", Against::Asked, |it, _| Some(it.cell.asked.flows as f64)),
    Rule::exact("datagrams.failed", Against::Asked, |_, _| Some(0.0)),
    Rule::exact("datagrams.unsent", Against::Asked, |it, found| {
        Some(it.cell.asked.number? as f64 - it.sibling(found, "sent")?)
    }),
    Rule::exact("datagrams.lost", Against::Figures, |it, found| {
        let [late, corrupt] = ["late", "corrupt"].map(|name| it.sibling(found, name));
        let others = late? + corrupt?;
        // A copy that came late or damaged was sent once and is told twice.
        let is_once = others == 0.0 || it.sibling(found, "duplicates")? == 0.0;
        let sent = it.sibling(found, "sent").filter(|_| is_once)?;
        Some(sent - it.sibling(found, "received")? - others)
    }),
    Rule::exact("datagrams.lost_share", Against::Figures, |it, found| {
        Some(it.sibling(found, "lost")? / it.sibling(found, "sent")?)
    }),
    Rule::exact("datagrams.reordered_share", Against::Figures, |it, found| {
        let received = it.sibling(found, "received").filter(|received| *received > 0.0)?;
        Some(it.sibling(found, "reordered")? / received)
    }),
    Rule::exact("datagrams.lost_on_the_way", Against::Figures, |it, found| {
        let in_socket =
            it.sibling(found, "socket_drops")? * it.sibling(found, "datagrams_per_buffer")?;
        Some((it.sibling(found, "lost")? - in_socket).max(0.0))
    }),
    Rule::exact("datagrams.socket_drops", Against::Ledger, |it, found| {
        let delivered = counted(it, found, |counts| counts.delivered)?;
        let others = [|counts: &Counts| counts.duplicated, |counts: &Counts| counts.corrupted];
        let others: Option<f64> = others.into_iter().map(|of| counted(it, found, of)).sum();
        // A buffer that holds several was dropped once.
        let is_single = it.sibling(found, "datagrams_per_buffer")? <= 1.0;
        let received = it.sibling(found, "received").filter(|_| is_single)?;
        Some(delivered - others? - received - it.sibling(found, "late")?)
    }),
    Rule::exact("datagrams.per_buffer", Against::Asked, |it, _| {
        (it.cell.setting("offload")? == "off").then_some(1.0)
    }),
    Rule::at_most("datagrams.per_buffer", Against::Asked, "no kernel joins more", |it, _| {
        let (most, most_bytes) = MOST_JOINED;
        let fitting = most_bytes.checked_div(it.cell.asked.bytes?)?;
        Some(fitting.clamp(1, most) as f64)
    }),
    // Runs of what is missing.
    Rule::exact("datagrams.bursts", Against::Figures, |it, found| Some(runs(it, found)?.all())),
    Rule::exact("datagrams.bursts.lengths", Against::Figures, |it, found| {
        Some(it.sibling(found, "bursts/bursts")? - runs(it, found)?.without(found.entry?))
    }),
    Rule::exact("datagrams.bursts.lost", Against::Figures, |it, found| {
        // Those that came late or with a damaged header are missing numbers, too.
        let headers = receiver(it, found)?.get("corrupt_headers")?.as_f64()?;
        Some(it.sibling(found, "lost")? + it.sibling(found, "late")? + headers)
    }),
    Rule::at_least("datagrams.bursts.lost", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.fewest())
    }),
    Rule::at_most("datagrams.bursts.lost", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.most())
    }),
    Rule::at_least("datagrams.bursts.longest", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.longest().0)
    }),
    Rule::at_most("datagrams.bursts.longest", Against::Figures, Runs::BY_CLASSES, |it, found| {
        Some(runs(it, found)?.longest().1)
    }),
    // Rates.
    Rule::exact("datagrams.per_second", Against::Figures, |it, found| {
        Some(it.sibling(found, "goodput_bps")? / 8.0 / it.cell.asked.bytes? as f64)
    }),
    Rule::at_most("datagrams.window", Against::Figures, FIRST_RECEIVE, |it, found| {
        let first = it.cell.asked.bytes? as f64;
        window(it, found, it.sibling(found, "received_bytes")? - first)
    }),
    Rule::exact("datagrams.fairness", Against::Figures, |it, found| {
        let rates = rates(it, found)?;
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        Some(sum * sum / (rates.len() as f64 * squares))
    }),
    Rule::at_least(
        "datagrams.fairness",
        Against::Asked,
        "Jain's index of n flows is no less than 1/n",
        |it, _| Some(1.0 / it.cell.asked.flows as f64),
    ),
    Rule::at_most(
        "datagrams.fairness",
        Against::Figures,
        "Jain's index is 1 where all are equal, and else less",
        |_, _| Some(1.0),
    ),
    Rule::at_most("datagrams.slowest", Against::Figures, FIRST_OF_EACH, |it, found| {
        rate_of(it, found, fewest(it, found)? * it.cell.asked.bytes? as f64)
    }),
    Rule::at_most(
        "datagrams.slowest",
        Against::Figures,
        "no least is above the mean",
        |it, found| Some(it.sibling(found, "goodput_bps")? / it.cell.asked.flows as f64),
    ),
    Rule::at_most("datagrams.fastest", Against::Figures, FIRST_OF_EACH, |it, found| {
        rate_of(it, found, most(it, found)? * it.cell.asked.bytes? as f64)
    }),
    // Order.
    Rule::at_least("datagrams.reordering.mean", Against::Figures, EXTENTS, |it, found| {
        let most = it.sibling(found, "reordering_extent_max")?;
        Some(most / it.sibling(found, "reordered")?)
    }),
    Rule::at_most("datagrams.reordering.mean", Against::Figures, EXTENTS, |it, found| {
        it.sibling(found, "reordering_extent_max")
    }),
    Rule::at_most("datagrams.reordering.max", Against::Figures, "so many came", |it, found| {
        Some(it.sibling(found, "received")? - 1.0)
    }),
    // How delays vary, by two definitions.
    Rule::at_least("datagrams.jitter", Against::Figures, SMOOTHED, |it, found| {
        Some(all_are_neighbours(it, found, "jitter/ipdv/mean_ns")? / 16.0)
    }),
    Rule::at_most("datagrams.jitter", Against::Figures, SMOOTHED, |it, found| {
        all_are_neighbours(it, found, "jitter/ipdv/mean_ns")
    }),
    Rule::at_least("datagrams.jitter.max", Against::Figures, SMOOTHED, |it, found| {
        Some(it.sibling(found, "jitter/ipdv/max_ns")? / 16.0)
    }),
    Rule::at_most("datagrams.jitter.max", Against::Figures, SMOOTHED, |it, found| {
        all_are_neighbours(it, found, "jitter/ipdv/max_ns")
    }),
    Rule::at_most(
        "datagrams.jitter",
        Against::Figures,
        "no mean is more than the most",
        |it, found| it.sibling(found, "jitter/rfc3550/max_ns"),
    ),
    Rule::at_most(
        "datagrams.jitter.last",
        Against::Figures,
        "it was that much once",
        |it, found| it.sibling(found, "jitter/rfc3550/max_ns"),
    ),
    Rule::exact("datagrams.ipdv.count", Against::Figures, |it, found| {
        all_are_neighbours(it, found, "received")?;
        Some(received(it, found)?.iter().map(|count| (count - 1.0).max(0.0)).sum())
    }),
    Rule {
        below: Some(NONE),
        above: Some(Absolute(2.0)),
        reason: "a run parts two neighbours, but for one at either end",
        ..Rule::exact("datagrams.ipdv.count", Against::Figures, |it, found| {
            let is_ordered = it.cell.asked.flows == 1 && it.sibling(found, "reordered")? == 0.0;
            // What came damaged parts them as well.
            let is_sound = it.sibling(found, "corrupt")? == 0.0;
            let pairs = it.sibling(found, "received").filter(|_| is_ordered && is_sound)? - 1.0;
            Some(pairs - it.sibling(found, "bursts/bursts")?)
        })
    },
    Rule::at_most(
        "datagrams.send_lag.count",
        Against::Figures,
        "one for each batch",
        |it, found| it.sibling(found, "sent"),
    ),
];

/// Runs of lost numbers, by classes of length that double.
pub(super) struct Runs(Vec<f64>);

impl Runs {
    /// Why so far.
    pub const BY_CLASSES: &str = "lengths are told in classes that double";

    /// As a document has them.
    pub fn read(lengths: &Value) -> Option<Self> {
        let runs: Option<Vec<f64>> = lengths.as_array()?.iter().map(Value::as_f64).collect();
        runs.map(Self)
    }

    /// How many there are.
    pub fn all(&self) -> f64 {
        // Of none, a sum would be below zero by its sign.
        self.0.iter().sum::<f64>() + 0.0
    }

    /// How many there are of other lengths.
    pub fn without(&self, class: usize) -> f64 {
        let others = self.0.iter().enumerate().filter(|(index, _)| *index != class);
        others.map(|(_, count)| count).sum::<f64>() + 0.0
    }

    /// Numbers in all of them at the least.
    pub fn fewest(&self) -> f64 {
        self.0.iter().enumerate().map(|(class, count)| count * bounds(class).0).sum::<f64>() + 0.0
    }

    /// Numbers in all of them at the most.
    pub fn most(&self) -> f64 {
        self.0.iter().enumerate().map(|(class, count)| count * bounds(class).1).sum::<f64>() + 0.0
    }

    /// Numbers in the longest, at the least and at the most.
    pub fn longest(&self) -> (f64, f64) {
        let longest = self.0.iter().rposition(|count| *count > 0.0);
        longest.map_or((0.0, 0.0), bounds)
    }
}

/// The shortest and the longest of a class: 1, 2, 3 to 4, 5 to 8.
fn bounds(class: usize) -> (f64, f64) {
    let most = 2.0_f64.powi(i32::try_from(class).unwrap_or(i32::MAX));
    (if class == 0 { 1.0 } else { most / 2.0 + 1.0 }, most)
}

/// The time in which so many bytes were received at the rate that is stated.
fn window(it: &Evidence<'_>, found: &Found, bytes: f64) -> Option<f64> {
    Some(bytes * 8e9 / it.sibling(found, "goodput_bps")?)
}

/// The rate of so many bytes in the window that is stated.
fn rate_of(it: &Evidence<'_>, found: &Found, bytes: f64) -> Option<f64> {
    Some(bytes * 8e9 / it.sibling(found, "window_ns")?)
}

/// Which end receives.
fn end(found: &Found) -> Option<&'static str> {
    Some(if found.side? == "up" { "server" } else { "client" })
}

/// What the end said that received.
fn receiver<'it>(it: &'it Evidence<'_>, found: &Found) -> Option<&'it Value> {
    let place = format!("/{}/datagrams", end(found)?);
    it.measurement.pointer(&place).filter(|report| !report.is_null())
}

/// All flows of the receiving end, one by one.
fn flows<'it>(it: &'it Evidence<'_>, found: &Found) -> Option<&'it Vec<Value>> {
    let report = receiver(it, found)?;
    let flows = report.get("flows")?.as_array()?;
    (report.get("flows_omitted")?.as_u64()? == 0 && !flows.is_empty()).then_some(flows)
}

/// What each received a second.
fn rates(it: &Evidence<'_>, found: &Found) -> Option<Vec<f64>> {
    flows(it, found)?.iter().map(|flow| flow.get("received_bps")?.as_f64()).collect()
}

/// Datagrams that each received.
fn received(it: &Evidence<'_>, found: &Found) -> Option<Vec<f64>> {
    flows(it, found)?.iter().map(|flow| flow.get("received")?.as_f64()).collect()
}

/// Those of the flow that received the fewest.
fn fewest(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    received(it, found)?.into_iter().reduce(f64::min)
}

/// Those of the flow that received the most.
fn most(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    received(it, found)?.into_iter().reduce(f64::max)
}

/// A figure, where each datagram came right after its neighbour.
fn all_are_neighbours(it: &Evidence<'_>, found: &Found, name: &str) -> Option<f64> {
    let others = ["lost", "late", "corrupt", "reordered"];
    let are_none = others.into_iter().all(|other| it.sibling(found, other) == Some(0.0));
    it.sibling(found, name).filter(|_| are_none)
}

/// Runs of missing numbers by their lengths.
fn runs(it: &Evidence<'_>, found: &Found) -> Option<Runs> {
    Runs::read(it.beside(found, "bursts/lengths")?)
}

/// What the link took, and what the receiver's own socket had no room for.
fn lost(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    Some(lost_on_the_way(it, found)? + it.sibling(found, "socket_drops")?)
}

fn lost_on_the_way(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    TAKEN.into_iter().map(|of| counted(it, found, of)).sum()
}

/// Datagrams of data that the ledger counts so, of the figure's direction.
fn counted(it: &Evidence<'_>, found: &Found, of: fn(&Counts) -> Tally) -> Option<f64> {
    let way = Way::of(found)?;
    it.datagrams(0, way, of, it.cell.asked.bytes?, &[CONSENT_BYTES, way.opening_bytes()])
}

/// Of the damaged, those that are told at the very byte at which the link damaged one, and those of whose header it is told.
fn told_at_their_places(it: &Evidence<'_>, found: &Found) -> Option<f64> {
    let told = receiver(it, found)?.get("corruptions")?.as_array()?;
    let damages = it.damaged(0, Way::of(found)?);
    // Of many the first ones are told.
    if !it.cell.is_damaged() || told.len() as u64 != it.beside(found, "corrupt")?.as_u64()? {
        return None;
    }
    let mut places: Vec<usize> = damages.map(|it| it.damage.payload_offset).collect();
    let mut count = 0;
    let (headers, bytes): (Vec<&Value>, Vec<&Value>) =
        told.iter().partition(|told| told.pointer("/damage/kind") == Some(&"header".into()));
    for told in bytes {
        let is_bit = told.pointer("/damage/nature/bits")?.as_u64() == Some(1);
        let offset = told.pointer("/damage/offset_bytes")?.as_u64()? as usize;
        let place = places.iter().position(|place| *place == offset).filter(|_| is_bit);
        if let Some(place) = place {
            places.swap_remove(place);
            count += 1;
        }
    }
    Some((count + headers.len().min(places.len())) as f64)
}

/// Whether nothing was lost, and nothing remained unsent.
fn is_all_there(it: &Evidence<'_>, found: &Found) -> bool {
    ["lost", "unsent"].into_iter().all(|name| it.sibling(found, name) == Some(0.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Runs;

    #[test]
    fn runs_are_bounded_by_their_classes() {
        // Two of 1, one of 2, none of 3 to 4, three of 5 to 8.
        let runs = Runs::read(&json!([2, 1, 0, 3, 0])).expect("lengths");
        assert_eq!((runs.all(), runs.without(3), runs.without(9)), (6.0, 3.0, 6.0));
        assert_eq!((runs.fewest(), runs.most()), (19.0, 28.0));
        assert_eq!(runs.longest(), (5.0, 8.0));
        let none = Runs::read(&json!([])).expect("lengths");
        assert_eq!((none.all(), none.longest()), (0.0, (0.0, 0.0)));
        assert!(Runs::read(&json!(["1"])).is_none() && Runs::read(&json!(7)).is_none());
    }
}
