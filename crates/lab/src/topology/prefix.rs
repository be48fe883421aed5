//! An address range as people write it, `10.0.1.0/24`, and the arithmetic that a lab needs of it.
//!
//! The address after the slash's left side is always the range's first: `10.0.1.7/24` is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The two versions of the internet protocol, each with its own addresses and routes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Family {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

impl Family {
    /// Both, the older first.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Bits of an address.
    pub const fn bits(self) -> u8 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// A range of addresses that share their leading bits. Ordered by family, first address and length.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    family: Family,
    /// The first address, at the low end; bits beyond the family's are zero.
    first: u128,
    length: u8,
}

impl Prefix {
    /// Every address of a family: the destination of a default route.
    pub const fn everything(family: Family) -> Self {
        Self { family, first: 0, length: 0 }
    }

    /// The range of `length` leading bits that `address` lies in. A length beyond the family's bits is
    /// taken as all of them.
    pub fn around(address: IpAddr, length: u8) -> Self {
        let family = Family::of(address);
        let length = length.min(family.bits());
        let whole = Self { family, first: number(address), length };
        Self { first: whole.first & !whole.rest(), ..whole }
    }

    /// The family of its addresses.
    pub const fn family(self) -> Family {
        self.family
    }

    /// The number of leading bits that its addresses share.
    pub const fn length(self) -> u8 {
        self.length
    }

    /// Its first address.
    pub fn first(self) -> IpAddr {
        address(self.family, self.first)
    }

    /// Whether this is the destination of a default route.
    pub const fn is_everything(self) -> bool {
        self.length == 0
    }

    /// Whether `address` lies in it.
    pub fn contains(self, address: IpAddr) -> bool {
        Family::of(address) == self.family && number(address) & !self.rest() == self.first
    }

    /// Whether any address lies in both.
    pub fn overlaps(self, other: Self) -> bool {
        self.family == other.family
            && (self.contains(other.first()) || other.contains(self.first()))
    }

    /// Whether an interface may have `address`: it lies inside, and is neither the network's own nor
    /// the broadcast address, where the range is large enough to have them (RFC 3021 for IPv4 ranges
    /// of two; RFC 4291, section 2.6.1, for the first address of IPv6).
    pub fn has_host(self, address: IpAddr) -> bool {
        let (lowest, highest) = self.hosts();
        self.contains(address) && (lowest..=highest).contains(&number(address))
    }

    /// The `index`-th address an interface may have, counted from 0.
    pub fn host(self, index: u128) -> Option<IpAddr> {
        let (lowest, highest) = self.hosts();
        let host = lowest.checked_add(index).filter(|host| *host <= highest)?;
        Some(address(self.family, host))
    }

    fn hosts(self) -> (u128, u128) {
        let last = self.first | self.rest();
        match (self.family, self.family.bits() - self.length) {
            (_, 0 | 1) => (self.first, last),
            (Family::V4, _) => (self.first + 1, last - 1),
            (Family::V6, _) => (self.first + 1, last),
        }
    }

    /// The bits that differ between its addresses, set.
    fn rest(self) -> u128 {
        match self.family.bits() - self.length {
            128 => u128::MAX,
            bits => (1 << bits) - 1,
        }
    }
}

/// A lower-case fragment: what is wrong and what would be right.
impl FromStr for Prefix {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        const EXAMPLE: &str = "write for example 10.0.1.0/24 or fd00:1::/64";
        let (left, right) = typed.split_once('/').ok_or(format!("has no length; {EXAMPLE}"))?;
        let address: IpAddr =
            left.parse().map_err(|_| format!("does not start with an address; {EXAMPLE}"))?;
        let bits = Family::of(address).bits();
        let length = right.parse().ok().filter(|length| *length <= bits);
        let length = length
            .ok_or(format!("has a length that is no whole number from 0 to {bits}; {EXAMPLE}"))?;
        let prefix = Self::around(address, length);
        if prefix.first() == address {
            Ok(prefix)
        } else {
            Err(format!("is an address inside a subnet; the subnet is {prefix}"))
        }
    }
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        written.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.to_string()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}/{}", self.first(), self.length))
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn address(family: Family, number: u128) -> IpAddr {
    match family {
        // An IPv4 range never has a bit beyond its 32.
        Family::V4 => Ipv4Addr::from_bits(number as u32).into(),
        Family::V6 => Ipv6Addr::from_bits(number).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(typed: &str) -> Prefix {
        typed.parse().expect(typed)
    }

    #[test]
    fn a_prefix_is_read_and_shown() {
        for typed in ["10.0.1.0/24", "0.0.0.0/0", "10.0.0.2/31", "fd00:1::/64", "::/0", "::1/128"] {
            assert_eq!(prefix(typed).to_string(), typed);
        }
    }

    #[test]
    fn what_is_no_prefix_is_explained() {
        for (typed, words) in [
            ("10.0.1.0", "has no length; write for example 10.0.1.0/24 or fd00:1::/64"),
            ("ten/24", "does not start with an address"),
            ("10.0.1.0/33", "no whole number from 0 to 32"),
            ("fd00::/-1", "no whole number from 0 to 128"),
            ("10.0.1.7/24", "is an address inside a subnet; the subnet is 10.0.1.0/24"),
        ] {
            let error = typed.parse::<Prefix>().expect_err(typed);
            assert!(error.contains(words), "{typed}: {error}");
        }
    }

    #[test]
    fn hosts_leave_out_network_and_broadcast() {
        let host = |typed, index| prefix(typed).host(index).map(|host| host.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(host("10.0.1.0/24", 0), some("10.0.1.1"));
        assert_eq!(host("10.0.1.0/24", 253), some("10.0.1.254"));
        assert_eq!(host("10.0.1.0/24", 254), None);
        assert_eq!(host("10.0.1.0/31", 0), some("10.0.1.0"));
        assert_eq!(host("10.0.1.0/31", 1), some("10.0.1.1"));
        assert_eq!(host("10.0.1.5/32", 1), None);
        assert_eq!(host("fd00:1::/64", 0), some("fd00:1::1"));
        assert_eq!(host("::/0", u128::MAX), None);
        assert!(!prefix("10.0.1.0/24").has_host([10, 0, 1, 255].into()));
        assert!(!prefix("10.0.1.0/24").has_host([10, 0, 2, 1].into()));
        assert!(prefix("10.0.1.0/24").has_host([10, 0, 1, 254].into()));
    }

    #[test]
    fn ranges_overlap_where_one_holds_the_other() {
        assert!(prefix("10.0.0.0/8").overlaps(prefix("10.0.1.0/24")));
        assert!(prefix("10.0.1.0/24").overlaps(prefix("10.0.0.0/8")));
        assert!(!prefix("10.0.1.0/24").overlaps(prefix("10.0.2.0/24")));
        assert!(!prefix("0.0.0.0/0").overlaps(prefix("::/0")));
    }
}
