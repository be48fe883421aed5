//! Linux: netlink, one request at a time.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{NLM_F_DUMP, NetlinkBuffer, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use pathscope_core::network::Network;

use super::{Asked, Disturbed, Interface, Route};
use crate::OsError;
use crate::netlink::{self, ANSWER_BYTES};

/// What is asked about links, addresses and routes.
type Kernel = netlink::Kernel<RouteNetlinkMessage>;

/// Links, addresses, routes and the rules that choose among those, of both families: `RTNLGRP_LINK` and so on, of
/// `linux/rtnetlink.h`.
const GROUPS: [u32; 7] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_RULE,
];

pub fn interfaces() -> Result<Vec<Interface>, OsError> {
    let failed = OsError::call("list the interfaces");
    interfaces_of(&mut Kernel::open(NETLINK_ROUTE).map_err(OsError::call("open a netlink socket"))?)
        .map_err(failed)
}

fn interfaces_of(kernel: &mut Kernel) -> io::Result<Vec<Interface>> {
    let mut found = BTreeMap::new();
    for answer in kernel.ask(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP)? {
        let RouteNetlinkMessage::NewLink(link) = answer else { continue };
        let name = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::IfName(name) => Some(name.clone()),
            _ => None,
        });
        let flags = link.header.flags;
        let interface = Interface {
            index: link.header.index,
            name: name.unwrap_or_default(),
            is_up: flags.contains(LinkFlags::Up),
            has_link: flags.contains(LinkFlags::Running),
            is_loopback: flags.contains(LinkFlags::Loopback),
            addresses: Vec::new(),
            networks: Vec::new(),
        };
        found.insert(interface.index, interface);
    }
    let all = RouteNetlinkMessage::GetAddress(AddressMessage::default());
    for answer in kernel.ask(all, NLM_F_DUMP)? {
        let RouteNetlinkMessage::NewAddress(address) = answer else { continue };
        let Some(interface) = found.get_mut(&address.header.index) else { continue };
        interface.networks.extend(network_of(&address));
        interface.addresses.extend(address_of(&address));
    }
    Ok(found.into_values().collect())
}

/// The address that a message is about. On a link between two, the one of this end is the local one.
fn address_of(message: &AddressMessage) -> Option<IpAddr> {
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(local) => Some(*local),
        _ => None,
    });
    let any = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(address) => Some(*address),
        _ => None,
    });
    local.or(any)
}

/// The network of the address that a message is about. On a link between two, it is that of the other end.
fn network_of(message: &AddressMessage) -> Option<Network> {
    let address = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(address) => Some(*address),
        _ => None,
    });
    Some(Network::of(address?, message.header.prefix_len))
}

pub fn route(destination: IpAddr, asked: Asked) -> Result<Option<Route>, OsError> {
    let mut kernel = Kernel::open(NETLINK_ROUTE).map_err(OsError::call("open a netlink socket"))?;
    match route_of(&mut kernel, destination, asked) {
        Ok(route) => Ok(route),
        Err(error) if is_no_way(&error) => Ok(None),
        Err(error) => Err(OsError::call("ask for the way to an address")(error)),
    }
}

fn route_of(kernel: &mut Kernel, destination: IpAddr, asked: Asked) -> io::Result<Option<Route>> {
    let mut message = RouteMessage::default();
    let (family, bits) = match destination {
        IpAddr::V4(_) => (AddressFamily::Inet, 32),
        IpAddr::V6(_) => (AddressFamily::Inet6, 128),
    };
    message.header.address_family = family;
    message.header.destination_prefix_length = bits;
    message.attributes.push(RouteAttribute::Destination(destination.into()));
    if let Some(source) = asked.source {
        message.header.source_prefix_length = bits;
        message.attributes.push(RouteAttribute::Source(source.into()));
    }
    if let Some(interface) = asked.interface {
        message.attributes.push(RouteAttribute::Oif(interface));
        // The route itself, and not what the kernel makes up where there is none.
        message.header.flags |= RouteFlags::FibMatch;
    }
    let answers = kernel.ask(RouteNetlinkMessage::GetRoute(message), 0)?;
    let way = answers.into_iter().find_map(|answer| match answer {
        RouteNetlinkMessage::NewRoute(route) => Some(route),
        _ => None,
    });
    let Some(way) = way else { return Ok(None) };
    let leads = matches!(way.header.kind, RouteType::Unicast | RouteType::Local);
    let (mut interface, mut gateway, mut source) = (asked.interface, None, None);
    for attribute in way.attributes {
        match attribute {
            RouteAttribute::Oif(index) => interface = Some(index),
            RouteAttribute::Gateway(address) => gateway = ip(&address),
            RouteAttribute::PrefSource(address) => source = ip(&address),
            _ => {}
        }
    }
    Ok(interface.filter(|_| leads).map(|interface| Route { interface, gateway, source }))
}

/// What the kernel answers where no route leads there, or the interface is not there, or down.
fn is_no_way(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENETUNREACH
                | libc::EHOSTUNREACH
                | libc::ENETDOWN
                | libc::ENODEV
                | libc::EINVAL
                | libc::EACCES
                | libc::ENOENT
        )
    )
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

#[derive(Debug)]
pub struct Monitor(Socket);

impl Monitor {
    pub fn open() -> Result<Self, OsError> {
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            GROUPS.into_iter().try_for_each(|group| socket.add_membership(group))?;
            socket.set_non_blocking(true)?;
            Ok(socket)
        };
        open().map(Self).map_err(OsError::call("listen to changes of interfaces and routes"))
    }

    pub fn drain(&mut self) -> Disturbed {
        let mut disturbed = Disturbed::default();
        let mut packet = Vec::with_capacity(ANSWER_BYTES);
        loop {
            packet.clear();
            match self.0.recv(&mut packet, 0) {
                Ok(len) => note(packet.get(..len).unwrap_or_default(), &mut disturbed),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Some were too many to be kept: what is there now is found by looking.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                Err(_) => return disturbed,
            }
        }
    }
}

/// Notes which interfaces lost something by what the kernel tells.
fn note(mut rest: &[u8], disturbed: &mut Disturbed) {
    while !rest.is_empty() {
        let Ok(header) = NetlinkBuffer::new_checked(rest) else { return };
        let len = (header.length() as usize).next_multiple_of(4).max(4);
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest);
        rest = rest.get(len..).unwrap_or_default();
        // One that this library does not know says nothing of what is looked at here.
        let Ok(message) = message else { continue };
        let NetlinkPayload::InnerMessage(message) = message.payload else { continue };
        let lost = match message {
            RouteNetlinkMessage::DelAddress(address) => {
                let index = address.header.index;
                let gone = address_of(&address).map(|address| (index, address));
                disturbed.addresses.extend(gone);
                None
            }
            RouteNetlinkMessage::DelLink(link) => Some(link.header.index),
            RouteNetlinkMessage::NewLink(link) => {
                let flags = link.header.flags;
                let is_there = flags.contains(LinkFlags::Up) && flags.contains(LinkFlags::Running);
                (!is_there).then_some(link.header.index)
            }
            _ => None,
        };
        disturbed.interfaces.extend(lost);
    }
}

impl AsFd for Monitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
