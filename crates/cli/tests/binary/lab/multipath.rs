//! Multipath in labs: what each path is said to have done is what its link did, and paths that go and come back
//! cost the others nothing.

use pathscope_core::quantity::count;
use pathscope_lab::link::Tally;
use pathscope_modes::document::Document;
use pathscope_modes::multipath::{MultipathReport, MultipathSummary};
use pathscope_modes::paths::Transition;

use super::{BINARY, PORT, Stand, UDP, only, only_flow};
use crate::common::{Ran, Running, document_in};

/// A host with three ways to one server, the third for small packets alone.
const THREE_WAYS: &str = "name = \"ways\"
hosts = [\"laptop\", \"server\"]
routers = [\"ap\", \"modem\", \"mast\", \"isp\"]
[links]
\"laptop:ap\" = { delay = \"4ms\" }
\"laptop:modem\" = { delay = \"2ms\" }
\"laptop:mast\" = { delay = \"8ms\", mtu = 600 }
\"ap:isp\" = {}
\"modem:isp\" = {}
\"mast:isp\" = {}
\"isp:server\" = {}
";

/// A host with two ways to one server.
pub const TWO_WAYS: &str = "name = \"ways\"
hosts = [\"laptop\", \"server\"]
routers = [\"ap\", \"modem\", \"isp\"]
[links]
\"laptop:ap\" = { delay = \"4ms\" }
\"laptop:modem\" = { delay = \"2ms\" }
\"ap:isp\" = {}
\"modem:isp\" = {}
\"isp:server\" = {}
";

/// Of frames of datagrams of 1,024 bytes and of `other` bytes, how many are of 1,024.
pub fn datagrams(tally: Tally, other: u64) -> u64 {
    const HEADERS: u64 = 14 + 20 + 8;
    let bytes_more = tally.bytes - tally.frames * (HEADERS + other);
    assert_eq!(bytes_more % (1_024 - other), 0, "only two sizes in {tally:?}");
    bytes_more / (1_024 - other)
}

/// A test that runs, and the file of its result.
pub struct Course {
    running: Running,
    file: std::path::PathBuf,
}

impl Course {
    pub fn start(stand: &Stand, words: &[&str]) -> Self {
        Self::start_by(stand, &[], words)
    }

    /// The same, started by another program.
    pub fn start_by(stand: &Stand, program: &[&str], words: &[&str]) -> Self {
        let file = stand.folder.path().join("run.json");
        let output = file.to_str().expect("plain").to_owned();
        let usual =
            ["multipath", "server", "--json-stream", "--report-every", "200ms", "-o", &output];
        let words = [program, &[BINARY], &usual, words].concat();
        Self { running: stand.start("laptop", &words), file }
    }

    /// Until so many intervals more have passed.
    pub fn await_intervals(&mut self, number: u32) {
        (0..number).for_each(|_| drop(self.running.await_stdout("\"event\":\"interval\"")));
    }

    pub fn finish(self) -> (Ran, Document) {
        let ran = self.running.finish();
        let document = document_in(&self.file);
        (ran, document)
    }
}

pub fn summary(document: &Document) -> &MultipathSummary {
    only(document).summary.multipath.as_ref().expect("it is multipath")
}

pub fn near(document: &Document) -> &MultipathReport {
    only(document).client.multipath.as_ref().expect("it reported")
}

/// What happened to a path, in order.
pub fn story<'document>(document: &'document Document, interface: &str) -> Vec<&'document str> {
    let of = |it: &&Transition| it.path.is_some() && it.interface == interface;
    near(document).transitions.iter().filter(of).map(|it| it.what.as_str()).collect()
}

/// Whether the laptop can be given other routes; said where not.
pub fn ip(stand: &Stand, words: &[&str]) -> Ran {
    stand.start("laptop", &[&["ip"], words].concat()).finish().exits(0)
}

pub fn has_ip() -> bool {
    let found = std::process::Command::new("ip").arg("-V").output().is_ok();
    if !found {
        println!("skipped, because there is no ip here");
    }
    found
}

/// The routes by an interface, as `ip route` takes them again.
pub fn routes(stand: &Stand, interface: &str) -> Vec<String> {
    let listed = ip(stand, &["-4", "route", "show", "dev", interface]).stdout;
    listed.lines().filter(|line| line.contains(" via ")).map(|it| it.trim().to_owned()).collect()
}

pub fn put_back(stand: &Stand, interface: &str, routes: &[String]) {
    for route in routes {
        let words: Vec<&str> =
            route.split_whitespace().filter(|word| *word != "linkdown").collect();
        ip(stand, &[&["route", "replace"], &words[..], &["dev", interface]].concat());
    }
}

#[test]
fn each_path_says_what_its_link_did() {
    let Some(stand) = Stand::up(THREE_WAYS) else { return };
    let _server = stand.server("server");
    // The server learns what that way takes from what is lost on it.
    let (first, _) = Course::start(&stand, &["--path", "to-mast", "-t", "1s"]).finish();
    first.exits(0);
    stand.set(&[("loss=5%", 0)], "laptop:ap", Some("laptop"));
    stand.set(&[("loss=3%", 0)], "laptop:ap", Some("ap"));
    stand.set(&[("dup=5%", 0)], "laptop:modem", Some("modem"));
    let before = stand.settled();
    let paths = ["--path", "to-ap", "--path", "to-modem", "--path", "to-mast"];
    let rest = ["-t", "3s", "--rate", "4Mbit", "--grouping", "10"];
    let (ran, document) = Course::start(&stand, &[&paths[..], &rest].concat()).finish();
    let ran = ran.exits(0);
    let account = stand.settled().since(&before);
    let summary = summary(&document);
    assert_eq!(
        (summary.scheduled, summary.without_path, summary.unsent),
        (1_464, 0, 0),
        "{}",
        ran.said()
    );
    let [ap, modem, mast] = &summary.paths[..] else { panic!("three paths: {}", ran.said()) };

    let link = account.link("laptop:ap").expect("it is there");
    let (there, back) =
        (only_flow(&link.forward, UDP, [0, PORT]), only_flow(&link.backward, UDP, [PORT, 0]));
    assert_eq!(ap.sent, datagrams(there.offered, 64));
    assert_eq!(ap.lost_forward, Some(datagrams(there.lost, 64)));
    assert_eq!(ap.lost_return, Some(datagrams(back.lost, 32)));
    assert_eq!(ap.received, datagrams(back.delivered, 32));
    assert!(ap.lost > 0, "{}", ran.said());

    let link = account.link("laptop:modem").expect("it is there");
    let (there, back) =
        (only_flow(&link.forward, UDP, [0, PORT]), only_flow(&link.backward, UDP, [PORT, 0]));
    assert_eq!((modem.sent, modem.lost), (datagrams(there.offered, 64), 0));
    assert_eq!(modem.duplicates, datagrams(back.duplicated, 32));
    assert!(modem.duplicates > 0, "{}", ran.said());

    // Two fragments each, and nothing lost.
    assert_eq!((mast.sent, mast.received, mast.corrupt), (1_464, 1_464, 0));
    // What the first path lost another answered, and nobody lost anything.
    assert_eq!((summary.lost, summary.prevented), (0, ap.lost));
    assert_eq!(summary.received, 1_464);
    // Twice the delays, and never less.
    for (path, least_ms) in [(ap, 8), (modem, 4), (mast, 16)] {
        assert!(
            path.latency.min_ns >= Some(least_ms * 1_000_000),
            "{}: {:?}",
            path.interface,
            path.latency.min_ns
        );
    }
    for (path, name) in near(&document).paths.iter().zip(["to-ap", "to-modem", "to-mast"]) {
        let (interface, verified) = (&path.facts.interface, path.facts.verified.as_deref());
        assert_eq!(interface, name);
        assert!(verified.is_some_and(|it| it.contains("is the interface's")), "{verified:?}");
    }
}

#[test]
fn a_link_that_goes_down_costs_the_other_path_nothing_and_comes_back() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let kept = routes(&stand, "to-modem");
    let words = ["--path", "to-ap", "--path", "to-modem", "-t", "12s", "--rate", "2Mbit"];
    let mut course = Course::start(&stand, &words);
    course.await_intervals(5);
    ip(&stand, &["link", "set", "to-modem", "down"]);
    course.await_intervals(5);
    ip(&stand, &["link", "set", "to-modem", "up"]);
    put_back(&stand, "to-modem", &kept);
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    assert_eq!((ap.sent, ap.lost, ap.refused), (summary.scheduled, 0, 0), "{}", ran.said());
    assert_eq!((summary.lost, summary.without_path), (0, 0));
    let told = story(&document, "to-modem");
    assert_eq!(told.first(), Some(&"up"), "{told:?}");
    assert!(told.contains(&"down"), "{told:?}");
    assert_eq!(told.last(), Some(&"used"), "it came back: {told:?}");
    assert_eq!(story(&document, "to-ap"), ["up"]);
    assert!(modem.gaps.outages >= 1 && modem.sent < ap.sent, "{}", ran.said());
    assert_eq!(summary.effective_gaps.outages, 0);
}

#[test]
fn an_address_that_is_removed_takes_its_path_and_given_again_brings_it_back() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let kept = routes(&stand, "to-modem");
    let listed = ip(&stand, &["-4", "-o", "address", "show", "dev", "to-modem"]).stdout;
    let address = listed.split_whitespace().skip_while(|word| *word != "inet").nth(1);
    let address = address.expect("it has one").to_owned();
    let words = ["--path", "to-ap", "--path", "to-modem", "-t", "12s", "--rate", "2Mbit"];
    let mut course = Course::start(&stand, &words);
    course.await_intervals(5);
    ip(&stand, &["address", "del", &address, "dev", "to-modem"]);
    course.await_intervals(5);
    ip(&stand, &["address", "add", &address, "dev", "to-modem"]);
    put_back(&stand, "to-modem", &kept);
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    assert_eq!((summary.paths[0].lost, summary.lost), (0, 0), "{}", ran.said());
    let told = story(&document, "to-modem");
    assert!(told.contains(&"down") && told.last() == Some(&"used"), "{told:?}");
    let why = near(&document).transitions.iter().find(|it| it.what == "down").map(|it| &it.why);
    assert!(why.is_some_and(|why| why.contains("address")), "{why:?}");
}

#[test]
fn a_route_that_moves_takes_the_path_that_has_none_and_is_told() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let kept = routes(&stand, "to-ap");
    assert!(!kept.is_empty(), "there is a way by it");
    let mut course = Course::start(&stand, &["-t", "12s", "--rate", "2Mbit"]);
    course.await_intervals(5);
    ip(&stand, &["route", "flush", "dev", "to-ap", "proto", "static"]);
    course.await_intervals(5);
    put_back(&stand, "to-ap", &kept);
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    // Best effort: the route's interface comes first, the other was found.
    let names: Vec<&str> = summary.paths.iter().map(|path| path.interface.as_str()).collect();
    assert_eq!(names, ["to-ap", "to-modem"], "{}", ran.said());
    assert_eq!((summary.paths[1].lost, summary.lost), (0, 0), "{}", ran.said());
    let told = story(&document, "to-ap");
    assert!(told.contains(&"down") && told.last() == Some(&"used"), "{told:?}");
    let moved = near(&document).transitions.iter().filter(|it| it.what == "route");
    let moved: Vec<&str> = moved.map(|it| it.interface.as_str()).collect();
    assert_eq!(moved.first(), Some(&"to-modem"), "{moved:?}");
    assert_eq!(moved.last(), Some(&"to-ap"), "{moved:?}");
}

#[test]
fn an_interface_that_there_is_no_room_for_is_told() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let server = stand.address("server", "to-isp");
    let mut course = Course::start(&stand, &["-t", "5s", "--rate", "1Mbit"]);
    course.await_intervals(2);
    ip(&stand, &["link", "add", "extra", "type", "veth", "peer", "name", "its-end"]);
    ip(&stand, &["link", "set", "its-end", "up"]);
    ip(&stand, &["address", "add", "10.99.0.2/24", "dev", "extra"]);
    ip(&stand, &["link", "set", "extra", "up"]);
    ip(&stand, &["route", "add", &server, "dev", "extra", "metric", "4000"]);
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    assert_eq!(summary(&document).paths.len(), 2, "{}", ran.said());
    // Its route is told as well: it is that of one address, and so the system's choice.
    let of = |it: &&Transition| it.interface == "extra" && it.what == "failed";
    let told: Vec<&Transition> = near(&document).transitions.iter().filter(of).collect();
    let [told] = &told[..] else { panic!("once: {told:?}") };
    assert_eq!(told.path, None);
    assert!(told.why.starts_with("no room: this run has room for 2 paths"), "{}", told.why);
}

#[test]
fn ten_seconds_without_any_path_end_no_run() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let words = ["--path", "to-ap", "--path", "to-modem", "-t", "16s", "--rate", "1Mbit"];
    let mut course = Course::start(&stand, &[&words[..], &["--grouping", "5"]].concat());
    course.await_intervals(5);
    for link in ["laptop:ap", "laptop:modem"] {
        stand.set(&[("cut", 0), ("restore", 10_000)], link, None);
    }
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    let gaps = &summary.effective_gaps;
    assert_eq!(gaps.outages, 1, "{}", ran.said());
    assert!(gaps.longest_ns >= 9_000_000_000, "{}: {}", count(gaps.longest_ns), ran.said());
    assert_eq!(summary.lost + summary.received + summary.without_path, summary.scheduled);
    assert_eq!(summary.scheduled, 1_953);
    assert!(only(&document).server.is_some(), "both ends reported: {}", ran.said());
}

#[test]
fn every_interface_down_for_a_while_ends_no_run_and_all_come_back() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let names = ["to-ap", "to-modem"];
    let kept = names.map(|name| routes(&stand, name));
    let words = ["--path", "to-ap", "--path", "to-modem", "-t", "14s", "--rate", "1Mbit"];
    let mut course = Course::start(&stand, &words);
    course.await_intervals(5);
    names.iter().for_each(|name| drop(ip(&stand, &["link", "set", name, "down"])));
    // Three seconds, in which nothing can be sent.
    course.await_intervals(15);
    for (name, kept) in names.iter().zip(&kept) {
        ip(&stand, &["link", "set", name, "up"]);
        put_back(&stand, name, kept);
    }
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    assert_eq!(summary.scheduled, 1_708, "{}", ran.said());
    assert!(summary.without_path > 0, "{}", ran.said());
    assert_eq!(summary.lost + summary.received + summary.without_path, summary.scheduled);
    assert!(summary.effective_gaps.longest_ns >= 2_000_000_000, "{}", ran.said());
    for name in names {
        let told = story(&document, name);
        assert_eq!((told.first(), told.last()), (Some(&"up"), Some(&"used")), "{told:?}");
        assert!(told.contains(&"down"), "{told:?}");
    }
    assert!(only(&document).server.is_some(), "both ends reported: {}", ran.said());
}

#[test]
fn an_interface_that_is_no_path_is_named_with_its_reason() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let refused = |interface: &str, why: &str| {
        let words = ["multipath", "server", "--path", interface, "-t", "1s"];
        let ran = stand.pathscope("laptop", &words).finish();
        ran.exits(4).complains(&[interface, why]);
    };
    refused("wlan9", "there is no interface of this name");
    let kept = routes(&stand, "to-modem");
    ip(&stand, &["route", "flush", "dev", "to-modem", "proto", "static"]);
    refused("to-modem", "no route leads to");
    ip(&stand, &["address", "flush", "dev", "to-modem"]);
    refused("to-modem", "it has no IPv4 address");
    ip(&stand, &["link", "set", "to-modem", "down"]);
    refused("to-modem", "it is down");
    assert!(!kept.is_empty());
    // Beside one that works the run goes on; but it was asked for, and never worked.
    let words = ["--path", "to-ap", "--path", "to-modem", "-t", "1s"];
    let (ran, document) = Course::start(&stand, &words).finish();
    ran.exits(5).complains(&["path to-modem never worked: it is down"]);
    assert_eq!(story(&document, "to-modem"), ["failed"]);
    let [ap, modem] = &summary(&document).paths[..] else { panic!("two paths") };
    assert_eq!((ap.lost, modem.sent), (0, 0));
    assert_eq!((modem.gaps.outages, modem.gaps.most_in_a_row), (1, summary(&document).scheduled));
    let caveats: Vec<_> = document.measurements[0].caveats.iter().map(|it| &it.name).collect();
    assert!(caveats.iter().any(|name| *name == "path_never_worked"), "{caveats:?}");
}
