//! A network, built in the kernel.
//!
//! A plain link is a pair of virtual Ethernet devices between two nodes. A relayed one is two pairs: one
//! end of each at a node, the other in a namespace of its own, the wires, where only the relay's packet
//! sockets listen.

use pathscope_os::namespaces::Network as Namespace;
use pathscope_os::offloads;
use pathscope_os::packets::{PacketSocket, Scope};

use super::KeeperError;
use crate::kernel::{End as CableEnd, Kernel, Route, Settings, apply};
use crate::link::{Conditions, Seed, Way};
use crate::relay::Wire;
use crate::running::Shaper;
use crate::tc;
use crate::topology::{End, Family, Interface, Kind, Link, Mac, Network, Node, Passage, Prefix};

/// What stands.
pub(super) struct Built {
    /// The nodes', in their order.
    pub namespaces: Vec<Namespace>,
    pub wires_namespace: Namespace,
    /// For the relay.
    pub wires: Vec<Wire>,
    /// Which links those are.
    pub relayed: Vec<usize>,
}

/// Bytes that may wait for the relay at each port: a second of 100 Mbit/s, and the kernel's overhead.
const PORT_BUFFER: usize = 32 << 20;

/// Bytes before a packet on Ethernet.
const HEADER_BYTES: usize = 14;

/// The table of a host's first interface; its others follow. Below it are those that the system uses.
const FIRST_TABLE: u32 = 1_001;

const BRIDGE: &str = "bridge";
pub(super) const WIRES: &str = "wires";

/// What tells the interfaces of a link's ends apart.
pub(super) const SIDES: [char; 2] = ['a', 'b'];

/// Builds a network; `mark` is attached to each loopback device. `goes_on` is asked before each node and
/// link, since a large network takes seconds, and an error of it ends the work.
pub(super) fn build(
    network: &Network,
    mark: &str,
    seed: u64,
    shaper: Shaper,
    goes_on: &dyn Fn() -> Result<(), KeeperError>,
) -> Result<Built, KeeperError> {
    let mut site = Site::new(network, mark, goes_on)?;
    let mut wires = Vec::new();
    let mut relayed = Vec::new();
    for (index, link) in network.links().iter().enumerate() {
        goes_on()?;
        match link.passage {
            Passage::Plain => site.lay_plain(link)?,
            Passage::Relayed { forward, backward } if shaper == Shaper::Tc => {
                site.lay_plain(link)?;
                site.shape(link, [forward, backward])?;
            }
            Passage::Relayed { forward, backward } => {
                wires.push(site.lay_relayed(index, link, [forward, backward], seed)?);
                relayed.push(index);
            }
        }
    }
    for index in 0..network.nodes().len() {
        goes_on()?;
        site.furnish(index)?;
    }
    // Routes need the neighbours' links up, at both ends.
    for index in 0..network.nodes().len() {
        goes_on()?;
        site.route(index)?;
    }
    let Site { namespaces, wires: (wires_namespace, _), .. } = site;
    Ok(Built { namespaces, wires_namespace, wires, relayed })
}

/// A network under construction.
struct Site<'network> {
    network: &'network Network,
    namespaces: Vec<Namespace>,
    kernels: Vec<Kernel>,
    wires: (Namespace, Kernel),
}

impl<'network> Site<'network> {
    fn new(
        network: &'network Network,
        mark: &str,
        goes_on: &dyn Fn() -> Result<(), KeeperError>,
    ) -> Result<Self, KeeperError> {
        let mut namespaces = Vec::new();
        let mut kernels = Vec::new();
        for node in network.nodes() {
            goes_on()?;
            let settings = Settings { forwards: node.kind == Kind::Router, ipv6: has_ipv6(node) };
            let (namespace, mut kernel) = open(&node.name, settings, mark)?;
            if node.kind == Kind::Switch {
                kernel.create_bridge(BRIDGE)?;
                kernel.set_up(BRIDGE, true)?;
            }
            namespaces.push(namespace);
            kernels.push(kernel);
        }
        let wires = open(WIRES, Settings::default(), mark)?;
        Ok(Self { network, namespaces, kernels, wires })
    }

    fn lay_plain(&mut self, link: &Link) -> Result<(), KeeperError> {
        let [one, other] = link.ends;
        let (here, there) = (cable_end(self.interface(one)), cable_end(self.interface(other)));
        self.kernels[one.node].create_veth(here, there, &self.namespaces[other.node])?;
        Ok(())
    }

    /// Has the kernel apply the conditions of both directions, each where it begins.
    fn shape(&self, link: &Link, conditions: [Conditions; 2]) -> Result<(), KeeperError> {
        for (end, conditions) in link.ends.into_iter().zip(conditions) {
            let interface = self.interface(end);
            let words = tc::words(&link.name, &conditions, interface.mtu + HEADER_BYTES as u32)?;
            let node = &self.network.nodes()[end.node].name;
            tc::apply(&self.namespaces[end.node], node, &interface.name, &words)?;
        }
        Ok(())
    }

    fn lay_relayed(
        &mut self,
        index: usize,
        link: &Link,
        conditions: [Conditions; 2],
        seed: u64,
    ) -> Result<Wire, KeeperError> {
        let [one, other] = link.ends;
        let [first, second] = SIDES;
        let ports = [
            self.lay_cable(one, &port_name(index, first))?,
            self.lay_cable(other, &port_name(index, second))?,
        ];
        let mtu = link.ends.map(|end| self.interface(end).mtu).into_iter().fold(0, u32::max);
        let number = index as u32;
        Ok(Wire {
            name: link.name.clone(),
            nodes: link.ends.map(|end| self.network.nodes()[end.node].name.clone()),
            ports,
            conditions,
            seeds: [Way::Forth, Way::Back].map(|way| Seed { lab: seed, link: number, way }),
            frame_bytes: mtu as usize + HEADER_BYTES,
        })
    }

    /// Lays a cable from a node to the wires, where its end has this name.
    fn lay_cable(&mut self, end: End, name: &str) -> Result<PacketSocket, KeeperError> {
        let interface = self.interface(end);
        let Mac(mac) = interface.mac;
        // Nobody sends to the far side of a cable; it only must not be the near one's.
        let far = Mac([mac[0] | 0x40, mac[1], mac[2], mac[3], mac[4], mac[5]]);
        let there = CableEnd { name, mac: far, mtu: interface.mtu };
        self.kernels[end.node].create_veth(cable_end(interface), there, &self.wires.0)?;
        self.wires.1.set_up(name, true)?;
        quiet(&self.wires.0, WIRES, name)?;
        let number = self.wires.1.link(name)?.index;
        Ok(self.wires.0.run(|| PacketSocket::open(number, Scope::Incoming, PORT_BUFFER))??)
    }

    /// Gives a node's interfaces addresses and neighbours, and sets them up.
    fn furnish(&mut self, index: usize) -> Result<(), KeeperError> {
        let node = &self.network.nodes()[index];
        let kernel = &mut self.kernels[index];
        for interface in &node.interfaces {
            quiet(&self.namespaces[index], &node.name, &interface.name)?;
            if node.kind == Kind::Switch {
                kernel.add_port(BRIDGE, &interface.name)?;
            }
            for address in &interface.addresses {
                kernel.add_address(&interface.name, address.address, address.length)?;
            }
            kernel.set_up(&interface.name, true)?;
            for neighbour in &interface.neighbours {
                kernel.add_neighbour(&interface.name, neighbour.address, neighbour.mac)?;
            }
        }
        Ok(())
    }

    /// Gives a node its routes; and a host with several interfaces, for packets that leave with the
    /// address of one of them, a table with the ways by that interface alone.
    fn route(&mut self, index: usize) -> Result<(), KeeperError> {
        let node = &self.network.nodes()[index];
        for route in &node.routes {
            self.kernels[index].add_route(Route {
                destination: route.destination.first(),
                prefix: route.destination.length(),
                via: Some(route.gateway),
                interface: &node.interfaces[route.interface].name,
                metric: Some(route.metric),
                table: None,
            })?;
        }
        if node.kind != Kind::Host || node.interfaces.len() < 2 {
            return Ok(());
        }
        for (number, interface) in node.interfaces.iter().enumerate() {
            let table = FIRST_TABLE + number as u32;
            let routes = node.routes.iter().filter(|route| route.interface == number);
            self.route_by_source(index, interface, routes, table)?;
        }
        Ok(())
    }

    fn route_by_source<'a>(
        &mut self,
        node: usize,
        interface: &Interface,
        routes: impl Iterator<Item = &'a crate::topology::Route>,
        table: u32,
    ) -> Result<(), KeeperError> {
        let kernel = &mut self.kernels[node];
        let entry = |destination: Prefix, via| Route {
            destination: destination.first(),
            prefix: destination.length(),
            via,
            interface: &interface.name,
            metric: None,
            table: Some(table),
        };
        for address in &interface.addresses {
            kernel.add_route(entry(address.subnet(), None))?;
            kernel.add_source_rule(address.address, table)?;
        }
        for route in routes {
            kernel.add_route(entry(route.destination, Some(route.gateway)))?;
        }
        Ok(())
    }

    fn interface(&self, end: End) -> &'network Interface {
        &self.network.nodes()[end.node].interfaces[end.interface]
    }
}

/// What the interface in front of one end of a link is called among the wires.
pub(super) fn port_name(link: usize, side: char) -> String {
    format!("link{link}{side}")
}

/// A namespace that bears the lab's mark.
fn open(name: &str, settings: Settings, mark: &str) -> Result<(Namespace, Kernel), KeeperError> {
    let namespace = Namespace::create()?;
    apply(&namespace, name, settings)?;
    let mut kernel = Kernel::of(&namespace, name)?;
    kernel.set_alias("lo", mark)?;
    kernel.set_up("lo", true)?;
    Ok((namespace, kernel))
}

/// Has an interface send what its node sends, packet by packet, with real checksums.
fn quiet(namespace: &Namespace, node: &str, interface: &str) -> Result<(), KeeperError> {
    let left = namespace.run(|| offloads::switch_off(interface))??;
    if left.is_empty() {
        return Ok(());
    }
    Err(KeeperError::Offloads {
        node: node.to_owned(),
        interface: interface.to_owned(),
        offloads: left.iter().map(|offload| offload.name()).collect::<Vec<_>>().join(", "),
    })
}

fn cable_end(interface: &Interface) -> CableEnd<'_> {
    CableEnd { name: &interface.name, mac: interface.mac, mtu: interface.mtu }
}

fn has_ipv6(node: &Node) -> bool {
    node.interfaces.iter().any(|interface| interface.address(Family::V6).is_some())
}
