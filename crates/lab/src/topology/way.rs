//! The way that packets take through a network: which links, and in which direction.

use std::collections::VecDeque;
use std::net::IpAddr;

use super::network::{End, Kind, Link, Network, Node, Passage};
use super::prefix::Family;
use crate::link::Conditions;

/// One link that a packet crosses.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Hop {
    /// Which link, by its place among the links.
    pub link: usize,
    /// At which of its two ends the packet comes in.
    pub from: usize,
}

impl Network {
    /// The links that packets cross from one node to the first address of another, as names are resolved on nodes, in their
    /// order. None where there is no such node or no way.
    pub fn way(&self, from: &str, to: &str) -> Option<Vec<Hop>> {
        self.way_to(self.place(from)?, self.node(to)?.first_address()?)
    }

    /// The links that answers cross: from the other node to the address that packets leave the one by. A node of several
    /// interfaces may be called by another of its addresses.
    pub fn way_back(&self, from: &str, to: &str) -> Option<Vec<Hop>> {
        let (here, there) = (self.place(from)?, self.place(to)?);
        let address = self.nodes[there].first_address()?;
        if here == there {
            return Some(Vec::new());
        }
        let (interface, _) = self.nodes[here].next_hop(address)?;
        let own = self.nodes[here].interfaces[interface].address(Family::of(address))?;
        self.way_to(there, own)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    fn way_to(&self, from: usize, address: IpAddr) -> Option<Vec<Hop>> {
        let mut hops = Vec::new();
        let mut at = from;
        // Each step ends at another node; more of them than nodes is a circle.
        for _ in 0..=self.nodes.len() {
            if self.nodes[at].has(address) {
                return Some(hops);
            }
            let (interface, next) = self.nodes[at].next_hop(address)?;
            let begin = End { node: at, interface };
            let end = self.owner(begin, next)?;
            hops.extend(self.within_domain(begin, end)?);
            at = end.node;
        }
        None
    }

    /// What a link does to frames that come in at an end of it; nothing where it is a plain wire.
    pub fn conditions(&self, hop: Hop) -> Option<&Conditions> {
        match &self.links.get(hop.link)?.passage {
            Passage::Plain => None,
            Passage::Relayed { forward, backward } => {
                Some(if hop.from == 0 { forward } else { backward })
            }
        }
    }

    /// The largest packet that every link of a way takes, in bytes without the Ethernet header.
    pub fn largest_packet(&self, way: &[Hop]) -> Option<u32> {
        let ends = way.iter().filter_map(|hop| self.links.get(hop.link)).flat_map(|link| link.ends);
        ends.filter_map(|end| self.interface(end)).map(|interface| interface.mtu).min()
    }

    /// Who has an address in the domain of an interface.
    fn owner(&self, beside: End, address: IpAddr) -> Option<End> {
        let link = self.interface(beside)?.link;
        let domain = self.domains.get(self.links.get(link)?.domain)?;
        let has = |end: &&End| {
            let interface = self.interface(**end);
            interface.is_some_and(|it| it.addresses.iter().any(|its| its.address == address))
        };
        domain.members.iter().find(has).copied()
    }

    /// The links between two interfaces of one domain: one, or those from switch to switch. The fewest, as a tree of bridges
    /// has one way only.
    fn within_domain(&self, begin: End, end: End) -> Option<Vec<Hop>> {
        let mut reached: Vec<Option<(usize, Hop)>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([begin.node]);
        while let Some(node) = queue.pop_front() {
            let interfaces = self.nodes[node].interfaces.iter().enumerate();
            for (index, interface) in interfaces {
                let is_begin = node == begin.node;
                if is_begin && index != begin.interface {
                    continue;
                }
                let link = self.links.get(interface.link)?;
                let here = End { node, interface: index };
                let Some((hop, other)) = across(interface.link, link, here) else { continue };
                if other == end {
                    let mut hops = vec![hop];
                    let mut at = node;
                    while let Some((before, hop)) = reached[at] {
                        hops.push(hop);
                        at = before;
                    }
                    hops.reverse();
                    return Some(hops);
                }
                let is_switch = self.nodes[other.node].kind == Kind::Switch;
                if is_switch && reached[other.node].is_none() && other.node != begin.node {
                    reached[other.node] = Some((node, hop));
                    queue.push_back(other.node);
                }
            }
        }
        None
    }
}

/// From one end of a link to the other.
fn across(index: usize, link: &Link, here: End) -> Option<(Hop, End)> {
    let from = link.ends.iter().position(|&end| end == here)?;
    Some((Hop { link: index, from }, link.ends[1 - from]))
}

impl Node {
    /// The address by which others know it: that of its first interface that has one.
    pub fn first_address(&self) -> Option<IpAddr> {
        let mut addresses = self.interfaces.iter().flat_map(|interface| &interface.addresses);
        addresses.next().map(|address| address.address)
    }

    fn has(&self, address: IpAddr) -> bool {
        let mut own = self.interfaces.iter().flat_map(|interface| &interface.addresses);
        own.any(|own| own.address == address)
    }

    /// By which interface a packet leaves, and who takes it next: by the longest prefix, of a subnet of its own or of a route.
    fn next_hop(&self, address: IpAddr) -> Option<(usize, IpAddr)> {
        let interfaces = self.interfaces.iter().enumerate();
        let direct = interfaces.flat_map(|(index, interface)| {
            let subnets = interface.addresses.iter().map(|own| own.subnet());
            subnets
                .filter(|subnet| subnet.contains(address))
                .map(move |subnet| (subnet.length(), 0, index, address))
        });
        let routes = self.routes.iter().filter(|route| route.destination.contains(address));
        let routes = routes.map(|route| {
            (route.destination.length(), route.metric, route.interface, route.gateway)
        });
        let best =
            direct.chain(routes).min_by_key(|&(length, metric, ..)| (u8::MAX - length, metric))?;
        Some((best.2, best.3))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::Topology;

    fn names(text: &str, from: &str, to: &str) -> Vec<String> {
        let network = Topology::read("t.toml", text).network().expect("a topology");
        let way = network.way(from, to).expect("a way");
        let name = |hop: &super::Hop| {
            let link = &network.links()[hop.link];
            format!("{}{}", link.name, if hop.from == 0 { "" } else { " back" })
        };
        way.iter().map(name).collect()
    }

    const PORTFOLIO: &str = include_str!("../../../../labs/portfolio.toml");

    #[test]
    fn the_portfolio_has_the_ways_that_its_picture_shows() {
        assert_eq!(
            names(PORTFOLIO, "h1", "h4"),
            ["h1:s1", "s1:r1", "r1:r2", "r2:r3", "r3:s2", "h4:s2 back"]
        );
        assert_eq!(
            names(PORTFOLIO, "h9", "h7"),
            ["r4:h9 back", "r3:r4 back", "r2:r3 back", "r2:h7"]
        );
        assert_eq!(names(PORTFOLIO, "h1", "h2"), ["h1:s1", "h2:s1 back"]);
        assert_eq!(names(PORTFOLIO, "r3", "r4"), ["r3:r4"]);
        assert_eq!(names(PORTFOLIO, "h1", "h1"), [""; 0]);
    }

    #[test]
    fn a_way_goes_through_several_switches() {
        let text = "hosts = ['a', 'b', 'c']\nswitches = ['s', 't', 'u']\n[links]\n'a:s' = {}\n\
                    's:t' = {}\n'b:s' = {}\n't:u' = {}\n'u:c' = {}";
        assert_eq!(names(text, "a", "c"), ["a:s", "s:t", "t:u", "u:c"]);
        assert_eq!(names(text, "c", "b"), ["u:c back", "t:u back", "s:t back", "b:s back"]);
    }

    #[test]
    fn answers_come_back_by_the_interface_that_was_left_by() {
        // Its first interface is the slow one; what is nearest to the other leaves by the second.
        let text = "isolated = true\nhosts = ['a', 'b', 'c']\nrouters = ['r']\n[links]\n'a:c' = {}\n'a:r' = {}\n'r:b' = {}";
        let network = Topology::read("t.toml", text).network().expect("a topology");
        let name = |hop: &super::Hop| network.links()[hop.link].name.as_str();
        let back = network.way_back("a", "b").expect("a way");
        assert_eq!(back.iter().map(name).collect::<Vec<_>>(), ["r:b", "a:r"]);
        assert_eq!(
            network.way("a", "b").expect("a way").iter().map(name).collect::<Vec<_>>(),
            ["a:r", "r:b"]
        );
        assert_eq!(network.way_back("a", "a"), Some(Vec::new()));
    }

    #[test]
    fn there_is_no_way_to_nobody_and_none_where_none_was_made() {
        let network = Topology::read("t.toml", PORTFOLIO).network().expect("a topology");
        assert_eq!(network.way("h1", "h77"), None);
        let text = "isolated = true\nhosts = ['a', 'b', 'c', 'd']\n[links]\n'a:b' = {}\n'c:d' = {}";
        let network = Topology::read("t.toml", text).network().expect("a topology");
        assert_eq!(network.way("a", "c"), None);
    }
}
