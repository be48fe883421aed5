//! Where the client's connections come from: its addresses in turns, by family, and its ports, each for one
//! connection at a time. Whether there are as many ports as connections is `ports`'.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use pathscope_modes::sockets::SocketPlan;

use crate::error::RunError;

/// The addresses and ports that connections take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    addresses: Vec<IpAddr>,
    /// By server: who meets whom takes turns, too.
    turns: HashMap<SocketAddr, usize>,
    /// Ports that no connection has, the longest unused first; `None`: the system chooses.
    free: Option<VecDeque<u16>>,
    taken: HashMap<u32, u16>,
    /// Whether a port that is somebody else's is given up for one that the system chooses.
    may_differ: bool,
}

impl Origins {
    /// Those of a plan.
    pub fn new(plan: &SocketPlan) -> Self {
        Self {
            addresses: plan.bind.clone(),
            turns: HashMap::new(),
            free: plan.source_ports.map(|ports| (ports.low..=ports.high).collect()),
            taken: HashMap::new(),
            may_differ: plan.source_port_fallback,
        }
    }

    /// Takes these addresses, where the system would have said.
    pub fn take_turns_among(&mut self, addresses: Vec<IpAddr>) {
        self.addresses = addresses;
    }

    /// Whether a connection whose port is somebody else's may have another.
    pub fn may_differ(&self) -> bool {
        self.may_differ
    }

    /// Where connection `number` to `server` comes from; `None`: where the system says.
    pub fn take(
        &mut self,
        number: u32,
        server: SocketAddr,
    ) -> Result<Option<SocketAddr>, RunError> {
        if self.addresses.is_empty() && self.free.is_none() {
            return Ok(None);
        }
        let address = self.next_address(server)?;
        // There are as many ports as connections at a time.
        let port = self.free.as_mut().and_then(VecDeque::pop_front);
        self.taken.extend(port.map(|port| (number, port)));
        Ok(Some(from_link_of(server, SocketAddr::new(address, port.unwrap_or(0)))))
    }

    /// Ports that nothing has taken, where all that is to take one has: for those that turn out to be somebody else's.
    pub fn into_spare(self) -> Vec<u16> {
        self.free.map(Vec::from).unwrap_or_default()
    }

    /// A connection is no more: its port is another's.
    pub fn give_back(&mut self, number: u32) {
        if let (Some(port), Some(free)) = (self.taken.remove(&number), &mut self.free) {
            free.push_back(port);
        }
    }

    fn next_address(&mut self, server: SocketAddr) -> Result<IpAddr, RunError> {
        if self.addresses.is_empty() {
            return Ok(match server {
                SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
            });
        }
        let turn = self.turns.entry(server).or_default();
        for _ in 0..self.addresses.len() {
            let address = self.addresses[*turn % self.addresses.len()];
            *turn = (*turn + 1) % self.addresses.len();
            if address.is_ipv4() == server.is_ipv4() {
                return Ok(address);
            }
        }
        Err(RunError::NoSuchFamily(server))
    }
}

/// An address of this end. A link-local one means nothing without its link, which is the one that the other end is reached by.
pub(crate) fn from_link_of(remote: SocketAddr, mut local: SocketAddr) -> SocketAddr {
    if let (SocketAddr::V6(local), SocketAddr::V6(remote)) = (&mut local, remote)
        && local.ip().is_unicast_link_local()
    {
        local.set_scope_id(remote.scope_id());
    }
    local
}

#[cfg(test)]
mod tests {
    use pathscope_modes::sockets::SourcePorts;

    use super::*;

    fn origins(bind: &[&str], ports: Option<(u16, u16)>) -> Origins {
        Origins::new(&SocketPlan {
            bind: bind.iter().map(|address| address.parse().expect("an address")).collect(),
            source_ports: ports.map(|(low, high)| SourcePorts { low, high }),
            ..SocketPlan::default()
        })
    }

    fn from(origins: &mut Origins, number: u32, server: &str) -> String {
        let taken = origins.take(number, server.parse().expect("an address"));
        taken.expect("it has the family").map_or_else(String::new, |from| from.to_string())
    }

    #[test]
    fn addresses_take_turns_within_their_family() {
        let mut origins = origins(&["10.0.0.1", "::1", "10.0.0.2"], None);
        let seen: Vec<String> =
            (0..3).map(|number| from(&mut origins, number, "10.0.0.9:1")).collect();
        assert_eq!(seen, ["10.0.0.1:0", "10.0.0.2:0", "10.0.0.1:0"]);
        assert_eq!(from(&mut origins, 3, "[::2]:1"), "[::1]:0");
        // Each meets each: the turns of another server begin anew.
        assert_eq!(from(&mut origins, 4, "10.0.0.8:1"), "10.0.0.1:0");
    }

    #[test]
    fn an_address_of_a_link_is_of_the_server_s_link() {
        let mut origins = origins(&["fe80::1", "::1"], None);
        assert_eq!(from(&mut origins, 0, "[fe80::2%7]:1"), "[fe80::1%7]:0");
        assert_eq!(from(&mut origins, 1, "[fe80::2%7]:1"), "[::1]:0");
    }

    #[test]
    fn a_port_is_one_connection_s_at_a_time() {
        let mut origins = origins(&[], Some((7, 8)));
        assert_eq!(from(&mut origins, 0, "10.0.0.9:1"), "0.0.0.0:7");
        assert_eq!(from(&mut origins, 1, "[::2]:1"), "[::]:8");
        origins.give_back(1);
        origins.give_back(0);
        assert_eq!(from(&mut origins, 2, "10.0.0.9:1"), "0.0.0.0:8");
        assert_eq!(from(&mut origins, 3, "10.0.0.9:1"), "0.0.0.0:7");
        origins.give_back(2);
        assert_eq!(origins.into_spare(), [8]);
    }

    #[test]
    fn a_family_that_is_missing_is_a_sentence_and_nothing_is_nothing() {
        let mut four = origins(&["10.0.0.1"], None);
        let error = four.take(0, "[::1]:5".parse().expect("an address")).expect_err("no IPv6");
        assert!(error.to_string().contains("--bind"), "{error}");
        assert_eq!(from(&mut origins(&[], None), 0, "10.0.0.9:1"), "");
    }
}
