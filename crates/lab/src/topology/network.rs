//! A network that was judged and found right: every name, address and route that a kernel is given.
//!
//! Nodes, links and domains are referred to by their place in their list.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::prefix::{Family, Prefix};
use crate::link::Conditions;

/// A network that can be built as it is. Only [`Topology::network`](super::Topology::network) makes
/// one.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Network {
    pub(super) name: String,
    pub(super) seed: Option<u64>,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    pub(super) domains: Vec<Domain>,
}

/// What a node does with what is not meant for it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub enum Kind {
    /// Nothing.
    Host,
    /// It forwards packets by its routes.
    Router,
    /// It forwards frames between all its interfaces, which are the ports of one bridge.
    Switch,
}

/// A place where packets begin, end or are forwarded.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Node {
    /// At most ten letters, digits, `-` and `_`; unique.
    pub name: String,
    /// What it does with what is not meant for it.
    pub kind: Kind,
    /// One for each link that ends here, in the order of the links. Those of a switch are the members
    /// of its bridge and have neither address nor neighbour.
    pub interfaces: Vec<Interface>,
    /// Beside what its own addresses say; stated ones first, then by destination and metric.
    pub routes: Vec<Route>,
}

/// One end of a link.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Interface {
    /// `to-` and the node at the other end; that of a second link between the same two `to-b.2`.
    /// Unique in the node, within the 15 bytes that Linux allows.
    pub name: String,
    /// Which link ends here.
    pub link: usize,
    /// Locally administered: it names node and interface by number.
    pub mac: Mac,
    /// At most one of each family, IPv4 first.
    pub addresses: Vec<Address>,
    /// The largest packet, in bytes without the Ethernet header.
    pub mtu: u32,
    /// Everybody else in the broadcast domain, so that nobody has to ask who has an address.
    pub neighbours: Vec<Neighbour>,
}

/// The address of an Ethernet interface.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(pub [u8; 6]);

/// An address and how much of it is the subnet's.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Address {
    /// The interface's own.
    pub address: IpAddr,
    /// The leading bits that are the subnet's.
    pub length: u8,
}

/// Who has an address in the same broadcast domain.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Neighbour {
    /// Which address.
    pub address: IpAddr,
    /// Whose.
    pub mac: Mac,
}

/// Where packets to a destination go.
///
/// A host with several interfaces has a route by each of them that leads there, so that a socket that
/// is bound to an interface has a way, not only to the nearest: the nearest has metric 0. A socket that is
/// bound to an address alone takes the ways by that address' interface, too: the keeper makes a table of
/// them for each interface, and a rule that picks it by the address.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct Route {
    /// Whereto; [`Prefix::everything`] for a default route.
    pub destination: Prefix,
    /// The router that takes it from here.
    pub gateway: IpAddr,
    /// By which interface of the node.
    pub interface: usize,
    /// The address that packets leave with if nothing else is said: that of the interface.
    pub source: IpAddr,
    /// The lowest is taken: 0, and above it for a host's further interfaces.
    pub metric: u32,
}

/// What joins two nodes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Link {
    /// Unique: `a:b`, or `a:b#label`.
    pub name: String,
    /// Its ends, the first one as in its name.
    pub ends: [End; 2],
    /// How frames get across.
    pub passage: Passage,
    /// The broadcast domain it lies in.
    pub domain: usize,
}

/// Where a link ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct End {
    /// Which node.
    pub node: usize,
    /// Which of its interfaces.
    pub interface: usize,
}

/// How frames get from one end of a link to the other.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Passage {
    /// By a wire that the kernel has: nothing is done to them.
    Plain,
    /// By a relay that applies conditions.
    Relayed {
        /// From the first end to the second.
        forward: Conditions,
        /// From the second end to the first.
        backward: Conditions,
    },
}

/// Interfaces that hear each other's broadcasts: a link without a switch, or all around switches that
/// are joined.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Domain {
    /// The link's name, or those of its switches.
    pub name: String,
    /// Its ranges of addresses: one, or one of each family, IPv4 first.
    pub subnets: Vec<Prefix>,
    /// The interfaces that have addresses: those of routers, then those of hosts, in the order of the
    /// file.
    pub members: Vec<End>,
    /// The switches in it.
    pub switches: Vec<usize>,
}

impl Network {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the chances of all links are drawn from, if that was stated.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// In the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// In the order of the file.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// In the order of their first links.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// The link of this name, and its place among the links.
    pub fn link(&self, name: &str) -> Option<(usize, &Link)> {
        self.links.iter().enumerate().find(|(_, link)| link.name == name)
    }

    /// The link of this name, or of this name with its ends in the other order: its place among the
    /// links, and which of its ends was named first.
    pub fn link_by_ends(&self, name: &str) -> Option<(usize, End)> {
        let turned = || {
            let (ends, label) = name.split_at(name.find('#').unwrap_or(name.len()));
            ends.split_once(':').map(|(one, other)| format!("{other}:{one}{label}"))
        };
        let straight = self.link(name).map(|(index, link)| (index, link.ends[0]));
        straight.or_else(|| self.link(&turned()?).map(|(index, link)| (index, link.ends[1])))
    }

    /// The names of all links, for sentences.
    pub fn link_names(&self) -> String {
        self.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The interface at the end of a link, of this network.
    pub fn interface(&self, end: End) -> Option<&Interface> {
        self.nodes.get(end.node)?.interfaces.get(end.interface)
    }
}

impl Interface {
    /// Its address of a family.
    pub fn address(&self, family: Family) -> Option<IpAddr> {
        let addresses = self.addresses.iter().map(|address| address.address);
        addresses.into_iter().find(|address| Family::of(*address) == family)
    }
}

impl Address {
    /// The range it lies in.
    pub fn subnet(self) -> Prefix {
        Prefix::around(self.address, self.length)
    }
}

impl Passage {
    /// Plain where the conditions of both directions do nothing.
    pub(super) fn of(forward: Conditions, backward: Conditions) -> Self {
        if forward == Conditions::default() && backward == Conditions::default() {
            Self::Plain
        } else {
            Self::Relayed { forward, backward }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Host => "host",
            Self::Router => "router",
            Self::Switch => "switch",
        })
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0.map(|byte| format!("{byte:02x}")).join(":"))
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.to_string()
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        let wrong = || format!("'{written}' is no Ethernet address; one is like 02:00:00:00:00:01");
        let bytes = written.split(':').map(|byte| u8::from_str_radix(byte, 16));
        let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().map_err(|_| wrong())?;
        bytes.try_into().map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}/{}", self.address, self.length))
    }
}
