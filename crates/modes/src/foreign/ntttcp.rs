//! The results of ntttcp (`-x FILE`): one XML document of a test at one end, of the sender (`ntttcps`) or of the receiver (`ntttcpr`), as
//! the programs for Linux and for Windows write it.
//!
//! Neither end's file has what the other counted, nor anything over time.

use pathscope_core::presentation::{Figure, Section, Table, Value};
use pathscope_core::quantity::{counted, duration_ns, shown};
use roxmltree::{Document, Node};
use serde_json::json;

use super::findings::ForeignCaveat;
use super::{Fault, Form, Read};
use crate::finding::caveats;
use crate::goodput;

/// A document of either end.
pub(super) const RESULT: Form = Form {
    tool: "ntttcp",
    holds: "the result of a test at one end",
    is_one: |text| {
        let text = text.trim_start();
        let behind = text.strip_prefix("<?xml").and_then(|rest| Some(rest.split_once("?>")?.1));
        let root = behind.unwrap_or(text).trim_start();
        ["<ntttcps", "<ntttcpr"].iter().any(|name| root.starts_with(name))
    },
    read,
};

/// An end's file.
struct File<'text> {
    root: Node<'text, 'text>,
}

impl<'text> File<'text> {
    /// What an element of the whole test says, of that unit where there are several.
    fn text(&self, name: &str, metric: Option<&str>) -> Option<&'text str> {
        text(self.root, name, metric)
    }

    fn number(&self, name: &str, metric: Option<&str>) -> Option<f64> {
        number(self.root, name, metric)
    }

    fn parameter(&self, name: &str) -> Option<&'text str> {
        text(self.root.children().find(|node| node.has_tag_name("parameters"))?, name, None)
    }

    fn is_sender(&self) -> bool {
        self.root.has_tag_name("ntttcps")
    }

    fn settings(&self) -> Vec<Figure> {
        let end = if self.is_sender() { "the sender" } else { "the receiver" };
        let version = self.root.attribute("version");
        let texts = [
            ("version", version),
            ("host", self.root.attribute("computername")),
            ("system", self.text("os", None)),
            ("port", self.parameter("port")),
            ("run_time_seconds", self.parameter("run_time")),
            ("warm_up_seconds", self.parameter("warmup_time").filter(|time| *time != "0")),
            ("send_bytes", self.parameter("send_socket_buff")),
            ("receive_bytes", self.parameter("recv_socket_buff")),
        ];
        let texts =
            texts.into_iter().filter_map(|(id, text)| Some(Figure::setting(id, shown(text?))));
        [Figure::setting("written_by", end)].into_iter().chain(texts).collect()
    }

    /// What each thread moved, where the file tells of them.
    fn threads(&self) -> Option<Table> {
        let threads = self.root.children().filter(|node| node.has_tag_name("thread"));
        let rows = threads.filter_map(|thread| {
            let seconds = number(thread, "realtime", Some("s"))?;
            let rate = number(thread, "throughput", Some("mbps"))?;
            let index = thread.attribute("index").unwrap_or_default();
            let cells = [
                Value::Text(shown(index)),
                Value::Duration((seconds * 1e9).round() as u64),
                Value::BitRate(rate * 1e6),
            ];
            Some(cells.to_vec())
        });
        let rows: Vec<Vec<Value>> = rows.collect();
        (!rows.is_empty()).then(|| Table::new("threads", ["thread", "time", "rate"], rows))
    }
}

/// What the first element of that name and unit says.
fn text<'text>(node: Node<'text, 'text>, name: &str, metric: Option<&str>) -> Option<&'text str> {
    let is_it = |node: &Node<'_, '_>| {
        node.has_tag_name(name)
            && metric.is_none_or(|metric| node.attribute("metric") == Some(metric))
    };
    node.children().find(is_it)?.text().map(str::trim)
}

/// The same as a number from zero on.
fn number<'text>(node: Node<'text, 'text>, name: &str, metric: Option<&str>) -> Option<f64> {
    let number = text(node, name, metric)?.parse::<f64>().ok();
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

fn read(text: &str) -> Result<Read, Fault> {
    let document = Document::parse(text).map_err(|error| Fault::Whole(error.to_string()))?;
    let file = File { root: document.root_element() };
    let missing = |what: &str| Fault::Whole(format!("it does not say {what}"));
    let bytes = file.number("total_bytes", Some("MB"));
    let bytes = bytes.ok_or_else(|| missing("how much was moved (total_bytes)"))? * 1e6;
    let seconds = file.number("realtime", Some("s")).filter(|seconds| *seconds > 0.0);
    let seconds = seconds.ok_or_else(|| missing("how long it took (realtime)"))?;
    let (bytes, rate) = (bytes.round() as u64, bytes * 8.0 / seconds);
    let group = &goodput::figures::GROUP;
    let (figures, up) = if file.is_sender() {
        let a_second = Figure::new("sent a second up", Value::BitRate(rate));
        (vec![a_second, group.of("up", "sent", bytes)], json!({ "sent_bytes": bytes }))
    } else {
        let up = json!({ "received_bytes": bytes, "goodput_bps": rate });
        (vec![group.of("up", "rate", rate), group.of("up", "received", bytes)], up)
    };
    let protocol = if file.parameter("udp") == Some("True") { "UDP" } else { "TCP" };
    let connections = file.number("conns_tested", None).map(|count| count as u64);
    let told = connections
        .map_or(protocol.to_owned(), |count| counted(count, &format!("{protocol} connection")));
    let section = Section {
        subtitle: format!("{told}, up, {}", duration_ns((seconds * 1e9).round() as u64)),
        settings: file.settings(),
        figures,
        tables: file.threads().into_iter().collect(),
        caveats: caveats(told_of(&file, protocol).map(|(of, text)| (of, Some(text)))),
        ..Section::default()
    };
    let processors =
        ["user", "system", "idle", "softirq"].map(|name| (name, file.number(name, Some("%"))));
    let processors: serde_json::Map<_, _> =
        processors.into_iter().map(|(name, share)| (name.to_owned(), json!(share))).collect();
    let client = json!({ "processors_percent": processors });
    Ok(Read { name: "goodput", section, summary: json!({ "goodput": { "up": up } }), client })
}

fn told_of(file: &File<'_>, protocol: &str) -> [(ForeignCaveat, String); 2] {
    let other = if file.is_sender() { "what the receiver got" } else { "what was sent" };
    let lost = if protocol == "UDP" {
        "; its datagrams have no numbers, so that nobody knows which were lost"
    } else {
        ""
    };
    let again = "retransmissions in it are those of the whole machine, and no figure of this test";
    [
        (
            ForeignCaveat::NotVerified,
            "ntttcp compares no byte of what it receives with what was sent".to_owned(),
        ),
        (
            ForeignCaveat::NotInTheFile,
            format!(
                "{other}, figures over time, percentiles of latency and what limited it are not in the file{lost}; {again}"
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::foreign::tests::{fault, read};

    const SENDER: &str = include_str!("../../tests/fixtures/ntttcp/sender-1.4.3.xml");
    const RECEIVER: &str = include_str!("../../tests/fixtures/ntttcp/receiver-1.4.3.xml");

    fn at(text: &str, place: &str) -> Option<f64> {
        let read = read(text);
        let [measurement] = &read.measurements;
        measurement.summary.pointer(place).and_then(Value::as_f64)
    }

    #[test]
    fn each_end_s_file_has_what_that_end_knows_and_nothing_of_the_other() {
        assert_eq!(at(SENDER, "/goodput/up/sent_bytes"), Some(11_642_208_256.0));
        assert_eq!(at(SENDER, "/goodput/up/goodput_bps"), None);
        assert_eq!(at(RECEIVER, "/goodput/up/received_bytes"), Some(11_642_339_328.0));
        assert_eq!(at(RECEIVER, "/goodput/up/sent_bytes"), None);
        // Its own figure has three decimals of a Mbit/s.
        let rate = at(RECEIVER, "/goodput/up/goodput_bps").expect("a rate");
        assert!((rate / 46_554.273e6 - 1.0).abs() < 1e-6, "{rate}");
        let read = read(SENDER);
        let section = &read.presentation().sections[0];
        assert_eq!(section.subtitle, "2 TCP connections, up, 2.001 s");
        assert_eq!(section.tables[0].rows.len(), 2);
    }

    #[test]
    fn files_of_windows_are_read_and_damaged_ones_refused_with_the_reason() {
        let windows = "\u{feff}<?xml version=\"1.0\"?>\r\n<ntttcpr computername=\"A\" version=\"5.33\">\r\n\
                       <total_bytes metric=\"MB\">1.000000</total_bytes><realtime metric=\"s\">2.000000</realtime>\r\n\
                       <cycles metric=\"cycles/byte\">1.2</cycles></ntttcpr>\r\n";
        assert_eq!(at(windows, "/goodput/up/goodput_bps"), Some(4e6));
        for (text, parts) in [
            (SENDER.split_at(900).0.to_owned(), "not a whole file of ntttcp"),
            (RECEIVER.replace("2.000648", "-1"), "how long it took"),
            (
                RECEIVER.replace("<total_bytes", "<bytes").replace("total_bytes>", "bytes>"),
                "how much was moved",
            ),
            (
                format!("<!DOCTYPE a [<!ENTITY b 'c'>]>{SENDER}")
                    .replace("<!DOCTYPE", "<ntttcps/><!DOCTYPE"),
                "ntttcp",
            ),
        ] {
            let told = fault(&text);
            assert!(told.contains(parts), "{told}");
        }
    }
}
