//! What a line of simpleperf asks for, with its defaults and its limits. Not here: how its words are split, and what they are
//! in words of ours.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use pathscope_core::quantity::shown;

use super::argparse::{self, Flag, Found};
use crate::one_dash;

/// Its options.
pub(super) const FLAGS: [Flag; 11] = [
    Flag { short: 'h', long: &["help"], value: None },
    Flag { short: 's', long: &["server"], value: None },
    Flag { short: 'c', long: &["client"], value: None },
    Flag { short: 'b', long: &["bind"], value: Some("IP") },
    Flag { short: 'I', long: &["serverip"], value: Some("IP") },
    Flag { short: 'p', long: &["port"], value: Some("N") },
    Flag { short: 't', long: &["time"], value: Some("S") },
    Flag { short: 'i', long: &["interval"], value: Some("S") },
    Flag { short: 'n', long: &["num"], value: Some("X[B,KB,MB,GB]") },
    Flag { short: 'P', long: &["parallel", "parallels"], value: Some("N") },
    Flag { short: 'f', long: &["format"], value: Some("B,KB,MB") },
];

/// What each is for, in the same order.
pub(super) const HELP: [&str; 11] = [
    "this text",
    "be the server",
    "be the client",
    "server: address to listen on (127.0.0.1)",
    "client: address of the server (127.0.0.1)",
    "port of the server, 1044 to 65535 (8080)",
    "client: seconds to send for (25)",
    "client: a row every so many seconds",
    "client: send so much on each connection, if the time suffices",
    "client: connections at once, 1 to 5 (1)",
    "unit of what was transferred (MB)",
];

/// Bytes of a message: what is sent is a number of these.
const MESSAGE_BYTES: u64 = 1_000;

/// Units of amounts, which are decimal.
const UNITS: [(&str, u64); 4] = [("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

/// The unit of what was transferred.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Unit {
    B,
    KB,
    #[default]
    MB,
}

impl Unit {
    const ALL: [Self; 3] = [Self::B, Self::KB, Self::MB];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::B => "B",
            Self::KB => "KB",
            Self::MB => "MB",
        }
    }

    pub(super) fn of(self, bytes: u64) -> f64 {
        bytes as f64
            / match self {
                Self::B => 1.0,
                Self::KB => 1e3,
                Self::MB => 1e6,
            }
    }
}

/// What is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    Help,
    /// Neither a server nor a client.
    Neither,
    Server(ServerOptions),
    Client(ClientOptions),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ServerOptions {
    pub bind: IpAddr,
    pub port: u16,
    pub unit: Unit,
    /// Options that say nothing to a server.
    pub idle: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ClientOptions {
    pub server: SocketAddr,
    pub seconds: u64,
    pub interval_seconds: Option<u64>,
    /// Of each connection, in whole messages.
    pub bytes: Option<u64>,
    pub connections: u32,
    pub unit: Unit,
    /// Options that say nothing to a client.
    pub idle: Vec<String>,
}

/// Reads a line; or why it means nothing: a sentence.
pub(super) fn read(words: &[OsString]) -> Result<Asked, String> {
    let typed = || words.iter().map(|word| word.to_string_lossy());
    let longs = FLAGS.iter().flat_map(|flag| flag.long).copied();
    asked(words).map_err(|why| one_dash::hinted(why, typed(), &longs))
}

fn asked(words: &[OsString]) -> Result<Asked, String> {
    let found = argparse::parse(&FLAGS, words)?;
    if found.iter().any(|(short, _)| *short == 'h') {
        return Ok(Asked::Help);
    }
    let is_given = |short: char| found.iter().any(|(found, _)| *found == short);
    let line = Line { found: &found };
    let port = line.port()?;
    let (bind, server) = (line.address('b')?, line.address('I')?);
    let seconds = line.whole_seconds('t')?.unwrap_or(25);
    let interval_seconds = line.whole_seconds('i')?;
    let connections = line.connections()?;
    let bytes = line.amount()?;
    let unit = line.unit()?;
    match (is_given('s'), is_given('c')) {
        (false, false) => Ok(Asked::Neither),
        (true, true) => {
            Err("-s/--server and -c/--client exclude each other: leave one out".to_owned())
        }
        (true, false) => {
            let idle = line.named(&['I', 't', 'i', 'n', 'P']);
            Ok(Asked::Server(ServerOptions { bind, port, unit, idle }))
        }
        (false, true) => Ok(Asked::Client(ClientOptions {
            server: SocketAddr::new(server, port),
            seconds,
            interval_seconds,
            bytes,
            connections,
            unit,
            idle: line.named(&['b']),
        })),
    }
}

struct Line<'line> {
    found: &'line [Found],
}

impl Line<'_> {
    /// The value of an option; the last of several counts.
    fn value(&self, short: char) -> Option<&str> {
        let last = self.found.iter().rev().find(|(found, _)| *found == short);
        last.map(|(_, value)| value.as_str())
    }

    /// Those of these options that were given, as errors name them.
    fn named(&self, shorts: &[char]) -> Vec<String> {
        let given = shorts.iter().filter(|&&short| self.value(short).is_some());
        given.map(|&short| name(short)).collect()
    }

    fn port(&self) -> Result<u16, String> {
        const PORTS: std::ops::RangeInclusive<i128> = 1_044..=65_535;
        let Some(number) = self.number('p')? else { return Ok(8_080) };
        let port = u16::try_from(number).ok().filter(|_| PORTS.contains(&number));
        port.ok_or_else(|| {
            format!("{} has to be from 1044 to 65535, and {number} is not", name('p'))
        })
    }

    fn address(&self, short: char) -> Result<IpAddr, String> {
        let Some(typed) = self.value(short) else { return Ok(Ipv4Addr::LOCALHOST.into()) };
        typed.parse().map_err(|_| {
            format!("{} takes an IP address, and '{}' is none", name(short), shown(typed))
        })
    }

    fn whole_seconds(&self, short: char) -> Result<Option<u64>, String> {
        /// A year: more is a slip.
        const MOST: u64 = 366 * 86_400;
        let Some(number) = self.number(short)? else { return Ok(None) };
        let seconds = u64::try_from(number).ok().filter(|seconds| (1..=MOST).contains(seconds));
        let name = name(short);
        let wrong = || format!("{name} has to be from 1 to {MOST} seconds, and {number} is not");
        seconds.map(Some).ok_or_else(wrong)
    }

    fn connections(&self) -> Result<u32, String> {
        let Some(number) = self.number('P')? else { return Ok(1) };
        let connections = u32::try_from(number).ok().filter(|number| (1..=5).contains(number));
        let wrong = || format!("{} has to be from 1 to 5, and {number} is not", name('P'));
        connections.ok_or_else(wrong)
    }

    /// A whole number as Python reads it: with a sign, spaces around it, and `_` between digits.
    fn number(&self, short: char) -> Result<Option<i128>, String> {
        let Some(typed) = self.value(short) else { return Ok(None) };
        let text = typed.trim();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let parts = || digits.split('_');
        let is_number =
            parts().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        let number = text.replace('_', "").parse().ok().filter(|_| is_number);
        let wrong =
            || format!("{} takes a whole number, and '{}' is none", name(short), shown(typed));
        number.map(Some).ok_or_else(wrong)
    }

    fn amount(&self) -> Result<Option<u64>, String> {
        let Some(typed) = self.value('n') else { return Ok(None) };
        let name = name('n');
        let text = typed.trim();
        let (digits, unit) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
        let unit = unit.trim_start();
        let factor = UNITS.iter().find(|(name, _)| *name == unit);
        let wrong = |what: &str| {
            let units = "a whole number and B, KB, MB or GB, as 10MB";
            format!("{name} takes {units}; '{}' {what}", shown(typed))
        };
        if digits.is_empty() {
            return Err(wrong("begins with no number"));
        }
        let Some(&(_, factor)) = factor else { return Err(wrong("has no such unit")) };
        let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
        let whole = bytes
            .and_then(|bytes| bytes.div_ceil(MESSAGE_BYTES).checked_mul(MESSAGE_BYTES))
            .ok_or_else(|| wrong("is more than can be counted"))?;
        if whole == 0 {
            return Err(wrong("is nothing to send"));
        }
        Ok(Some(whole))
    }

    fn unit(&self) -> Result<Unit, String> {
        let Some(typed) = self.value('f') else { return Ok(Unit::default()) };
        let unit = Unit::ALL.into_iter().find(|unit| unit.name() == typed);
        unit.ok_or_else(|| {
            format!("{} takes B, KB or MB, and '{}' is none of them", name('f'), shown(typed))
        })
    }
}

/// The option with this short form, as errors name it.
fn name(short: char) -> String {
    let flag = FLAGS.iter().find(|flag| flag.short == short);
    flag.map_or_else(|| format!("-{short}"), argparse::name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A line without the name of the program.
    pub fn line(words: &str) -> Vec<OsString> {
        words.split_whitespace().map(OsString::from).collect()
    }

    fn client(words: &str) -> ClientOptions {
        match read(&line(words)) {
            Ok(Asked::Client(client)) => client,
            other => panic!("{words}: {other:?}"),
        }
    }

    fn server(words: &str) -> ServerOptions {
        match read(&line(words)) {
            Ok(Asked::Server(server)) => server,
            other => panic!("{words}: {other:?}"),
        }
    }

    #[test]
    fn defaults_are_those_of_the_original() {
        assert_eq!(
            client("-c"),
            ClientOptions {
                server: SocketAddr::from(([127, 0, 0, 1], 8_080)),
                seconds: 25,
                interval_seconds: None,
                bytes: None,
                connections: 1,
                unit: Unit::MB,
                idle: Vec::new(),
            }
        );
        let usual = ServerOptions {
            bind: Ipv4Addr::LOCALHOST.into(),
            port: 8_080,
            unit: Unit::MB,
            idle: Vec::new(),
        };
        assert_eq!(server("--server"), usual);
    }

    #[test]
    fn every_option_is_read() {
        let all = client("-c -I 10.0.1.2 -p 8088 -t 10 -i 5 -n 10MB -P 2 -f KB");
        assert_eq!(all.server, SocketAddr::from(([10, 0, 1, 2], 8_088)));
        assert_eq!((all.seconds, all.interval_seconds), (10, Some(5)));
        assert_eq!((all.bytes, all.connections, all.unit), (Some(10_000_000), 2, Unit::KB));
        let long = "--client --serverip 10.0.1.2 --port 8088 --time 10 --interval 5 --num 10MB --parallel 2 --format KB";
        assert_eq!(client(long), all);
        assert_eq!(client("-cI10.0.1.2 -p8088 -t10 -i5 -n10MB -P2 -fKB"), all);
        let server = server("-s -b ::1 -p 65535 -f B -t 9");
        assert_eq!(
            (server.bind, server.port, server.unit),
            ("::1".parse().unwrap(), 65_535, Unit::B)
        );
        assert_eq!(server.idle, ["-t/--time"]);
        assert_eq!(client("-c -b 10.0.0.1").idle, ["-b/--bind"]);
        assert_eq!(read(&line("-c --help")), Ok(Asked::Help));
        assert_eq!(read(&line("-p 8088")), Ok(Asked::Neither));
        // The last of several counts, and numbers are Python's.
        assert_eq!(client("-c -t 5 -t +1_0").seconds, 10);
    }

    #[test]
    fn amounts_are_decimal_and_of_whole_messages() {
        for (typed, bytes) in [
            ("1B", 1_000),
            ("1001B", 2_000),
            ("3KB", 3_000),
            ("2MB", 2_000_000),
            ("1GB", 1_000_000_000),
        ] {
            assert_eq!(client(&format!("-c -n {typed}")).bytes, Some(bytes), "{typed}");
        }
        let spaced = ["-c", "-n", "10 MB"].map(OsString::from);
        let Ok(Asked::Client(spaced)) = read(&spaced) else { panic!("it is understood") };
        assert_eq!(spaced.bytes, Some(10_000_000));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, said) in [
            ("-c -p 1043", "-p/--port has to be from 1044 to 65535, and 1043 is not"),
            ("-c -p 65536", "-p/--port has to be from 1044 to 65535"),
            ("-s -p x", "-p/--port takes a whole number, and 'x' is none"),
            ("-c -p 80_", "-p/--port takes a whole number"),
            ("-s -b localhost", "-b/--bind takes an IP address, and 'localhost' is none"),
            ("-c -I 10.0.0", "-I/--serverip takes an IP address, and '10.0.0' is none"),
            ("-c -t 0", "-t/--time has to be from 1 to"),
            ("-c -t -5", "and -5 is not"),
            ("-c -t 1.5", "-t/--time takes a whole number, and '1.5' is none"),
            ("-c -i 0", "-i/--interval has to be from 1 to"),
            ("-c -P 0", "-P/--parallel has to be from 1 to 5, and 0 is not"),
            ("-c -P 6", "-P/--parallel has to be from 1 to 5, and 6 is not"),
            ("-c -n 10", "B, KB, MB or GB, as 10MB; '10' has no such unit"),
            ("-c -n 10mb", "'10mb' has no such unit"),
            ("-c -n MB", "'MB' begins with no number"),
            ("-c -n 0MB", "'0MB' is nothing to send"),
            ("-c -n 99999999999GB", "is more than can be counted"),
            ("-c -f GB", "-f/--format takes B, KB or MB, and 'GB' is none of them"),
            ("-s -c", "-s/--server and -c/--client exclude each other"),
            ("-c -z", "there is no option '-z'"),
            ("-c -time 3", "no option awaits '3'; in place of '-time', did you mean --time?"),
            (
                "-c -interval=3",
                "'nterval=3' is none; in place of '-interval=3', did you mean --interval?",
            ),
        ] {
            let error = read(&line(words)).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
