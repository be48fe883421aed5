//! The third stage: routes, stated or computed.
//!
//! A stated route takes the place of the computed ones to all subnets inside its destination; so a stated
//! default route takes the place of all of its family. The routers' distances to a subnet fall by one
//! with each gateway, so computed routes never circle.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::description::{Fault, listed, quoted};
use crate::topology::network::{End, Kind, Network, Route};
use crate::topology::prefix::{Family, Prefix};
use crate::topology::stated::{StatedRoute, Topology};

/// Fills in the routes of hosts and routers.
pub(super) fn give(stated: &Topology, network: &mut Network, found: &mut Vec<Fault>) {
    let mut computed: Vec<Vec<Route>> = vec![Vec::new(); network.nodes.len()];
    for domain in 0..network.domains.len() {
        for subnet in &network.domains[domain].subnets {
            let distances = distances(network, domain, subnet.family());
            for (node, routes) in computed.iter_mut().enumerate() {
                routes.extend(routes_to(network, node, domain, *subnet, &distances));
            }
        }
    }
    for (node, mut computed) in computed.into_iter().enumerate() {
        let mut routes = stated_routes(stated, network, node, found);
        let is_stated =
            |it: &Route| routes.iter().any(|stated| holds(stated.destination, it.destination));
        computed.retain(|route| !is_stated(route));
        computed.sort_by_key(|route| (route.destination, route.metric));
        for family in Family::ALL {
            let of_family = computed.iter().filter(|it| it.destination.family() == family);
            routes.extend(shortened(family, of_family.copied().collect()));
        }
        network.nodes[node].routes = routes;
    }
}

fn holds(outer: Prefix, inner: Prefix) -> bool {
    outer.overlaps(inner) && outer.length() <= inner.length()
}

/// One default route where all leave by the same gateway.
fn shortened(family: Family, routes: Vec<Route>) -> Vec<Route> {
    let Some(first) = routes.first().copied() else { return routes };
    let is_like_first =
        |route: &Route| route.gateway == first.gateway && route.interface == first.interface;
    if routes.iter().all(is_like_first) {
        vec![Route { destination: Prefix::everything(family), metric: 0, ..first }]
    } else {
        routes
    }
}

/// For each node how many routers lie between it and the domain; only routers have a distance.
fn distances(network: &Network, domain: usize, family: Family) -> Vec<Option<usize>> {
    let mut distances = vec![None; network.nodes.len()];
    let mut seen = vec![false; network.domains.len()];
    seen[domain] = true;
    let mut waiting = VecDeque::from([(domain, 0)]);
    while let Some((domain, distance)) = waiting.pop_front() {
        for router in routers(network, domain, family) {
            if distances[router.node].is_some() {
                continue;
            }
            distances[router.node] = Some(distance);
            for interface in &network.nodes[router.node].interfaces {
                let next = network.links[interface.link].domain;
                if interface.address(family).is_some() && !seen[next] {
                    seen[next] = true;
                    waiting.push_back((next, distance + 1));
                }
            }
        }
    }
    distances
}

/// The routers of a domain that have an address of the family.
fn routers(network: &Network, domain: usize, family: Family) -> impl Iterator<Item = End> {
    let forwards = move |end: &End| {
        network.nodes[end.node].kind == Kind::Router
            && network.interface(*end).is_some_and(|it| it.address(family).is_some())
    };
    network.domains[domain].members.iter().copied().filter(forwards)
}

/// The nearest way from a node to a subnet, and for a host with several interfaces the others as well.
fn routes_to(
    network: &Network,
    node: usize,
    domain: usize,
    destination: Prefix,
    distances: &[Option<usize>],
) -> Vec<Route> {
    let it = &network.nodes[node];
    let domain_of = |link: usize| network.links[link].domain;
    if it.interfaces.iter().any(|interface| domain_of(interface.link) == domain) {
        return Vec::new();
    }
    let mut ways: Vec<(usize, Route)> = (0..it.interfaces.len())
        .filter_map(|interface| way(network, End { node, interface }, destination, distances))
        .collect();
    // Stable: of equals, the one that the file names first.
    ways.sort_by_key(|(distance, _)| *distance);
    ways.truncate(if it.kind == Kind::Host { usize::MAX } else { 1 });
    let ranked = ways.into_iter().zip(0..);
    ranked.map(|((_, route), metric)| Route { metric, ..route }).collect()
}

/// The nearest way to a subnet by one interface, and how many routers it goes through.
fn way(
    network: &Network,
    from: End,
    destination: Prefix,
    distances: &[Option<usize>],
) -> Option<(usize, Route)> {
    let family = destination.family();
    let interface = network.interface(from)?;
    let source = interface.address(family)?;
    let domain = network.links[interface.link].domain;
    let others = routers(network, domain, family).filter(|router| router.node != from.node);
    let near = others.filter_map(|router| Some((distances[router.node]?, router)));
    let (distance, router) = near.min_by_key(|(distance, _)| *distance)?;
    let gateway = network.interface(router)?.address(family)?;
    let interface = from.interface;
    Some((distance, Route { destination, gateway, interface, source, metric: 0 }))
}

fn stated_routes(
    stated: &Topology,
    network: &Network,
    node: usize,
    found: &mut Vec<Fault>,
) -> Vec<Route> {
    let said = &stated.nodes[node];
    let mut routes: Vec<Route> = Vec::new();
    for statement in &said.routes {
        let fault = match stated_route(network, node, statement) {
            Ok(new) => {
                let is_new =
                    |it: &Route| routes.iter().all(|old| old.destination != it.destination);
                if new.iter().all(is_new) {
                    routes.extend(new);
                    continue;
                }
                "there is a route to it already".to_owned()
            }
            Err(fault) => fault,
        };
        found.push(Fault {
            place: statement.destination.place,
            subject: format!("{} {}", said.kind, said.name.text),
            text: format!("route to {}: {fault}", quoted(&statement.destination.text)),
        });
    }
    routes
}

/// One route, or one of each family for `default` by a name.
fn stated_route(network: &Network, node: usize, said: &StatedRoute) -> Result<Vec<Route>, String> {
    let destinations = match said.destination.text.as_str() {
        "default" => Family::ALL.map(Prefix::everything).to_vec(),
        subnet => vec![known_subnet(network, subnet)?],
    };
    let gateways = gateways(network, node);
    let is_meant = |gateway: &&Gateway| match said.via.text.parse::<IpAddr>() {
        Ok(address) => gateway.address == address,
        Err(_) => network.nodes[gateway.router].name == said.via.text,
    };
    let route = |destination: Prefix| {
        let mut meant = gateways.iter().filter(is_meant);
        let gateway = meant.find(|it| Family::of(it.address) == destination.family())?;
        let Gateway { interface, address, source, .. } = *gateway;
        Some(Route { destination, gateway: address, interface, source, metric: 0 })
    };
    let routes: Vec<Route> = destinations.into_iter().filter_map(route).collect();
    if routes.is_empty() {
        let named = |it: &Gateway| format!("{} ({})", network.nodes[it.router].name, it.address);
        let names: Vec<String> = gateways.iter().map(named).collect();
        return Err(format!(
            "{} is no router next to it that could take it; those are {}",
            quoted(&said.via.text),
            if names.is_empty() { "none".into() } else { listed(names.iter().map(String::as_str)) }
        ));
    }
    Ok(routes)
}

fn known_subnet(network: &Network, typed: &str) -> Result<Prefix, String> {
    let prefix: Prefix =
        typed.parse().map_err(|fault| format!("it {fault}, or default for all the rest"))?;
    let mut subnets = network.domains.iter().flat_map(|domain| &domain.subnets);
    if subnets.any(|subnet| subnet.overlaps(prefix)) {
        Ok(prefix)
    } else {
        Err("no subnet of this topology has an address in it".to_owned())
    }
}

/// A router next to a node, by one of its addresses.
struct Gateway {
    router: usize,
    address: IpAddr,
    /// The interface of the node by which it is reached.
    interface: usize,
    /// The node's own address there.
    source: IpAddr,
}

fn gateways(network: &Network, node: usize) -> Vec<Gateway> {
    let mut gateways = Vec::new();
    for (interface, own) in network.nodes[node].interfaces.iter().enumerate() {
        for family in Family::ALL {
            let Some(source) = own.address(family) else { continue };
            let others = routers(network, network.links[own.link].domain, family);
            for end in others.filter(|end| end.node != node) {
                let address = network.interface(end).and_then(|it| it.address(family));
                gateways.extend(address.map(|address| Gateway {
                    router: end.node,
                    address,
                    interface,
                    source,
                }));
            }
        }
    }
    gateways
}
