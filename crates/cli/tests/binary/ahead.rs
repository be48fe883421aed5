//! Connections that follow one another and send their request with their opening, seen on their way and at both ends: whatever a
//! path, a server or a stranger makes of it, each is counted once, and rightly.

mod gate;
mod killed;
mod rows;
mod strangers;

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pathscope_core::record::Check;
use pathscope_modes::document::Document;
use pathscope_modes::goodput::{DirectionSummary, GoodputSummary};
use pathscope_os::clock;

use crate::caller::PATIENCE;
use crate::common::{Ran, Running, Server, pathscope, run};
use gate::{Capability, Gate, Treat};

/// At a time, and one after the other at each place.
const AT_ONCE: u64 = 3;
const ITERATIONS: u64 = 5;
const IN_ALL: u64 = AT_ONCE * ITERATIONS;

/// A server to which no flow is told one by one: its workers answer openings. It does not say where it listens, so it has an address
/// of its own.
fn quiet_server(address: [u8; 4]) -> (Running, SocketAddr) {
    let address = SocketAddr::from((address, 5_210));
    let [host, port] = [address.ip().to_string(), address.port().to_string()];
    let words = ["server", "--quiet", "--listen", &host, "--port", &port];
    let running = Running::start(pathscope(&words));
    let deadline = clock::now() + PATIENCE;
    while TcpStream::connect(address).is_err() {
        assert!(clock::now() < deadline, "it never listened at {address}");
        std::thread::yield_now();
    }
    (running, address)
}

/// A run of connections that follow one another, of which nothing is written down.
fn churn(host: &str, words: &str) -> Ran {
    let all = format!(
        "goodput {host} --json --quiet --no-probe --connections {AT_ONCE} --iterations {ITERATIONS} {words}"
    );
    run(&all.split_whitespace().collect::<Vec<_>>())
}

fn summary(document: &Document) -> &GoodputSummary {
    document.measurements[0].summary.goodput.as_ref().expect("it is goodput")
}

/// Connections that completed, failed, were cut, and of which an end is not known; those that were tried.
fn counts(document: &Document) -> [u64; 5] {
    let GoodputSummary { completed, failed, cut, unknown, attempted, .. } = *summary(document);
    [completed, failed, cut, unknown, attempted]
}

/// Every connection ended well at both ends, and so many bytes of each left and came, up and down.
fn all_came(ran: &Ran, [up, down]: [u64; 2]) -> Document {
    assert_eq!(ran.code, Some(0), "{}", ran.said());
    let document = ran.document();
    assert_eq!(counts(&document), [IN_ALL, 0, 0, 0, IN_ALL], "{}", ran.said());
    let summary = summary(&document);
    for (way, each) in [(&summary.up, up), (&summary.down, down)] {
        let bytes = |way: &DirectionSummary| [way.sent_bytes, way.received_bytes];
        let moved = way.as_ref().map_or([Some(0); 2], bytes);
        assert_eq!(moved, [Some(IN_ALL * each); 2], "{}", ran.said());
    }
    let checks = &document.measurements[0].checks;
    assert!(!checks.is_empty() && checks.iter().all(Check::has_held), "{checks:?}");
    document
}

/// What is run, how many bytes of each connection have to stand behind its opening, and how many move up and down.
const RUNS: [(&str, usize, [u64; 2]); 6] = [
    ("--pattern push -n 64", 64, [64, 0]),
    // No more than the document of the protocol allows.
    ("--pattern push -n 4000", 1_024, [4_000, 0]),
    ("--pattern pull -n 3000", 0, [0, 3_000]),
    ("--pattern duplex -n 300", 150, [150, 150]),
    ("--pattern pushpull --push-bytes 64 --pull-bytes 32 -n 960", 64, [640, 320]),
    // Its first byte has a time of its own, which has not come when it is begun.
    ("--pattern push -n 2000 --rate 1Mbit --buffer 500", 0, [2_000, 0]),
];

/// Every pattern and way to close, through a gate that holds each request back until it has seen it whole: counts and bytes are
/// exact, whoever answers openings at the server.
#[test]
fn requests_leave_with_their_openings_and_all_are_counted() {
    let (_quiet, quiet) = quiet_server([127, 77, 22, 1]);
    let told = Server::start();
    let told: SocketAddr = told_address(&told);
    for server in [quiet, told] {
        for (words, ahead, bytes) in RUNS {
            for how in ["graceful", "rude"] {
                let treat =
                    move |flow| Treat::Ahead(if u64::from(flow) < AT_ONCE { 0 } else { ahead });
                let (host, gate) = Gate::before(server, Capability::Told, treat);
                let ran = churn(&host, &format!("{words} --shutdown {how}"));
                all_came(&ran, bytes);
                let (went, plain) = went_ahead(&gate);
                assert_eq!(went + plain, IN_ALL, "{words} {how} {server}");
                // Those that are there from the beginning do not, and until all workers run those that follow them.
                let least = if ahead == 0 { 0 } else { IN_ALL - 2 * AT_ONCE };
                assert!(went >= least, "{went} of {IN_ALL}: {words} {how} {server}");
            }
        }
    }
}

/// How many connections sent a request ahead, and how many did not. None sent anything else.
fn went_ahead(gate: &Gate) -> (u64, u64) {
    let [ahead, plain, wrong] =
        [&gate.ahead, &gate.plain, &gate.wrong].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(wrong, 0, "{gate:?}");
    (ahead, plain)
}

fn told_address(server: &Server) -> SocketAddr {
    server.host().parse().expect("an address")
}

/// An older server, and one of version 1, hear nothing before they have answered; and a server serves clients that say nothing before.
#[test]
fn who_takes_no_early_data_gets_none() {
    let (_running, server) = quiet_server([127, 77, 22, 2]);
    for capability in [Capability::Hidden, Capability::OfVersion1] {
        for (words, _, bytes) in RUNS {
            let (host, gate) = Gate::before(server, capability, |_| Treat::Ahead(0));
            all_came(&churn(&host, words), bytes);
            assert_eq!(went_ahead(&gate), (0, IN_ALL), "{words} {capability:?}");
        }
    }
}

#[test]
fn an_engine_that_sends_nothing_ahead_says_so() {
    let (_running, server) = quiet_server([127, 77, 22, 3]);
    for (engine, ahead) in [("plain", 64), ("epoll", 64), ("uring", 0)] {
        let treat = move |flow| Treat::Ahead(if u64::from(flow) < AT_ONCE { 0 } else { ahead });
        let (host, gate) = Gate::before(server, Capability::Told, treat);
        let ran = churn(&host, &format!("-n 64 --engine {engine}"));
        if ran.stderr.contains("the uring engine is not possible on this machine") {
            println!("skipped, because this machine has no io_uring");
            continue;
        }
        let document = all_came(&ran, [64, 0]);
        let (went, _) = went_ahead(&gate);
        assert_eq!(went > 0, ahead > 0, "{engine}");
        let told = document.measurements[0]
            .substitutions
            .iter()
            .find(|it| it.what.starts_with("early data"));
        assert_eq!(told.map(|it| &*it.ran), (ahead == 0).then_some("off"), "{engine}");
    }
}

/// A run in which this is done with one connection that follows others; what that came to, and why it failed.
fn with_one(server: SocketAddr, (treat, ahead): (Treat, usize), words: &str) -> (Document, String) {
    /// After those that are there from the beginning.
    const FLOW: u32 = 7;
    let is_done = AtomicBool::new(false);
    let treat = move |flow| {
        let is_meant = flow == FLOW && !is_done.swap(flow == FLOW, Ordering::SeqCst);
        if is_meant {
            treat
        } else {
            Treat::Ahead(if u64::from(flow) < AT_ONCE { 0 } else { ahead })
        }
    };
    let (host, gate) = Gate::before(server, Capability::Told, treat);
    let ran = churn(&host, words);
    let document = ran.document();
    let spoilt = gate.spoilt.load(Ordering::SeqCst);
    assert_eq!((spoilt, gate.wrong.load(Ordering::SeqCst)), (1, 0), "{}", ran.said());
    let report = document.measurements[0].client.goodput.as_ref().expect("it reported");
    let row = report.flows.iter().find(|row| row.flow.0 == FLOW);
    let why = row.and_then(|row| row.error.as_ref()).map_or(String::new(), |it| it.text.clone());
    let others = [summary(&document).cut, summary(&document).unknown];
    assert_eq!(others, [0, 0], "{}", ran.said());
    assert_eq!(ran.code, Some(if why.is_empty() { 0 } else { 5 }), "{}", ran.said());
    (document, why)
}

#[test]
fn a_connection_that_is_never_answered_is_given_up_in_time_and_the_others_go_on() {
    let (_running, server) = quiet_server([127, 77, 22, 4]);
    let began = clock::now();
    let (document, why) = with_one(server, (Treat::Mute, 64), "-n 64");
    assert!(clock::now().since(began) >= Duration::from_secs(10), "it was waited for");
    assert_eq!(why, "no answer within 10 s");
    assert_eq!(counts(&document), [IN_ALL - 1, 1, 0, 0, IN_ALL]);
    let failures = summary(&document).failures;
    assert_eq!((failures.network, failures.data, failures.protocol), (1, 0, 0));
    assert!(summary(&document).errnos.is_empty(), "the system said nothing");
    // What went ahead of an answer that never came counts as never sent.
    let up = summary(&document).up.as_ref().expect("it goes up");
    assert_eq!([up.sent_bytes, up.received_bytes], [Some(64 * (IN_ALL - 1)); 2]);
}

#[test]
fn a_connection_that_is_reset_before_its_answer_is_counted_by_its_error() {
    let (_running, server) = quiet_server([127, 77, 22, 5]);
    for how in ["graceful", "rude"] {
        let words = format!("-n 64 --shutdown {how}");
        let (document, why) = with_one(server, (Treat::Reset, 64), &words);
        assert!(why.contains("reset"), "{why}");
        assert_eq!(counts(&document), [IN_ALL - 1, 1, 0, 0, IN_ALL]);
        let errnos = &summary(&document).errnos;
        let errnos: Vec<_> = errnos.iter().map(|it| (&*it.errno, it.client, it.server)).collect();
        assert_eq!(errnos, [("ECONNRESET", 1, 0)], "{how}");
    }
}

#[test]
fn a_connection_whose_opening_is_damaged_is_made_again_and_counts_once() {
    let (_running, quiet) = quiet_server([127, 77, 22, 6]);
    let told = Server::start();
    for server in [quiet, told_address(&told)] {
        for _ in 0..5 {
            let (document, why) = with_one(server, (Treat::Damaged, 64), "-n 64");
            assert_eq!((counts(&document), &*why), ([IN_ALL, 0, 0, 0, IN_ALL], ""));
            let up = summary(&document).up.as_ref().expect("it goes up");
            assert_eq!([up.sent_bytes, up.received_bytes], [Some(64 * IN_ALL); 2]);
        }
    }
}

/// Wrong data that came ahead: the server's word that the connection has its place is read before its reset, so that what failed is
/// the data and not the connection.
#[test]
fn wrong_data_behind_an_opening_is_told_as_that() {
    let (_running, quiet) = quiet_server([127, 77, 22, 7]);
    let told = Server::start();
    for server in [quiet, told_address(&told)] {
        for (pattern, ahead) in [("push", 64), ("duplex", 32)] {
            let words = format!("-n 64 --pattern {pattern}");
            let (document, why) = with_one(server, (Treat::Spoilt(20), ahead), &words);
            assert!(why.contains("wrong data at byte 20, 1 byte long: 1 bit flipped"), "{why}");
            assert_eq!(counts(&document), [IN_ALL - 1, 1, 0, 0, IN_ALL], "{pattern}");
            let failures = summary(&document).failures;
            assert_eq!((failures.network, failures.data, failures.protocol), (0, 1, 0));
        }
    }
}

/// What is asked for over UDP has no connections that follow one another, and is refused or served as ever.
#[test]
fn a_load_over_udp_is_as_it_was() {
    let (_running, server) = quiet_server([127, 77, 22, 8]);
    let words = format!(
        "goodput {server} --json --quiet --no-probe --protocol udp --rate 10Mbit -t 300ms --connections 3"
    );
    let ran = run(&words.split_whitespace().collect::<Vec<_>>()).exits(0);
    let checks = &ran.document().measurements[0].checks;
    assert!(!checks.is_empty() && checks.iter().all(Check::has_held), "{checks:?}");
}
