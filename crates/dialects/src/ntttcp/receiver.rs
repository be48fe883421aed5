//! What ntttcp prints of a receiver while it serves its senders, each of whose tests has a result of its own. Not how its lines look
//! (`printer`), and not its figures (`figures`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use pathscope_core::id::FlowId;
use pathscope_core::journal::{Connection, ConnectionProgress, Entry, Status, TestBegan, TestOver};
use pathscope_core::record::Host;

use super::figures::{Connections, Figures, Moved, Window};
use super::printer::{Course, Printer};
use super::row::Row;
use super::settings::Settings;
use crate::screen::{Beginning, Ending, Screen, Wants};

/// A test that ends no more than this before a planned moment has come to it: word of its begin took a while.
const LATE_NS: u64 = 100_000_000;

/// The screen of one receiver.
#[derive(Debug)]
pub(super) struct ReceiverScreen {
    printer: Printer,
    host: Host,
    /// Those that are under way.
    tests: Vec<Test>,
}

/// A sender's test.
#[derive(Debug)]
struct Test {
    session: String,
    began_ns: u64,
    /// How many flows of datagrams it has, and what of the interval was told of them; none of one over TCP.
    datagrams: Option<(u32, Row)>,
    course: Course,
    /// What came in the time that counts, and in all.
    counted: Moved,
    bytes: u64,
    /// What came on each connection, and at which port each is, where that is asked for.
    connections: Connections,
    ports: HashMap<FlowId, u16>,
}

impl ReceiverScreen {
    pub fn new(settings: Settings) -> Self {
        Self { printer: Printer::new(settings), host: Host::default(), tests: Vec::new() }
    }

    fn test(&mut self, session: &str) -> Option<&mut Test> {
        self.tests.iter_mut().find(|test| test.session == session)
    }

    fn begins(&mut self, began: &TestBegan, out: &mut dyn Write) -> io::Result<()> {
        let TestBegan { at_ns, load, .. } = *began;
        let clock = self.printer.at(at_ns);
        if load.is_udp && !self.printer.settings.is_udp {
            let text = format!("{} sends over UDP: start with -u to see what comes", began.session);
            self.printer.line((clock, "ERR "), &text, out)?;
        }
        self.tests.push(Test {
            session: began.session.clone(),
            began_ns: at_ns,
            datagrams: load.is_udp.then(|| (load.connections, Row::default())),
            course: Course::new(at_ns),
            counted: Moved::default(),
            bytes: 0,
            connections: Connections::default(),
            ports: HashMap::new(),
        });
        self.printer.info(clock, "Network activity progressing...", out)
    }

    /// Says which moments of all tests are over by then.
    fn pass(&mut self, until_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        let Self { printer, tests, .. } = self;
        tests.iter_mut().try_for_each(|test| printer.pass(&mut test.course, until_ns, out))
    }

    fn status(&mut self, status: &Status, out: &mut dyn Write) -> io::Result<()> {
        let Some(test) = self.test(&status.session) else { return Ok(()) };
        let &Status { at_ns, length_ns, received_bytes, .. } = status;
        let end_ns = at_ns.saturating_sub(test.began_ns);
        self.came(&status.session, (end_ns, length_ns), received_bytes, out)
    }

    fn progress(&mut self, progress: &ConnectionProgress, out: &mut dyn Write) -> io::Result<()> {
        let window = Window::of(&self.printer.settings);
        let Some(test) = self.test(&progress.session) else { return Ok(()) };
        test.connections.hear(window, progress);
        let Some((flows, row)) = &mut test.datagrams else { return Ok(()) };
        let rows = row.hear(progress, *flows);
        rows.iter().flatten().try_for_each(|row| self.row(&progress.session, row, out))
    }

    fn row(&mut self, session: &str, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        if row.is_empty() {
            return Ok(());
        }
        self.came(session, (row.end_ns, row.length_ns), row.bytes, out)
    }

    /// So much came in an interval that ended then, since the start of its test.
    fn came(
        &mut self,
        session: &str,
        (end_ns, length_ns): (u64, u64),
        bytes: u64,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let window = Window::of(&self.printer.settings);
        let Some(test) = self.test(session) else { return Ok(()) };
        test.bytes = test.bytes.saturating_add(bytes);
        if window.holds(end_ns.saturating_sub(length_ns), end_ns) {
            test.counted.add(length_ns, bytes);
        }
        let at_ns = test.began_ns.saturating_add(end_ns);
        self.pass(at_ns, out)?;
        self.printer.throughput(length_ns, bytes, out)
    }

    fn opened(&mut self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        if !self.printer.settings.is_verbose {
            return Ok(());
        }
        let addresses = [&connection.facts.local, &connection.facts.remote];
        let parsed = addresses.map(|it| it.as_ref().and_then(|it| it.parse::<SocketAddr>().ok()));
        let [Some(local), Some(remote)] = parsed else { return Ok(()) };
        if let Some(test) = self.test(&connection.session) {
            test.ports.insert(connection.facts.flow, local.port());
        }
        let clock = self.printer.at(connection.at_ns);
        let (host, port, here) = (remote.ip(), remote.port(), local.port());
        let text = format!("New connection: {host}:{port} --> local:{here}");
        self.printer.line((clock, "DBG "), &text, out)
    }

    fn is_over(&mut self, over: &TestOver, out: &mut dyn Write) -> io::Result<()> {
        // What was told of some flows alone.
        let datagrams = self.test(&over.session).and_then(|test| test.datagrams.as_mut());
        let last = datagrams.map(|(_, row)| std::mem::take(row));
        last.iter().try_for_each(|row| self.row(&over.session, row, out))?;
        // What was to come a little later than its sender ended was to come then.
        self.pass(over.at_ns.saturating_add(LATE_NS), out)?;
        let place = self.tests.iter().position(|test| test.session == over.session);
        let Some(place) = place else { return Ok(()) };
        let test = self.tests.remove(place);
        let clock = self.printer.at(over.at_ns);
        self.printer.info(clock, "Test cycle finished.", out)?;
        if !self.tests.is_empty() {
            self.printer.info(clock, &format!("sender\t:{}", test.session), out)?;
        }
        let settings = &self.printer.settings;
        let first = u32::from(settings.port);
        let port_of = |flow| test.ports.get(&flow).copied();
        let threads = if settings.is_verbose {
            test.connections.by_port(port_of, first..first + settings.ports)
        } else {
            Vec::new()
        };
        let moved = (test.counted, threads);
        let figures = Figures::served(moved, (&self.host, over, test.bytes), settings);
        self.printer.tell_results((clock, &figures, &self.host.name), out)
    }
}

impl Screen for ReceiverScreen {
    fn wants(&self) -> Wants {
        let Settings { is_verbose, is_udp, .. } = self.printer.settings;
        let interrupts = self.printer.settings.interrupts.is_some();
        // Of flows of datagrams nobody is told more than their progress.
        let progress = is_verbose || is_udp;
        Wants { status: true, progress, interrupts, ..Wants::default() }
    }

    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.printer.files()
    }

    fn take_rows(&mut self) -> Vec<(usize, String)> {
        self.printer.take_rows()
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.host = beginning.host.clone();
        self.printer.begin(beginning, out)?;
        // All of its ports are listened on.
        let Settings { ports, has_sync, .. } = self.printer.settings;
        let threads = ports + u32::from(has_sync);
        self.printer.info(self.printer.at(0), &format!("{threads} threads created"), out)
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::TestBegan(began) => self.begins(began, out),
            Entry::TestOver(over) => self.is_over(over, out),
            Entry::Opened(connection) => self.opened(connection, out),
            Entry::Status(status) => self.status(status, out),
            Entry::Progress(progress) => self.progress(progress, out),
            Entry::Closed(connection) => self.printer.broken("from", connection, out),
            Entry::Trouble(trouble) => {
                let text = match &trouble.session {
                    Some(session) => format!("{session}: {}", trouble.text),
                    None => trouble.text.clone(),
                };
                self.printer.line((self.printer.at(trouble.at_ns), "ERR "), &text, out)
            }
            _ => Ok(()),
        }
    }

    fn wakes_at_ns(&self) -> Option<u64> {
        let settings = &self.printer.settings;
        self.tests.iter().filter_map(|test| test.course.wakes_at_ns(settings)).min()
    }

    fn wake(&mut self, at_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        self.pass(at_ns, out)
    }

    fn tells_failures(&self) -> bool {
        true
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.printer.ends(ending, out).map(drop)
    }
}

#[cfg(test)]
mod tests;
