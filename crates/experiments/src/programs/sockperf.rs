//! `sockperf` in its client's role, by what it prints. Its figures are half round trips unless it is asked for `--full-rtt`, which
//! is said of it here.

use pathscope_modes::figures::Unit;

use super::{Known, Listed, Numbers, Said, Server, failed, judge_taken};
use crate::theory::Transmission;

/// All about it.
pub const SOCKPERF: Known = Known {
    name: "sockperf",
    figures: &[
        Listed::new("sockperf.rtt.min", Unit::Duration),
        Listed::new("sockperf.rtt.mean", Unit::Duration),
        Listed::new("sockperf.rtt.p50", Unit::Duration),
        Listed::new("sockperf.rtt.p99", Unit::Duration),
        Listed::new("sockperf.rtt.max", Unit::Duration),
        Listed::new("sockperf.sent", Unit::Count),
        Listed::new("sockperf.received", Unit::Count),
        Listed::new("sockperf.dropped", Unit::Count),
        Listed::new("sockperf.duplicates", Unit::Count),
        Listed::new("sockperf.reordered", Unit::Count),
    ],
    server: Some(Server {
        words: &["sockperf", "server"],
        ready: "[SERVER] listen on",
        serves_many: true,
    }),
    port: 11_111,
    words: &["--full-rtt"],
    result_code: None,
    judge,
    read,
};

fn judge(words: &[String]) -> Result<(), String> {
    match words.get(1).map(String::as_str) {
        // Others do not have what is read, or not that option.
        Some("ping-pong" | "pp" | "under-load" | "ul") => {}
        _ => return Err("write sockperf ping-pong or sockperf under-load".to_owned()),
    }
    if words.iter().any(|word| word == "--tcp") {
        return Err(
            "the server that is started for sockperf has UDP alone; leave --tcp out".to_owned()
        );
    }
    judge_taken("sockperf", words, &["--full-rtt", "--port", "-p"])
}

/// What stands before each number, on a line of its own or on that of the counts. Times are in microseconds.
const PLACES: [(&str, &str, f64); 10] = [
    ("sockperf.rtt.min", "<MIN> observation =", 1e3),
    ("sockperf.rtt.mean", "avg-rtt=", 1e3),
    ("sockperf.rtt.p50", "percentile 50.000 =", 1e3),
    ("sockperf.rtt.p99", "percentile 99.000 =", 1e3),
    ("sockperf.rtt.max", "<MAX> observation =", 1e3),
    ("sockperf.sent", "[Valid Duration]#SentMessages=", 1.0),
    ("sockperf.received", "[Valid Duration]#ReceivedMessages=", 1.0),
    ("sockperf.dropped", "# dropped messages =", 1.0),
    ("sockperf.duplicates", "# duplicated messages =", 1.0),
    ("sockperf.reordered", "# out-of-order messages =", 1.0),
];

fn read(output: &str) -> Said {
    let number = |(id, before, factor): (&'static str, &str, f64)| {
        Some((id, after(output, before)? * factor))
    };
    let numbers: Vec<_> = PLACES.into_iter().filter_map(number).collect();
    if numbers.is_empty() {
        return failed("sockperf printed no figures".to_owned());
    }
    // What it sends is not among what it prints.
    Said {
        numbers: Numbers::Listed(numbers),
        transmission: Transmission::default(),
        ..Said::default()
    }
}

/// The number behind this text; of `line#text`, behind the text on that line.
fn after(output: &str, before: &str) -> Option<f64> {
    let (line, text) =
        before.split_once('#').filter(|(line, _)| !line.is_empty()).unwrap_or(("", before));
    let found = output.lines().find(|it| it.contains(line) && it.contains(text))?;
    let (_, rest) = found.split_once(text)?;
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let rest = rest.trim_start();
    let end = rest.find(|letter| !is_of_number(letter)).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_result_is_read() {
        let output = "sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=1001; ReceivedMessages=1001\n\
            sockperf: [Valid Duration] RunTime=0.548 sec; SentMessages=549; ReceivedMessages=540\n\
            sockperf: \u{1b}[2;35m====> avg-rtt=112.299 (std-dev=148.809)\u{1b}[0m\n\
            sockperf: # dropped messages = 9; # duplicated messages = 2; # out-of-order messages = 1\n\
            sockperf: ---> <MAX> observation = 2309.209\n\
            sockperf: ---> percentile 99.000 =  377.634\n\
            sockperf: ---> percentile 50.000 =   90.977\n\
            sockperf: ---> <MIN> observation =   58.266\n";
        let Numbers::Listed(numbers) = read(output).numbers else { panic!("it is there") };
        let values: Vec<i64> = numbers.iter().map(|(_, number)| number.round() as i64).collect();
        assert_eq!(values, [58_266, 112_299, 90_977, 377_634, 2_309_209, 549, 540, 9, 2, 1]);
    }

    #[test]
    fn what_it_did_not_say_is_no_number() {
        assert!(read("sockperf: No messages were received from the server.").fault.is_some());
        assert_eq!(after("avg-rtt=x", "avg-rtt="), None);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(judge(&words("sockperf under-load -i 10.0.0.2 --mps 1000")), Ok(()));
        for text in ["sockperf server", "sockperf pp -p 1", "sockperf ul --tcp", "sockperf"] {
            assert!(judge(&words(text)).is_err(), "{text}");
        }
    }
}
