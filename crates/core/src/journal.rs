//! What is written down while a run goes on: status, connections, errors, one entry each. Values only: how a
//! row looks is in `views`, where it goes is the binary's affair.
//!
//! Not here: the result document, which is written when a run ends.

mod changes;
mod each;
mod load;
mod scribe;
pub mod totals;

pub use self::changes::{ConnectionProgress, DatagramProgress, PathChange};
pub use self::each::{Each, Frame, Leg, Ping};
pub use self::load::{LoadFacts, TestBegan, TestOver};
pub use self::scribe::{Scribe, Scribes};
use crate::counters::HostActivity;
use crate::record::{FlowError, FlowFacts};
use crate::tcp_look::TcpLook;

/// Something to write down.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A test of a session is about to begin, for whoever wants to know what goes through each connection.
    TestBegan(Box<TestBegan>),
    /// It is over, all its flows included.
    TestOver(Box<TestOver>),
    /// A report interval of a session has passed.
    Status(Box<Status>),
    /// A connection of a session is about to move data.
    Opened(Box<Connection>),
    /// A connection has ended, well or not.
    Closed(Box<Connection>),
    /// Something went wrong that is no matter of one connection.
    Trouble(Box<Trouble>),
    /// A report interval of a session of streams has passed.
    StreamStatus(Box<StreamStatus>),
    /// A stream of a session is about to send or receive frames.
    StreamOpened(Box<Stream>),
    /// A stream has ended, well or not.
    StreamClosed(Box<Stream>),
    /// A step of a session, for whoever looks for a fault.
    Step(Box<Step>),
    /// What a machine did in a report interval.
    Activity(Box<ActivityRow>),
    /// How a connection that sends stood at the end of a report interval.
    Sender(Box<SenderRow>),
    /// What went through one connection in a report interval.
    Progress(Box<ConnectionProgress>),
    /// Something happened to a path of a session.
    Path(Box<PathChange>),
    /// Things that were measured one by one, in the order in which they ended on each flow.
    Each(Box<[Each]>),
}

/// The connections of one session over one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// When the interval ended, since the journal began.
    pub at_ns: u64,
    /// How long it was; zero for the row that says that the connections begin.
    pub length_ns: u64,
    /// Bytes handed to the kernel in it.
    pub sent_bytes: u64,
    /// Bytes taken from the kernel and checked in it.
    pub received_bytes: u64,
    /// Connections that move data at its end.
    pub in_flight: u64,
    /// Connections that have ended so far.
    pub ended: Ended,
    /// What the kernel says of the connections that move data: windows and delivery rates summed up, the
    /// median of the round-trip times, the smallest of the smallest; and retransmits of all connections so
    /// far, as a running total.
    pub tcp: KernelView,
    /// The other end of the session's control connection.
    pub session: String,
}

/// How connections ended, as running totals.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ended {
    /// Well.
    pub completed: u64,
    /// By the system or the path.
    pub network_errors: u64,
    /// By bytes that were not what they must be.
    pub data_errors: u64,
    /// By a breach of protocol, or for a reason that has no kind.
    pub protocol_errors: u64,
}

/// What the kernel says of connections; what it does not say is absent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KernelView {
    /// Segments sent again since the connections began.
    pub retransmits: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt_ns: Option<u64>,
    /// Smallest round-trip time.
    pub min_rtt_ns: Option<u64>,
    /// Congestion window.
    pub window_bytes: Option<u64>,
    /// Rate at which data was lately delivered.
    pub delivery_bps: Option<u64>,
}

/// One connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// When, since the journal began.
    pub at_ns: u64,
    /// From the start of its own data to its end at this end: of one that follows another, not from the start of the test.
    pub time_ns: u64,
    /// The connection as this end saw it.
    pub facts: FlowFacts,
    /// The other end of the session's control connection.
    pub session: String,
}

/// How frames of streams ended, in an interval or in all.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Frames {
    /// Whole when they were to be played.
    pub completed: u64,
    /// Not whole then, though nothing of them came damaged.
    pub missed: u64,
    /// Whole, with datagrams that came more than once.
    pub repeated: u64,
    /// Not whole, since something of them came damaged.
    pub erroneous: u64,
    /// Of the missed: whole afterwards.
    pub late: u64,
    /// Sent by this end.
    pub sent: u64,
}

/// The streams of one session over one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamStatus {
    /// When the interval ended, since the journal began.
    pub at_ns: u64,
    /// How long it was; zero for the row that says that the streams begin.
    pub length_ns: u64,
    /// Payload of datagrams handed to the kernel in it.
    pub sent_bytes: u64,
    /// Payload of datagrams that came in it, each counted once.
    pub received_bytes: u64,
    /// Whether this end receives streams: else its rate is what it sends.
    pub receives: bool,
    /// Streams under way at its end.
    pub streams: u64,
    /// Frames of it.
    pub frames: Frames,
    /// The other end of the session's control connection.
    pub session: String,
}

/// One stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// When, since the journal began.
    pub at_ns: u64,
    /// From the start of the test to its end at this end.
    pub time_ns: u64,
    /// The time that its frames stand for: what its rate is taken over.
    pub streamed_ns: u64,
    /// Its number, addresses and bytes as this end saw them, and its error.
    pub facts: FlowFacts,
    /// Whether this end receives it: else its rate is what it sends.
    pub receives: bool,
    /// Its frames.
    pub frames: Frames,
    /// Datagrams of it that never came.
    pub lost_datagrams: u64,
    /// The longest time in which it had no frame to play.
    pub longest_freeze_ns: u64,
    /// The depth of a buffer that would have had each frame in time that ever was whole.
    pub needed_depth_ns: Option<u64>,
    /// The other end of the session's control connection.
    pub session: String,
}

impl Status {
    /// Bytes a second that were sent in it, rounded down; none over no time.
    pub fn sent_per_second(&self) -> u64 {
        per_second(self.sent_bytes, self.length_ns)
    }

    /// The same of those that were received.
    pub fn received_per_second(&self) -> u64 {
        per_second(self.received_bytes, self.length_ns)
    }
}

impl Connection {
    /// Bytes a second that were sent on it, rounded down; none over no time.
    pub fn sent_per_second(&self) -> u64 {
        per_second(self.facts.sent_bytes, self.time_ns)
    }

    /// The same of those that were received.
    pub fn received_per_second(&self) -> u64 {
        per_second(self.facts.received_bytes, self.time_ns)
    }
}

impl StreamStatus {
    /// Bits a second of what is received, or else of what is sent.
    pub fn bits_per_second(&self) -> u64 {
        let bytes = if self.receives { self.received_bytes } else { self.sent_bytes };
        per_second(bytes.saturating_mul(8), self.length_ns)
    }

    /// The same as of connections, where both stand in one table.
    pub fn as_connections(&self) -> Status {
        Status {
            at_ns: self.at_ns,
            length_ns: self.length_ns,
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            in_flight: self.streams,
            session: self.session.clone(),
            ..Status::default()
        }
    }
}

impl Stream {
    /// Bits a second of what is received, or else of what is sent.
    pub fn bits_per_second(&self) -> u64 {
        let bytes = if self.receives { self.facts.received_bytes } else { self.facts.sent_bytes };
        per_second(bytes.saturating_mul(8), self.streamed_ns)
    }

    /// The same as a connection, where both stand in one table.
    pub fn as_connection(&self) -> Connection {
        Connection {
            at_ns: self.at_ns,
            time_ns: self.time_ns,
            facts: self.facts.clone(),
            session: self.session.clone(),
        }
    }
}

/// An error outside of connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// When, since the journal began.
    pub at_ns: u64,
    /// A sentence.
    pub text: String,
    /// The other end of the session's control connection, where there is a session.
    pub session: Option<String>,
}

/// A step of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When, since the journal began.
    pub at_ns: u64,
    /// A few words.
    pub text: String,
    /// The other end of the session's control connection.
    pub session: String,
}

/// What a machine did in a report interval.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityRow {
    /// When the interval ended, since the begin of the document.
    pub at_ns: u64,
    /// Whose machine: `client` or `server`.
    pub end: &'static str,
    /// In which measurement.
    pub measurement: String,
    /// What it did.
    pub activity: HostActivity,
}

/// How a connection that sends stood at the end of a report interval.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderRow {
    /// When the interval ended, since the begin of the document.
    pub at_ns: u64,
    /// Which end sends on it: `client` or `server`.
    pub end: &'static str,
    /// In which measurement.
    pub measurement: String,
    /// How it stood.
    pub look: TcpLook,
}

impl Ended {
    /// By bytes or by a breach of protocol: what ctsTraffic counts as one.
    pub fn data_or_protocol_errors(&self) -> u64 {
        self.data_errors.saturating_add(self.protocol_errors)
    }

    /// Counts one more.
    pub fn count(&mut self, error: Option<&FlowError>) {
        use crate::record::FlowErrorKind;
        if error.is_some_and(|error| error.kind == FlowErrorKind::Unconfirmed) {
            // Neither: it has not failed, and nobody knows whether it has succeeded.
            return;
        }
        *match error.map(|error| error.kind) {
            None => &mut self.completed,
            Some(FlowErrorKind::Network) => &mut self.network_errors,
            Some(FlowErrorKind::Data) => &mut self.data_errors,
            Some(FlowErrorKind::Protocol | FlowErrorKind::Unknown | FlowErrorKind::Unconfirmed) => {
                &mut self.protocol_errors
            }
        } += 1;
    }
}

impl KernelView {
    /// What the kernel says of one connection.
    pub fn of(tcp: &crate::record::TcpFacts) -> Self {
        Self {
            retransmits: tcp.retransmits,
            rtt_ns: tcp.rtt_ns,
            min_rtt_ns: tcp.min_rtt_ns,
            window_bytes: tcp.congestion_window_bytes,
            delivery_bps: tcp.delivery_rate_bps,
        }
    }

    /// What it says of several.
    pub fn of_all(views: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> Option<u64>| {
            views.iter().filter_map(field).reduce(u64::saturating_add)
        };
        let mut round_trips: Vec<u64> = views.iter().filter_map(|view| view.rtt_ns).collect();
        round_trips.sort_unstable();
        Self {
            retransmits: sum(|view| view.retransmits),
            rtt_ns: round_trips.get(round_trips.len() / 2).copied(),
            min_rtt_ns: views.iter().filter_map(|view| view.min_rtt_ns).min(),
            window_bytes: sum(|view| view.window_bytes),
            delivery_bps: sum(|view| view.delivery_bps),
        }
    }
}

/// Things a second, rounded down; none over no time.
fn per_second(number: u64, length_ns: u64) -> u64 {
    let rate = u128::from(number) * 1_000_000_000 / u128::from(length_ns.max(1));
    if length_ns == 0 { 0 } else { u64::try_from(rate).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FlowErrorKind;

    #[test]
    fn rates_are_whole_bytes_a_second_and_never_overflow() {
        assert_eq!(per_second(1_000, 2_000_000_000), 500);
        assert_eq!(per_second(7, 0), 0);
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn kinds_of_error_are_counted_apart() {
        let mut ended = Ended::default();
        ended.count(None);
        for kind in [
            FlowErrorKind::Network,
            FlowErrorKind::Data,
            FlowErrorKind::Data,
            FlowErrorKind::Protocol,
            FlowErrorKind::Unknown,
        ] {
            ended.count(Some(&FlowError { kind, text: String::new(), errno: None }));
        }
        let expected =
            Ended { completed: 1, network_errors: 1, data_errors: 2, protocol_errors: 2 };
        assert_eq!(ended, expected);
    }

    #[test]
    fn several_connections_are_summed_up_or_stand_for_each_other() {
        let of = |rtt, retransmits| KernelView {
            rtt_ns: Some(rtt),
            min_rtt_ns: Some(rtt / 2),
            retransmits,
            ..KernelView::default()
        };
        let all = KernelView::of_all(&[of(90, Some(1)), of(10, None), of(20, Some(5))]);
        assert_eq!(all, KernelView { min_rtt_ns: Some(5), ..of(20, Some(6)) });
        assert_eq!(KernelView::of_all(&[]), KernelView::default());
    }
}
