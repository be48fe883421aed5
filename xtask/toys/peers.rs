//! Toy peers, both ends of each in this process, over real sockets: what was measured is right, and what nobody can know is absent.

#[path = "peers/common.rs"]
mod common;

use std::io::Read;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::groups::Test;
use pathscope_modes::latency::{self, LatencyPlan, LoadModel, Protocol};
use pathscope_modes::load::{Extent, Pattern};
use pathscope_modes::registry::Plan;
use pathscope_modes::survey::{self, SurveyOptions};
use pathscope_peers::registry::PeerKind;
use pathscope_run::server::{Settings, Stated};
use serde_json::{Value, json};

const BYTES: u64 = 3 << 20;
const PINGS: u64 = 200;

/// So many connections that each transfer [`BYTES`].
fn goodput(pattern: Pattern, connections: u32) -> Test {
    let options = SurveyOptions {
        connections,
        duration: Period::from_secs(1),
        probe_rate: Frequency(100),
        congestion_control: None,
    };
    let mut tests = survey::tests(&options, Period::from_millis(100));
    let (_, load) = tests.swap_remove(1);
    let Plan::Goodput(mut plan) = load.plan else { panic!("it is a load") };
    plan.pattern = pattern;
    plan.extent = Extent::TransferBytes(Bytes(BYTES));
    plan.warm_up_ns = Period(0);
    Test::new(Plan::Goodput(plan), None, Period::from_millis(100))
}

/// So many flows of [`PINGS`] each.
fn pings(connections: u32) -> Test {
    let plan = LatencyPlan {
        protocol: Protocol::Tcp,
        load_model: LoadModel::Closed,
        extent: latency::Extent::Iterations(PINGS),
        connections,
        ..LatencyPlan::probe(Frequency(100))
    };
    Test::new(plan.into(), None, Period::from_millis(100))
}

/// What comes of it to do something at the port of a server that was told what clients of this kind run, and how each of its
/// sessions ended.
fn served<R>(peer: PeerKind, test: &Test, clients: impl FnOnce(u16) -> R) -> (R, Vec<String>) {
    served_as_told(peer, vec![Stated { peer, tests: vec![test.clone()], port: Some(0), ports: 1, rate: None, is_of_several: false }], clients)
}

/// The same where it was told this.
fn served_as_told<R>(
    peer: PeerKind,
    stated: Vec<Stated>,
    clients: impl FnOnce(u16) -> R,
) -> (R, Vec<String>) {
    let settings = Settings { stated, ..Settings::default() };
    let (come, mut lines) = common::served_as_told(peer, settings, clients);
    lines.retain(|line| line.contains("session over") || line.contains("refused"));
    (come, lines)
}

/// The measurements of such a run, as the document has them.
fn measured((peer, name): (PeerKind, &str), port: u16, test: &Test, times: usize) -> Vec<Value> {
    let (document, failure) = common::run(peer, port, vec![test.clone(); times]);
    let document = serde_json::to_value(&document).expect("a document is JSON");
    let measurements = document["measurements"].as_array().cloned().unwrap_or_default();
    assert_eq!((measurements.len(), failure), (times, None), "all that can be known holds");
    assert!(document["hosts"]["server"].is_null(), "nobody says what host it is");
    assert_eq!(document["hosts"]["peer"]["name"], name);
    measurements
}

/// That so many sessions ended at the server, and each of them well.
fn ended_well(lines: &[String], sessions: usize) {
    assert!(lines.iter().all(|line| line.ends_with("session over")), "{lines:?}");
    assert_eq!(lines.len(), sessions, "{lines:?}");
}

/// Whether a check of this name is there, and has passed.
fn passed(measurement: &Value, name: &str) -> Option<bool> {
    let checks = measurement["checks"].as_array()?;
    checks.iter().find(|check| check["name"] == name)?["passed"].as_bool()
}

/// Each with what it calls itself.
const COOKIE: (PeerKind, &str) = (PeerKind::Cookie, "cookie toy");
const WELCOME: (PeerKind, &str) = (PeerKind::Welcome, "welcome toy");
const TOYS: [(PeerKind, &str); 2] = [COOKIE, WELCOME];

/// How many flows of pings it carries: one that does not tell connections apart cannot say whose a ping is.
fn flows_of(toy: (PeerKind, &str)) -> u32 {
    if toy == COOKIE { 1 } else { 2 }
}

#[test]
fn bytes_come_from_the_server_and_each_is_right() {
    for toy in TOYS {
        for connections in [1, 3] {
            let test = goodput(Pattern::Pull, connections);
            let (measurements, lines) = served(toy.0, &test, |port| measured(toy, port, &test, 2));
            ended_well(&lines, 2);
            for measurement in measurements {
                let down = &measurement["summary"]["goodput"]["down"];
                assert_eq!(down["received_bytes"], BYTES * u64::from(connections), "{measurement}");
                assert_eq!(passed(&measurement, "verified"), Some(true));
            }
        }
    }
}

#[test]
fn bytes_go_to_the_server_which_finds_them_right_and_what_it_counts_nobody_here_knows() {
    for toy in TOYS {
        let test = goodput(Pattern::Push, 3);
        let (measurements, lines) = served(toy.0, &test, |port| measured(toy, port, &test, 1));
        // A server's end that misses bytes, or finds wrong ones, fails.
        ended_well(&lines, 1);
        let [measurement] = measurements.as_slice() else { panic!("one was run") };
        let up = &measurement["summary"]["goodput"]["up"];
        assert!(up.is_null() || up["received_bytes"].is_null(), "absent, and not zero: {up}");
        for check in ["verified", "completed", "counts_agree"] {
            assert_eq!(passed(measurement, check), None, "nobody knows");
        }
        let caveats = measurement["caveats"].as_array().expect("there are some");
        let less = caveats.iter().find(|caveat| caveat["name"] == "peer_tells_less");
        let text = less.and_then(|caveat| caveat["text"].as_str()).unwrap_or_default();
        assert!(
            text.contains(toy.1) && text.contains("verified, completed, counts_agree"),
            "{text}"
        );
        assert_eq!(measurement["server"], json!(null));
    }
}

#[test]
fn round_trips_are_measured_and_every_echo_is_its_ping() {
    for toy in TOYS {
        let test = pings(flows_of(toy));
        let (measurements, lines) = served(toy.0, &test, |port| measured(toy, port, &test, 2));
        ended_well(&lines, 2);
        for measurement in measurements {
            let latency = &measurement["summary"]["latency"];
            let pings = u64::from(flows_of(toy)) * PINGS;
            assert_eq!(latency["rtt"]["count"], pings, "{latency}");
            assert_eq!(passed(&measurement, "echoes_verified"), Some(true));
            assert!(latency["corrupt_forward"].is_null(), "absent, and not zero: {latency}");
        }
    }
}

#[test]
fn clients_that_come_at_once_and_have_a_cookie_each_have_a_session_each() {
    let test = goodput(Pattern::Pull, 4);
    let ((), lines) = served(COOKIE.0, &test, |port| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| measured(COOKIE, port, &test, 3));
            }
        });
    });
    ended_well(&lines, 12);
}

#[test]
fn a_server_that_was_not_told_what_they_run_refuses_them() {
    let run = |port| common::run(COOKIE.0, port, vec![pings(1)]);
    let ((_, failure), lines) = served_as_told(COOKIE.0, Vec::new(), run);
    let failure = failure.expect("its connection was closed");
    assert!(failure.contains("flow 0 was not set up"), "{failure}");
    let told = "cookie toy clients are not served here; add cookie toy to --accept";
    assert!(lines.len() == 1 && lines[0].contains(told), "{lines:?}");
}

#[test]
fn a_server_speaks_first_to_who_has_said_nothing() {
    let (welcome, lines) = served(WELCOME.0, &pings(2), |port| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        let mut welcome = [0; 37];
        stream.read_exact(&mut welcome).expect("it speaks");
        welcome
    });
    assert!(welcome.starts_with(b"welcome: "), "{welcome:?}");
    // One of two connections never came, and the server ended.
    assert!(lines.len() == 1 && lines[0].contains("the server stopped"), "{lines:?}");
}

#[test]
fn what_it_cannot_carry_is_refused_by_name_before_anything_is_opened() {
    let mut datagrams = pings(1);
    let Plan::Latency(plan) = &mut datagrams.plan else { panic!("it is of pings") };
    plan.protocol = Protocol::Udp;
    for (peer, _) in TOYS {
        // Nobody listens there, and nobody is asked.
        let (document, failure) = common::run(peer, 1, vec![datagrams.clone()]);
        let failure = failure.expect("it is refused");
        assert!(failure.contains("no datagrams can be sent"), "{failure}");
        assert!(document.measurements.is_empty());
    }
}

#[test]
fn a_stated_duration_is_kept_by_each_end_and_the_close_of_its_direction_says_so() {
    const SECOND: Period = Period::from_secs(1);
    for toy in TOYS {
        for pattern in [Pattern::Push, Pattern::Pull, Pattern::Duplex, Pattern::Pushpull] {
            let mut test = goodput(pattern, 2);
            let Plan::Goodput(plan) = &mut test.plan else { panic!("it is goodput") };
            plan.extent = Extent::DurationNs(SECOND);
            let (measurements, lines) = served(toy.0, &test, |port| measured(toy, port, &test, 1));
            ended_well(&lines, 1);
            let [measurement] = measurements.as_slice() else { panic!("one was run") };
            let goodput = &measurement["summary"]["goodput"];
            let bytes = |way: &str, what: &str| goodput[way][what].as_u64();
            assert_eq!(bytes("up", "received_bytes"), None, "nobody knows: {goodput}");
            assert_eq!(bytes("up", "sent_bytes") > Some(0), pattern != Pattern::Pull, "{goodput}");
            let came = bytes("down", "received_bytes");
            assert_eq!(came > Some(0), pattern != Pattern::Push, "{goodput}");
            let expected = (pattern == Pattern::Pull).then_some(true);
            assert_eq!(passed(measurement, "verified"), expected, "{pattern:?}");
            // Where this end sends, it does by its own clock.
            if matches!(pattern, Pattern::Push | Pattern::Duplex) {
                assert!(measurement["duration_ns"].as_u64() >= Some(SECOND.0), "{measurement}");
            }
        }
        let mut test = pings(flows_of(toy));
        let Plan::Latency(plan) = &mut test.plan else { panic!("it is of pings") };
        plan.extent = latency::Extent::DurationNs(SECOND);
        let (measurements, lines) = served(toy.0, &test, |port| measured(toy, port, &test, 1));
        ended_well(&lines, 1);
        let latency = &measurements[0]["summary"]["latency"];
        assert!(latency["rtt"]["count"].as_u64() > Some(0), "{latency}");
        assert_eq!(
            (&latency["lost"], passed(&measurements[0], "echoes_verified")),
            (&json!(0), Some(true))
        );
    }
}
