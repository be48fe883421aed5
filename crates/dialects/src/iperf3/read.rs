//! What a line of iperf3 asks for, with its defaults and its limits. Not here: how its words are split, and what they are in words of ours.

mod extent;
mod rates;

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use pathscope_core::quantity::shown;

use super::asked::{Asked, Client, Common, Extent, Json, Server, Way};
use super::getopt::{self, Found};
use super::numbers::{Suffix, c_number, code_point, number};
use super::options::{FLAGS, IDLE, REFUSED, Side, side};
use super::units::Unit;
use crate::one_dash;

/// What is moved at once over TCP.
const TCP_BLOCK: u64 = 128 << 10;
/// A datagram that fits an Ethernet frame of either family: what the original finds on most paths.
const UDP_BLOCK: u64 = 1_448;
/// What all streams together may be asked to move.
const MOST_BYTES: u64 = 1 << 60;
/// What `--timestamps` writes unless told.
const TIMESTAMP: &str = "%c ";

/// Reads a line; or why it means nothing: a sentence.
pub(super) fn read(words: &[OsString]) -> Result<Asked, String> {
    let typed = || words.iter().map(|word| word.to_string_lossy());
    asked(words).map_err(|why| one_dash::hinted(why, typed(), &getopt::longs(&FLAGS)))
}

fn asked(words: &[OsString]) -> Result<Asked, String> {
    let (found, rest) = getopt::parse(&FLAGS, words)?;
    let line = Line { found };
    if line.has("help") {
        return Ok(Asked::Help);
    }
    if line.has("version") {
        return Ok(Asked::Version);
    }
    let role = match (line.value("client"), line.has("server")) {
        (Some(_), true) => return Err("-s and -c exclude each other: leave one out".to_owned()),
        (None, false) => return Err("say -c HOST to be a client, or -s to be a server".to_owned()),
        (Some(_), false) => Side::Client,
        (None, true) => Side::Server,
    };
    line.stands_at(role)?;
    let common = line.common(&rest)?;
    Ok(match line.value("client") {
        Some(host) => Asked::Client(Box::new(line.client(host, common)?)),
        None => Asked::Server(Box::new(line.server(common)?)),
    })
}

struct Line {
    found: Vec<Found>,
}

impl Line {
    fn has(&self, name: &str) -> bool {
        self.found.iter().any(|(found, _)| *found == name)
    }

    /// The value of an option; the last of several counts.
    fn value(&self, name: &str) -> Option<&str> {
        let last = self.found.iter().rev().find(|(found, _)| *found == name);
        last.and_then(|(_, value)| value.as_deref())
    }

    /// Whether all that was typed means something at this end, and is offered here.
    fn stands_at(&self, role: Side) -> Result<(), String> {
        for (name, _) in &self.found {
            let of = side(name);
            if of != Side::Both && of != role {
                let (end, other) = match role {
                    Side::Server => ("server", "client"),
                    _ => ("client", "server"),
                };
                return Err(format!("{} is for a {other}, and this is a {end}", named(name)));
            }
            if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| refused == name) {
                return Err(format!("{}: {why}", named(name)));
            }
        }
        Ok(())
    }

    fn common(&self, rest: &[String]) -> Result<Common, String> {
        let idle = IDLE.iter().filter(|(name, _)| self.has(name));
        let idle = idle.map(|(name, why)| format!("{} has no effect here: {why}", named(name)));
        let stray =
            rest.iter().map(|word| format!("'{}' is no option, and is left out", shown(word)));
        let (four, six) = (self.has("version4"), self.has("version6"));
        if four && six {
            return Err("-4 and -6 exclude each other: leave one out".to_owned());
        }
        let json = match (self.has("json-stream"), self.has("json")) {
            (true, _) => Json::Stream { is_whole_too: self.has("json-stream-full-output") },
            (false, true) => Json::Whole,
            (false, false) => Json::No,
        };
        let (bind, device) = self.bind()?;
        Ok(Common {
            port: self.port("port")?.unwrap_or(5_201),
            format: self.format()?,
            interval_ns: self.interval_ns()?,
            pid_file: self.value("pidfile").map(str::to_owned),
            affinity: self.affinity()?,
            bind,
            device,
            is_verbose: self.has("verbose"),
            json,
            log_file: self.value("logfile").map(str::to_owned),
            timestamps: self
                .has("timestamps")
                .then(|| self.value("timestamps").unwrap_or(TIMESTAMP).to_owned()),
            family: if four {
                Some(4)
            } else if six {
                Some(6)
            } else {
                None
            },
            notes: idle.chain(stray).collect(),
        })
    }

    fn server(&self, mut common: Common) -> Result<Server, String> {
        if common.device.is_some() {
            return Err(format!(
                "{}: a server listens on addresses; give the one of the device with -B",
                named(if self.has("bind-dev") { "bind-dev" } else { "bind" })
            ));
        }
        if self.send_timeout_ms()?.is_some() {
            let why = "has no effect here at a server: a client that takes nothing is given up after 120 s";
            common.notes.push(format!("--snd-timeout {why}"));
        }
        let is_one_off = self.has("one-off");
        let idle_s = self.seconds("idle-timeout", &(1..=86_400), &mut common.notes)?;
        if idle_s.is_some() && !is_one_off {
            let why = "has no effect here without -1: a client that says nothing holds up nobody";
            common.notes.push(format!("--idle-timeout {why}"));
        }
        Ok(Server {
            is_daemon: self.has("daemon"),
            is_one_off,
            idle_s: idle_s.filter(|_| is_one_off),
            most_seconds: self.in_range("server-max-duration", &(0..=86_400))?.filter(|&it| it > 0),
            most_rate: self.most_rate(&mut common.notes)?,
            common,
        })
    }

    fn client(&self, host: &str, mut common: Common) -> Result<Client, String> {
        let is_udp = self.has("udp");
        let way = match (self.has("reverse"), self.has("bidir")) {
            (true, true) => {
                return Err("-R and --bidir exclude each other: leave one out".to_owned());
            }
            (true, false) => Way::Pull,
            (false, true) => Way::Both,
            (false, false) => Way::Push,
        };
        // An address of a link alone has its interface behind it, and stays as it is.
        let (host, of_host) = match host.rsplit_once('%') {
            Some((host, device)) if !host.contains(':') => (host, Some(device.to_owned())),
            _ => (host, None),
        };
        common.device = common.device.or(of_host);
        let (rate_bps, burst) = self.rate(is_udp)?;
        let omit_s = self.seconds("omit", &(0..=600), &mut common.notes)?.unwrap_or(0);
        let extent = self.extent(&mut common.notes)?;
        if omit_s > 0 && !matches!(extent, Extent::Seconds(_)) {
            return Err(
                "-O/--omit: bytes and blocks are counted from the first on; say with -t how long to send".to_owned()
            );
        }
        for name in ["congestion", "set-mss", "no-delay", "snd-timeout"] {
            if is_udp && self.has(name) {
                common.notes.push(format!("{} has no effect with -u", named(name)));
            }
        }
        if !is_udp && self.has("dont-fragment") {
            common.notes.push("--dont-fragment has no effect without -u".to_owned());
        }
        Ok(Client {
            host: host.to_owned(),
            is_udp,
            way,
            streams: self.in_range("parallel", &(1..=128))?.unwrap_or(1) as u32,
            extent,
            omit_s,
            block_bytes: self.block(is_udp)?,
            rate_bps,
            fq_rate_bps: self.fq_rate(&mut common.notes)?,
            burst,
            window_bytes: self.size("window", &(0..=512 << 20))?.filter(|&it| it > 0),
            congestion: self.value("congestion").map(str::to_owned),
            mss: self.mss()?,
            is_no_delay: self.has("no-delay"),
            tos: self.tos()?,
            flow_label: self.flow_label()?,
            send_timeout_ms: self.send_timeout_ms()?.filter(|_| !is_udp),
            client_port: self.port("cport")?,
            connect_ms: self.size("connect-timeout", &(1..=3_600_000))?,
            is_whole: self.has("dont-fragment"),
            title: self.value("title").map(str::to_owned),
            extra_data: self.value("extra-data").map(str::to_owned),
            wants_server_output: self.has("get-server-output"),
            common,
        })
    }

    /// The largest segment: what is less the system does not take, and 0 is its own.
    fn mss(&self) -> Result<Option<u64>, String> {
        let within = 88..=32_767;
        match self.in_range("set-mss", &(0..=u64::MAX))?.filter(|&it| it > 0) {
            Some(bytes) if !within.contains(&bytes) => Err(out_of_range("set-mss", bytes, &within)),
            bytes => Ok(bytes),
        }
    }

    fn block(&self, is_udp: bool) -> Result<u64, String> {
        let (usual, within) =
            if is_udp { (UDP_BLOCK, 16..=65_507) } else { (TCP_BLOCK, 1..=1 << 20) };
        // The original takes 0 for its default.
        let typed = self.size("length", &(0..=u64::MAX))?.filter(|&it| it > 0);
        match typed {
            Some(bytes) if !within.contains(&bytes) => Err(out_of_range("length", bytes, &within)),
            typed => Ok(typed.unwrap_or(usual)),
        }
    }

    /// The byte of the IP header that both ends set.
    fn tos(&self) -> Result<u8, String> {
        if let Some(typed) = self.value("dscp") {
            let wrong = || {
                let names = "a number from 0 to 63, or a name as af11, cs1, ef, va";
                of("dscp", format!("'{}' is no code point: {names}", shown(typed)))
            };
            return code_point(typed).map(|point| (point << 2) as u8).ok_or_else(wrong);
        }
        let Some(typed) = self.value("tos") else { return Ok(0) };
        let wrong = || of("tos", format!("'{}' is no number from 0 to 255", shown(typed)));
        c_number(typed).and_then(|tos| u8::try_from(tos).ok()).ok_or_else(wrong)
    }

    /// A number as C writes them.
    fn flow_label(&self) -> Result<Option<u64>, String> {
        let Some(typed) = self.value("flowlabel") else { return Ok(None) };
        let wrong =
            || of("flowlabel", format!("'{}' is no number from 1 to 0xfffff", shown(typed)));
        let label = c_number(typed).filter(|label| (1..=0xf_ffff).contains(label));
        label.map(Some).ok_or_else(wrong)
    }

    /// 0 is the system's own.
    fn send_timeout_ms(&self) -> Result<Option<u64>, String> {
        Ok(self.in_range("snd-timeout", &(0..=86_400_000))?.filter(|&it| it > 0))
    }

    fn bind(&self) -> Result<(Option<String>, Option<String>), String> {
        let of_link = self.value("bind-dev").map(str::to_owned);
        let Some(typed) = self.value("bind") else { return Ok((None, of_link)) };
        let (host, device) = match typed.split_once('%') {
            Some((host, device)) => (host, Some(device.to_owned())),
            None => (typed, None),
        };
        if device.is_some() && of_link.is_some() && device != of_link {
            return Err("-B and --bind-dev name different devices: leave one out".to_owned());
        }
        // An address of a link alone means nothing without its interface.
        let host = if host.contains(':') { typed } else { host };
        Ok(((!host.is_empty()).then(|| host.to_owned()), of_link.or(device)))
    }

    fn affinity(&self) -> Result<Option<(u32, Option<u32>)>, String> {
        let Some(typed) = self.value("affinity") else { return Ok(None) };
        let within = 0..=1_024;
        let one = |typed: &str| -> Result<u32, String> {
            let cpu = parsed("affinity", typed)?;
            if within.contains(&cpu) {
                Ok(cpu)
            } else {
                Err(out_of_range("affinity", cpu, &within))
            }
        };
        // `n/m` stands in the original's help, `n,m` in its manual.
        let (own, other) = match typed.split_once([',', '/']) {
            Some((own, other)) => (own, Some(one(other)?)),
            None => (typed, None),
        };
        Ok(Some((one(own)?, other)))
    }

    fn format(&self) -> Result<Option<Unit>, String> {
        let Some(typed) = self.value("format") else { return Ok(None) };
        let unit = Unit::named(typed);
        let wrong =
            || of("format", format!("'{}' is none of k, m, g, t, K, M, G, T", shown(typed)));
        unit.map(Some).ok_or_else(wrong)
    }

    fn interval_ns(&self) -> Result<u64, String> {
        let Some(typed) = self.value("interval") else { return Ok(1_000_000_000) };
        let seconds: f64 = parsed("interval", typed)?;
        if seconds == 0.0 || (0.1..=60.0).contains(&seconds) {
            // To the millisecond, so that rows have round ends.
            Ok((seconds * 1e3).round() as u64 * 1_000_000)
        } else {
            Err(of("interval", format!("{seconds} is out of range: 0.1 to 60, or 0 for none")))
        }
    }

    fn port(&self, name: &str) -> Result<Option<u16>, String> {
        Ok(self.in_range(name, &(1..=65_535))?.map(|port| port as u16))
    }

    fn in_range(&self, name: &str, within: &RangeInclusive<u64>) -> Result<Option<u64>, String> {
        let Some(typed) = self.value(name) else { return Ok(None) };
        let value = parsed(name, typed)?;
        if within.contains(&value) {
            Ok(Some(value))
        } else {
            Err(out_of_range(name, value, within))
        }
    }

    fn size(&self, name: &str, within: &RangeInclusive<u64>) -> Result<Option<u64>, String> {
        let Some(typed) = self.value(name) else { return Ok(None) };
        let value = number(typed, Suffix::Size).map_err(|why| of(name, why))?;
        if within.contains(&value) {
            Ok(Some(value))
        } else {
            Err(out_of_range(name, value, within))
        }
    }
}

fn parsed<T: FromStr>(name: &str, typed: &str) -> Result<T, String> {
    typed.parse().map_err(|_| of(name, format!("'{}' is no number that it takes", shown(typed))))
}

fn out_of_range<T: Display>(name: &str, value: impl Display, within: &RangeInclusive<T>) -> String {
    of(name, format!("{value} is out of range: {} to {}", within.start(), within.end()))
}

/// What is wrong with the value of an option.
fn of(name: &str, why: impl Display) -> String {
    format!("{}: {why}", named(name))
}

/// An option as sentences name it.
fn named(name: &str) -> String {
    let flag = FLAGS.iter().find(|flag| flag.long[0] == name);
    flag.map_or_else(|| format!("--{name}"), getopt::Flag::name)
}

#[cfg(test)]
mod tests;
