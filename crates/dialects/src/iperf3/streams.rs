//! What went through each stream of a test, row by row and in all, from what the journal tells of flows. Not here: how a row looks.

use std::collections::VecDeque;

use pathscope_core::journal::{Connection, ConnectionProgress, DatagramProgress};
use pathscope_core::tcp_look::TcpLook;

use super::shape::Shape;

/// Sockets are numbers that mean nothing outside of one output. The original's are descriptors, and its first is this one.
const FIRST_SOCKET: u32 = 5;

/// What one stream did from one time of the test to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub start_ns: u64,
    pub end_ns: u64,
    pub bytes: u64,
    /// Whether it is of the warm-up.
    pub is_omitted: bool,
    /// Segments sent again; absent where nobody counts them.
    pub retransmits: Option<u64>,
    /// How the connection stood at its end.
    pub look: Option<TcpLook>,
    /// Of datagrams.
    pub datagrams: Option<DatagramProgress>,
}

impl Row {
    /// Bits a second.
    pub fn rate_bps(&self) -> f64 {
        rate_bps(self.bytes, self.end_ns.saturating_sub(self.start_ns))
    }

    /// This one and the next as one.
    fn and(self, next: &Self) -> Self {
        Self {
            end_ns: next.end_ns,
            bytes: self.bytes + next.bytes,
            retransmits: both(self.retransmits, next.retransmits),
            look: both_looks(self.look, next.look),
            datagrams: match (self.datagrams, next.datagrams) {
                (Some(sum), Some(more)) => Some(added(sum, more)),
                (sum, more) => sum.or(more),
            },
            ..self
        }
    }

    fn take(&mut self, progress: &ConnectionProgress, sends: bool) {
        self.end_ns = progress.end_ns.max(self.end_ns);
        self.bytes += if sends { progress.sent_bytes } else { progress.received_bytes };
        self.look = both_looks(self.look, progress.tcp);
        if let Some(more) = progress.datagrams {
            self.datagrams = Some(added(self.datagrams.unwrap_or_default(), more));
        }
    }
}

/// How a connection stood when that was told last; what it was not told of then is as it was before.
fn both_looks(before: Option<TcpLook>, now: Option<TcpLook>) -> Option<TcpLook> {
    let (Some(before), Some(now)) = (before, now) else { return now.or(before) };
    Some(TcpLook {
        peer_window_bytes: now.peer_window_bytes.or(before.peer_window_bytes),
        path_mtu_bytes: now.path_mtu_bytes.or(before.path_mtu_bytes),
        rtt_variation_ns: now.rtt_variation_ns.or(before.rtt_variation_ns),
        reorderings: now.reorderings.or(before.reorderings),
        ..now
    })
}

/// Counts of two, one after the other, where there are any.
fn both(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    if sum.is_none() && more.is_none() { None } else { Some(sum.unwrap_or(0) + more.unwrap_or(0)) }
}

/// Those of two, one after the other.
fn added(sum: DatagramProgress, more: DatagramProgress) -> DatagramProgress {
    DatagramProgress {
        sent: sum.sent + more.sent,
        received: sum.received + more.received,
        expected: Some(sum.expected.unwrap_or(0) + more.expected.unwrap_or(0)),
        duplicates: sum.duplicates + more.duplicates,
        reordered: sum.reordered + more.reordered,
        jitter_ns: more.jitter_ns.or(sum.jitter_ns),
    }
}

/// Bits a second of so many bytes; none over no time.
pub(super) fn rate_bps(bytes: u64, time_ns: u64) -> f64 {
    if time_ns == 0 { 0.0 } else { bytes as f64 * 8e9 / time_ns as f64 }
}

/// Datagrams of which none came, in each hundred.
pub(super) fn lost_percent(lost: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { lost as f64 * 100.0 / all as f64 }
}

/// Datagrams are waited for so long at the most behind the end of a test, and that is noticed.
const WAIT_NS: u64 = 750_000_000;

/// One stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub flow: u32,
    pub socket: u32,
    /// Whether this end sends on it.
    pub sends: bool,
    /// Its own address and the other end's, each with its port.
    pub ends: [String; 2],
    open: Option<Row>,
    /// The row that ends when the test was to end, until it is known what comes behind it.
    held: Option<Row>,
    ready: VecDeque<Row>,
    is_over: bool,
    /// How its connection stood when that was told last, in whichever row.
    looked: Option<TcpLook>,
    /// Segments sent again since the connection began, when that was told last.
    retransmits_told: u64,
    /// Datagrams of the warm-up: those that were sent, or that were up to the highest number that came.
    pub before: u64,
    /// All rows behind the warm-up.
    pub whole: Row,
    pub round_trips: RoundTrips,
}

/// What looks at a connection saw, behind the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RoundTrips {
    pub most_window_bytes: u64,
    pub most_peer_window_bytes: u64,
    pub most_rtt_ns: u64,
    pub least_rtt_ns: u64,
    sum_ns: u64,
    number: u64,
}

impl RoundTrips {
    fn saw(&mut self, look: &TcpLook) {
        self.most_window_bytes =
            self.most_window_bytes.max(look.congestion_window_bytes.unwrap_or(0));
        self.most_peer_window_bytes =
            self.most_peer_window_bytes.max(look.peer_window_bytes.unwrap_or(0));
        if let Some(rtt_ns) = look.rtt_ns {
            let least_ns = if self.number == 0 { rtt_ns } else { self.least_rtt_ns };
            self.least_rtt_ns = least_ns.min(rtt_ns);
            self.most_rtt_ns = self.most_rtt_ns.max(rtt_ns);
            self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
            self.number += 1;
        }
    }

    pub fn mean_rtt_ns(&self) -> u64 {
        self.sum_ns.checked_div(self.number).unwrap_or(0)
    }
}

/// The rows of all streams that are over in one report interval, by their places; those of one that had ended before are left out.
pub(super) type Interval = Vec<(usize, Row)>;

/// The streams of a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    pub shape: Shape,
    pub all: Vec<Stream>,
}

impl Streams {
    pub fn new(shape: Shape) -> Self {
        Self { shape, all: Vec::new() }
    }

    /// One is about to begin: what it is.
    pub fn opened(&mut self, connection: &Connection) -> &Stream {
        let (facts, place) = (&connection.facts, self.all.len());
        let flow = facts.flow.0;
        let text = |address: &Option<String>| address.clone().unwrap_or_default();
        let start_ns = 0;
        self.all.push(Stream {
            flow,
            socket: FIRST_SOCKET + 2 * place as u32,
            sends: self.shape.sends(flow),
            ends: [text(&facts.local), text(&facts.remote)],
            open: Some(Row { start_ns, ..Row::default() }),
            held: None,
            ready: VecDeque::new(),
            is_over: false,
            looked: None,
            retransmits_told: 0,
            before: 0,
            whole: Row {
                start_ns: self.shape.omit_ns,
                end_ns: self.shape.omit_ns,
                ..Row::default()
            },
            round_trips: RoundTrips::default(),
        });
        &self.all[place]
    }

    pub fn are_open(&self) -> bool {
        self.all.len() as u32 >= self.shape.all_streams()
    }

    /// So much went through one of them.
    pub fn progress(&mut self, progress: &ConnectionProgress) {
        let shape = self.shape;
        let Some(stream) = self.all.iter_mut().find(|it| it.flow == progress.flow.0) else {
            return;
        };
        let (sends, Some(row)) = (stream.sends, &mut stream.open) else { return };
        row.take(progress, sends);
        stream.looked = both_looks(stream.looked, progress.tcp);
        // What ends a little early is that row's.
        let due_ns = shape.row_end_ns(row.start_ns);
        if progress.end_ns.saturating_add(shape.tolerance_ns()) >= due_ns {
            let end_ns = row.end_ns;
            stream.cut(&shape);
            stream.open = Some(Row { start_ns: end_ns, end_ns, ..Row::default() });
        }
    }

    /// One is over.
    pub fn closed(&mut self, connection: &Connection) {
        let shape = self.shape;
        let flow = connection.facts.flow.0;
        let Some(stream) = self.all.iter_mut().find(|it| it.flow == flow) else { return };
        if stream.is_over {
            return;
        }
        if let (Some(row), Some(tcp), true) =
            (&mut stream.open, &connection.facts.tcp, stream.sends)
        {
            // The end tells less than a look. One that comes amid a row is the first word of it.
            let end = TcpLook::at_end(connection.facts.flow, tcp);
            row.look = both_looks(stream.looked, Some(end));
        }
        stream.ends(&shape);
    }

    /// All are over, whatever was told of them.
    pub fn end(&mut self) {
        let shape = self.shape;
        for stream in &mut self.all {
            if !stream.is_over {
                stream.ends(&shape);
            }
        }
    }

    /// The next interval of which the rows of all streams are there.
    pub fn take_interval(&mut self) -> Option<Interval> {
        let is_whole = self.are_open()
            && self.all.iter().all(|it| it.is_over || !it.ready.is_empty())
            && self.all.iter().any(|it| !it.ready.is_empty());
        if !is_whole {
            return None;
        }
        let rows = self.all.iter_mut().enumerate();
        Some(rows.filter_map(|(place, it)| Some((place, it.ready.pop_front()?))).collect())
    }
}

impl Stream {
    /// The row that is open is over. What is short and empty is none: it is the time until an end was noticed.
    fn cut(&mut self, shape: &Shape) {
        let Some(mut row) = self.open.take() else { return };
        // Datagrams are waited for behind the planned end, and what came first of all would be spread over that time.
        let waited_ns =
            shape.planned_ns.map_or(0, |planned_ns| row.end_ns.saturating_sub(planned_ns));
        if row.datagrams.is_some() && (shape.tolerance_ns()..WAIT_NS).contains(&waited_ns) {
            row.end_ns = row.end_ns.saturating_sub(waited_ns).max(row.start_ns);
        }
        let length_ns = row.end_ns.saturating_sub(row.start_ns);
        // What passes after the planned end until nothing is awaited any more is none, either.
        let start_ns = row.start_ns.saturating_add(shape.tolerance_ns());
        let is_after = shape.planned_ns.is_some_and(|planned_ns| start_ns >= planned_ns);
        let is_long = length_ns > 0 && length_ns >= shape.interval_ns / 10;
        let is_row = row.bytes > 0 || is_long && !is_after;
        if let Some(told) = row.look.and_then(|look| look.retransmits) {
            row.retransmits = Some(told.saturating_sub(self.retransmits_told));
            self.retransmits_told = told;
        }
        row.is_omitted = shape.is_omitted(row.start_ns);
        if let Some(it) = row.datagrams.filter(|_| row.is_omitted) {
            self.before +=
                if self.sends { it.sent } else { it.expected.unwrap_or(0).max(it.received) };
        }
        if !row.is_omitted {
            let whole = &mut self.whole;
            if is_row || !is_after {
                whole.end_ns = whole.end_ns.max(row.end_ns);
            }
            whole.bytes += row.bytes;
            whole.look = both_looks(whole.look, row.look);
            whole.retransmits = both(whole.retransmits, row.retransmits);
            if let Some(more) = row.datagrams {
                whole.datagrams = Some(added(whole.datagrams.unwrap_or_default(), more));
            }
            row.look.iter().filter(|_| is_row).for_each(|look| self.round_trips.saw(look));
        }
        if is_row {
            self.show(&row, shape);
        }
    }

    /// What comes in the moments behind the planned end is of the row that ends there: over so short a time it would have a rate that
    /// means nothing, and programs average those.
    fn show(&mut self, row: &Row, shape: &Shape) {
        let is_moment = row.end_ns.saturating_sub(row.start_ns) < shape.interval_ns / 10;
        let row = match self.held.take() {
            Some(last) if is_moment => last.and(row),
            Some(last) => {
                self.ready.push_back(last);
                *row
            }
            None => *row,
        };
        let until_ns = row.end_ns.saturating_add(shape.tolerance_ns());
        if !self.is_over && shape.planned_ns.is_some_and(|planned_ns| until_ns >= planned_ns) {
            self.held = Some(row);
        } else {
            self.ready.push_back(row);
        }
    }

    /// No row follows.
    fn ends(&mut self, shape: &Shape) {
        self.is_over = true;
        self.cut(shape);
        self.ready.extend(self.held.take());
    }
}

/// Rows of several streams as one.
pub(super) fn sum<'row>(rows: impl IntoIterator<Item = &'row Row>) -> Option<Row> {
    let (mut number, mut jitters, mut jitter_ns) = (0_u64, 0_u64, 0_u64);
    let mut all: Option<Row> = None;
    for row in rows {
        number += 1;
        if let Some(jitter) = row.datagrams.and_then(|it| it.jitter_ns) {
            (jitters, jitter_ns) = (jitters + 1, jitter_ns.saturating_add(jitter));
        }
        let Some(sum) = &mut all else {
            all = Some(Row { look: None, ..*row });
            continue;
        };
        // The times are those of the first.
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        if let Some(more) = row.retransmits {
            sum.retransmits = Some(sum.retransmits.unwrap_or(0).saturating_add(more));
        }
        if let Some(more) = row.datagrams {
            sum.datagrams = Some(added(sum.datagrams.unwrap_or_default(), more));
        }
    }
    let mean_ns = jitter_ns.checked_div(jitters);
    if let Some(datagrams) = all.as_mut().and_then(|it| it.datagrams.as_mut()) {
        datagrams.jitter_ns = mean_ns.filter(|_| number > 0);
    }
    all
}

#[cfg(test)]
pub(super) mod tests;
