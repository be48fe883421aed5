//! What programs read is valid, complete, and one object a line.

use pathscope_core::error::Failure;
use pathscope_core::event::{Event, Record};
use pathscope_core::presentation::{Presentation, Row};
use pathscope_core::record::Caveat;
use serde::Serialize;
use serde_json::{Value, json};

use crate::registry::Format;
use crate::view::Options;

#[derive(Serialize)]
struct Interval {
    goodput_bps: f64,
    host: &'static str,
}

#[derive(Serialize)]
struct Empty {}

const INTERVAL: Interval = Interval { goodput_bps: 72.15e9, host: "a\nb\u{1b}[31m\"" };

fn run(format: Format, record: &dyn Record) -> String {
    let presentation = Presentation::default();
    let row = Row::default();
    let mut out = Vec::new();
    let mut view = format.view(Options::default(), &mut out);
    let note = Caveat {
        name: "loopback".to_owned(),
        text: "no network was crossed".to_owned(),
        remedy: None,
    };
    let failure = Some((Failure::Check, "a byte was wrong"));
    for event in [
        Event::Started { presentation: &presentation, record: &Empty {} },
        Event::Interval { measurement: "idle", server: None, row: &row, record: &INTERVAL },
        Event::Trial { row: &row, record: &Empty {} },
        Event::Note(&note),
        Event::Finished { presentation: &presentation, record, failure },
    ] {
        view.event(event).expect("a vector takes every byte");
    }
    drop(view);
    String::from_utf8(out).expect("JSON is UTF-8")
}

#[test]
fn the_document_stands_alone() {
    let document = json!({ "schema": 1, "summary": { "goodput_bps": 72.15e9 } });
    let out = run(Format::Json, &document);
    assert_eq!(serde_json::from_str::<Value>(&out).expect("valid JSON"), document);
    assert!(out.starts_with("{\n  \"schema\": 1") && out.ends_with("}\n"), "{out}");
}

#[test]
fn the_stream_has_one_object_for_each_event() {
    let out = run(Format::JsonStream, &json!({ "schema": 1 }));
    let lines: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(
        lines,
        [
            json!({ "event": "started" }),
            json!({
                "event": "interval",
                "measurement": "idle",
                "goodput_bps": 72.15e9,
                "host": "a\nb\u{1b}[31m\"",
            }),
            json!({ "event": "trial" }),
            json!({
                "event": "note",
                "name": "loopback",
                "text": "no network was crossed",
                "remedy": null,
            }),
            json!({ "event": "finished", "schema": 1 }),
        ]
    );
    assert!(out.starts_with("{\"event\":\"started\"}\n"));
    assert!(!out.contains('\u{1b}'), "JSON escapes control characters");
}

#[test]
fn a_record_that_is_no_object_still_makes_an_object() {
    let out = run(Format::JsonStream, &[1, 2]);
    let last: Value =
        serde_json::from_str(out.lines().last().expect("four lines")).expect("valid JSON");
    assert_eq!(last, json!({ "event": "finished", "record": [1, 2] }));
}

#[test]
fn an_output_that_is_gone_is_an_error() {
    let mut gone: &mut [u8] = &mut [];
    let mut view = Format::JsonStream.view(Options::default(), &mut gone);
    let note = Caveat {
        name: "loopback".to_owned(),
        text: "no network was crossed".to_owned(),
        remedy: None,
    };
    assert!(view.event(Event::Note(&note)).is_err());
}
