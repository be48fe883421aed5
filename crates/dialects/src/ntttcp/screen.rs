//! What ntttcp prints of a sender while it sends. Not how its lines look (`printer`), and not its figures (`figures`).

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use pathscope_core::journal::{Connection, ConnectionProgress, Entry, Status};

use super::figures::{Connections, Figures, Window};
use super::printer::{Course, Printer};
use super::row::Row;
use super::settings::Settings;
use crate::clock::Clock;
use crate::screen::{Beginning, Ending, Screen, Wants};

/// The screen of one run.
#[derive(Debug)]
pub(super) struct NtttcpScreen {
    printer: Printer,
    /// Connections so far.
    opened: u32,
    /// From when all were there.
    course: Option<Course>,
    connections: Connections,
    row: Row,
    /// Of the machine, while the test ran.
    interrupts: Vec<(String, u64)>,
}

impl NtttcpScreen {
    pub fn new(settings: Settings) -> Self {
        Self {
            printer: Printer::new(settings),
            opened: 0,
            course: None,
            connections: Connections::default(),
            row: Row::default(),
            interrupts: Vec::new(),
        }
    }

    /// Says which moments of the test are over by then.
    fn pass(&mut self, until_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        let Self { printer, course, .. } = self;
        course.iter_mut().try_for_each(|course| printer.pass(course, until_ns, out))
    }

    fn opened(&mut self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        let clock = self.printer.at(connection.at_ns);
        self.opened += 1;
        let addresses = [&connection.facts.local, &connection.facts.remote];
        let parsed = addresses.map(|it| it.as_ref().and_then(|it| it.parse::<SocketAddr>().ok()));
        if let ([Some(local), Some(remote)], true) = (parsed, self.printer.settings.is_verbose) {
            // The first three descriptors of a program are not sockets of its own.
            let (local, socket) = (local.port(), u64::from(self.opened) + 3);
            let (host, port) = (remote.ip(), remote.port());
            let text = format!("New connection: local:{local} [socket:{socket}] --> {host}:{port}");
            self.printer.line((clock, "DBG "), &text, out)?;
        }
        let all = self.printer.settings.all_connections();
        if self.opened != all || self.course.is_some() {
            return Ok(());
        }
        self.course = Some(Course::new(connection.at_ns));
        let threads = self.printer.settings.ports * self.printer.settings.threads;
        self.printer.info(clock, &format!("{threads} threads created"), out)?;
        let took_us = connection.at_ns / 1_000;
        self.printer.info(
            clock,
            &format!("{all} connections created in {took_us} microseconds"),
            out,
        )?;
        self.printer.info(clock, "Network activity progressing...", out)
    }

    fn progress(&mut self, progress: &ConnectionProgress, out: &mut dyn Write) -> io::Result<()> {
        let Settings { is_udp, .. } = self.printer.settings;
        self.connections.hear(Window::of(&self.printer.settings), progress);
        if !is_udp {
            return Ok(());
        }
        self.pass(progress.at_ns, out)?;
        let rows = self.row.hear(progress, self.printer.settings.all_connections());
        let mut rows = rows.into_iter().flatten();
        rows.try_for_each(|row| self.printer.throughput(row.length_ns, row.bytes, out))
    }

    fn status(&mut self, status: &Status, out: &mut dyn Write) -> io::Result<()> {
        self.pass(status.at_ns, out)?;
        self.printer.throughput(status.length_ns, status.sent_bytes, out)
    }
}

impl Screen for NtttcpScreen {
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
        self.printer.begin(beginning, out)
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Opened(connection) => self.opened(connection, out),
            Entry::Status(status) => self.status(status, out),
            Entry::Progress(progress) => self.progress(progress, out),
            Entry::Closed(connection) => self.printer.broken("to", connection, out),
            Entry::TestOver(over) => {
                self.interrupts.clone_from(&over.interrupts);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wakes_at_ns(&self) -> Option<u64> {
        self.course.as_ref()?.wakes_at_ns(&self.printer.settings)
    }

    fn wake(&mut self, at_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        self.pass(at_ns, out)
    }

    fn tells_failures(&self) -> bool {
        true
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        let clock = Clock::of(ending.wall_unix_ns, self.printer.local_offset_s);
        if self.printer.ends(ending, out)? {
            self.pass(u64::MAX, out)?;
            self.printer.info(clock, "Test cycle finished.", out)?;
        }
        let Some(document) = ending.document else { return Ok(()) };
        let counted = (&self.connections, self.interrupts.as_slice());
        match Figures::of(document, &self.printer.settings, counted) {
            Some(figures) => {
                let host = document.hosts.client.name.clone();
                self.printer.tell_results((clock, &figures, &host), out)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
