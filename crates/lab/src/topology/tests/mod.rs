//! Topologies through and through: from what was stated to what a kernel would be given.

mod computed;
mod faults;
mod labs;
mod texts;

use super::{Family, Network, Node, Prefix, Topology};

const PORTFOLIO: &str = include_str!("../../../../../labs/portfolio.toml");

fn portfolio() -> Network {
    read(PORTFOLIO)
}

fn read(text: &str) -> Network {
    Topology::read("x.toml", text).network().unwrap_or_else(|faults| panic!("{faults}"))
}

fn node<'network>(network: &'network Network, name: &str) -> &'network Node {
    network.node(name).expect(name)
}

/// `10.0.0.2/24 to-s1`, for each interface and address.
fn addresses(network: &Network, name: &str) -> Vec<String> {
    let interfaces = node(network, name).interfaces.iter();
    interfaces
        .flat_map(|it| it.addresses.iter().map(move |address| format!("{address} {}", it.name)))
        .collect()
}

/// `10.0.7.0/24 via 10.0.3.2 to-r3`, for each route; a metric above 0 behind it.
fn routes(network: &Network, name: &str) -> Vec<String> {
    let node = node(network, name);
    let shown = |destination: Prefix| {
        if destination == Prefix::everything(Family::V4) {
            "default".to_owned()
        } else {
            destination.to_string()
        }
    };
    let route = |it: &super::Route| {
        let interface = &node.interfaces[it.interface];
        assert_eq!(interface.address(it.destination.family()), Some(it.source));
        let metric = if it.metric == 0 { String::new() } else { format!(" metric {}", it.metric) };
        format!("{} via {} {}{metric}", shown(it.destination), it.gateway, interface.name)
    };
    node.routes.iter().map(route).collect()
}
