//! What was typed behind `lagscope`, as its settings. Its own rules: a letter and its value in one word, and in two where the value must
//! be there; the last of two counts. Not what follows from them (`mod.rs`).

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use super::usage;

/// Which end it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    Sender,
    Receiver,
}

/// All that can be said, with its defaults.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Settings {
    pub role: Role,
    /// Nobody said which end it is.
    pub is_default_role: bool,
    pub address: Option<String>,
    pub is_daemon: bool,
    pub cpu: Option<u32>,
    pub is_ipv6: bool,
    pub port: u16,
    /// 0: whichever is free.
    pub source_port: u16,
    pub buffer: Option<u64>,
    pub size: u64,
    /// It counts more than a number of pings, wherever it stands.
    pub duration_s: Option<u64>,
    pub pings: u64,
    pub interval_s: u64,
    pub csv: Option<String>,
    pub has_percentiles: bool,
    pub json: Option<String>,
    pub histogram: Option<Ranges>,
    pub is_verbose: bool,
    /// What was said that is not as it was said, a sentence each.
    pub corrections: Vec<String>,
}

/// Where a histogram begins, and how wide and how many its buckets are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Ranges {
    pub start_us: u64,
    pub width_us: u64,
    pub count: u32,
}

/// A command line that comes to no settings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// Its usage is what was asked for, or what is answered; where a word is wrong, a sentence of it.
    Usage(Option<String>),
    /// A word is understood, and its value makes no sense.
    Value(String),
}

const DEFAULT_PORT: u16 = 6001;
const DEFAULT_SOURCE_PORT: u16 = 25001;
pub(super) const DEFAULT_SIZE: u64 = 4;
const DEFAULT_DURATION_S: u64 = 60;
const DEFAULT_PINGS: u64 = 1_000_000;
const DEFAULT_CSV: &str = "latencies_log.csv";
const DEFAULT_RANGES: Ranges = Ranges { start_us: 0, width_us: 100, count: 10 };

/// Messages of a mebibyte are the longest that pings are.
const SIZES: RangeInclusive<u64> = 0..=1 << 20;
/// Twelve hours and more: what a test may last.
const SECONDS: RangeInclusive<u64> = 0..=86_400;
const INTERVALS_S: RangeInclusive<u64> = 0..=3_600;
const PINGS: RangeInclusive<u64> = 0..=1_000_000_000_000;
/// What is bound to a port below it needs privileges.
const FIRST_FREE_PORT: u64 = 1_025;

/// What was typed, without the name of the tool.
pub(super) fn parse(words: &[OsString]) -> Result<Settings, Fault> {
    let mut parser = Parser::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_str().ok_or_else(|| stray(&word.to_string_lossy()))?;
        let mut letters = text.strip_prefix('-').ok_or_else(|| stray(text))?.chars();
        let letter = letters.next().ok_or_else(|| stray(text))?;
        let glued = letters.as_str();
        match usage::kind(letter) {
            Some(usage::Kind::Switch) if !glued.is_empty() => {
                return Err(Fault::Usage(Some(format!(
                    "'{text}': -{letter} takes no value, and each option is a word of its own: -{letter} -{glued}"
                ))));
            }
            Some(usage::Kind::Switch | usage::Kind::Optional) => parser.take(letter, glued)?,
            Some(usage::Kind::Value) if !glued.is_empty() => parser.take(letter, glued)?,
            Some(usage::Kind::Value) => {
                let value = words.next().and_then(|word| word.to_str()).filter(|it| !it.is_empty());
                let none = || Fault::Usage(Some(format!("-{letter} needs a value")));
                parser.take(letter, value.ok_or_else(none)?)?;
            }
            None => return Err(unknown(text)),
        }
    }
    parser.settings()
}

fn stray(word: &str) -> Fault {
    let word = if word.is_empty() { "an empty word" } else { &format!("'{word}'") };
    let sentence = format!(
        "{word} is no option: an address stands behind -s or -r in one word, as -s192.168.4.1, and files behind -P and -R"
    );
    Fault::Usage(Some(sentence))
}

fn unknown(word: &str) -> Fault {
    let nearest = usage::nearest(word);
    let nearest = nearest
        .map_or_else(String::new, |(option, what)| format!("; the nearest is {option} ({what})"));
    Fault::Usage(Some(format!("there is no option '{word}'{nearest}")))
}

/// What was said so far.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Debug, Default)]
struct Parser {
    sender: Option<String>,
    receiver: Option<String>,
    is_daemon: bool,
    cpu: Option<u32>,
    is_ipv6: bool,
    port: Option<u16>,
    source_port: Option<u16>,
    buffer: Option<u64>,
    size: Option<u64>,
    duration_s: Option<u64>,
    pings: Option<u64>,
    interval_s: u64,
    csv: Option<String>,
    has_percentiles: bool,
    json: Option<String>,
    has_histogram: bool,
    start_us: Option<u64>,
    width_us: Option<u64>,
    count: Option<u32>,
    is_verbose: bool,
    corrections: Vec<String>,
}

impl Parser {
    fn take(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        let named = |value: &str| Some(value.to_owned()).filter(|it| !it.is_empty());
        let number = |range: RangeInclusive<u64>| number(letter, value, range);
        let small =
            |range: RangeInclusive<u64>| Ok(u32::try_from(number(range)?).unwrap_or(u32::MAX));
        let port = |first: u64| {
            let wide = number(first..=u64::from(u16::MAX))?;
            Ok::<_, Fault>(u16::try_from(wide).unwrap_or(u16::MAX))
        };
        match letter {
            'h' => return Err(Fault::Usage(None)),
            'u' => {
                let sentence = "-u: lagscope knows no UDP; round trips over UDP are measured by 'pathscope latency HOST \
                                --protocol udp' against 'pathscope server'";
                return Err(Fault::Value(sentence.to_owned()));
            }
            's' => self.sender = Some(value.to_owned()),
            'r' => self.receiver = Some(value.to_owned()),
            'D' => self.is_daemon = true,
            'f' => self.cpu = Some(small(0..=4_095)?),
            '6' => self.is_ipv6 = true,
            'p' => self.port = Some(port(0)?),
            'o' => {
                let typed = port(0)?;
                if (1..FIRST_FREE_PORT).contains(&u64::from(typed)) {
                    let why = format!("give 0 for any that is free, or {FIRST_FREE_PORT} to 65535");
                    return Err(Fault::Value(format!("-o{typed}: {why}")));
                }
                self.source_port = Some(typed);
            }
            'b' => self.buffer = Some(number(1..=1 << 30)?),
            'z' => self.size = Some(self.corrected(letter, number(SIZES)?, (4, DEFAULT_SIZE))),
            't' => {
                let typed = number(SECONDS)?;
                self.duration_s = Some(self.corrected(letter, typed, (1, DEFAULT_DURATION_S)));
            }
            'n' => self.pings = Some(self.corrected(letter, number(PINGS)?, (1, DEFAULT_PINGS))),
            'i' => self.interval_s = number(INTERVALS_S)?,
            'R' => self.csv = Some(named(value).unwrap_or_else(|| DEFAULT_CSV.to_owned())),
            'P' => {
                self.has_percentiles = true;
                self.json = named(value);
            }
            'H' => self.has_histogram = true,
            'a' => self.start_us = Some(number(0..=60_000_000)?),
            'l' => self.width_us = Some(number(1..=60_000_000)?),
            'c' => self.count = Some(small(1..=98)?),
            'V' => self.is_verbose = true,
            _ => {}
        }
        Ok(())
    }

    /// The least that makes sense, and what is meant by less.
    fn corrected(&mut self, letter: char, typed: u64, (least, meant): (u64, u64)) -> u64 {
        if typed >= least {
            return typed;
        }
        self.corrections.push(format!("-{letter}{typed} is below {least}; {meant} is used"));
        meant
    }

    fn settings(self) -> Result<Settings, Fault> {
        let (role, address) = match (&self.sender, &self.receiver) {
            (Some(_), Some(_)) => {
                let sentence = "both sender and receiver roles provided: give -s or -r";
                return Err(Fault::Value(sentence.to_owned()));
            }
            (Some(address), None) => (Role::Sender, address),
            (None, address) => {
                (Role::Receiver, address.as_ref().unwrap_or(const { &String::new() }))
            }
        };
        if self.is_ipv6 && address.parse::<Ipv4Addr>().is_ok() {
            let sentence =
                format!("invalid ipv6 address provided: '{address}' is of IPv4; leave -6 out");
            return Err(Fault::Value(sentence));
        }
        if role == Role::Sender && self.port == Some(0) {
            return Err(Fault::Value(
                "-p0: a receiver may take any port that is free, and a sender names it".to_owned(),
            ));
        }
        let ranges = Ranges {
            start_us: self.start_us.unwrap_or(DEFAULT_RANGES.start_us),
            width_us: self.width_us.unwrap_or(DEFAULT_RANGES.width_us),
            count: self.count.unwrap_or(DEFAULT_RANGES.count),
        };
        Ok(Settings {
            role,
            is_default_role: self.sender.is_none() && self.receiver.is_none(),
            address: Some(address.clone()).filter(|it| !it.is_empty()),
            is_daemon: self.is_daemon,
            cpu: self.cpu,
            is_ipv6: self.is_ipv6,
            port: self.port.unwrap_or(DEFAULT_PORT),
            source_port: self.source_port.unwrap_or(DEFAULT_SOURCE_PORT),
            buffer: self.buffer,
            size: self.size.unwrap_or(DEFAULT_SIZE),
            duration_s: self.duration_s,
            pings: self.pings.unwrap_or(DEFAULT_PINGS),
            interval_s: self.interval_s,
            csv: self.csv,
            has_percentiles: self.has_percentiles,
            json: self.json,
            histogram: self.has_histogram.then_some(ranges),
            is_verbose: self.is_verbose,
            corrections: self.corrections,
        })
    }
}

/// A whole number: nothing behind it, and no other in its place.
fn number(letter: char, typed: &str, range: RangeInclusive<u64>) -> Result<u64, Fault> {
    let (least, most) = (range.start(), range.end());
    let is_digits = typed.bytes().all(|byte| byte.is_ascii_digit());
    let value = typed.parse().ok().filter(|value| is_digits && range.contains(value));
    value.ok_or_else(|| {
        Fault::Value(format!("-{letter}: '{typed}' is no whole number from {least} to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Settings, Fault> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(&words)
    }

    fn good(line: &str) -> Settings {
        parsed(line).unwrap_or_else(|fault| panic!("{line}: {fault:?}"))
    }

    #[test]
    fn nothing_said_is_a_receiver_and_a_bare_sender_has_its_defaults() {
        let receiver = good("");
        assert!(receiver.role == Role::Receiver && receiver.is_default_role);
        assert_eq!((receiver.address, receiver.port), (None, 6001));
        let sender = good("-s");
        assert_eq!((sender.role, sender.address), (Role::Sender, None));
        assert_eq!((sender.size, sender.pings, sender.duration_s), (4, 1_000_000, None));
        assert_eq!((sender.source_port, sender.interval_s, sender.buffer), (25001, 0, None));
        assert!(!sender.has_percentiles && sender.histogram.is_none() && sender.csv.is_none());
    }

    #[test]
    fn values_are_glued_or_stand_alone_and_the_last_counts() {
        for line in ["-s192.168.4.1 -H -a 10 -l 1 -c 98", "-s192.168.4.1 -H -a10 -l1 -c98 "] {
            let ranges = Ranges { start_us: 10, width_us: 1, count: 98 };
            assert_eq!(good(line).histogram, Some(ranges));
        }
        let settings = good("-s10.0.0.1 -t 60 -z64 -z 128 -p7000 -f1 -i2 -b65536 -o0 -V -D");
        assert_eq!((settings.duration_s, settings.size, settings.port), (Some(60), 128, 7000));
        assert_eq!((settings.cpu, settings.interval_s, settings.buffer), (Some(1), 2, Some(65536)));
        assert!(settings.source_port == 0 && settings.is_verbose && settings.is_daemon);
        assert_eq!(good("-shost1 -s10.0.0.2").address.as_deref(), Some("10.0.0.2"));
    }

    #[test]
    fn files_have_names_only_where_they_are_glued() {
        let bare = good("-s -P -R -H");
        assert_eq!((bare.csv.as_deref(), bare.json), (Some("latencies_log.csv"), None));
        assert_eq!(bare.histogram, Some(DEFAULT_RANGES));
        let named = good("-s -Platencies.json -Rall.csv");
        assert_eq!(named.csv.as_deref(), Some("all.csv"));
        assert!(named.has_percentiles && named.json.as_deref() == Some("latencies.json"));
        assert_eq!(good("-s -Pa.json -P").json, None, "the last counts");
    }

    #[test]
    fn what_is_too_little_is_what_lagscope_takes_it_for() {
        let settings = good("-s -z3 -t0 -n0");
        assert_eq!((settings.size, settings.duration_s, settings.pings), (4, Some(60), 1_000_000));
        assert_eq!(settings.corrections.len(), 3);
    }

    #[test]
    fn what_it_would_misread_is_refused_by_the_word_that_is_wrong() {
        for (line, part) in [
            ("-s -p70000", "-p: '70000' is no whole number from 0 to 65535"),
            ("-s -p0", "a sender names it"),
            ("-s -n-1", "-n: '-1'"),
            ("-s -i0.5", "-i: '0.5'"),
            ("-s -tabc", "-t: 'abc'"),
            ("-s -fabc", "-f: 'abc'"),
            ("-s -o80", "-o80"),
            ("-s -c99", "-c: '99' is no whole number from 1 to 98"),
            ("-s -c0", "-c: '0'"),
            ("-s -l0", "-l: '0'"),
            ("-s -a-1", "-a: '-1'"),
            ("-s -z2000000", "-z: '2000000'"),
            ("-s -n99999999999999999999", "-n: '9999"),
            ("-s -u", "knows no UDP"),
            ("-s -r", "both sender and receiver roles"),
            ("-s10.0.0.1 -6", "invalid ipv6 address provided: '10.0.0.1'"),
        ] {
            match parsed(line) {
                Err(Fault::Value(text)) => assert!(text.contains(part), "{line}: {text}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        assert!(good("-r -6").is_ipv6, "it has no address of the other family");
    }

    #[test]
    fn what_it_does_not_know_ends_in_its_usage() {
        for (line, part) in [
            ("-h", None),
            ("-s -x", Some("no option '-x'")),
            ("--help", Some("the nearest is -h")),
            ("-S10.0.0.1", Some("the nearest is -s")),
            ("-s 10.0.0.1", Some("'10.0.0.1' is no option")),
            ("-s -p", Some("-p needs a value")),
            ("-VH -s", Some("-V -H")),
            ("-", Some("'-' is no option")),
        ] {
            match parsed(line) {
                Err(Fault::Usage(text)) => match part {
                    Some(part) => assert!(text.is_some_and(|it| it.contains(part)), "{line}"),
                    None => assert_eq!(text, None),
                },
                other => panic!("{line}: {other:?}"),
            }
        }
        let empty = parse(&[OsString::from("-s"), OsString::new()]);
        assert!(matches!(empty, Err(Fault::Usage(Some(text))) if text.contains("empty word")));
    }
}
