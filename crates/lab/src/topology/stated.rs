//! A topology as it was stated, in code or in a file: not yet judged.
//!
//! [`Topology::network`] judges it. Until then names may clash and addresses may lie anywhere.

use pathscope_core::quantity::{BitRate, Period};

use super::network::Kind;
use crate::description::{Fault, Place, Said};
use crate::link::{Conditions, Loss, Queue, Rate};

/// What a network looks like: nodes, links, and what was stated about addresses and routes.
///
/// Built like prose; what is said about rate, delay, subnet and the like is said of the link or
/// switch named last, and of both directions of a link. The name of a link is `a:b`, that of a
/// second one between the same two `a:b#2`.
///
/// ```
/// use pathscope_core::quantity::{BitRate, Period};
/// use pathscope_lab::link::Queue;
/// use pathscope_lab::topology::Topology;
///
/// let network = Topology::named("two hosts")
///     .host("a")
///     .host("b")
///     .link("a", "b")
///     .rate(BitRate(20_000_000))
///     .delay(Period::from_millis(10))
///     .queue(Queue::Packets(33))
///     .network()?;
/// assert_eq!(network.nodes()[0].interfaces[0].addresses[0].to_string(), "10.0.0.1/24");
/// # Ok::<(), pathscope_lab::topology::Faults>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    pub(super) name: String,
    /// What faults are told of: the file, or else the name.
    pub(super) source_name: String,
    pub(super) seed: Option<u64>,
    pub(super) isolated: bool,
    pub(super) nodes: Vec<StatedNode>,
    pub(super) links: Vec<StatedLink>,
    /// What was wrong already with the statements themselves.
    pub(super) faults: Vec<Fault>,
    named_last: NamedLast,
}

#[derive(Clone, Debug)]
pub(super) struct StatedNode {
    pub name: Said,
    pub kind: Kind,
    pub subnets: Vec<Said>,
    pub routes: Vec<StatedRoute>,
}

#[derive(Clone, Debug)]
pub(super) struct StatedRoute {
    /// A subnet, or `default`.
    pub destination: Said,
    /// A neighbour's name or address.
    pub via: Said,
}

#[derive(Clone, Debug)]
pub(super) struct StatedLink {
    pub name: Said,
    pub ends: [String; 2],
    pub forward: Conditions,
    pub backward: Conditions,
    /// The size, where it stands.
    pub mtu: Option<(u32, Option<Place>)>,
    pub subnets: Vec<Said>,
    /// Each the name of an end and its address.
    pub addresses: Vec<(Said, Said)>,
}

#[derive(Clone, Copy, Debug)]
enum NamedLast {
    Nothing,
    Node(usize),
    Link(usize),
}

impl Topology {
    /// A topology with nothing in it.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            source_name: name.to_owned(),
            seed: None,
            isolated: false,
            nodes: Vec::new(),
            links: Vec::new(),
            faults: Vec::new(),
            named_last: NamedLast::Nothing,
        }
    }

    /// A node that sends and receives and forwards nothing.
    pub fn host(self, name: &str) -> Self {
        self.node(name, Kind::Host)
    }

    /// Several hosts.
    pub fn hosts<const COUNT: usize>(self, names: [&str; COUNT]) -> Self {
        names.into_iter().fold(self, Self::host)
    }

    /// A node that forwards packets.
    pub fn router(self, name: &str) -> Self {
        self.node(name, Kind::Router)
    }

    /// Several routers.
    pub fn routers<const COUNT: usize>(self, names: [&str; COUNT]) -> Self {
        names.into_iter().fold(self, Self::router)
    }

    /// A node that forwards frames: it has no address.
    pub fn switch(self, name: &str) -> Self {
        self.node(name, Kind::Switch)
    }

    /// A link, which is a plain wire until something else is said; forward is from `one` to `other`.
    pub fn link(mut self, one: &str, other: &str) -> Self {
        let same = |link: &&StatedLink| link.ends[0] == one && link.ends[1] == other;
        let name = match self.links.iter().filter(same).count() {
            0 => format!("{one}:{other}"),
            earlier => format!("{one}:{other}#{}", earlier + 1),
        };
        self.named_last = NamedLast::Link(self.links.len());
        self.links.push(StatedLink::between(Said::in_code(&name), [one, other]));
        self
    }

    /// What the link does to frames, in both directions.
    pub fn conditions(self, conditions: Conditions) -> Self {
        self.of_link("conditions", |link| {
            link.forward = conditions;
            link.backward = conditions;
        })
    }

    /// What the link does to frames from its first end.
    pub fn forward(self, conditions: Conditions) -> Self {
        self.of_link("conditions", |link| link.forward = conditions)
    }

    /// What the link does to frames from its second end.
    pub fn backward(self, conditions: Conditions) -> Self {
        self.of_link("conditions", |link| link.backward = conditions)
    }

    /// The rate of the link, each way.
    pub fn rate(self, rate: BitRate) -> Self {
        self.of_ways("rate", |way| way.rate = Rate::Limited(rate))
    }

    /// The delay of the link, each way.
    pub fn delay(self, delay: Period) -> Self {
        self.of_ways("delay", |way| way.delay = delay)
    }

    /// What may wait for the link, each way.
    pub fn queue(self, queue: Queue) -> Self {
        self.of_ways("queue", |way| way.queue = queue)
    }

    /// What the link loses, each way.
    pub fn loss(self, loss: Loss) -> Self {
        self.of_ways("loss", |way| way.loss = loss)
    }

    /// The largest packet of the link, in bytes without the Ethernet header.
    pub fn mtu(self, mtu: u32) -> Self {
        self.of_link("mtu", |link| link.mtu = Some((mtu, None)))
    }

    /// The subnet of the link or switch: one of each family may be stated.
    pub fn subnet(mut self, subnet: &str) -> Self {
        let said = Said::in_code(subnet);
        match self.named_last {
            NamedLast::Link(index) => self.links[index].subnets.push(said),
            NamedLast::Node(index) if self.nodes[index].kind == Kind::Switch => {
                self.nodes[index].subnets.push(said);
            }
            NamedLast::Node(_) | NamedLast::Nothing => self.too_early("subnet", "link or switch"),
        }
        self
    }

    /// The address of one end of the link.
    pub fn address(self, end: &str, address: &str) -> Self {
        let said = (Said::in_code(end), Said::in_code(address));
        self.of_link("address", |link| link.addresses.push(said))
    }

    /// A route of the host or router named last: `destination` is a subnet or `default`, `via` the
    /// name or address of a neighbour. It takes the place of the route that would be computed.
    pub fn route(mut self, destination: &str, via: &str) -> Self {
        let route =
            StatedRoute { destination: Said::in_code(destination), via: Said::in_code(via) };
        match self.named_last {
            NamedLast::Node(index) => self.nodes[index].routes.push(route),
            NamedLast::Link(_) | NamedLast::Nothing => self.too_early("route", "node"),
        }
        self
    }

    /// What the chances of all links are drawn from, for runs that repeat.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Nodes need not reach each other.
    pub fn isolated(mut self) -> Self {
        self.isolated = true;
        self
    }

    fn node(mut self, name: &str, kind: Kind) -> Self {
        self.named_last = NamedLast::Node(self.nodes.len());
        self.nodes.push(StatedNode::new(Said::in_code(name), kind));
        self
    }

    fn of_link(mut self, what: &str, change: impl FnOnce(&mut StatedLink)) -> Self {
        match self.named_last {
            NamedLast::Link(index) => change(&mut self.links[index]),
            NamedLast::Node(_) | NamedLast::Nothing => self.too_early(what, "link"),
        }
        self
    }

    fn of_ways(self, what: &str, change: impl Fn(&mut Conditions)) -> Self {
        self.of_link(what, |link| {
            change(&mut link.forward);
            change(&mut link.backward);
        })
    }

    /// A builder that reads like prose cannot hinder this by its types, so it is a fault like others.
    fn too_early(&mut self, what: &str, of: &str) {
        let text = format!("is not said of a {of}; say it right behind the {of} it is of");
        self.faults.push(Fault { place: None, subject: what.to_owned(), text });
    }
}

impl StatedNode {
    pub fn new(name: Said, kind: Kind) -> Self {
        Self { name, kind, subnets: Vec::new(), routes: Vec::new() }
    }
}

impl StatedLink {
    pub fn between(name: Said, ends: [&str; 2]) -> Self {
        Self {
            name,
            ends: ends.map(str::to_owned),
            forward: Conditions::default(),
            backward: Conditions::default(),
            mtu: None,
            subnets: Vec::new(),
            addresses: Vec::new(),
        }
    }
}
