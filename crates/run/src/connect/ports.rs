//! Whether there are as many ports as connections: each has one of its own between an address of this end and one of the server's. Where
//! both are on this machine there are as many addresses as are wanted; elsewhere as many as were given.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use pathscope_core::quantity::count;
use pathscope_core::record::Substitution;
use pathscope_flow::Transport;
use pathscope_modes::sockets::SocketPlan;
use pathscope_os::limits;

use crate::error::RunError;

/// Of the ports that there are between two addresses, one in so many is found at once. The system tries half of them first, and looks through
/// very many that are taken as that half fills (measured: with 9,500 of 28,232 taken 62,000 connections a second were made, with 19,000 there
/// were 11,500, and fewer and fewer).
const FOUND_AT_ONCE: u32 = 3;

/// So many addresses of this machine there are at most, as many as may be given.
const ADDRESSES_MOST: u32 = 1_024;

/// Towards one address the system keeps what TCP Fast Open needs for some five of this machine's (`TCP_METRICS_RECLAIM_DEPTH` of Linux, in a
/// table that goes by the other address): with more in turns each would ask anew.
const COOKIES_KEPT: u32 = 4;

/// The first of those.
const FIRST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Connections that are about to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// How many there are at a time, or will have been within the minute for which a port is kept.
    pub connections: u32,
    /// Whether those are at a time.
    pub are_open: bool,
    /// What they are.
    pub transport: Transport,
    /// Where they go, in turns.
    pub servers: &'a [SocketAddr],
    /// What was asked for.
    pub sockets: &'a SocketPlan,
    /// Whether the server knows whose a connection is wherever it comes from.
    pub may_move: bool,
    /// How many there are at a time, where they are to be opened with what they say first.
    pub opened_fast: Option<u32>,
}

/// The addresses of this machine that such connections are to come from, and what is told of that; or why there cannot be as many.
pub(super) fn check(wanted: Wanted<'_>) -> Result<Option<(Vec<IpAddr>, Substitution)>, RunError> {
    let Some(range) = limits::local_ports() else { return Ok(None) };
    wanted.check(range)
}

impl Wanted<'_> {
    fn check(
        self,
        range @ (low, high): (u16, u16),
    ) -> Result<Option<(Vec<IpAddr>, Substitution)>, RunError> {
        let ports = u32::from(high - low) + 1;
        let to_each = self.connections.div_ceil(self.reused_for());
        let SocketPlan { bind, source_ports, interface, .. } = self.sockets;
        let is_home =
            |server: &SocketAddr| matches!(server.ip(), IpAddr::V4(ip) if ip.is_loopback());
        let is_left = bind.is_empty() && source_ports.is_none() && interface.is_none();
        if is_left && self.may_move && self.servers.iter().all(is_home) {
            let easy = (ports / FOUND_AT_ONCE).max(1);
            let at_once = self.opened_fast.map(|at_once| at_once.div_ceil(easy).max(COOKIES_KEPT));
            let most = at_once.unwrap_or(ADDRESSES_MOST).min(ADDRESSES_MOST);
            let addresses = to_each.div_ceil(easy).min(most);
            if addresses > 1 {
                return self
                    .checked((ports, addresses), range)
                    .map(|()| Some(home(addresses, easy)));
            }
        }
        let of_family = |server: &SocketAddr| {
            let own = bind.iter().filter(|own| own.is_ipv4() == server.is_ipv4()).count();
            u32::try_from(own).unwrap_or(u32::MAX).max(1)
        };
        let addresses = self.servers.iter().map(of_family).min().unwrap_or(1);
        if source_ports.is_none() && self.are_open {
            self.checked((ports, addresses), range)?;
        }
        Ok(None)
    }

    /// How many servers a port of one address of this end serves at a time: of TCP each of them, since a connection is known by both
    /// its ends. A port of UDP is one socket's.
    fn reused_for(&self) -> u32 {
        match self.transport {
            Transport::Stream => u32::try_from(self.servers.len()).unwrap_or(u32::MAX).max(1),
            Transport::Datagram => 1,
        }
    }

    /// Whether so many ports of so many addresses are enough.
    fn checked(
        self,
        (ports, addresses): (u32, u32),
        (low, high): (u16, u16),
    ) -> Result<(), RunError> {
        let servers = u64::from(self.reused_for());
        let all = u64::from(ports) * u64::from(addresses) * servers;
        if u64::from(self.connections) <= all || !self.are_open {
            return Ok(());
        }
        let needed = u64::from(self.connections).div_ceil(u64::from(ports) * servers);
        let (what, towards) = match self.transport {
            Transport::Stream => {
                ("connections", format!(" towards each of the server's ({})", count(servers)))
            }
            Transport::Datagram => ("flows", String::new()),
        };
        Err(RunError::Unsupported(format!(
            "{} {what} at a time need a port each, and there are {}: {} (net.ipv4.ip_local_port_range {low} {high}) of each \
             of this end's addresses ({}){towards}; give --bind {} addresses of this machine, ask for at most \
             {} {what}, or widen that range",
            count(self.connections.into()),
            count(all),
            count(ports.into()),
            count(addresses.into()),
            count(needed),
            count(all),
        )))
    }
}

/// So many addresses of this machine, and what is told of them.
fn home(addresses: u32, easy: u32) -> (Vec<IpAddr>, Substitution) {
    let of = |number: u32| Ipv4Addr::from_bits(FIRST.to_bits() + number);
    let substitution = Substitution {
        what: "bind".to_owned(),
        asked: "any".to_owned(),
        ran: format!("{FIRST} to {}", of(addresses - 1)),
        why: format!(
            "the system finds a free port at once for about {} connections of an address, a third of its ports",
            count(easy.into())
        ),
    };
    ((0..addresses).map(|number| of(number).into()).collect(), substitution)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (u16, u16) = (32_768, 60_999);

    fn servers(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    fn bound(addresses: &[&str]) -> SocketPlan {
        let bind = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        SocketPlan { bind, ..SocketPlan::default() }
    }

    fn wanted<'a>(
        connections: u32,
        servers: &'a [SocketAddr],
        sockets: &'a SocketPlan,
    ) -> Wanted<'a> {
        let transport = Transport::Stream;
        let (may_move, opened_fast) = (true, None);
        Wanted { connections, are_open: true, transport, servers, sockets, may_move, opened_fast }
    }

    #[test]
    fn on_one_machine_a_third_of_the_ports_of_each_address_is_used() {
        let (one, none) = (servers(&["127.0.0.1:5210"]), SocketPlan::default());
        let addresses = |wanted: Wanted<'_>| {
            let found = wanted.check(RANGE).expect("there are ports for them");
            found.map_or(0, |(addresses, _)| addresses.len())
        };
        // 28,232 ports: 9,410 of each.
        assert_eq!(
            [9_410, 9_411, 1_000_000].map(|it| addresses(wanted(it, &one, &none))),
            [0, 2, 107]
        );
        let two = servers(&["127.0.0.1:5210", "127.0.0.2:5210"]);
        assert_eq!(addresses(wanted(18_821, &two, &none)), 2);
        let (all, told) =
            wanted(1_000_000, &one, &none).check(RANGE).expect("enough").expect("many");
        assert_eq!(
            (all[0].to_string(), all[106].to_string()),
            ("127.0.0.1".into(), "127.0.0.107".into())
        );
        assert_eq!((&*told.what, &*told.ran), ("bind", "127.0.0.1 to 127.0.0.107"));
        // What was asked for is left as it is, and who knows connections by their addresses needs one.
        let few = Wanted { may_move: false, ..wanted(20_000, &one, &none) };
        assert_eq!(
            (addresses(few), addresses(wanted(20_000, &one, &bound(&["127.0.0.9"])))),
            (0, 0)
        );
        let replaced = Wanted { are_open: false, ..wanted(u32::MAX, &one, &none) };
        assert_eq!(addresses(replaced), 1_024);
        // As many as the system keeps cookies for, where that is enough for those at a time.
        let fast = |at_once| Wanted { opened_fast: Some(at_once), ..replaced };
        assert_eq!([64, 37_640, 50_000].map(|it| addresses(fast(it))), [4, 4, 6]);
    }

    #[test]
    fn too_few_ports_are_told_with_what_is_missing() {
        let refused = |wanted: Wanted<'_>| match wanted.check(RANGE) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        let (one, none) = (servers(&["192.0.2.1:5210"]), SocketPlan::default());
        assert_eq!(refused(wanted(28_232, &one, &none)), "");
        let said = refused(wanted(70_000, &one, &none));
        assert!(said.starts_with("70,000 connections at a time need a port each"), "{said}");
        assert!(said.contains("there are 28,232") && said.contains("--bind 3 addresses"), "{said}");
        // Of each family those that are of it, and each of them towards each server.
        let own = bound(&["192.0.2.7", "192.0.2.8", "2001:db8::7"]);
        assert_eq!(refused(wanted(56_464, &one, &own)), "");
        assert!(refused(wanted(56_465, &one, &own)).contains("there are 56,464"));
        let two = servers(&["192.0.2.1:5210", "192.0.2.2:5210"]);
        assert_eq!(refused(wanted(56_464, &two, &none)), "");
        // A port of UDP is one socket's, whomever that talks to.
        let flows = |flows| Wanted { transport: Transport::Datagram, ..wanted(flows, &two, &none) };
        assert_eq!(refused(flows(28_232)), "");
        let said = refused(flows(70_000));
        assert!(said.starts_with("70,000 flows at a time need a port each"), "{said}");
        assert!(said.contains("addresses (1); give --bind 3 addresses"), "{said}");
        // Those that follow one another fail one by one, which is what is measured.
        assert_eq!(refused(Wanted { are_open: false, ..wanted(70_000, &one, &none) }), "");
    }
}
