//! What a user of iperf3 sees at a server: each test as it goes. Where several clients are there, a line says whose rows follow.

mod scribe;
mod test;

use std::io::{self, Write};
use std::net::SocketAddr;

use pathscope_core::journal::{Entry, TestBegan, TestOver, Trouble};

pub(super) use self::scribe::scribes;
use self::test::{Test, shape};
use super::COMPLAINT;
use super::asked::{Json, Server};
use super::client::machine;
use super::json::Object;
use super::objects::{self, OURS, VERSION};
use super::printer::Printer;
use super::report::Report;
use super::rows::{Form, host_and_port};
use super::streams::Streams;
use crate::screen::{Beginning, End, Ending, Screen, ScribeMaker, Wants};

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
    /// Rows of intervals of each test, at the most.
    most_rows: usize,
}

impl ServerScreen {
    pub fn new(server: Server) -> Self {
        Self::bounded(server, usize::MAX)
    }

    /// One that shows so many rows of intervals of each test at the most.
    pub fn bounded(server: Server, most_rows: usize) -> Self {
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
            most_rows,
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
        let report = Report::new(Streams::new(shape), form, self.printer.clone(), self.json());
        let mut report = report.bounded(self.most_rows);
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

    fn scribes(&self) -> Option<ScribeMaker> {
        Some(scribes(&self.server))
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
