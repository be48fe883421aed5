//! What a line of ntttcp asks for, with its defaults, its corrections and its limits. Not how its words are split (`getopt`), and not
//! what they are in words of ours (`mod.rs`).

use std::net::IpAddr;

use super::getopt::Found;

/// Which end it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    Sender,
    Receiver,
}

/// All that can be said.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Settings {
    pub role: Role,
    /// Nobody said which end it is.
    pub is_default_role: bool,
    pub address: Option<IpAddr>,
    pub is_daemon: bool,
    pub is_multi_client: bool,
    pub is_last_client: bool,
    pub is_epoll: bool,
    pub is_endless: bool,
    pub ports: u32,
    pub threads: u32,
    /// Of each thread.
    pub connections: u32,
    pub source_address: Option<IpAddr>,
    pub is_ipv6: bool,
    pub is_udp: bool,
    /// The first for data.
    pub port: u16,
    pub source_port: Option<u16>,
    /// Bytes of a read or a write.
    pub buffer: u64,
    /// Bits a second, of all connections together.
    pub rate: Option<u64>,
    /// The same, asked for of the kernel.
    pub pacing_rate: Option<u64>,
    pub warm_up_s: u64,
    /// 0: until it is interrupted.
    pub duration_s: u64,
    pub cool_down_s: u64,
    pub has_sync: bool,
    pub log: Option<String>,
    pub xml: Option<String>,
    pub json: Option<String>,
    pub is_quiet: bool,
    pub is_verbose: bool,
    pub cpu: Option<u32>,
    pub is_no_delay: bool,
    pub shows_retransmits: bool,
    pub interface: Option<String>,
    pub interrupts: Option<String>,
    /// What was said that is not as it was said, a sentence each.
    pub corrections: Vec<String>,
}

pub(super) const MOST_PORTS: u32 = 512;
const MOST_THREADS: u32 = 25_600;
const MOST_CONNECTIONS: u32 = 1_000;
const DEFAULT_DURATION_S: u64 = 60;
const DEFAULT_SOURCE_PORT: u16 = 25_001;
/// What a port below it is taken for.
const FIRST_FREE_PORT: u16 = 1_025;
const DEFAULT_RECEIVE: u64 = 64 << 10;
const DEFAULT_SEND: u64 = 128 << 10;
/// The most that a datagram carries: what is longer is cut to it, as there.
const MOST_DATAGRAM: u64 = 65_507;
/// A day: what a part of a test may last.
const MOST_SECONDS: u64 = 86_400;
const BINARY: u64 = 1_024;
const DECIMAL: u64 = 1_000;

/// What was typed; or why it makes no sense, a sentence.
pub(super) fn read(found: &[Found]) -> Result<Settings, String> {
    let mut line = Line { found, corrections: Vec::new() };
    let (sender, receiver) = (line.is_given("s"), line.is_given("r"));
    if sender && receiver {
        return Err("both sender and receiver roles provided: give -s or -r".to_owned());
    }
    let role = if sender { Role::Sender } else { Role::Receiver };
    let (mapped_ports, cpu, mapped_address) = match line.value("m").map(mapping).transpose()? {
        Some((ports, cpu, address)) => (Some(ports), cpu, address),
        None => (None, None, None),
    };
    let is_ipv6 = line.is_given("6");
    let (address, source_address) = line.addresses(mapped_address, is_ipv6)?;
    let ports = line.count("P", 16, MOST_PORTS)?;
    let threads = line.count("n", 4, MOST_THREADS)?;
    let connections = line.count("l", 1, MOST_CONNECTIONS)?;
    let (ports, threads) = mapped_ports.map_or((ports, threads), |ports| (ports, 1));
    let warm_up_s = line.seconds("W", 0, 0)?;
    let duration_s = line.seconds("t", DEFAULT_DURATION_S, DEFAULT_DURATION_S)?;
    let cool_down_s = line.seconds("C", 0, 0)?;
    let port = line.first_port(ports)?;
    let all = u64::from(ports) * u64::from(threads) * u64::from(connections);
    let source_port = line.source_port(all)?;
    let (rate, pacing_rate) = line.rates()?;
    let usual = if role == Role::Sender { DEFAULT_SEND } else { DEFAULT_RECEIVE };
    let buffer = line.amount("b", BINARY)?.filter(|bytes| *bytes > 0).unwrap_or(usual);
    let most = if line.is_given("u") { MOST_DATAGRAM } else { u64::MAX };
    let buffer = buffer.min(most);
    let is = |option| line.is_given(option);
    let settings = Settings {
        role,
        is_default_role: !sender && !receiver,
        address,
        is_daemon: is("D"),
        is_multi_client: is("M"),
        is_last_client: is("L"),
        is_epoll: is("e"),
        is_endless: is("H"),
        ports,
        threads,
        connections,
        source_address,
        is_ipv6,
        is_udp: is("u"),
        port,
        source_port,
        buffer,
        rate,
        pacing_rate,
        warm_up_s,
        duration_s,
        cool_down_s,
        has_sync: !is("N"),
        log: line.file("O", "ntttcp-for-linux-log.log"),
        xml: line.file("x", "ntttcp-for-linux-log.xml"),
        json: line.file("j", "ntttcp-for-linux-log.json"),
        is_quiet: is("Q"),
        is_verbose: is("V"),
        cpu,
        is_no_delay: is("no-delay"),
        shows_retransmits: is("show-tcp-retrans") || is("R"),
        interface: line.value("show-nic-packets").or(line.value("K")).map(str::to_owned),
        interrupts: line.value("show-dev-interrupts").or(line.value("I")).map(str::to_owned),
        corrections: line.corrections,
    };
    settings.check()?;
    Ok(settings)
}

impl Settings {
    /// All connections of a sender.
    pub fn all_connections(&self) -> u32 {
        // No more than 512 by 25600 by 1000: that is more than 32 bits hold.
        self.ports.saturating_mul(self.threads).saturating_mul(self.connections)
    }

    /// From its begin to its end, in seconds; none where it has none.
    pub fn total_s(&self) -> Option<u64> {
        (self.duration_s > 0).then(|| self.warm_up_s + self.duration_s + self.cool_down_s)
    }

    /// What cannot be together.
    fn check(&self) -> Result<(), String> {
        let is_sender = self.role == Role::Sender;
        let wrong = [
            (
                self.is_multi_client && is_sender,
                "-M is for a receiver: leave it out, and give -L to the last of its senders",
            ),
            (self.is_last_client && !is_sender, "-L is for a sender: leave it out"),
            (
                self.is_udp && self.is_no_delay,
                "--no-delay is for TCP, and -u is given: leave one of them out",
            ),
            (self.is_udp && self.is_ipv6, "-u is of IPv4 alone: leave -6 out"),
            (
                self.total_s().is_some_and(|total| total > MOST_SECONDS),
                "-W, -t and -C together are more than a day",
            ),
        ];
        wrong.into_iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, why)| Err(why.to_owned()))
    }
}

struct Line<'line> {
    found: &'line [Found],
    /// What is not as it was said.
    corrections: Vec<String>,
}

impl<'line> Line<'line> {
    fn is_given(&self, option: &str) -> bool {
        self.found.iter().any(|(found, _)| *found == option)
    }

    /// The value of an option; the last of several counts.
    fn value(&self, option: &str) -> Option<&'line str> {
        let last = self.found.iter().rev().find(|(found, _)| *found == option);
        last.and_then(|(_, value)| value.as_deref()).filter(|value| !value.is_empty())
    }

    /// The receiver's or this end's own, and where to send from.
    fn addresses(
        &self,
        mapped: Option<IpAddr>,
        is_ipv6: bool,
    ) -> Result<(Option<IpAddr>, Option<IpAddr>), String> {
        let address = self.value("s").or(self.value("r"));
        let address = address.map(|typed| self::address("-s and -r", typed)).transpose()?;
        let address = mapped.or(address).filter(|it| !it.is_unspecified());
        let source = self.value("a").map(|typed| self::address("-a", typed)).transpose()?;
        for (option, address) in [("-s and -r", address), ("-a", source)] {
            if let Some(address) = address.filter(|it| it.is_ipv6() != is_ipv6) {
                let advice = if is_ipv6 { "leave -6 out" } else { "give -6, too" };
                return Err(format!(
                    "{option}: '{address}' is of the other family of addresses; {advice}"
                ));
            }
        }
        Ok((address, source))
    }

    /// How many, from 1 on. As its unsigned numbers have it: what is below 0 is more than there may be.
    fn count(&mut self, option: &str, usual: u32, most: u32) -> Result<u32, String> {
        let kept = match self.number(option)? {
            None => return Ok(usual),
            Some(0) => 1,
            Some(typed) => u32::try_from(typed).unwrap_or(u32::MAX).min(most),
        };
        if self.number(option)? != Some(i64::from(kept)) {
            self.corrections.push(format!("-{option} is from 1 to {most}; {kept} is used"));
        }
        Ok(kept)
    }

    fn seconds(&mut self, option: &str, usual: u64, below: u64) -> Result<u64, String> {
        let Some(typed) = self.number(option)? else { return Ok(usual) };
        match u64::try_from(typed) {
            Ok(seconds) if seconds <= MOST_SECONDS => Ok(seconds),
            Ok(_) => Err(format!("-{option}: {typed} is more than a day, {MOST_SECONDS} seconds")),
            Err(_) => {
                self.corrections.push(format!("-{option} is below 0; {below} is used"));
                Ok(below)
            }
        }
    }

    /// The first of so many ports for data; the one before it is another.
    fn first_port(&self, ports: u32) -> Result<u16, String> {
        let port = self.port("p")?.unwrap_or(5_001);
        let last = u32::from(port).saturating_add(ports.saturating_sub(1));
        if port < 2 || last > u32::from(u16::MAX) {
            return Err(format!(
                "-p {port} and -P {ports}: the ports are from 2 to 65535, and these end at {last}"
            ));
        }
        Ok(port)
    }

    /// The first port to send from, of so many connections.
    fn source_port(&mut self, connections: u64) -> Result<Option<u16>, String> {
        if !self.is_given("f") {
            return Ok(None);
        }
        let first = match self.port("f")? {
            Some(0) => return Ok(None),
            Some(typed) if typed < FIRST_FREE_PORT => {
                self.corrections.push(format!(
                    "-f {typed} is below {FIRST_FREE_PORT}; {DEFAULT_SOURCE_PORT} is used"
                ));
                DEFAULT_SOURCE_PORT
            }
            typed => typed.unwrap_or(DEFAULT_SOURCE_PORT),
        };
        if u64::from(first).saturating_add(connections) > u64::from(u16::MAX) + 1 {
            return Err(format!(
                "-f {first}: there are no {connections} ports from there on; begin lower, or leave -f out"
            ));
        }
        Ok(Some(first))
    }

    /// Of all connections together: kept by the sender, and asked of the kernel. One at the most.
    fn rates(&mut self) -> Result<(Option<u64>, Option<u64>), String> {
        let mut rates = [None; 2];
        for (rate, option) in rates.iter_mut().zip(["B", "fq-rate-limit"]) {
            *rate = self.amount(option, DECIMAL)?;
            if rate.take_if(|rate| *rate == 0).is_some() {
                self.corrections.push(format!("{option} is 0: there is no such limit"));
            }
        }
        let [rate, mut pacing] = rates;
        if rate.is_some() && pacing.take().is_some() {
            self.corrections.push("--fq-rate-limit is ignored, since -B is given".to_owned());
        }
        Ok((rate, pacing))
    }

    fn number(&self, option: &str) -> Result<Option<i64>, String> {
        let parse = |typed: &str| {
            typed
                .parse()
                .map_err(|_| format!("-{option} takes a whole number, and '{typed}' is none"))
        };
        self.value(option).map(parse).transpose()
    }

    fn port(&self, option: &str) -> Result<Option<u16>, String> {
        let narrow = |number: i64| {
            u16::try_from(number)
                .map_err(|_| format!("-{option}: {number} is no port; they end at 65535"))
        };
        self.number(option)?.map(narrow).transpose()
    }

    /// A number with one of its units: of 1,024 or of 1,000.
    fn amount(&self, option: &str, unit: u64) -> Result<Option<u64>, String> {
        let dashes = if option.len() == 1 { "-" } else { "--" };
        let parse = |typed: &str| {
            amount(typed, unit).ok_or_else(|| {
                format!(
                    "{dashes}{option} takes a number and K, M, G or nothing, and '{typed}' is none"
                )
            })
        };
        self.value(option).map(parse).transpose()
    }

    fn file(&self, option: &str, usual: &str) -> Option<String> {
        self.is_given(option).then(|| self.value(option).unwrap_or(usual).to_owned())
    }
}

fn amount(typed: &str, unit: u64) -> Option<u64> {
    let power = match typed.chars().last()?.to_ascii_uppercase() {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        _ => 0,
    };
    let digits = if power > 0 { &typed[..typed.len() - 1] } else { typed };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits.parse().ok().filter(|_| is_number)?;
    let amount = number * unit.pow(power) as f64;
    // What is more than that nobody means.
    (amount < 1e18).then_some(amount as u64)
}

fn address(option: &str, typed: &str) -> Result<IpAddr, String> {
    typed.parse().map_err(|_| format!("{option} take an IP address, and '{typed}' is none"))
}

/// What is said as Windows' ntttcp has it: ports, a processor, and an address.
type Mapping = (u32, Option<u32>, Option<IpAddr>);

fn mapping(typed: &str) -> Result<Mapping, String> {
    let wrong = || {
        format!(
            "-m takes ports, a processor or *, and an address or *, as 16,*,192.168.4.1, and '{typed}' is not so"
        )
    };
    let mut parts = typed.split(',');
    let (ports, cpu, host) = (parts.next(), parts.next(), parts.next());
    let ports = ports.and_then(|it| it.parse().ok()).filter(|it| (1..=MOST_PORTS).contains(it));
    let ports = ports.ok_or_else(wrong)?;
    let cpu = match cpu {
        None | Some("*") => None,
        Some(cpu) => Some(cpu.parse().map_err(|_| wrong())?),
    };
    let host = match host {
        None | Some("*") => None,
        Some(host) => Some(host.parse().map_err(|_| wrong())?),
    };
    if parts.next().is_some() { Err(wrong()) } else { Ok((ports, cpu, host)) }
}

#[cfg(test)]
mod tests;
