//! What is computed where nothing was stated, and what gives way where something was.

use pathscope_core::quantity::{BitRate, Period};

use super::{addresses, node, read, routes};
use crate::link::{Conditions, Queue, Rate};
use crate::topology::{Network, Passage, Topology};

fn right(topology: &Topology) -> Network {
    topology.network().unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn code_and_file_say_the_same() {
    let code = Topology::named("pair")
        .hosts(["a", "b"])
        .router("r")
        .link("a", "r")
        .rate(BitRate(20_000_000))
        .delay(Period::from_millis(10))
        .queue(Queue::Packets(33))
        .link("r", "b")
        .subnet("10.9.0.0/16")
        .address("b", "10.9.8.7")
        .mtu(9000)
        .seed(7);
    let file = read(
        r#"
        name = "pair"
        seed = 7
        hosts = ["a", "b"]
        routers = ["r"]
        [links]
        "a:r" = { rate = "20Mbit", delay = "10ms", queue = "33p" }
        "r:b" = { subnet = "10.9.0.0/16", addresses = { b = "10.9.8.7" }, mtu = 9000 }
        "#,
    );
    assert_eq!(right(&code), file);
    assert_eq!(addresses(&file, "b"), ["10.9.8.7/16 to-r"]);
    assert_eq!(node(&file, "b").interfaces[0].mtu, 9000);
    assert_eq!(file.seed(), Some(7));
}

/// The example in the documentation of `Topology::read`.
#[test]
fn the_documented_file_is_right() {
    let source = include_str!("../read/mod.rs");
    let lines = source.lines().skip_while(|line| !line.ends_with("```toml")).skip(1);
    let lines = lines.map(str::trim_start).take_while(|line| !line.ends_with("```"));
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("///")).collect();
    let network = read(&lines.join("\n"));
    assert_eq!((network.nodes().len(), network.links().len()), (5, 5));
    assert_eq!(addresses(&network, "r1").last().map(String::as_str), Some("fd00:8::1/64 to-r2.2"));
    assert_eq!(routes(&network, "r1")[0], "10.9.0.0/24 via 10.0.1.2 to-r2");
}

#[test]
fn stated_subnets_are_left_out_of_the_computed_ones() {
    let network = right(
        &Topology::named("x")
            .hosts(["a", "b", "c"])
            .router("r")
            .link("a", "r")
            .link("b", "r")
            .link("c", "r")
            .subnet("10.0.0.0/23"),
    );
    assert_eq!(addresses(&network, "a"), ["10.0.2.2/24 to-r"]);
    assert_eq!(addresses(&network, "b"), ["10.0.3.2/24 to-r"]);
    assert_eq!(addresses(&network, "c"), ["10.0.0.2/23 to-r"]);
}

#[test]
fn both_families_have_addresses_and_routes_where_both_are_stated() {
    let network = right(
        &Topology::named("x")
            .hosts(["a", "b", "c"])
            .router("r")
            .link("a", "r")
            .subnet("fd00:1::/64")
            .subnet("10.1.0.0/24")
            .link("r", "b")
            .subnet("fd00:2::/64")
            .subnet("10.2.0.0/30")
            .link("r", "c"),
    );
    assert_eq!(addresses(&network, "a"), ["10.1.0.2/24 to-r", "fd00:1::2/64 to-r"]);
    assert_eq!(routes(&network, "a"), ["default via 10.1.0.1 to-r", "::/0 via fd00:1::1 to-r"]);
    assert_eq!(routes(&network, "c"), ["default via 10.0.0.1 to-r"]);
    assert_eq!(node(&network, "a").interfaces[0].neighbours.len(), 2);
}

#[test]
fn ipv6_alone_is_enough() {
    let network = right(&Topology::named("x").hosts(["a", "b"]).link("a", "b").subnet("fd00::/64"));
    assert_eq!(addresses(&network, "b"), ["fd00::2/64 to-b".replace("to-b", "to-a")]);
}

#[test]
fn chains_of_switches_are_one_domain_and_parallel_links_are_two() {
    let network = right(
        &Topology::named("x")
            .hosts(["a", "b"])
            .routers(["r", "q"])
            .switch("s")
            .switch("t")
            .link("a", "s")
            .link("s", "t")
            .link("t", "r")
            .link("r", "q")
            .link("q", "r")
            .link("r", "q")
            .link("q", "b"),
    );
    let names: Vec<&str> = network.domains().iter().map(|domain| domain.name.as_str()).collect();
    assert_eq!(names, ["s+t", "r:q", "q:r", "r:q#2", "q:b"]);
    assert_eq!(
        addresses(&network, "r"),
        ["10.0.0.1/24 to-t", "10.0.1.1/24 to-q", "10.0.2.1/24 to-q.2", "10.0.3.1/24 to-q.3"]
    );
    // Of equal ways the first one, by the order of the file; a router has no others.
    assert_eq!(routes(&network, "r"), ["default via 10.0.1.2 to-q"]);
    assert_eq!(node(&network, "a").interfaces[0].neighbours.len(), 1);
}

#[test]
fn the_fewest_routers_win_and_hosts_forward_nothing() {
    // From a to b there are two routers by r and q, and one host in between by h.
    let network = right(
        &Topology::named("x")
            .hosts(["a", "b", "h"])
            .routers(["r", "q", "direct"])
            .link("a", "h")
            .link("h", "b")
            .link("a", "r")
            .link("r", "q")
            .link("q", "b")
            .link("a", "direct")
            .link("direct", "q")
            .link("r", "direct"),
    );
    let to_b: Vec<String> = routes(&network, "a")
        .into_iter()
        .filter(|route| route.starts_with("10.0.4.0/24"))
        .collect();
    assert_eq!(
        to_b,
        ["10.0.4.0/24 via 10.0.2.1 to-r", "10.0.4.0/24 via 10.0.5.1 to-direct metric 1"]
    );
}

#[test]
fn stated_routes_take_the_place_of_computed_ones() {
    let triangle = || {
        Topology::named("x")
            .hosts(["a", "b"])
            .link("a", "r")
            .link("r", "p")
            .link("p", "q")
            .link("r", "q")
            .link("q", "b")
            .routers(["p", "q"])
            .router("r")
    };
    assert_eq!(
        routes(&right(&triangle()), "r"),
        ["10.0.2.0/24 via 10.0.1.1 to-p", "10.0.4.0/24 via 10.0.3.1 to-q"]
    );
    let detour = right(&triangle().route("10.0.4.0/24", "p"));
    assert_eq!(
        routes(&detour, "r"),
        ["10.0.4.0/24 via 10.0.1.1 to-p", "default via 10.0.1.1 to-p"]
    );
    let wide = right(&triangle().route("10.0.0.0/16", "10.0.3.1"));
    assert_eq!(routes(&wide, "r"), ["10.0.0.0/16 via 10.0.3.1 to-q"]);
    let default = right(&triangle().route("default", "p"));
    assert_eq!(routes(&default, "r"), ["default via 10.0.1.1 to-p"]);
}

#[test]
fn each_direction_has_its_own_conditions_over_the_common_ones() {
    let network = read(
        r#"
        hosts = ["a", "b"]
        links."a:b" = { forward.rate = "1Mbit", delay = "5ms", backward = { delay = "0s", loss = "1%" } }
        "#,
    );
    let Passage::Relayed { forward, backward } = network.links()[0].passage else {
        panic!("a link with conditions is relayed");
    };
    assert_eq!(forward.to_string().split(" jitter").next(), Some("rate=1Mbit delay=5ms"));
    assert_eq!((backward.rate, backward.delay), (Rate::Unlimited, Period(0)));
    assert!(backward.to_string().contains("loss=1%"));
}

#[test]
fn a_link_without_conditions_is_plain_and_one_with_any_is_not() {
    let pair = || Topology::named("x").hosts(["a", "b"]).link("a", "b");
    let passage = |topology: Topology| right(&topology).links()[0].passage;
    assert_eq!(passage(pair()), Passage::Plain);
    assert_eq!(passage(pair().conditions(Conditions::default())), Passage::Plain);
    let slow = Conditions { rate: Rate::Limited(BitRate(1)), ..Conditions::default() };
    let expected = Passage::Relayed { forward: Conditions::default(), backward: slow };
    assert_eq!(passage(pair().backward(slow)), expected);
}

#[test]
fn two_paths_that_nothing_joins_reach_each_other_address_by_address() {
    let network = right(
        &Topology::named("x")
            .hosts(["a", "b"])
            .routers(["p", "q"])
            .link("a", "p")
            .link("p", "b")
            .link("a", "q")
            .link("q", "b"),
    );
    assert_eq!(
        routes(&network, "a"),
        ["10.0.1.0/24 via 10.0.0.1 to-p", "10.0.3.0/24 via 10.0.2.1 to-q"]
    );
}
