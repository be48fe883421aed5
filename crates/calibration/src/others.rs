//! What other programs say of the same links, beside the same truths. No row of theirs can fail: they stand there to be compared
//! with ours.
//!
//! Not here: how they are started and read (`experiments`).

use pathscope_experiments::programs::{Program, Said};
use pathscope_modes::figures::{Better, FigureDefinition, Found, Group, Unit};
use serde_json::{Map, Value, json};

use crate::evidence::{Evidence, TAKEN, UDP, Way};
use crate::rule::{Against, Rule};

/// Where a measurement of theirs is kept, by the ids of figures.
const PLACE: &str = "other";
const PAGE: &str = "method/calibration.md#other-programs";
/// The smallest datagram of `iperf3`, with which it opens a flow.
const IPERF3_OPENING_BYTES: u64 = 4;

/// Figures of theirs that have a truth here.
pub static GROUPS: [Group; 3] = [
    Group {
        name: "iperf3",
        title: "iperf3, over the same links",
        order: 0,
        place: PLACE,
        figures: &[
            figure("sent", Unit::Count, "datagrams that were sent"),
            figure("lost", Unit::Count, "of those, never came"),
            figure("lost_share", Unit::Share, "the same of those that were sent"),
        ],
        primary: &[],
    },
    Group {
        name: "irtt",
        title: "irtt, over the same links",
        order: 0,
        place: PLACE,
        figures: &[
            figure("sent", Unit::Count, "pings that were sent"),
            figure("received", Unit::Count, "pings that were answered"),
            figure("lost_share", Unit::Share, "pings of which nothing came"),
            figure("duplicates", Unit::Count, "answers beyond the first of a ping"),
            figure("rtt.min", Unit::Duration, "the shortest round trip"),
        ],
        primary: &[],
    },
    Group {
        name: "sockperf",
        title: "sockperf, over the same links",
        order: 0,
        place: PLACE,
        figures: &[figure("rtt.min", Unit::Duration, "the shortest round trip")],
        primary: &[],
    },
];

const fn figure(name: &'static str, unit: Unit, meaning: &'static str) -> FigureDefinition {
    let (label, better) = (name, Better::Neither);
    FigureDefinition { name, label, place: "", unit, better, meaning, page: PAGE }
}

/// What a cell's measurement is where another program than pathscope measured: its numbers by their ids.
pub fn measurement(program: Program, said: &Said) -> Option<Value> {
    let Program::Known(known) = program else { return None };
    let number = |id: &'static str| Some((id.to_owned(), json!(said.number(id)?)));
    let numbers: Map<String, Value> =
        known.figures.iter().filter_map(|listed| number(listed.id)).collect();
    (!numbers.is_empty()).then(|| json!({ PLACE: numbers }))
}

/// Every figure of theirs in a measurement.
pub fn found(measurement: &Value) -> Vec<Found> {
    let Some(numbers) = measurement.get(PLACE).and_then(Value::as_object) else {
        return Vec::new();
    };
    let of = |group: &'static Group| group.figures.iter().map(move |figure| (group, figure));
    let one = |(group, figure): (&'static Group, &'static FigureDefinition)| {
        let number = numbers.get(&group.id(figure))?.as_f64()?;
        Some(Found { group, figure, side: None, entry: None, name: None, statistic: None, number })
    };
    GROUPS.iter().flat_map(of).filter_map(one).collect()
}

/// What stands beside each of them.
pub const RULES: &[Rule] = &[
    beside("iperf3.sent", Against::Ledger, |it, _| iperf3(it, |counts| counts.offered)),
    beside("iperf3.lost", Against::Ledger, |it, _| {
        TAKEN.into_iter().map(|of| iperf3(it, of)).sum()
    }),
    beside("iperf3.lost_share", Against::Ledger, |it, _| {
        let taken: Option<f64> = TAKEN.into_iter().map(|of| iperf3(it, of)).sum();
        Some(taken? / iperf3(it, |counts| counts.offered)?)
    }),
    beside("irtt.sent", Against::Ledger, |it, _| Some(frames(it, Way::Up)?.0)),
    beside("irtt.received", Against::Ledger, |it, _| {
        let (sent, taken, _) = frames(it, Way::Up)?;
        Some(sent - taken - frames(it, Way::Down)?.1)
    }),
    beside("irtt.lost_share", Against::Ledger, |it, _| {
        let (sent, taken, _) = frames(it, Way::Up)?;
        Some((taken + frames(it, Way::Down)?.1) / sent)
    }),
    beside("irtt.duplicates", Against::Ledger, |it, _| {
        Some(frames(it, Way::Up)?.2 + frames(it, Way::Down)?.2)
    }),
    beside("irtt.rtt.min", Against::Links, |it, _| it.least_rtt_ns(0)),
    beside("sockperf.rtt.min", Against::Links, |it, _| it.least_rtt_ns(0)),
];

/// Beside a truth, at any distance.
const fn beside(
    figure: &'static str,
    against: Against,
    truth: fn(&Evidence<'_>, &Found) -> Option<f64>,
) -> Rule {
    Rule {
        below: None,
        above: None,
        reason: "it is not ours",
        ..Rule::exact(figure, against, truth)
    }
}

/// Datagrams of data that the ledger counts so, the way that they go.
fn iperf3(
    it: &Evidence<'_>,
    of: fn(&pathscope_lab::link::Counts) -> pathscope_lab::link::Tally,
) -> Option<f64> {
    let way = if it.cell.setting("way")? == "up" { Way::Up } else { Way::Down };
    it.datagrams(0, way, of, it.cell.asked.bytes?, &[IPERF3_OPENING_BYTES])
}

/// Frames that were sent, taken and doubled on one way, with those few that open and end a session.
fn frames(it: &Evidence<'_>, way: Way) -> Option<(f64, f64, f64)> {
    let counts = it.counts(0, way, UDP)?;
    let taken: u64 = TAKEN.into_iter().map(|of| of(&counts).frames).sum();
    let [sent, doubled] = [counts.offered, counts.duplicated].map(|it| it.frames as f64);
    Some((sent, taken as f64, doubled))
}

#[cfg(test)]
mod tests {
    use pathscope_experiments::programs::Figure;

    use super::*;

    #[test]
    fn each_of_their_figures_is_read_by_the_runner_of_experiments() {
        for group in &GROUPS {
            for figure in group.figures {
                let id = group.id(figure);
                let theirs = Figure::find(&id).expect("a figure");
                assert!(matches!(theirs, Figure::Theirs(_)), "{id}");
                assert_eq!(theirs.unit(), figure.unit, "{id}");
                assert!(RULES.iter().any(|rule| rule.figure == id), "{id}");
            }
        }
    }

    #[test]
    fn what_they_said_is_found_again() {
        let said = json!({ PLACE: { "iperf3.lost": 7.0, "iperf3.jitter": 3.0 } });
        let found = found(&said);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kind().as_str(), found[0].number), ("iperf3.lost", 7.0));
    }
}
