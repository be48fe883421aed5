//! Who calls a server, and from where: its sessions, counted.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use pathscope_core::quantity::counted;

use super::Limits;
use crate::Refusal;

/// Where somebody calls from, as far as it counts: one site of IPv6 has as many addresses as it likes in its /64.
/// An IPv4 address counts as itself in either family, and so does one that means something on its link alone.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Origin(IpAddr);

impl Origin {
    /// Of this address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(six) if !six.is_unicast_link_local() && !six.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64))
            }
            address => address,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V6(six) if six.to_bits().trailing_zeros() >= 64 => {
                write!(formatter, "{six}/64")
            }
            address => address.fmt(formatter),
        }
    }
}

/// Who is in: the sessions of a server, counted by where they come from.
#[derive(Debug, Default)]
pub struct Census {
    by_address: HashMap<Origin, u32>,
    total: u32,
}

impl Census {
    /// Counts a session, unless a limit is reached. To be followed by [`leave`](Self::leave), once.
    pub fn enter(&mut self, address: IpAddr, limits: &Limits) -> Result<(), Refusal> {
        let address = Origin::of(address);
        let present = self.by_address.get(&address).copied().unwrap_or(0);
        if let Some(most) = limits.sessions.filter(|&most| self.total >= most) {
            let sentence =
                format!("it has reached its limit of {}", counted(most.into(), "session"));
            let hint =
                "try again when a test has ended, or start it with a higher --limit-sessions";
            return Err(Refusal::new("sessions", sentence).with_hint(hint));
        }
        if let Some(most) = limits.sessions_per_address.filter(|&most| present >= most) {
            let sentence = format!(
                "it has reached its limit of {} from {address}",
                counted(most.into(), "session")
            );
            let hint = "try again when one of them has ended, or start it with a higher \
                        --limit-sessions-per-address";
            return Err(Refusal::new("sessions_per_address", sentence).with_hint(hint));
        }
        self.by_address.insert(address, present + 1);
        self.total += 1;
        Ok(())
    }

    /// A session that was counted has ended.
    pub fn leave(&mut self, address: IpAddr) {
        let address = Origin::of(address);
        let Some(present) = self.by_address.get_mut(&address) else { return };
        *present -= 1;
        self.total -= 1;
        if *present == 0 {
            self.by_address.remove(&address);
        }
    }

    /// A session that [left](Self::leave) for a while is there again. It is counted whatever the limits say: they are for
    /// newcomers.
    pub fn come_back(&mut self, address: IpAddr) {
        *self.by_address.entry(Origin::of(address)).or_default() += 1;
        self.total += 1;
    }

    /// How many sessions there are.
    pub const fn sessions(&self) -> u32 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn sessions_are_counted_by_address_and_in_all() {
        let limits =
            Limits { sessions: Some(3), sessions_per_address: Some(2), ..Limits::default() };
        let mut census = Census::default();
        let (one, mapped, other) =
            (address("192.0.2.1"), address("::ffff:192.0.2.1"), address("::1"));
        assert_eq!(census.enter(one, &limits), Ok(()));
        assert_eq!(census.enter(mapped, &limits), Ok(()));
        let refusal = census.enter(one, &limits).expect_err("the third from one address");
        assert!(refusal.to_string().contains("--limit-sessions-per-address"), "{refusal}");
        assert_eq!(census.enter(other, &limits), Ok(()));
        let refusal = census.enter(address("192.0.2.9"), &limits).expect_err("the fourth");
        assert_eq!(refusal.code, "sessions");
        census.leave(mapped);
        census.leave(address("192.0.2.77"));
        assert_eq!((census.sessions(), census.enter(one, &limits)), (2, Ok(())));
    }

    #[test]
    fn a_site_of_ipv6_is_one_caller() {
        let of = |text| Origin::of(address(text));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:7"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_ne!(of("fe80::1"), of("fe80::2"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        let told =
            ["2001:db8::1", "::1", "fe80::1", "::ffff:192.0.2.1"].map(|it| of(it).to_string());
        assert_eq!(told, ["2001:db8::/64", "::1", "fe80::1", "192.0.2.1"]);
        let limits = Limits { sessions_per_address: Some(1), ..Limits::default() };
        let mut census = Census::default();
        assert_eq!(census.enter(address("2001:db8::1"), &limits), Ok(()));
        let refusal = census.enter(address("2001:db8::2"), &limits).expect_err("the same site");
        assert!(refusal.to_string().contains("from 2001:db8::/64"), "{refusal}");
    }
}
