//! Every option of ctsTraffic: whose it is, what it goes with, and whether it has an effect here. What its values mean is in `read`.

use std::collections::BTreeMap;

use pathscope_core::quantity::shown;

use super::grammar;

/// Which end an option is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// Either.
    Both,
    /// Where there is a `-Target`.
    Client,
    /// Where there is a `-Listen`.
    Server,
}

/// Which protocol an option is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Over {
    /// Either.
    Both,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// What an option comes to here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// What it says.
    Same,
    /// Nothing: it tunes what this system has no part like.
    None,
    /// It would change what is measured and cannot be had: why.
    Refused(&'static str),
}

/// An option.
#[derive(Debug)]
pub struct Known {
    /// As its own help writes it.
    pub name: &'static str,
    side: Side,
    over: Over,
    /// Whether it may be given several times.
    repeats: bool,
    /// What it comes to here.
    pub effect: Effect,
}

const fn known(name: &'static str, side: Side, over: Over) -> Known {
    Known { name, side, over, repeats: false, effect: Effect::Same }
}

const fn repeated(name: &'static str, side: Side, over: Over) -> Known {
    Known { repeats: true, ..known(name, side, over) }
}

const fn idle(name: &'static str, side: Side, over: Over) -> Known {
    Known { effect: Effect::None, ..known(name, side, over) }
}

const COMPARTMENT: &str = "there are no compartments of networks here; to run inside another network, start it there: \
                           ip netns exec NAME ctsTraffic …";

/// All of them, in the order of the help, with the one that is ours.
pub const OPTIONS: [Known; 60] = [
    repeated("Listen", Side::Server, Over::Both),
    repeated("Target", Side::Client, Over::Both),
    repeated("Bind", Side::Client, Over::Both),
    known("Port", Side::Both, Over::Both),
    known("LocalPort", Side::Client, Over::Both),
    known("IfIndex", Side::Client, Over::Both),
    Known { effect: Effect::Refused(COMPARTMENT), ..known("Compartment", Side::Both, Over::Both) },
    idle("PortScalability", Side::Both, Over::Tcp),
    known("Protocol", Side::Both, Over::Both),
    known("Pattern", Side::Both, Over::Tcp),
    known("Transfer", Side::Both, Over::Tcp),
    known("Buffer", Side::Both, Over::Tcp),
    known("PushBytes", Side::Both, Over::Tcp),
    known("PullBytes", Side::Both, Over::Tcp),
    known("Verify", Side::Both, Over::Both),
    known("Shutdown", Side::Client, Over::Tcp),
    idle("MsgWaitAll", Side::Both, Over::Tcp),
    known("BitsPerSecond", Side::Both, Over::Udp),
    known("FrameRate", Side::Both, Over::Udp),
    known("StreamLength", Side::Both, Over::Udp),
    known("BufferDepth", Side::Both, Over::Udp),
    known("DatagramByteSize", Side::Both, Over::Udp),
    // Of no ctsTraffic: there anybody is sent a stream.
    repeated("Allow", Side::Server, Over::Udp),
    known("Connections", Side::Client, Over::Both),
    known("Iterations", Side::Client, Over::Both),
    known("ServerExitLimit", Side::Server, Over::Both),
    known("ThrottleConnections", Side::Client, Over::Both),
    known("TimeLimit", Side::Both, Over::Both),
    known("PauseAtEnd", Side::Both, Over::Both),
    idle("IO", Side::Both, Over::Tcp),
    known("Conn", Side::Both, Over::Tcp),
    idle("Acc", Side::Both, Over::Tcp),
    idle("InlineCompletions", Side::Both, Over::Both),
    idle("PrePostRecvs", Side::Both, Over::Both),
    idle("PrePostSends", Side::Both, Over::Both),
    known("RecvBufValue", Side::Both, Over::Both),
    known("SendBufValue", Side::Both, Over::Both),
    repeated("Options", Side::Both, Over::Tcp),
    known("KeepAliveValue", Side::Both, Over::Tcp),
    known("QosDscpValue", Side::Both, Over::Both),
    known("RateLimit", Side::Both, Over::Tcp),
    known("RateLimitPeriod", Side::Both, Over::Tcp),
    known("BurstCount", Side::Both, Over::Tcp),
    known("BurstDelay", Side::Both, Over::Tcp),
    known("CpuSetGroupId", Side::Both, Over::Both),
    idle("Threadpool", Side::Both, Over::Both),
    idle("EnableRecvSharding", Side::Server, Over::Udp),
    idle("ShardCount", Side::Server, Over::Udp),
    idle("ShardWorkerCount", Side::Server, Over::Udp),
    idle("IocpBatchSize", Side::Server, Over::Udp),
    idle("AffinityPolicy", Side::Server, Over::Udp),
    known("OnError", Side::Both, Over::Both),
    known("ConsoleVerbosity", Side::Both, Over::Both),
    known("StatusUpdate", Side::Both, Over::Both),
    known("StatusFilename", Side::Both, Over::Both),
    known("ConnectionFilename", Side::Both, Over::Both),
    known("ErrorFilename", Side::Both, Over::Both),
    known("JitterFilename", Side::Client, Over::Udp),
    known("TcpInfoFilename", Side::Both, Over::Tcp),
    Known {
        effect: Effect::Refused("no version since 2.0 sends datagrams again; leave it out"),
        ..known("StreamCodec", Side::Both, Over::Udp)
    },
];

/// What was typed, by the names of options as the help writes them.
#[derive(Debug, Default)]
pub struct Line {
    values: BTreeMap<&'static str, Vec<String>>,
}

impl Line {
    /// Reads words of which none is a call for help.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let mut line = Self::default();
        for word in words {
            let (name, value) = grammar::split(word)?;
            let known = OPTIONS.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            let known = known.ok_or_else(|| unknown(name))?;
            if let Effect::Refused(why) = known.effect {
                return Err(format!("-{}: {why}", known.name));
            }
            let values = line.values.entry(known.name).or_default();
            if !known.repeats && !values.is_empty() {
                return Err(format!("-{} is given twice; give it once", known.name));
            }
            values.push(value.to_owned());
        }
        Ok(line)
    }

    /// Whether this was given.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of one that is given once at the most.
    pub fn one(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.first().map(String::as_str)
    }

    /// The values of one that may be given several times.
    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// What was given of options that this end, or this protocol, has not: the first of them.
    pub fn misplaced(&self, side: Side, over: Over) -> Result<(), String> {
        for known in OPTIONS.iter().filter(|known| self.has(known.name)) {
            let name = known.name;
            match (known.side, side) {
                (Side::Client, Side::Server) => {
                    return Err(format!(
                        "-{name} is of clients, and -Listen makes this a server; leave one of them out"
                    ));
                }
                (Side::Server, Side::Client) => {
                    return Err(format!(
                        "-{name} is of servers, and -Target makes this a client; leave one of them out"
                    ));
                }
                _ => {}
            }
            match (known.over, over) {
                (Over::Tcp, Over::Udp) => {
                    return Err(format!(
                        "-{name} is of TCP, and this is -Protocol:udp; leave one of them out"
                    ));
                }
                (Over::Udp, Over::Tcp) => {
                    return Err(format!("-{name} is of UDP; give -Protocol:udp, or leave it out"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What was given and has no effect here, as it was typed.
    pub fn idle(&self) -> Vec<String> {
        let idle = OPTIONS.iter().filter(|known| known.effect == Effect::None);
        let given = idle
            .filter_map(|known| Some(format!("-{}:{}", known.name, shown(self.one(known.name)?))));
        let fast = self.all("Options").iter().find(|it| it.eq_ignore_ascii_case("tcpfastpath"));
        given.chain(fast.map(|typed| format!("-Options:{}", shown(typed)))).collect()
    }
}

/// That there is no such option, and which may have been meant.
fn unknown(name: &str) -> String {
    let typed = name.to_ascii_lowercase();
    let nearest = OPTIONS.iter().filter(|known| !matches!(known.effect, Effect::Refused(_)));
    let nearest = nearest.filter_map(|known| {
        let name = known.name.to_ascii_lowercase();
        let distance = distance(&typed, &name);
        // At least two thirds of what was typed are as they have to be, or all of it is a part of the name.
        let is_near = 3 * distance <= typed.len() || typed.len() >= 4 && name.contains(&typed);
        is_near.then_some((distance, known.name))
    });
    let near = nearest.min();
    let said = shown(name);
    match near {
        Some((_, near)) => {
            format!("there is no option -{said}; did you mean -{near}? -Help:advanced lists all")
        }
        None => format!("there is no option -{said}; -Help:advanced lists all"),
    }
}

/// How many characters one word is from another: those to take out, put in or replace. Words are short: what is longer than any
/// option is not looked at.
fn distance(one: &str, other: &str) -> usize {
    const MOST: usize = 32;
    if one.len() > MOST {
        return usize::MAX / 4;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, character) in one.bytes().enumerate() {
        let mut corner = above;
        let mut left = above + 1;
        for (cell, against) in row.iter_mut().skip(1).zip(other.bytes()) {
            let replaced = corner + usize::from(character != against);
            corner = *cell;
            left = replaced.min(corner + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_once_unless_they_repeat() {
        let line =
            Line::read(&["-TARGET:h1", "-target:h2", "-ConNections:5"]).expect("known words");
        assert_eq!(line.all("Target"), ["h1", "h2"]);
        assert_eq!((line.one("Connections"), line.one("Port")), (Some("5"), None));
        let error = Line::read(&["-port:1", "-Port:2"]).expect_err("twice");
        assert_eq!(error, "-Port is given twice; give it once");
    }

    #[test]
    fn an_unknown_name_has_the_nearest_named() {
        for (word, near) in [
            ("-Connection:5", "did you mean -Connections?"),
            ("-framrate:5", "did you mean -FrameRate?"),
            ("-bitpersecond:5", "did you mean -BitsPerSecond?"),
            ("-statusfile:a.csv", "did you mean -StatusFilename?"),
            ("-xyzzy:5", "no option -xyzzy; -Help:advanced"),
            ("-verbosity:1", "did you mean -ConsoleVerbosity?"),
            ("-tcpinfo:a.csv", "did you mean -TcpInfoFilename?"),
            ("-compartment:a", "ip netns exec"),
        ] {
            let error = Line::read(&[word]).expect_err(word);
            assert!(error.contains(near), "{word}: {error}");
        }
        let long = format!("-{}:1", "a".repeat(10_000));
        assert!(Line::read(&[&long]).expect_err("unknown").len() < 200);
    }

    #[test]
    fn distances_are_symmetric_and_small_for_what_is_near() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("port", "port", 0),
            ("prot", "port", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!((distance(one, other), distance(other, one)), (expected, expected));
        }
    }

    #[test]
    fn what_is_of_the_other_end_or_protocol_is_named() {
        let misplaced = |words: &[&str], side, over| {
            Line::read(words).expect("known words").misplaced(side, over).expect_err("misplaced")
        };
        let error = misplaced(&["-listen:*", "-connections:1"], Side::Server, Over::Tcp);
        assert!(error.starts_with("-Connections is of clients"), "{error}");
        let error = misplaced(&["-target:a", "-serverexitlimit:1"], Side::Client, Over::Tcp);
        assert!(error.starts_with("-ServerExitLimit is of servers"), "{error}");
        let error = misplaced(&["-target:a", "-transfer:1"], Side::Client, Over::Udp);
        assert!(error.starts_with("-Transfer is of TCP"), "{error}");
        let error = misplaced(&["-target:a", "-framerate:1"], Side::Client, Over::Tcp);
        assert!(error.starts_with("-FrameRate is of UDP"), "{error}");
    }

    #[test]
    fn every_name_stands_once() {
        let mut names = OPTIONS.map(|known| known.name.to_ascii_lowercase());
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
