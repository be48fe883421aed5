//! What a user of iperf3 sees at a client: rows as they come and a summary, or the same for programs.

use std::io::{self, Write};

use pathscope_core::journal::Entry;
use pathscope_core::record::{Host, Printed, SocketFacts, WorkerUsage};
use pathscope_modes::document::Measurement;
use pathscope_modes::registry::EndReport;

use super::asked::{Client, Extent, Json, Way};
use super::json::{Object, Value};
use super::objects::{self, OURS, VERSION};
use super::outcome::{self, Outcome};
use super::printer::Printer;
use super::report::Report;
use super::rows::{self, Form};
use super::shape::Shape;
use super::streams::Streams;
use crate::screen::{Beginning, End, Ending, Screen, Wants};

/// The screen of one client.
#[derive(Debug)]
pub(super) struct ClientScreen {
    client: Client,
    report: Report,
    /// The machine, as `uname` names it.
    machine: String,
    /// When streams began, since times began.
    started_ns: u64,
}

impl ClientScreen {
    pub fn new(client: Client) -> Self {
        let shape = Shape {
            is_client: true,
            is_udp: client.is_udp,
            way: client.way,
            streams: client.streams,
            omit_ns: client.omit_s * 1_000_000_000,
            interval_ns: client.common.interval_ns,
            planned_ns: match client.extent {
                Extent::Seconds(seconds) if seconds > 0 => {
                    Some((seconds + client.omit_s) * 1_000_000_000)
                }
                _ => None,
            },
        };
        let printer = Printer {
            timestamps: client.common.timestamps.clone(),
            title: client.title.clone(),
            ..Printer::default()
        };
        let form = Form { shape, unit: client.common.format };
        let report = Report::new(Streams::new(shape), form, printer, client.common.json);
        Self { client, report, machine: String::new(), started_ns: 0 }
    }

    /// What is said before streams.
    fn greeting(&self, out: &mut dyn Write) -> io::Result<()> {
        let Client { host, common, .. } = &self.client;
        let mut line = |text: &str| self.report.line(text, out);
        if common.is_verbose {
            line(VERSION)?;
            line(&self.machine)?;
            line(&format!("Time: {}", self.report.time().of_mail()))?;
        }
        line(&format!("Connecting to host {host}, port {}", common.port))?;
        if self.client.way == Way::Pull {
            line(&format!("Reverse mode, remote host {host} is sending"))?;
        }
        if let (true, Some(rate)) = (common.is_verbose, self.client.rate_bps) {
            line(&format!("      Target Bitrate: {rate}"))?;
        }
        Ok(())
    }

    /// What is said when all streams are there.
    fn begins(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.client.common.is_verbose {
            let Client { is_udp, streams, block_bytes, omit_s, extent, tos, .. } = &self.client;
            let protocol = protocol(*is_udp);
            let extent = match extent {
                Extent::Seconds(seconds) => format!("{seconds} second test"),
                Extent::Bytes(bytes) => format!("{bytes} bytes to send"),
                Extent::Blocks(blocks) => format!("{blocks} blocks to send"),
            };
            let text = rows::starting(
                (protocol, *streams, *block_bytes),
                (*omit_s, &extent),
                u32::from(*tos),
            );
            self.report.line(&text, out)?;
        }
        self.report.head(out)
    }

    /// The part of the JSON that says what was about to be done; of a test of which nothing came, who was to do it.
    fn start(&self, sockets: Option<&SocketFacts>) -> Object {
        let common = &self.client.common;
        let start = Object::new()
            .with("connected", objects::connected(&self.report.streams))
            .with("version", VERSION)
            .with("system_info", self.machine.as_str());
        if self.report.streams.all.is_empty() {
            return start;
        }
        let start = start
            .with("timestamp", objects::timestamp(self.report.unix_ns(self.started_ns)))
            .with("connecting_to", objects::place(&self.client.host, common.port));
        let start = objects::segments(start, &self.report.streams.shape, self.client.mss, sockets);
        let start = start
            .with("target_bitrate", self.client.rate_bps.unwrap_or(0))
            .with("fq_rate", self.client.fq_rate_bps.unwrap_or(0));
        let start = objects::buffers(start, self.client.window_bytes, sockets);
        start.with("test_start", self.test_start())
    }

    fn test_start(&self) -> Object {
        let Client { is_udp, streams, block_bytes, omit_s, extent, way, tos, .. } = self.client;
        let (duration, bytes, blocks) = match extent {
            Extent::Seconds(seconds) => (seconds, 0, 0),
            Extent::Bytes(bytes) => (0, bytes, 0),
            Extent::Blocks(blocks) => (0, 0, blocks),
        };
        Object::new()
            .with("protocol", protocol(is_udp))
            .with("num_streams", streams)
            .with("blksize", block_bytes)
            .with("omit", omit_s)
            .with("duration", duration)
            .with("bytes", bytes)
            .with("blocks", blocks)
            .with("reverse", u32::from(way == Way::Pull))
            .with("tos", u32::from(tos))
            .with("target_bitrate", self.client.rate_bps.unwrap_or(0))
            .with("bidir", u32::from(way == Way::Both))
            .with("fqrate", self.client.fq_rate_bps.unwrap_or(0))
            .with("interval", self.client.common.interval_ns as f64 / 1e9)
            .with("gso", 0_u64)
            .with("gro", 0_u64)
    }

    /// The part of the JSON that says how it ended.
    fn end(&self, outcomes: &[Outcome], measured: Option<&Measurement>) -> Object {
        if self.report.streams.all.is_empty() {
            return Object::new();
        }
        let there = measured.and_then(|it| it.server.as_ref());
        let end = objects::end(&self.report.streams, outcomes);
        let cpu = objects::cpu(workers(measured.map(|it| &it.client)), workers(there));
        let end = end.with("cpu_utilization_percent", cpu);
        let [sender, receiver] = self.congestion(measured);
        end.with_some("sender_tcp_congestion", sender)
            .with_some("receiver_tcp_congestion", receiver)
    }

    /// The congestion control of who sends, and of who receives; of two directions, those of the first.
    fn congestion(&self, measured: Option<&Measurement>) -> [Option<String>; 2] {
        let of = |report: Option<&EndReport>| report?.sockets.as_ref()?.congestion_control.clone();
        let here = of(measured.map(|it| &it.client));
        let there = of(measured.and_then(|it| it.server.as_ref()));
        if self.client.way == Way::Pull { [there, here] } else { [here, there] }
    }

    fn summary(
        &self,
        outcomes: &[Outcome],
        measured: Option<&Measurement>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_verbose = self.client.common.is_verbose;
        self.report.line(rows::SEPARATOR, out)?;
        if is_verbose {
            self.report.line("Test Complete. Summary Results:", out)?;
        }
        self.report.summary(outcomes, out)?;
        if !is_verbose {
            return Ok(());
        }
        let share = |report| {
            let [all, user, system] = objects::cpu_percent(workers(report));
            format!("{all:.1}% ({user:.1}%u/{system:.1}%s)")
        };
        let there = measured.and_then(|it| it.server.as_ref());
        let [here_name, there_name] = match self.client.way {
            Way::Pull => ["receiver", "sender"],
            Way::Push | Way::Both => ["sender", "receiver"],
        };
        // Of the other end it may not be known.
        if let Some(there) = there.filter(|there| !there.workers.is_empty()) {
            let here = share(measured.map(|it| &it.client));
            let there = share(Some(there));
            let text =
                format!("CPU Utilization: local/{here_name} {here}, remote/{there_name} {there}");
            self.report.line(&text, out)?;
        }
        for (end, name) in ["snd", "rcv"].iter().zip(self.congestion(measured)) {
            if let (Some(name), false) = (name, self.client.is_udp) {
                self.report.line(&format!("{end}_tcp_congestion {name}"), out)?;
            }
        }
        Ok(())
    }

    /// The end, for programs.
    fn finish_json(
        &mut self,
        outcomes: &[Outcome],
        ending: &Ending<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let measured = measured(ending);
        let why = ending.failure.map(|(_, why)| why);
        let end = self.end(outcomes, measured);
        let (text, json) = server_output(measured);
        if let Json::Stream { is_whole_too } = self.client.common.json {
            if let Some(why) = why {
                self.report.event("error", why.into(), out)?;
            }
            for (name, said) in [("server_output_json", &json), ("server_output_text", &text)] {
                said.iter().try_for_each(|said| self.report.event(name, said.clone(), out))?;
            }
            self.report.event("end", end.clone().into(), out)?;
            if !is_whole_too {
                return Ok(());
            }
        }
        let sockets = measured.and_then(|it| it.client.sockets.as_ref());
        let start = self.start(sockets);
        let document = Object::new()
            .with("start", start)
            .with("intervals", self.report.take_intervals())
            .with("end", end)
            .with_some("title", self.client.title.as_deref())
            .with_some("extra_data", self.client.extra_data.as_deref())
            .with_some("server_output_json", json)
            .with_some("server_output_text", text)
            .with_some("error", why)
            .with(OURS, ours(ending));
        writeln!(out, "{}", document.pretty())
    }
}

/// The threads of an end that moved data.
fn workers(report: Option<&EndReport>) -> &[WorkerUsage] {
    report.map_or(&[], |report| &report.workers)
}

/// What the server has said that it prints: lines, or a document.
fn server_output(measured: Option<&Measurement>) -> (Option<Value>, Option<Value>) {
    match printed_there(measured) {
        Some(Printed::Text(text)) => (Some(text.as_str().into()), None),
        Some(json) => (None, json.json_line().map(Value::Written)),
        None => (None, None),
    }
}

fn printed_there(measured: Option<&Measurement>) -> Option<&Printed> {
    measured?.server.as_ref()?.output.as_ref()
}

/// What the original does not tell.
fn ours(ending: &Ending<'_>) -> Object {
    let Some(document) = ending.document else { return Object::new() };
    let measurements = || document.all_measurements();
    let caveats = measurements().flat_map(|it| it.client.caveats.iter().chain(&it.caveats));
    let caveats = document.caveats.iter().chain(caveats).map(|it| Value::from(it.text.as_str()));
    let checks = measurements().flat_map(|it| &it.checks);
    let checks = checks.filter(|it| !it.has_held()).map(|it| Value::from(it.text.as_str()));
    Object::new()
        .with("version", document.tool.version.as_str())
        .with("caveats", caveats.collect::<Vec<_>>())
        .with("checks_not_passed", checks.collect::<Vec<_>>())
}

fn measured<'run>(ending: &Ending<'run>) -> Option<&'run Measurement> {
    ending.document?.all_measurements().last()
}

pub(super) fn protocol(is_udp: bool) -> &'static str {
    if is_udp { "UDP" } else { "TCP" }
}

/// A machine as `uname` names it: the kernel, its own name, the release and the processor.
pub(super) fn machine(host: &Host) -> String {
    let mut words = host.kernel.splitn(2, ' ');
    let (kernel, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    [kernel, host.name.as_str(), rest].join(" ").trim().to_owned()
}

impl Screen for ClientScreen {
    fn wants(&self) -> Wants {
        Wants { progress: true, ..Wants::default() }
    }

    fn begin(&mut self, beginning: &Beginning<'_>, _: &mut dyn Write) -> io::Result<()> {
        self.machine = machine(beginning.host);
        self.report.begin(beginning);
        if let End::Client { port, .. } = beginning.end {
            self.client.common.port = port;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        let is_text = self.client.common.json == Json::No;
        if let Entry::Opened(connection) = entry {
            self.report.is_at(connection.at_ns);
            let is_first = self.report.streams.all.is_empty();
            if is_first {
                self.started_ns = connection.at_ns;
                if is_text {
                    self.greeting(out)?;
                }
            }
            let text = rows::connected(self.report.streams.opened(connection));
            if is_text {
                self.report.line(&text, out)?;
            }
            if self.report.streams.are_open() {
                match self.client.common.json {
                    Json::No => self.begins(out)?,
                    Json::Stream { .. } => {
                        let start = self.start(None);
                        self.report.event("start", start.into(), out)?;
                    }
                    Json::Whole => {}
                }
            }
            return Ok(());
        }
        self.report.hear(entry, out)
    }

    /// To programs it does, as the original; people find it on standard error.
    fn tells_failures(&self) -> bool {
        self.client.common.json != Json::No
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.report.ends_at(ending.wall_unix_ns);
        self.report.end(out)?;
        let measured = measured(ending);
        let outcomes = outcome::of_both(&self.report.streams, self.client.block_bytes, measured);
        if self.client.common.json != Json::No {
            return self.finish_json(&outcomes, ending, out);
        }
        if self.report.streams.are_open() {
            self.summary(&outcomes, measured, out)?;
        }
        if let Some(printed) = printed_there(measured) {
            let form = if matches!(printed, Printed::Json(_)) { "JSON " } else { "" };
            let text = format!("\nServer {form}output:\n{}", printed.for_people());
            self.report.line(&text, out)?;
        }
        if ending.failure.is_none() {
            self.report.line("", out)?;
            self.report.line("iperf Done.", out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
