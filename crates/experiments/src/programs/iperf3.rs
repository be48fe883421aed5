//! `iperf3`, by its own JSON.

use pathscope_modes::figures::Unit;
use pathscope_modes::offered::{Load, Offered};
use serde_json::Value;

use super::{Known, Listed, Numbers, Said, Server, failed, judge_taken};
use crate::promise::Promise;
use crate::theory::Transmission;

/// All about it.
pub const IPERF3: Known = Known {
    name: "iperf3",
    figures: &[
        Listed::promised("iperf3.rate", Unit::BitRate, Promise::Rate),
        Listed::promised("iperf3.lost_share", Unit::Share, Promise::Lost),
        Listed::new("iperf3.sent", Unit::Count),
        Listed::new("iperf3.lost", Unit::Count),
        Listed::new("iperf3.jitter", Unit::Duration),
        Listed::new("iperf3.retransmits", Unit::Count),
    ],
    // Serves one test, on the port that it and its client have by default.
    server: Some(Server {
        words: &["iperf3", "-s", "-1", "--forceflush"],
        ready: "Server listening on",
        serves_many: false,
    }),
    port: 5_201,
    // Its result as JSON, and counters beside it that do not change what is measured.
    words: &["--json"],
    result_code: None,
    judge,
    read,
};

fn judge(words: &[String]) -> Result<(), String> {
    let taken = ["--json", "--json-stream", "--server", "--logfile", "--port", "-J", "-s", "-p"];
    judge_taken("iperf3", words, &taken)
}

/// Reads its JSON: what the receiver counted.
fn read(output: &str) -> Said {
    let json: Value = match serde_json::from_str(output) {
        Ok(json) => json,
        Err(error) => return failed(format!("iperf3 printed no JSON: {error}")),
    };
    if let Some(error) = json.get("error").and_then(Value::as_str) {
        return failed(format!("iperf3: {error}"));
    }
    let number = |pointer: &str| json.pointer(pointer).and_then(Value::as_f64);
    let start = |key: &str| number(&format!("/start/test_start/{key}"));
    let is_udp = json.pointer("/start/test_start/protocol").and_then(Value::as_str) == Some("UDP");
    let rate = number("/end/sum_received/bits_per_second");
    let mut numbers = Vec::new();
    numbers.extend(rate.map(|rate| ("iperf3.rate", rate)));
    let (lost, jitter) = ("/end/sum_received/lost_percent", "/end/sum_received/jitter_ms");
    numbers.extend(number(lost).map(|percent| ("iperf3.lost_share", percent / 100.0)));
    let counts = [("iperf3.sent", "packets"), ("iperf3.lost", "lost_packets")];
    let count = |(id, key): (&'static str, &str)| Some((id, number(&format!("/end/sum/{key}"))?));
    numbers.extend(counts.into_iter().filter(|_| is_udp).filter_map(count));
    numbers.extend(number(jitter).map(|jitter| ("iperf3.jitter", jitter * 1e6)));
    let again = number("/end/sum_sent/retransmits").filter(|_| !is_udp);
    numbers.extend(again.map(|count| ("iperf3.retransmits", count)));
    let streams = start("num_streams").unwrap_or(1.0);
    // 0: none.
    let target = start("target_bitrate").filter(|&rate| rate > 0.0);
    let load = if is_udp {
        Load::Datagrams {
            flows: streams as u32,
            rate_bps: target.map(|rate| rate * streams),
            payload_bytes: start("blksize").unwrap_or(0.0) as u64,
        }
    } else {
        Load::Streams { connections: streams as u32, rate_bps: target }
    };
    let is_on = |key: &str| start(key).is_some_and(|number| number > 0.0);
    let (is_reverse, is_both) = (is_on("reverse"), is_on("bidir"));
    let up = (!is_reverse || is_both).then(|| load.clone());
    let offered = Offered { up, down: (is_reverse || is_both).then_some(load) };
    let transmission = Transmission { is_known: true, offered, ..Transmission::default() };
    Said { numbers: Numbers::Listed(numbers), transmission, ..Said::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::programs::Figure;

    #[test]
    fn what_the_receiver_counted_is_read() {
        let output = json!({
            "start": { "test_start": {
                "protocol": "UDP", "num_streams": 1, "blksize": 1470, "reverse": 0,
                "target_bitrate": 26_214_400,
            } },
            "end": {
                "sum_sent": { "bits_per_second": 26.2e6 },
                "sum_received": { "bits_per_second": 26.1e6, "jitter_ms": 0.5, "lost_percent": 0.25 },
            },
        });
        let said = read(&output.to_string());
        let number = |id: &str| Figure::find(id).expect("a figure").number(&said.numbers);
        assert_eq!(number("iperf3.rate"), Some(26.1e6));
        assert_eq!(number("iperf3.lost_share"), Some(0.0025));
        assert_eq!(number("iperf3.jitter"), Some(500_000.0));
        assert_eq!(number("iperf3.retransmits"), None);
        let load = Load::Datagrams { flows: 1, rate_bps: Some(26_214_400.0), payload_bytes: 1_470 };
        assert_eq!(said.transmission.offered.up, Some(load));
        assert_eq!(said.transmission.offered.down, None);
    }

    #[test]
    fn a_test_that_failed_says_why() {
        let fault = |output: &str| read(output).fault.expect("nothing was measured");
        assert_eq!(
            fault(r#"{"start":{},"error":"unable to connect"}"#),
            "iperf3: unable to connect"
        );
        assert!(fault("").starts_with("iperf3 printed no JSON"));
    }

    #[test]
    fn what_is_said_for_it_cannot_be_said_twice() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(judge(&words("iperf3 -c h4 -u -b 25M")), Ok(()));
        for text in ["iperf3 -c h4 -J", "iperf3 -c h4 -p5300", "iperf3 -c h4 --port=5300"] {
            assert!(judge(&words(text)).is_err(), "{text}");
        }
    }
}
