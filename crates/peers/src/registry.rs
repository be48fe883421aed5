//! The kinds of peers, listed once, and what stands for one of whichever kind; how one listener tells who is calling.
//!
//! Clients that wait for the server's first word (ctsTraffic's) cannot be told here and have a listener of their own.

mod claims;
mod first;
mod names;
mod reception;
#[cfg(test)]
mod tests;
mod visitors;

use std::net::SocketAddr;

use clap::Args;
use pathscope_core::Tick;
use pathscope_core::finding::FindingDefinition;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use self::claims::claims;
use self::first::most;
pub use self::reception::Reception;
pub use self::visitors::{GreetingVisitor, PeerVisitor};
use crate::Refusal;
use crate::attach::{
    AttachDatagrams, AttachError, AttachStream, ClaimSeat, DatagramHeard, HearDatagrams, Seat,
    SeatRefusal, StreamProgress,
};
use crate::callers::{IDENTIFY_BYTES, identify};
use crate::joining::{Calling, Cookie, Joining};
use crate::native::Native;
use crate::operator::{OperatorWords as _, Said};
use crate::peer::{self, Control, KnownBy, Listener, Peer, Sight};

/// What a connection to a server is for.
pub type Purpose = peer::Purpose<Greeting, StreamClaim>;

macro_rules! peers {
    ($($(#[doc = $meaning:literal])* $kind:ident($peer:ty) as $field:ident;)*) => {
        /// Who is at the other end, a variant for each kind.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum PeerKind {
            $($(#[doc = $meaning])* $kind,)*
        }

        impl PeerKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => <$peer as Peer>::NAME,)*
                }
            }

            /// The port that it has on both transports, unless another is chosen.
            pub const fn port(self) -> u16 {
                match self {
                    $(Self::$kind => <$peer as Peer>::PORT,)*
                }
            }

            /// Where its dialogue is held.
            pub const fn control(self) -> Control {
                match self {
                    $(Self::$kind => <$peer as Peer>::CONTROL,)*
                }
            }

            /// By what a server of this kind knows which flow a TCP connection is.
            pub const fn known_by(self) -> KnownBy {
                match self {
                    $(Self::$kind => <$peer as Peer>::KNOWN_BY,)*
                }
            }

            /// What a client of this kind is told of what its server counts.
            pub const fn tells(self) -> Tells {
                match self {
                    $(Self::$kind => <$peer as Peer>::TELLS,)*
                }
            }

            /// Where clients of this kind come.
            pub const fn listener(self) -> Listener {
                match self {
                    $(Self::$kind => <$peer as Peer>::LISTENER,)*
                }
            }

            /// A connection has come from there to the port before those that this kind has for itself.
            pub fn accepted_for_words(self, from: SocketAddr) -> Option<Joining<Greeting>> {
                match self {
                    $(Self::$kind => <$peer as Peer>::accepted_for_words(from).map(|own| own.map(Greeting::$kind)),)*
                }
            }

            /// A connection has come from there to the listener that this kind has for itself; `entropy` is another for each.
            /// None where it has none.
            pub fn accepted(self, from: SocketAddr, entropy: [u8; 16]) -> Option<Joining<Greeting>> {
                match self {
                    $(Self::$kind => {
                        let joining = <$peer as Peer>::accepted_as(from, entropy);
                        joining.map(|own| own.map(Greeting::$kind))
                    })*
                }
            }

            /// What a datagram asks for that has come there.
            pub fn called(self, said: &[u8], entropy: [u8; 16]) -> Option<Calling<Greeting>> {
                match self {
                    $(Self::$kind => <$peer as Peer>::called(said, entropy).map(
                        |Calling { greeting, answer }| Calling { greeting: Greeting::$kind(greeting), answer }
                    ),)*
                }
            }

            /// Does something with a peer of this kind.
            pub fn visit<V: PeerVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$kind => visitor.visit::<$peer>(),)*
                }
            }

            /// Whether one can be asked for this test; if not, why, as a fragment of a sentence.
            pub fn carries(self, test: &Test) -> Result<(), Refusal> {
                match self {
                    $(Self::$kind => <$peer as Peer>::takes(test),)*
                }
            }

            /// A TCP connection for this seat is about to be made; `session` is what the session is called, if it has a name, and
            /// `cookie` what all of its connections say, if they do.
            pub fn attach_stream(
                self,
                seat: Seat,
                session: Option<Token>,
                cookie: Option<Cookie>,
            ) -> StreamAttaching {
                match self {
                    $(Self::$kind => StreamAttaching::$kind(
                        <$peer as Peer>::attach_stream(seat, session, cookie)
                    ),)*
                }
            }

            /// A datagram socket for this seat asks from now on; `nonce` is unpredictable and another one for each. None of a kind
            /// that knows no datagrams.
            pub fn attach_datagrams(
                self,
                seat: Seat,
                session: Option<Token>,
                nonce: u64,
                now: Tick,
            ) -> Option<DatagramAttaching> {
                match self {
                    $(Self::$kind => <$peer as Peer>::attach_datagrams(seat, session, nonce, now)
                        .map(DatagramAttaching::$kind),)*
                }
            }
        }

        /// What a server's operator says of clients of each kind.
        #[derive(Args, Clone, Debug, Default)]
        pub struct Words {
            $(#[doc = "see its kind"] #[command(flatten)] $field: <$peer as Peer>::Words,)*
        }

        impl Words {
            /// Whether anything was said of clients of this kind.
            pub fn is_said_of(&self, kind: PeerKind) -> bool {
                match kind {
                    $(PeerKind::$kind => self.$field.is_said(),)*
                }
            }

            /// What was said of clients of this kind.
            pub fn of(&self, kind: PeerKind) -> Result<Said, PlanError> {
                match kind {
                    $(PeerKind::$kind => self.$field.said(),)*
                }
            }
        }

        /// A TCP connection that asks a server of whichever kind for its seat.
        #[derive(Debug)]
        pub enum StreamAttaching {
            $($(#[doc = $meaning])* $kind(<$peer as Peer>::StreamAttaching),)*
        }

        impl AttachStream for StreamAttaching {
            fn opening(&self) -> Vec<u8> {
                match self {
                    $(Self::$kind(own) => own.opening(),)*
                }
            }

            fn missing_bytes(&self) -> usize {
                match self {
                    $(Self::$kind(own) => own.missing_bytes(),)*
                }
            }

            fn received(&mut self, bytes: &[u8]) -> Result<StreamProgress, AttachError> {
                match self {
                    $(Self::$kind(own) => own.received(bytes),)*
                }
            }

            fn called(&self) -> Option<String> {
                match self {
                    $(Self::$kind(own) => own.called(),)*
                }
            }

            fn closes_when_damaged(&self) -> bool {
                match self {
                    $(Self::$kind(own) => own.closes_when_damaged(),)*
                }
            }
        }

        /// A datagram flow, or a lane of one, that asks a server of whichever kind for its seat.
        #[derive(Debug)]
        pub enum DatagramAttaching {
            $($(#[doc = $meaning])* $kind(<$peer as Peer>::DatagramAttaching),)*
        }

        impl AttachDatagrams for DatagramAttaching {
            fn datagram(&mut self, now: Tick) -> Option<Vec<u8>> {
                match self {
                    $(Self::$kind(own) => own.datagram(now),)*
                }
            }

            fn deadline(&self) -> Option<Tick> {
                match self {
                    $(Self::$kind(own) => own.deadline(),)*
                }
            }

            fn received(&mut self, datagram: &[u8], now: Tick) {
                match self {
                    $(Self::$kind(own) => own.received(datagram, now),)*
                }
            }

            fn outcome(&self) -> Option<&Result<(), AttachError>> {
                match self {
                    $(Self::$kind(own) => own.outcome(),)*
                }
            }
        }

        /// How a client of whichever kind asks for a session.
        #[derive(Clone, Copy, Debug)]
        pub enum Greeting {
            $($(#[doc = $meaning])* $kind(<$peer as Peer>::Greeting),)*
        }

        impl Greeting {
            /// Which kind of client it is.
            pub const fn kind(self) -> PeerKind {
                match self {
                    $(Self::$kind(_) => PeerKind::$kind,)*
                }
            }

            /// Has it served in the dialogue of its kind.
            pub fn visit<V: GreetingVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$kind(own) => visitor.visit::<$peer>(own),)*
                }
            }

            /// What it is told where it gets no session. All there is to say: it is to close.
            pub fn refused(self, refusal: &Refusal) -> Vec<u8> {
                match self {
                    $(Self::$kind(own) => <$peer as Peer>::refused(own, refusal),)*
                }
            }
        }

        /// A TCP connection of a client of whichever kind that says for which seat it is.
        #[derive(Debug)]
        pub enum StreamClaim {
            $($(#[doc = $meaning])* $kind(<$peer as Peer>::StreamClaim),)*
        }

        claims! { StreamClaim: $($kind)* }

        /// A datagram flow, or a lane of one, of a client of whichever kind, that asks for its seat from a proven address.
        #[derive(Debug)]
        pub enum DatagramClaim {
            $($(#[doc = $meaning])* $kind(<$peer as Peer>::DatagramClaim),)*
        }

        claims! { DatagramClaim: $($kind)* }

        /// The server's side of datagram flows that ask for their seats, of all kinds on one port.
        pub struct Challenger {
            $($field: <$peer as Peer>::Challenger,)*
        }

        impl Challenger {
            /// That of a server whose unpredictable secret this is, drawn once a process.
            pub fn new(secret: [u8; 16]) -> Self {
                Self { $($field: <$peer as Peer>::challenger(secret),)* }
            }
        }

        impl HearDatagrams for Challenger {
            type Claim = DatagramClaim;

            fn hear(&self, from: SocketAddr, datagram: &[u8], now: Tick) -> DatagramHeard<DatagramClaim> {
                $(match self.$field.hear(from, datagram, now) {
                    DatagramHeard::Nothing => {}
                    DatagramHeard::Answer(answer) => return DatagramHeard::Answer(answer),
                    DatagramHeard::Joins(answer) => return DatagramHeard::Joins(answer),
                    DatagramHeard::Claimed(own) => {
                        return DatagramHeard::Claimed(DatagramClaim::$kind(own));
                    }
                })*
                DatagramHeard::Nothing
            }
        }

        /// What can be found of what is said in sessions, of each kind.
        pub const CAVEATS: &[&[FindingDefinition]] = &[$(<$peer as Peer>::CAVEATS),*];

        /// The most bytes for which [`receive`] ever asks.
        pub const FIRST_BYTES: usize = most(&[IDENTIFY_BYTES, $(<$peer as Peer>::FIRST_BYTES),*]);

        /// What a connection to a server's port is for that began with these bytes.
        pub fn receive(said: &[u8]) -> Reception {
            // The fewest that any of them needs: what follows them may be the session's or the flow's.
            let mut needed: Option<usize> = None;
            $(match <$peer as Peer>::receive(said) {
                Sight::Other => {}
                Sight::More(bytes) => {
                    needed = Some(needed.map_or(bytes, |fewest| fewest.min(bytes)));
                }
                Sight::Known(purpose) => {
                    return Reception::Known(purpose.map(Greeting::$kind, StreamClaim::$kind));
                }
                Sight::Unreadable(who) => return Reception::Stranger(who),
            })*
            match (needed, identify(said)) {
                (Some(bytes), _) => Reception::More(bytes),
                (None, None) => Reception::More(IDENTIFY_BYTES),
                (None, Some(stranger)) => Reception::Stranger(stranger.to_string()),
            }
        }
    };
}

peers! {
    /// pathscope itself.
    Native(Native) as native;
    /// lagscope.
    Lagscope(crate::lagscope::Lagscope) as lagscope;
    /// `MultipathLatencyAnalyzer`.
    Mla(crate::mla::Mla) as mla;
    /// ctsTraffic.
    CtsTraffic(crate::ctstraffic::CtsTraffic) as ctstraffic;
    /// simpleperf.
    Simpleperf(crate::simpleperf::Simpleperf) as simpleperf;
    /// ntttcp for Linux.
    Ntttcp(crate::ntttcp::Ntttcp) as ntttcp;
    /// The same without its connection for words (`-N`).
    NtttcpNoSync(crate::ntttcp::NtttcpNoSync) as ntttcp_no_sync;
    /// The last of several of its senders in one test (`-L`).
    NtttcpLast(crate::ntttcp::NtttcpLast) as ntttcp_last;
    /// iperf3.
    Iperf3(crate::iperf3::Iperf3) as iperf3;
}

impl PeerKind {
    /// The kind that is meant unless another is named.
    pub const OWN: Self = Self::Native;
}

/// The port of both transports where neither a peer nor a port is named.
pub const DEFAULT_PORT: u16 = PeerKind::OWN.port();
