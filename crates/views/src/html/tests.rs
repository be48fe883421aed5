//! The page: whole without scripts, and nothing that a peer says is obeyed.

use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    Background, Bar, Bars, BoxRow, Boxes, Chart, CommandLine, Dots, Estimate, EstimateLine,
    Estimates, Figure, HeatColumn, HeatMap, Level, Presentation, Scatter, Section, Series,
    SeriesPoint, Shape, Source, Stretch, Table, Timeline, TimelineRow, Value,
};
use pathscope_core::record::Caveat;
use pathscope_core::stats::{Bucket, Distribution, HalfOctaves};

use super::page::page;

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";

fn source(id: &str, label: &str, unit: Unit, chart: Chart) -> Source {
    Source { id: id.to_owned(), label: label.to_owned(), unit, chart, ..Source::default() }
}

fn presentation(label: &str) -> Presentation {
    let rate = Series {
        source: source("goodput.rate.up", label, Unit::BitRate, Chart::Area),
        points: vec![
            SeriesPoint::over(0, 1_000_000_000, Some(8e8)),
            SeriesPoint::over(1_000_000_000, 2_000_000_000, None),
            SeriesPoint::over(2_000_000_000, 3_000_000_000, Some(9.5e8)),
        ],
    };
    let buckets = vec![
        Bucket { upper_ns: 20_000, count: 90 },
        Bucket { upper_ns: 30_000, count: 0 },
        Bucket { upper_ns: 2_000_000, count: 10 },
    ];
    let distribution =
        Distribution { count: 100, max_ns: Some(1_999_000), buckets, ..Distribution::default() };
    let shape = Shape {
        source: source("latency.rtt", label, Unit::Duration, Chart::Histogram),
        distribution,
    };
    let column = |start_ns, first, counts: &[u64]| HeatColumn {
        start_ns,
        end_ns: start_ns + 500_000_000,
        counts: HalfOctaves { first, counts: counts.to_vec() },
    };
    let heat = HeatMap {
        source: source("latency.rtt", label, Unit::Distribution, Chart::HeatMap),
        columns: vec![column(0, 21, &[70, 0, 3]), column(1_000_000_000, 20, &[0, 27])],
    };
    let bar = |label: &str, count, least, most, is_marked| Bar {
        label: label.to_owned(),
        count,
        least,
        most,
        is_marked,
    };
    let bars = Bars {
        source: source("goodput.rate.up", label, Unit::BitRate, Chart::Line),
        title: label.to_owned(),
        bars: vec![bar(label, 2, 4e6, 5e6, false), bar("flow 7", 1, 3e5, 3e5, true)],
        mark: label.to_owned(),
        levels: vec![Level { label: label.to_owned(), value: 3.1e6 }],
        note: label.to_owned(),
    };
    let dots = |is_trouble, points: &[(u64, f64)]| Dots {
        label: label.to_owned(),
        is_trouble,
        points: points.to_vec(),
    };
    let scatter = Scatter {
        source: source("end.connection.client", label, Unit::Duration, Chart::Line),
        title: label.to_owned(),
        kinds: vec![dots(false, &[(2_000_000_000, 7e6)]), dots(true, &[(500_000_000, 9e6)])],
        note: label.to_owned(),
    };
    let section = Section {
        bars: vec![bars],
        scatters: vec![scatter],
        title: label.to_owned(),
        subtitle: label.to_owned(),
        settings: vec![Figure::setting("verify", label)],
        figures: vec![Figure::new(label, Value::BitRate(9e8)).with_note(label)],
        tables: vec![Table::new(
            label,
            [label, "sent"],
            [vec![Value::Text(label.to_owned()), Value::Bytes(2_048)]],
        )],
        series: vec![rate],
        distributions: vec![shape],
        heat_maps: vec![heat],
        caveats: vec![Caveat {
            name: "loopback".to_owned(),
            text: label.to_owned(),
            remedy: Some(label.to_owned()),
        }],
        ..Section::default()
    };
    let commands = CommandLine::known(&["pathscope".to_owned(), label.to_owned()]);
    let sections = vec![section];
    Presentation { title: label.to_owned(), sections, commands, ..Presentation::default() }
}

/// What a page shows, without what draws it.
fn shown(label: &str) -> (String, serde_json::Value) {
    let page = page(&presentation(label), None);
    let (shown, rest) =
        page.split_once("<script id=\"charts\" type=\"application/json\">").expect("it has charts");
    let (data, _) = rest.split_once("</script>").expect("they end");
    (shown.to_owned(), serde_json::from_str(data).expect("JSON"))
}

#[test]
fn charts_hold_the_numbers_in_base_units_and_gaps_stay_gaps() {
    let (_, charts) = shown("goodput up");
    assert_eq!(charts[1]["kind"], "time");
    let panel = &charts[1]["panels"][0];
    assert_eq!(panel["unit"]["name"], "Mbit/s");
    assert_eq!(panel["unit"]["multiple"], 1e6);
    assert_eq!(
        panel["lines"][0]["points"],
        serde_json::json!([
            [0.0, 8e8, 0.0, 1.0],
            [0.5, 8e8, 0.0, 1.0],
            [1.0, 8e8, 0.0, 1.0],
            [1.5, null, 1.0, 2.0],
            [2.0, 9.5e8, 2.0, 3.0],
            [2.5, 9.5e8, 2.0, 3.0],
            [3.0, 9.5e8, 2.0, 3.0],
        ])
    );
    assert_eq!(charts[2]["kind"], "distribution");
    assert_eq!(
        charts[2]["shapes"][0]["buckets"],
        serde_json::json!([[20_000, 90], [2_000_000, 10]])
    );
}

#[test]
fn a_heat_map_holds_its_counts_and_the_edges_of_what_holds_something() {
    let (_, charts) = shown("RTT");
    let map = &charts[3];
    assert_eq!(
        (&map["kind"], &map["title"]),
        (&"heat".into(), &"RTT: distribution over time".into())
    );
    assert_eq!(map["edges"], serde_json::json!([23_168, 32_768, 46_336, 65_536]));
    assert_eq!(
        map["maps"][0]["columns"],
        serde_json::json!([[0.0, 0.5, 0, [70, 0, 3]], [1.0, 1.5, 0, [27]]])
    );
}

#[test]
fn stretches_of_a_kind_are_drawn_alike_and_stand_in_a_table_too() {
    let stretch = |start_ns, end_ns, what: &str| Stretch {
        start_ns,
        end_ns,
        what: what.to_owned(),
        note: HOSTILE.to_owned(),
    };
    let row = |label: &str, stretches| TimelineRow { label: label.to_owned(), stretches };
    let timeline = Timeline {
        title: HOSTILE.to_owned(),
        start_ns: 0,
        end_ns: 4_000_000_000,
        rows: vec![
            row(HOSTILE, vec![stretch(1_000_000_000, 2_500_000_000, "outage")]),
            row("eth0", vec![stretch(5, 5, "up"), stretch(0, 1_000_000_000, "outage")]),
        ],
    };
    let numbers = [1e6, 2e6, 3e6, 4e6, 9e6];
    let boxes = Boxes {
        title: "latency".to_owned(),
        unit: Unit::Duration,
        names: ["p5", "p25", "p50", "p75", "p95"],
        rows: vec![BoxRow { label: HOSTILE.to_owned(), numbers }],
    };
    let section = Section { timelines: vec![timeline], boxes: vec![boxes], ..Section::default() };
    let presentation = Presentation { sections: vec![section], ..Presentation::default() };
    let charts = serde_json::to_value(super::charts::charts(&presentation.sections[0]));
    let charts = charts.expect("plain data");
    assert_eq!(
        (&charts[0]["kind"], &charts[0]["unit"]["name"], &charts[0]["rows"][0][1]),
        (&"boxes".into(), &"ms".into(), &serde_json::json!(numbers))
    );
    let drawn = &charts[1];
    assert_eq!(
        (&drawn["kind"], &drawn["kinds"]),
        (&"stretches".into(), &serde_json::json!(["outage", "up"]))
    );
    let places = |it: &serde_json::Value| it.as_array().map(|it| it[..4].to_vec());
    let stretches: Vec<_> =
        drawn["stretches"].as_array().expect("a list").iter().filter_map(places).collect();
    assert_eq!(
        serde_json::json!(stretches),
        serde_json::json!([[0, 1.0, 2.5, 0], [1, 5e-9, 5e-9, 1], [1, 0.0, 1.0, 0]])
    );
    let page = page(&presentation, None);
    assert_eq!(page.matches("<script").count(), 3);
    let (shown, _) = page.split_once("<script id=\"charts\"").expect("it has charts");
    assert!(
        !shown.contains("<img") && shown.matches("<td class=\"words\">outage</td>").count() == 2
    );
}

#[test]
fn bars_hold_the_least_and_the_most_of_each_and_marks_when_and_how_long() {
    let (_, charts) = shown("connections");
    let bars = &charts[4];
    assert_eq!((&bars["kind"], &bars["title"]), (&"bars".into(), &"connections".into()));
    assert_eq!(bars["unit"]["name"], "Mbit/s");
    assert_eq!(
        bars["bars"],
        serde_json::json!([["connections", 2, 4e6, 5e6, false], ["flow 7", 1, 3e5, 3e5, true]])
    );
    assert_eq!(bars["levels"], serde_json::json!([["connections", 3.1e6]]));
    let scatter = &charts[0];
    assert_eq!((&scatter["kind"], &scatter["unit"]["name"]), (&"scatter".into(), &"ms".into()));
    assert_eq!(scatter["kinds"][1]["is_trouble"], true);
    assert_eq!(scatter["kinds"][1]["points"], serde_json::json!([[0.5, 9e6]]));
}

#[test]
fn several_measurements_of_a_document_begin_with_all_of_them_on_one_axis_of_time() {
    let of = |place: &str, start_ns| {
        let mut section = presentation("goodput up").sections.remove(0);
        section.place = place.to_owned();
        section.title = format!("goodput at {start_ns}");
        section.series[0].points.iter_mut().for_each(|point| point.moved(start_ns));
        section
    };
    let charts = |sections: Vec<Section>| {
        let page = page(&Presentation { sections, ..Presentation::default() }, None);
        let (_, rest) = page.split_once("application/json\">").expect("it has charts");
        let (data, _) = rest.split_once("</script>").expect("they end");
        let charts: Vec<serde_json::Value> = serde_json::from_str(data).expect("JSON");
        assert_eq!(page.matches("class=\"canvas\"").count(), charts.len());
        charts
    };
    let second = 4_000_000_000;
    let [one, other] = [of("measurements[0]", 0), of("measurements[1]", second)];
    let all = charts(vec![one.clone(), other]);
    assert_eq!(all.len(), 11);
    let first = &all[0];
    assert_eq!(first["title"], "all measurements over time");
    assert_eq!(first["range"], serde_json::json!([0.0, 7.0]));
    let phases = serde_json::json!([[0.0, "goodput at 0"], [4.0, "goodput at 4000000000"]]);
    assert_eq!(first["phases"], phases);
    let lines = first["panels"][0]["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), 1);
    let points = lines[0]["points"].as_array().expect("points");
    let gap = serde_json::json!([3.5, null, 3.0, 4.0]);
    assert!(points.contains(&gap), "{points:?}");
    // Each of two results has a time of its own.
    assert_eq!(charts(vec![one.clone(), of("measurements[0]", second)]).len(), 10);
    assert_eq!(charts(vec![one]).len(), 5);
}

#[test]
fn one_sample_is_no_distribution() {
    let mut section = presentation("RTT").sections.remove(0);
    section.distributions[0].distribution.buckets.truncate(1);
    section.distributions[0].distribution.buckets[0].count = 1;
    section.heat_maps[0].columns.truncate(1);
    section.heat_maps[0].columns[0].counts = HalfOctaves { first: 21, counts: vec![1] };
    let kinds = |section: &Section| {
        let charts = serde_json::to_value(super::charts::charts(section)).expect("plain data");
        let charts = charts.as_array().expect("a list").iter().map(|it| it["kind"].clone());
        charts.collect::<Vec<_>>()
    };
    assert_eq!(kinds(&section), ["scatter", "time", "bars"]);
    section.distributions[0].distribution.buckets[0].count = 2;
    section.heat_maps[0].columns[0].counts.counts[0] = 2;
    assert_eq!(kinds(&section), ["scatter", "time", "distribution", "heat", "bars"]);
}

#[test]
fn all_that_is_drawn_stands_in_tables_too() {
    let (shown, _) = shown("goodput up");
    for part in [
        "<h2>goodput up</h2>",
        "900.0 Mbit/s",
        "<td>800.0</td>",
        "<td>–</td>",
        "<td>950.0</td>",
        "<td>70</td><td>3</td>",
        "<td>27</td><td>0</td>",
        "<td>2</td><td>4,000</td><td>5,000</td>",
        "<td>1</td><td>300.0</td><td>300.0</td><td class=\"words\">goodput up</td>",
        "<td>500.0</td><td>9.000</td><td class=\"words\">goodput up</td>",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn the_page_says_how_to_have_it_again_and_what_to_do() {
    let (shown, _) = shown("it's up");
    let command = "<pre class=\"command\"><code>pathscope 'it'\\''s up'</code></pre>";
    for part in [command, "<span class=\"remedy\">Remedy: it's up</span>"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn what_else_was_seen_stands_below_figures_and_tables() {
    let mut result = presentation("goodput up");
    let section = &mut result.sections[0];
    let head = section.figures[0].clone();
    section.figures = vec![head; 5];
    let series = section.series.clone();
    let statistics = vec![Table::new("statistics", ["min"], [vec![Value::Count(4_711)]])];
    section.backgrounds = vec![Background { title: "machines".to_owned(), series, statistics }];
    let page = page(&result, None);
    let places = [
        "over time",
        "chart-4",
        "<caption>figures",
        "2.000",
        "machines over time",
        "chart-5",
        "4,711",
        "Numbers:",
    ];
    let places = places.map(|part| page.find(part).unwrap_or_else(|| panic!("{part} in it")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn numbers_with_intervals_stand_at_their_places() {
    let estimate = |place: &str, at, interval| Estimate {
        place: place.to_owned(),
        at: Some(at),
        value: 2e6,
        interval,
    };
    let points = vec![estimate("1", 1.0, Some((1e6, 3e6))), estimate(HOSTILE, 16.0, None)];
    let estimates = Estimates {
        title: "RTT p50".to_owned(),
        axis: "connections".to_owned(),
        unit: Unit::Duration,
        lines: vec![EstimateLine { label: String::new(), points, is_joined: true }],
    };
    let section = Section { estimates: vec![estimates], ..Section::default() };
    let page = page(&Presentation { sections: vec![section], ..Presentation::default() }, None);
    assert_eq!(page.matches("<script").count(), 3, "a place is obeyed");
    let (_, rest) = page.split_once("application/json\">").expect("it has charts");
    let (data, _) = rest.split_once("</script>").expect("they end");
    let charts: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let chart = &charts[0];
    assert_eq!((&chart["kind"], &chart["title"]), (&"estimates".into(), &"RTT p50".into()));
    let chart = &chart["estimates"];
    assert_eq!(chart["unit"]["name"], "ms");
    assert_eq!(chart["range"], serde_json::json!([0.0, 3e6]));
    assert_eq!(chart["places"][0], serde_json::json!(["1", 0.06]));
    assert_eq!(chart["places"][1][1], 0.94);
    let expected = serde_json::json!([[0, 2e6, [1e6, 3e6]], [1, 2e6, null]]);
    assert_eq!(chart["lines"][0]["points"], expected);
}

#[test]
fn nothing_that_a_peer_says_is_obeyed() {
    let (shown, charts) = shown(HOSTILE);
    assert!(!shown.contains("<img") && !shown.contains("alert(1)</script>"), "{shown}");
    assert!(!shown.contains('\u{202e}'));
    let label = charts[1]["panels"][0]["lines"][0]["label"].as_str().expect("a label");
    assert!(label.starts_with("</script><script>alert(1)"), "{label}");
    let page = page(&presentation(HOSTILE), None);
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert_eq!(page.matches("<script").count(), 3);
}

#[test]
fn the_page_asks_nobody_for_anything() {
    let page = page(&presentation("goodput up"), None);
    for asks in [" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        let own = page.matches(asks).count() - super::page::ECHARTS.matches(asks).count();
        assert_eq!(own, 0, "{asks}");
    }
}
