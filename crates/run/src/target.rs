//! Where a server is: `HOST`, `HOST:PORT`, `[IPV6]:PORT` or a bare IPv6 address, and its addresses.

use std::net::{Ipv6Addr, SocketAddr};

use pathscope_os::address;

use crate::error::RunError;

/// Every address of a server, best first.
pub(crate) fn resolve(target: &str, port: u16) -> Result<Vec<SocketAddr>, RunError> {
    let (host, port) = parse(target, port)?;
    Ok(address::resolve(host, port)?)
}

/// Host and port of what was typed.
fn parse(target: &str, default_port: u16) -> Result<(&str, u16), RunError> {
    let bad = |why: &str| RunError::BadTarget { target: target.to_owned(), why: why.to_owned() };
    let port_of = |port: &str| match port.parse() {
        Ok(port @ 1..) => Ok(port),
        _ => Err(bad("the port is a number from 1 to 65535")),
    };
    let (host, port) = if let Some(rest) = target.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(|| bad("the ']' is missing"))?;
        match rest.strip_prefix(':') {
            Some(port) => (host, port_of(port)?),
            None if rest.is_empty() => (host, default_port),
            None => return Err(bad("after the ']' comes ':PORT' or nothing")),
        }
    } else if target.parse::<Ipv6Addr>().is_ok() {
        (target, default_port)
    } else {
        match target.split_once(':') {
            Some((host, port)) => (host, port_of(port)?),
            None => (target, default_port),
        }
    };
    if host.is_empty() { Err(bad("the host is missing")) } else { Ok((host, port)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_a_server() {
        for (typed, host, port) in [
            ("b", "b", 5210),
            ("b:7", "b", 7),
            ("10.0.0.2:70", "10.0.0.2", 70),
            ("::1", "::1", 5210),
            ("[::1]", "::1", 5210),
            ("[fe80::1%eth0]:9", "fe80::1%eth0", 9),
        ] {
            assert_eq!(parse(typed, 5210).expect(typed), (host, port));
        }
    }

    #[test]
    fn what_names_no_server_is_explained() {
        for (typed, words) in [
            ("", "host is missing"),
            (":7", "host is missing"),
            ("b:", "1 to 65535"),
            ("b:0", "1 to 65535"),
            ("b:99999", "1 to 65535"),
            ("[::1", "']' is missing"),
            ("[::1]7", "':PORT'"),
        ] {
            let error = parse(typed, 5210).expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
