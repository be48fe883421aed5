//! Networks built for real: each part as the kernel then tells it, and what it says when it refuses.

mod wires;

use std::net::IpAddr;

use pathscope_os::namespaces::Network;
use pathscope_os::offloads::{self, Offload};

use super::*;
use crate::topology::Mac;

const MTU: u32 = 1_500;

/// A network of our own and a connection to it; none where this user may not have one.
fn network(name: &str) -> Option<(Network, Kernel)> {
    let network =
        Network::create().map_err(|error| println!("skipped, because we {error}")).ok()?;
    let kernel = Kernel::of(&network, name).expect("we may talk to a network that is ours");
    Some((network, kernel))
}

fn mac(last: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, last])
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, KernelError>) -> String {
    let error = outcome.expect_err("it cannot be done");
    assert!(error.remedy().is_some(), "{error} has no remedy");
    error.to_string()
}

#[test]
fn a_pair_of_devices_has_an_end_in_each_network() {
    let Some((here, mut kernel)) = network("a") else { return };
    let Some((there, mut other)) = network("b") else { return };
    let near = End { name: "to-b", mac: mac(1), mtu: MTU };
    let far = End { name: "to-a", mac: mac(2), mtu: 9_000 };
    kernel.create_veth(near, far, &there).expect("the names are free");
    let links = kernel.links().expect("it tells");
    assert_eq!(links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["lo", "to-b"]);
    let link = other.link("to-a").expect("it is there");
    assert_eq!((link.mac, link.mtu, link.is_up, link.alias), (Some(mac(2)), 9_000, false, None));
    assert_eq!(link.statistics, Statistics::default());

    other.set_up("to-a", true).expect("it is there");
    let link = other.link("to-a").expect("it is there");
    assert!(link.is_up && !link.has_carrier, "{link:?}");
    kernel.set_up("to-b", true).expect("it is there");
    assert!(kernel.link("to-b").expect("it is there").has_carrier);
    kernel.set_up("to-b", false).expect("it is there");
    assert!(!other.link("to-a").expect("it is there").has_carrier);

    kernel.delete("to-b").expect("it is there");
    assert_eq!(other.links().expect("it tells").len(), 1, "the other end went with it");
    drop(here);
}

#[test]
fn an_interface_can_be_changed_and_marked() {
    let Some((here, mut kernel)) = network("a") else { return };
    let end = |name, last| End { name, mac: mac(last), mtu: MTU };
    kernel.create_veth(end("x", 1), end("y", 2), &here).expect("the names are free");
    kernel.set_mac("x", mac(9)).expect("any address will do");
    kernel.set_mtu("x", 1_280).expect("long enough for IPv6");
    kernel.set_alias("lo", "pathscope:a:1234").expect("short enough");
    let x = kernel.link("x").expect("it is there");
    assert_eq!((x.mac, x.mtu), (Some(mac(9)), 1_280));
    let alias = kernel.link("lo").expect("every network has it").alias;
    assert_eq!(alias.as_deref(), Some("pathscope:a:1234"));
}

#[test]
fn a_refusal_says_what_where_and_what_to_do() {
    let Some((here, mut kernel)) = network("h1") else { return };
    let end = |name, last| End { name, mac: mac(last), mtu: MTU };
    kernel.create_veth(end("x", 1), end("y", 2), &here).expect("the names are free");
    let again = refusal(kernel.create_veth(end("x", 1), end("z", 2), &here));
    assert!(again.starts_with("cannot create the interface x with z at its other end"), "{again}");
    assert!(again.contains("in network h1: File exists"), "{again}");
    let missing = refusal(kernel.set_up("eth7", true));
    assert!(
        missing.contains("set the interface eth7 up in network h1: No such device"),
        "{missing}"
    );
    let missing = refusal(kernel.add_address("eth7", ip("192.0.2.1"), 24));
    assert!(missing.contains("find the interface eth7"), "{missing}");
    let route = Route {
        table: None,
        destination: ip("198.51.100.0"),
        prefix: 24,
        via: Some(ip("203.0.113.1")),
        interface: "x",
        metric: None,
    };
    kernel.set_up("x", true).expect("it is there");
    kernel.set_up("y", true).expect("it is there");
    let route = refusal(kernel.add_route(route));
    assert!(route.contains("198.51.100.0/24 via 203.0.113.1 by the interface x"), "{route}");
    assert!(route.contains("(Nexthop has invalid gateway)"), "{route}");
}

#[test]
fn what_the_kernel_cannot_take_is_a_sentence_too() {
    let Some((here, mut kernel)) = network("h1") else { return };
    let end = |name| End { name, mac: mac(1), mtu: MTU };
    for name in ["", "a-name-of-16-byt", "a/b", "a b", "a\0b", "x%d", ".."] {
        let error =
            kernel.create_veth(end("x"), end(name), &here).expect_err("no name").to_string();
        assert!(error.contains("in network h1") && error.contains("1 to 15 bytes"), "{error}");
        let error = kernel.create_bridge(name).expect_err("no name").to_string();
        assert!(error.starts_with("cannot call an interface '"), "{error}");
        assert!(kernel.link(name).is_err(), "{name}");
    }
    assert_eq!(kernel.links().expect("it tells").len(), 1);
    let error = kernel.set_mtu("lo", u32::MAX).expect_err("too long").to_string();
    assert!(error.contains("an MTU of 4294967295 bytes"), "{error}");
    let error = kernel.add_address("lo", ip("192.0.2.1"), 200).expect_err("of 32 bits").to_string();
    assert!(error.contains("192.0.2.1/200"), "{error}");
    let error = kernel.set_alias("lo", &"x".repeat(300)).expect_err("too long").to_string();
    assert!(error.contains("alias"), "{error}");
}

#[test]
fn many_interfaces_are_all_listed() {
    let Some((here, mut kernel)) = network("crowd") else { return };
    // More than the kernel puts into one answer.
    for number in 0..60 {
        let (x, y) = (format!("x{number}"), format!("y{number}"));
        let end = |name, last| End { name, mac: mac(last), mtu: MTU };
        kernel.create_veth(end(&x, 1), end(&y, 2), &here).expect("the names are free");
    }
    assert_eq!(kernel.links().expect("it tells").len(), 121);
}

#[test]
fn settings_are_those_of_the_network_and_of_interfaces_to_come() {
    let Some((here, mut kernel)) = network("router") else { return };
    apply(&here, "router", Settings { forwards: true, ipv6: true }).expect("it is ours");
    let end = |name, last| End { name, mac: mac(last), mtu: MTU };
    kernel.create_veth(end("x", 1), end("y", 2), &here).expect("the names are free");
    let read = |path: &str| {
        let path = format!("/proc/sys/net/{path}");
        let text = here.run(|| std::fs::read_to_string(&path)).expect("we made it");
        text.unwrap_or_else(|error| panic!("{path}: {error}")).trim().to_owned()
    };
    assert_eq!(read("ipv4/ip_forward"), "1");
    assert_eq!(read("ipv4/conf/x/rp_filter"), "0");
    assert_eq!(
        (read("ipv6/conf/x/forwarding"), read("ipv6/conf/x/accept_ra")),
        ("1".into(), "0".into())
    );
    apply(&here, "router", Settings::default()).expect("it is ours");
    assert_eq!(read("ipv4/ip_forward"), "0");
    assert_eq!(read("ipv6/conf/x/disable_ipv6"), "1");
}

#[test]
fn offloads_are_switched_off_and_stay_off() {
    let Some((here, mut kernel)) = network("a") else { return };
    let end = |name, last| End { name, mac: mac(last), mtu: MTU };
    kernel.create_veth(end("x", 1), end("y", 2), &here).expect("the names are free");
    let (before, left, after) = here
        .run(|| {
            let before = offloads::active("x").expect("it is there");
            (before, offloads::switch_off("x").expect("it is ours"), offloads::active("x"))
        })
        .expect("we made it");
    assert!(before.contains(&Offload::TransmitChecksum), "{before:?}");
    assert_eq!((left.as_slice(), after.expect("it is there").as_slice()), (&[][..], &[][..]));
}

/// The same as every other test here, without any privilege of the machine's.
#[test]
fn all_this_works_in_a_user_namespace() {
    let program = std::env::current_exe().expect("we are a program");
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user"]).arg(program);
    command.args(["kernel::", "--show-output", "--skip", "all_this_works_in_a_user_namespace"]);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return println!("skipped, because unshare does not start: {error}"),
    };
    let (said, cried) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !said.contains("running ") {
        return println!("skipped, because user namespaces are refused: {cried}");
    }
    assert!(output.status.success() && !said.contains("skipped, because"), "{said}{cried}");
}
