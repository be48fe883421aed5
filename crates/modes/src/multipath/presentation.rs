//! A multipath test as labelled figures and tables: all that a view needs.

use pathscope_core::presentation::{Figure, Table, Value};
use pathscope_core::quantity::{average, count, counted, duration_ns, ratio};
use pathscope_core::stats::LatencyFigures;

use super::figures::GROUP;
use crate::figure::{Amount, Part, Unit};

use super::{
    GapReport, MultipathInterval, MultipathPlan, MultipathReport, MultipathSummary, PathSummary,
    SendOrder,
};
use crate::paths::Transition;

/// Transitions that are shown; the document has more of them.
const SHOWN_TRANSITIONS: usize = 20;

/// What is done, in a few words.
pub fn subtitle(plan: &MultipathPlan) -> String {
    let paths = match (plan.paths.as_slice(), plan.lanes) {
        ([], 1) => "the primary path alone".to_owned(),
        ([], _) => "every path".to_owned(),
        (named, _) => named.join(" and "),
    };
    let order = match plan.order {
        SendOrder::PrimaryFirst => "primary first",
        SendOrder::Alternate => "each first in its turn",
    };
    format!(
        "UDP over {paths}, {} of {} datagrams in groups of {}, {order}, {}",
        plan.rate_bps,
        plan.datagram_bytes,
        count(plan.grouping.into()),
        plan.duration_ns
    )
}

/// The figures of a multipath test.
pub fn figures(summary: &MultipathSummary) -> Vec<Figure> {
    let mut figures = vec![sent(summary)];
    figures.push(
        GROUP
            .figure("received", summary.received)
            .with_note(format!("{}, on one path or more", share(summary.received, summary.sent))),
    );
    if summary.paths.len() > 1 {
        figures.extend(benefit(summary));
    }
    figures.push(GROUP.figure("lost", summary.lost).with_note(share(summary.lost, summary.sent)));
    for (name, number) in [
        ("without_path", summary.without_path),
        ("unsent", summary.unsent),
        ("foreign", summary.foreign),
    ] {
        if number > 0 {
            figures.push(GROUP.figure(name, number));
        }
    }
    figures.extend(summary.losses.iter().filter_map(|losses| {
        let correlation = losses.correlation?;
        let name = |place: u8| {
            let path = summary.paths.iter().find(|path| path.path == place);
            path.map_or_else(|| place.to_string(), |path| path.interface.clone())
        };
        let [one, other] = [losses.pair.one, losses.pair.other].map(name);
        let expected = losses.expected_both.unwrap_or(0.0);
        let pair = format!("{one} and {other}");
        Some(GROUP.of_entry(pair, "losses.correlation", correlation).with_note(format!(
            "{one} and {other}: {} lost on both, {} expected by chance",
            count(losses.pair.both_lost),
            average(expected)
        )))
    }));
    figures.extend(summary.paths.iter().filter_map(radio));
    figures
}

/// What the radio of a path said.
fn radio(path: &PathSummary) -> Option<Figure> {
    let wireless = path.wireless.as_ref()?;
    let signal = match wireless.signal_median_dbm {
        Some(median) => Value::Worded(median.into(), wireless.signal()),
        None => Value::Text(wireless.signal()),
    };
    let figure = GROUP.of_entry(&path.interface, "radio.signal_median", signal);
    let label = format!("{} {}", figure.label, path.interface);
    Some(figure.labelled(label).with_note(wireless.association()))
}

fn sent(summary: &MultipathSummary) -> Figure {
    let rate = summary.rate_bps.unwrap_or(0.0);
    let note = format!(
        "{} in {}; {}",
        pathscope_core::quantity::bytes(summary.sent_bytes),
        duration_ns(summary.sending_ns),
        counted(summary.sent, "datagram")
    );
    GROUP.figure("rate", rate).with_note(note)
}

/// What the paths beside the primary were good for.
fn benefit(summary: &MultipathSummary) -> Vec<Figure> {
    let saved = summary.waiting_saved_ns;
    let value = if saved < 0 {
        Value::Worded(saved as f64, format!("-{}", duration_ns(saved.unsigned_abs())))
    } else {
        Value::Duration(saved.unsigned_abs())
    };
    let of = |part: Option<f64>| part.map_or_else(String::new, ratio);
    let mut figures = vec![
        GROUP
            .figure("prevented", summary.prevented)
            .with_note("lost on the primary, answered on another path"),
        GROUP
            .figure("waiting_saved", value)
            .with_note(format!("{} of the wait for the primary", of(summary.waiting_saved_ratio))),
        GROUP.figure("first_elsewhere", summary.first_elsewhere).with_note(format!(
            "{} of those answered came first on another path than the primary",
            of(summary.first_elsewhere_ratio)
        )),
    ];
    figures.extend(
        [
            GROUP.figure("mean_improvement", summary.mean_improvement),
            GROUP.figure("median_improvement", summary.median_improvement),
        ]
        .map(|figure| figure.with_note("of the datagrams that the primary answered")),
    );
    figures
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { ratio(part as f64 / whole as f64) }
}

/// Paths side by side, and all of them together.
pub fn tables(summary: &MultipathSummary, client: &MultipathReport) -> Vec<Table> {
    let mut tables = vec![latencies(summary), counts(summary), gaps(summary)];
    if summary.paths.len() > 1 {
        tables.push(policies(summary));
    }
    tables.extend(transitions(client));
    tables
}

fn percentile(figures: &LatencyFigures, percent: f64) -> Value {
    figures.percentile(percent).copied().value(Unit::Duration)
}

fn duration(nanoseconds: impl Amount) -> Value {
    nanoseconds.value(Unit::Duration)
}

fn name(path: &PathSummary) -> (Part, Value) {
    (Part::Entry(path.interface.clone()), Value::Text(path.interface.clone()))
}

/// All paths together.
fn effective() -> (Part, Value) {
    (Part::Whole, Value::Text("effective".to_owned()))
}

fn latencies(summary: &MultipathSummary) -> Table {
    let row = |begin, (part, name): (Part, Value), figures: &LatencyFigures| {
        let cells = [
            name,
            duration(figures.mean_ns),
            percentile(figures, 50.0),
            duration(figures.standard_deviation_ns),
            duration(figures.interquartile_range_ns),
            duration(figures.min_ns),
            percentile(figures, 75.0),
            percentile(figures, 99.0),
            percentile(figures, 99.9),
            duration(figures.max_ns),
        ];
        (begin, part, cells)
    };
    let paths = summary.paths.iter().map(|path| row("path.latency", name(path), &path.latency));
    let columns = [
        ("path", ""),
        ("mean", "mean"),
        ("median", "p50"),
        ("jitter", "deviation"),
        ("IQR", "iqr"),
        ("min", "min"),
        ("p75", "p75"),
        ("p99", "p99"),
        ("p99.9", "p99.9"),
        ("max", "max"),
    ];
    let all = row("effective", effective(), &summary.effective);
    GROUP.table("round trips", columns, paths.chain([all]))
}

fn counts(summary: &MultipathSummary) -> Table {
    let ratio = |part: u64, whole: u64| {
        if whole == 0 { Value::Absent } else { Value::Ratio(part as f64 / whole as f64) }
    };
    let row = |path: &PathSummary| {
        let (part, name) = name(path);
        let cells = [
            name,
            Value::Count(path.sent),
            Value::Count(path.received),
            ratio(path.received, path.sent),
            Value::Count(path.lost),
            ratio(path.lost, path.sent),
            path.lost_forward.value(Unit::Count),
            path.lost_return.value(Unit::Count),
            Value::Count(path.corrupt),
            Value::Count(path.duplicates),
            Value::Count(path.reordered),
            Value::Count(path.refused),
            Value::Count(path.first),
        ];
        ("path", part, cells)
    };
    let columns = [
        ("path", ""),
        ("sent", "sent"),
        ("answered", "received"),
        ("share answered", ""),
        ("lost", "lost"),
        ("share lost", ""),
        ("there", "lost_forward"),
        ("back", "lost_return"),
        ("corrupt", "corrupt"),
        ("copies", "duplicates"),
        ("reordered", "reordered"),
        ("refused", "refused"),
        ("first", "first"),
    ];
    GROUP.table("datagrams", columns, summary.paths.iter().map(row))
}

fn gaps(summary: &MultipathSummary) -> Table {
    let row = |begin, (part, name): (Part, Value), gaps: &GapReport| {
        let cells = [
            name,
            Value::Count(gaps.outages),
            Value::Duration(gaps.outage_ns),
            Value::Duration(gaps.longest_ns),
            Value::Count(gaps.most_in_a_row),
        ];
        (begin, part, cells)
    };
    let least = duration_ns(summary.effective_gaps.outage_least_ns);
    let paths = summary.paths.iter().map(|path| row("path", name(path), &path.gaps));
    let columns = [
        ("path", ""),
        ("outages", "outages"),
        ("time", "outage_time"),
        ("longest gap", "longest_gap"),
        ("most in a row", "most_in_a_row"),
    ];
    let all = row("effective", effective(), &summary.effective_gaps);
    GROUP.table(format!("outages of {least} and more"), columns, paths.chain([all]))
}

fn policies(summary: &MultipathSummary) -> Table {
    let rows = summary.policies.iter().map(|policy| {
        let name = policy.policy.name().to_owned();
        let cells = [
            Value::Text(name.clone()),
            duration(policy.latency.mean_ns),
            percentile(&policy.latency, 50.0),
            percentile(&policy.latency, 99.0),
            percentile(&policy.latency, 99.9),
            duration(policy.latency.max_ns),
            Value::Count(policy.lost),
            policy.lost_ratio.value(Unit::Share),
            Value::Bytes(policy.sent_bytes),
        ];
        ("policy", Part::Entry(name), cells)
    });
    let columns = [
        ("policy", ""),
        ("mean", "latency.mean"),
        ("median", "latency.p50"),
        ("p99", "latency.p99"),
        ("p99.9", "latency.p99.9"),
        ("max", "latency.max"),
        ("lost", "lost"),
        ("share lost", "lost_share"),
        ("sent", "sent_bytes"),
    ];
    GROUP.table("what senders would have had", columns, rows)
}

fn transitions(client: &MultipathReport) -> Option<Table> {
    let row = |transition: &Transition| {
        vec![
            Value::Duration(transition.at_ns),
            Value::Text(transition.interface.clone()),
            Value::Text(transition.what.clone()),
            Value::Text(transition.why.clone()),
        ]
    };
    let shown = client.transitions.len().min(SHOWN_TRANSITIONS);
    let left = (client.transitions.len() - shown) as u64 + client.transitions_omitted;
    let title = match left {
        0 => "paths over time".to_owned(),
        left => format!("paths over time ({} more)", count(left)),
    };
    let rows = client.transitions[..shown].iter().map(row);
    (shown > 0).then(|| Table::new(title, ["time", "path", "what", "why"], rows))
}

/// The cells of a live row.
pub fn cells(interval: Option<&MultipathInterval>) -> Vec<Figure> {
    let effective = interval.and_then(|interval| interval.effective.as_ref());
    let answered = interval.map(|interval| {
        let each: Vec<String> = interval.paths.iter().map(|path| count(path.received)).collect();
        each.join(" ")
    });
    let median = effective.and_then(LatencyFigures::median_ns);
    let most = effective.and_then(|effective| effective.max_ns);
    vec![
        GROUP.figure("sent", interval.map(|interval| interval.sent)),
        GROUP.figure("received", interval.map(|interval| interval.received)),
        GROUP.figure("effective.p50", median).labelled("RTT p50"),
        GROUP.figure("effective.max", most).labelled("RTT max"),
        Figure::new("on each path", answered.map_or(Value::Absent, Value::Text)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{WirelessReport, WirelessTally};

    #[test]
    fn a_path_by_wifi_has_a_line_and_a_wire_has_none() {
        let mut tally = WirelessTally::default();
        tally.saw(&pathscope_core::record::WirelessFacts {
            ssid: Some("home".to_owned()),
            signal_dbm: Some(-61),
            ..Default::default()
        });
        let path = |interface: &str, wireless: Option<WirelessReport>| PathSummary {
            interface: interface.to_owned(),
            wireless,
            ..PathSummary::default()
        };
        let paths = vec![path("eth0", None), path("wlan0", tally.report())];
        let figures = figures(&MultipathSummary { paths, ..MultipathSummary::default() });
        let radios: Vec<_> = figures.iter().filter(|it| it.id.contains("radio")).collect();
        let [radio] = radios[..] else { panic!("{radios:?}") };
        assert_eq!(radio.part, Part::Entry("wlan0".to_owned()));
        let told = "-61 dBm, -61 at the weakest".to_owned();
        assert_eq!(
            (radio.label.as_str(), &radio.value),
            ("Wi-Fi wlan0", &Value::Worded(-61.0, told))
        );
        assert_eq!(radio.note.as_deref(), Some("'home'"));
    }
}
