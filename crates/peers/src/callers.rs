//! Who calls that is no peer of a server: told by the first bytes, so that its log says more than that they were wrong.

use std::fmt;

/// The most bytes that [`identify`] ever needs: the longest of its words.
pub(crate) const IDENTIFY_BYTES: usize = 8;

/// A lagscope client begins with this, a little-endian 5328.
const LAGSCOPE: [u8; 4] = [0xd0, 0x14, 0, 0];
/// A TLS client begins with a handshake record of version 3.
const TLS: [u8; 2] = [0x16, 0x03];
const HTTP: [&str; 7] = ["GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "CONNECT ", "PRI "];

/// Who calls, by the first bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Caller {
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
            Self::Lagscope => {
                "a lagscope client (--accept lagscope serves those, on a port of their own)"
            }
            Self::Http => "a web client; this port speaks no HTTP",
            Self::Tls => "a TLS client; this port speaks no TLS",
            Self::Unknown => "nobody that pathscope knows",
        })
    }
}

/// Who calls; `None` while the bytes that came so far leave it open. At [`IDENTIFY_BYTES`] it never is.
pub(crate) fn identify(first: &[u8]) -> Option<Caller> {
    match first {
        [] => None,
        [0xd0, ..] => prefix(first, &LAGSCOPE, Caller::Lagscope),
        [0x16, ..] => prefix(first, &TLS, Caller::Tls),
        _ => text(first),
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
    let may_be = HTTP.iter().any(|method| method.as_bytes().starts_with(first));
    (!may_be).then_some(Caller::Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_caller_is_told_by_its_first_bytes() {
        for (first, caller) in [
            (&b"\xd0\x14\0\0AAAA"[..], Caller::Lagscope),
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
        for first in [&b""[..], b"\xd0\x14\0", b"\x16", b"OPTIONS", b"GE"] {
            assert_eq!(identify(first), None, "{first:?}");
        }
    }

    proptest! {
        #[test]
        fn a_caller_once_told_stays_the_same(bytes in prop::collection::vec(any::<u8>(), IDENTIFY_BYTES)) {
            let all = identify(&bytes);
            prop_assert!(all.is_some());
            for seen in 0..IDENTIFY_BYTES {
                prop_assert!([None, all].contains(&identify(&bytes[..seen])));
            }
        }
    }
}
