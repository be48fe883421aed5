//! What other programs find in the JSON of both ends of iperf3's wire: each member that the original writes there, of the same type. Not what
//! stands in them, which `dialects` tests, and `run` with the original.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::process::Command;
use std::{fs, thread};

use serde_json::{Deserializer, Value};

use super::common::{Ran, Running, pathscope, run};
use super::daemon::wait_until;

/// What the original writes in each kind of test.
const MEMBERS: &str = include_str!("../fixtures/iperf3-members.txt");
/// What ours leaves out, at which end, in which tests: docs/peers.md says so.
const LEFT_OUT: [(&str, &str, &str); 2] =
    [("", "/start/cookie", ""), ("client", "/end/streams/*/sender/reorder", "tcp-pull")];
/// The port of who says none.
const PORT: u16 = 5_201;
/// Kinds of tests, with the words for each.
const CASES: [(&str, &[&str]); 6] = [
    ("tcp-push", &[]),
    ("tcp-pull", &["-R"]),
    ("tcp-bidir", &["--bidir"]),
    ("udp-push", &["-u"]),
    ("udp-pull", &["-u", "-R"]),
    ("udp-bidir", &["-u", "--bidir"]),
];

type Members = BTreeMap<String, &'static str>;

/// The place of each member of a document, and of what type it is.
fn members(document: &Value) -> Members {
    let mut found = Members::new();
    find(document, "", &mut found);
    found
}

fn find(value: &Value, place: &str, found: &mut Members) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(all) => {
            all.iter().for_each(|each| find(each, &format!("{place}/*"), found));
            "list"
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, each)| find(each, &format!("{place}/{key}"), found));
            "object"
        }
    };
    found.insert(if place.is_empty() { "/".to_owned() } else { place.to_owned() }, kind);
}

fn is_left_out(end: &str, case: &str, place: &str) -> bool {
    LEFT_OUT.iter().any(|(of_end, it, of)| {
        *it == place && (of_end.is_empty() || *of_end == end) && case.starts_with(of)
    })
}

/// Whether one end's document of such a test has all that two versions of the original write there.
fn has_all(end: &str, case: &str, document: &Value) {
    let found = members(document);
    let lines = MEMBERS.lines().filter(|line| !line.starts_with('#'));
    let told = lines.map(|line| line.split(' ').collect::<Vec<_>>());
    let mut count = 0;
    for member in told {
        let [version, of, place, kind, cases] = member[..] else { panic!("{member:?}") };
        let is_there = cases == "*" || cases.split(',').any(|it| it == case);
        if of == end && is_there && !is_left_out(end, case, place) {
            assert_eq!(found.get(place), Some(&kind), "{end}, {case}: {place} of {version}");
            count += 1;
        }
    }
    assert!(count > 100, "{end}, {case}: {count} members of two versions");
}

/// Whether somebody listens at an address, at the port of who says none.
fn listens(host: Ipv4Addr) -> bool {
    /// The state, as the kernel's table has it.
    const LISTENS: &str = "0A";
    let place = format!("{:08X}:{PORT:04X}", u32::from(host).swap_bytes());
    let table = fs::read_to_string("/proc/net/tcp").expect("the kernel tells");
    table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|columns| {
        columns.get(1).is_some_and(|it| *it == place) && columns.get(3) == Some(&LISTENS)
    })
}

/// A server of this program, by itself at an address, as soon as it listens: with `-J` it says nothing of that.
pub fn serves(program: Command, host: Ipv4Addr) -> Running {
    let server = Running::start(program);
    wait_until("it listens", || listens(host));
    server
}

fn words<'word>(host: &'word str, words: &[&'word str]) -> Vec<&'word str> {
    [&["-c", host, "-J", "-t", "2", "-b", "4M"], words].concat()
}

pub fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.said()))
}

/// The kind of test that a document is of.
fn case_of(document: &Value) -> String {
    let start = &document["start"]["test_start"];
    let way = match (start["reverse"].as_u64(), start["bidir"].as_u64()) {
        (Some(1), _) => "pull",
        (_, Some(1)) => "bidir",
        _ => "push",
    };
    let protocol = start["protocol"].as_str().expect("it is told");
    format!("{}-{way}", protocol.to_lowercase())
}

#[test]
fn programs_find_each_member_that_the_original_writes_at_either_end() {
    let host = Ipv4Addr::new(127, 77, 21, 2);
    let to = host.to_string();
    let mut server = serves(pathscope(&["iperf3", "-s", "-J", "-B", &to]), host);
    thread::scope(|scope| {
        for (case, of) in CASES {
            // Clients are served at once, each with a document of its own.
            for streams in ["1", "3"] {
                let of = [of, &["-P", streams]].concat();
                let words = [&["iperf3"], &words(&to, &of)[..]].concat();
                scope.spawn(move || has_all("client", case, &document(&run(&words).exits(0))));
            }
        }
    });
    for _ in 0..2 * CASES.len() {
        server.await_stdout(concat!("\t\t\"version\":\t\"", env!("CARGO_PKG_VERSION"), "\""));
    }
    server.signal("TERM");
    let ran = server.finish();
    let documents = Deserializer::from_str(&ran.stdout).into_iter::<Value>();
    let mut seen = Vec::new();
    for document in documents {
        let document = document.unwrap_or_else(|error| panic!("{error}: {}", ran.said()));
        let (case, start) = (case_of(&document), &document["start"]["test_start"]);
        has_all("server", &case, &document);
        seen.push((case, start["num_streams"].as_u64().expect("it is told")));
    }
    seen.sort();
    let mut all = CASES.map(|(case, _)| [(case.to_owned(), 1), (case.to_owned(), 3)]).concat();
    all.sort();
    assert_eq!(seen, all, "{}", ran.said());
}

/// The original, with these words.
pub fn original(words: &[&str]) -> Command {
    let mut program = Command::new("iperf3");
    program.args(words);
    program
}

/// What the original, with these words and at such an address, tells of a test with itself: at its server, and at its client.
fn of_the_original(host: Ipv4Addr, of: &[&str]) -> [Members; 2] {
    let to = host.to_string();
    let server = serves(original(&["-s", "-1", "-J", "-B", &to]), host);
    let client = Running::start(original(&words(&to, of))).finish().exits(0);
    [server.finish(), client].map(|ran| members(&document(&ran)))
}

/// What the original's document has and ours has not, or of another type.
fn lacking(end: &str, case: &str, theirs: &Members, ours: &Members) -> Vec<String> {
    let lacks = theirs.iter().filter(|(place, kind)| ours.get(*place) != Some(*kind));
    lacks.map(|(place, _)| place.clone()).filter(|it| !is_left_out(end, case, it)).collect()
}

#[test]
fn programs_find_each_member_that_the_iperf3_of_this_machine_writes() {
    if let Err(error) = Command::new("iperf3").arg("-v").output() {
        return println!("skipped, because iperf3 does not start: {error}");
    }
    let help = Command::new("iperf3").arg("-h").output().expect("it starts");
    let has_bidir = String::from_utf8_lossy(&help.stdout).contains("--bidir");
    let cases = CASES.iter().filter(|(case, _)| has_bidir || !case.ends_with("bidir"));
    thread::scope(|scope| {
        for (number, (case, of)) in (10..).step_by(2).zip(cases) {
            scope.spawn(move || {
                let host = |last| Ipv4Addr::new(127, 77, 21, last);
                let [theirs_there, theirs_here] = of_the_original(host(number), of);
                let ours = host(number + 1);
                let to = ours.to_string();
                let server = serves(pathscope(&["iperf3", "-s", "-1", "-J", "-B", &to]), ours);
                Running::start(original(&words(&to, of))).finish().exits(0);
                let there = members(&document(&server.finish().exits(0)));
                let server = serves(original(&["-s", "-1", "-J", "-B", &to]), ours);
                let words = [&["iperf3"], &words(&to, of)[..]].concat();
                let here = members(&document(&run(&words).exits(0)));
                server.finish();
                let lacking = [
                    lacking("server", case, &theirs_there, &there),
                    lacking("client", case, &theirs_here, &here),
                ];
                assert!(lacking.iter().all(Vec::is_empty), "{case}: {lacking:?}");
            });
        }
    });
}
