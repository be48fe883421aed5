//! Several servers: what they came to together, and rows of all.

use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::{Frequency, Period};

use super::*;
use crate::goodput::{DirectionSummary, GoodputSummary};
use crate::registry::EndReport;
use crate::survey::{self, SurveyOptions};

/// What was measured with a server: from when on, for how long, and how fast it went up.
fn part(server: &str, start_ns: u64, elapsed_ns: u64, goodput_bps: f64) -> Document {
    let options = SurveyOptions {
        connections: 3,
        duration: Period::from_secs(5),
        probe_rate: Frequency(100),
        congestion_control: None,
    };
    let (name, test) = survey::tests(&options, Period::from_secs(1)).swap_remove(1);
    let up = DirectionSummary {
        goodput_bps: Some(goodput_bps),
        received_bytes: Some(10),
        ..DirectionSummary::default()
    };
    let goodput = Some(GoodputSummary { up: Some(up), ..GoodputSummary::default() });
    let measurement = Measurement {
        name,
        test,
        run: None,
        substitutions: Vec::new(),
        start_ns,
        duration_ns: elapsed_ns,
        intervals: Vec::new(),
        client: EndReport { elapsed_ns, ..EndReport::default() },
        server: Some(EndReport::default()),
        summary: Summary { goodput, ..Summary::default() },
        verdict: None,
        checks: Vec::new(),
        caveats: Vec::new(),
    };
    let hosts = Hosts {
        server: Some(Host { name: server.to_owned(), ..Host::default() }),
        ..Hosts::default()
    };
    let measurements = vec![measurement];
    Document { target: Some(server.to_owned()), hosts, measurements, ..Document::default() }
}

fn of(parts: Vec<Document>) -> Document {
    Document { kind: "goodput".to_owned(), ..Document::default() }.with_servers(parts)
}

fn names(caveats: &[Caveat]) -> Vec<&str> {
    caveats.iter().map(|caveat| caveat.name.as_str()).collect()
}

#[test]
fn servers_that_ran_together_have_a_rate_and_an_index_together() {
    let document = of(vec![part("h4", 100, 1_000, 3e6), part("h5", 110, 1_000, 1e6)]);
    let together = document.together.as_ref().expect("both have measured");
    let up = together.summary.goodput.as_ref().and_then(|it| it.up).expect("it goes up");
    assert_eq!((up.goodput_bps, up.received_bytes), (Some(4e6), Some(20)));
    let SeveralServers { start_spread_ns, shared_ns, whole_ns, up, down } = together.servers;
    assert_eq!((start_spread_ns, shared_ns, whole_ns), (Some(10), Some(990), Some(1_010)));
    // (3 + 1)² / (2 · (9 + 1))
    assert_eq!(up.and_then(|up| up.fairness), Some(0.8));
    assert!(down.is_none() && together.caveats.is_empty());
    assert!(document.measurements.is_empty() && document.hosts.server.is_none());
    let parts = document.of_each_server();
    assert_eq!(parts[1].measurements, part("h5", 110, 1_000, 1e6).measurements);
    assert_eq!(parts[1].hosts.server.as_ref().map(|host| host.name.as_str()), Some("h5"));
}

#[test]
fn rates_of_different_times_are_not_added_up_and_that_is_said() {
    let document = of(vec![part("h4", 0, 1_000, 3e6), part("h5", 0, 5_000, 1e6)]);
    let together = document.together.expect("both have measured");
    assert_eq!(names(&together.caveats), ["servers_apart"]);
    let up = together.summary.goodput.and_then(|it| it.up).expect("it goes up");
    assert_eq!((up.goodput_bps, up.received_bytes), (None, Some(20)));
    assert_eq!(together.servers.up.and_then(|up| up.fairness), None);
}

#[test]
fn without_the_word_of_one_there_is_no_figure_of_all() {
    let mut lost = part("h5", 0, 1_000, 1e6);
    lost.measurements[0].server = None;
    let document = of(vec![part("h4", 0, 1_000, 3e6), lost]);
    let together = document.together.expect("one has measured");
    assert_eq!(names(&together.caveats), ["server_missing"]);
    assert_eq!(together.summary, Summary::default());
    assert!(of(vec![Document::default(), Document::default()]).together.is_none());
}

#[test]
fn a_document_of_several_servers_is_read_back_and_one_of_one_says_nothing_of_them() {
    let document = of(vec![part("h4", 0, 1_000, 3e6), part("h5", 0, 1_000, 1e6)]);
    let text = serde_json::to_string(&document).expect("plain data");
    assert_eq!(Document::from_json(&text).expect("its own text"), document);
    let one = serde_json::to_value(part("h4", 0, 1_000, 3e6)).expect("plain data");
    assert!(one.get("servers").is_none() && one.get("together").is_none());
}

#[test]
fn rows_are_added_up_as_far_as_that_has_a_meaning() {
    let row = |server: &str, rate: f64, lost: u64| {
        let cells = [
            ("time", Value::Duration(1)),
            ("up", Value::BitRate(rate)),
            ("lost", Value::Count(lost)),
            ("RTT", Value::Duration(7)),
        ];
        let cells = cells.map(|(label, value)| Figure::new(label, value)).to_vec();
        let mut row = Row { section: "goodput".to_owned(), cells };
        name_row(&mut row, server);
        row
    };
    let sum = sum_of_rows(&[row("h4", 1.0, 2), row("h5", 3.0, 4)]).expect("they are alike");
    let values: Vec<Value> = sum.cells.into_iter().map(|cell| cell.value).collect();
    let all = Value::Text("all".to_owned());
    let expected = [Value::Duration(1), all, Value::BitRate(4.0), Value::Count(6), Value::Absent];
    assert_eq!(values, expected);
    assert_eq!(sum_of_rows(&[row("h4", 1.0, 2), Row::default()]), None);
}
