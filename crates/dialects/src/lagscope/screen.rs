//! What lagscope prints, line by line. All that it prints of latencies is counted here, from each ping.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;

use pathscope_core::error::Failure;
use pathscope_core::journal::{Each, Entry, Ping};
use pathscope_modes::document::Document;

use super::BANNER;
use super::latencies::{Latencies, PERCENTILES};
use super::words::{Role, Settings};
use crate::clock::Clock;
use crate::screen::{Beginning, End, Ending, Screen, Wants, uncounted};

const LINE: &str = "---------------------------------------------------------";
/// An address is in use, as Linux numbers it.
const ADDRESS_IN_USE: u32 = 98;

/// The screen of one run.
#[derive(Debug)]
pub(super) struct LagscopeScreen {
    settings: Settings,
    latencies: Latencies,
    /// Pings that were not answered.
    lost: u64,
    /// The wall clock when the times of entries begin.
    began_unix_ns: u64,
    /// By how many seconds local time is ahead of it.
    local_offset_s: i64,
    /// Connections so far.
    connections: u64,
    /// When pings began, in the times of entries.
    first_ns: Option<u64>,
    /// The other end, without its port, as far as it is known.
    server: String,
    /// What was last said of how far it is.
    percent: Option<u64>,
}

impl LagscopeScreen {
    pub fn new(settings: Settings) -> Self {
        Self {
            server: settings.address.clone().unwrap_or_default(),
            settings,
            latencies: Latencies::default(),
            lost: 0,
            began_unix_ns: 0,
            local_offset_s: 0,
            connections: 0,
            first_ns: None,
            percent: None,
        }
    }

    fn at(&self, at_ns: u64) -> Clock {
        self.clock(self.began_unix_ns.saturating_add(at_ns))
    }

    fn clock(&self, wall_unix_ns: u64) -> Clock {
        Clock::of(wall_unix_ns, self.local_offset_s)
    }

    /// A connection has been made, at whichever end.
    fn connected(
        &self,
        (at_ns, number): (u64, u64),
        [local, remote]: [SocketAddr; 2],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let clock = self.at(at_ns);
        let Settings { source_port, is_ipv6, .. } = self.settings;
        match self.settings.role {
            Role::Receiver => {
                let local = local.port();
                writeln!(
                    out,
                    "{clock} INFO: New connection: {remote} --> local:{local} [socket {number}]"
                )
            }
            Role::Sender => {
                if source_port > 0 && local.port() != source_port {
                    let any = if is_ipv6 { "::" } else { "0.0.0.0" };
                    writeln!(
                        out,
                        "{clock} INFO: failed to bind socket[{number}] to a local port: [{any}:{source_port}]. errno = \
                         {ADDRESS_IN_USE}. Ignored"
                    )?;
                }
                let local = local.port();
                writeln!(
                    out,
                    "{clock} INFO: New connection: local:{local} [socket:{number}] --> {remote}"
                )
            }
        }
    }

    fn ping(&mut self, ping: &Ping, out: &mut dyn Write) -> io::Result<()> {
        let first_ns = *self.first_ns.get_or_insert(ping.sent_ns);
        let Some(rtt_ns) = ping.rtt_ns else {
            self.lost += 1;
            return Ok(());
        };
        self.latencies.count(rtt_ns);
        if self.settings.is_verbose {
            let (clock, server, size) = (self.at(ping.at_ns), &self.server, self.settings.size);
            let time_us = rtt_ns as f64 / 1_000.0;
            return writeln!(
                out,
                "{clock} DBG : Reply from {server}: bytes={size} time={time_us:.3}us"
            );
        }
        let (done, all) = match self.settings.duration_s {
            Some(seconds) => {
                (ping.at_ns.saturating_sub(first_ns), seconds.saturating_mul(1_000_000_000))
            }
            None => (ping.number.saturating_add(1), self.settings.pings),
        };
        let percent = (u128::from(done) * 100 / u128::from(all.max(1))).min(100) as u64;
        if self.percent.replace(percent) == Some(percent) {
            return Ok(());
        }
        write!(out, "{}: {percent}% completed.\r", self.server)
    }

    /// What a receiver is told that only a sender has a use for.
    fn ignored(&self) -> impl Iterator<Item = &'static str> {
        let Settings { histogram, has_percentiles, csv, .. } = &self.settings;
        let said = [("-H", histogram.is_some()), ("-P", *has_percentiles), ("-R", csv.is_some())];
        let is_receiver = self.settings.role == Role::Receiver;
        said.into_iter()
            .filter(move |(_, is_said)| *is_said && is_receiver)
            .map(|(option, _)| option)
    }

    fn tell_settings(&self, addresses: &str, out: &mut dyn Write) -> io::Result<()> {
        let settings = &self.settings;
        let is_sender = settings.role == Role::Sender;
        let role = if is_sender { "*** sender role" } else { "*** receiver role" };
        writeln!(out, "{role}")?;
        if settings.is_daemon {
            writeln!(out, "*** run as daemon")?;
        }
        let cpu = settings.cpu.map_or_else(|| "No".to_owned(), |cpu| cpu.to_string());
        writeln!(out, "cpu affinity:\t\t\t {cpu}")?;
        writeln!(out, "server address:\t\t\t {addresses}")?;
        writeln!(out, "domain:\t\t\t\t {}", if settings.is_ipv6 { "IPv6" } else { "IPv4" })?;
        writeln!(out, "protocol:\t\t\t TCP")?;
        writeln!(out, "server port:\t\t\t {}", settings.port)?;
        let [send, receive] = super::buffers(settings);
        if is_sender {
            if settings.source_port > 0 {
                writeln!(out, "client port:\t\t\t {}", settings.source_port)?;
            }
            writeln!(out, "sender socket buffer (bytes):\t {send}")?;
        } else {
            writeln!(out, "receiver socket buffer (bytes):\t {receive}")?;
        }
        writeln!(out, "message size (bytes):\t\t {}", settings.size)?;
        if is_sender {
            if let Some(seconds) = settings.duration_s {
                writeln!(out, "test mode:\t\t\t TIME DURATION")?;
                writeln!(out, "test duration (sec):\t\t {seconds}")?;
            } else {
                writeln!(out, "test mode:\t\t\t PING ITERATION")?;
                writeln!(out, "test iteration:\t\t\t {}", settings.pings)?;
            }
            writeln!(out, "test interval (sec):\t\t {}", settings.interval_s)?;
            if let Some(ranges) = settings.histogram {
                writeln!(out, "histogram report:\t\t enabled")?;
                writeln!(out, "histogram 1st interval start at: {}", ranges.start_us)?;
                writeln!(out, "histogram length of intervals:\t {}", ranges.width_us)?;
                writeln!(out, "histogram count of intervals:\t {}", ranges.count)?;
            }
        }
        writeln!(out, "verbose mode:\t\t\t enabled")?;
        writeln!(out, "{LINE}")
    }

    /// What a sender prints at its end.
    fn tell_results(
        &self,
        clock: Clock,
        document: Option<&Document>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Self { settings, latencies, server, .. } = self;
        writeln!(out, "{clock} INFO: TEST COMPLETED.")?;
        writeln!(out, "{clock} INFO: Ping statistics for {server}:")?;
        writeln!(out, "{clock} INFO: \t  Number of successful Pings: {}", latencies.pings())?;
        if self.lost > 0 {
            writeln!(out, "{clock} INFO: \t  Number of lost Pings: {}", self.lost)?;
        }
        for text in document.into_iter().flat_map(uncounted) {
            writeln!(out, "{clock} INFO: {text}")?;
        }
        let Some([least, most, mean]) = latencies.summary_us() else { return Ok(()) };
        writeln!(
            out,
            "{clock} INFO: \t  Minimum = {least:.3}us, Maximum = {most:.3}us, Average = {mean:.3}us"
        )?;
        if let Some(csv) = &settings.csv {
            writeln!(out, "{clock} INFO: Dumping all latencies into csv file: {csv}")?;
        }
        if let Some(json) = &settings.json {
            writeln!(out, "{clock} INFO: Dumping latency frequency table into json file: {json}")?;
        }
        if settings.has_percentiles {
            writeln!(out, "\nPercentile\t Latency(us)")?;
            for (name, percentile) in PERCENTILES {
                let latency = latencies.percentile_us(percentile).unwrap_or_default();
                writeln!(out, "{name:>7}% \t {latency}")?;
            }
        }
        if let Some(ranges) = settings.histogram {
            writeln!(out, "\nInterval(usec)\t Frequency")?;
            for (from, count) in latencies.histogram(ranges) {
                writeln!(out, "{from:>7} \t {count}")?;
            }
        }
        Ok(())
    }
}

impl Screen for LagscopeScreen {
    fn wants(&self) -> Wants {
        Wants { each: true, ..Wants::default() }
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.began_unix_ns = beginning.wall_unix_ns;
        self.local_offset_s = beginning.local_offset_s;
        out.write_all(BANNER.as_bytes())?;
        let clock = self.at(0);
        if self.settings.is_default_role {
            writeln!(out, "{clock} INFO: no role specified; use receiver role")?;
        }
        for correction in &self.settings.corrections {
            writeln!(out, "{clock} INFO: {correction}")?;
        }
        for option in self.ignored() {
            writeln!(out, "{clock} INFO: {option} is ignored by a receiver")?;
        }
        let addresses = match beginning.end {
            End::Client { hosts, .. } => {
                self.server = hosts.first().cloned().unwrap_or_default();
                self.server.clone()
            }
            End::Server { addresses } => {
                let addresses: Vec<String> =
                    addresses.iter().map(|address| address.ip().to_string()).collect();
                addresses.join(", ")
            }
        };
        if self.settings.is_verbose { self.tell_settings(&addresses, out) } else { Ok(()) }
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Opened(connection) => {
                let addresses = [&connection.facts.local, &connection.facts.remote];
                let parsed =
                    addresses.map(|it| it.as_ref().and_then(|it| it.parse::<SocketAddr>().ok()));
                let [Some(local), Some(remote)] = parsed else { return Ok(()) };
                if self.settings.role == Role::Sender {
                    self.server = remote.ip().to_string();
                }
                let first = (connection.at_ns, self.connections);
                self.connections += 1;
                self.connected(first, [local, remote], out)
            }
            Entry::Each(all) => all.iter().try_for_each(|each| match each {
                Each::Ping(ping) => self.ping(ping, out),
                Each::Frame(_) | Each::Leg(_) => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    fn tells_failures(&self) -> bool {
        true
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        let clock = self.clock(ending.wall_unix_ns);
        match ending.failure {
            Some((Failure::Interrupted, _)) => {
                writeln!(out, "{clock} INFO: Interrupted by Ctrl+C")?;
            }
            Some((_, text)) => writeln!(out, "{clock} ERR : {text}")?,
            None => {}
        }
        if self.settings.role == Role::Sender && self.first_ns.is_some() {
            self.tell_results(clock, ending.document, out)?;
        }
        Ok(())
    }

    fn frequencies(&self) -> Option<&BTreeMap<u64, u64>> {
        Some(self.latencies.by_us()).filter(|_| self.settings.role == Role::Sender)
    }
}

#[cfg(test)]
mod tests;
