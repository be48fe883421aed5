//! The lab files that are shipped.

use std::path::Path;

use pathscope_core::quantity::{BitRate, Period};

use super::{addresses, node, portfolio, read, routes};
use crate::link::{Conditions, Queue, Rate};
use crate::topology::{Kind, Mac, Passage, Topology};

#[test]
fn every_lab_file_is_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the labs are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a lab is text");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Err(faults) = Topology::read(&name, &text).network() {
            panic!("{faults}");
        }
        names.push(name);
    }
    names.sort();
    let expected = [
        "dumbbell.toml",
        "lossy.toml",
        "portfolio.toml",
        "satellite.toml",
        "two-hosts.toml",
        "wifi-and-wire.toml",
    ];
    assert_eq!(names, expected);
}

/// As the course's table has them, in its order.
#[test]
fn the_portfolio_has_the_addresses_of_the_course() {
    let network = portfolio();
    let table = [
        ("10.0.0.0/24", "s1", "r1 .1, h1 .2, h2 .3, h3 .4"),
        ("10.0.1.0/24", "r1:r2", "r1 .1, r2 .2"),
        ("10.0.2.0/24", "r2:h7", "r2 .1, h7 .2"),
        ("10.0.3.0/24", "r2:r3", "r2 .1, r3 .2"),
        ("10.0.4.0/24", "r3:h8", "r3 .1, h8 .2"),
        ("10.0.5.0/24", "s2", "r3 .1, h4 .2, h5 .3, h6 .4"),
        ("10.0.6.0/24", "r3:r4", "r3 .1, r4 .2"),
        ("10.0.7.0/24", "r4:h9", "r4 .1, h9 .2"),
    ];
    let computed: Vec<(String, String, String)> = network
        .domains()
        .iter()
        .map(|domain| {
            let who = domain.members.iter().map(|end| {
                let address = network.interface(*end).expect("a member").addresses[0].address;
                let address = address.to_string();
                let last = address.rsplit('.').next().expect("a last part").to_owned();
                format!("{} .{last}", network.nodes()[end.node].name)
            });
            let who = who.collect::<Vec<_>>().join(", ");
            (domain.subnets[0].to_string(), domain.name.clone(), who)
        })
        .collect();
    let expected = table.map(|(subnet, name, who)| (subnet.into(), name.into(), who.into()));
    assert_eq!(computed, expected);
}

#[test]
fn the_portfolio_has_the_routes_of_the_course() {
    let network = portfolio();
    assert_eq!(routes(&network, "r1"), ["default via 10.0.1.2 to-r2"]);
    assert_eq!(
        routes(&network, "r2"),
        [
            "10.0.0.0/24 via 10.0.1.1 to-r1",
            "10.0.4.0/24 via 10.0.3.2 to-r3",
            "10.0.5.0/24 via 10.0.3.2 to-r3",
            "10.0.6.0/24 via 10.0.3.2 to-r3",
            "10.0.7.0/24 via 10.0.3.2 to-r3",
        ]
    );
    assert_eq!(
        routes(&network, "r3"),
        [
            "10.0.0.0/24 via 10.0.3.1 to-r2",
            "10.0.1.0/24 via 10.0.3.1 to-r2",
            "10.0.2.0/24 via 10.0.3.1 to-r2",
            "10.0.7.0/24 via 10.0.6.2 to-r4",
        ]
    );
    assert_eq!(routes(&network, "r4"), ["default via 10.0.6.1 to-r3"]);
    for (host, route) in [
        ("h1", "default via 10.0.0.1 to-s1"),
        ("h2", "default via 10.0.0.1 to-s1"),
        ("h3", "default via 10.0.0.1 to-s1"),
        ("h4", "default via 10.0.5.1 to-s2"),
        ("h5", "default via 10.0.5.1 to-s2"),
        ("h6", "default via 10.0.5.1 to-s2"),
        ("h7", "default via 10.0.2.1 to-r2"),
        ("h8", "default via 10.0.4.1 to-r3"),
        ("h9", "default via 10.0.7.1 to-r4"),
    ] {
        assert_eq!(routes(&network, host), [route], "{host}");
    }
}

#[test]
fn the_portfolio_has_three_relayed_links_alike_in_both_directions() {
    let network = portfolio();
    let expected = [("r1:r2", 40, 10, 67), ("r2:r3", 30, 20, 100), ("r3:r4", 20, 10, 33)];
    let relayed: Vec<_> =
        network.links().iter().filter(|link| link.passage != Passage::Plain).collect();
    assert_eq!(relayed.len(), expected.len());
    for (link, (name, rate, delay, packets)) in relayed.into_iter().zip(expected) {
        let conditions = Conditions {
            rate: Rate::Limited(BitRate(rate * 1_000_000)),
            delay: Period::from_millis(delay),
            queue: Queue::Packets(packets),
            ..Conditions::default()
        };
        let passage = Passage::Relayed { forward: conditions, backward: conditions };
        assert_eq!((link.name.as_str(), link.passage), (name, passage));
    }
}

#[test]
fn neighbours_are_known_through_a_switch() {
    let network = portfolio();
    let h1 = &node(&network, "h1").interfaces[0];
    assert_eq!(h1.mac, Mac([2, 0, 0, 1, 0, 1]));
    let known: Vec<String> =
        h1.neighbours.iter().map(|it| format!("{} {}", it.address, it.mac)).collect();
    assert_eq!(
        known,
        ["10.0.0.1 02:00:00:0a:00:01", "10.0.0.3 02:00:00:02:00:01", "10.0.0.4 02:00:00:03:00:01",]
    );
    let s1 = node(&network, "s1");
    assert_eq!(s1.kind, Kind::Switch);
    let ports: Vec<&str> = s1.interfaces.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(ports, ["to-h1", "to-h2", "to-h3", "to-r1"]);
    assert!(s1.interfaces.iter().all(|port| port.addresses.is_empty()));
}

/// In another order, and so with other addresses, if they were not stated.
#[test]
fn the_portfolio_is_the_same_when_all_of_it_is_stated() {
    let stated = Topology::named("portfolio")
        .routers(["r4", "r3", "r2", "r1"])
        .hosts(["h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1"])
        .switch("s2")
        .subnet("10.0.5.0/24")
        .switch("s1");
    let links = [
        ("r4:h9", "10.0.7.0/24", "r4=10.0.7.1 h9=10.0.7.2"),
        ("r3:r4", "10.0.6.0/24", "r3=10.0.6.1 r4=10.0.6.2"),
        ("h6:s2", "", "h6=10.0.5.4"),
        ("h5:s2", "", "h5=10.0.5.3"),
        ("h4:s2", "", "h4=10.0.5.2"),
        ("r3:s2", "", "r3=10.0.5.1"),
        ("r3:h8", "10.0.4.0/24", ""),
        ("r2:r3", "10.0.3.0/24", "r2=10.0.3.1"),
        ("r2:h7", "10.0.2.0/24", ""),
        ("r1:r2", "10.0.1.0/24", "r2=10.0.1.2"),
        ("s1:r1", "10.0.0.0/24", ""),
        ("h3:s1", "", "h3=10.0.0.4"),
        ("h2:s1", "", "h2=10.0.0.3"),
        ("h1:s1", "", ""),
    ];
    let stated = links.into_iter().fold(stated, |topology, (link, subnet, addresses)| {
        let (one, other) = link.split_once(':').expect("two ends");
        let mut topology = topology.link(one, other);
        if !subnet.is_empty() {
            topology = topology.subnet(subnet);
        }
        let addresses = addresses.split_whitespace().filter_map(|it| it.split_once('='));
        addresses.fold(topology, |topology, (end, address)| topology.address(end, address))
    });
    let (stated, computed) = (stated.network().expect("it is right"), portfolio());
    for it in computed.nodes() {
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        let both =
            |network| (sorted(addresses(network, &it.name)), sorted(routes(network, &it.name)));
        assert_eq!(both(&stated), both(&computed), "{}", it.name);
    }
}

#[test]
fn a_laptop_has_a_way_by_either_interface() {
    let network = read(include_str!("../../../../../labs/wifi-and-wire.toml"));
    assert_eq!(addresses(&network, "laptop"), ["10.0.0.2/24 to-ap", "10.0.1.2/24 to-modem"]);
    assert_eq!(
        routes(&network, "laptop"),
        [
            "10.0.2.0/24 via 10.0.0.1 to-ap",
            "10.0.2.0/24 via 10.0.1.1 to-modem metric 1",
            "10.0.3.0/24 via 10.0.1.1 to-modem",
            "10.0.3.0/24 via 10.0.0.1 to-ap metric 1",
            "10.0.4.0/24 via 10.0.0.1 to-ap",
            "10.0.4.0/24 via 10.0.1.1 to-modem metric 1",
        ]
    );
    assert_eq!(routes(&network, "server"), ["default via 10.0.4.1 to-isp"]);
}
