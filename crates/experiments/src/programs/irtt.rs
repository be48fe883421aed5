//! `irtt` (Isochronous Round-Trip Tester), by its own JSON: datagrams in an open loop, echoed by its server.

use pathscope_flow::Transport;
use pathscope_modes::figures::Unit;
use pathscope_modes::offered::PingSizes;
use serde_json::Value;

use super::{Known, Listed, Numbers, Said, Server, failed, judge_taken};
use crate::promise::Promise;
use crate::theory::Transmission;

/// All about it.
pub const IRTT: Known = Known {
    name: "irtt",
    figures: &[
        Listed::promised("irtt.rtt.min", Unit::Duration, Promise::IdleRoundTrip),
        Listed::promised("irtt.rtt.mean", Unit::Duration, Promise::FullRoundTrip),
        Listed::promised("irtt.rtt.p50", Unit::Duration, Promise::FullRoundTrip),
        Listed::promised("irtt.rtt.max", Unit::Duration, Promise::FullRoundTrip),
        Listed::new("irtt.ipdv.mean", Unit::Duration),
        Listed::new("irtt.sent", Unit::Count),
        Listed::new("irtt.received", Unit::Count),
        Listed::new("irtt.lost_share", Unit::Share),
        Listed::new("irtt.lost_share.up", Unit::Share),
        Listed::new("irtt.lost_share.down", Unit::Share),
        Listed::new("irtt.duplicates", Unit::Count),
        Listed::new("irtt.late", Unit::Count),
    ],
    server: Some(Server {
        // As often as its client wants to, and not 10 ms apart at the least.
        words: &["irtt", "server", "-i", "0"],
        ready: "[ListenerStart]",
        serves_many: true,
    }),
    port: 2_112,
    // Its result as JSON on standard output, and nothing else there.
    words: &["-Q", "-o", "-"],
    result_code: None,
    judge,
    read,
};

/// Where each figure stands in its result, and by what it is multiplied to be in the base unit.
const PLACES: [(&str, &str, f64); 12] = [
    ("irtt.rtt.min", "rtt/min", 1.0),
    ("irtt.rtt.mean", "rtt/mean", 1.0),
    ("irtt.rtt.p50", "rtt/median", 1.0),
    ("irtt.rtt.max", "rtt/max", 1.0),
    ("irtt.ipdv.mean", "ipdv_round_trip/mean", 1.0),
    ("irtt.sent", "packets_sent", 1.0),
    ("irtt.received", "packets_received", 1.0),
    ("irtt.lost_share", "packet_loss_percent", 0.01),
    ("irtt.lost_share.up", "upstream_loss_percent", 0.01),
    ("irtt.lost_share.down", "downstream_loss_percent", 0.01),
    ("irtt.duplicates", "duplicates", 1.0),
    ("irtt.late", "late_packets", 1.0),
];

fn judge(words: &[String]) -> Result<(), String> {
    if words.get(1).map(String::as_str) != Some("client") {
        return Err("its server is started for it; write irtt client".to_owned());
    }
    judge_taken("irtt", words, &["-o", "-q", "-Q"])
}

fn read(output: &str) -> Said {
    let json: Value = match serde_json::from_str(output) {
        Ok(json) => json,
        Err(error) => return failed(format!("irtt printed no JSON: {error}")),
    };
    let stats = |place: &str| json.pointer(&format!("/stats/{place}")).and_then(Value::as_f64);
    let number =
        |(id, place, factor): (&'static str, &str, f64)| Some((id, stats(place)? * factor));
    let numbers: Vec<_> = PLACES.into_iter().filter_map(number).collect();
    let bytes = json.pointer("/config/params/length").and_then(Value::as_u64);
    let ping = bytes.map(|bytes| PingSizes {
        transport: Transport::Datagram,
        request_bytes: bytes,
        reply_bytes: bytes,
    });
    let fault = numbers.is_empty().then(|| "irtt printed no figures".to_owned());
    let transmission = Transmission { is_known: true, ping, ..Transmission::default() };
    Said { numbers: Numbers::Listed(numbers), transmission, fault, ..Said::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::programs::Figure;

    #[test]
    fn its_result_is_read() {
        let output = json!({
            "config": { "params": { "length": 200 } },
            "stats": {
                "rtt": { "min": 4_100_000, "mean": 4_200_000.5, "median": 4_190_000, "max": 5_000_000 },
                "ipdv_round_trip": { "mean": 75_243 },
                "packets_sent": 1_000, "packets_received": 990, "packet_loss_percent": 1,
                "upstream_loss_percent": 1, "downstream_loss_percent": 0,
                "duplicates": 3, "late_packets": 2,
            },
        });
        let said = read(&output.to_string());
        let number = |id: &str| Figure::find(id).expect("a figure").number(&said.numbers);
        let all = IRTT.figures.iter().map(|listed| number(listed.id).expect("it is there"));
        let expected = [
            4_100_000.0,
            4_200_000.5,
            4_190_000.0,
            5_000_000.0,
            75_243.0,
            1_000.0,
            990.0,
            0.01,
            0.01,
            0.0,
            3.0,
            2.0,
        ];
        assert!(
            all.zip(expected).all(|(read, expected)| (read - expected).abs() < 1e-9),
            "{said:?}"
        );
        assert_eq!(said.transmission.ping.map(|ping| ping.request_bytes), Some(200));
    }

    #[test]
    fn what_it_did_not_say_is_no_number() {
        for output in ["", "Error: no reply from server", "{}"] {
            assert!(read(output).fault.is_some(), "{output}");
        }
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(judge(&words("irtt client -i 10ms -d 2s b")), Ok(()));
        for text in ["irtt server", "irtt client -o x.json b", "irtt"] {
            assert!(judge(&words(text)).is_err(), "{text}");
        }
    }
}
