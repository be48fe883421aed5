//! What a user of ctsTraffic sees: the settings, rows of status, connections as they begin and end, a summary; and its files.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use pathscope_core::error::Failure;
use pathscope_core::journal::totals::{Slice, Totals};
use pathscope_core::journal::{Connection, Each, Entry, Stream};
use pathscope_core::record::{FlowError, FlowErrorKind, FlowFacts};

use super::banner::{self, Addresses};
use super::jitter::{self, Jitter};
use super::settings::{Role, Settings};
use super::{rows, summary, tables};
use crate::screen::{Beginning, End, Ending, Screen, Wants, minded, uncounted};

/// Rows of status between two headers.
const ROWS_PER_HEADER: u64 = 40;

/// The screen of one run.
#[derive(Debug)]
pub struct CtsScreen {
    settings: Settings,
    totals: Totals,
    jitter: Jitter,
    files: Vec<File>,
    status_rows: u64,
    began_unix_ns: u64,
    /// What went wrong last: a run that it ends says it once more.
    last_trouble: String,
}

/// A file, and what of it is not written yet.
#[derive(Debug)]
struct File {
    option: &'static str,
    path: PathBuf,
    /// Which logs it holds: more than one where they are text.
    logs: Vec<Log>,
    is_csv: bool,
    rows: String,
}

/// What a file is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Log {
    Status,
    Connections,
    Errors,
    TcpInfo,
    Frames,
}

impl CtsScreen {
    /// As these settings have it.
    pub fn new(settings: Settings) -> Self {
        let is_server = matches!(settings.role, Role::Server(_));
        let totals = Totals::new(settings.log.status_update_ms, is_server);
        let files = files(&settings);
        Self {
            settings,
            totals,
            jitter: Jitter::default(),
            files,
            status_rows: 0,
            began_unix_ns: 0,
            last_trouble: String::new(),
        }
    }

    /// Puts rows into the files of a log, as CSV or as text.
    fn write(&mut self, log: Log, csv: impl FnOnce() -> String, text: impl FnOnce() -> String) {
        let file = self.files.iter_mut().find(|file| file.logs.contains(&log));
        if let Some(file) = file {
            let rows = if file.is_csv { csv() } else { text() };
            file.rows.push_str(&rows);
        }
    }

    fn status(&mut self, slice: &Slice, out: &mut dyn Write) -> io::Result<()> {
        let is_udp = self.settings.is_udp();
        self.write(Log::Status, || tables::csv_row(is_udp, slice), || tables::row(is_udp, slice));
        if !self.settings.log.shows_status() {
            return Ok(());
        }
        if self.status_rows.is_multiple_of(ROWS_PER_HEADER) {
            out.write_all(tables::header(is_udp).as_bytes())?;
        }
        self.status_rows += 1;
        out.write_all(tables::row(is_udp, slice).as_bytes())
    }

    /// A connection has begun or ended: a line of the connections, on the screen and in their file where that is text.
    fn connection_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write(Log::Connections, String::new, || line.to_owned());
        if self.settings.log.shows_connections() { out.write_all(line.as_bytes()) } else { Ok(()) }
    }

    fn closed(&mut self, connection: &Connection, out: &mut dyn Write) -> io::Result<()> {
        self.write(Log::Connections, || rows::csv_closed(connection), String::new);
        self.write(Log::TcpInfo, || rows::csv_tcp_info(connection), String::new);
        self.connection_line(&rows::closed(connection), out)?;
        self.error(rows::error(connection), out)
    }

    fn stream_closed(&mut self, stream: &Stream, out: &mut dyn Write) -> io::Result<()> {
        self.write(Log::Connections, || rows::csv_stream_closed(stream), String::new);
        self.connection_line(&rows::stream_closed(stream), out)?;
        self.error(rows::error(&stream.as_connection()), out)
    }

    /// Rows of frames that have ended.
    fn frames(&mut self, all: &[Each]) {
        let mut rows = String::new();
        for each in all {
            if let Each::Frame(frame) = each {
                rows.extend(self.jitter.row(frame));
            }
        }
        self.write(Log::Frames, || rows, String::new);
    }

    /// The first connection could not be made, which has ended the run: it has failed as any other, with the row that such have. Why has been
    /// said.
    fn not_made(&mut self, at_ns: u64, why: &str, out: &mut dyn Write) -> io::Result<()> {
        let kind = FlowErrorKind::Network;
        let error = Some(FlowError { kind, text: why.to_owned(), errno: None });
        let facts = FlowFacts { error, ..FlowFacts::default() };
        let connection = Connection { at_ns, facts, ..Connection::default() };
        self.write(Log::Connections, || rows::csv_closed(&connection), String::new);
        self.connection_line(&rows::closed(&connection), out)?;
        self.totals.hear(&Entry::Closed(Box::new(connection)));
        Ok(())
    }

    /// What a connection failed of. Where connections are shown, that has been said.
    fn error(&mut self, line: Option<String>, out: &mut dyn Write) -> io::Result<()> {
        let Some(line) = line else { return Ok(()) };
        self.write(Log::Errors, String::new, || line.clone());
        let log = &self.settings.log;
        let is_shown = log.shows_errors() && !log.shows_connections();
        if is_shown { out.write_all(line.as_bytes()) } else { Ok(()) }
    }

    fn trouble(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        self.write(Log::Errors, String::new, || line.to_owned());
        if self.settings.log.shows_errors() { out.write_all(line.as_bytes()) } else { Ok(()) }
    }
}

impl Screen for CtsScreen {
    fn wants(&self) -> Wants {
        // The sums of the summary are of the rows, whether those are shown or not.
        Wants {
            status: true,
            steps: self.settings.log.shows_steps(),
            each: self.settings.log.jitter.is_some(),
            ..Wants::default()
        }
    }

    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        self.files.iter().map(|file| (file.option, file.path.clone())).collect()
    }

    fn take_rows(&mut self) -> Vec<(usize, String)> {
        let files = self.files.iter_mut().enumerate();
        let unwritten = files.filter(|(_, file)| !file.rows.is_empty());
        unwritten.map(|(place, file)| (place, std::mem::take(&mut file.rows))).collect()
    }

    fn begin(&mut self, beginning: &Beginning<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.began_unix_ns = beginning.wall_unix_ns;
        let (End::Client { addresses, .. } | End::Server { addresses }) = beginning.end;
        let addresses = Addresses(addresses.iter().map(ToString::to_string).collect());
        let is_udp = self.settings.is_udp();
        let banner = banner::banner(&self.settings, &addresses);
        let legend = banner::legend(is_udp);
        let of_status = || format!("{legend}{}", tables::header(is_udp));
        self.write(Log::Status, || tables::csv_header(is_udp), of_status);
        let ends = if is_udp { rows::STREAMS } else { rows::CONNECTIONS };
        self.write(Log::Connections, || ends.to_owned(), || banner.clone());
        self.write(Log::TcpInfo, || rows::TCP_INFO.to_owned(), String::new);
        self.write(Log::Frames, || jitter::HEAD.to_owned(), String::new);
        out.write_all(banner.as_bytes())?;
        if self.settings.log.shows_status() { out.write_all(legend.as_bytes()) } else { Ok(()) }
    }

    fn entry(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        if let Entry::Closed(connection) = entry
            && self.settings.cuts(connection)
        {
            self.totals.cut_off(connection.at_ns);
            return Ok(());
        }
        let due = self.totals.hear(entry);
        match entry {
            Entry::Opened(connection) => self.connection_line(&rows::opened(connection), out)?,
            Entry::StreamOpened(stream) => {
                self.connection_line(&rows::stream_opened(stream), out)?;
            }
            Entry::Closed(connection) => self.closed(connection, out)?,
            Entry::StreamClosed(stream) => self.stream_closed(stream, out)?,
            Entry::Each(all) => self.frames(all),
            Entry::Trouble(trouble) => {
                self.last_trouble.clone_from(&trouble.text);
                self.trouble(&rows::trouble(trouble), out)?;
            }
            Entry::Step(step) if self.settings.log.shows_steps() => {
                out.write_all(rows::step(step).as_bytes())?;
            }
            _ => {}
        }
        due.map_or(Ok(()), |slice| self.status(&slice, out))
    }

    fn wakes_at_ns(&self) -> Option<u64> {
        self.totals.idle_at_ns()
    }

    fn wake(&mut self, at_ns: u64, out: &mut dyn Write) -> io::Result<()> {
        self.totals.idle(at_ns).map_or(Ok(()), |slice| self.status(&slice, out))
    }

    fn pause_before_end(&self) -> Duration {
        self.settings.pause_at_end_ms.map(Duration::from_millis).unwrap_or_default()
    }

    fn tells_failures(&self) -> bool {
        self.settings.log.shows_errors()
    }

    fn finished(&mut self, ending: &Ending<'_>, out: &mut dyn Write) -> io::Result<()> {
        let took_ns = ending.wall_unix_ns.saturating_sub(self.began_unix_ns);
        let is_receiver = matches!(self.settings.role, Role::Client(_));
        if !is_receiver {
            // Its last row is of the time until now, whether anybody was there or not.
            self.totals.heard(took_ns);
        }
        if let Some(slice) = self.totals.last() {
            self.status(&slice, out)?;
        }
        let has_frames = self.settings.log.jitter.is_some();
        let uncounted = ending.document.filter(|_| has_frames).map(uncounted);
        let early = ending.document.map(|document| minded(document, &["ended_early"]));
        for text in [uncounted, early].into_iter().flatten().flatten() {
            self.trouble(&rows::sentence(took_ns, text), out)?;
        }
        if let Some((_, why)) = ending.failure.filter(|(_, why)| *why != self.last_trouble) {
            self.trouble(&rows::sentence(took_ns, why), out)?;
        }
        if let (Some((Failure::Peer, why)), true) = (ending.failure, self.totals.is_of_none()) {
            self.not_made(took_ns, why, out)?;
        }
        let text = summary::of(&self.totals, (self.settings.is_udp(), is_receiver), took_ns);
        self.write(Log::Connections, String::new, || text.clone());
        out.write_all(text.as_bytes())
    }
}

/// The files that were named, those of one name once.
fn files(settings: &Settings) -> Vec<File> {
    let log = &settings.log;
    let mut files: Vec<File> = Vec::new();
    for (option, name, of) in [
        ("-StatusFilename", &log.status, Log::Status),
        ("-ConnectionFilename", &log.connections, Log::Connections),
        ("-ErrorFilename", &log.errors, Log::Errors),
        ("-TcpInfoFilename", &log.tcp_info, Log::TcpInfo),
        ("-JitterFilename", &log.jitter, Log::Frames),
    ] {
        let Some(name) = name else { continue };
        let path = PathBuf::from(name);
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.logs.push(of),
            None => files.push(File {
                option,
                path,
                logs: vec![of],
                is_csv: name.to_ascii_lowercase().ends_with(".csv"),
                rows: String::new(),
            }),
        }
    }
    files
}

#[cfg(test)]
mod tests;
