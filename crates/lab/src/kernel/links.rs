//! Interfaces: pairs of virtual Ethernet devices, bridges, their state and their counts.

use std::os::fd::{AsFd as _, AsRawFd as _};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgeStpState, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo,
    LinkMessage,
};
use pathscope_os::namespaces::Network;
use serde::{Deserialize, Serialize};

use super::netlink::{Kernel, Manner};
use super::{KernelError, error};
use crate::topology::Mac;

/// How long a bridge remembers where an address is, in hundredths of a second: eleven days, longer than
/// a lab stands. A frame to an address that was forgotten would go to every port.
const AGEING: u32 = 100_000_000;

/// One end of a pair of virtual Ethernet devices that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct End<'name> {
    /// Its name in its network; at most 15 bytes.
    pub name: &'name str,
    /// Its address.
    pub mac: Mac,
    /// The longest packet it sends, in bytes without the Ethernet header.
    pub mtu: u32,
}

/// An interface as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// Its number in its network.
    pub index: u32,
    /// Its name there.
    pub name: String,
    /// Its address, if it has one of six bytes.
    pub mac: Option<Mac>,
    /// The longest packet it sends, in bytes without the Ethernet header.
    pub mtu: u32,
    /// Whether it was set up.
    pub is_up: bool,
    /// Whether there is something up at the other end.
    pub has_carrier: bool,
    /// The words that somebody attached to it.
    pub alias: Option<String>,
    /// What passed it.
    pub statistics: Statistics,
}

/// What passed an interface since it was made.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Statistics {
    /// Frames that came in.
    pub received_frames: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that came in and were dropped before anybody took them.
    pub received_dropped: u64,
    /// Frames that went out.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that were dropped instead of going out.
    pub sent_dropped: u64,
}

impl Statistics {
    /// What passed since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            received_frames: self.received_frames.saturating_sub(earlier.received_frames),
            received_bytes: self.received_bytes.saturating_sub(earlier.received_bytes),
            received_dropped: self.received_dropped.saturating_sub(earlier.received_dropped),
            sent_frames: self.sent_frames.saturating_sub(earlier.sent_frames),
            sent_bytes: self.sent_bytes.saturating_sub(earlier.sent_bytes),
            sent_dropped: self.sent_dropped.saturating_sub(earlier.sent_dropped),
        }
    }
}

impl Kernel {
    /// Makes a pair of virtual Ethernet devices, of which `here` is in this network and `there` in that
    /// of `network`, which may be the same. Both are down.
    pub fn create_veth(
        &mut self,
        here: End<'_>,
        there: End<'_>,
        network: &Network,
    ) -> Result<(), KernelError> {
        [here.name, there.name].into_iter().try_for_each(|name| self.check_name(name))?;
        let mut peer = message(attributes(there));
        peer.attributes.push(LinkAttribute::NetNsFd(network.as_fd().as_raw_fd()));
        let data = InfoData::Veth(InfoVeth::Peer(peer));
        let mut attributes = attributes(here);
        attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(data),
        ]));
        let what =
            || format!("create the interface {} with {} at its other end", here.name, there.name);
        self.ask(RouteNetlinkMessage::NewLink(message(attributes)), Manner::Create, what).map(drop)
    }

    /// Makes a bridge that forwards from the first frame on: no spanning tree, no delay before
    /// forwarding, multicasts go to every port, and addresses once learned are not forgotten. It is down.
    pub fn create_bridge(&mut self, name: &str) -> Result<(), KernelError> {
        self.check_name(name)?;
        let data = InfoData::Bridge(vec![
            InfoBridge::StpState(BridgeStpState::Disabled),
            InfoBridge::ForwardDelay(0),
            InfoBridge::AgeingTime(AGEING),
            InfoBridge::MulticastSnooping(false),
        ]);
        let info = vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(data)];
        let attributes =
            vec![LinkAttribute::IfName(name.to_owned()), LinkAttribute::LinkInfo(info)];
        let what = || format!("create the bridge {name}");
        self.ask(RouteNetlinkMessage::NewLink(message(attributes)), Manner::Create, what).map(drop)
    }

    /// Makes an interface a port of a bridge.
    pub fn add_port(&mut self, bridge: &str, port: &str) -> Result<(), KernelError> {
        let controller = self.link(bridge)?.index;
        let what = || format!("make the interface {port} a port of the bridge {bridge}");
        self.change(port, LinkAttribute::Controller(controller), what)
    }

    /// Sets an interface up, or down. One that is set down loses its routes.
    pub fn set_up(&mut self, name: &str, up: bool) -> Result<(), KernelError> {
        let mut request = message(vec![LinkAttribute::IfName(name.to_owned())]);
        request.header.change_mask = LinkFlags::Up;
        request.header.flags = if up { LinkFlags::Up } else { LinkFlags::empty() };
        let what = || format!("set the interface {name} {}", if up { "up" } else { "down" });
        self.ask(RouteNetlinkMessage::SetLink(request), Manner::Change, what).map(drop)
    }

    /// Changes the address of an interface.
    pub fn set_mac(&mut self, name: &str, mac: Mac) -> Result<(), KernelError> {
        let what = || format!("give the interface {name} the address {mac}");
        self.change(name, LinkAttribute::Address(mac.0.to_vec()), what)
    }

    /// Changes the longest packet that an interface sends, in bytes without the Ethernet header.
    pub fn set_mtu(&mut self, name: &str, mtu: u32) -> Result<(), KernelError> {
        let what = || format!("give the interface {name} an MTU of {mtu} bytes");
        self.change(name, LinkAttribute::Mtu(mtu), what)
    }

    /// Attaches words to an interface, at most 255 bytes. Those of `lo` can tell whose a network is.
    pub fn set_alias(&mut self, name: &str, alias: &str) -> Result<(), KernelError> {
        let what = || format!("give the interface {name} the alias '{alias}'");
        self.change(name, LinkAttribute::IfAlias(alias.to_owned()), what)
    }

    /// Removes an interface, and the one at its other end.
    pub fn delete(&mut self, name: &str) -> Result<(), KernelError> {
        let request = message(vec![LinkAttribute::IfName(name.to_owned())]);
        let what = || format!("remove the interface {name}");
        self.ask(RouteNetlinkMessage::DelLink(request), Manner::Change, what).map(drop)
    }

    /// An interface as it is now.
    pub fn link(&mut self, name: &str) -> Result<Link, KernelError> {
        let request = message(vec![LinkAttribute::IfName(name.to_owned())]);
        let what = || format!("find the interface {name}");
        let answers = self.ask(RouteNetlinkMessage::GetLink(request), Manner::Ask, what)?;
        answers.into_iter().find_map(link).ok_or_else(|| self.no_such_interface(what()))
    }

    /// All interfaces as they are now, in the order of their numbers.
    pub fn links(&mut self) -> Result<Vec<Link>, KernelError> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers = self.ask(request, Manner::List, || "list the interfaces".to_owned())?;
        let mut links: Vec<Link> = answers.into_iter().filter_map(link).collect();
        links.sort_by_key(|link| link.index);
        Ok(links)
    }

    fn change(
        &mut self,
        name: &str,
        attribute: LinkAttribute,
        what: impl FnOnce() -> String,
    ) -> Result<(), KernelError> {
        let request = message(vec![LinkAttribute::IfName(name.to_owned()), attribute]);
        self.ask(RouteNetlinkMessage::SetLink(request), Manner::Change, what).map(drop)
    }

    /// Of a name that is none the kernel makes up its own, or takes a part.
    fn check_name(&self, name: &str) -> Result<(), KernelError> {
        let is_bad = |byte: u8| byte.is_ascii_whitespace() || b"/:%\0".contains(&byte);
        if (1..=15).contains(&name.len()) && !name.bytes().any(is_bad) && !name.starts_with('.') {
            return Ok(());
        }
        Err(KernelError::Refused {
            what: format!("call an interface '{}'", name.escape_default()),
            network: self.network().to_owned(),
            kernel: Some(
                "a name has 1 to 15 bytes and no blank, slash, colon or percent".to_owned(),
            ),
            source: std::io::Error::from_raw_os_error(error::EINVAL),
        })
    }

    fn no_such_interface(&self, what: String) -> KernelError {
        KernelError::Refused {
            what,
            network: self.network().to_owned(),
            kernel: None,
            source: std::io::Error::from_raw_os_error(error::ENODEV),
        }
    }
}

fn message(attributes: Vec<LinkAttribute>) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.attributes = attributes;
    message
}

fn attributes(end: End<'_>) -> Vec<LinkAttribute> {
    vec![
        LinkAttribute::IfName(end.name.to_owned()),
        LinkAttribute::Address(end.mac.0.to_vec()),
        LinkAttribute::Mtu(end.mtu),
    ]
}

fn link(answer: RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        mac: None,
        mtu: 0,
        is_up: message.header.flags.contains(LinkFlags::Up),
        has_carrier: message.header.flags.contains(LinkFlags::LowerUp),
        alias: None,
        statistics: Statistics::default(),
    };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Address(bytes) => link.mac = bytes.try_into().ok().map(Mac),
            LinkAttribute::Mtu(mtu) => link.mtu = mtu,
            LinkAttribute::IfAlias(alias) => link.alias = Some(alias),
            LinkAttribute::Stats64(counts) => {
                link.statistics = Statistics {
                    received_frames: counts.rx_packets,
                    received_bytes: counts.rx_bytes,
                    received_dropped: counts.rx_dropped,
                    sent_frames: counts.tx_packets,
                    sent_bytes: counts.tx_bytes,
                    sent_dropped: counts.tx_dropped,
                };
            }
            _ => {}
        }
    }
    Some(link)
}
