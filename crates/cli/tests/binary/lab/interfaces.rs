//! Hosts with several interfaces: what is bound to an address goes by that address' interface.

use std::net::UdpSocket;

use pathscope_lab::relay::RelayAccount;
use pathscope_os::namespaces::Network;

use super::{Stand, UDP, is_flow, is_root};

const WIFI_AND_WIRE: &str = include_str!("../../../../../labs/wifi-and-wire.toml");

/// Frames to this port that were offered to a link at its first end.
fn offered(account: &RelayAccount, link: &str, port: u16) -> u64 {
    let link = account.link(link).expect("it is there");
    let flows = link.forward.truth.flows.iter().filter(|row| is_flow(row, UDP, [0, port]));
    flows.map(|row| row.counts.offered.frames).sum()
}

#[test]
fn what_leaves_with_an_address_takes_its_interface() {
    if !is_root() {
        println!("skipped, because only root enters a node from a thread");
        return;
    }
    let Some(stand) = Stand::up(WIFI_AND_WIRE) else { return };
    let running = stand.lab.running();
    let place = running.nodes.iter().find(|node| node.name == "laptop").expect("it is a node");
    let laptop = Network::held_by(running.keeper, place.descriptor).expect("it is up");
    let send = |from: &str, port: u16| {
        let socket = UdpSocket::bind((from, 0)).expect("it is the laptop's");
        (0..20).for_each(|_| {
            socket.send_to(b"word", ("10.0.4.2", port)).expect("there is a way");
        });
    };
    laptop
        .run(|| [("10.0.0.2", 7_001), ("10.0.1.2", 7_002)].map(|it| send(it.0, it.1)))
        .expect("us");
    let account = stand.settled();
    let by = |link: &str| [7_001, 7_002].map(|port| offered(&account, link, port));
    assert_eq!((by("laptop:ap"), by("laptop:modem")), ([20, 0], [0, 20]));
}

#[test]
fn a_link_is_known_by_either_of_its_names() {
    let Some(stand) = Stand::up(super::PAIR) else { return };
    stand.folder.run(&["set", "b:a", "delay=2ms"]).exits(0);
    stand.folder.run(&["set", "b:a", "--from", "b", "loss=1%"]).exits(0);
    let account = stand.account();
    let link = account.link("a:b").expect("the only one");
    let shown = [&link.forward, &link.backward].map(|it| it.conditions.loss.to_string());
    assert_eq!(shown, ["none", "1%"]);
    assert_eq!(link.forward.conditions.delay, link.backward.conditions.delay);
    stand.folder.run(&["set", "b:c", "cut"]).exits(2).complains(&["b:c", "a:b"]);
}
