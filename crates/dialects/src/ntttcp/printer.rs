//! What both ends print alike: lines with a time, the settings, the result, and the files that have them, too. The layout is the
//! reference's, section 6. Not what happens meanwhile (`screen`, `receiver`), and not figures (`figures`).

use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use pathscope_core::error::Failure;
use pathscope_core::journal::Connection;

use super::figures::{Figures, Interrupts, RETRANSMITS, rate};
use super::settings::{Role, Settings};
use super::{BANNER, files, placed};
use crate::clock::Clock;
use crate::screen::{Beginning, Ending};

const LINE: &str = "---------------------------------------------------------";
pub(super) const SECOND_NS: u64 = 1_000_000_000;
/// A row of throughput has half a second, and the last of a test what is left: over less than a tenth of that a rate means nothing.
const SLIVER_NS: u64 = 50_000_000;

/// What is printed, and kept in files.
#[derive(Debug)]
pub(super) struct Printer {
    pub settings: Settings,
    /// The wall clock when the times of entries begin.
    began_unix_ns: u64,
    /// By how many seconds local time is ahead of it.
    pub local_offset_s: i64,
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

impl Printer {
    pub fn new(settings: Settings) -> Self {
        let asked =
            [(Of::Log, &settings.log), (Of::Xml, &settings.xml), (Of::Json, &settings.json)];
        let file = |(of, path): (Of, &Option<String>)| {
            let path = placed(&settings, path.as_deref()?);
            Some(File { of, path, rows: String::new() })
        };
        let files = asked.into_iter().filter_map(file).collect();
        Self { settings, began_unix_ns: 0, local_offset_s: 0, files }
    }

    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.files.iter().map(|file| (file.of.option(), PathBuf::from(&file.path))).collect()
    }

    pub fn take_rows(&mut self) -> Vec<(usize, String)> {
        let files = self.files.iter_mut().enumerate();
        let unwritten = files.filter(|(_, file)| !file.rows.is_empty());
        unwritten.map(|(place, file)| (place, std::mem::take(&mut file.rows))).collect()
    }

    /// What is said first.
    pub fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.began_unix_ns = beginning.wall_unix_ns;
        self.local_offset_s = beginning.local_offset_s;
        out.write_all(BANNER.as_bytes())?;
        let clock = self.at(0);
        for correction in self.settings.corrections.clone() {
            self.info(clock, &correction, out)?;
        }
        if self.settings.is_verbose { self.tell_settings(out) } else { Ok(()) }
    }

    pub fn at(&self, at_ns: u64) -> Clock {
        Clock::of(self.began_unix_ns.saturating_add(at_ns), self.local_offset_s)
    }

    /// A line with its time and its kind, in the log as on the screen.
    pub fn line(
        &mut self,
        (clock, kind): (Clock, &str),
        text: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let line = format!("{clock} {kind}: {text}\n");
        self.keep(Of::Log, &line);
        out.write_all(line.as_bytes())
    }

    pub fn info(&mut self, clock: Clock, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.line((clock, "INFO"), text, out)
    }

    /// What came in a time, or left.
    pub fn throughput(&self, length_ns: u64, bytes: u64, out: &mut dyn Write) -> io::Result<()> {
        if self.settings.is_quiet || length_ns < SLIVER_NS {
            return Ok(());
        }
        let bits_per_second = bytes as f64 * 8e9 / length_ns as f64;
        writeln!(out, "Real-time throughput: {}", rate(bits_per_second))
    }

    /// Why a connection ended, where that is an error: one to the other end, or one from it.
    pub fn broken(
        &mut self,
        way: &str,
        connection: &Connection,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(error) = &connection.facts.error else { return Ok(()) };
        let remote = connection.facts.remote.as_deref().unwrap_or_default();
        let text = format!("connection {way} {remote}: {}", error.text);
        self.line((self.at(connection.at_ns), "ERR "), &text, out)
    }

    /// Why the run did not end well, where it did not. Whether it did.
    pub fn ends(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<bool> {
        let clock = Clock::of(ending.wall_unix_ns, self.local_offset_s);
        match ending.failure {
            Some((Failure::Interrupted, _)) => self.info(clock, "Interrupted by Ctrl+C", out)?,
            Some((_, text)) => self.line((clock, "ERR "), text, out)?,
            None => return Ok(true),
        }
        Ok(false)
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
        let is_sender = settings.role == Role::Sender;
        writeln!(out, "*** {} role", if is_sender { "sender" } else { "receiver" })?;
        if settings.is_daemon {
            writeln!(out, "*** run as daemon")?;
        }
        if !is_sender && settings.is_endless {
            writeln!(out, "*** hold receiver always running")?;
        }
        if !settings.has_sync {
            writeln!(out, "*** no sender/receiver synch")?;
        }
        if !is_sender && settings.is_epoll {
            writeln!(out, "*** use epoll()")?;
        }
        let mut row = |name: &str, value: &str| writeln!(out, "{name}\t {value}");
        if settings.is_multi_client {
            row("multiple clients:\t", "yes")?;
        }
        if settings.is_last_client {
            row("last client:\t\t", "yes")?;
        }
        if is_sender {
            let Settings { ports, threads, connections, .. } = settings;
            row("connections:\t\t", &format!("{ports} X {threads} X {connections}"))?;
        } else {
            row("ports:\t\t\t", &settings.ports.to_string())?;
        }
        row(
            "cpu affinity:\t\t",
            &settings.cpu.map_or_else(|| "*".to_owned(), |cpu| cpu.to_string()),
        )?;
        let host = if is_sender { super::server(settings) } else { super::listened(settings) };
        row("server address:\t\t", &host.to_string())?;
        if is_sender {
            let source = settings.source_address.unwrap_or(if settings.is_ipv6 {
                Ipv6Addr::UNSPECIFIED.into()
            } else {
                Ipv4Addr::UNSPECIFIED.into()
            });
            row("client address:\t\t", &source.to_string())?;
        }
        row("domain:\t\t\t", if settings.is_ipv6 { "IPv6" } else { "IPv4" })?;
        row("protocol:\t\t", if settings.is_udp { "UDP" } else { "TCP" })?;
        row("server port starting at:", &settings.port.to_string())?;
        let buffer = if is_sender { "sender" } else { "receiver" };
        row(&format!("{buffer} socket buffer (bytes):"), &settings.buffer.to_string())?;
        row("tcp nodelay:", yes(settings.is_no_delay))?;
        let seconds = |seconds: u64| match seconds {
            0 => "no".to_owned(),
            seconds => seconds.to_string(),
        };
        row("test warm-up (sec):\t", &seconds(settings.warm_up_s))?;
        row("test duration (sec):\t", &settings.duration_s.to_string())?;
        row("test cool-down (sec):\t", &seconds(settings.cool_down_s))?;
        row("show system tcp retransmit:", yes(settings.shows_retransmits))?;
        for (name, text) in [
            ("show packets for:\t", &settings.interface),
            ("show device interrupts for:", &settings.interrupts),
        ] {
            text.iter().try_for_each(|text| row(name, text))?;
        }
        row("quiet mode:\t\t", if settings.is_quiet { "enabled" } else { "disabled" })?;
        row("verbose mode:\t\t", "enabled")?;
        writeln!(out, "{LINE}")
    }

    /// Says which moments of a test are over by then.
    pub fn pass(
        &mut self,
        course: &mut Course,
        until_ns: u64,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        while let Some((at_ns, text)) =
            course.next(&self.settings).filter(|(at_ns, _)| *at_ns <= until_ns)
        {
            course.told += 1;
            self.info(self.at(at_ns), text, out)?;
        }
        Ok(())
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
        if settings.role == Role::Sender {
            lines.push(format!("{} connections tested", figures.connections));
        }
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
            let Interrupts { total, per_second, packets_each } = figures.interrupts;
            lines.push("interrupts:".to_owned());
            lines.push(format!("\t total\t\t:{total}"));
            lines.push(format!("\t interrupts/sec\t:{per_second:.3}"));
            if settings.interface.is_some() {
                lines.push(format!("\t pkts/interrupt\t:{packets_each:.2}"));
            }
        }
        let machine = &figures.machine;
        lines.push(format!("cpu cores\t:{}", machine.cores));
        lines.push(format!("\t cpu speed\t:{:.3}MHz", machine.mhz));
        for (name, value) in [
            ("user\t\t", machine.user),
            ("system\t\t", machine.system),
            ("idle\t\t", machine.idle),
            ("iowait\t\t", machine.iowait),
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

    pub fn tell_results(
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

/// How far a test is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// When it began, in the times of entries.
    started_ns: u64,
    /// Moments that were told.
    told: usize,
}

impl Course {
    pub const fn new(started_ns: u64) -> Self {
        Self { started_ns, told: 0 }
    }

    /// The next moment, in the times of entries.
    fn next(&self, settings: &Settings) -> Option<(u64, &'static str)> {
        let (after_ns, text) = *moments(settings).get(self.told)?;
        Some((self.started_ns.saturating_add(after_ns), text))
    }

    pub fn wakes_at_ns(&self, settings: &Settings) -> Option<u64> {
        self.next(settings).map(|(at_ns, _)| at_ns)
    }
}

/// Moments of the test, in time since its begin, and what is said then.
fn moments(settings: &Settings) -> Vec<(u64, &'static str)> {
    let &Settings { warm_up_s, duration_s, cool_down_s, .. } = settings;
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
