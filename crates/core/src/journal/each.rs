//! What is measured one by one, for whoever is told of each while that goes on.

use crate::id::FlowId;

/// Something that was measured by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Each {
    /// A ping.
    Ping(Ping),
    /// A frame of a stream.
    Frame(Frame),
    /// A datagram on one of several paths.
    Leg(Leg),
}

/// One ping.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ping {
    /// When its echo came; of one that has none, when it left. Since the journal began, as the other times.
    pub at_ns: u64,
    /// Its flow.
    pub flow: FlowId,
    /// Its number in the flow, from 0.
    pub number: u64,
    /// When it left.
    pub sent_ns: u64,
    /// How long its round trip took; absent: no right echo came.
    pub rtt_ns: Option<u64>,
    /// What became of it: `answered`, `warm_up`, `lost` or `corrupt`.
    pub outcome: &'static str,
}

/// One frame that has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame {
    /// When it was whole at the end that plays it, since the journal began; absent: it never was.
    pub at_ns: Option<u64>,
    /// Its stream.
    pub flow: FlowId,
    /// Its number in the stream, from 0.
    pub number: u64,
    /// How it ended: `completed`, `repeated`, `late`, `erroneous`, `dropped` or `cut`.
    pub outcome: &'static str,
    /// Datagrams of it that had not come when it was to be played.
    pub missing: u64,
    /// Datagrams of it that came again.
    pub repeats: u64,
    /// How long before it was to be played it was whole; negative: after.
    pub margin_ns: Option<i64>,
    /// When the last of its datagrams that came was sent, by the sender's clock; zero where none came.
    pub sent_ns: u64,
    /// When that came, by this end's clock; zero where none did.
    pub received_ns: u64,
}

/// What became of one datagram on one of several paths. Those of one number follow one another, the primary's first, one for each path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Leg {
    /// The datagram's number, from 0.
    pub number: u64,
    /// The path's place, 0 being the primary.
    pub path: u8,
    /// When it left, since the journal began; absent: it did not.
    pub sent_ns: Option<u64>,
    /// When the server echoed it, by the server's clock; absent: not known.
    pub echoed_ns: Option<u64>,
    /// When its echo came, since the journal began; absent: it did not.
    pub received_ns: Option<u64>,
}
