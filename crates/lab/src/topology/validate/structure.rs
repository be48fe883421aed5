//! The first stage: names, ends, conditions, and which broadcast domains there are.

use std::collections::{BTreeMap, BTreeSet};

use super::domains;
use crate::description::Said;
use crate::description::{Fault, Place, instead, named, quoted};
use crate::topology::network::{End, Interface, Kind, Link, Mac, Network, Node, Passage};
use crate::topology::read::explained;
use crate::topology::stated::{StatedLink, Topology};

/// The longest name of a node, in bytes: `to-`, the name and `.2` are the name of an interface, for
/// which Linux has 15.
pub const LONGEST_NAME: usize = 10;
/// The most nodes: each is a namespace and, when used, a few processes.
pub const MOST_NODES: usize = 128;
/// The most links: each that is not plain costs the relay two sockets.
pub const MOST_LINKS: usize = 256;

/// The longest name of a topology, in characters: it is a title.
const LONGEST_TITLE: usize = 64;
/// The most links between the same two nodes: one digit is left for their number.
const MOST_PARALLEL: usize = 9;
const DEFAULT_MTU: u32 = 1500;
/// The least that every host must take (RFC 791), and what jumbo frames have by custom.
const MTUS: std::ops::RangeInclusive<u32> = 576..=9000;

/// Nodes with their interfaces, links and domains, without an address; empty where there is too much to
/// look at.
pub(super) fn build(stated: &Topology, found: &mut Vec<Fault>) -> Network {
    let mut network = Network {
        name: stated.name.clone(),
        seed: stated.seed,
        nodes: Vec::new(),
        links: Vec::new(),
        domains: Vec::new(),
    };
    if !fits(stated, found) {
        return network;
    }
    network.nodes = nodes(stated, found);
    let mut names = BTreeSet::new();
    for link in &stated.links {
        check_link(link, found);
        if !names.insert(&link.name.text) {
            link_fault(found, link, "there is a link of this name already".to_owned());
        }
        connect(&mut network, link, found);
    }
    if network.links.len() == stated.links.len() {
        domains::find(stated, &mut network, found);
    }
    network
}

fn fits(stated: &Topology, found: &mut Vec<Fault>) -> bool {
    let before = found.len();
    if stated.name.chars().count() > LONGEST_TITLE || stated.name.chars().any(char::is_control) {
        let text = format!(
            "{} is no name of a topology; it has at most {LONGEST_TITLE} characters, all in one line",
            quoted(&stated.name)
        );
        found.push(Fault { place: None, subject: "name".to_owned(), text });
    }
    let counts = [
        (stated.nodes.len(), MOST_NODES, "nodes", stated.nodes.get(MOST_NODES).map(|it| &it.name)),
        (stated.links.len(), MOST_LINKS, "links", stated.links.get(MOST_LINKS).map(|it| &it.name)),
    ];
    for (count, most, what, first_beyond) in counts {
        if count > most {
            let place = first_beyond.and_then(|name| name.place);
            let text = format!("there are {count} {what}; a lab has {most} at most");
            found.push(Fault { place, subject: String::new(), text });
        }
    }
    if stated.nodes.is_empty() && found.is_empty() {
        let text = "there is no node; name some, for example hosts = [\"a\", \"b\"]".to_owned();
        found.push(Fault { place: None, subject: String::new(), text });
    }
    found.len() == before
}

fn nodes(stated: &Topology, found: &mut Vec<Fault>) -> Vec<Node> {
    let mut first_places: BTreeMap<String, (&str, Option<Place>)> = BTreeMap::new();
    for node in &stated.nodes {
        let subject = format!("{} {}", node.kind, node.name.text);
        if let Some(text) = name_fault(&node.name.text) {
            let subject = node.kind.to_string();
            found.push(Fault { place: node.name.place, subject, text });
        } else if let Some((other, first)) = first_places
            .insert(node.name.text.to_ascii_lowercase(), (&node.name.text, node.name.place))
        {
            let line = first.map_or(String::new(), |place| format!(", in line {}", place.line));
            let text = if other == node.name.text {
                format!("there is a node of this name already{line}; every name is unique")
            } else {
                format!(
                    "there is a node {} already{line}; hosts are found by their names, and those are \
                     the same in capitals",
                    quoted(other)
                )
            };
            found.push(Fault { place: node.name.place, subject, text });
        }
    }
    let node = |(kind, name): (Kind, &Said)| Node {
        name: name.text.clone(),
        kind,
        interfaces: Vec::new(),
        routes: Vec::new(),
    };
    stated.nodes.iter().map(|it| node((it.kind, &it.name))).collect()
}

fn name_fault(name: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if !starts || !name.bytes().all(is_plain) {
        let text = "is no name of a node; it is made of letters, digits, - and _, and starts with a \
                    letter or digit";
        Some(format!("{} {text}", quoted(name)))
    } else if name.len() > LONGEST_NAME {
        let length = name.len();
        Some(format!(
            "{} has {length} bytes; a node's name has {LONGEST_NAME} at most, since interfaces are \
             named after it and Linux gives them 15",
            quoted(name)
        ))
    } else if name.eq_ignore_ascii_case("localhost") {
        Some(format!("{} is every node's name for itself; give it another", quoted(name)))
    } else if is_number(name) {
        Some(format!(
            "{} is a number, and programs take that for an address; put a letter in front",
            quoted(name)
        ))
    } else {
        None
    }
}

/// Whether a name would be read as an IPv4 address of one part (`inet_aton(3)`) and never be looked up.
fn is_number(name: &str) -> bool {
    let hexadecimal = name.strip_prefix("0x").or_else(|| name.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => name.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

fn check_link(link: &StatedLink, found: &mut Vec<Fault>) {
    for conditions in [link.forward, link.backward] {
        if let Err(error) = conditions.check() {
            link_fault(found, link, explained(&error));
        }
    }
    if let Some((mtu, place)) = link.mtu.filter(|(mtu, _)| !MTUS.contains(mtu)) {
        let (least, most) = (MTUS.start(), MTUS.end());
        let text = format!("mtu = {mtu}: an MTU is from {least} to {most} bytes");
        found.push(Fault { place, subject: link.subject(), text });
    }
}

/// Adds the link and an interface at each of its ends, if the ends are there.
fn connect(network: &mut Network, stated: &StatedLink, found: &mut Vec<Fault>) {
    let [one, other] = stated.ends.each_ref().map(|name| {
        let node = network.nodes.iter().position(|node| node.name == *name);
        if node.is_none() {
            link_fault(found, stated, no_such_node(&network.nodes, name));
        }
        node
    });
    let (Some(one), Some(other)) = (one, other) else { return };
    if one == other {
        link_fault(found, stated, "both ends are the same node; a link joins two".to_owned());
        return;
    }
    let between = |link: &&Link| link.joins(one, other);
    let number = network.links.iter().filter(between).count() + 1;
    if number > MOST_PARALLEL {
        let text = format!("two nodes have {MOST_PARALLEL} links between them at most");
        link_fault(found, stated, text);
    }
    let link = network.links.len();
    let mtu = stated.mtu.map_or(DEFAULT_MTU, |(mtu, _)| mtu);
    let ends = [(one, other), (other, one)].map(|(node, peer)| {
        let interface = network.nodes[node].interfaces.len();
        let name = interface_name(&network.nodes[peer].name, number);
        let mac = mac(node, interface);
        let (addresses, neighbours) = (Vec::new(), Vec::new());
        let interface_here = Interface { name, link, mac, addresses, mtu, neighbours };
        network.nodes[node].interfaces.push(interface_here);
        End { node, interface }
    });
    let passage = Passage::of(stated.forward, stated.backward);
    network.links.push(Link { name: stated.name.text.clone(), ends, passage, domain: 0 });
}

fn no_such_node(nodes: &[Node], name: &str) -> String {
    let names = || nodes.iter().map(|node| node.name.as_str());
    format!("there is no node {}{}", quoted(name), instead(name, "are", names()))
}

fn interface_name(peer: &str, number: usize) -> String {
    if number == 1 { format!("to-{peer}") } else { format!("to-{peer}.{number}") }
}

/// Locally administered and for one receiver (IEEE 802, bits 1 and 0 of the first byte), then the numbers of
/// node and interface from 1 on, so that a capture reads by itself.
fn mac(node: usize, interface: usize) -> Mac {
    let [_, _, _, _, _, _, node_high, node_low] = (node as u64 + 1).to_be_bytes();
    let [_, _, _, _, _, _, high, low] = (interface as u64 + 1).to_be_bytes();
    Mac([0x02, 0x00, node_high, node_low, high, low])
}

fn link_fault(found: &mut Vec<Fault>, link: &StatedLink, text: String) {
    found.push(Fault { place: link.name.place, subject: link.subject(), text });
}

impl StatedLink {
    /// What its faults are told of.
    pub(super) fn subject(&self) -> String {
        named("link", &self.name.text)
    }
}

impl Link {
    fn joins(&self, one: usize, other: usize) -> bool {
        let [first, second] = self.ends.map(|end| end.node);
        (first, second) == (one, other) || (first, second) == (other, one)
    }
}

const _: () = assert!("to-".len() + LONGEST_NAME + ".9".len() <= 15);
