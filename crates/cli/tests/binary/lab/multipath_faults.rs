//! Multipath in labs where something else than an interface goes wrong: firewalls, routes of no return, order, and the
//! connection that carries no datagram. What each path is said to have lost is what was dropped there.

use pathscope_lab::link::{Counts, FlowCounts};
use pathscope_modes::document::{Document, OutcomeState};

use super::multipath::{Course, TWO_WAYS, datagrams, has_ip, ip, near, story, summary};
use super::{PORT, Stand, UDP, is_flow, only, only_flow, wait_until};
use crate::common::Ran;

/// A host with two ways to one server, and a detour back for one of them.
const DETOUR: &str = "name = \"detour\"
hosts = [\"laptop\", \"server\"]
routers = [\"ap\", \"modem\", \"isp\", \"sky\", \"core\"]
[links]
\"laptop:ap\" = { delay = \"4ms\" }
\"laptop:modem\" = { delay = \"2ms\" }
\"ap:isp\" = {}
\"modem:isp\" = {}
\"isp:core\" = {}
\"ap:sky\" = {}
\"sky:core\" = { delay = \"20ms\" }
\"core:server\" = {}
";

/// The same two ways by IPv6.
const TWO_WAYS_6: &str = "name = \"ways6\"
hosts = [\"laptop\", \"server\"]
routers = [\"ap\", \"modem\", \"isp\"]
[links]
\"laptop:ap\" = { delay = \"4ms\", loss = \"3%\", subnet = \"fd00:1::/64\" }
\"laptop:modem\" = { delay = \"2ms\", subnet = \"fd00:2::/64\" }
\"ap:isp\" = { subnet = \"fd00:3::/64\" }
\"modem:isp\" = { subnet = \"fd00:4::/64\" }
\"isp:server\" = { subnet = \"fd00:5::/64\" }
";

/// A library that refuses to bind sockets to interfaces, as systems before Linux 5.7 do.
const REFUSING: &str = "#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
int setsockopt(int socket, int level, int option, const void *value, socklen_t length) {
    if (level == SOL_SOCKET && option == SO_BINDTODEVICE) { errno = EPERM; return -1; }
    int (*next)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, \"setsockopt\");
    return next(socket, level, option, value, length);
}
";

const PATHS: [&str; 4] = ["--path", "to-ap", "--path", "to-modem"];

/// The firewall of a node, where this machine has one; said where not.
pub fn firewall(stand: &Stand, node: &str, rules: &str) -> bool {
    if std::process::Command::new("nft").arg("-v").output().is_err() {
        println!("skipped, because there is no nft here");
        return false;
    }
    let ran = stand.start(node, &["nft", rules]).finish();
    let is_there = ran.code == Some(0);
    if !is_there {
        println!("skipped, because this kernel has no such firewall: {}", ran.stderr);
    }
    is_there
}

/// What the one rule of a node's firewall that counts has dropped.
fn dropped(stand: &Stand, node: &str) -> u64 {
    let listed = stand.start(node, &["nft", "list", "ruleset"]).finish().exits(0).stdout;
    let mut words = listed.split_whitespace().skip_while(|word| *word != "packets");
    words.nth(1).and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{listed}"))
}

/// A run over two paths, while a firewall where packets of this node take this hook drops for a while what this matches,
/// until it has dropped so many; and how many it dropped in all. `None` where there is no firewall.
fn walled(
    stand: &Stand,
    (node, hook): (&str, &str),
    matching: &str,
    least: u64,
) -> Option<(Ran, Document, u64)> {
    let table = format!(
        "add table inet wall; add chain inet wall way {{ type filter hook {hook} priority 0; }}"
    );
    if !firewall(stand, node, &table) {
        return None;
    }
    let _server = stand.server("server");
    let mut course =
        Course::start(stand, &[&PATHS[..], &["-t", "10s", "--rate", "2Mbit"]].concat());
    course.await_intervals(5);
    let rule = format!("add rule inet wall way {matching} counter drop");
    assert!(firewall(stand, node, &rule));
    wait_until("enough groups were dropped", || dropped(stand, node) >= least);
    // Policies of the chain apply from here on, and the counter stays.
    let opened = format!("insert rule inet wall way udp dport {PORT} accept");
    assert!(firewall(stand, node, &opened));
    let (ran, document) = course.finish();
    Some((ran.exits(0), document, dropped(stand, node)))
}

#[test]
fn a_firewall_on_the_way_costs_its_path_what_it_drops_and_the_other_nothing() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let matching = format!("udp dport {PORT}");
    let Some((ran, document, dropped)) = walled(&stand, ("modem", "forward"), &matching, 90) else {
        return;
    };
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    assert_eq!((modem.lost, modem.lost_forward), (dropped, Some(dropped)), "{}", ran.said());
    assert_eq!((ap.sent, ap.lost), (summary.scheduled, 0), "{}", ran.said());
    assert_eq!((summary.lost, summary.effective_gaps.outages), (0, 0), "{}", ran.said());
    assert_eq!((modem.gaps.outages, modem.gaps.most_in_a_row), (1, dropped), "{}", ran.said());
    // It was silent, and never gone.
    assert_eq!(story(&document, "to-modem"), ["up"]);
}

#[test]
fn a_firewall_of_this_machine_is_a_refusal_and_no_loss_of_the_path() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let matching = format!("oifname to-modem udp dport {PORT}");
    let Some((ran, document, dropped)) = walled(&stand, ("laptop", "output"), &matching, 60) else {
        return;
    };
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    // The system says so of each, and what never left is not lost.
    assert!(modem.refused >= dropped, "{} of {dropped}: {}", modem.refused, ran.said());
    assert_eq!((modem.sent + modem.refused, modem.lost), (summary.scheduled, 0), "{}", ran.said());
    assert_eq!((ap.sent, ap.lost, summary.lost), (summary.scheduled, 0, 0), "{}", ran.said());
}

#[test]
fn an_answer_that_takes_another_way_home_is_an_answer() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(DETOUR) else { return };
    let _server = stand.server("server");
    let (home, detour) = (stand.address("laptop", "to-ap"), stand.address("sky", "to-core"));
    let words = ["ip", "route", "replace", &home, "via", &detour];
    stand.start("core", &words).finish().exits(0);
    let before = stand.settled();
    let course = Course::start(&stand, &[&PATHS[..], &["-t", "3s", "--rate", "2Mbit"]].concat());
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let account = stand.settled().since(&before);
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    assert_eq!((ap.received, modem.received), (summary.scheduled, summary.scheduled));
    let sky = account.link("sky:core").expect("it is there");
    let back = only_flow(&sky.backward, UDP, [PORT, 0]);
    assert_eq!(datagrams(back.delivered, 32), ap.received, "each came by the detour");
    // 4 ms there, 20 and 4 ms back; the other as ever.
    assert!(ap.latency.min_ns >= Some(28_000_000), "{:?}", ap.latency.min_ns);
    assert!(modem.latency.min_ns >= Some(4_000_000), "{:?}", modem.latency.min_ns);
    assert!(summary.first_elsewhere > 0, "{}", ran.said());
}

#[test]
fn an_answer_that_comes_home_by_another_interface_is_lost_on_the_way_back() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let home = stand.address("laptop", "to-ap");
    let (modem, laptop) = (stand.address("modem", "to-isp"), stand.address("laptop", "to-modem"));
    let mut course =
        Course::start(&stand, &[&PATHS[..], &["-t", "10s", "--rate", "2Mbit"]].concat());
    course.await_intervals(5);
    stand.start("modem", &["ip", "route", "replace", &home, "via", &laptop]).finish().exits(0);
    stand.start("isp", &["ip", "route", "replace", &home, "via", &modem]).finish().exits(0);
    wait_until("answers to two sockets come by one interface", || {
        let account = stand.account();
        let link = account.link("laptop:modem").expect("it is there");
        let answers = |row: &&FlowCounts| is_flow(row, UDP, [PORT, 0]);
        link.backward.truth.flows.iter().filter(answers).count() >= 2
    });
    stand.start("isp", &["ip", "route", "del", &home, "via", &modem]).finish().exits(0);
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    // The socket is bound to its interface, and takes nothing from another.
    assert!(ap.lost > 0, "{}", ran.said());
    assert_eq!((ap.lost_forward, ap.lost_return), (Some(0), Some(ap.lost)), "{}", ran.said());
    assert_eq!((ap.sent, modem.lost, summary.lost), (summary.scheduled, 0, 0), "{}", ran.said());
    assert_eq!(summary.prevented, ap.lost);
}

#[test]
fn copies_and_datagrams_out_of_order_are_those_of_the_links() {
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let rest = ["-t", "3s", "--rate", "4Mbit", "--grouping", "10"];
    // Apart from each other: a copy that comes late is a copy, and no datagram out of order.
    let conditions = ["reorder=4%x3 dup=0%", "reorder=none dup=5%"];
    for (is_order, condition) in [true, false].into_iter().zip(conditions) {
        stand.set(&[(condition, 0)], "laptop:ap", Some("laptop"));
        stand.set(&[(condition, 0)], "laptop:modem", Some("modem"));
        let before = stand.settled();
        let (ran, document) = Course::start(&stand, &[&PATHS[..], &rest].concat()).finish();
        let ran = ran.exits(0);
        let account = stand.settled().since(&before);
        let summary = summary(&document);
        let far = only(&document).server.as_ref().and_then(|end| end.multipath.as_ref());
        let far = far.expect("it reported");
        let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
        let truth = |counts: &Counts, other| {
            let tally = if is_order { counts.reordered } else { counts.duplicated };
            let number = datagrams(tally, other);
            assert!(number > 0, "{condition}: {}", ran.said());
            if is_order { (number, 0) } else { (0, number) }
        };

        // On the way there: the server has them, and each is echoed as it came.
        let link = account.link("laptop:ap").expect("it is there");
        let there = truth(&only_flow(&link.forward, UDP, [0, PORT]), 64);
        assert_eq!((far.paths[0].reordered, far.paths[0].duplicates), there, "{}", ran.said());
        assert_eq!((ap.reordered, ap.duplicates), there, "{}", ran.said());

        // On the way back: the client alone has them.
        let link = account.link("laptop:modem").expect("it is there");
        let back = truth(&only_flow(&link.backward, UDP, [PORT, 0]), 32);
        assert_eq!((far.paths[1].reordered, far.paths[1].duplicates), (0, 0));
        assert_eq!((modem.reordered, modem.duplicates), back, "{}", ran.said());

        // Whatever the order, nothing was lost, and nothing counted twice.
        for path in [ap, modem] {
            assert_eq!((path.sent, path.received, path.lost), (1_464, 1_464, 0), "{}", ran.said());
        }
        assert_eq!((summary.received, summary.lost), (1_464, 0));
    }
}

#[test]
fn two_ways_by_ipv6_lose_what_their_links_lose() {
    let Some(stand) = Stand::up(TWO_WAYS_6) else { return };
    let _server = stand.server("server");
    let before = stand.settled();
    let rest = ["-t", "3s", "--rate", "2Mbit"];
    let (ran, document) = Course::start(&stand, &[&PATHS[..], &rest].concat()).finish();
    let ran = ran.exits(0);
    let account = stand.settled().since(&before);
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    for path in &near(&document).paths {
        assert!(path.facts.local.as_ref().is_some_and(|it| it.contains(':')), "{:?}", path.facts);
    }
    let link = account.link("laptop:ap").expect("it is there");
    let (there, back) =
        (only_flow(&link.forward, UDP, [0, PORT]), only_flow(&link.backward, UDP, [PORT, 0]));
    assert!(ap.lost > 0, "{}", ran.said());
    assert_eq!(ap.lost, there.lost.frames + back.lost.frames, "{}", ran.said());
    assert_eq!((modem.lost, summary.lost, summary.prevented), (0, 0, ap.lost), "{}", ran.said());
}

#[test]
fn a_control_connection_that_dies_with_its_interface_costs_nothing_that_was_measured() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let _server = stand.server("server");
    let mut course =
        Course::start(&stand, &[&PATHS[..], &["-t", "10s", "--rate", "2Mbit"]].concat());
    course.await_intervals(5);
    ip(&stand, &["link", "set", "to-ap", "down"]);
    let (ran, document) = course.finish();
    let ran = ran.exits(3).complains(&["the server did not send its final report within"]);
    assert_eq!(document.outcome.state, OutcomeState::Failed, "{}", ran.said());
    let summary = summary(&document);
    let [ap, modem] = &summary.paths[..] else { panic!("two paths: {}", ran.said()) };
    assert_eq!(summary.scheduled, 2_441, "to its end: {}", ran.said());
    assert_eq!((modem.sent, modem.lost), (summary.scheduled, 0), "{}", ran.said());
    assert_eq!((summary.received, summary.lost), (summary.scheduled, 0), "{}", ran.said());
    assert!(ap.sent < modem.sent);
    assert_eq!(story(&document, "to-ap"), ["up", "down"]);
}

/// How a program is started that may bind no socket to an interface; said where that cannot be had.
fn refused(stand: &Stand) -> Option<[String; 2]> {
    let [source, library] = ["refuse.c", "refuse.so"].map(|name| stand.folder.path().join(name));
    std::fs::write(&source, REFUSING).expect("there is room");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
    match compiler.output() {
        Ok(built) if built.status.success() => {
            Some(["env".to_owned(), format!("LD_PRELOAD={}", library.display())])
        }
        built => {
            println!("skipped, because nothing compiles C here: {built:?}");
            None
        }
    }
}

#[test]
fn a_refused_device_leaves_a_path_by_its_address_while_routes_send_that_by_it() {
    if !has_ip() {
        return;
    }
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let Some(refused) = refused(&stand) else { return };
    let refused = refused.each_ref().map(String::as_str);
    let _server = stand.server("server");
    // A lab has a rule for each address; this one comes before them, and sends that of the modem by the access point.
    let local = stand.address("laptop", "to-modem");
    let astray = |change| {
        ip(&stand, &["rule", change, "from", &local, "priority", "1", "table", "main"]);
    };
    astray("add");
    let words = [&PATHS[..], &["-t", "1s", "--rate", "1Mbit"]].concat();
    let (ran, document) = Course::start_by(&stand, &refused, &words).finish();
    ran.exits(5).complains(&["path to-modem never worked", "another way"]);
    assert_eq!(story(&document, "to-ap"), ["up"]);
    assert_eq!(story(&document, "to-modem"), ["failed"]);
    assert_eq!(summary(&document).paths[1].sent, 0);
    let why = near(&document).paths[1].facts.trouble.clone().unwrap_or_default();
    assert!(why.contains("another way") && why.contains("ip rule"), "{why}");

    astray("del");
    let words = [&PATHS[..], &["-t", "10s", "--rate", "1Mbit"]].concat();
    let mut course = Course::start_by(&stand, &refused, &words);
    course.await_intervals(5);
    astray("add");
    course.await_intervals(5);
    astray("del");
    let (ran, document) = course.finish();
    let ran = ran.exits(0);
    assert_eq!(story(&document, "to-ap"), ["up"], "{}", ran.said());
    let told = story(&document, "to-modem");
    assert_eq!((told.first(), told.last()), (Some(&"up"), Some(&"used")), "{told:?}");
    assert!(told.contains(&"down"), "{told:?}");
    let facts = &near(&document).paths[1].facts;
    assert_eq!(facts.binding.as_deref(), Some("source address"));
    let verified = facts.verified.as_deref().unwrap_or_default();
    assert!(verified.ends_with("packets from it leave by to-modem"), "{verified}");
    let caveats = &only(&document).caveats;
    assert!(caveats.iter().any(|it| it.name == "bound_by_address"), "{caveats:?}");
    let summary = summary(&document);
    assert_eq!((summary.paths[0].lost, summary.lost), (0, 0), "{}", ran.said());
    assert!(summary.paths[1].received > 0, "{}", ran.said());
}
