//! `ping`, as `iputils` and `BusyBox` print it. Round trips are in milliseconds, of the machine's own locale.

use pathscope_flow::Transport;
use pathscope_modes::figures::Unit;
use pathscope_modes::offered::PingSizes;

use super::{Known, Listed, Numbers, Said, judge_taken};
use crate::promise::Promise;
use crate::theory::Transmission;

/// All about it.
pub const PING: Known = Known {
    name: "ping",
    figures: &[
        Listed::promised("ping.rtt.min", Unit::Duration, Promise::IdleRoundTrip),
        Listed::promised("ping.rtt.mean", Unit::Duration, Promise::FullRoundTrip),
        Listed::promised("ping.rtt.max", Unit::Duration, Promise::FullRoundTrip),
        Listed::new("ping.lost_share", Unit::Share),
        Listed::new("ping.received", Unit::Count),
    ],
    server: None,
    port: 0,
    words: &[],
    // Some pings were lost.
    result_code: Some(1),
    judge: |words| judge_taken("ping", words, &[]),
    read,
};

/// What it sends, as its first line says: `56(84) bytes of data`, or `56 data bytes`. They stand behind 8 of ICMP, which is as much
/// as UDP has.
fn sizes(output: &str) -> Option<PingSizes> {
    let line = output
        .lines()
        .find(|line| line.contains("bytes of data") || line.contains("data bytes"))?;
    let before = line.split_once(" data bytes").or_else(|| {
        line.split_once('(').and_then(|(_, rest)| {
            // `PING h4 (10.0.5.2) 56(84) bytes of data.`
            let (_, rest) = rest.split_once(") ")?;
            rest.split_once('(')
        })
    });
    let bytes = before?.0.rsplit(' ').next()?.parse().ok()?;
    Some(PingSizes { transport: Transport::Datagram, request_bytes: bytes, reply_bytes: bytes })
}

/// Reads its last lines:
///
/// ```text
/// 20 packets transmitted, 20 received, 0% packet loss, time 3812ms
/// rtt min/avg/max/mdev = 60.221/60.494/60.953/0.169 ms
/// ```
///
/// `BusyBox` says `20 packets received` and `round-trip min/avg/max = … ms`.
fn read(output: &str) -> Said {
    let mut numbers = Vec::new();
    for line in output.lines() {
        if line.contains("packets transmitted") {
            numbers.extend(counts(line));
        } else if let Some((_, times)) = line.split_once("min/avg/max") {
            numbers.extend(times_of(times));
        }
    }
    let fault = numbers.is_empty().then(|| "ping printed no summary".to_owned());
    let transmission =
        Transmission { is_known: true, ping: sizes(output), ..Transmission::default() };
    Said { numbers: Numbers::Listed(numbers), transmission, fault, ..Said::default() }
}

fn counts(line: &str) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    for part in line.split(", ") {
        let first = part.split([' ', '%']).next().unwrap_or_default();
        let Ok(number) = first.parse::<f64>() else { continue };
        if part.contains("received") {
            found.push(("ping.received", number));
        } else if part.contains("packet loss") {
            found.push(("ping.lost_share", number / 100.0));
        }
    }
    found
}

/// Of `/mdev = 60.221/60.494/60.953/0.169 ms, pipe 2`, the first three in nanoseconds.
fn times_of(text: &str) -> Vec<(&'static str, f64)> {
    let times = text.split_once("= ").and_then(|(_, text)| text.split_once(" ms"));
    let Some((times, _)) = times else { return Vec::new() };
    let times = times.split('/').map(str::parse::<f64>);
    let ids = ["ping.rtt.min", "ping.rtt.mean", "ping.rtt.max"];
    ids.into_iter().zip(times).filter_map(|(id, time)| Some((id, time.ok()? * 1e6))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Figure;

    fn numbers(output: &str) -> Vec<Option<f64>> {
        let said = read(output);
        let number = |listed: &Listed| Figure::find(listed.id).ok()?.number(&said.numbers);
        PING.figures.iter().map(number).collect()
    }

    #[test]
    fn both_kinds_of_ping_are_read() {
        let iputils = "PING h4 (10.0.5.2) 56(84) bytes of data.\n\n--- h4 ping statistics ---\n\
            20 packets transmitted, 19 received, +1 duplicates, 5% packet loss, time 3812ms\n\
            rtt min/avg/max/mdev = 60.221/60.494/60.953/0.169 ms, pipe 2\n";
        let times = [Some(60_221_000.0), Some(60_494_000.0), Some(60_953_000.0)];
        assert_eq!(numbers(iputils)[..3], times);
        assert_eq!(numbers(iputils)[3..], [Some(0.05), Some(19.0)]);
        let busybox = "3 packets transmitted, 3 packets received, 0% packet loss\n\
            round-trip min/avg/max = 0.041/0.055/0.071 ms\n";
        let times = [Some(41_000.0), Some(55_000.0), Some(71_000.0)];
        assert_eq!(numbers(busybox)[..3], times);
        assert_eq!(numbers(busybox)[3..], [Some(0.0), Some(3.0)]);
    }

    #[test]
    fn it_says_itself_what_it_sends() {
        let bytes = |line| sizes(line).map(|sizes| sizes.request_bytes);
        assert_eq!(bytes("PING h4 (10.0.5.2) 56(84) bytes of data."), Some(56));
        assert_eq!(bytes("PING h4 (fd00::2) 1400 data bytes"), Some(1_400));
        assert_eq!(bytes("PING h4 (10.0.5.2): 56 data bytes"), Some(56));
        assert_eq!(bytes("PING h4(h4 (fd00:8::7)) 1000 data bytes"), Some(1_000));
        assert_eq!(bytes(""), None);
    }

    #[test]
    fn a_ping_that_said_nothing_has_no_numbers() {
        for output in ["", "ping: connect: Network is unreachable", "rtt min/avg/max = x ms"] {
            assert_eq!(read(output).fault.as_deref(), Some("ping printed no summary"));
        }
        let lost = "4 packets transmitted, 0 received, 100% packet loss, time 3062ms";
        assert_eq!(numbers(lost), [None, None, None, Some(1.0), Some(0.0)]);
    }
}
