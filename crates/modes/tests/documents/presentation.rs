//! Presentations of results of every kind against the list of figures: what bears an id is in it, is what the document
//! has there, and is told once.

use std::collections::HashSet;

use pathscope_core::counters::HostActivity;
use pathscope_core::figure::{Part, Unit};
use pathscope_core::id::FlowId;
use pathscope_core::presentation::{Chart, HeatColumn, Section, SeriesPoint, Value};
use pathscope_core::stats::HalfOctaves;
use pathscope_core::tcp_look::TcpLook;
use pathscope_modes::document::Document;
use pathscope_modes::figures::{FigureId, FigureIdError};
use pathscope_modes::presentation::presentation;
use serde_json::Value as Json;

/// Results of every kind that earlier versions left, as the program's tests have them.
macro_rules! results {
    ($($name:literal),*) => {
        [$(
            (concat!("1/", $name), include_str!(concat!("../../../cli/tests/fixtures/1/", $name, ".json"))),
            (concat!("2/", $name), include_str!(concat!("../../../cli/tests/fixtures/2/", $name, ".json"))),
        )*]
    };
}

fn results() -> impl Iterator<Item = (&'static str, Document)> {
    let texts = results![
        "damaged-push",
        "damaged-udp",
        "find-rate",
        "goodput-duplex",
        "goodput-pull",
        "goodput-udp",
        "goodput-udp-duplex",
        "latency-tcp-closed-rate",
        "latency-udp-kernel",
        "latency-udp-open",
        "media-down",
        "multipath",
        "survey",
        "unreachable"
    ];
    texts.into_iter().map(|(name, text)| (name, Document::from_json(text).expect("a document")))
}

/// The part of the document that a section's places go on from.
fn part_of(document: &Document, section: &Section) -> Json {
    let whole = serde_json::to_value(document).expect("plain data");
    let index = section.place.strip_prefix("measurements[").and_then(|it| it.strip_suffix(']'));
    match index {
        Some(index) => whole["measurements"][index.parse::<usize>().expect("a number")].clone(),
        None => whole,
    }
}

/// All that a section tells under an id, in figures and cells.
fn told(section: &Section) -> Vec<(String, Part, Value)> {
    let figures =
        section.figures.iter().map(|it| (it.id.clone(), it.part.clone(), it.value.clone()));
    let cells = section.tables.iter().flat_map(|table| {
        table.rows.iter().flat_map(|row| {
            table.columns.iter().zip(&row.cells).map(|(column, cell)| {
                let is_figure = !row.id.is_empty() && !column.id.is_empty();
                let id =
                    if is_figure { format!("{}.{}", row.id, column.id) } else { String::new() };
                (id, row.part.clone(), cell.clone())
            })
        })
    });
    figures.chain(cells).filter(|(id, ..)| !id.is_empty()).collect()
}

/// Where a place is in JSON; of a list, its first entry.
fn pointer(place: &str) -> String {
    format!("/{}", place.replace("[]", ".0").replace('.', "/"))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bytes(number) | Value::Duration(number) | Value::Count(number) => {
            Some(*number as f64)
        }
        Value::BitRate(number)
        | Value::Frequency(number)
        | Value::Ratio(number)
        | Value::Worded(number, _) => Some(*number),
        Value::Percentile(percentile) => percentile.value_ns.map(|value| value as f64),
        Value::Text(_) | Value::Absent => None,
    }
}

fn sections(of: impl Fn(&str, &Document, &Section)) {
    for (name, document) in results() {
        let presentation = presentation(&document);
        presentation.sections.iter().for_each(|it| of(name, &document, it));
    }
}

#[test]
fn what_bears_an_id_is_what_the_document_has_there() {
    sections(|name, document, section| {
        let at = part_of(document, section);
        for (id, part, value) in told(section) {
            match FigureId::find(&id) {
                Ok(figure) => {
                    // Lengths of time are told in whole nanoseconds.
                    let (shown, there) = (number(&value), figure.number(&at));
                    let is_same = match (shown, there) {
                        (Some(shown), Some(there)) => (shown - there).abs() <= 1.0,
                        (shown, there) => shown == there,
                    };
                    assert!(is_same, "{name}: {id} is shown as {shown:?} and is {there:?}");
                }
                Err(FigureIdError::Many { .. }) => {
                    assert!(matches!(part, Part::Entry(_)), "{name}: {id} of which?");
                }
                Err(error) => panic!("{name}: {error}"),
            }
        }
    });
}

#[test]
fn nothing_is_told_twice_under_one_address() {
    sections(|name, _, section| {
        let mut seen = HashSet::new();
        for (id, part, _) in told(section) {
            assert!(seen.insert((id.clone(), part.clone())), "{name}: {id} {part:?} twice");
        }
        let series = section.series.iter().map(|it| &it.source);
        let shapes = section.distributions.iter().map(|it| &it.source);
        for sources in [series.collect::<Vec<_>>(), shapes.collect()] {
            // Paths share an id, and bear their names.
            let ids: HashSet<_> = sources.iter().map(|it| (&it.id, &it.label)).collect();
            assert_eq!(ids.len(), sources.len(), "{name}: {sources:?}");
        }
    });
}

#[test]
fn series_and_distributions_are_of_figures_and_say_where_their_values_are() {
    sections(|name, document, section| {
        let at = part_of(document, section);
        for series in &section.series {
            let source = &series.source;
            match FigureId::find(&source.id) {
                Ok(figure) => assert_eq!(figure.unit(), source.unit, "{name}: {}", source.id),
                Err(FigureIdError::Many { .. }) => assert!(source.place.contains("[]"), "{name}"),
                Err(error) => panic!("{name}: {error}"),
            }
            let rest = source.place.strip_prefix("intervals[].").expect("of intervals");
            let intervals = at["intervals"].as_array().expect("a list");
            assert!(intervals.iter().any(|it| it.pointer(&pointer(rest)).is_some()), "{rest}");
        }
        for shape in &section.distributions {
            assert_eq!(shape.source.unit, Unit::Distribution);
            let typed = format!("{}.p50", shape.source.id);
            let found = FigureId::find(&typed);
            assert!(!matches!(found, Err(FigureIdError::NoSuch { .. })), "{name}: {typed}");
            let place = pointer(&format!("{}.buckets", shape.source.place));
            assert!(at.pointer(&place).is_some(), "{name}: {place}");
        }
    });
}

#[test]
fn heat_maps_are_of_what_the_intervals_have_and_say_where() {
    let counts = |at: usize| HalfOctaves { first: 20 + at as u8, counts: vec![3, at as u64] };
    for (name, mut document) in results() {
        for interval in document.measurements.iter_mut().flat_map(|it| &mut it.intervals) {
            let at = interval.index as usize;
            let Some(end) = &mut interval.client else { continue };
            // Of a latency test, or of the probes beside a load.
            end.latency.iter_mut().for_each(|it| it.rtt_half_octaves = Some(counts(at)));
            let Some(multipath) = &mut end.multipath else { continue };
            multipath.effective_half_octaves = Some(counts(at));
            let paths = multipath.paths.iter_mut().enumerate();
            paths.for_each(|(path, it)| it.latency_half_octaves = Some(counts(at + path)));
        }
        for section in presentation(&document).sections {
            let at = part_of(&document, &section);
            let mut seen = HashSet::new();
            for map in &section.heat_maps {
                assert!(seen.insert(format!("{:?}", map.source)), "{name}: {:?} twice", map.source);
                assert_eq!(
                    (map.source.unit, map.source.chart),
                    (Unit::Distribution, Chart::HeatMap)
                );
                let typed = format!("{}.p50", map.source.id);
                assert!(
                    !matches!(FigureId::find(&typed), Err(FigureIdError::NoSuch { .. })),
                    "{name}: {typed}"
                );
                let place = map.source.place.strip_prefix("intervals[].").expect("of intervals");
                let paths = at["summary"]["multipath"]["paths"].as_array().into_iter().flatten();
                let mut of_map = paths.filter(|it| {
                    map.source.label.ends_with(it["interface"].as_str().expect("a name"))
                });
                let path = of_map.next().map_or(Json::Null, |it| it["path"].clone());
                let pointer = place.replace("[]", &format!(".{path}")).replace('.', "/");
                let pointer = format!("/{pointer}");
                let start_ns = at["start_ns"].as_u64().expect("a time");
                let column = |it: &Json| {
                    let counts = serde_json::from_value(it.pointer(&pointer)?.clone()).ok()?;
                    let time = |name: &str| Some(start_ns + it["client"][name].as_u64()?);
                    let (start_ns, end_ns) = (time("start_ns")?, time("end_ns")?);
                    Some(HeatColumn { start_ns, end_ns, counts })
                };
                let there = at["intervals"].as_array().expect("a list").iter().filter_map(column);
                assert_eq!(map.columns, there.collect::<Vec<_>>(), "{name}: {pointer}");
            }
            let is_over_time = section.series.iter().any(|it| it.source.id.contains("rtt"));
            assert!(!is_over_time || !section.heat_maps.is_empty(), "{name}: {}", section.title);
        }
    }
}

#[test]
fn what_machines_did_over_time_is_of_figures_and_where_it_says() {
    for (name, mut document) in results() {
        let activity = HostActivity {
            length_ns: 1,
            busiest_ratio: Some(0.5),
            soft_interrupt_ratio: Some(0.0),
            stolen_ratio: Some(0.0),
            retransmits: 3,
            drops: 1,
            ..HostActivity::default()
        };
        for interval in document.measurements.iter_mut().flat_map(|it| &mut it.intervals) {
            let ends = [&mut interval.client, &mut interval.server].into_iter().flatten();
            ends.for_each(|end| end.host_activity = Some(activity));
        }
        for section in presentation(&document).sections {
            let at = part_of(&document, &section);
            let is_told = !at["intervals"].as_array().is_none_or(Vec::is_empty);
            assert_eq!(section.backgrounds.iter().any(|it| it.title == "machines"), is_told);
            for background in &section.backgrounds {
                let rows: usize = background.statistics.iter().map(|table| table.rows.len()).sum();
                assert_eq!(rows, background.series.len(), "{name}");
                let mut seen = HashSet::new();
                for series in &background.series {
                    let source = &series.source;
                    assert!(seen.insert(source.id.clone()), "{name}: {} twice", source.id);
                    let figure = FigureId::find(&source.id).expect("a figure");
                    assert_eq!(figure.unit(), source.unit, "{name}: {}", source.id);
                    let rest = source.place.strip_prefix("intervals[].").expect("of intervals");
                    let pointer = format!("/{}", rest.replace('.', "/"));
                    let intervals = at["intervals"].as_array().expect("a list").iter();
                    let there = intervals.filter_map(|it| it.pointer(&pointer)?.as_f64());
                    let told = series.points.iter().filter_map(|point| point.value);
                    assert_eq!(told.collect::<Vec<_>>(), there.collect::<Vec<_>>(), "{pointer}");
                }
                // Nothing was stolen, and nothing timed out.
                let ids: Vec<_> = seen.iter().map(|id| id.trim_end_matches(".server")).collect();
                let of_client = ids.iter().filter_map(|id| id.strip_suffix(".client"));
                let mut of_client: Vec<_> = of_client.collect();
                of_client.sort_unstable();
                let expected = ["busiest", "drops", "retransmits", "soft_interrupt"];
                assert_eq!(of_client, expected.map(|it| format!("end.activity.{it}")), "{name}");
            }
        }
    }
}

#[test]
fn senders_over_time_are_told_one_by_one_and_counts_interval_by_interval() {
    let text = include_str!("../../../cli/tests/fixtures/2/goodput-push.json");
    let mut document = Document::from_json(text).expect("a document");
    let look = |flow, at: u64| TcpLook {
        flow: FlowId(flow),
        congestion_window_bytes: Some(14_480 + at),
        retransmits: Some(3 + 2 * at),
        duplicates: Some(0),
        ..TcpLook::default()
    };
    let intervals = &mut document.measurements[0].intervals;
    for interval in &mut *intervals {
        let end = interval.client.as_mut().expect("the client's");
        // One has ended before the last interval; more than are told are of a file that says anything.
        end.senders = (0..20).map(|flow| look(flow, interval.index)).collect();
        if interval.index > 0 {
            end.senders.remove(1);
        }
    }
    let count = intervals.len();
    let section = &presentation(&document).sections[0];
    let titles: Vec<_> = section.backgrounds.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["congestion windows", "losses of TCP"]);
    let [windows, losses] = &section.backgrounds[..] else { panic!("two") };
    let labels: Vec<_> = windows.series.iter().map(|it| it.source.label.as_str()).collect();
    assert_eq!(labels.len(), 8);
    assert_eq!(
        labels[..2],
        ["congestion window, client, flow 0", "congestion window, client, flow 1"]
    );
    let first = &windows.series[0];
    assert_eq!((first.source.unit, first.points.len()), (Unit::Bytes, count));
    assert_eq!(first.source.place, "intervals[].client.senders[].congestion_window_bytes");
    assert!(matches!(FigureId::find(&first.source.id), Err(FigureIdError::Many { .. })));
    let values = |of: &[SeriesPoint]| of.iter().map(|point| point.value).collect::<Vec<_>>();
    assert_eq!(values(&windows.series[1].points)[..2], [Some(14_480.0), None]);
    // What came before the first interval is in it; nothing was sent again in vain.
    assert_eq!(losses.series.len(), 8);
    assert_eq!(values(&losses.series[0].points)[..2], [Some(3.0), Some(2.0)]);
}

#[test]
fn whatever_a_test_states_is_a_setting_by_an_id_of_the_page() {
    let page = include_str!("../../../../docs/settings.md");
    sections(|name, document, section| {
        if section.place.is_empty() {
            return assert!(section.settings.is_empty(), "{name}: {}", section.title);
        }
        let test = &part_of(document, section)["test"];
        let mut ids = HashSet::new();
        for setting in &section.settings {
            assert!(ids.insert(&setting.id), "{name}: {} twice", setting.id);
            let row = page.lines().find(|row| row.starts_with(&format!("| `{}` |", setting.id)));
            let Some(row) = row else { panic!("{name}: {} is not on the page", setting.id) };
            let place = row.split('`').nth(3).expect("a place").replace("test.", "/");
            let there = test.pointer(&place.replace('.', "/")).expect("the place has it");
            let text = match &setting.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            };
            let is_there = match there {
                Json::Number(it) => number(&setting.value) == it.as_f64(),
                Json::String(it) => text == Some(it),
                Json::Bool(it) => text == Some(it.to_string().as_str()),
                it => text.is_some_and(|text| it.as_array().is_some() && !text.contains('"')),
            };
            assert!(is_there, "{name}: {} is {:?}, and {there} there", setting.id, setting.value);
        }
        assert!(ids.contains(&"setting.report_every".to_owned()), "{name}: {ids:?}");
    });
}
