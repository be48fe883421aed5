//! Addresses of interfaces, routes, and neighbours that need not be asked for.

use std::net::IpAddr;

use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::KernelError;
use super::netlink::{Kernel, Manner};
use crate::topology::Mac;

/// Which way packets go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Route<'name> {
    /// For destinations that begin like this one: any of its family where `prefix` is 0.
    pub destination: IpAddr,
    /// The bits that count of it.
    pub prefix: u8,
    /// The router they are handed to; none where the destination itself is on the link.
    pub via: Option<IpAddr>,
    /// The interface they leave by.
    pub interface: &'name str,
    /// Of several routes, the one with the least is taken; the kernel's own choice where there is none.
    pub metric: Option<u32>,
    /// The table it stands in: the one that everybody looks into, where there is none.
    pub table: Option<u32>,
}

impl Kernel {
    /// Gives an interface an address, ready for use at once: an IPv6 address is not first looked for on
    /// the link.
    pub fn add_address(
        &mut self,
        interface: &str,
        address: IpAddr,
        prefix: u8,
    ) -> Result<(), KernelError> {
        let mut message = AddressMessage::default();
        message.header.index = self.link(interface)?.index;
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.attributes =
            vec![AddressAttribute::Address(address), AddressAttribute::Local(address)];
        if address.is_ipv6() {
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        let what = || format!("give the interface {interface} the address {address}/{prefix}");
        self.ask(RouteNetlinkMessage::NewAddress(message), Manner::Create, what).map(drop)
    }

    /// Adds a route.
    pub fn add_route(&mut self, route: Route<'_>) -> Result<(), KernelError> {
        let Route { destination, prefix, via, interface, metric, table } = route;
        let mut message = RouteMessage::default();
        message.header.address_family = family(destination);
        message.header.destination_prefix_length = prefix;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = if via.is_some() { RouteScope::Universe } else { RouteScope::Link };
        message.header.kind = RouteType::Unicast;
        message.attributes.push(RouteAttribute::Oif(self.link(interface)?.index));
        if prefix > 0 {
            message.attributes.push(RouteAttribute::Destination(destination.into()));
        }
        message.attributes.extend(via.map(|via| RouteAttribute::Gateway(via.into())));
        message.attributes.extend(metric.map(RouteAttribute::Priority));
        message.attributes.extend(table.map(RouteAttribute::Table));
        let what = || {
            let via = via.map_or_else(String::new, |via| format!(" via {via}"));
            format!("add the route to {destination}/{prefix}{via} by the interface {interface}")
        };
        self.ask(RouteNetlinkMessage::NewRoute(message), Manner::Create, what).map(drop)
    }

    /// Has packets that leave with this source address look for their way in a table of their own first.
    pub fn add_source_rule(&mut self, source: IpAddr, table: u32) -> Result<(), KernelError> {
        let mut message = RuleMessage::default();
        message.header.family = family(source);
        message.header.src_len = if source.is_ipv4() { 32 } else { 128 };
        message.header.action = RuleAction::ToTable;
        // One for each table: the same number keeps them in the order of the interfaces.
        message.attributes = vec![
            RuleAttribute::Source(source),
            RuleAttribute::Table(table),
            RuleAttribute::Priority(table),
        ];
        let what = || format!("have packets from {source} take their way from table {table}");
        self.ask(RouteNetlinkMessage::NewRule(message), Manner::Create, what).map(drop)
    }

    /// Tells where a neighbour is, so that nobody asks for it on the link. In the place of what was
    /// known of it before.
    pub fn add_neighbour(
        &mut self,
        interface: &str,
        address: IpAddr,
        mac: Mac,
    ) -> Result<(), KernelError> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(address);
        message.header.ifindex = self.link(interface)?.index;
        message.header.state = NeighbourState::Permanent;
        let destination = match address {
            IpAddr::V4(address) => NeighbourAddress::Inet(address),
            IpAddr::V6(address) => NeighbourAddress::Inet6(address),
        };
        message.attributes = vec![
            NeighbourAttribute::Destination(destination),
            NeighbourAttribute::LinkLayerAddress(mac.0.to_vec()),
        ];
        let what = || format!("tell the interface {interface} that {address} is at {mac}");
        self.ask(RouteNetlinkMessage::NewNeighbour(message), Manner::Replace, what).map(drop)
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}
