//! From a host's name to its addresses. Blocks for as long as the resolver does: not for a thread
//! that has anything else to do.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};

use crate::routes::Interface;
use crate::{OsError, routes};

/// Every address of `host`, in the order of the system's resolver (RFC 6724), each once. An IPv6 address may say which
/// link it is of, by an interface's name or number, as `fe80::1%eth0`; one that stands for one of IPv4 is that one.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, OsError> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let failed = |source| OsError::Resolve { host: host.to_owned(), source };
    if let Some((address, link)) = of_link(bare) {
        let address =
            SocketAddrV6::new(address, port, 0, interface_of(link).map_err(failed)?.index);
        return Ok(vec![address.into()]);
    }
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for mut address in (bare, port).to_socket_addrs().map_err(failed)? {
        if let canonical @ IpAddr::V4(_) = address.ip().to_canonical() {
            address.set_ip(canonical);
        }
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "it has none")));
    }
    Ok(addresses)
}

/// Address and link of what is typed as `fe80::1%eth0`.
fn of_link(host: &str) -> Option<(Ipv6Addr, &str)> {
    let (address, link) = host.split_once('%')?;
    Some((address.parse().ok()?, link))
}

/// What an interface is called that was named, or numbered.
pub fn interface_name(typed: &str) -> Result<String, OsError> {
    let found = interface_of(typed);
    found
        .map(|interface| interface.name)
        .map_err(|source| OsError::Interface { name: typed.to_owned(), source })
}

/// An interface that was named, or numbered.
fn interface_of(link: &str) -> io::Result<Interface> {
    let interfaces = routes::interfaces().map_err(io::Error::other)?;
    let named = interfaces.iter().find(|interface| interface.name == link);
    let numbered = || {
        let number: u32 = link.parse().ok()?;
        interfaces.iter().find(|interface| interface.index == number)
    };
    named.or_else(numbered).cloned().ok_or_else(|| {
        let names: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
        let text = format!("this machine has no interface '{link}'; it has {}", names.join(", "));
        io::Error::new(io::ErrorKind::NotFound, text)
    })
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
    fn what_stands_for_an_address_of_ipv4_is_that_address() {
        let four: Vec<SocketAddr> = vec!["127.0.0.1:7".parse().expect("an address")];
        for typed in ["::ffff:127.0.0.1", "[::ffff:7f00:1]"] {
            assert_eq!(resolve(typed, 7).expect("a literal"), four, "{typed}");
        }
    }

    #[test]
    #[cfg_attr(pathscope_other, ignore = "not possible on this system")]
    fn a_link_has_a_name_and_a_number() {
        let interfaces = routes::interfaces().expect("there are some");
        let Some(first) = interfaces.first() else {
            println!("skipped, because this machine has no interface");
            return;
        };
        let address = "fe80::1".parse().expect("an address");
        let expected: SocketAddr = SocketAddrV6::new(address, 7, 0, first.index).into();
        for typed in [
            format!("fe80::1%{}", first.name),
            format!("[fe80::1%{}]", first.name),
            format!("fe80::1%{}", first.index),
        ] {
            assert_eq!(resolve(&typed, 7).expect("a literal"), [expected], "{typed}");
        }
        for typed in [first.name.clone(), first.index.to_string()] {
            assert_eq!(interface_name(&typed).expect("it is there"), first.name, "{typed}");
        }
        let error = resolve("fe80::1%none0", 7).expect_err("no such link").to_string();
        assert!(error.contains("no interface 'none0'") && error.contains(&first.name), "{error}");
    }

    #[test]
    fn a_name_that_cannot_be_is_a_sentence() {
        let error = resolve("no host has a name with spaces", 7).expect_err("no such name");
        assert!(error.to_string().contains("no host has a name with spaces"), "{error}");
    }
}
