//! Whatever a mode or a peer says: no panic, no control character, no line wider than it must be.

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::figure::Unit;
use pathscope_core::presentation::{
    CommandLine, Figure, Presentation, Row, Section, Series, SeriesPoint, Shape, Source, Table,
    Value,
};
use pathscope_core::record::{Caveat, Check, Evidence, Limit, Verdict};
use pathscope_core::stats::{Bucket, Distribution, Percentile};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::registry::Format;
use crate::view::{Charset, Color, Detail, Live, Options};
use crate::words;

/// Text as a hostile peer would have it.
fn any_text() -> BoxedStrategy<String> {
    prop_oneof![any::<String>(), "[a-z \\n\\t\\x1b\\[\\]0-9m\u{9b}\u{202e}]{0,200}"].boxed()
}

/// Text as a mode would have it: words that a line can be broken between.
fn sober_text() -> BoxedStrategy<String> {
    "([a-z0-9]{1,8} ){0,30}".boxed()
}

fn percentile() -> impl Strategy<Value = Percentile> {
    let end = || any::<Option<u64>>();
    (any::<f64>(), end(), end(), end(), any::<u64>()).prop_map(
        |(percent, value_ns, low_ns, high_ns, samples_needed)| Percentile {
            percent,
            value_ns,
            low_ns,
            high_ns,
            samples_needed,
        },
    )
}

fn any_number() -> BoxedStrategy<f64> {
    use prop::num::f64::ANY;
    ANY.boxed()
}

/// A number as modes measure it.
fn sober_number() -> BoxedStrategy<f64> {
    (0.0..1e12_f64).boxed()
}

fn value(text: BoxedStrategy<String>, number: BoxedStrategy<f64>) -> BoxedStrategy<Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::Bytes),
        number.clone().prop_map(Value::BitRate),
        any::<u64>().prop_map(Value::Duration),
        any::<u64>().prop_map(Value::Count),
        number.clone().prop_map(Value::Frequency),
        number.clone().prop_map(Value::Ratio),
        percentile().prop_map(Value::Percentile),
        (number, text.clone()).prop_map(|(number, text)| Value::Worded(number, text)),
        text.prop_map(Value::Text),
        Just(Value::Absent),
    ]
    .boxed()
}

fn figure(text: BoxedStrategy<String>, value: BoxedStrategy<Value>) -> BoxedStrategy<Figure> {
    (text.clone(), value, prop::option::of(text.clone()), text)
        .prop_map(|(label, value, note, group)| Figure {
            label,
            value,
            note,
            group,
            ..Figure::default()
        })
        .boxed()
}

fn findings(
    text: BoxedStrategy<String>,
) -> BoxedStrategy<(Vec<Check>, Option<Verdict>, Vec<Caveat>)> {
    let check =
        (text.clone(), any::<Option<bool>>(), text.clone()).prop_map(|(name, passed, text)| {
            let remedy = Some(text.clone());
            Check { name, passed, text, remedy }
        });
    let evidence = (text.clone(), any::<f64>(), text.clone(), any::<bool>())
        .prop_map(|(name, value, text, decides)| Evidence { name, value, text, decides });
    let verdict = (text.clone(), vec(evidence, 0..4)).prop_map(|(text, evidence)| Verdict {
        limit: Limit::Unknown,
        sure: None,
        remedy: Some(text.clone()),
        text,
        evidence,
    });
    let caveat = (text.clone(), text).prop_map(|(name, text)| {
        let remedy = Some(text.clone());
        Caveat { name, text, remedy }
    });
    (vec(check, 0..3), prop::option::of(verdict), vec(caveat, 0..3)).boxed()
}

fn series() -> impl Strategy<Value = Series> {
    let unit = prop_oneof![Just(Unit::BitRate), Just(Unit::Duration), Just(Unit::Count)];
    let point = (any::<u64>(), any::<u64>(), prop::option::of(any_number()))
        .prop_map(|(start_ns, end_ns, value)| SeriesPoint { start_ns, end_ns, value });
    (any_text(), vec(point, 0..200), unit).prop_map(|(label, points, unit)| Series {
        source: Source { label, unit, ..Source::default() },
        points,
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let bucket =
        (any::<u64>(), any::<u64>()).prop_map(|(upper_ns, count)| Bucket { upper_ns, count });
    (any_text(), vec(bucket, 0..20)).prop_map(|(label, buckets)| Shape {
        source: Source { label, ..Source::default() },
        distribution: Distribution { buckets, ..Distribution::default() },
    })
}

fn any_section() -> impl Strategy<Value = Section> {
    let value = value(any_text(), any_number());
    let table = (any_text(), vec(any_text(), 0..5), vec(vec(value.clone(), 0..7), 0..4))
        .prop_map(|(title, columns, rows)| Table::new(title, columns, rows));
    (
        (any_text(), any_text()),
        vec(figure(any_text(), value), 0..5),
        vec(table, 0..3),
        vec(series(), 0..3),
        vec(shape(), 0..2),
        findings(any_text()),
    )
        .prop_map(|((title, subtitle), figures, tables, series, distributions, findings)| {
            let (checks, verdict, caveats) = findings;
            Section {
                title,
                subtitle,
                figures,
                tables,
                series,
                distributions,
                checks,
                verdict,
                caveats,
                ..Section::default()
            }
        })
}

fn any_presentation() -> impl Strategy<Value = Presentation> {
    let context = vec(figure(any_text(), value(any_text(), any_number())), 0..3);
    (any_text(), context, vec(any_section(), 0..3)).prop_map(|(title, context, sections)| {
        let commands = CommandLine::known(&["pathscope".to_owned(), title.clone()]);
        Presentation { title, context, sections, commands, ..Presentation::default() }
    })
}

/// A presentation of short labels, as modes make them, and sentences of any length.
fn sober_presentation() -> impl Strategy<Value = Presentation> {
    let label = || "[a-z]{1,8}( [a-z0-9]{1,6})?";
    let value = || value("[a-z]{1,30}".boxed(), sober_number());
    let figure = (label(), value(), prop::option::of(sober_text()), "[a-c]?").prop_map(
        |(label, value, note, group)| Figure { label, value, note, group, ..Figure::default() },
    );
    let table = (1_usize..7).prop_flat_map(move |columns| {
        let rows = vec(vec(value(), columns), 1..4);
        (sober_text(), vec(label(), columns), rows)
            .prop_map(|(title, columns, rows)| Table::new(title, columns, rows))
    });
    let parts = (label(), sober_text(), vec(figure, 0..8), vec(table, 0..2));
    (parts, findings(sober_text())).prop_map(
        |((title, subtitle, figures, tables), (checks, verdict, caveats))| Presentation {
            title: title.clone(),
            context: figures.clone(),
            sections: vec![Section {
                title,
                subtitle,
                figures,
                tables,
                checks,
                verdict,
                caveats: caveats.clone(),
                ..Section::default()
            }],
            caveats,
            ..Presentation::default()
        },
    )
}

fn any_row() -> impl Strategy<Value = Row> {
    (any_text(), vec(figure(any_text(), value(any_text(), any_number())), 0..8))
        .prop_map(|(section, cells)| Row { section, cells })
}

fn show(columns: usize, presentation: &Presentation, rows: &[Row], failure: &str) -> String {
    show_in(Charset::Unicode, columns, presentation, rows, failure)
}

fn show_in(
    charset: Charset,
    columns: usize,
    presentation: &Presentation,
    rows: &[Row],
    failure: &str,
) -> String {
    let (color, live, detail) = (Color::Never, Live::Shown, Detail::Full);
    let options = Options { columns, color, charset, live, detail };
    let mut out = Vec::new();
    let mut view = Format::Text.view(options, &mut out);
    let note = Caveat { name: failure.to_owned(), text: failure.to_owned(), remedy: None };
    let mut events = vec![Event::Started { presentation, record: &() }, Event::Note(&note)];
    events.extend(rows.iter().map(|row| Event::Interval {
        measurement: "",
        server: None,
        row,
        record: &(),
    }));
    let failure = Some((Failure::Peer, failure));
    events.push(Event::Finished { presentation, record: &(), failure });
    for event in events {
        view.event(event).expect("a vector takes every byte");
    }
    drop(view);
    String::from_utf8(out).expect("text is UTF-8")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_input_panics_or_reaches_the_terminal(
        columns in prop_oneof![Just(0), 1_usize..200, Just(usize::MAX)],
        presentation in any_presentation(),
        rows in vec(any_row(), 0..4),
        failure in any_text(),
    ) {
        let shown = show(columns, &presentation, &rows, &failure);
        for line in shown.split('\n') {
            prop_assert_eq!(line, words::clean(line), "not clean");
            prop_assert_eq!(line, line.trim_end_matches(' '), "ends in spaces");
        }
        prop_assert!(!shown.contains("\n\n\n"), "two empty lines: {}", shown);
    }

    #[test]
    fn what_shows_ascii_alone_gets_ascii_alone_laid_out_alike(
        columns in 40_usize..200,
        presentation in any_presentation(),
        rows in vec(any_row(), 0..4),
        failure in any_text(),
    ) {
        let plain = show_in(Charset::Ascii, columns, &presentation, &rows, &failure);
        prop_assert!(plain.is_ascii(), "{}", plain);
        let lines = |text: &str| text.lines().count();
        prop_assert_eq!(lines(&plain), lines(&show(columns, &presentation, &rows, &failure)));
    }

    #[test]
    fn figures_of_a_group_have_one_unit(
        columns in 40_usize..200,
        nanoseconds in vec(1_u64..900_000_000, 2..8),
        others in vec(1_000_000_000_u64..100_000_000_000, 0..3),
    ) {
        // The widest range that one unit can tell: a thousandth to a million.
        let least = nanoseconds.iter().min().copied().unwrap_or(1).max(1_000);
        let figure = |group: &'static str, time: u64| {
            Figure::new("time", Value::Duration(time)).of(group)
        };
        let figures: Vec<_> = nanoseconds
            .iter()
            .map(|&time| figure("RTT", time.max(least)))
            .chain(others.iter().map(|&time| figure("", time)))
            .collect();
        let presentation = Presentation {
            sections: vec![Section { figures, ..Section::default() }],
            ..Presentation::default()
        };
        let shown = show(columns, &presentation, &[], "");
        let units: Vec<_> = shown
            .lines()
            .filter(|line| line.trim_start().starts_with("time"))
            .filter_map(|line| line.split_whitespace().last())
            .take(nanoseconds.len())
            .collect();
        prop_assert_eq!(units.len(), nanoseconds.len());
        prop_assert!(units.iter().all(|unit| unit == &units[0]), "{}", shown);
    }

    #[test]
    fn lines_fit_the_width(
        columns in 66_usize..200,
        presentation in sober_presentation(),
        failure in sober_text(),
    ) {
        for line in show(columns, &presentation, &[], &failure).lines() {
            prop_assert!(words::width(line) <= columns, "{} columns: {}", words::width(line), line);
        }
    }
}
