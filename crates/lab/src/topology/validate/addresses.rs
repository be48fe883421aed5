//! The second stage: every broadcast domain has its subnets, every interface in it its addresses, and
//! everybody there knows everybody's.

use std::net::IpAddr;

use crate::description::Said;
use crate::description::{Fault, listed, quoted};
use crate::topology::network::{Address, End, Kind, Link, Neighbour, Network};
use crate::topology::prefix::{Family, Prefix};
use crate::topology::stated::{StatedLink, Topology};

/// What no interface of a lab may be given: this host, loopback, multicast and reserved (RFC 6890), and
/// what IPv6 keeps for itself (RFC 4291).
const KEPT: [&str; 6] =
    ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "::/8", "fe80::/10", "ff00::/8"];
/// The least MTU of a link that carries IPv6 (RFC 8200, section 5).
const LEAST_MTU_V6: u32 = 1280;

/// Fills in subnets, addresses and neighbours.
pub(super) fn give(stated: &Topology, network: &mut Network, found: &mut Vec<Fault>) {
    stated_subnets(stated, network, found);
    if found.is_empty() {
        computed_subnets(stated, network, found);
    }
    if !found.is_empty() {
        return;
    }
    for (index, link) in stated.links.iter().enumerate() {
        check_mtu(network, index, link, found);
        for (end, address) in &link.addresses {
            if let Err(text) = stated_address(network, index, &end.text, &address.text) {
                found.push(Fault { place: address.place, subject: link.subject(), text });
            }
        }
    }
    for domain in 0..network.domains.len() {
        remaining_addresses(stated, network, domain, found);
        neighbours(network, domain);
    }
}

/// One statement of a subnet.
struct Statement<'said> {
    domain: usize,
    said: &'said Said,
    /// What it was said of: a link or a switch.
    subject: String,
}

fn stated_subnets(stated: &Topology, network: &mut Network, found: &mut Vec<Fault>) {
    let mut owners: Vec<(Prefix, usize, String)> = Vec::new();
    for Statement { domain, said, subject } in statements(stated, network) {
        let others = owners.iter().filter(|(_, owner, _)| *owner != domain);
        let own = owners.iter().filter(|(_, owner, _)| *owner == domain);
        match allowed_subnet(&said.text, own, others) {
            Ok(prefix) => owners.push((prefix, domain, subject)),
            Err(fault) => {
                let text = format!("subnet {} {fault}", quoted(&said.text));
                found.push(Fault { place: said.place, subject, text });
            }
        }
    }
    for (prefix, domain, _) in owners {
        let subnets = &mut network.domains[domain].subnets;
        subnets.push(prefix);
        // By family, since that is how prefixes are ordered first.
        subnets.sort_unstable();
        subnets.dedup();
    }
}

/// In the order of the file for each of links and switches.
fn statements<'said>(stated: &'said Topology, network: &Network) -> Vec<Statement<'said>> {
    let mut statements = Vec::new();
    for (index, link) in stated.links.iter().enumerate() {
        let domain = network.links[index].domain;
        let of = |said| Statement { domain, said, subject: link.subject() };
        statements.extend(link.subnets.iter().map(of));
    }
    for (index, node) in stated.nodes.iter().enumerate() {
        // A switch without a link is in no domain; that is a fault of its own.
        let domain = network.domains.iter().position(|domain| domain.switches.contains(&index));
        let of = |said| {
            Some(Statement { domain: domain?, said, subject: format!("switch {}", node.name.text) })
        };
        statements.extend(node.subnets.iter().filter_map(of));
    }
    statements
}

type Owner = (Prefix, usize, String);

fn allowed_subnet<'owner>(
    typed: &str,
    mut own: impl Iterator<Item = &'owner Owner>,
    mut others: impl Iterator<Item = &'owner Owner>,
) -> Result<Prefix, String> {
    let prefix: Prefix = typed.parse()?;
    let kept = KEPT.iter().filter_map(|kept| kept.parse().ok());
    if let Some(kept) = kept.into_iter().find(|kept: &Prefix| kept.overlaps(prefix)) {
        return Err(format!("overlaps {kept}, which no interface may have"));
    }
    let same_family = |(it, ..): &&Owner| it.family() == prefix.family() && *it != prefix;
    if let Some((first, _, subject)) = own.find(same_family) {
        return Err(format!(
            "is a second one of {} beside {first} of {subject}; a broadcast domain has one of each \
             family",
            prefix.family()
        ));
    }
    match others.find(|(it, ..)| it.overlaps(prefix)) {
        Some((other, _, subject)) => {
            Err(format!("overlaps {other} of {subject}; every subnet has a range of its own"))
        }
        None => Ok(prefix),
    }
}

/// The next free `10.0.N.0/24` for each domain that has members and nothing stated.
fn computed_subnets(stated: &Topology, network: &mut Network, found: &mut Vec<Fault>) {
    let taken: Vec<Prefix> =
        network.domains.iter().flat_map(|domain| domain.subnets.clone()).collect();
    let all = (0..=u8::MAX).map(|third| Prefix::around([10, 0, third, 0].into(), 24));
    let mut free = all.filter(|prefix| taken.iter().all(|it| !it.overlaps(*prefix)));
    for index in 0..network.domains.len() {
        let domain = &mut network.domains[index];
        if !domain.subnets.is_empty() || domain.members.is_empty() {
            continue;
        }
        if let Some(prefix) = free.next() {
            domain.subnets.push(prefix);
        } else {
            let text = "no 10.0.N.0/24 is left for it; state a subnet".to_owned();
            domain_fault(stated, network, index, text, found);
        }
    }
}

/// Told of the first link of the domain.
fn domain_fault(
    stated: &Topology,
    network: &Network,
    domain: usize,
    text: String,
    found: &mut Vec<Fault>,
) {
    let mut links = network.links.iter().zip(&stated.links);
    if let Some((_, link)) = links.find(|(link, _)| link.domain == domain) {
        found.push(Fault { place: link.name.place, subject: link.subject(), text });
    }
}

fn check_mtu(network: &Network, index: usize, stated: &StatedLink, found: &mut Vec<Fault>) {
    let link = &network.links[index];
    let subnets = &network.domains[link.domain].subnets;
    let is_v6 = subnets.iter().any(|subnet| subnet.family() == Family::V6);
    if let Some((mtu, place)) = stated.mtu.filter(|(mtu, _)| is_v6 && *mtu < LEAST_MTU_V6) {
        let text = format!("mtu = {mtu}: a link with IPv6 has at least {LEAST_MTU_V6} bytes");
        found.push(Fault { place, subject: stated.subject(), text });
    }
}

fn stated_address(
    network: &mut Network,
    link: usize,
    name: &str,
    typed: &str,
) -> Result<(), String> {
    let Link { ends, domain, .. } = network.links[link];
    let names = ends.map(|end| network.nodes[end.node].name.clone());
    let end =
        names.iter().position(|end| end == name).map(|index| ends[index]).ok_or_else(|| {
            format!(
                "addresses: {} is no end of it; its ends are {}",
                quoted(name),
                names.join(" and ")
            )
        })?;
    if network.nodes[end.node].kind == Kind::Switch {
        return Err(format!("addresses: {name} is a switch; a switch has no address"));
    }
    let address: IpAddr = typed.parse().map_err(|_| {
        format!("{} is no address; write for example 10.0.1.7, without a length", quoted(typed))
    })?;
    let subnets = &network.domains[domain].subnets;
    let subnet = subnets.iter().find(|subnet| subnet.contains(address)).ok_or_else(|| {
        let subnets: Vec<String> = subnets.iter().map(Prefix::to_string).collect();
        let subnets = listed(subnets.iter().map(String::as_str));
        format!("{address} lies outside of its subnet {subnets}; state the one that is meant")
    })?;
    if !subnet.has_host(address) {
        return Err(format!("{address} is the network's own or broadcast address of {subnet}"));
    }
    if let Some(owner) = owner(network, domain, address) {
        return Err(format!("{address} is the address of {owner} already"));
    }
    if network.nodes[end.node].interfaces[end.interface].address(Family::of(address)).is_some() {
        return Err(format!("{address} is a second address of {name} here; one of each family"));
    }
    set_address(network, end, address, subnet.length());
    Ok(())
}

fn owner(network: &Network, domain: usize, address: IpAddr) -> Option<&str> {
    let has_it = |end: &&End| {
        network.interface(**end).is_some_and(|it| it.address(Family::of(address)) == Some(address))
    };
    let end = network.domains[domain].members.iter().find(has_it)?;
    Some(&network.nodes[end.node].name)
}

fn set_address(network: &mut Network, end: End, address: IpAddr, length: u8) {
    let addresses = &mut network.nodes[end.node].interfaces[end.interface].addresses;
    addresses.push(Address { address, length });
    addresses.sort_by_key(|it| Family::of(it.address));
}

/// In the order of the members, from the subnet's first address on, but for those that were stated.
fn remaining_addresses(
    stated: &Topology,
    network: &mut Network,
    domain: usize,
    found: &mut Vec<Fault>,
) {
    let members = network.domains[domain].members.clone();
    for subnet in network.domains[domain].subnets.clone() {
        let of = |end: &End| network.interface(*end).and_then(|it| it.address(subnet.family()));
        let taken: Vec<IpAddr> = members.iter().filter_map(of).collect();
        let without: Vec<End> = members.iter().copied().filter(|end| of(end).is_none()).collect();
        let mut free =
            (0..).map_while(|index| subnet.host(index)).filter(|host| !taken.contains(host));
        for end in without {
            if let Some(address) = free.next() {
                set_address(network, end, address, subnet.length());
                continue;
            }
            let text = format!(
                "{} interfaces are more than the addresses of {subnet}; state a larger subnet",
                members.len()
            );
            domain_fault(stated, network, domain, text, found);
            break;
        }
    }
}

fn neighbours(network: &mut Network, domain: usize) {
    let members = network.domains[domain].members.clone();
    for end in &members {
        let others = members.iter().filter(|other| *other != end);
        let interfaces = others.filter_map(|other| network.interface(*other));
        let neighbours = interfaces
            .flat_map(|it| {
                it.addresses.iter().map(|own| Neighbour { address: own.address, mac: it.mac })
            })
            .collect();
        network.nodes[end.node].interfaces[end.interface].neighbours = neighbours;
    }
}
