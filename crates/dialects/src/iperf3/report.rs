//! What both ends show of a test while it runs and when it is over: rows of intervals and a summary, or the same for programs.

use std::io::{self, Write};

use pathscope_core::journal::Entry;

use super::asked::{Json, Way};
use super::clock::Time;
use super::json::{Object, Value};
use super::objects::{self, OURS};
use super::outcome::{self, Outcome};
use super::printer::Printer;
use super::rows::{Form, Of, SEPARATOR};
use super::streams::{Interval, Row, Stream, Streams, sum};
use crate::screen::Beginning;

/// One test.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub streams: Streams,
    form: Form,
    printer: Printer,
    json: Json,
    /// What has been said of intervals, where a document is to hold all.
    intervals: Vec<Value>,
    has_rows: bool,
    now_ns: u64,
    /// Whose test it is, where there may be others at once: each line for programs says it.
    client: Option<String>,
    /// So many rows more are shown of intervals, and so many intervals were not.
    rows_left: usize,
    intervals_left_out: u64,
}

impl Report {
    pub fn new(streams: Streams, form: Form, printer: Printer, json: Json) -> Self {
        let (intervals, has_rows, now_ns, client) = (Vec::new(), false, 0, None);
        let (rows_left, intervals_left_out) = (usize::MAX, 0);
        Self {
            streams,
            form,
            printer,
            json,
            intervals,
            has_rows,
            now_ns,
            client,
            rows_left,
            intervals_left_out,
        }
    }

    /// The same with so many rows of intervals at the most.
    pub fn bounded(self, rows: usize) -> Self {
        Self { rows_left: rows, ..self }
    }

    /// Intervals that were not shown.
    pub const fn left_out(&self) -> u64 {
        self.intervals_left_out
    }

    /// It is this client's, and there may be others at once.
    pub fn belongs_to(&mut self, session: &str) {
        self.client = Some(session.to_owned());
    }

    /// A line for programs.
    pub fn event(&self, name: &str, data: Value, out: &mut dyn Write) -> io::Result<()> {
        let event = Object::new().with("event", name).with("data", data);
        let client = self.client.as_deref().map(|client| Object::new().with("client", client));
        writeln!(out, "{}", event.with_some(OURS, client).line())
    }

    /// When times begin.
    pub fn begin(&mut self, beginning: &Beginning<'_>) {
        self.printer.began_unix_ns = beginning.wall_unix_ns;
        self.printer.local_offset_s = beginning.local_offset_s;
    }

    /// It is so late, since times began.
    pub fn is_at(&mut self, at_ns: u64) {
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// It is so late, by the wall clock.
    pub fn ends_at(&mut self, wall_unix_ns: u64) {
        self.is_at(wall_unix_ns.saturating_sub(self.printer.began_unix_ns));
    }

    /// A time since times began, by the wall clock.
    pub fn unix_ns(&self, at_ns: u64) -> u64 {
        self.printer.began_unix_ns.saturating_add(at_ns)
    }

    /// The time now.
    pub fn time(&self) -> Time {
        let unix_s = (self.unix_ns(self.now_ns) / 1_000_000_000) as i64;
        Time { unix_s, offset_s: self.printer.local_offset_s }
    }

    /// A line of text.
    pub fn line(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.printer.line(self.now_ns, text, out)
    }

    /// What stands above rows.
    pub fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        self.line(&self.form.head(), out)
    }

    /// Takes something in that was written down, and shows the intervals that are whole by it.
    pub fn hear(&mut self, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match entry {
            Entry::Progress(progress) => {
                self.is_at(progress.at_ns);
                self.streams.progress(progress);
            }
            Entry::Closed(connection) => {
                self.is_at(connection.at_ns);
                self.streams.closed(connection);
            }
            _ => return Ok(()),
        }
        self.show_intervals(out)
    }

    /// All streams are over: the intervals that were not shown yet.
    pub fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.streams.end();
        self.show_intervals(out)?;
        if self.intervals_left_out == 0 || self.json != Json::No {
            return Ok(());
        }
        let text = format!("(intervals that are left out here: {})", self.intervals_left_out);
        self.line(&text, out)
    }

    fn show_intervals(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while let Some(interval) = self.streams.take_interval() {
            let Some(rows_left) = self.rows_left.checked_sub(interval.len()) else {
                self.intervals_left_out += 1;
                continue;
            };
            self.rows_left = rows_left;
            match self.json {
                Json::No => self.show_rows(&interval, out)?,
                Json::Whole => self.keep(&interval),
                Json::Stream { is_whole_too } => {
                    let object = objects::interval(&self.streams, &interval);
                    self.event("interval", object.into(), out)?;
                    if is_whole_too {
                        self.keep(&interval);
                    }
                }
            }
            self.has_rows = true;
        }
        Ok(())
    }

    fn keep(&mut self, interval: &Interval) {
        self.intervals.push(objects::interval(&self.streams, interval).into());
    }

    /// What has been said of intervals, once.
    pub fn take_intervals(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.intervals)
    }

    fn show_rows(&self, interval: &Interval, out: &mut dyn Write) -> io::Result<()> {
        let has_sums = self.streams.shape.streams > 1;
        if has_sums && self.has_rows {
            self.line(SEPARATOR, out)?;
        }
        for is_first in self.directions() {
            let of_half: Vec<(&Stream, &Row)> = interval
                .iter()
                .filter_map(|(place, row)| Some((self.streams.all.get(*place)?, row)))
                .filter(|(stream, _)| self.is_of(stream, is_first))
                .collect();
            for (stream, row) in &of_half {
                self.line(&self.form.row(Of::One(stream), row), out)?;
            }
            if let (true, Some((stream, _))) = (has_sums, of_half.first())
                && let Some(all) = sum(of_half.iter().map(|(_, row)| *row))
            {
                let of = Of::All { sends: stream.sends };
                self.line(&self.form.row(of, &all), out)?;
            }
        }
        Ok(())
    }

    /// The rows that sum all up, with what stands above them.
    pub fn summary(&self, outcomes: &[Outcome], out: &mut dyn Write) -> io::Result<()> {
        let has_sender = outcomes.iter().any(|it| it.sent.is_some());
        self.line(&self.form.summary_head(has_sender), out)?;
        for is_first in self.directions() {
            let all = self.streams.all.iter().zip(outcomes);
            let of_half: Vec<(&Stream, &Outcome)> =
                all.filter(|(stream, _)| self.is_of(stream, is_first)).collect();
            for (stream, outcome) in &of_half {
                let lines = self.form.summary(Of::One(stream), outcome);
                lines.iter().try_for_each(|line| self.line(line, out))?;
            }
            if let (true, Some((stream, _))) = (self.streams.shape.streams > 1, of_half.first()) {
                let sum = Outcome {
                    sent: outcome::sum(of_half.iter().filter_map(|(_, it)| it.sent)),
                    received: outcome::sum(of_half.iter().filter_map(|(_, it)| it.received)),
                };
                let lines = self.form.summary(Of::All { sends: stream.sends }, &sum);
                lines.iter().try_for_each(|line| self.line(line, out))?;
            }
        }
        Ok(())
    }

    /// Whether each of the directions is that of the first streams.
    fn directions(&self) -> impl Iterator<Item = bool> {
        let second = (self.streams.shape.way == Way::Both).then_some(false);
        [true].into_iter().chain(second)
    }

    fn is_of(&self, stream: &Stream, is_first: bool) -> bool {
        let shape = &self.streams.shape;
        shape.way != Way::Both || (stream.flow < shape.streams) == is_first
    }
}
