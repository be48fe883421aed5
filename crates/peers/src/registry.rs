//! The kinds of peers, listed once, and how one listener tells who is calling.
//!
//! Clients that wait for the server's first word (ctsTraffic's) cannot be told here and get a port of
//! their own.

use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::Token;

use crate::attach::{AttachDatagrams, AttachError, AttachStream, Seat, StreamProgress};
use crate::native::{MAGIC, Native};
use crate::peer::Peer;

/// Who does something with a peer, of whichever kind: once for each.
pub trait PeerVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P: Peer>(self) -> Self::Output;
}

macro_rules! peers {
    ($($(#[doc = $meaning:literal])* $kind:ident($peer:ty);)*) => {
        /// Who is at the other end, a variant for each kind.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum PeerKind {
            $($(#[doc = $meaning])* $kind,)*
        }

        impl PeerKind {
            /// The port that it has on both transports, unless another is chosen.
            pub const fn port(self) -> u16 {
                match self {
                    $(Self::$kind => <$peer as Peer>::PORT,)*
                }
            }

            /// Does something with a peer of this kind.
            pub fn visit<V: PeerVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$kind => visitor.visit::<$peer>(),)*
                }
            }

            /// A TCP connection for this seat is about to be made; `session` is what the session is called, if it has a name.
            pub fn attach_stream(self, seat: Seat, session: Option<Token>) -> StreamAttaching {
                match self {
                    $(Self::$kind => {
                        StreamAttaching::$kind(<$peer as Peer>::attach_stream(seat, session))
                    })*
                }
            }

            /// A datagram socket for this seat asks from now on; `nonce` is unpredictable and another one for each.
            pub fn attach_datagrams(
                self,
                seat: Seat,
                session: Option<Token>,
                nonce: u64,
                now: Tick,
            ) -> DatagramAttaching {
                match self {
                    $(Self::$kind => DatagramAttaching::$kind(
                        <$peer as Peer>::attach_datagrams(seat, session, nonce, now)
                    ),)*
                }
            }
        }

        /// A TCP connection that asks a peer of whichever kind for its seat.
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

            fn closes_when_damaged(&self) -> bool {
                match self {
                    $(Self::$kind(own) => own.closes_when_damaged(),)*
                }
            }
        }

        /// A datagram flow, or a lane of one, that asks a peer of whichever kind for its seat.
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
    };
}

peers! {
    /// pathscope itself.
    Native(Native);
}

impl PeerKind {
    /// The kind that is meant unless another is named.
    pub const OWN: Self = Self::Native;
}

/// The port of both transports where neither a peer nor a port is named.
pub const DEFAULT_PORT: u16 = PeerKind::OWN.port();

/// The most bytes that [`identify`] ever needs: iperf3's cookie.
pub const IDENTIFY_BYTES: usize = COOKIE_BYTES;

/// An iperf3 client begins with 36 characters and a zero byte, and waits.
const COOKIE_BYTES: usize = 37;
/// A lagscope client begins with this, a little-endian 5328.
const LAGSCOPE: [u8; 4] = [0xd0, 0x14, 0, 0];
/// A TLS client begins with a handshake record of version 3.
const TLS: [u8; 2] = [0x16, 0x03];
const HTTP: [&str; 7] = ["GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "CONNECT ", "PRI "];

/// Who calls, by the first bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Caller {
    /// pathscope's own protocol.
    Native,
    /// pathscope, but something on the way has changed line ends or cut a control character.
    NativeMangled,
    /// iperf3.
    Iperf3,
    /// lagscope.
    Lagscope,
    /// A browser or another web client.
    Http,
    /// Anything that begins with TLS.
    Tls,
    /// Nobody we know.
    Unknown,
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Native => "a pathscope client",
            Self::NativeMangled => {
                "a pathscope client through something that rewrites line ends; it must pass bytes as \
                 they are"
            }
            Self::Iperf3 => "an iperf3 client",
            Self::Lagscope => "a lagscope client",
            Self::Http => "a web client; this port speaks no HTTP",
            Self::Tls => "a TLS client; this port speaks no TLS",
            Self::Unknown => "nobody that pathscope knows",
        })
    }
}

/// Who calls; `None` while the bytes that came so far leave it open. At [`IDENTIFY_BYTES`] it never is.
pub fn identify(first: &[u8]) -> Option<Caller> {
    match first {
        [] => None,
        [0xf5, ..] => native(first),
        [0xd0, ..] => prefix(first, &LAGSCOPE, Caller::Lagscope),
        [0x16, ..] => prefix(first, &TLS, Caller::Tls),
        _ => text(first),
    }
}

fn native(first: &[u8]) -> Option<Caller> {
    let name = &MAGIC[..4];
    match prefix(first, &MAGIC, Caller::Native) {
        Some(Caller::Unknown) if first.starts_with(name) => Some(Caller::NativeMangled),
        known => known,
    }
}

fn prefix(first: &[u8], begin: &[u8], caller: Caller) -> Option<Caller> {
    let seen = first.len().min(begin.len());
    match first[..seen] == begin[..seen] {
        true if seen == begin.len() => Some(caller),
        true => None,
        false => Some(Caller::Unknown),
    }
}

fn text(first: &[u8]) -> Option<Caller> {
    if HTTP.iter().any(|method| first.starts_with(method.as_bytes())) {
        return Some(Caller::Http);
    }
    let seen = &first[..first.len().min(COOKIE_BYTES)];
    let (letters, last) = seen.split_at(seen.len().min(COOKIE_BYTES - 1));
    match letters.iter().all(|&byte| is_cookie(byte)) {
        true if last.is_empty() => None,
        true if last == [0] => Some(Caller::Iperf3),
        _ => Some(Caller::Unknown),
    }
}

/// Up to iperf3 3.1 a cookie holds the host's name and a time, later `a-z2-7` alone.
const fn is_cookie(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_caller_is_told_by_its_first_bytes() {
        for (first, caller) in [
            (MAGIC.as_slice(), Caller::Native),
            (b"\xf5PSP\n\x1a\n\x01", Caller::NativeMangled),
            (b"abcdefghijklmnopqrstuvwxyz234567abcd\0", Caller::Iperf3),
            (b"build-7.example.1398271263.312343.67\0", Caller::Iperf3),
            (b"\xd0\x14\0\0AAAA", Caller::Lagscope),
            (b"GET / HTTP/1.1\r\n", Caller::Http),
            (b"\x16\x03\x01\x02\0", Caller::Tls),
            (b"SSH-2.0-OpenSSH_9.2\r\n", Caller::Unknown),
            (b"\xd0\x15", Caller::Unknown),
            (b"\xf5Q", Caller::Unknown),
            (b"\0", Caller::Unknown),
        ] {
            assert_eq!(identify(first), Some(caller), "{first:?}");
        }
    }

    #[test]
    fn what_is_open_stays_open() {
        for first in
            [&b""[..], b"\xf5", b"\xf5PSP\r\n\x1a", b"\xd0\x14\0", b"\x16", b"abcdefg", b"GE"]
        {
            assert_eq!(identify(first), None, "{first:?}");
        }
    }

    proptest! {
        #[test]
        fn a_caller_once_told_stays_the_same(bytes in prop::collection::vec(any::<u8>(), 37)) {
            let all = identify(&bytes);
            prop_assert!(all.is_some());
            for seen in 0..37 {
                // An HTTP method is a possible cookie until its blank.
                prop_assert!([None, all].contains(&identify(&bytes[..seen])));
            }
        }
    }
}
