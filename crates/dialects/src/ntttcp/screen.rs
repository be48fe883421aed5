//! What ntttcp prints of a sender, line by line, and its files. The layout is the reference's, section 6. Not its figures (`figures`).

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use pathscope_core::error::Failure;
use pathscope_core::journal::{Connection, Entry, Status};

use super::figures::{Connections, Figures, RETRANSMITS, Window, rate};
use super::settings::Settings;
use super::{BANNER, files, placed};
use crate::clock::Clock;
use crate::screen::{Beginning, Ending, Screen, Wants};

const LINE: &str = "---------------------------------------------------------";
const SECOND_NS: u64 = 1_000_000_000;

/// The screen of one run.
#[derive(Debug)]
pub(super) struct NtttcpScreen {
    settings: Settings,
    /// The wall clock when the times of entries begin.
    began_unix_ns: u64,
    /// By how many seconds local time is ahead of it.
    local_offset_s: i64,
    /// Connections so far.
    opened: u32,
    /// When all were there, in the times of entries.
    started_ns: Option<u64>,
    /// Moments that are over.
    told: usize,
    connections: Connections,
    /// Of each file, what is not written yet, with what it is of.
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    of: Of,
    path: String,
    rows: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Of {
    Log,
    Xml,
    Json,
}

impl Of {
    const fn option(self) -> &'static str {
        match self {
            Self::Log => "-O",
            Self::Xml => "-x",
            Self::Json => "-j",
        }
    }
}

impl NtttcpScreen {
    pub fn new(settings: Settings) -> Self {
        let asked =
            [(Of::Log, &settings.log), (Of::Xml, &settings.xml), (Of::Json, &settings.json)];
        let file = |(of, path): (Of, &Option<String>)| {
            let path = placed(&settings, path.as_deref()?);
            Some(File { of, path, rows: String::new() })
        };
        Self {
            files: asked.into_iter().filter_map(file).collect(),
            settings,
            began_unix_ns: 0,
            local_offset_s: 0,
            opened: 0,
            started_ns: None,
            told: 0,
            connections: Connections::default(),
        }
    }

    fn at(&self, at_ns: u64) -> Clock {
        Clock::of(self.began_unix_ns.saturating_add(at_ns), self.local_offset_s)
    }

    /// A line with its time and its kind, in the log as on the screen.
    fn line(
        &mut self,
        (clock, kind): (Clock, &str),
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let line = format!("{clock} {kind}: {text}\n");
        self.keep(Of::Log, &line);
        out.write_all(line.as_bytes())
    }

    fn info(&mut self, clock: Clock, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.line((clock, "INFO"), text, out)
    }

    /// Puts text into a file, where it was asked for.
    fn keep(&mut self, of: Of, text: &str) {
        self.files
            .iter_mut()
            .filter(|file| file.of == of)
            .for_each(|file| file.rows.push_str(text));
    }

    fn tell_settings(&self, out: &mut dyn Write) -> io::Result<()> {
        let settings = &self.settings;
        let yes = |is_so| if is_so { "yes" } else { "no" };
        writeln!(out, "*** sender role")?;
        if settings.is_daemon {
            writeln!(out, "*** run as daemon")?;
        }
        if !settings.has_sync {
            writeln!(out, "*** no sender/receiver synch")?;
        }
        if settings.is_last_client {
            writeln!(out, "*** last client when test with multi-clients mode")?;
        }
        let mut row = |name: &str, value: &str| writeln!(out, "{name}\t{value}");
        row(
            "connections:\t\t",
            &format!("{} X {} X {}", settings.ports, settings.threads, settings.connections),
        )?;
        row(
            "cpu affinity:\t\t",
            &settings.cpu.map_or_else(|| "*".to_owned(), |cpu| cpu.to_string()),
        )?;
        row("server address:\t\t", &super::server(settings).to_string())?;
        row("domain:\t\t\t", if settings.is_ipv6 { "IPv6" } else { "IPv4" })?;
        row("protocol:\t\t", if settings.is_udp { "UDP" } else { "TCP" })?;
        row("server port starting at:", &settings.port.to_string())?;
        row("sender socket buffer (bytes):", &settings.buffer.to_string())?;
        row("test warm-up (sec):\t", &settings.warm_up_s.to_string())?;
        row("test duration (sec):\t", &settings.duration_s.to_string())?;
        row("test cool-down (sec):\t", &settings.cool_down_s.to_string())?;
        row("show system tcp retransmit:", yes(settings.shows_retransmits))?;
        row("quiet mode:\t\t", if settings.is_quiet { "enabled" } else { "disabled" })?;
        row("verbose mode:\t\t", "enabled")?;
        writeln!(out, "{LINE}")
    }

    /// Moments of the test, in time since its begin, and what is said then.
    fn moments(&self) -> Vec<(u64, &'static str)> {
        let Settings { warm_up_s, duration_s, cool_down_s, .. } = self.settings;
        let mut moments = Vec::new();
        if warm_up_s > 0 {
            moments.push((warm_up_s, "Test warmup completed."));
        }
        if duration_s > 0 {
            moments.push((warm_up_s + duration_s, "Test run completed."));
        }
        if duration_s > 0 && cool_down_s > 0 {
            moments.push((warm_up_s + duration_s, "Test cooldown is in progress..."));
        }
        moments.into_iter().map(|(at_s, text)| (at_s * SECOND_NS, text)).collect()
    }

    /// When the next of them is, in the times of entries.
    fn next(&self) -> Option<(u64, &'static str)> {
        let started_ns = self.started_ns?;
        let (after_ns, text) = *self.moments().get(self.told)?;
        Some((started_ns.saturating_add(after_ns), text))
    }

    /// Says those that are over.
    fn pass(&mut self, until_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        while let Some((at_ns, text)) = self.next().filter(|(at_ns, _)| *at_ns <= until_ns) {
            self.told += 1;
            self.info(self.at(at_ns), text, out)?;
        }
        Ok(())
    }

    fn opened(&mut self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        let clock = self.at(connection.at_ns);
        self.opened += 1;
        let addresses = [&connection.facts.local, &connection.facts.remote];
        let parsed = addresses.map(|it| it.as_ref().and_then(|it| it.parse::<SocketAddr>().ok()));
        if let ([Some(local), Some(remote)], true) = (parsed, self.settings.is_verbose) {
            // The first three descriptors of a program are not sockets of its own.
            let (local, socket) = (local.port(), u64::from(self.opened) + 3);
            let (host, port) = (remote.ip(), remote.port());
            let text = format!("New connection: local:{local} [socket:{socket}] --> {host}:{port}");
            self.line((clock, "DBG "), &text, out)?;
        }
        let all = self.settings.all_connections();
        if self.opened != all || self.started_ns.is_some() {
            return Ok(());
        }
        self.started_ns = Some(connection.at_ns);
        let threads = self.settings.ports * self.settings.threads;
        self.info(clock, &format!("{threads} threads created"), out)?;
        let took_us = connection.at_ns / 1_000;
        self.info(clock, &format!("{all} connections created in {took_us} microseconds"), out)?;
        self.info(clock, "Network activity progressing...", out)
    }

    fn status(&mut self, status: &Status, out: &mut dyn Write) -> io::Result<()> {
        self.pass(status.at_ns, out)?;
        if self.settings.is_quiet || status.length_ns == 0 {
            return Ok(());
        }
        let bits_per_second = status.sent_bytes as f64 * 8e9 / status.length_ns as f64;
        writeln!(out, "Real-time throughput: {}", rate(bits_per_second))
    }

    /// Lines of the result, each behind its time and `INFO: `.
    fn results(&self, figures: &Figures) -> Vec<String> {
        let Self { settings, .. } = self;
        let mut lines = Vec::new();
        if settings.is_verbose {
            lines.push("\tThread\tTime(s)\tThroughput".to_owned());
            lines.push("\t======\t=======\t==========".to_owned());
            let rows = figures.threads.iter().enumerate().map(|(index, thread)| {
                format!("\t{index}\t {:.2}\t {}", thread.seconds, rate(thread.bits_per_second()))
            });
            lines.extend(rows);
        }
        let all = &figures.all;
        lines.push(format!("{} connections tested", figures.connections));
        lines.push("#####  Totals:  #####".to_owned());
        lines.push(format!("test duration\t:{:.2} seconds", all.seconds));
        lines.push(format!("total bytes\t:{}", all.bytes));
        lines.push(format!("\t throughput\t:{}", rate(all.bits_per_second())));
        if !settings.is_udp {
            lines.push(format!("\t retrans segs\t:{}", figures.retransmits));
        }
        if settings.shows_retransmits {
            lines.push("tcp retransmit:".to_owned());
            let rows = RETRANSMITS.iter().zip(figures.retransmits_per_second);
            lines.extend(rows.map(|((name, _), rate)| format!("\t {name}\t:{rate:.2}")));
        }
        if settings.interface.is_some() {
            let [sent, received] = figures.packets.unwrap_or_default();
            lines.push("total packets:".to_owned());
            lines.push(format!("\t tx_packets\t:{sent}"));
            lines.push(format!("\t rx_packets\t:{received}"));
        }
        if settings.interrupts.is_some() {
            lines.push("interrupts:".to_owned());
            lines.push("\t total\t\t:0".to_owned());
            lines.push("\t interrupts/sec\t:0.000".to_owned());
            if settings.interface.is_some() {
                lines.push("\t pkts/interrupt\t:0.00".to_owned());
            }
        }
        let machine = &figures.machine;
        lines.push(format!("cpu cores\t:{}", machine.cores));
        lines.push(format!("\t cpu speed\t:{:.3}MHz", machine.mhz));
        for (name, value) in [
            ("user\t\t", machine.user),
            ("system\t\t", machine.system),
            ("idle\t\t", machine.idle),
            ("iowait\t\t", 0.0),
            ("softirq\t", machine.softirq),
        ] {
            lines.push(format!("\t {name}:{value:.2}%"));
        }
        lines.push(format!("\t cycles/byte\t:{:.2}", machine.cycles_per_byte));
        lines.push(format!("cpu busy (all)\t:{:.2}%", machine.program));
        lines.extend(
            files::average_rtt(settings, figures).map(|rtt| format!("tcpi rtt\t\t:{rtt} us")),
        );
        lines
    }

    fn tell_results(
        &mut self,
        (clock, figures, host): (Clock, &Figures, &str),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let (Some(interface), None) = (&self.settings.interface, figures.packets) {
            let text = format!(
                "no packets were counted on '{interface}': there is no such interface, or nothing went over it"
            );
            self.line((clock, "ERR "), &text, out)?;
        }
        for line in self.results(figures) {
            self.info(clock, &line, out)?;
        }
        writeln!(out, "{LINE}")?;
        let result = files::Outcome { settings: &self.settings, figures, host };
        let (xml, json) = (files::xml(&result), files::json(&result));
        self.keep(Of::Xml, &xml);
        self.keep(Of::Json, &json);
        Ok(())
    }
}

impl Screen for NtttcpScreen {
    fn wants(&self) -> Wants {
        Wants { status: true, progress: self.settings.is_verbose, ..Wants::default() }
    }

    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.files.iter().map(|file| (file.of.option(), PathBuf::from(&file.path))).collect()
    }

    fn take_rows(&mut self) -> Vec<(usize, String)> {
        let files = self.files.iter_mut().enumerate();
        let unwritten = files.filter(|(_, file)| !file.rows.is_empty());
        unwritten.map(|(place, file)| (place, std::mem::take(&mut file.rows))).collect()
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.began_unix_ns = beginning.wall_unix_ns;
        self.local_offset_s = beginning.local_offset_s;
        out.write_all(BANNER.as_bytes())?;
        let clock = self.at(0);
        for correction in self.settings.corrections.clone() {
            self.info(clock, &correction, out)?;
        }
        if self.settings.is_verbose { self.tell_settings(out) } else { Ok(()) }
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Opened(connection) => self.opened(connection, out),
            Entry::Status(status) => self.status(status, out),
            Entry::Progress(progress) => {
                self.connections.hear(Window::of(&self.settings), progress);
                Ok(())
            }
            Entry::Closed(connection) => {
                let Some(error) = &connection.facts.error else { return Ok(()) };
                let remote = connection.facts.remote.as_deref().unwrap_or_default();
                let text = format!("connection to {remote}: {}", error.text);
                self.line((self.at(connection.at_ns), "ERR "), &text, out)
            }
            _ => Ok(()),
        }
    }

    fn wakes_at_ns(&self) -> Option<u64> {
        self.next().map(|(at_ns, _)| at_ns)
    }

    fn wake(&mut self, at_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        self.pass(at_ns, out)
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        let clock = Clock::of(ending.wall_unix_ns, self.local_offset_s);
        match ending.failure {
            Some((Failure::Interrupted, _)) => {
                self.info(clock, "Interrupted by Ctrl+C", out)?;
            }
            Some((_, text)) => self.line((clock, "ERR "), text, out)?,
            None => {
                self.pass(u64::MAX, out)?;
                self.info(clock, "Test cycle finished.", out)?;
            }
        }
        let Some(document) = ending.document else { return Ok(()) };
        match Figures::of(document, &self.settings, &self.connections) {
            Some(figures) => {
                let host = document.hosts.client.name.clone();
                self.tell_results((clock, &figures, &host), out)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
