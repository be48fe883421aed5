//! What was measured one by one, a line for each: for people, as JSON, and of pings as lagscope's file of latencies.

use std::fmt::Write as _;

use pathscope_core::journal::{Each, Entry, Frame, Leg, Ping};
use pathscope_core::quantity;
use serde_json::json;

use super::time::seconds;

/// The first line of lagscope's file.
pub(super) const LATENCIES: &str = "Index, Latency(us)\n";

/// Of pings that are in the figures: number and whole microseconds, as lagscope writes them.
pub(super) fn latencies(entry: &Entry) -> Option<String> {
    let Entry::Each(all) = entry else { return None };
    let mut text = String::new();
    for each in all {
        if let Each::Ping(Ping { number, rtt_ns: Some(rtt_ns), outcome: "answered", .. }) = each {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{number}, {}", rtt_ns / 1_000);
        }
    }
    Some(text)
}

/// A line for people for each, where an entry is of such things.
pub fn each_as_text(entry: &Entry) -> Option<String> {
    let Entry::Each(all) = entry else { return None };
    Some(all.iter().map(line).collect())
}

/// The same as JSON.
pub fn each_as_json(entry: &Entry) -> Option<String> {
    let Entry::Each(all) = entry else { return None };
    Some(all.iter().map(object).collect())
}

fn line(each: &Each) -> String {
    match each {
        Each::Ping(ping) => {
            let fate = ping.rtt_ns.map_or_else(
                || ping.outcome.to_owned(),
                |rtt_ns| match ping.outcome {
                    "answered" => quantity::duration_ns(rtt_ns),
                    outcome => format!("{} ({outcome})", quantity::duration_ns(rtt_ns)),
                },
            );
            let at = seconds(ping.at_ns);
            format!("[{at}] flow {} ping {}: {fate}\n", ping.flow, ping.number)
        }
        Each::Frame(frame) => {
            let Frame { flow, number, outcome, missing, repeats, .. } = *frame;
            let at = frame.at_ns.map_or_else(String::new, |at_ns| format!("[{}] ", seconds(at_ns)));
            let mut text = format!("{at}stream {flow} frame {number}: {outcome}");
            for (amount, what) in [(missing, "missing"), (repeats, "repeated")] {
                if amount > 0 {
                    let _ = write!(text, ", {} {what}", quantity::counted(amount, "datagram"));
                }
            }
            text.push('\n');
            text
        }
        Each::Leg(Leg { number, path, sent_ns, received_ns, .. }) => {
            let fate = match (sent_ns, received_ns) {
                (Some(sent), Some(received)) => {
                    quantity::duration_ns(received.saturating_sub(*sent))
                }
                (Some(_), None) => "no echo".to_owned(),
                (None, _) => "not sent".to_owned(),
            };
            format!("datagram {number} on path {path}: {fate}\n")
        }
    }
}

fn object(each: &Each) -> String {
    let object = match each {
        Each::Ping(ping) => json!({
            "event": "ping",
            "flow": ping.flow.0,
            "ping": ping.number,
            "at_ns": ping.at_ns,
            "sent_ns": ping.sent_ns,
            "rtt_ns": ping.rtt_ns,
            "outcome": ping.outcome,
        }),
        Each::Frame(frame) => json!({
            "event": "frame",
            "flow": frame.flow.0,
            "frame": frame.number,
            "at_ns": frame.at_ns,
            "outcome": frame.outcome,
            "missing_datagrams": frame.missing,
            "repeated_datagrams": frame.repeats,
            "margin_ns": frame.margin_ns,
        }),
        Each::Leg(leg) => json!({
            "event": "datagram",
            "datagram": leg.number,
            "path": leg.path,
            "sent_ns": leg.sent_ns,
            "echoed_ns": leg.echoed_ns,
            "received_ns": leg.received_ns,
        }),
    };
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::FlowId;

    use super::*;

    fn entry() -> Entry {
        let ping = |number, rtt_ns, outcome| {
            let (flow, at_ns) = (FlowId(2), 1_500_000_000);
            Each::Ping(Ping { at_ns, flow, number, sent_ns: 1_499_000_000, rtt_ns, outcome })
        };
        let frame = Frame {
            at_ns: None,
            flow: FlowId(0),
            number: 7,
            outcome: "dropped",
            missing: 2,
            repeats: 0,
            margin_ns: None,
            sent_ns: 0,
            received_ns: 0,
        };
        Entry::Each(Box::new([
            ping(0, Some(12_999), "answered"),
            ping(1, None, "lost"),
            ping(2, Some(1_000_000), "warm_up"),
            Each::Frame(frame),
            Each::Leg(Leg {
                number: 5,
                path: 1,
                sent_ns: Some(1_000),
                echoed_ns: None,
                received_ns: Some(13_000),
            }),
        ]))
    }

    #[test]
    fn lagscope_s_file_has_those_that_came_back_after_the_warm_up() {
        assert_eq!(latencies(&entry()).as_deref(), Some("0, 12\n"));
    }

    #[test]
    fn each_is_a_line() {
        let text = each_as_text(&entry()).expect("there are some");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("[1.500] flow 2 ping 0: 13 µs"), "{text}");
        assert!(lines[1].ends_with("ping 1: lost") && lines[2].ends_with("(warm_up)"), "{text}");
        assert_eq!(lines[3], "stream 0 frame 7: dropped, 2 datagrams missing");
        assert_eq!(lines[4], format!("datagram 5 on path 1: {}", quantity::duration_ns(12_000)));
        let json = each_as_json(&entry()).expect("there are some");
        let objects: Vec<serde_json::Value> =
            json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(objects[0]["rtt_ns"], 12_999);
        assert_eq!((&objects[1]["rtt_ns"], &objects[1]["outcome"]), (&json!(null), &json!("lost")));
        assert_eq!((&objects[3]["event"], &objects[3]["frame"]), (&json!("frame"), &json!(7)));
        assert_eq!((&objects[4]["path"], &objects[4]["echoed_ns"]), (&json!(1), &json!(null)));
    }
}
