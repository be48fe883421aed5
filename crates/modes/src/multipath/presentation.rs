//! A multipath test as labelled figures and tables: all that a view needs.

use pathscope_core::presentation::{Figure, Table, Value};
use pathscope_core::quantity::{average, count, counted, duration_ns, ratio};
use pathscope_core::stats::LatencyFigures;

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
        Figure::new("answered", Value::Count(summary.received))
            .with_note(format!("{}, on one path or more", share(summary.received, summary.sent))),
    );
    if summary.paths.len() > 1 {
        figures.extend(benefit(summary));
    }
    figures.push(
        Figure::new("lost on all paths", Value::Count(summary.lost))
            .with_note(share(summary.lost, summary.sent)),
    );
    for (label, number) in [
        ("without a path", summary.without_path),
        ("unsent", summary.unsent),
        ("foreign", summary.foreign),
    ] {
        if number > 0 {
            figures.push(Figure::new(label, Value::Count(number)));
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
        let text = format!("{correlation:.3}");
        Some(Figure::new("correlation of losses", Value::Text(text)).with_note(format!(
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
    let label = format!("Wi-Fi {}", path.interface);
    Some(Figure::new(label, Value::Text(wireless.signal())).with_note(wireless.association()))
}

fn sent(summary: &MultipathSummary) -> Figure {
    let rate = summary.rate_bps.unwrap_or(0.0);
    let note = format!(
        "{} in {}; {}",
        pathscope_core::quantity::bytes(summary.sent_bytes),
        duration_ns(summary.sending_ns),
        counted(summary.sent, "datagram")
    );
    Figure::new("sent", Value::BitRate(rate)).with_note(note)
}

/// What the paths beside the primary were good for.
fn benefit(summary: &MultipathSummary) -> Vec<Figure> {
    let saved = summary.waiting_saved_ns;
    let value = if saved < 0 {
        Value::Text(format!("-{}", duration_ns(saved.unsigned_abs())))
    } else {
        Value::Duration(saved.unsigned_abs())
    };
    let of = |part: Option<f64>| part.map_or_else(String::new, ratio);
    let mut figures = vec![
        Figure::new("losses prevented", Value::Count(summary.prevented))
            .with_note("lost on the primary, answered on another path"),
        Figure::new("waiting saved", value)
            .with_note(format!("{} of the wait for the primary", of(summary.waiting_saved_ratio))),
        Figure::new("first elsewhere", Value::Count(summary.first_elsewhere)).with_note(format!(
            "{} of those answered came first on another path than the primary",
            of(summary.first_elsewhere_ratio)
        )),
    ];
    for (label, improvement) in [
        ("mean improvement", summary.mean_improvement),
        ("median improvement", summary.median_improvement),
    ] {
        let value = improvement.map_or(Value::Absent, Value::Ratio);
        figures.push(
            Figure::new(label, value).with_note("of the datagrams that the primary answered"),
        );
    }
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

fn duration(value: Option<u64>) -> Value {
    value.map_or(Value::Absent, Value::Duration)
}

fn rounded(value: Option<f64>) -> Value {
    duration(value.map(|value| value.round() as u64))
}

fn percentile(figures: &LatencyFigures, percent: f64) -> Value {
    figures.percentile(percent).copied().map_or(Value::Absent, Value::Percentile)
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn name(path: &PathSummary) -> Value {
    Value::Text(path.interface.clone())
}

fn latencies(summary: &MultipathSummary) -> Table {
    let row = |name: Value, figures: &LatencyFigures| {
        vec![
            name,
            rounded(figures.mean_ns),
            percentile(figures, 50.0),
            rounded(figures.standard_deviation_ns),
            duration(figures.interquartile_range_ns),
            duration(figures.min_ns),
            percentile(figures, 75.0),
            percentile(figures, 99.0),
            percentile(figures, 99.9),
            duration(figures.max_ns),
        ]
    };
    let effective = Value::Text("effective".to_owned());
    let paths = summary.paths.iter().map(|path| row(name(path), &path.latency));
    Table {
        title: "round trips".to_owned(),
        columns: columns(&[
            "path", "mean", "median", "jitter", "IQR", "min", "p75", "p99", "p99.9", "max",
        ]),
        rows: paths.chain([row(effective, &summary.effective)]).collect(),
    }
}

fn counts(summary: &MultipathSummary) -> Table {
    let way = |lost: Option<u64>| lost.map_or(Value::Absent, Value::Count);
    let ratio = |part: u64, whole: u64| {
        if whole == 0 { Value::Absent } else { Value::Ratio(part as f64 / whole as f64) }
    };
    let row = |path: &PathSummary| {
        vec![
            name(path),
            Value::Count(path.sent),
            Value::Count(path.received),
            ratio(path.received, path.sent),
            Value::Count(path.lost),
            ratio(path.lost, path.sent),
            way(path.lost_forward),
            way(path.lost_return),
            Value::Count(path.corrupt),
            Value::Count(path.duplicates),
            Value::Count(path.reordered),
            Value::Count(path.refused),
            Value::Count(path.first),
        ]
    };
    Table {
        title: "datagrams".to_owned(),
        columns: columns(&[
            "path",
            "sent",
            "answered",
            "share answered",
            "lost",
            "share lost",
            "there",
            "back",
            "corrupt",
            "copies",
            "reordered",
            "refused",
            "first",
        ]),
        rows: summary.paths.iter().map(row).collect(),
    }
}

fn gaps(summary: &MultipathSummary) -> Table {
    let row = |name: Value, gaps: &GapReport| {
        vec![
            name,
            Value::Count(gaps.outages),
            Value::Duration(gaps.outage_ns),
            Value::Duration(gaps.longest_ns),
            Value::Count(gaps.most_in_a_row),
        ]
    };
    let least = duration_ns(summary.effective_gaps.outage_least_ns);
    let effective = row(Value::Text("effective".to_owned()), &summary.effective_gaps);
    let paths = summary.paths.iter().map(|path| row(name(path), &path.gaps));
    Table {
        title: format!("outages of {least} and more"),
        columns: columns(&["path", "outages", "time", "longest gap", "most in a row"]),
        rows: paths.chain([effective]).collect(),
    }
}

fn policies(summary: &MultipathSummary) -> Table {
    let rows = summary.policies.iter().map(|policy| {
        vec![
            Value::Text(policy.policy.name().to_owned()),
            rounded(policy.latency.mean_ns),
            percentile(&policy.latency, 50.0),
            percentile(&policy.latency, 99.0),
            percentile(&policy.latency, 99.9),
            duration(policy.latency.max_ns),
            Value::Count(policy.lost),
            policy.lost_ratio.map_or(Value::Absent, Value::Ratio),
            Value::Bytes(policy.sent_bytes),
        ]
    });
    Table {
        title: "what senders would have had".to_owned(),
        columns: columns(&[
            "policy",
            "mean",
            "median",
            "p99",
            "p99.9",
            "max",
            "lost",
            "share lost",
            "sent",
        ]),
        rows: rows.collect(),
    }
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
    (shown > 0).then(|| Table {
        title,
        columns: columns(&["time", "path", "what", "why"]),
        rows: client.transitions[..shown].iter().map(row).collect(),
    })
}

/// The cells of a live row.
pub fn cells(interval: Option<&MultipathInterval>) -> Vec<Figure> {
    let effective = interval.and_then(|interval| interval.effective.as_ref());
    let answered = interval.map(|interval| {
        let each: Vec<String> = interval.paths.iter().map(|path| count(path.received)).collect();
        each.join(" ")
    });
    let number = |pick: fn(&MultipathInterval) -> u64| {
        interval.map_or(Value::Absent, |interval| Value::Count(pick(interval)))
    };
    vec![
        Figure::new("sent", number(|interval| interval.sent)),
        Figure::new("answered", number(|interval| interval.received)),
        Figure::new("RTT p50", duration(effective.and_then(LatencyFigures::median_ns))),
        Figure::new("RTT max", duration(effective.and_then(|effective| effective.max_ns))),
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
        let radios: Vec<_> = figures.iter().filter(|it| it.label.starts_with("Wi-Fi")).collect();
        let expected =
            Figure::new("Wi-Fi wlan0", Value::Text("-61 dBm, -61 at the weakest".to_owned()));
        assert_eq!(radios, [&expected.with_note("'home'")]);
    }
}
