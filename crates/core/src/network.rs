//! A network of addresses, as it is typed: `192.0.2.0/24`, `2001:db8::/32`, or an address alone. Not which networks there are.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// All addresses that begin alike.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Network {
    /// The first of them.
    first: IpAddr,
    /// In so many bits.
    bits: u8,
}

/// Why what was typed is no network.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("'{typed}' is no network: {why}, as in 192.0.2.0/24, 2001:db8::/32 or 192.0.2.7")]
pub struct NetworkError {
    typed: String,
    why: &'static str,
}

impl Network {
    /// Those that begin with the first bits of this address; of more bits than it has, it alone.
    pub fn of(address: IpAddr, bits: u8) -> Self {
        let address = address.to_canonical();
        let bits = bits.min(width(address));
        Self { first: begin(address, bits), bits }
    }

    /// Whether an address is one of them. One of IPv6 that stands for one of IPv4 is that one.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && begin(address, self.bits) == self.first
    }

    /// In how many bits they begin alike.
    pub const fn bits(&self) -> u8 {
        self.bits
    }
}

/// The bits of an address.
const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with all but its first bits zero.
fn begin(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits.into())).unwrap_or(0);
            Ipv4Addr::from_bits(four.to_bits() & mask).into()
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits.into())).unwrap_or(0);
            Ipv6Addr::from_bits(six.to_bits() & mask).into()
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(typed: &str) -> Result<Self, NetworkError> {
        let wrong = |why| NetworkError { typed: typed.to_owned(), why };
        let (address, bits) = typed.split_once('/').map_or((typed, None), |(a, b)| (a, Some(b)));
        let address: IpAddr =
            address.parse().map_err(|_| wrong("give an address, and a slash and its bits"))?;
        let most = width(address);
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|&bits| bits <= most)
                .ok_or_else(|| wrong("give as many bits as the address has at the most"))?,
        };
        if begin(address, bits) != address {
            return Err(wrong("the address has bits beyond those that stand behind the slash"));
        }
        Ok(Self { first: address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.first, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn network(typed: &str) -> Network {
        typed.parse().expect("it is one")
    }

    fn address(typed: &str) -> IpAddr {
        typed.parse().expect("it is one")
    }

    #[test]
    fn an_address_is_of_the_network_that_it_begins_like() {
        for (typed, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
            ("192.0.2.0/25", "::ffff:192.0.2.127", "::ffff:192.0.2.128"),
        ] {
            assert!(network(typed).contains(address(inside)), "{typed} {inside}");
            assert!(!network(typed).contains(address(outside)), "{typed} {outside}");
        }
        assert_eq!(network("192.0.2.7").to_string(), "192.0.2.7/32");
    }

    #[test]
    fn what_is_no_network_is_told_why() {
        for (typed, why) in [
            ("", "give an address"),
            ("net/8", "give an address"),
            ("10.0.0.0/33", "as many bits"),
            ("10.0.0.0/", "as many bits"),
            ("10.0.0.0/-1", "as many bits"),
            ("::/129", "as many bits"),
            ("10.0.0.1/8", "bits beyond"),
        ] {
            let error = typed.parse::<Network>().expect_err("it is none").to_string();
            assert!(error.contains(why) && error.contains("192.0.2.0/24"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn each_address_is_of_its_own_networks(address: u128, is_four: bool, bits in 0_u8..=128) {
            let address: IpAddr = if is_four {
                Ipv4Addr::from_bits(address as u32).into()
            } else {
                Ipv6Addr::from_bits(address).into()
            };
            let network = Network::of(address, bits);
            prop_assert!(network.contains(address));
            prop_assert_eq!(network.to_string().parse(), Ok(network));
        }

        #[test]
        fn any_text_is_judged(typed in ".{0,40}") {
            _ = typed.parse::<Network>();
        }
    }
}
