//! What is drawn of a test over several paths beside its figures: series and losses of each path, and a timeline.

use pathscope_core::presentation::{Chart, SeriesPoint};
use pathscope_modes::document::Document;
use pathscope_modes::multipath::{LossesOverTime, Outage};
use pathscope_modes::paths::Transition;
use pathscope_modes::presentation::presentation;

/// A result of two paths, with what this version keeps beside what the fixture has.
fn multipath() -> Document {
    let text = include_str!("../../../cli/tests/fixtures/2/multipath.json");
    let mut document = Document::from_json(text).expect("a document");
    let measurement = &mut document.measurements[0];
    measurement.start_ns = 1_000;
    let losses = |lost: &[u64]| {
        let lost = lost.to_vec();
        Some(LossesOverTime { step_ns: 100_000_000, lost })
    };
    for interval in &mut measurement.intervals {
        let at = interval.index;
        let Some(own) = interval.client.as_mut().and_then(|end| end.multipath.as_mut()) else {
            continue;
        };
        for (place, path) in (0..).zip(&mut own.paths) {
            path.first = 10 * place + at;
            path.latency_p50_ns = Some(1_000_000 * (place + 1));
            path.latency_max_ns = Some(2_000_000 * (place + 1));
        }
    }
    let client = measurement.client.multipath.as_mut().expect("it is multipath");
    client.lost_over_time = losses(&[]);
    client.paths[1].lost_over_time = losses(&[0, 3]);
    let summary = measurement.summary.multipath.as_mut().expect("it is multipath");
    summary.paths[1].lost = 3;
    document
}

#[test]
fn paths_over_time_are_told_one_by_one_with_the_longest_where_samples_are_few() {
    let document = multipath();
    let section = &presentation(&document).sections[0];
    let [one, other] = [0, 1].map(|path| {
        document.measurements[0].summary.multipath.as_ref().expect("it is").paths[path]
            .interface
            .as_str()
    });
    let told: Vec<_> =
        section.series.iter().map(|it| (it.source.label.clone(), it.source.chart)).collect();
    let expected = [
        ("effective latency p50".to_owned(), Chart::Line),
        ("effective latency max".to_owned(), Chart::Line),
        (format!("latency p50 on {one}"), Chart::Line),
        (format!("latency max on {one}"), Chart::Line),
        (format!("latency p50 on {other}"), Chart::Line),
        (format!("latency max on {other}"), Chart::Line),
        (format!("answered first on {one}"), Chart::Stack),
        (format!("answered first on {other}"), Chart::Stack),
        ("lost on all paths".to_owned(), Chart::Line),
        (format!("lost on {other}"), Chart::Line),
    ];
    assert_eq!(told, expected);
    let series = |label: &str| {
        let found = section.series.iter().find(|it| it.source.label == label);
        found.unwrap_or_else(|| panic!("{label}")).points.clone()
    };
    let lost = series(&format!("lost on {other}"));
    let of = |start_ns, value| SeriesPoint::over(start_ns, start_ns + 100_000_000, Some(value));
    assert_eq!(lost[..3], [of(1_000, 0.0), of(100_001_000, 3.0), of(200_001_000, 0.0)]);
    assert!(series("lost on all paths").iter().all(|point| point.value == Some(0.0)));
    let first = series(&format!("answered first on {other}"));
    assert_eq!(
        (first[0].start_ns, first[0].value, first[1].value),
        (1_000, Some(10.0), Some(11.0))
    );
}

#[test]
fn outages_and_transitions_of_paths_are_a_timeline_on_the_time_of_the_document() {
    let mut document = multipath();
    let measurement = &mut document.measurements[0];
    let outage = Outage { start_ns: 5_000, duration_ns: 200, datagrams: 7 };
    let transition = Transition {
        at_ns: 5_100,
        path: Some(1),
        what: "down".to_owned(),
        why: "its address is gone".to_owned(),
        ..Default::default()
    };
    let summary = measurement.summary.multipath.as_mut().expect("it is multipath");
    summary.effective_gaps.told.clear();
    summary.paths.iter_mut().for_each(|path| path.gaps.told.clear());
    summary.paths[1].gaps.told.push(outage);
    let client = measurement.client.multipath.as_mut().expect("it is multipath");
    client.transitions = vec![transition];
    let section = &presentation(&document).sections[0];
    let [timeline] = &section.timelines[..] else { panic!("{:?}", section.timelines) };
    let rows: Vec<_> = timeline.rows.iter().map(|row| row.stretches.len()).collect();
    assert_eq!((timeline.start_ns, rows), (1_000, vec![0, 2, 0]));
    let stretches = timeline.rows[1].stretches.iter();
    let told: Vec<_> =
        stretches.map(|it| (it.start_ns, it.end_ns, it.what.as_str(), it.note.as_str())).collect();
    assert_eq!(
        told,
        [(6_000, 6_200, "outage", "7 datagrams"), (6_100, 6_100, "down", "its address is gone")]
    );
    let outages = section.tables.iter().find(|table| table.title.starts_with("outages over time"));
    assert_eq!(outages.expect("a table").rows.len(), 1);
}
