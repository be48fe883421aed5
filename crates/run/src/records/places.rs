//! Where flows that run come from and go to, kept small: the ports of each, and each host once, however many flows it has.
//! Not here: for what they are kept, and how long.

use std::collections::HashMap;
use std::net::SocketAddr;

/// The hosts of all flows that are kept.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// By their addresses without a port.
    numbers: HashMap<SocketAddr, u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

/// A host, and how many ends of flows are there.
#[derive(Debug)]
struct Slot {
    host: SocketAddr,
    ends: u32,
}

/// The two ends of a flow: the number of each one's host, and its port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    hosts: [u32; 2],
    ports: [u16; 2],
}

/// An end of which nothing is known.
const NOWHERE: u32 = u32::MAX;

impl Places {
    /// Those of a flow of which nothing is known.
    pub const UNKNOWN: Self = Self { hosts: [NOWHERE; 2], ports: [0; 2] };
}

impl Hosts {
    /// Keeps where a flow's two ends are, until [`forget`](Self::forget).
    pub fn keep(&mut self, ends: [Option<SocketAddr>; 2]) -> Places {
        let port = |end: Option<SocketAddr>| end.map_or(0, |address| address.port());
        Places {
            hosts: ends.map(|end| end.map_or(NOWHERE, |it| self.enter(it))),
            ports: ends.map(port),
        }
    }

    /// Gives back what was kept, once.
    pub fn forget(
        &mut self,
        Places { hosts: [here, there], ports }: Places,
    ) -> [Option<SocketAddr>; 2] {
        [self.leave(here, ports[0]), self.leave(there, ports[1])]
    }

    fn enter(&mut self, mut host: SocketAddr) -> u32 {
        host.set_port(0);
        let Self { numbers, slots, free } = self;
        let next = slots.len() as u32;
        let number = *numbers.entry(host).or_insert_with(|| free.pop().unwrap_or(next));
        if number == next {
            slots.push(Slot { host, ends: 0 });
        }
        let slot = &mut slots[number as usize];
        *slot = Slot { host, ends: slot.ends + 1 };
        number
    }

    fn leave(&mut self, number: u32, port: u16) -> Option<SocketAddr> {
        let slot = self.slots.get_mut(number as usize)?;
        slot.ends -= 1;
        if slot.ends == 0 {
            self.numbers.remove(&slot.host);
            self.free.push(number);
        }
        let mut address = slot.host;
        address.set_port(port);
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, SocketAddrV6};

    use super::*;

    /// Seven hosts and none; two of them differ by their link alone, which is shown, too.
    fn address(host: usize, port: usize) -> Option<SocketAddr> {
        let (number, port) = ((host % 8) as u8, port as u16);
        match number {
            0 => None,
            1 | 2 => Some(SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 0, number.into()).into()),
            _ => Some(([10, 0, 0, number], port).into()),
        }
    }

    #[test]
    fn each_flow_is_given_back_its_own_ends_and_hosts_without_flows_are_forgotten() {
        let mut hosts = Hosts::default();
        let mut kept = Vec::new();
        for number in 0..2_000 {
            let ends = [address(number, 7 * number), address(number / 8, number)];
            kept.push((ends, hosts.keep(ends)));
            // Two of three leave while others come, the last not first.
            if number % 3 > 0 {
                let (ends, places) = kept.swap_remove(number * 31 % kept.len());
                assert_eq!(hosts.forget(places), ends);
            }
            assert!(hosts.slots.len() <= 7);
        }
        assert_eq!(hosts.numbers.len(), 7);
        for (ends, places) in kept {
            assert_eq!(hosts.forget(places), ends);
        }
        assert!(hosts.numbers.is_empty());
        assert_eq!(hosts.free.len(), hosts.slots.len());
    }

    #[test]
    fn a_flow_is_kept_in_few_bytes() {
        assert_eq!(size_of::<Places>(), 12);
    }
}
