//! What is wrong is told in full, with its place, and all at once: a table of texts and what is said of
//! them.
//!
//! In one file: one list of faults, and what is said.

use std::fmt::Write as _;

use pathscope_core::quantity::{BitRate, Period};

use super::PORTFOLIO;
use crate::link::{Queue, Rate};
use crate::topology::{LONGEST_NAME, MOST_FAULTS, MOST_LINKS, MOST_NODES, Topology};

fn faults(text: &str) -> String {
    Topology::read("x.toml", text).network().expect_err(text).to_string()
}

#[test]
fn each_fault_is_a_sentence_with_its_place() {
    for (text, expected) in TABLE {
        assert_eq!(faults(text.trim_start()), expected.trim(), "{text}");
    }
}

/// `PORTFOLIO` with one thing replaced.
fn portfolio_with(what: &str, instead: &str) -> String {
    assert!(PORTFOLIO.contains(what), "{what}");
    faults(&PORTFOLIO.replace(what, instead))
}

#[test]
fn slips_in_the_portfolio_are_told_with_their_lines() {
    let line = |start: &str| {
        let lines = PORTFOLIO.lines().position(|line| line.starts_with(start));
        lines.expect(start) + 1
    };
    let expected = format!(
        "x.toml:{}:1: link r1:r9: there is no node `r9`; there are h1, h2, h3, h4, h5, h6, h7, h8, \
         h9, r1, r2, r3, r4, s1, s2",
        line("\"r1:r2\"")
    );
    assert_eq!(portfolio_with("\"r1:r2\"", "\"r1:r9\""), expected);
    let expected = format!(
        "x.toml:{}:30: link r1:r2: there is no key `delya`; did you mean `delay`? There are rate, \
         delay, jitter, queue, loss, dup, corrupt, reorder, forward, backward, subnet, addresses, mtu",
        line("\"r1:r2\"")
    );
    let slip = "rate = \"40Mbit\", delya";
    let found = portfolio_with("rate = \"40Mbit\", delay", slip);
    assert_eq!(found, expected);
}

#[test]
fn what_is_said_in_code_is_told_without_a_place() {
    let told = |topology: Topology| topology.network().expect_err("a fault").to_string();
    let pair = || Topology::named("pair").hosts(["a", "b"]);
    assert_eq!(
        told(pair().rate(BitRate(1)).link("a", "b")),
        "pair: rate: is not said of a link; say it right behind the link it is of"
    );
    assert_eq!(
        told(pair().subnet("10.0.0.0/24").link("a", "b").route("default", "a")),
        "pair: route: is not said of a node; say it right behind the node it is of\n\
         pair: subnet: is not said of a link or switch; say it right behind the link or switch it is of"
    );
    assert_eq!(
        told(pair().link("a", "b").queue(Queue::Packets(0)).delay(Period::from_secs(61))),
        "pair: link a:b: queue = 0p: a queue holds at least one frame or byte; the least that works \
         is queue=1p"
    );
    let fast = crate::link::Conditions { rate: Rate::Limited(BitRate(0)), ..Default::default() };
    assert_eq!(
        told(pair().link("a", "b").forward(fast)),
        "pair: link a:b: rate = 0bit: a rate is above 0; to let nothing pass, 'cut'"
    );
}

#[test]
fn a_topology_is_called_by_one_line() {
    let network = Topology::read("labs/pair.toml", "hosts = [\"a\"]").network();
    assert_eq!(network.expect("one host is a network").name(), "pair");
    assert_eq!(
        faults("name = \"a\\nb\"\nhosts = [\"a\"]"),
        "x.toml: name: `a\\nb` is no name of a topology; it has at most 64 characters, all in one line"
    );
}

#[test]
fn twenty_are_told_at_once() {
    let mut text = "hosts = [\"a\"]\n[links]\n".to_owned();
    for index in 0..30 {
        let _ = writeln!(text, "\"a:b#{index}\" = {{}}");
    }
    let faults = Topology::read("x.toml", &text).network().expect_err("no b");
    assert_eq!((faults.first().len(), faults.more()), (MOST_FAULTS, 10));
    assert!(faults.to_string().ends_with("\nx.toml: and 10 more"));
}

#[test]
fn what_is_too_much_is_refused_and_what_is_just_not_is_taken() {
    let star = |hosts: usize, parallel: usize| {
        let mut topology = Topology::named("star").isolated().router("r");
        for index in 1..=hosts {
            topology = topology.host(&format!("h{index:0>width$}", width = LONGEST_NAME - 1));
        }
        (0..parallel).fold(topology, |topology, _| topology.link("r", "h000000001"))
    };
    let told = |topology: Topology| topology.network().expect_err("a fault").to_string();
    let network = star(MOST_NODES - 1, 9).network().expect("all fits");
    assert_eq!(network.nodes()[0].interfaces[8].name, "to-h000000001.9");
    assert_eq!(told(star(MOST_NODES, 1)), "star: there are 129 nodes; a lab has 128 at most");
    assert_eq!(told(star(2, MOST_LINKS + 1)), "star: there are 257 links; a lab has 256 at most");
    assert_eq!(
        told(star(2, 10)),
        "star: link r:h000000001#10: two nodes have 9 links between them at most"
    );
    let large = format!("#{}", "x".repeat(1 << 20));
    assert_eq!(
        faults(&large),
        "x.toml:1:1: the file is larger than 1048576 bytes; is it a topology?"
    );
}

#[test]
fn subnets_run_out_and_then_have_to_be_stated() {
    let all_taken = Topology::named("full")
        .hosts(["a", "b"])
        .router("r")
        .link("a", "r")
        .subnet("10.0.0.0/16")
        .link("r", "b");
    assert_eq!(
        all_taken.network().expect_err("nothing is left").to_string(),
        "full: link r:b: no 10.0.N.0/24 is left for it; state a subnet"
    );
}

#[expect(clippy::needless_raw_string_hashes, reason = "all texts of the table are quoted alike")]
const TABLE: &[(&str, &str)] = &[
    (
        r#"
hosts = ["a", "12", "0x1f", "LocalHost",
  "A"]"#,
        r#"
x.toml:1:15: host: `12` is a number, and programs take that for an address; put a letter in front
x.toml:1:21: host: `0x1f` is a number, and programs take that for an address; put a letter in front
x.toml:1:29: host: `LocalHost` is every node's name for itself; give it another
x.toml:2:3: host A: there is a node `a` already, in line 1; hosts are found by their names, and those are the same in capitals"#,
    ),
    (
        r#"
"#,
        r#"
x.toml: there is no node; name some, for example hosts = ["a", "b"]"#,
    ),
    (
        r#"
hosts = ["a", "b""#,
        r#"
x.toml:1:18: this is not TOML: unclosed array, expected `]`"#,
    ),
    (
        r#"
hosts = 7"#,
        r#"
x.toml:1:9: `hosts`: `7` is not a list of names or a table"#,
    ),
    (
        r#"
hosts = ["a", 7]"#,
        r#"
x.toml:1:15: `hosts`: `7` is not a list of texts in quotes"#,
    ),
    (
        r#"
host = ["a"]"#,
        r#"
x.toml:1:1: there is no key `host`; did you mean `hosts`? There are name, seed, isolated, hosts, routers, switches, links, experiments"#,
    ),
    (
        r#"
hosts = ["a", "a"]"#,
        r#"
x.toml:1:15: host a: there is a node of this name already, in line 1; every name is unique"#,
    ),
    (
        r#"
hosts = ["a b", "elevenbytes"]"#,
        r#"
x.toml:1:10: host: `a b` is no name of a node; it is made of letters, digits, - and _, and starts with a letter or digit
x.toml:1:17: host: `elevenbytes` has 11 bytes; a node's name has 10 at most, since interfaces are named after it and Linux gives them 15"#,
    ),
    (
        r#"
seed = -1
isolated = "yes"
hosts = ["a"]"#,
        r#"
x.toml:1:8: `seed`: `-1` is not a whole number from 0 on
x.toml:2:12: `isolated`: `\"yes\"` is not true or false"#,
    ),
    (
        r#"
hosts = ["a", "b"]
[links]
"a:c" = {}"#,
        r#"
x.toml:3:1: link a:c: there is no node `c`; there are a, b"#,
    ),
    (
        r#"
hosts = ["alpha", "beta"]
[links]
"alpha:btea" = {}"#,
        r#"
x.toml:3:1: link alpha:btea: there is no node `btea`; did you mean `beta`? There are alpha, beta"#,
    ),
    (
        r#"
hosts = ["a", "b"]
[links]
"a-b" = {}
"a:a" = {}"#,
        r#"
x.toml:3:1: `a-b` names no link; write "a:b" for one between the nodes a and b, "a:b#2" for another
x.toml:4:1: link a:a: both ends are the same node; a link joins two"#,
    ),
    (
        r#"
hosts = ["a", "b"]
[links]
"a:b" = { rte = "1Mbit", rate = "fast", queue = "0p" }"#,
        r#"
x.toml:3:11: link a:b: there is no key `rte`; did you mean `rate`? There are rate, delay, jitter, queue, loss, dup, corrupt, reorder, forward, backward, subnet, addresses, mtu
x.toml:3:26: link a:b: rate: 'fast' is not a number followed by a unit; write for example 25Mbit or 1Gbit
x.toml:3:41: link a:b: queue = 0p: a queue holds at least one frame or byte; the least that works is queue=1p"#,
    ),
    (
        r#"
hosts = ["a", "b"]
[links]
"a:b" = { rate = "900Gbit", forward.subnet = "x", mtu = 100 }"#,
        r#"
x.toml:3:11: link a:b: rate = 900Gbit: a rate is 100Gbit at most; for no limit, rate=none
x.toml:3:37: link a:b: forward: there is no key `subnet`; there are rate, delay, jitter, queue, loss, dup, corrupt, reorder
x.toml:3:51: link a:b: mtu = 100: an MTU is from 576 to 9000 bytes"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { jitter = "5ms", delay = 3 }"#,
        r#"
x.toml:2:17: link a:b: jitter = 5ms: jitter is at most the delay, since no frame arrives before it was sent; raise delay in the same change
x.toml:2:41: link a:b: `delay`: `3` is not a text in quotes"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { forward.jitter = "5ms", delay = "1ms" }"#,
        r#"
x.toml:2:25: link a:b: jitter = 5ms: jitter is at most the delay, since no frame arrives before it was sent; raise delay in the same change"#,
    ),
    (
        r#"
hosts = ["a"]
switches.s = { delay = "1ms", routes = {} }
links."a:s" = {}"#,
        r#"
x.toml:2:16: switch s: a switch does nothing to frames; say `delay` of a link of it
x.toml:2:31: switch s: there is no key `routes`; there is only subnet"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { subnet = "10.0.0.1/24" }"#,
        r#"
x.toml:2:26: link a:b: subnet `10.0.0.1/24` is an address inside a subnet; the subnet is 10.0.0.0/24"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { subnet = ["10.0.0.0/24", "10.1.0.0/24", "127.0.0.0/9"] }"#,
        r#"
x.toml:2:42: link a:b: subnet `10.1.0.0/24` is a second one of IPv4 beside 10.0.0.0/24 of link a:b; a broadcast domain has one of each family
x.toml:2:57: link a:b: subnet `127.0.0.0/9` overlaps 127.0.0.0/8, which no interface may have"#,
    ),
    (
        r#"
hosts = ["a", "b", "c"]
isolated = true
links."a:b".subnet = "10.0.0.0/8"
links."b:c".subnet = "10.1.0.0/24""#,
        r#"
x.toml:4:22: link b:c: subnet `10.1.0.0/24` overlaps 10.0.0.0/8 of link a:b; every subnet has a range of its own"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { addresses = { a = "10.7.0.1", c = "10.0.0.1", b = "ten" } }"#,
        r#"
x.toml:2:35: link a:b: 10.7.0.1 lies outside of its subnet 10.0.0.0/24; state the one that is meant
x.toml:2:51: link a:b: addresses: `c` is no end of it; its ends are a and b
x.toml:2:67: link a:b: `ten` is no address; write for example 10.0.1.7, without a length"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { addresses = { a = "10.0.0.1", b = ["10.0.0.1", "10.0.0.0"] } }"#,
        r#"
x.toml:2:52: link a:b: 10.0.0.1 is the address of a already
x.toml:2:64: link a:b: 10.0.0.0 is the network's own or broadcast address of 10.0.0.0/24"#,
    ),
    (
        r#"
hosts = ["a"]
switches = ["s"]
links."a:s".addresses = { s = "10.0.0.1", a = ["10.0.0.2", "10.0.0.3"] }"#,
        r#"
x.toml:3:31: link a:s: addresses: s is a switch; a switch has no address
x.toml:3:60: link a:s: 10.0.0.3 is a second address of a here; one of each family"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { subnet = "10.0.0.0/32" }"#,
        r#"
x.toml:2:7: link a:b: 2 interfaces are more than the addresses of 10.0.0.0/32; state a larger subnet"#,
    ),
    (
        r#"
hosts = ["a", "b"]
links."a:b" = { subnet = "fd00::/64", mtu = 1279 }"#,
        r#"
x.toml:2:39: link a:b: mtu = 1279: a link with IPv6 has at least 1280 bytes"#,
    ),
    (
        r#"
hosts = ["a"]
switches = ["s", "t"]
[links]
"a:s" = {}
"s:t" = {}
"t:s" = {}"#,
        r#"
x.toml:6:1: link t:s: closes a loop of switches, in which frames would circle for ever; remove a link of the loop, or make one of its switches a router"#,
    ),
    (
        r#"
hosts = ["a", "b"]
switches = ["s"]
[links]
"a:s" = {}
"b:s".mtu = 9000"#,
        r#"
x.toml:5:1: link b:s: mtu = 9000 and that of a:s is 1500; all links around a switch have the same"#,
    ),
    (
        r#"
hosts = ["a", "b", "c"]
links."a:b" = {}"#,
        r#"
x.toml:1:20: host c: it has no link; join them by links and routers, or say isolated = true"#,
    ),
    (
        r#"
hosts = ["a", "b", "c"]
links."a:b" = {}
links."b:c" = {}"#,
        r#"
x.toml:1:10: host a: it does not reach host c: a has no route to 10.0.1.2; join them by links and routers, or say isolated = true"#,
    ),
    (
        r#"
hosts.a.routes = { default = "b", "10.0.0.0" = "r", "10.9.0.0/24" = "r" }
hosts.b = {}
routers = ["r"]
[links]
"a:r" = {}
"r:b" = {}"#,
        r#"
x.toml:1:20: host a: route to `default`: `b` is no router next to it that could take it; those are r (10.0.0.1)
x.toml:1:35: host a: route to `10.0.0.0`: it has no length; write for example 10.0.1.0/24 or fd00:1::/64, or default for all the rest
x.toml:1:53: host a: route to `10.9.0.0/24`: no subnet of this topology has an address in it"#,
    ),
    (
        r#"
hosts = ["a", "b"]
routers.p.routes."10.0.3.0/24" = "q"
routers.q.routes."10.0.3.0/24" = "p"
routers.r = {}
[links]
"a:p" = {}
"p:q" = {}
"q:r" = {}
"r:b" = {}"#,
        r#"
x.toml:1:10: host a: it does not reach host b: packets to 10.0.3.2 circle through p; state other routes"#,
    ),
    (
        r#"
hosts.a.routes."10.0.1.0/24" = "r"
hosts.b = { rate = "1Mbit" }
routers.r.routes = 7
[links]
"a:r" = {}
"r:b" = 7"#,
        r#"
x.toml:2:13: host b: there is no key `rate`; there is only routes
x.toml:3:20: router r: `routes`: `7` is not a table
x.toml:6:9: link r:b: `r:b`: `7` is not a table"#,
    ),
    (
        r#"
hosts = ["a", "b"]
[links]
"a:b" = {}
"a:b" = {}
x = 1
x ="#,
        r#"
x.toml:4:1: this is not TOML: duplicate key
x.toml:6:1: this is not TOML: duplicate key
x.toml:6:4: this is not TOML: string values must be quoted, expected literal string"#,
    ),
    (
        r#"
a file
of words
is not
a topology
and is
told so
in six lines
and not more"#,
        r#"
x.toml:1:3: this is not TOML: key with no value, expected `=`
x.toml:2:4: this is not TOML: key with no value, expected `=`
x.toml:3:4: this is not TOML: key with no value, expected `=`
x.toml:4:3: this is not TOML: key with no value, expected `=`
x.toml:5:5: this is not TOML: key with no value, expected `=`
x.toml:6:6: and 3 more like these; is this a topology?"#,
    ),
];
