//! What all connections or streams of a program came to so far, and between two rows of status: summed up over all sessions, as a
//! server has many. Not here: how a row looks, which is of who shows it.

use super::{Ended, Entry, Frames, StreamStatus};

/// So long after a connection has ended its session tells of the interval at the latest.
const TOLD_WITHIN_NS: u64 = 1_000_000_000;

/// What there is between two rows of status.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Slice {
    /// When it ended, since the program began.
    pub at_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Bytes sent in it.
    pub sent_bytes: u64,
    /// Bytes received in it.
    pub received_bytes: u64,
    /// Connections or streams under way at its end.
    pub in_flight: u64,
    /// How connections ended so far.
    pub ended: Ended,
    /// Frames of it.
    pub frames: Frames,
    /// Whether this end sends frames, and so has the rate of those.
    pub sends_frames: bool,
}

/// The sums.
#[derive(Debug, Default)]
pub struct Totals {
    /// From one row to the next.
    update_ns: u64,
    /// When the last row was; none before the first.
    last_at_ns: Option<u64>,
    /// Whether there are rows also before anything has come.
    is_server: bool,
    /// When the first interval began of which something came since: after an idle time, long after the last row.
    began_at_ns: Option<u64>,
    /// When the latest of all was heard of.
    heard_at_ns: u64,
    /// When somebody has gone of whose last interval nothing was told yet.
    gone_at_ns: Option<u64>,
    /// What came since the last row.
    slice: Slice,
    /// Bytes sent in all.
    pub sent_bytes: u64,
    /// Bytes received in all.
    pub received_bytes: u64,
    /// Frames in all.
    pub frames: Frames,
}

impl Totals {
    /// With a row each so many milliseconds; at a server from the begin on, at a client once it has connections.
    pub fn new(update_ms: u64, is_server: bool) -> Self {
        Self { update_ns: update_ms.saturating_mul(1_000_000), is_server, ..Self::default() }
    }

    /// When a row is due of a time without anybody. While somebody is there, rows come with what is told of them, which may be a little
    /// late; and what the last of them moved is told after they have gone.
    pub fn idle_at_ns(&self) -> Option<u64> {
        let after = |at_ns: u64, wait_ns: u64| at_ns.saturating_add(wait_ns + self.grace_ns());
        let next = self.last_at_ns.map(|last| after(last, self.update_ns));
        let told = self.gone_at_ns.map(|gone| after(gone, self.update_ns.min(TOLD_WITHIN_NS)));
        let at_ns = next.or(self.is_server.then_some(0)).max(told);
        at_ns.filter(|_| self.slice.in_flight == 0)
    }

    /// The row of a time without anybody, if it is due now.
    pub fn idle(&mut self, now_ns: u64) -> Option<Slice> {
        self.idle_at_ns().filter(|due| *due <= now_ns)?;
        // In step with those before it, unless this program itself stood still.
        let in_step = self.last_at_ns.map(|last| last.saturating_add(self.update_ns));
        let is_near = |at: &u64| now_ns.saturating_sub(*at) < self.update_ns.saturating_mul(2);
        let at_ns = in_step.filter(is_near).unwrap_or(now_ns);
        self.gone_at_ns = None;
        Some(self.cut(at_ns.max(self.heard_at_ns)))
    }

    /// By so much an interval may end before a row is due, and be told of after that.
    const fn grace_ns(&self) -> u64 {
        self.update_ns / 20
    }

    /// How connections ended so far.
    pub const fn ended(&self) -> Ended {
        self.slice.ended
    }

    /// Whether there was no connection or stream yet, made or not.
    pub fn is_of_none(&self) -> bool {
        let Slice { in_flight, ended, .. } = self.slice;
        self.last_at_ns.is_none() && in_flight == 0 && ended == Ended::default()
    }

    /// Takes something in; the row of status that is due by it, if one is.
    pub fn hear(&mut self, entry: &Entry) -> Option<Slice> {
        let slice = &mut self.slice;
        match entry {
            Entry::Opened(_) | Entry::StreamOpened(_) => {
                slice.in_flight = slice.in_flight.saturating_add(1);
                None
            }
            Entry::Closed(connection) => {
                // One that was never made has no address of its own, and never was in flight.
                let was_made = connection.facts.local.is_some();
                slice.in_flight = slice.in_flight.saturating_sub(was_made.into());
                slice.ended.count(connection.facts.error.as_ref());
                self.has_gone(connection.at_ns);
                None
            }
            Entry::StreamClosed(stream) => {
                slice.in_flight = slice.in_flight.saturating_sub(1);
                slice.ended.count(stream.facts.error.as_ref());
                self.has_gone(stream.at_ns);
                None
            }
            Entry::Status(status) => {
                let bytes = (status.sent_bytes, status.received_bytes);
                self.add(bytes, &Frames::default());
                self.due(status.at_ns, status.length_ns)
            }
            Entry::StreamStatus(status) => {
                let StreamStatus { at_ns, length_ns, sent_bytes, received_bytes, .. } = **status;
                let StreamStatus { receives, frames, .. } = **status;
                self.slice.sends_frames = !receives;
                self.add((sent_bytes, received_bytes), &frames);
                self.due(at_ns, length_ns)
            }
            _ => None,
        }
    }

    /// A connection was cut off by the end of the run: it has neither gone well nor failed.
    pub fn cut_off(&mut self, at_ns: u64) {
        self.slice.in_flight = self.slice.in_flight.saturating_sub(1);
        self.has_gone(at_ns);
    }

    fn add(&mut self, (sent, received): (u64, u64), frames: &Frames) {
        let (slice, all) = (&mut self.slice, &mut self.frames);
        for (sum, more) in [
            (&mut slice.sent_bytes, sent),
            (&mut slice.received_bytes, received),
            (&mut self.sent_bytes, sent),
            (&mut self.received_bytes, received),
            (&mut slice.frames.completed, frames.completed),
            (&mut slice.frames.missed, frames.missed),
            (&mut slice.frames.repeated, frames.repeated),
            (&mut slice.frames.erroneous, frames.erroneous),
            (&mut all.completed, frames.completed),
            (&mut all.missed, frames.missed),
            (&mut all.repeated, frames.repeated),
            (&mut all.erroneous, frames.erroneous),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    fn has_gone(&mut self, at_ns: u64) {
        self.gone_at_ns = self.gone_at_ns.max(Some(at_ns));
        self.heard(at_ns);
    }

    /// It is so late.
    pub fn heard(&mut self, at_ns: u64) {
        self.heard_at_ns = self.heard_at_ns.max(at_ns);
    }

    /// The row that is due at the end of this interval of a session. Each has intervals of its own, so that one that comes a little early
    /// counts.
    fn due(&mut self, at_ns: u64, length_ns: u64) -> Option<Slice> {
        self.heard(at_ns);
        self.gone_at_ns = None;
        let began = at_ns.saturating_sub(length_ns);
        self.began_at_ns = Some(self.began_at_ns.map_or(began, |first| first.min(began)));
        let since = self.last_at_ns.map(|last| at_ns.saturating_sub(last));
        let is_due = since.is_none_or(|since| since >= self.update_ns - self.grace_ns());
        is_due.then(|| self.cut(at_ns))
    }

    /// The row that ends all; none where nothing has come since the last.
    pub fn last(&mut self) -> Option<Slice> {
        let (last_ns, at_ns) = (self.last_at_ns?, self.heard_at_ns);
        let Slice { sent_bytes, received_bytes, frames, .. } = self.slice;
        let is_empty = sent_bytes == 0 && received_bytes == 0 && frames == Frames::default();
        (last_ns < at_ns || !is_empty).then(|| self.cut(at_ns.max(last_ns)))
    }

    fn cut(&mut self, at_ns: u64) -> Slice {
        // Its bytes are of the time in which somebody was there: not of an idle one since the last row, or since the program began.
        let began_at_ns = self.began_at_ns.take().max(self.last_at_ns);
        let length_ns = at_ns.saturating_sub(began_at_ns.unwrap_or(0));
        let slice = Slice { at_ns, length_ns, ..self.slice };
        self.last_at_ns = Some(at_ns);
        let Slice { in_flight, ended, sends_frames, .. } = slice;
        self.slice = Slice { in_flight, ended, sends_frames, ..Slice::default() };
        slice
    }
}

impl Slice {
    /// Bytes a second that were sent in it, rounded down.
    pub fn sent_per_second(&self) -> u64 {
        per_second(self.sent_bytes, self.length_ns)
    }

    /// The same of those that were received.
    pub fn received_per_second(&self) -> u64 {
        per_second(self.received_bytes, self.length_ns)
    }

    /// Bits a second of frames.
    pub fn bits_per_second(&self) -> u64 {
        let bytes = if self.sends_frames { self.sent_bytes } else { self.received_bytes };
        per_second(bytes.saturating_mul(8), self.length_ns)
    }
}

fn per_second(number: u64, length_ns: u64) -> u64 {
    let rate = u128::from(number) * 1_000_000_000 / u128::from(length_ns.max(1));
    if length_ns == 0 { 0 } else { u64::try_from(rate).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::super::{Connection, Status, Stream};
    use super::*;
    use crate::record::{FlowError, FlowErrorKind, FlowFacts};

    const MILLISECOND: u64 = 1_000_000;

    fn status(at_ms: u64, sent_bytes: u64, session: &str) -> Entry {
        Entry::Status(Box::new(Status {
            at_ns: at_ms * MILLISECOND,
            length_ns: at_ms * MILLISECOND,
            sent_bytes,
            session: session.to_owned(),
            ..Status::default()
        }))
    }

    fn closed(at_ms: u64, kind: Option<FlowErrorKind>) -> Entry {
        let error = kind.map(|kind| FlowError { kind, text: String::new(), errno: None });
        let local = Some("10.0.0.1:5".to_owned());
        let facts = FlowFacts { local, error, ..FlowFacts::default() };
        let at_ns = at_ms * MILLISECOND;
        Entry::Closed(Box::new(Connection { at_ns, facts, ..Connection::default() }))
    }

    #[test]
    fn sessions_are_summed_up_into_rows_of_one_width() {
        let mut totals = Totals::new(1_000, false);
        let opened = Entry::Opened(Box::default());
        for _ in 0..3 {
            assert_eq!(totals.hear(&opened), None);
        }
        let first = totals.hear(&status(1, 0, "a")).expect("the first is a row");
        assert_eq!((first.at_ns, first.in_flight, first.sent_per_second()), (MILLISECOND, 3, 0));
        assert_eq!(totals.hear(&status(400, 300, "b")), None);
        // A little early is early enough.
        let second = totals.hear(&status(999, 698, "a")).expect("a second has passed");
        assert_eq!((second.length_ns, second.sent_bytes), (998 * MILLISECOND, 998));
        assert_eq!(second.sent_per_second(), 1_000);
        assert_eq!(totals.hear(&status(1_400, 5, "b")), None);
        for kind in [None, Some(FlowErrorKind::Network), Some(FlowErrorKind::Data)] {
            assert_eq!(totals.hear(&closed(1_500, kind)), None);
        }
        let last = totals.last().expect("something came since");
        let ended = Ended { completed: 1, network_errors: 1, data_errors: 1, protocol_errors: 0 };
        assert_eq!((last.at_ns, last.in_flight, last.ended), (1_500 * MILLISECOND, 0, ended));
        assert_eq!((totals.sent_bytes, totals.last()), (1_003, None));
    }

    #[test]
    fn a_connection_that_was_never_made_has_failed_and_leaves_the_others_in_flight() {
        let mut totals = Totals::new(1_000, false);
        totals.hear(&Entry::Opened(Box::default()));
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: "refused".to_owned(),
            errno: Some("ECONNREFUSED".to_owned()),
        };
        let facts = FlowFacts { error: Some(error), ..FlowFacts::default() };
        totals.hear(&Entry::Closed(Box::new(Connection { facts, ..Connection::default() })));
        assert_eq!((totals.slice.in_flight, totals.ended().network_errors), (1, 1));
    }

    #[test]
    fn a_rate_is_of_the_time_in_which_somebody_was_there() {
        let mut totals = Totals::new(1_000, false);
        let interval = |at_ms, length_ms, sent_bytes| {
            let Entry::Status(mut status) = status(at_ms, sent_bytes, "a") else { panic!("a row") };
            status.length_ns = length_ms * MILLISECOND;
            Entry::Status(status)
        };
        // The first client comes after five minutes, another ten minutes later, in the midst of it a third.
        let first = totals.hear(&interval(301_000, 1_000, 500)).expect("the first is a row");
        assert_eq!((first.length_ns, first.sent_per_second()), (1_000 * MILLISECOND, 500));
        let next = totals.hear(&interval(901_000, 800, 400)).expect("long after the last");
        assert_eq!((next.at_ns, next.sent_per_second()), (901_000 * MILLISECOND, 500));
        assert_eq!(totals.hear(&interval(901_500, 1_000, 250)), None);
        let third = totals.hear(&interval(902_000, 1_000, 250)).expect("a second has passed");
        assert_eq!((third.length_ns, third.sent_per_second()), (1_000 * MILLISECOND, 500));
        // What was there before the last row, and tells of it late, makes no slice longer.
        totals.hear(&closed(902_500, None));
        assert_eq!(totals.last().expect("it ended").length_ns, 500 * MILLISECOND);
    }

    #[test]
    fn a_server_has_rows_of_nobody_and_one_in_each_slice() {
        let mut totals = Totals::new(1_000, true);
        let rows = |totals: &mut Totals, at_ms: u64| {
            let slice = totals.idle(at_ms * MILLISECOND)?;
            let bytes = slice.received_bytes + slice.sent_bytes;
            Some((slice.at_ns / MILLISECOND, bytes, slice.ended.completed))
        };
        assert_eq!(rows(&mut totals, 2), Some((2, 0, 0)));
        // What ends with the slice may be told of a little later.
        assert_eq!(rows(&mut totals, 1_051), None);
        assert_eq!(totals.idle_at_ns(), Some(1_052 * MILLISECOND));
        assert_eq!(rows(&mut totals, 1_052), Some((1_002, 0, 0)));
        // While somebody is there, rows come of what is told.
        totals.hear(&Entry::Opened(Box::default()));
        assert_eq!((totals.idle_at_ns(), rows(&mut totals, 9_000)), (None, None));
        assert_eq!(totals.hear(&status(1_600, 700, "a")), None);
        totals.hear(&closed(1_700, None));
        // Of who has gone its session is still to tell, within a second; where it does not, nobody waits for longer.
        assert_eq!(rows(&mut totals, 2_060), None);
        assert_eq!(totals.idle_at_ns(), Some(2_750 * MILLISECOND));
        assert_eq!(rows(&mut totals, 2_750), Some((2_002, 700, 1)));
        // Where the program stood still, one row is of all that time.
        assert_eq!(rows(&mut totals, 60_000), Some((60_000, 0, 1)));
        // What is told only after a row is in the last.
        assert_eq!(totals.hear(&status(1_800, 50, "a")), None);
        assert_eq!(totals.last().expect("there is more").sent_bytes, 50);
        assert_eq!(totals.last(), None);
    }

    #[test]
    fn what_never_began_has_no_row() {
        assert_eq!(Totals::new(1, false).last(), None);
    }

    #[test]
    fn frames_are_of_their_slice_and_bits_of_who_moves_them() {
        let row = |at_ms, receives| {
            Entry::StreamStatus(Box::new(StreamStatus {
                at_ns: at_ms * MILLISECOND,
                length_ns: 1_000 * MILLISECOND,
                sent_bytes: 1,
                received_bytes: 125,
                receives,
                frames: Frames { completed: 3, missed: 1, ..Frames::default() },
                ..StreamStatus::default()
            }))
        };
        let mut totals = Totals::new(1_000, false);
        assert_eq!(totals.hear(&Entry::StreamOpened(Box::default())), None);
        totals.hear(&row(1_000, true)).expect("the first");
        let second = totals.hear(&row(2_000, true)).expect("a second has passed");
        assert_eq!((second.bits_per_second(), second.frames.completed), (1_000, 3));
        let third = totals.hear(&row(3_000, false)).expect("a second has passed");
        assert_eq!(third.bits_per_second(), 8);
        assert_eq!((totals.frames.completed, totals.frames.missed), (9, 3));
        totals.hear(&Entry::StreamClosed(Box::<Stream>::default()));
        assert_eq!((totals.slice.in_flight, totals.ended().completed), (0, 1));
    }
}
