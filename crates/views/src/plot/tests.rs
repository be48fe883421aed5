//! Pictures: what they hold, that they are whole, and that nothing of a peer's is obeyed.

use pathscope_core::error::Failure;
use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    Chart, Figure, HeatColumn, HeatMap, Presentation, Section, Series, SeriesPoint, Shape, Source,
    Value,
};
use pathscope_core::record::Check;
use pathscope_core::stats::{Bucket, Distribution, HalfOctaves, Percentile};

use super::{png, svg};

const HOSTILE: &str = "</text><script>alert(\"1\")</script>&lt;\u{0}\u{1b}[31m\u{ffff}\u{202e}";

fn source(id: &str, label: &str, unit: Unit, chart: Chart) -> Source {
    Source { id: id.to_owned(), label: label.to_owned(), unit, chart, ..Source::default() }
}

fn figure(id: &str, label: &str, value: Value) -> Figure {
    Figure { id: id.to_owned(), ..Figure::new(label, value) }
}

fn series(source: Source, values: &[Option<f64>]) -> Series {
    let second = |at: u64| at * 1_000_000_000;
    let points = (0..).zip(values);
    let points = points.map(|(at, value)| SeriesPoint::over(second(at), second(at + 1), *value));
    Series { source, points: points.collect() }
}

fn distribution() -> Shape {
    let buckets = [(20_000, 900), (30_000, 90), (2_000_000, 10)]
        .map(|(upper_ns, count)| Bucket { upper_ns, count })
        .to_vec();
    let distribution =
        Distribution { count: 1_000, max_ns: Some(1_999_000), buckets, ..Distribution::default() };
    Shape { source: source("latency.rtt", "RTT", Unit::Duration, Chart::Histogram), distribution }
}

/// A rate with a gap, and a latency beside it.
fn of_a_rate(label: &str) -> Section {
    let rate = source("goodput.rate.up", label, Unit::BitRate, Chart::Area);
    let loaded = source("latency.loaded.rtt.p50", "RTT p50", Unit::Duration, Chart::Line);
    Section {
        place: "measurements[0]".to_owned(),
        title: label.to_owned(),
        subtitle: label.to_owned(),
        figures: vec![figure("goodput.rate.up", label, Value::BitRate(9e8))],
        series: vec![
            series(loaded, &[Some(30_000.0), Some(40_000.0)]),
            series(rate, &[Some(8e8), Some(7e8), None, Some(9.5e8), Some(9e8)]),
        ],
        distributions: vec![distribution()],
        ..Section::default()
    }
}

fn of_a_latency() -> Section {
    let percentile = |percent, value_ns| {
        let id = format!("latency.rtt.p{percent}");
        let value =
            Percentile { percent, value_ns, low_ns: None, high_ns: None, samples_needed: 10_000 };
        figure(&id, "RTT", Value::Percentile(value))
    };
    Section {
        place: "measurements[0]".to_owned(),
        title: "latency".to_owned(),
        figures: vec![
            percentile(50.0, Some(20_000)),
            percentile(75.0, Some(20_000)),
            percentile(99.0, Some(21_000)),
            percentile(99.9, None),
        ],
        series: vec![series(
            source("latency.rtt.p50", "RTT p50", Unit::Duration, Chart::Line),
            &[Some(20_000.0)],
        )],
        distributions: vec![distribution()],
        ..Section::default()
    }
}

fn result(title: &str, sections: Vec<Section>) -> Presentation {
    Presentation { title: title.to_owned(), sections, ..Presentation::default() }
}

fn drawn(presentation: &Presentation) -> String {
    let svg = svg(presentation, None).expect("there is something to draw");
    let svg = String::from_utf8(svg).expect("text");
    must_be_well_formed(&svg);
    svg
}

/// Elements end in the order in which they began, `&` begins an entity, and nothing is there that no XML may hold.
fn must_be_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut parts = svg.split('<');
    assert_eq!(parts.next(), Some(""), "{svg}");
    for part in parts {
        let (tag, text) = part.split_once('>').expect("each tag ends");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{svg}"),
            None => open.push(tag.split_whitespace().next().expect("it has a name")),
        }
        assert!(!open.is_empty() || text == "\n", "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        for entity in part.split('&').skip(1) {
            assert!(
                ["lt;", "gt;", "amp;", "quot;"].iter().any(|it| entity.starts_with(it)),
                "{part}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let forbidden =
        |it: char| (it.is_control() && it != '\n') || ['\u{fffe}', '\u{ffff}'].contains(&it);
    assert!(!svg.contains(forbidden), "{svg}");
}

/// Every text of a picture.
fn texts(svg: &str) -> Vec<&str> {
    let texts =
        svg.split("<text ").skip(1).filter_map(|text| text.split_once('>')?.1.split('<').next());
    texts.collect()
}

/// How many strokes of a color and width there are, those of names left out.
fn strokes(svg: &str, color: &str) -> usize {
    let is_line = |path: &&str| path.contains(&format!("stroke=\"{color}\" stroke-width=\"2\""));
    svg.split("<path ").filter(is_line).count() - 1
}

#[test]
fn a_rate_is_drawn_over_time_with_the_latency_below_and_gaps_stay_gaps() {
    let svg = drawn(&result("goodput of there", vec![of_a_rate("goodput up")]));
    let texts = texts(&svg);
    for text in [
        "goodput of there",
        "Mbit/s",
        "1,000",
        "goodput up",
        "900.0 Mbit/s",
        "µs",
        "RTT p50",
        "5 s",
    ] {
        assert!(texts.contains(&text), "{text} in {texts:?}");
    }
    let place = |text: &str| texts.iter().position(|it| *it == text);
    assert!(place("Mbit/s") < place("µs"), "{texts:?}");
    // Two before and after the gap in the first panel, one in the second.
    assert_eq!(strokes(&svg, "#1763a6") + 1, 2 + 1 + 2);
}

#[test]
fn a_latency_is_drawn_as_how_many_took_how_long() {
    let svg = drawn(&result("latency of there", vec![of_a_latency()]));
    let texts = texts(&svg);
    for text in [
        "RTT: how many of 1,000 took how long",
        "p50 20 µs",
        "p99 21 µs",
        "maximum 1.999 ms",
        "100 µs",
    ] {
        assert!(texts.contains(&text), "{text} in {texts:?}");
    }
    assert!(!svg.contains("p75") && !svg.contains("p99.9 "), "{texts:?}");
    assert_eq!(svg.matches("fill-opacity=\"0.8\"").count(), 3);
}

#[test]
fn several_measurements_share_one_axis_of_time_and_several_latencies_one_of_durations() {
    let mut second = of_a_rate("goodput up");
    second.title = "goodput again".to_owned();
    for it in &mut second.series {
        it.points.iter_mut().for_each(|point| point.moved(10_000_000_000));
    }
    let svg = drawn(&result("survey", vec![of_a_rate("goodput up"), second, of_a_latency()]));
    let found = texts(&svg);
    for text in ["goodput up", "goodput again", "15 s"] {
        assert!(found.contains(&text), "{text} in {found:?}");
    }
    assert_eq!(found.iter().filter(|it| **it == "RTT p50").count(), 1, "{found:?}");
    let svg = drawn(&result("latencies", vec![of_a_latency(), of_a_latency()]));
    let titles = texts(&svg)
        .iter()
        .filter(|it| **it == "latency: RTT: how many of 1,000 took how long")
        .count();
    assert_eq!(titles, 2);
}

#[test]
fn what_stands_above_all_measurements_is_drawn_in_their_place() {
    let rates = source("goodput.rate.up", "goodput up of goodput", Unit::BitRate, Chart::Line);
    let all = Section {
        title: "all runs".to_owned(),
        series: vec![series(rates, &[Some(1e9), Some(2e9)])],
        ..Section::default()
    };
    let svg = drawn(&result("goodput", vec![all, of_a_rate("first"), of_a_rate("second")]));
    assert!(svg.contains("goodput up of goodput") && svg.contains("all runs"), "{svg}");
    assert!(!svg.contains("first") && !svg.contains("RTT"), "{svg}");
}

#[test]
fn what_failed_is_told_in_the_picture() {
    let mut section = of_a_rate("goodput up");
    section.checks = vec![Check {
        name: "verified".to_owned(),
        passed: Some(false),
        text: "wrong data at byte 7".to_owned(),
        remedy: None,
    }];
    let result = result("goodput", vec![section]);
    assert!(texts(&drawn(&result)).contains(&"✗ wrong data at byte 7"));
    let svg = svg(&result, Some((Failure::Interrupted, "by a signal"))).expect("a picture");
    let svg = String::from_utf8(svg).expect("text");
    assert!(texts(&svg).contains(&"✗ ended early: by a signal"), "{svg}");
}

#[test]
fn nothing_that_a_peer_says_is_obeyed() {
    let svg = drawn(&result(HOSTILE, vec![of_a_rate(HOSTILE)]));
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}'), "{svg}");
    assert!(svg.contains("&lt;/text&gt;&lt;script&gt;"), "{svg}");
    assert!(png(&result(HOSTILE, vec![of_a_rate(HOSTILE)]), None).is_some());
}

#[test]
fn a_long_run_makes_no_large_file() {
    let mut section = of_a_rate("goodput up");
    let points = (0..100_000).map(|at| {
        let start_ns = at * 1_000_000_000;
        SeriesPoint::over(start_ns, start_ns + 1_000_000_000, Some((at % 1_000) as f64 * 1e6))
    });
    section.series[1].points = points.collect();
    let svg = drawn(&result("goodput", vec![section]));
    assert!(svg.len() < 60_000, "{}", svg.len());
    // The highest is still there.
    assert!(texts(&svg).contains(&"1,000"));
}

#[test]
fn a_png_has_two_pixels_for_each_of_the_svg_and_needs_no_font_of_the_machine() {
    let result = result("latency of there", vec![of_a_latency()]);
    let svg = drawn(&result);
    let png = png(&result, None).expect("a picture");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    let [width, height] = [side(16) / 2, side(20) / 2];
    assert!(svg.contains(&format!("viewBox=\"0 0 {width} {height}\"")), "{svg}");
    assert_eq!(width, 800);
    // Without words it is smaller: they are painted.
    let wordless = Presentation { title: String::new(), ..result };
    assert!(super::png(&wordless, None).expect("a picture").len() < png.len());
}

#[test]
fn of_several_paths_heat_maps_are_drawn_below_each_other() {
    let map = |label: &str| HeatMap {
        source: source("multipath.path.rtt", label, Unit::Distribution, Chart::HeatMap),
        columns: vec![HeatColumn {
            start_ns: 0,
            end_ns: 1_000_000_000,
            counts: HalfOctaves { first: 21, counts: vec![70, 0, 3] },
        }],
    };
    let section = Section { heat_maps: vec![map("wifi"), map("wire")], ..Section::default() };
    let svg = drawn(&result("multipath", vec![section]));
    let told = "wire: how many took how long, the darker the more; at most 70";
    assert!(texts(&svg).contains(&told), "{svg}");
    // Two fields of each, the most of which is as dark as can be.
    assert_eq!(svg.matches("fill=\"#1763a6\" fill-opacity").count(), 2);
    assert_eq!(svg.matches("fill=\"#1763a6\"></path>").count(), 2);
}

#[test]
fn where_nothing_can_be_drawn_nothing_is() {
    assert!(svg(&result("nothing", Vec::new()), None).is_none());
    let gap = series(source("x", "x", Unit::BitRate, Chart::Line), &[None, Some(f64::NAN)]);
    let section = Section { series: vec![gap], ..Section::default() };
    assert!(png(&result("nothing", vec![section]), None).is_none());
}
