//! The results of iperf3: one JSON document of a test (`-J`), or a line for each thing that happened (`--json-stream`), of a client or
//! of a server, over TCP and UDP.
//!
//! What goes from client to server is told as up, whichever end wrote it. A rate is the receiver's, where the file has what that
//! counted; what only the sender's kernel took is told as sent. Not here: its wire (`peers`).

mod datagrams;
mod streams;
#[cfg(test)]
mod tests;

use pathscope_core::presentation::{Figure, SeriesPoint};
use pathscope_core::quantity::{counted, duration_ns, shown};
use pathscope_core::record::Caveat;
use serde_json::{Map, Value, json};

use super::findings::ForeignCaveat;
use super::{Fault, Form, Read};
use crate::finding::caveats;

const TOOL: &str = "iperf3";
/// Keys of which one stands first in a document.
const FIRST_KEYS: [&str; 3] = ["\"start\"", "\"title\"", "\"extra_data\""];
/// What lines of a stream begin with.
const EVENT: &str = "\"event\"";

/// A document.
pub(super) const DOCUMENT: Form = Form {
    tool: TOOL,
    holds: "the result of a test",
    is_one: |text| {
        FIRST_KEYS.iter().any(|key| begins_with(text, key)) && text.contains("\"connected\"")
    },
    read: document,
};

/// A line for each event.
pub(super) const EVENTS: Form = Form {
    tool: TOOL,
    holds: "the events of a test",
    is_one: |text| begins_with(text, EVENT),
    read: events,
};

/// Whether an object begins with this key.
fn begins_with(text: &str, key: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{').map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(key))
}

fn document(text: &str) -> Result<Read, Fault> {
    Document { root: serde_json::from_str(text)? }.read()
}

/// What the lines of a stream come to as one document. The last may be cut off where the test was: what came before it stands.
fn events(text: &str) -> Result<Read, Fault> {
    let mut root = Map::new();
    let mut intervals = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut event: Value = match serde_json::from_str(line) {
            Ok(event) => event,
            // With the whole document behind them, which says the same once more.
            Err(_) if root.contains_key("end") => break,
            Err(_) if !text.ends_with('\n') && index > 0 => break,
            Err(error) => return Err(Fault::Line { line: index + 1, why: error.to_string() }),
        };
        let data = event.get_mut("data").map(Value::take).unwrap_or_default();
        match event.get("event").and_then(Value::as_str) {
            Some("interval") => intervals.push(data),
            Some(name) => drop(root.insert(name.to_owned(), data)),
            None => {
                let why = "it has no event".to_owned();
                return Err(Fault::Line { line: index + 1, why });
            }
        }
    }
    root.insert("intervals".to_owned(), Value::Array(intervals));
    Document { root: Value::Object(root) }.read()
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Way {
    /// As our figures call it.
    name: &'static str,
    /// Behind the names of sums.
    suffix: &'static str,
    /// Whether whoever wrote the file sent.
    sends: bool,
}

/// One document.
struct Document {
    root: Value,
}

impl Document {
    /// A number at a place (RFC 6901).
    fn number(&self, place: &str) -> Option<f64> {
        self.root.pointer(place).and_then(Value::as_f64).filter(|number| number.is_finite())
    }

    /// A count at a place. What iperf3 does not know it writes as -1, or leaves out.
    fn count(&self, place: &str) -> Option<u64> {
        let number = self.number(place).filter(|number| *number >= 0.0)?;
        let exact = self.root.pointer(place).and_then(Value::as_u64);
        Some(exact.unwrap_or(number as u64))
    }

    fn text(&self, place: &str) -> Option<&str> {
        self.root.pointer(place).and_then(Value::as_str)
    }

    fn is_set(&self, place: &str) -> bool {
        self.number(place).is_some_and(|number| number > 0.0)
    }

    fn is_of_server(&self) -> bool {
        self.root.pointer("/start/accepted_connection").is_some()
    }

    /// Which ways there were. Before 3.13 nothing but the sums of the other way says that there were two.
    fn ways(&self) -> Vec<Way> {
        let is_server = self.is_of_server();
        let up = Way { name: "up", suffix: "", sends: !is_server };
        let down = Way { name: "down", suffix: "", sends: is_server };
        let has_both = self.is_set("/start/test_start/bidir")
            || self.root.pointer("/end/sum_sent_bidir_reverse").is_some();
        match self.is_set("/start/test_start/reverse") {
            _ if has_both => vec![up, Way { suffix: "_bidir_reverse", ..down }],
            true => vec![down],
            false => vec![up],
        }
    }

    /// One of the sums at the end.
    fn sum(&self, name: &str, way: Way, key: &str) -> Option<f64> {
        self.number(&format!("/end/{name}{}/{key}", way.suffix))
    }

    /// A figure of each interval after the warm-up, over all streams of a way.
    fn over_time(&self, way: Way, key: &str) -> Vec<SeriesPoint> {
        let intervals = self.root.get("intervals").and_then(Value::as_array);
        let sum = format!("sum{}", way.suffix);
        let points = intervals.into_iter().flatten().filter_map(|interval| {
            let sum = interval.get(&sum)?;
            let number = |key: &str| sum.get(key)?.as_f64().filter(|it| it.is_finite());
            let is_counted = sum.get("omitted").and_then(Value::as_bool) != Some(true);
            let [start, end] =
                [number("start")?, number("end")?].map(|at| (at.max(0.0) * 1e9).round() as u64);
            (is_counted && end >= start).then(|| SeriesPoint::over(start, end, number(key)))
        });
        points.collect()
    }

    fn read(&self) -> Result<Read, Fault> {
        let protocol = self.text("/start/test_start/protocol");
        let is_whole =
            self.root.pointer("/end").and_then(Value::as_object).is_some_and(|end| !end.is_empty());
        if !is_whole {
            let error = self.text("/error").map(shown);
            let why = error.map_or("it has no end: the test was cut off".to_owned(), |error| {
                format!("the test came to nothing: {error}")
            });
            return Err(Fault::Whole(why));
        }
        match protocol {
            Some("TCP") => Ok(streams::read(self)),
            Some("UDP") => Ok(datagrams::read(self)),
            Some(other) => Err(Fault::Whole(format!(
                "it is of a test over {}, which is not read",
                shown(other)
            ))),
            None => Err(Fault::Whole(
                "it does not say over what the test ran (start.test_start.protocol)".to_owned(),
            )),
        }
    }

    /// `2 TCP streams, up, 10 s`.
    fn subtitle(&self, protocol: &str) -> String {
        let ways: Vec<&str> = self.ways().iter().map(|way| way.name).collect();
        let streams = self.count("/start/test_start/num_streams").unwrap_or(1);
        let seconds = self.number("/start/test_start/duration").filter(|seconds| *seconds > 0.0);
        let amounts = [("bytes", "B"), ("blocks", "blocks")];
        let amount = amounts.into_iter().find_map(|(key, unit)| {
            let amount =
                self.count(&format!("/start/test_start/{key}")).filter(|amount| *amount > 0)?;
            Some(format!("{amount} {unit}"))
        });
        let lasts = seconds.map(|seconds| duration_ns((seconds * 1e9) as u64));
        let extent = amount.or(lasts).unwrap_or_else(|| "endless".to_owned());
        format!(
            "{}, {}, {extent}",
            counted(streams, &format!("{protocol} stream")),
            ways.join(" and ")
        )
    }

    /// What the file says of how it was measured.
    fn settings(&self) -> Vec<Figure> {
        let end = if self.is_of_server() { "server" } else { "client" };
        let mut settings = vec![Figure::setting("written_by", format!("the {end}"))];
        let texts = [
            ("version", "/start/version"),
            ("system", "/start/system_info"),
            ("began", "/start/timestamp/time"),
            ("server", "/start/connecting_to/host"),
            ("client", "/start/accepted_connection/host"),
            ("title", "/title"),
            ("extra_data", "/extra_data"),
            ("congestion_control_of_the_sender", "/end/sender_tcp_congestion"),
            ("congestion_control_of_the_receiver", "/end/receiver_tcp_congestion"),
        ];
        settings.extend(
            texts
                .into_iter()
                .filter_map(|(id, place)| Some(Figure::setting(id, shown(self.text(place)?)))),
        );
        let numbers = [
            ("block_bytes", "/start/test_start/blksize"),
            ("warm_up_seconds", "/start/test_start/omit"),
            ("target_bits_per_second", "/start/test_start/target_bitrate"),
            ("tos", "/start/test_start/tos"),
            ("mss_bytes", "/start/tcp_mss_default"),
        ];
        settings.extend(numbers.into_iter().filter_map(|(id, place)| {
            let number = self.count(place).filter(|number| *number > 0)?;
            Some(Figure::setting(id, number.to_string()))
        }));
        settings
    }

    /// What to mind of it: `unknown` are the figures that the file does not have.
    fn caveats(&self, unknown: &str) -> Vec<Caveat> {
        let failed = self
            .text("/error")
            .map(|error| format!("the test did not come to its planned end: {}", shown(error)));
        let untold = format!(
            "{unknown}; checks, percentiles of latency and what limited it are not in the file"
        );
        let unverified =
            "iperf3 compares no byte of what it receives with what was sent".to_owned();
        caveats([
            (ForeignCaveat::CutOff, failed),
            (ForeignCaveat::NotVerified, Some(unverified)),
            (ForeignCaveat::NotInTheFile, Some(untold)),
        ])
    }

    /// Processor time of both ends, as it was told.
    fn processors(&self) -> Value {
        let place = "/end/cpu_utilization_percent";
        self.root.pointer(place).cloned().unwrap_or_else(|| json!({}))
    }
}
