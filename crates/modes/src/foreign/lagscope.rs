//! The two files of lagscope 1.0: how often each latency was measured (`-P FILE`, JSON), and each by itself (`-R FILE`, CSV).
//!
//! ```text
//! { "latencies": [ { "latency": 12, "frequency": 3 }, … ] }        Index, Latency(us)
//!                                                                  0, 12
//! ```
//!
//! Both have whole microseconds, rounded down, and nothing else: no time, no settings, no host.

use pathscope_core::presentation::Section;
use pathscope_core::quantity::{counted, shown};
use serde::Deserialize;
use serde_json::json;

use super::findings::ForeignCaveat;
use super::{Fault, Form, Read, columns, rows};
use crate::finding::caveats;
use crate::latency::Durations;

const TOOL: &str = "lagscope";
const FIRST_KEY: &str = "\"latencies\"";
const HEAD: [&str; 2] = ["Index", "Latency(us)"];

/// How often each latency was measured.
pub(super) const FREQUENCIES: Form = Form {
    tool: TOOL,
    holds: "frequencies of latencies",
    is_one: |text| {
        let inside = text.trim_start().strip_prefix('{').map(str::trim_start);
        inside.is_some_and(|inside| inside.starts_with(FIRST_KEY))
    },
    read: frequencies,
};

/// Each latency.
pub(super) const LATENCIES: Form = Form {
    tool: TOOL,
    holds: "latencies in the order of their pings",
    is_one: |text| columns(text).eq(HEAD),
    read: latencies,
};

#[derive(Deserialize)]
struct Table {
    latencies: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    latency: u64,
    frequency: u64,
}

fn frequencies(text: &str) -> Result<Read, Fault> {
    let table: Table = serde_json::from_str(text)?;
    let mut durations = Durations::default();
    let mut total: u64 = 0;
    for Entry { latency, frequency } in table.latencies {
        let sum = total.checked_add(frequency);
        total = sum.ok_or_else(|| Fault::Whole("its frequencies are too many to count".into()))?;
        let nanoseconds = latency.checked_mul(1_000);
        let nanoseconds = nanoseconds.ok_or_else(|| Fault::Whole(too_long(latency)))?;
        durations.add(nanoseconds, frequency);
    }
    let unknown =
        "the file has no order and no time: neither jitter nor anything over time can be told, and";
    judged(&durations, unknown)
}

fn latencies(text: &str) -> Result<Read, Fault> {
    let mut durations = Durations::default();
    for (line, row) in rows(text)? {
        let fault = |why| Fault::Line { line, why };
        let latency = latency(row, durations.count()).map_err(fault)?;
        let nanoseconds = latency.checked_mul(1_000).ok_or_else(|| fault(too_long(latency)))?;
        durations.next(nanoseconds);
    }
    judged(&durations, "the file has no time: nothing over time can be told, and")
}

/// The latency of a row, which is the `expected`-th.
fn latency(row: &str, expected: u64) -> Result<u64, String> {
    let mut cells = row.split(',').map(str::trim);
    let (Some(index), Some(latency), None) = (cells.next(), cells.next(), cells.next()) else {
        return Err(format!("'{}' is not an index and a latency", shown(row)));
    };
    if index.parse() != Ok(expected) {
        return Err(format!("its index is '{}' and has to be {expected}", shown(index)));
    }
    latency.parse().map_err(|_| {
        format!("'{}' is no latency: that is a whole number of microseconds", shown(latency))
    })
}

fn too_long(latency: u64) -> String {
    format!("a latency of {latency} µs is longer than any clock tells")
}

fn judged(durations: &Durations, unknown: &str) -> Result<Read, Fault> {
    if durations.count() == 0 {
        return Err(Fault::Whole("it holds no latency".to_owned()));
    }
    let told = [
        (ForeignCaveat::WholeMicroseconds, "latencies are whole microseconds, rounded down: each was up to 1 µs longer".to_owned()),
        (ForeignCaveat::ClosedLoop, "lagscope sends a ping when the last one was answered: a stall is one sample, so that high percentiles flatter".to_owned()),
        (ForeignCaveat::NotInTheFile, format!("{unknown} hosts, settings and whether a ping was lost are not in it")),
    ];
    let section = Section {
        subtitle: format!("{} over TCP", counted(durations.count(), "ping")),
        caveats: caveats(told.map(|(of, text)| (of, Some(text)))),
        ..durations.section()
    };
    let summary = durations.summary();
    let mut latency = json!({ "rtt": summary.rtt, "received": summary.received });
    if let Some(jitter) = summary.jitter {
        latency["jitter"] = json!(jitter);
    }
    Ok(Read {
        name: "latency",
        section,
        summary: json!({ "latency": latency }),
        client: json!({ "latency": { "rtt": durations.distribution() } }),
    })
}

#[cfg(test)]
mod tests {
    use pathscope_core::presentation::Value;

    use super::super::tests::{fault, read};

    const TABLE: &str = "{\n\t\"latencies\": [\n\t\t{\n\t\t\t\"latency\": 12,\n\t\t\t\"frequency\": 19\n\t\t},\n\
        \t\t{\n\t\t\t\"latency\": 450,\n\t\t\t\"frequency\": 1\n\t\t}\n\t]\n}";

    fn figure(text: &str, id: &str) -> Value {
        let presentation = read(text).presentation();
        let figures = &presentation.sections[0].figures;
        figures.iter().find(|it| it.id == id).map_or(Value::Absent, |it| it.value.clone())
    }

    #[test]
    fn both_files_of_one_run_say_the_same_and_one_of_them_says_more() {
        let mut rows = "Index, Latency(us)\n".to_owned();
        let row = |index: usize| format!("{index}, {}\n", [12, 450][index / 19]);
        rows.extend((0..20).map(row));
        for id in ["latency.rtt.min", "latency.rtt.p50", "latency.rtt.max", "latency.rtt.mean"] {
            assert_ne!(figure(TABLE, id), Value::Absent, "{id}");
            assert_eq!(figure(TABLE, id), figure(&rows, id), "{id}");
        }
        assert_eq!(figure(TABLE, "latency.rtt.max"), Value::Duration(450_000));
        assert_eq!(figure(TABLE, "latency.received"), Value::Count(20));
        assert_eq!(figure(TABLE, "latency.ipdv.mean"), Value::Absent);
        // Of nineteen differences one is 438 µs.
        assert_eq!(figure(&rows, "latency.ipdv.mean"), Value::Duration(23_053));
        let names: Vec<String> =
            read(TABLE).measurements[0].caveats.iter().map(|it| it.name.clone()).collect();
        assert_eq!(names, ["whole_microseconds", "closed_loop", "not_in_the_file"]);
    }

    #[test]
    fn line_ends_marks_and_spaces_of_other_systems_are_no_fault() {
        let plain = read("Index, Latency(us)\n0, 5\n1, 6\n");
        assert_eq!(read("\u{feff}Index,Latency(us)\r\n0,5\r\n1,6\r\n"), plain);
        assert_eq!(read(&format!("\u{feff}{TABLE}\r\n")), read(TABLE));
    }

    #[test]
    fn a_damaged_file_is_refused_with_the_line_and_why() {
        let rows = |rows: &str| fault(&format!("Index, Latency(us)\n{rows}"));
        assert_eq!(
            rows("0, 5\n1, 1"),
            "not a whole file of lagscope: line 3: it ends in the middle: the file was cut off"
        );
        assert!(rows("0, 5\n2, 5\n").ends_with("line 3: its index is '2' and has to be 1"));
        assert!(rows("0, -5\n").contains("line 2: '-5' is no latency"));
        assert!(rows("0, 5, 6\n").contains("line 2: '0, 5, 6' is not an index and a latency"));
        assert!(rows("0, 18446744073709551615\n").contains("longer than any clock"));
        assert!(rows("").ends_with("it holds no latency"));
        assert!(!rows("0, \u{1b}[31m\n").contains('\u{1b}'));
        let cut = fault(&TABLE[..TABLE.len() / 2]);
        assert!(cut.contains("EOF") && cut.contains("line 5"), "{cut}");
        assert!(fault("{\"latencies\": []}").ends_with("it holds no latency"));
        let many = u64::MAX;
        let entry = format!("{{\"latency\": 1, \"frequency\": {many}}}");
        assert!(fault(&format!("{{\"latencies\": [{entry}, {entry}]}}")).contains("too many"));
    }
}
