//! What holds on the flows' own connections with a kind of peer, whatever is measured: what streams are filled with, and by what their
//! end is known, what pings consist of, and how datagrams are laid out. Values, and no type parameters: those would multiply modes,
//! engines and peers. Not here: what is said before a connection is a flow's, which is each peer's own.

pub mod bare;
pub mod frames;
pub mod sequenced;

use crate::pattern::{Block, Payload};
use pathscope_core::quantity::Bytes;

/// What holds on flows' connections. As a whole what pathscope does, unless something else is said.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Conventions {
    /// What loads over streams are made of.
    pub payload: Payload,
    /// By what an end knows where a stream ends that comes to it.
    pub end: StreamEnd,
    /// What pings over streams consist of.
    pub pings: Pings,
    /// How datagrams are laid out.
    pub framing: Framing,
}

impl Conventions {
    /// What pathscope does.
    pub const OWN: Self = Self {
        payload: Payload::Keyed,
        end: StreamEnd::Told,
        pings: Pings::Keyed,
        framing: Framing::Own,
    };

    /// The same in a test whose datagrams bear numbers of 64 bits, or of 32, and stamps of a clock that is so far ahead of ours, where
    /// that is not always the same.
    #[must_use]
    pub const fn numbered(self, is_wide: bool, ahead_ns: u64) -> Self {
        let width = if is_wide { sequenced::Width::Bits64 } else { sequenced::Width::Bits32 };
        let framing = match self.framing {
            Framing::Sequenced(_) => Framing::Sequenced(sequenced::Layout { width, ahead_ns }),
            other => other,
        };
        Self { framing, ..self }
    }
}

/// What pings over streams consist of, and what is echoed of them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Pings {
    /// Of the next bytes of the client's stream, by its key. Both ends know how long a ping is, and the server checks it.
    #[default]
    Keyed,
    /// Of their number and a filler. The client alone knows how long one is: the server echoes what comes, as it comes.
    Numbered(NumberedPings),
}

impl Pings {
    /// How long a ping is unless both ends are told something else; none where that is the client's affair alone.
    pub const fn usual_bytes(&self) -> Option<Bytes> {
        match self {
            Self::Keyed => None,
            Self::Numbered(_) => Some(Bytes(NumberedPings::NUMBER_BYTES as u64)),
        }
    }
}

/// Pings that say their number, behind one message that is none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NumberedPings {
    /// What the first message begins with, in place of a number. It is as long as a ping and is echoed like one, and no
    /// round trip is measured before.
    pub opening: [u8; Self::NUMBER_BYTES],
    /// What follows the number, over and over, to the end of the message.
    pub filler: Block,
}

impl NumberedPings {
    /// The number at the begin of a ping: from 0, little-endian, of which these many bytes are said.
    pub const NUMBER_BYTES: usize = 4;
}

impl Framing {
    /// Whether datagrams say their places in what they are of.
    pub const fn is_numbered(self) -> bool {
        !matches!(self, Self::Frames | Self::Unnumbered)
    }
}

/// How the datagrams of a test are laid out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Framing {
    /// As pathscope does it, in each mode.
    #[default]
    Own,
    /// As `MultipathLatencyAnalyzer` does it, in a test of paths.
    Bare,
    /// As ctsTraffic does it, in a test of streams of frames: which datagram of its frame one is, nobody says.
    Frames,
    /// As iperf3 does it, in a test of datagram goodput: numbered, stamped, and of what nobody says.
    Sequenced(sequenced::Layout),
    /// As ntttcp does it, in a test of datagram goodput: of nothing but a filler, so that nobody can tell what was lost.
    Unnumbered,
}

/// By what it is known where a stream ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StreamEnd {
    /// By the plan, or by what the other end says that it has sent: not on the stream itself.
    #[default]
    Told,
    /// By the client, whose word elsewhere stops both ends: it says then what it has sent, and nobody says how much of what its server sent
    /// was on its way.
    Stopped,
    /// By its close: whoever sends closes its direction when it has sent all. Nobody says anything of it elsewhere, nor that an end
    /// is stopped: that breaks its connections.
    Closed,
    /// By the plan of either end, which must be the same: it is said nowhere, and where they differ is found out here.
    Agreed(&'static Agreed),
    /// By a word that follows the data of the client, which alone sends, and which the server answers.
    Word(&'static Parting),
}

/// How a connection ends of which both ends know before how many bytes it carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Agreed {
    /// What the server says when it has sent and received all. Then the client closes, and then the server. An end that gives up
    /// resets the connection: nothing else tells the other.
    pub done: &'static [u8; 4],
    /// The settings that both ends must share, as its users call them: named where they seem to differ.
    pub settings: &'static str,
}

/// How a connection ends of which only the client knows how many bytes it carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parting {
    /// What the client says when it has sent all.
    pub said: &'static [u8; 3],
    /// What the server says then.
    pub answer: &'static [u8; 8],
    /// Data come in messages of so many bytes: the client stops at the end of one.
    pub message_bytes: u16,
}

impl StreamEnd {
    /// Whether streams end with their close.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Closed)
    }

    /// A stream ends nowhere but behind a whole number of so many bytes.
    pub(crate) fn message_bytes(self) -> u64 {
        match self {
            Self::Word(parting) => u64::from(parting.message_bytes).max(1),
            Self::Told | Self::Stopped | Self::Closed | Self::Agreed(_) => 1,
        }
    }

    /// Whether the two directions of a connection are independent to its end.
    pub const fn has_halves(self) -> bool {
        matches!(self, Self::Told | Self::Stopped | Self::Closed)
    }
}
