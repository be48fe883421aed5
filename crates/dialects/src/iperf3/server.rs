//! What a user of iperf3 sees at a server: each test as it goes. Where several clients are there, a line says whose rows follow.

use std::io::{self, Write};
use std::net::SocketAddr;

use pathscope_core::journal::{Entry, LoadFacts, TestBegan, TestOver, Trouble};
use pathscope_core::record::SocketFacts;

use super::COMPLAINT;
use super::asked::{Json, Server, Way};
use super::client::{machine, protocol};
use super::json::Object;
use super::objects::{self, OURS, VERSION};
use super::outcome::{self, Outcome};
use super::printer::Printer;
use super::report::Report;
use super::rows::{self, Form, host_and_port};
use super::shape::Shape;
use super::streams::{Stream, Streams};
use crate::screen::{Beginning, End, Ending, Screen, Wants};

/// Around what tells that clients are awaited.
const LINE: &str = "-----------------------------------------------------------";

/// The screen of one server.
#[derive(Debug)]
pub(super) struct ServerScreen {
    server: Server,
    printer: Printer,
    machine: String,
    port: u16,
    /// Tests so far.
    number: u64,
    /// The tests that are under way.
    tests: Vec<Test>,
    /// The session whose rows were shown last; none since all had gone.
    shown: String,
    now_ns: u64,
    /// Sessions of which it was told for programs that they failed, and why: it is heard once more.
    failed: Vec<String>,
    /// Whether nobody is awaited any more.
    is_last: bool,
}

/// A test that is under way.
#[derive(Debug)]
struct Test {
    began: TestBegan,
    report: Report,
}

impl ServerScreen {
    pub fn new(server: Server) -> Self {
        let timestamps = server.common.timestamps.clone();
        let port = server.common.port;
        Self {
            server,
            printer: Printer { timestamps, ..Printer::default() },
            machine: String::new(),
            port,
            number: 0,
            tests: Vec::new(),
            shown: String::new(),
            now_ns: 0,
            failed: Vec::new(),
            is_last: false,
        }
    }

    fn json(&self) -> Json {
        self.server.common.json
    }

    /// That the next client is awaited.
    fn awaits(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.json() != Json::No {
            return Ok(());
        }
        let listens = format!("Server listening on {} (test #{})", self.port, self.number + 1);
        [LINE, &listens, LINE].iter().try_for_each(|line| self.printer.line(self.now_ns, line, out))
    }

    fn begins(&mut self, began: &TestBegan, out: &mut dyn Write) -> io::Result<()> {
        let shape = shape(&began.load, self.server.common.interval_ns);
        let form = Form { shape, unit: self.server.common.format };
        let mut report = Report::new(Streams::new(shape), form, self.printer.clone(), self.json());
        report.is_at(began.at_ns);
        report.belongs_to(&began.session);
        self.tests.push(Test { began: began.clone(), report });
        self.number += 1;
        let (is_text, is_verbose) = (self.json() == Json::No, self.server.common.is_verbose);
        let machine = self.machine.clone();
        self.with(&began.session, out, |test, out| {
            if !is_text {
                return Ok(());
            }
            if is_verbose {
                test.report.line(VERSION, out)?;
                test.report.line(&machine, out)?;
                test.report.line(&format!("Time: {}", test.report.time().of_mail()), out)?;
            }
            let (host, port) = host_and_port(&test.began.session);
            test.report.line(&format!("Accepted connection from {host}, port {port}"), out)
        })
    }

    /// Has the test of a session show something, behind a line that says whose it is where several are there.
    fn with(
        &mut self,
        session: &str,
        out: &mut dyn Write,
        show: impl FnOnce(&mut Test, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_text = self.json() == Json::No;
        let test = self.tests.iter_mut().find(|test| test.began.session == session);
        let Some(test) = test else { return Ok(()) };
        let mut text = Vec::new();
        show(test, &mut text)?;
        if text.is_empty() {
            return Ok(());
        }
        let is_other = !self.shown.is_empty() && self.shown != session;
        if is_text && is_other {
            let (host, port) = host_and_port(session);
            test.report.line(&format!("Client {host}, port {port}:"), out)?;
        }
        if self.shown != session {
            session.clone_into(&mut self.shown);
        }
        out.write_all(&text)
    }

    /// A client has failed, and its session is over. Where programs read it, and there was a test, they have it with that.
    fn fails(&mut self, trouble: &Trouble, out: &mut dyn Write) -> io::Result<()> {
        self.now_ns = self.now_ns.max(trouble.at_ns);
        let told = self.failed.iter().position(|it| trouble.session.as_ref() == Some(it));
        if let Some(place) = told {
            self.failed.swap_remove(place);
            return Ok(());
        }
        let of = trouble.session.as_deref().map(host_and_port);
        let whose = of.map(|(host, port)| format!("client {host}, port {port}: "));
        let text = format!("{}{}", whose.unwrap_or_default(), trouble.text);
        match self.json() {
            Json::No => self.printer.line(self.now_ns, &format!("{COMPLAINT}{text}"), out),
            Json::Stream { .. } => {
                let event = Object::new().with("event", "error").with("data", text);
                let client = trouble.session.as_deref();
                let client = client.map(|client| Object::new().with("client", client));
                writeln!(out, "{}", event.with_some(OURS, client).line())
            }
            Json::Whole => {
                writeln!(out, "{}", objects::of_nothing(&self.machine, text).pretty())
            }
        }
    }

    /// A test is over.
    fn is_over(&mut self, over: &TestOver, out: &mut dyn Write) -> io::Result<()> {
        let form = (self.json(), self.server.common.is_verbose);
        let machine = self.machine.clone();
        let ends = |test: &mut Test, out: &mut dyn Write| test.ends((form, &machine), over, out);
        self.with(&over.session, out, ends)?;
        if over.failure.is_some() && self.json() != Json::No {
            self.failed.push(over.session.clone());
        }
        let before = self.tests.len();
        self.tests.retain(|test| test.began.session != over.session);
        if before == 0 || !self.tests.is_empty() || self.is_last || self.server.is_one_off {
            return Ok(());
        }
        self.shown.clear();
        self.awaits(out)
    }
}

/// What a test is, at a server.
fn shape(load: &LoadFacts, interval_ns: u64) -> Shape {
    Shape {
        is_client: false,
        is_udp: load.is_udp,
        way: way(load),
        streams: load.connections,
        omit_ns: load.warm_up_ns,
        interval_ns,
        planned_ns: load.duration_ns,
    }
}

/// What is said of a test before its rows, where more is to be said.
fn starting(load: &LoadFacts) -> String {
    let seconds = |ns: u64| ns / 1_000_000_000;
    let extent = match (load.transfer_bytes, load.duration_ns) {
        (Some(bytes), _) => {
            format!("{} bytes to send", bytes.saturating_mul(load.connections.into()))
        }
        (None, all_ns) => {
            let all_ns = all_ns.unwrap_or(0).saturating_sub(load.warm_up_ns);
            format!("{} second test", seconds(all_ns))
        }
    };
    rows::starting(
        (protocol(load.is_udp), load.connections, load.block_bytes),
        (seconds(load.warm_up_ns), &extent),
        u32::from(load.dscp.unwrap_or(0)) << 2,
    )
}

fn way(load: &LoadFacts) -> Way {
    match (load.is_up, load.is_down) {
        (true, true) => Way::Both,
        (false, true) => Way::Pull,
        _ => Way::Push,
    }
}

impl Test {
    fn opened(
        &mut self,
        entry: &Entry,
        (json, is_verbose): (Json, bool),
        machine: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Entry::Opened(connection) = entry else { return Ok(()) };
        self.report.is_at(connection.at_ns);
        let text = rows::connected(self.report.streams.opened(connection));
        if json == Json::No {
            self.report.line(&text, out)?;
        }
        if self.report.streams.are_open() {
            match json {
                Json::No if is_verbose => {
                    self.report.line(&starting(&self.began.load), out)?;
                    self.report.head(out)?;
                }
                Json::No => self.report.head(out)?,
                Json::Stream { .. } => {
                    self.report.event("start", self.start(machine, None).into(), out)?;
                }
                Json::Whole => {}
            }
        }
        Ok(())
    }

    fn ends(
        &mut self,
        ((json, is_verbose), machine): ((Json, bool), &str),
        over: &TestOver,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.report.end(out)?;
        let shape = self.report.streams.shape;
        let here = |stream: &Stream| {
            let mut outcome = outcome::here(stream, &shape);
            let told = over.sent_there.iter().find(|(flow, _)| flow.0 == stream.flow);
            if let (Some(received), Some((_, all))) = (&mut outcome.received, told) {
                outcome::know_all(received, all.saturating_sub(stream.before));
            }
            outcome
        };
        let outcomes: Vec<Outcome> = self.report.streams.all.iter().map(here).collect();
        if json == Json::No {
            self.report.line(rows::SEPARATOR, out)?;
            if is_verbose {
                self.report.line("Test Complete. Summary Results:", out)?;
            }
            return self.report.summary(&outcomes, out);
        }
        let end = objects::end(&self.report.streams, &outcomes);
        // What the client says of its processors is not kept.
        let cpu = objects::cpu(&over.workers, &[]);
        let control = over.sockets.as_ref().and_then(|it| it.congestion_control.as_deref());
        let of = |sends| {
            let is_there = self.report.streams.all.iter().any(|stream| stream.sends == sends);
            control.filter(|_| is_there && !shape.is_udp)
        };
        let end = end
            .with("cpu_utilization_percent", cpu)
            .with_some("sender_tcp_congestion", of(true))
            .with_some("receiver_tcp_congestion", of(false));
        let why = over.failure.as_deref();
        if let Json::Stream { is_whole_too } = json {
            if let Some(why) = why {
                self.report.event("error", why.into(), out)?;
            }
            self.report.event("end", end.clone().into(), out)?;
            if !is_whole_too {
                return Ok(());
            }
        }
        let document = Object::new()
            .with("start", self.start(machine, over.sockets.as_ref()))
            .with("intervals", self.report.take_intervals())
            .with("end", end)
            .with_some("error", why)
            .with(OURS, Object::new().with("version", env!("CARGO_PKG_VERSION")));
        writeln!(out, "{}", document.pretty())
    }

    fn start(&self, machine: &str, sockets: Option<&SocketFacts>) -> Object {
        let TestBegan { at_ns, load, session } = &self.began;
        let (host, port) = host_and_port(session);
        let rate_bps = load.rate_bps.unwrap_or(0);
        let seconds = |ns: u64| ns / 1_000_000_000;
        let duration_ns = load.duration_ns.map(|it| it.saturating_sub(load.warm_up_ns));
        let test_start = Object::new()
            .with("protocol", protocol(load.is_udp))
            .with("num_streams", load.connections)
            .with("blksize", load.block_bytes)
            .with("omit", seconds(load.warm_up_ns))
            .with("duration", seconds(duration_ns.unwrap_or(0)))
            .with("bytes", load.transfer_bytes.unwrap_or(0).saturating_mul(load.connections.into()))
            .with("blocks", 0_u64)
            .with("reverse", u32::from(way(load) == Way::Pull))
            .with("tos", u32::from(load.dscp.unwrap_or(0)) << 2)
            .with("target_bitrate", rate_bps)
            .with("bidir", u32::from(way(load) == Way::Both))
            .with("fqrate", 0_u64)
            .with("interval", self.report.streams.shape.interval_ns as f64 / 1e9)
            .with("gso", 0_u64)
            .with("gro", 0_u64);
        let start = Object::new()
            .with("connected", objects::connected(&self.report.streams))
            .with("version", VERSION)
            .with("system_info", machine)
            .with("target_bitrate", rate_bps);
        let start = objects::buffers(start, load.send_buffer_bytes, sockets)
            .with("timestamp", objects::timestamp(self.report.unix_ns(*at_ns)))
            .with("accepted_connection", objects::place(host, port.parse().unwrap_or(0)));
        objects::segments(start, &self.report.streams.shape, load.segment_bytes, sockets)
            .with("fq_rate", 0_u64)
            .with("test_start", test_start)
    }
}

impl Screen for ServerScreen {
    fn wants(&self) -> Wants {
        Wants { progress: true, ..Wants::default() }
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.machine = machine(beginning.host);
        self.printer.began_unix_ns = beginning.wall_unix_ns;
        self.printer.local_offset_s = beginning.local_offset_s;
        if let End::Server { addresses } = beginning.end {
            self.port = addresses.first().map_or(self.port, SocketAddr::port);
        }
        self.awaits(out)
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        let form = (self.json(), self.server.common.is_verbose);
        match entry {
            Entry::TestBegan(began) => self.begins(began, out),
            Entry::TestOver(over) => {
                self.now_ns = self.now_ns.max(over.at_ns);
                self.is_over(over, out)
            }
            Entry::Trouble(trouble) => self.fails(trouble, out),
            Entry::Opened(connection) => {
                let machine = self.machine.clone();
                let opened =
                    |test: &mut Test, out: &mut dyn Write| test.opened(entry, form, &machine, out);
                self.with(&connection.session, out, opened)
            }
            Entry::Closed(connection) => {
                self.with(&connection.session, out, |test, out| test.report.hear(entry, out))
            }
            Entry::Progress(progress) => {
                self.with(&progress.session, out, |test, out| test.report.hear(entry, out))
            }
            _ => Ok(()),
        }
    }

    fn tells_failures(&self) -> bool {
        true
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.is_last = true;
        let sessions = self.tests.iter();
        let over =
            |test: &Test| TestOver { session: test.began.session.clone(), ..TestOver::default() };
        let all: Vec<TestOver> = sessions.map(over).collect();
        all.iter().try_for_each(|over| self.is_over(over, out))?;
        let Some((_, why)) = ending.failure else { return Ok(()) };
        self.fails(&Trouble { at_ns: 0, text: why.to_owned(), session: None }, out)
    }
}

#[cfg(test)]
mod tests;
