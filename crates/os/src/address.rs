//! From a host's name to its addresses. Blocks for as long as the resolver does: not for a thread
//! that has anything else to do.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::OsError;

/// Every address of `host`, in the order of the system's resolver (RFC 6724), each once.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, OsError> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let failed = |source| OsError::Resolve { host: host.to_owned(), source };
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in (bare, port).to_socket_addrs().map_err(failed)? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "it has none")));
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_addresses_need_no_resolver() {
        let four = resolve("127.0.0.1", 7).expect("a literal");
        assert_eq!(four, ["127.0.0.1:7".parse().expect("an address")]);
        let six: Vec<SocketAddr> = vec!["[::1]:7".parse().expect("an address")];
        assert_eq!(resolve("::1", 7).expect("a literal"), six);
        assert_eq!(resolve("[::1]", 7).expect("a literal"), six);
    }

    #[test]
    fn a_name_that_cannot_be_is_a_sentence() {
        let error = resolve("no host has a name with spaces", 7).expect_err("no such name");
        assert!(error.to_string().contains("no host has a name with spaces"), "{error}");
    }
}
