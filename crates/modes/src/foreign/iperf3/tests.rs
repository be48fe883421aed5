//! Documents that iperf3 wrote, of 3.1.3, 3.12 and 3.21, and what is made of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::foreign::ForeignResult;
use crate::foreign::tests::{fault, read};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/iperf3/", $name, ".json"))
    };
}

const TCP: &str = fixture!("tcp-3.12-client");
const FIXTURES: [&str; 9] = [
    TCP,
    fixture!("tcp-reverse-3.12-server"),
    fixture!("tcp-bidir-3.21-client"),
    fixture!("udp-3.21-client"),
    fixture!("udp-3.21-server"),
    fixture!("udp-reverse-3.12-server"),
    fixture!("udp-reverse-3.12-client"),
    fixture!("udp-3.1.3-client"),
    fixture!("stream-3.21-client"),
];

/// What is at this place of what documents have.
fn at(text: &str, place: &str) -> Option<f64> {
    let read = read(text);
    let [measurement] = &read.measurements;
    measurement.summary.pointer(place).and_then(Value::as_f64)
}

/// The same of the text itself.
fn told(text: &str, place: &str) -> f64 {
    let json: Value = serde_json::from_str(text).expect("JSON");
    json.pointer(place).and_then(Value::as_f64).expect(place)
}

#[test]
fn over_tcp_the_rate_is_the_receiver_s_and_the_way_is_that_of_the_bytes() {
    let rate = told(TCP, "/end/sum_received/bits_per_second");
    assert_eq!(at(TCP, "/goodput/up/goodput_bps"), Some(rate));
    assert_eq!(at(TCP, "/goodput/up/sent_bytes"), Some(told(TCP, "/end/sum_sent/bytes")));
    assert_eq!(at(TCP, "/goodput/retransmits"), Some(4.0));
    assert_eq!(at(TCP, "/goodput/down/goodput_bps"), None);
    let read = read(TCP);
    let [measurement] = &read.measurements;
    assert_eq!(measurement.section.subtitle, "2 TCP streams, up, 1 s");
    // A second of warm-up is in no row.
    assert_eq!(measurement.section.series[0].points.len(), 2);

    let both = fixture!("tcp-bidir-3.21-client");
    for (way, sum) in [("up", "sum_received"), ("down", "sum_received_bidir_reverse")] {
        let rate = told(both, &format!("/end/{sum}/bits_per_second"));
        assert_eq!(at(both, &format!("/goodput/{way}/goodput_bps")), Some(rate));
    }
}

#[test]
fn what_a_server_never_learns_is_absent_and_not_nothing() {
    let reverse = fixture!("tcp-reverse-3.12-server");
    assert!(told(reverse, "/end/sum_received/bytes") < 1.0);
    assert_eq!(at(reverse, "/goodput/down/goodput_bps"), None);
    assert_eq!(at(reverse, "/goodput/down/received_bytes"), None);
    assert!(at(reverse, "/goodput/down/sent_bytes").is_some_and(|bytes| bytes > 0.0));
    let udp = fixture!("udp-3.21-server");
    assert_eq!(
        (at(udp, "/datagrams/up/sent"), at(udp, "/datagrams/up/received")),
        (None, Some(382.0))
    );
    let udp = fixture!("udp-reverse-3.12-server");
    assert_eq!(
        (at(udp, "/datagrams/down/sent"), at(udp, "/datagrams/down/received")),
        (Some(191.0), None)
    );
}

#[test]
fn over_udp_what_came_and_what_was_lost_are_what_was_sent() {
    let old = fixture!("udp-3.1.3-client");
    let counts = ["sent", "received", "lost"].map(|name| at(old, &format!("/datagrams/up/{name}")));
    assert_eq!(counts, [Some(688.0), Some(573.0), Some(115.0)]);
    let size = told(old, "/start/test_start/blksize");
    let rate = 573.0 * size * 8.0 / told(old, "/end/sum/seconds");
    assert_eq!(at(old, "/datagrams/up/goodput_bps"), Some(rate));
    assert_eq!(at(old, "/datagrams/up/jitter/rfc3550/last_ns"), Some(954.0));
}

#[test]
fn where_nothing_came_all_is_lost_whatever_the_file_says() {
    let mut json: Value = serde_json::from_str(fixture!("udp-3.21-client")).expect("JSON");
    for (place, value) in [("packets", json!(0)), ("lost_packets", json!(0)), ("bytes", json!(0))] {
        json["end"]["sum_received"][place] = value;
    }
    let text = text_of(&json);
    let sent = at(&text, "/datagrams/up/sent").expect("the client's own count");
    assert!(sent > 100.0);
    assert_eq!(at(&text, "/datagrams/up/lost"), Some(sent));
    assert_eq!(at(&text, "/datagrams/up/lost_ratio"), Some(1.0));
    assert_eq!(at(&text, "/datagrams/up/goodput_bps"), Some(0.0));
}

#[test]
fn events_line_by_line_are_the_same_test() {
    let stream = fixture!("stream-3.21-client");
    let line = stream.lines().find(|line| line.contains("\"event\":\"end\"")).expect("an end");
    let rate = told(line, "/data/sum_received/bits_per_second");
    assert_eq!(at(stream, "/goodput/up/goodput_bps"), Some(rate));
    let cut: String = stream.split_inclusive('\n').take(2).collect();
    assert!(fault(&cut).ends_with("it has no end: the test was cut off"), "{}", fault(&cut));
}

#[test]
fn a_test_that_came_to_nothing_says_why() {
    let told = fault(fixture!("failed-3.21-client"));
    assert!(told.contains("the test came to nothing: unable to connect to server"), "{told}");
    let doubled = r#"{"start":{"connected":[]},"intervals":[],"end":{},"error":"one","error":"SERVER ERROR - two"}"#;
    assert!(fault(doubled).contains("SERVER ERROR - two"), "{}", fault(doubled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever a value is replaced by, somebody is told a sentence or figures.
    #[test]
    fn no_file_is_a_panic(
        which in 0..FIXTURES.len() - 1, place in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![json!(null), json!(-1), json!(1e308), json!("x"), json!([]), json!({}), json!(true)]),
    ) {
        let mut root: Value = serde_json::from_str(FIXTURES[which]).expect("JSON");
        let mut places = Vec::new();
        collect(&root, String::new(), &mut places);
        let place = &places[place.index(places.len())];
        *root.pointer_mut(place).expect("it was found there") = value;
        let read = ForeignResult::read(&text_of(&root));
        if let Ok(read) = read.expect("it is still of iperf3") {
            prop_assert!(!read.presentation().sections.is_empty());
        }
    }
}

/// A document in the order in which iperf3 writes it.
fn text_of(json: &Value) -> String {
    let [start, intervals, end] = ["start", "intervals", "end"].map(|key| &json[key]);
    format!("{{\"start\":{start},\"intervals\":{intervals},\"end\":{end}}}")
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| collect(value, format!("{place}/{key}"), places));
        }
        Value::Array(all) => all
            .iter()
            .enumerate()
            .for_each(|(index, value)| collect(value, format!("{place}/{index}"), places)),
        _ => places.push(place),
    }
}
