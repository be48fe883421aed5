//! Who calls that is no peer of a server: told by the first bytes, so that its log says more than that they were wrong.

use std::fmt;

/// The most bytes that [`identify`] ever needs: iperf3's cookie.
pub(crate) const IDENTIFY_BYTES: usize = COOKIE_BYTES;

/// An iperf3 client begins with 36 characters and a zero byte, and waits.
const COOKIE_BYTES: usize = 37;
/// A lagscope client begins with this, a little-endian 5328.
const LAGSCOPE: [u8; 4] = [0xd0, 0x14, 0, 0];
/// A TLS client begins with a handshake record of version 3.
const TLS: [u8; 2] = [0x16, 0x03];
const HTTP: [&str; 7] = ["GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "CONNECT ", "PRI "];

/// Who calls, by the first bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Caller {
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
            Self::Iperf3 => "an iperf3 client",
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
            (&b"abcdefghijklmnopqrstuvwxyz234567abcd\0"[..], Caller::Iperf3),
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
        for first in [&b""[..], b"\xd0\x14\0", b"\x16", b"abcdefg", b"GE"] {
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
