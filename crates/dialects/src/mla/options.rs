//! What a line of `MultipathLatencyAnalyzer` asks for: `-name:value`, with its defaults and its limits. Not here: what that is in
//! words of ours.

use std::ffi::OsString;

use pathscope_core::edits::edits;
use pathscope_core::quantity::shown;

/// Its options, and what each is for.
pub(super) const OPTIONS: [(&str, &str); 11] = [
    ("-listen:<addr or *>", "server: the address to echo on; * is every address"),
    ("-target:<addr or name>", "client: the server"),
    ("-port:<N>", "UDP port (8888)"),
    ("-bitrate:<sd,hd,4k,N>", "client: 3, 5, 25 or N times 1024 x 1024 bit/s (hd)"),
    ("-grouping:<N>", "client: datagrams that leave together (30)"),
    ("-duration:<N>", "client: seconds to send for (60)"),
    ("-secondary:<0,1>", "client: whether a second interface is used where there is one (1)"),
    ("-output:<path>", "client: file for the stamps of each datagram, as csv"),
    ("-loglevel:<0..5>", "how much is told: 2 adds what becomes of the interfaces (3)"),
    ("-prepostrecvs:<N>", "accepted, without effect"),
    (
        "-allow:<network>",
        "server: whom to answer besides this machine and its links, as 10.0.0.0/8; may be repeated",
    ),
];

/// What is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Asked {
    Help,
    Run(Options),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Options {
    pub side: Side,
    pub port: u16,
    pub log_level: u8,
    /// Options that say nothing here, or nothing at this side.
    pub idle: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Side {
    /// Without an address: every one.
    Server {
        address: Option<String>,
        allow: Vec<String>,
    },
    Client(ClientOptions),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ClientOptions {
    pub target: String,
    pub bits_per_second: u64,
    pub grouping: u32,
    pub seconds: u64,
    pub has_secondary: bool,
    pub output: Option<String>,
}

/// What one unit of a bitrate is.
const MEGABIT: u64 = 1_024 * 1_024;
/// A year: more is a slip.
const LONGEST_SECONDS: u64 = 366 * 86_400;

/// Reads a line; or why it means nothing: a sentence.
pub(super) fn read(words: &[OsString]) -> Result<Asked, String> {
    let asks = |word: &OsString| word == "-help" || word == "-?";
    if words.is_empty() || words.iter().any(asks) {
        return Ok(Asked::Help);
    }
    let mut line = Line { words: words.iter().collect() };
    let (listen, target) = (line.text("-listen")?, line.text("-target")?);
    let port = line.number("-port", 1..=65_535)?;
    let receives = line.number("-prepostrecvs", 1..=u64::from(u32::MAX))?;
    let bits_per_second = line.bitrate()?;
    let grouping = line.number("-grouping", 1..=u64::from(u32::MAX))?;
    let seconds = line.number("-duration", 1..=LONGEST_SECONDS)?;
    let secondary = line.number("-secondary", 0..=1)?;
    let output = line.text("-output")?;
    let log_level = line.number("-loglevel", 0..=5)?;
    let mut allow = Vec::new();
    while let Some(network) = line.text("-allow")? {
        allow.push(network);
    }
    line.is_used_up()?;
    let receives = receives.map(|_| "-prepostrecvs".to_owned());
    let allows = (!allow.is_empty()).then(|| "-allow".to_owned());
    let side = match (listen, target) {
        (Some(_), Some(_)) => {
            return Err("-listen and -target exclude each other: leave one out".to_owned());
        }
        (None, None) => return Err("name -listen:ADDRESS or -target:SERVER".to_owned()),
        (Some(address), None) => {
            let given = [
                ("-bitrate", bits_per_second.is_some()),
                ("-grouping", grouping.is_some()),
                ("-duration", seconds.is_some()),
                ("-secondary", secondary.is_some()),
                ("-output", output.is_some()),
            ];
            let idle = given.iter().filter(|(_, is_given)| *is_given);
            let idle = receives.into_iter().chain(idle.map(|(name, _)| (*name).to_owned()));
            let side = Side::Server { address: (address != "*").then_some(address), allow };
            return Ok(Asked::Run(options(side, port, log_level, idle.collect())));
        }
        (None, Some(target)) => Side::Client(ClientOptions {
            target,
            bits_per_second: bits_per_second.unwrap_or(5 * MEGABIT),
            grouping: grouping.map_or(30, |number| number as u32),
            seconds: seconds.unwrap_or(60),
            has_secondary: secondary != Some(0),
            output,
        }),
    };
    let idle = receives.into_iter().chain(allows).collect();
    Ok(Asked::Run(options(side, port, log_level, idle)))
}

fn options(side: Side, port: Option<u64>, log_level: Option<u64>, idle: Vec<String>) -> Options {
    let port = port.map_or(8_888, |port| port as u16);
    Options { side, port, log_level: log_level.map_or(3, |level| level as u8), idle }
}

struct Line<'line> {
    /// Those that nobody has taken.
    words: Vec<&'line OsString>,
}

impl Line<'_> {
    /// What stands behind the first colon of the first word that begins with this name.
    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let begins = |word: &&OsString| word.as_encoded_bytes().starts_with(name.as_bytes());
        let Some(place) = self.words.iter().position(begins) else { return Ok(None) };
        let word = self.words.remove(place);
        let said = shown(&word.to_string_lossy());
        let text = word.to_str().ok_or_else(|| format!("'{said}' is no text"))?;
        match text.split_once(':') {
            Some((_, value)) if !value.is_empty() => Ok(Some(value.to_owned())),
            _ => Err(format!("'{said}' lacks its value: {name}:VALUE")),
        }
    }

    fn number(
        &mut self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, String> {
        let Some(typed) = self.text(name)? else { return Ok(None) };
        within(name, &typed, &range).map(Some)
    }

    /// In bits a second.
    fn bitrate(&mut self) -> Result<Option<u64>, String> {
        /// A product that the original can count.
        const MOST: u64 = u32::MAX as u64 / MEGABIT;
        let Some(typed) = self.text("-bitrate")? else { return Ok(None) };
        let rate = match typed.as_str() {
            "sd" => 3 * MEGABIT,
            "hd" => 5 * MEGABIT,
            "4k" => 25 * MEGABIT,
            "test" => 8_192,
            number => within("-bitrate (sd, hd, 4k or a number)", number, &(1..=MOST))? * MEGABIT,
        };
        Ok(Some(rate))
    }

    /// Whatever is left means nothing.
    fn is_used_up(&self) -> Result<(), String> {
        /// A longer name was not meant to be one of these.
        const LONGEST: usize = 40;
        let Some(word) = self.words.first() else { return Ok(()) };
        let word = word.to_string_lossy();
        let typed = word.split(':').next().unwrap_or_default();
        let names = OPTIONS.iter().filter_map(|(form, _)| form.split(':').next());
        if let Some(name) = names.clone().find(|name| typed.starts_with(name)) {
            return Err(format!("'{}': {name} is there already, and counts once", shown(&word)));
        }
        let near = names.filter(|_| typed.len() <= LONGEST);
        let near = near.map(|name| (edits(&typed.to_lowercase(), name), name)).min();
        let said = format!("there is no option '{}'", shown(&word));
        Err(match near.filter(|(distance, name)| *distance <= 1 + name.len() / 4) {
            Some((_, name)) => format!("{said}; did you mean {name}:VALUE?"),
            None => said,
        })
    }
}

fn within(name: &str, typed: &str, range: &std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    let is_number = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
    let number = typed.parse().ok().filter(|number| is_number && range.contains(number));
    let (low, high) = range.clone().into_inner();
    let wrong = || format!("{name} has to be from {low} to {high}, and '{}' is not", shown(typed));
    number.ok_or_else(wrong)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A line without the name of the program.
    pub fn line(words: &str) -> Vec<OsString> {
        words.split_whitespace().map(OsString::from).collect()
    }

    fn asked(words: &str) -> Options {
        match read(&line(words)) {
            Ok(Asked::Run(options)) => options,
            other => panic!("{words}: {other:?}"),
        }
    }

    fn client(words: &str) -> ClientOptions {
        match asked(words).side {
            Side::Client(client) => client,
            Side::Server { .. } => panic!("{words}: it is no server"),
        }
    }

    #[test]
    fn defaults_are_those_of_the_guide() {
        let usual = asked("-target:10.0.0.192");
        assert_eq!((usual.port, usual.log_level, usual.idle.len()), (8_888, 3, 0));
        let expected = ClientOptions {
            target: "10.0.0.192".to_owned(),
            bits_per_second: 5 << 20,
            grouping: 30,
            seconds: 60,
            has_secondary: true,
            output: None,
        };
        assert_eq!(usual.side, Side::Client(expected));
        let server = |address: Option<&str>, allow: &[&str]| Side::Server {
            address: address.map(str::to_owned),
            allow: allow.iter().map(|network| (*network).to_owned()).collect(),
        };
        assert_eq!(asked("-listen:*").side, server(None, &[]));
        let allowed = asked("-listen:10.0.0.1 -allow:10.0.0.0/8 -allow:fd00::/8").side;
        assert_eq!(allowed, server(Some("10.0.0.1"), &["10.0.0.0/8", "fd00::/8"]));
        for words in ["", "-?", "-help", "-target:h -?"] {
            assert_eq!(read(&line(words)), Ok(Asked::Help), "{words}");
        }
    }

    #[test]
    fn every_option_is_read() {
        let words = "-target:h -port:9000 -prepostrecvs:5 -bitrate:4k -grouping:7 -duration:3600 -secondary:0 -output:C:\\a.csv -loglevel:5";
        let all = asked(words);
        assert_eq!((all.port, all.log_level), (9_000, 5));
        assert_eq!(all.idle, ["-prepostrecvs"]);
        let expected = ClientOptions {
            target: "h".to_owned(),
            bits_per_second: 25 << 20,
            grouping: 7,
            seconds: 3_600,
            has_secondary: false,
            output: Some("C:\\a.csv".to_owned()),
        };
        assert_eq!(all.side, Side::Client(expected));
        for (typed, bits) in
            [("sd", 3 << 20), ("hd", 5 << 20), ("1", 1 << 20), ("8", 8 << 20), ("test", 8_192)]
        {
            assert_eq!(client(&format!("-target:h -bitrate:{typed}")).bits_per_second, bits);
        }
        assert_eq!(
            asked("-listen:* -grouping:1 -prepostrecvs:9").idle,
            ["-prepostrecvs", "-grouping"]
        );
        // A name that goes on is the same name, as in the original.
        assert_eq!(client("-target:h -durations:9").seconds, 9);
        assert_eq!(client("-target:fe80::1").target, "fe80::1");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, said) in [
            ("-port:9", "name -listen:ADDRESS or -target:SERVER"),
            ("-listen:* -target:h", "-listen and -target exclude each other"),
            ("-target:", "'-target:' lacks its value: -target:VALUE"),
            ("-target", "'-target' lacks its value"),
            ("-target:h -target:i", "'-target:i': -target is there already, and counts once"),
            ("-target:h -port:0", "-port has to be from 1 to 65535, and '0' is not"),
            ("-target:h -port:0x1F", "-port has to be from 1 to 65535, and '0x1F' is not"),
            ("-target:h -prepostrecvs:0", "-prepostrecvs has to be from 1"),
            ("-target:h -bitrate:HD", "-bitrate (sd, hd, 4k or a number)"),
            ("-target:h -bitrate:0", "-bitrate (sd, hd, 4k or a number) has to be from 1 to 4095"),
            ("-target:h -bitrate:4096", "and '4096' is not"),
            ("-target:h -grouping:0", "-grouping has to be from 1 to"),
            ("-target:h -duration:0", "-duration has to be from 1 to"),
            ("-target:h -duration:+5", "and '+5' is not"),
            ("-target:h -secondary:2", "-secondary has to be from 0 to 1, and '2' is not"),
            ("-target:h -loglevel:6", "-loglevel has to be from 0 to 5, and '6' is not"),
            ("-target:h -Duration:5", "no option '-Duration:5'; did you mean -duration:VALUE?"),
            ("-target:h -bitrat:hd", "no option '-bitrat:hd'; did you mean -bitrate:VALUE?"),
            ("-target:h extra", "there is no option 'extra'"),
        ] {
            let error = read(&line(words)).expect_err(words);
            assert!(error.contains(said), "{words}: {error}");
        }
    }
}
