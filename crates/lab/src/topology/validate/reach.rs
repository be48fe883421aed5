//! Whether every host reaches every other, by following the routes as packets do.
//!
//! At any one address of the other: where two hosts have two paths that nothing joins, each address is
//! reached by its own path alone. Routers and switches are only asked to have a link.

use std::net::IpAddr;

use crate::description::Fault;
use crate::topology::network::{End, Kind, Network};
use crate::topology::prefix::Family;
use crate::topology::stated::Topology;

const REMEDY: &str = "join them by links and routers, or say isolated = true";

/// Tells for each host at most once whom it does not reach, since one cut parts many.
pub(super) fn check(stated: &Topology, network: &Network, found: &mut Vec<Fault>) {
    let fault = |index: usize, text: String| {
        let node = &network.nodes[index];
        let subject = format!("{} {}", node.kind, node.name);
        Fault { place: stated.nodes[index].name.place, subject, text }
    };
    let mut is_told: Vec<bool> = network.nodes.iter().map(|it| it.interfaces.is_empty()).collect();
    if network.nodes.len() > 1 {
        let lonely = (0..network.nodes.len()).filter(|node| is_told[*node]);
        found.extend(lonely.map(|node| fault(node, format!("it has no link; {REMEDY}"))));
    }
    let is_host = |node: &usize| network.nodes[*node].kind == Kind::Host;
    let hosts: Vec<usize> = (0..network.nodes.len()).filter(is_host).collect();
    for &from in &hosts {
        for &to in &hosts {
            if from == to || is_told[from] || is_told[to] {
                continue;
            }
            if let Some(why) = obstacle(network, from, to) {
                (is_told[from], is_told[to]) = (true, true);
                let to = &network.nodes[to].name;
                found.push(fault(from, format!("it does not reach host {to}: {why}")));
            }
        }
    }
}

/// Why no address of `to` is reached, told of the first; nothing where one is.
fn obstacle(network: &Network, from: usize, to: usize) -> Option<String> {
    let mut first = None;
    let interfaces = network.nodes[to].interfaces.iter();
    for address in interfaces.flat_map(|interface| &interface.addresses) {
        let why = follow(network, from, address.address)?;
        first.get_or_insert(why);
    }
    first
}

/// Why packets from a node do not get to an address; nothing where they do.
fn follow(network: &Network, from: usize, address: IpAddr) -> Option<String> {
    let mut at = from;
    for _ in &network.nodes {
        let node = &network.nodes[at];
        let own = node.interfaces.iter().flat_map(|interface| &interface.addresses);
        if own.into_iter().any(|own| own.subnet().contains(address)) {
            return None;
        }
        match next(network, at, address) {
            Some(next) => at = next,
            None => return Some(format!("{} has no route to {address}; {REMEDY}", node.name)),
        }
    }
    let name = &network.nodes[at].name;
    // Computed routes never circle.
    Some(format!("packets to {address} circle through {name}; state other routes"))
}

/// The node that takes packets to an address: longest prefix, then lowest metric.
fn next(network: &Network, node: usize, address: IpAddr) -> Option<usize> {
    let it = &network.nodes[node];
    let fitting = it.routes.iter().filter(|route| route.destination.contains(address));
    let route = fitting.min_by_key(|it| (u8::MAX - it.destination.length(), it.metric))?;
    let link = it.interfaces.get(route.interface)?.link;
    let domain = network.links[link].domain;
    let is_gateway = |end: &&End| {
        let interface = network.interface(**end);
        interface.and_then(|it| it.address(Family::of(address))) == Some(route.gateway)
    };
    network.domains[domain].members.iter().find(is_gateway).map(|end| end.node)
}
