//! A multipath test as labelled figures and tables: all that a view needs.

use pathscope_core::presentation::{Figure, Shape, Source, Table, Value};
use pathscope_core::quantity::{average, bytes, count, counted, duration_ns, ratio, total};
use pathscope_core::stats::LatencyFigures;

use super::figures::GROUP;
use super::summary::LossSummary;
use super::{
    GapReport, MultipathPlan, MultipathReport, MultipathSummary, Outage, PathSummary,
    PolicySummary, charts,
};
use crate::figure::{Amount, Cell, Heat, Part, PlainCell, Point, Unit, plain_table};
use crate::paths::Transition;
use crate::results::{Charts, Detail, Ends, Presents, Slices};

/// Transitions that are shown; the document has more of them.
const SHOWN_TRANSITIONS: usize = 20;
/// The same of outages.
const SHOWN_OUTAGES: usize = 20;

impl Presents for MultipathPlan {
    fn cells(&self, interval: Slices<'_, Self>) -> Vec<Figure> {
        let interval = interval.of_client();
        let effective = interval.and_then(|interval| interval.effective.as_ref());
        let answered = interval.map(|interval| {
            let each: Vec<String> =
                interval.paths.iter().map(|path| count(path.received)).collect();
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

    fn points(&self, summary: &MultipathSummary, interval: Slices<'_, Self>) -> Vec<Point> {
        interval.of_client().map(|own| charts::points(summary, own)).unwrap_or_default()
    }

    fn figures(&self, summary: &MultipathSummary) -> Vec<Figure> {
        let mut figures = vec![sent(summary)];
        figures.extend(answers(summary));
        figures.extend(summary.paths.iter().filter_map(radio));
        figures
    }

    fn distributions(ends: &Ends<'_, Self>) -> Vec<Shape> {
        charts::distributions(ends.of_client())
    }

    fn charts(&self, summary: &MultipathSummary, ends: &Ends<'_, Self>, charts: &mut Charts) {
        charts::add(summary, ends.of_client(), charts);
    }

    fn tables(&self, summary: &Self::Summary, ends: &Ends<'_, Self>, _: Detail) -> Vec<Table> {
        let mut tables = side_by_side(summary);
        tables.extend(transitions(ends.of_client()));
        tables
    }

    fn heats<'interval>(
        &self,
        summary: &MultipathSummary,
        interval: Slices<'interval, Self>,
    ) -> Vec<Heat<'interval>> {
        let Some(interval) = interval.of_client() else { return Vec::new() };
        let whole = interval.effective_half_octaves.as_ref().map(|counts| {
            let place = "client.multipath.effective_half_octaves";
            let source = GROUP.heat_map(&Part::Whole, "effective", place);
            Heat { source: Source { label: "effective latency".to_owned(), ..source }, counts }
        });
        let paths = summary.paths.iter().filter_map(|path| {
            let of_interval = interval.paths.get(usize::from(path.path))?;
            let counts = of_interval.latency_half_octaves.as_ref()?;
            let place = "client.multipath.paths[].latency_half_octaves";
            let part = Part::Entry(path.interface.clone());
            let source = GROUP.heat_map(&part, "path.latency", place);
            let label = format!("latency on {}", path.interface);
            Some(Heat { source: Source { label, ..source }, counts })
        });
        whole.into_iter().chain(paths).collect()
    }
}

/// What became of the datagrams.
pub(super) fn answers(summary: &MultipathSummary) -> Vec<Figure> {
    let received = format!("{}, on one path or more", share(summary.received, summary.sent));
    let mut figures = vec![GROUP.figure("received", summary.received).with_note(received)];
    if summary.paths.len() > 1 {
        figures.extend(benefit(summary));
    }
    figures.push(GROUP.figure("lost", summary.lost).with_note(share(summary.lost, summary.sent)));
    let others = [
        ("without_path", summary.without_path, ""),
        ("unsent", summary.unsent, ""),
        ("foreign", summary.foreign, ""),
    ];
    figures.extend(GROUP.counted(&Part::Whole, others));
    figures.extend(summary.losses.iter().filter_map(|losses| correlation(summary, losses)));
    figures
}

/// The paths side by side, and what other senders would have had of them.
pub(super) fn side_by_side(summary: &MultipathSummary) -> Vec<Table> {
    let mut tables = vec![latencies(summary)];
    tables.extend(boxes(summary));
    tables.extend([counts(summary), gaps(summary)]);
    tables.extend(outages(summary));
    if summary.paths.len() > 1 {
        tables.push(policies(summary));
    }
    tables
}

/// Whether two paths lose together.
fn correlation(summary: &MultipathSummary, losses: &LossSummary) -> Option<Figure> {
    let correlation = losses.correlation?;
    let name = |place: u8| {
        let path = summary.paths.iter().find(|path| path.path == place);
        path.map_or_else(|| place.to_string(), |path| path.interface.clone())
    };
    let pair = format!("{} and {}", name(losses.pair.one), name(losses.pair.other));
    let note = format!(
        "{pair}: {} lost on both, {} expected by chance",
        count(losses.pair.both_lost),
        average(losses.expected_both.unwrap_or(0.0))
    );
    Some(GROUP.of_entry(pair, "losses.correlation", correlation).with_note(note))
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
        bytes(summary.sent_bytes),
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
    let saved_note = format!("{} of the wait for the primary", of(summary.waiting_saved_ratio));
    let elsewhere_note = format!(
        "{} of those answered came first on another path than the primary",
        of(summary.first_elsewhere_ratio)
    );
    let answered = "of the datagrams that the primary answered";
    vec![
        GROUP
            .figure("prevented", summary.prevented)
            .with_note("lost on the primary, answered on another path"),
        GROUP.figure("waiting_saved", value).with_note(saved_note),
        GROUP.figure("first_elsewhere", summary.first_elsewhere).with_note(elsewhere_note),
        GROUP.figure("mean_improvement", summary.mean_improvement).with_note(answered),
        GROUP.figure("median_improvement", summary.median_improvement).with_note(answered),
    ]
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { ratio(part as f64 / whole as f64) }
}

fn percentile(figures: &LatencyFigures, percent: f64) -> Value {
    figures.percentile(percent).copied().value(Unit::Duration)
}

fn duration(nanoseconds: impl Amount) -> Value {
    nanoseconds.value(Unit::Duration)
}

/// What each path, or all of them together, has of something.
type Named<'all, T> = (&'all str, &'all T);

/// The rows of paths, and of all of them together.
fn with_effective<'all, T>(
    summary: &'all MultipathSummary,
    begin: &'static str,
    of: fn(&PathSummary) -> &T,
    effective: &'all T,
) -> impl Iterator<Item = (&'static str, Part, Named<'all, T>)> {
    let paths = summary.paths.iter().map(move |path| {
        (begin, Part::Entry(path.interface.clone()), (path.interface.as_str(), of(path)))
    });
    paths.chain([("effective", Part::Whole, ("effective", effective))])
}

fn latencies(summary: &MultipathSummary) -> Table {
    let columns: [Cell<Named<'_, LatencyFigures>>; 10] = [
        ("path", "", |(name, _)| Value::Text((*name).to_owned())),
        ("mean", "mean", |(_, rtt)| duration(rtt.mean_ns)),
        ("median", "p50", |(_, rtt)| percentile(rtt, 50.0)),
        ("jitter", "deviation", |(_, rtt)| duration(rtt.standard_deviation_ns)),
        ("IQR", "iqr", |(_, rtt)| duration(rtt.interquartile_range_ns)),
        ("min", "min", |(_, rtt)| duration(rtt.min_ns)),
        ("p75", "p75", |(_, rtt)| percentile(rtt, 75.0)),
        ("p99", "p99", |(_, rtt)| percentile(rtt, 99.0)),
        ("p99.9", "p99.9", |(_, rtt)| percentile(rtt, 99.9)),
        ("max", "max", |(_, rtt)| duration(rtt.max_ns)),
    ];
    let rows = with_effective(summary, "path.latency", |path| &path.latency, &summary.effective);
    GROUP.table("round trips", &columns, rows)
}

/// What boxes are drawn from. Two of the five stand in the table above, too, and are figures there.
fn boxes(summary: &MultipathSummary) -> Option<Table> {
    let columns: [Cell<Named<'_, LatencyFigures>>; 6] = [
        ("path", "", |(name, _)| Value::Text((*name).to_owned())),
        ("p5", "p5", |(_, rtt)| percentile(rtt, 5.0)),
        ("p25", "p25", |(_, rtt)| percentile(rtt, 25.0)),
        ("p50", "", |(_, rtt)| percentile(rtt, 50.0)),
        ("p75", "", |(_, rtt)| percentile(rtt, 75.0)),
        ("p95", "p95", |(_, rtt)| percentile(rtt, 95.0)),
    ];
    let has_all = |figures: &LatencyFigures| figures.percentile(5.0).is_some();
    let rows = with_effective(summary, "path.latency", |path| &path.latency, &summary.effective);
    let rows: Vec<_> = rows.filter(|(.., (_, figures))| has_all(figures)).collect();
    (!rows.is_empty()).then(|| GROUP.table("spread of round trips", &columns, rows))
}

/// The outages one by one, those of each path before those of all together.
fn outages(summary: &MultipathSummary) -> Option<Table> {
    let columns: [PlainCell<(&str, Outage)>; 4] = [
        ("path", |(name, _)| Value::Text((*name).to_owned())),
        ("from", |(_, outage)| Value::Duration(outage.start_ns)),
        ("length", |(_, outage)| Value::Duration(outage.duration_ns)),
        ("datagrams", |(_, outage)| Value::Count(outage.datagrams)),
    ];
    let of = |(_, _, (name, gaps)): (_, _, Named<'_, GapReport>)| {
        gaps.told.iter().map(|&outage| (name.to_owned(), outage)).collect::<Vec<_>>()
    };
    let rows = with_effective(summary, "path", |path| &path.gaps, &summary.effective_gaps);
    let told: Vec<(String, Outage)> = rows.flat_map(of).collect();
    let paths = summary.paths.iter().map(|path| path.gaps.outages);
    let all = total(paths.chain([summary.effective_gaps.outages]));
    let shown = told.len().min(SHOWN_OUTAGES);
    let title = title("outages over time", all.saturating_sub(shown as u64));
    let rows = told[..shown].iter().map(|(name, outage)| (name.as_str(), *outage));
    (shown > 0).then(|| plain_table(title, &columns, rows))
}

/// With how many more there are.
fn title(what: &str, left: u64) -> String {
    match left {
        0 => what.to_owned(),
        left => format!("{what} ({} more)", count(left)),
    }
}

fn counts(summary: &MultipathSummary) -> Table {
    fn ratio(part: u64, whole: u64) -> Value {
        if whole == 0 { Value::Absent } else { Value::Ratio(part as f64 / whole as f64) }
    }
    let columns: [Cell<PathSummary>; 13] = [
        ("path", "", |path| Value::Text(path.interface.clone())),
        ("sent", "sent", |path| Value::Count(path.sent)),
        ("answered", "received", |path| Value::Count(path.received)),
        ("share answered", "", |path| ratio(path.received, path.sent)),
        ("lost", "lost", |path| Value::Count(path.lost)),
        ("share lost", "", |path| ratio(path.lost, path.sent)),
        ("there", "lost_forward", |path| path.lost_forward.value(Unit::Count)),
        ("back", "lost_return", |path| path.lost_return.value(Unit::Count)),
        ("corrupt", "corrupt", |path| Value::Count(path.corrupt)),
        ("copies", "duplicates", |path| Value::Count(path.duplicates)),
        ("reordered", "reordered", |path| Value::Count(path.reordered)),
        ("refused", "refused", |path| Value::Count(path.refused)),
        ("first", "first", |path| Value::Count(path.first)),
    ];
    let rows = summary.paths.iter();
    let rows = rows.map(|path| ("path", Part::Entry(path.interface.clone()), path));
    GROUP.table("datagrams", &columns, rows)
}

fn gaps(summary: &MultipathSummary) -> Table {
    let columns: [Cell<Named<'_, GapReport>>; 5] = [
        ("path", "", |(name, _)| Value::Text((*name).to_owned())),
        ("outages", "outages", |(_, gaps)| Value::Count(gaps.outages)),
        ("time", "outage_time", |(_, gaps)| Value::Duration(gaps.outage_ns)),
        ("longest gap", "longest_gap", |(_, gaps)| Value::Duration(gaps.longest_ns)),
        ("most in a row", "most_in_a_row", |(_, gaps)| Value::Count(gaps.most_in_a_row)),
    ];
    let least = duration_ns(summary.effective_gaps.outage_least_ns);
    let rows = with_effective(summary, "path", |path| &path.gaps, &summary.effective_gaps);
    GROUP.table(format!("outages of {least} and more"), &columns, rows)
}

fn policies(summary: &MultipathSummary) -> Table {
    let columns: [Cell<PolicySummary>; 9] = [
        ("policy", "", |it| Value::Text(it.policy.name().to_owned())),
        ("mean", "latency.mean", |it| duration(it.latency.mean_ns)),
        ("median", "latency.p50", |it| percentile(&it.latency, 50.0)),
        ("p99", "latency.p99", |it| percentile(&it.latency, 99.0)),
        ("p99.9", "latency.p99.9", |it| percentile(&it.latency, 99.9)),
        ("max", "latency.max", |it| duration(it.latency.max_ns)),
        ("lost", "lost", |it| Value::Count(it.lost)),
        ("share lost", "lost_share", |it| it.lost_ratio.value(Unit::Share)),
        ("sent", "sent_bytes", |it| Value::Bytes(it.sent_bytes)),
    ];
    let rows = summary.policies.iter();
    let rows = rows.map(|it| ("policy", Part::Entry(it.policy.name().to_owned()), it));
    GROUP.table("what senders would have had", &columns, rows)
}

fn transitions(client: &MultipathReport) -> Option<Table> {
    let columns: [PlainCell<&Transition>; 4] = [
        ("time", |it| Value::Duration(it.at_ns)),
        ("path", |it| Value::Text(it.interface.clone())),
        ("what", |it| Value::Text(it.what.clone())),
        ("why", |it| Value::Text(it.why.clone())),
    ];
    let shown = client.transitions.len().min(SHOWN_TRANSITIONS);
    let left = (client.transitions.len() - shown) as u64 + client.transitions_omitted;
    let title = title("paths over time", left);
    (shown > 0).then(|| plain_table(title, &columns, &client.transitions[..shown]))
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
        let summary = MultipathSummary { paths, ..MultipathSummary::default() };
        let figures = crate::multipath::tests::plan(2).figures(&summary);
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
