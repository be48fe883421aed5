//! Which interfaces hear each other's broadcasts: the two ends of a link between hosts and routers, or
//! everything around switches that are joined.

use crate::description::Fault;
use crate::topology::network::{Domain, End, Kind, Network};
use crate::topology::stated::Topology;

/// Fills in the domains and which of them each link lies in.
pub(super) fn find(stated: &Topology, network: &mut Network, found: &mut Vec<Fault>) {
    let groups = join_switches(stated, network, found);
    let mut domain_of_group: Vec<Option<usize>> = vec![None; network.nodes.len()];
    for index in 0..network.links.len() {
        let nodes = network.links[index].ends.map(|end| end.node);
        let switch = nodes.into_iter().find(|node| network.nodes[*node].kind == Kind::Switch);
        let group = switch.map(|switch| groups[switch]);
        let known = group.and_then(|group| domain_of_group[group]);
        let domain = known.unwrap_or_else(|| {
            let domain = new_domain(network, index, group, &groups);
            network.domains.push(domain);
            network.domains.len() - 1
        });
        if let Some(group) = group {
            domain_of_group[group] = Some(domain);
        }
        network.links[index].domain = domain;
    }
    for domain in 0..network.domains.len() {
        network.domains[domain].members = members(network, domain);
        check_mtu(stated, network, domain, found);
    }
}

/// For each node the first of the switches it is joined with; for others itself.
fn join_switches(stated: &Topology, network: &Network, found: &mut Vec<Fault>) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..network.nodes.len()).collect();
    for (link, said) in network.links.iter().zip(&stated.links) {
        let nodes = link.ends.map(|end| end.node);
        if nodes.iter().any(|node| network.nodes[*node].kind != Kind::Switch) {
            continue;
        }
        let [one, other] = nodes.map(|node| groups[node]);
        if one == other {
            let text = "closes a loop of switches, in which frames would circle for ever; remove a \
                        link of the loop, or make one of its switches a router";
            found.push(Fault {
                place: said.name.place,
                subject: said.subject(),
                text: text.to_owned(),
            });
        }
        let (into, from) = (one.min(other), one.max(other));
        groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = into);
    }
    groups
}

fn new_domain(network: &Network, link: usize, group: Option<usize>, groups: &[usize]) -> Domain {
    let Some(group) = group else {
        let name = network.links[link].name.clone();
        return Domain { name, subnets: Vec::new(), members: Vec::new(), switches: Vec::new() };
    };
    let is_in_it =
        |node: &usize| groups[*node] == group && network.nodes[*node].kind == Kind::Switch;
    let switches: Vec<usize> = (0..network.nodes.len()).filter(is_in_it).collect();
    let names: Vec<&str> = switches.iter().map(|node| network.nodes[*node].name.as_str()).collect();
    Domain { name: names.join("+"), subnets: Vec::new(), members: Vec::new(), switches }
}

/// Routers first, then hosts; each in the order of the nodes and then of their links.
fn members(network: &Network, domain: usize) -> Vec<End> {
    let of_kind = |kind: Kind| {
        let nodes = network.nodes.iter().enumerate().filter(move |(_, node)| node.kind == kind);
        nodes.flat_map(move |(node, it)| {
            let interfaces = it.interfaces.iter().enumerate();
            let inside = interfaces.filter(move |(_, at)| network.links[at.link].domain == domain);
            inside.map(move |(interface, _)| End { node, interface })
        })
    };
    of_kind(Kind::Router).chain(of_kind(Kind::Host)).collect()
}

/// A switch takes no packet apart: what is too large behind it is lost without a word.
fn check_mtu(stated: &Topology, network: &Network, domain: usize, found: &mut Vec<Fault>) {
    let mtu = |index: usize| {
        let End { node, interface } = network.links[index].ends[0];
        network.nodes[node].interfaces[interface].mtu
    };
    let mut links = (0..network.links.len()).filter(|index| network.links[*index].domain == domain);
    let Some(first) = links.next() else { return };
    for other in links.filter(|other| mtu(*other) != mtu(first)) {
        let (said, first_said) = (&stated.links[other], &stated.links[first]);
        let text = format!(
            "mtu = {} and that of {} is {}; all links around a switch have the same",
            mtu(other),
            first_said.name.text,
            mtu(first)
        );
        found.push(Fault { place: said.name.place, subject: said.subject(), text });
    }
}
