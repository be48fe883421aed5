//! The shape of a run on loopback: connections that follow one another, what is drawn for each, what ends it.

use crate::common::{Ran, Running, Server, document_in, pathscope, run};
use pathscope_core::record::{Check, FlowErrorKind};
use pathscope_modes::document::{Document, Measurement};
use pathscope_modes::goodput::GoodputSummary;
use pathscope_modes::load::NoFairness;

fn goodput(server: &Server, words: &str) -> Ran {
    let host = server.host();
    let words = ["goodput", &host, "--no-probe", "--json"].into_iter().chain(words.split(' '));
    run(&words.collect::<Vec<_>>())
}

fn only(document: &Document) -> (&Measurement, &GoodputSummary) {
    assert_eq!(document.measurements.len(), 1);
    let measurement = &document.measurements[0];
    (measurement, measurement.summary.goodput.as_ref().expect("it is goodput"))
}

fn received(summary: &GoodputSummary) -> u64 {
    [summary.up, summary.down].into_iter().flatten().filter_map(|way| way.received_bytes).sum()
}

fn check_all(measurement: &Measurement) {
    assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
}

#[test]
fn connections_follow_one_another_in_every_pattern_and_engine() {
    let server = Server::start();
    for pattern in ["push", "pull", "pushpull", "duplex"] {
        for engine in ["epoll", "plain"] {
            let turns = if pattern == "pushpull" { " --segments 1KiB" } else { "" };
            let words = format!(
                "--pattern {pattern} --engine {engine} -c 5 -n 30000 --iterations 6{turns}"
            );
            let document = goodput(&server, &words).exits(0).document();
            let (measurement, summary) = only(&document);
            assert_eq!((summary.completed, summary.attempted, summary.failed), (30, 30, 0));
            assert_eq!(received(summary), 30 * 30_000, "{words}");
            for end in [Some(&measurement.client), measurement.server.as_ref()] {
                let end = end.and_then(|end| end.goodput.as_ref()).expect("both ends report");
                let flows: Vec<u32> = end.flows.iter().map(|flow| flow.flow.0).collect();
                assert_eq!(flows, (0..30).collect::<Vec<_>>(), "{words}");
                let known =
                    end.flows.iter().all(|flow| flow.local.is_some() && flow.remote.is_some());
                assert!(known, "{words}: addresses outlive their connections");
            }
            check_all(measurement);
        }
    }
}

#[test]
fn a_thousand_connections_in_churn_are_counted_to_the_last() {
    let server = Server::start();
    for words in ["-c 100 --iterations 10 -n 64", "-c 100 --iterations 15 -n 64 --shutdown rude"] {
        let document = goodput(&server, words).exits(0).document();
        let (measurement, summary) = only(&document);
        let all = if words.contains("15") { 1_500 } else { 1_000 };
        assert_eq!(
            (summary.completed, summary.attempted, summary.failed),
            (all, all, 0),
            "{words}"
        );
        assert_eq!(received(summary), all * 64);
        // One receive each: how even they were nobody can say.
        for way in [summary.up, summary.down].into_iter().flatten() {
            let told = (way.fairness, way.no_fairness, way.too_short, way.starved);
            assert_eq!(told, (None, Some(NoFairness::TooShort), all, 0), "{words}");
        }
        // The document holds a bounded number of rows, and says how many it leaves out.
        let client = measurement.client.goodput.as_ref().expect("it reports");
        assert_eq!((client.flows.len() as u64, client.flows_omitted), (1_000, all - 1_000));
        check_all(measurement);
    }
}

#[test]
fn what_is_drawn_repeats_with_its_seed() {
    let server = Server::start();
    let sizes = |seed: &str| {
        let words = format!(
            "-c 4 --iterations 5 -n [1KiB,100KiB] --buffer [100,8KiB] --shutdown random --pattern duplex \
             --seed {seed}"
        );
        let document = goodput(&server, &words).exits(0).document();
        let (measurement, summary) = only(&document);
        check_all(measurement);
        let flows = &measurement.client.goodput.as_ref().expect("it reports").flows;
        let sizes: Vec<u64> =
            flows.iter().map(|flow| flow.sent_bytes + flow.received_bytes).collect();
        assert_eq!(sizes.iter().sum::<u64>(), received(summary));
        assert!(sizes.iter().all(|size| (1 << 10..=100 << 10).contains(size)), "{sizes:?}");
        sizes
    };
    assert_eq!(sizes("7"), sizes("7"));
    assert_ne!(sizes("7"), sizes("8"));
}

#[test]
fn a_time_limit_ends_what_goes_on_for_ever() {
    let server = Server::start();
    for pattern in ["push", "pull", "pushpull", "duplex"] {
        for transfer in ["20KiB", "1TiB"] {
            let words = format!(
                "-c 4 --iterations forever -n {transfer} --time-limit 400ms --pattern {pattern}"
            );
            let document = goodput(&server, &words).exits(0).document();
            let (measurement, summary) = only(&document);
            check_all(measurement);
            assert_eq!(summary.failed, 0, "{words}");
            assert!(measurement.duration_ns >= 400_000_000);
            assert!(received(summary) > 0);
            if transfer == "1TiB" {
                // One that the server's clock ended may be followed by another, until the client's ends too.
                assert_eq!((summary.completed, summary.cut), (0, summary.attempted), "{words}");
                assert!(summary.cut >= 4, "{words}: {summary:?}");
            } else {
                assert!(summary.completed > 4, "{words}: {summary:?}");
                assert_eq!(summary.completed + summary.cut, summary.attempted, "{words}");
            }
        }
    }
}

#[test]
fn an_interrupt_ends_a_churn_with_what_it_came_to() {
    let server = Server::start();
    let host = server.host();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let file = path.to_str().expect("plain");
    let words = ["goodput", &host, "-c", "4", "-n", "10KiB", "--iterations", "forever", "-o", file];
    let words = [&words[..], &["--report-every", "100ms", "--json-stream"]].concat();
    let mut client = Running::start(pathscope(&words));
    client.await_stdout("\"interval\"");
    client.signal("INT");
    client.finish().exits(130);
    let document = document_in(&path);
    let (_, summary) = only(&document);
    assert!(summary.completed > 0, "{summary:?}");
}

#[test]
fn a_server_serves_so_many_connections_and_ends() {
    let mut server = Server::start_with(&["--exit-after", "12"]);
    let ran = goodput(&server, "-c 4 --iterations 5 -n 1KiB").exits(5);
    let document = ran.document();
    let (measurement, summary) = only(&document);
    assert_eq!((summary.completed, summary.failed, summary.attempted), (12, 8, 20));
    let client = measurement.client.goodput.as_ref().expect("it reports");
    assert_eq!((client.failures.network, client.failures.data), (8, 0));
    let refused = client.flows.iter().filter_map(|flow| flow.error.as_ref());
    let refused: Vec<_> = refused.filter(|error| error.text.contains("--exit-after")).collect();
    assert_eq!(refused.len(), 8);
    assert!(refused.iter().all(|error| error.kind == FlowErrorKind::Network));
    server.running.await_stderr("--exit-after");
    // Those that were refused are none of those that were served.
    let totals = server.running.await_stderr("served native goodput");
    assert!(
        totals.ends_with("in 12,288 bytes, out nothing; 12 flows completed, 0 failed"),
        "{totals}"
    );
    server.running.finish().exits(0);

    // A run without an end is ended by it.
    let server = Server::start_with(&["--exit-after", "10"]);
    let document = goodput(&server, "-c 2 --iterations forever -n 1KiB").exits(5).document();
    let (_, summary) = only(&document);
    assert_eq!(summary.completed, 10);
    assert!((1..=2).contains(&summary.failed), "{summary:?}");
    server.running.finish().exits(0);
}

#[test]
fn a_thousand_connections_refused_half_way_are_each_named_and_nothing_hangs() {
    // One after the other: those that were served count, each other one is told by a sentence.
    let mut server = Server::start_with(&["--exit-after", "500"]);
    let document = goodput(&server, "-c 100 --iterations 10 -n 1KiB").exits(5).document();
    let (measurement, summary) = only(&document);
    assert_eq!((summary.completed, summary.failed, summary.attempted), (500, 500, 1_000));
    assert_eq!(summary.failures.network, 500);
    let remote = &summary.remotes[0];
    assert_eq!((remote.completed, remote.failed), (500, 500), "{:?}", summary.remotes);
    let times = summary.failure_times.expect("connections failed");
    assert!(times.worst > 0 && times.from_ns <= times.worst_start_ns, "{times:?}");
    assert!(times.worst_end_ns <= times.until_ns, "{times:?}");
    let ended: u64 = measurement
        .intervals
        .iter()
        .filter_map(|interval| interval.client.as_ref()?.ended)
        .map(|ended| ended.completed + ended.failed)
        .sum();
    assert_eq!(ended, 1_000, "each is in one interval");
    let flows = &measurement.client.goodput.as_ref().expect("it reports").flows;
    let refused = flows.iter().filter_map(|flow| flow.error.as_ref());
    assert_eq!(refused.filter(|error| error.text.contains("--exit-after")).count(), 500);
    server.running.await_stderr("--exit-after");
    server.running.finish().exits(0);
    // All at once: a test that cannot begin is refused as a whole.
    let server = Server::start_with(&["--exit-after", "500"]);
    goodput(&server, "-c 1000 -n 1KiB").exits(3).complains(&["--exit-after"]);
    let server = Server::start_with(&["--limit-connections", "500"]);
    goodput(&server, "-c 1000 -n 1KiB").exits(3).complains(&["500", "--limit-connections"]);
    goodput(&server, "-c 500 -n 1KiB").exits(0);
}

#[test]
fn sockets_are_set_at_both_ends_and_read_back() {
    let server = Server::start();
    let words = "-c 2 -n 100KiB --pattern duplex --dscp 46 --send-buffer 64KiB --receive-buffer 32KiB \
                 --notsent-lowat 16KiB --mss 1000 --keepalive 30s --nagle --congestion reno";
    let document = goodput(&server, words).exits(0).document();
    let (measurement, _) = only(&document);
    check_all(measurement);
    for (name, end) in
        [("client", Some(&measurement.client)), ("server", measurement.server.as_ref())]
    {
        let facts = end.and_then(|end| end.sockets.as_ref()).expect(name);
        // Linux counts its own overhead in.
        let buffers = (facts.send_buffer_bytes, facts.receive_buffer_bytes);
        assert_eq!(buffers, (Some(128 << 10), Some(64 << 10)), "{name}");
        assert_eq!((facts.dscp, facts.nagle), (Some(46), Some(true)), "{name}");
        assert_eq!(facts.not_sent_low_water_bytes, Some(16 << 10), "{name}");
        assert_eq!(facts.keepalive_ns, Some(30_000_000_000), "{name}");
        assert_eq!(facts.congestion_control.as_deref(), Some("reno"), "{name}");
        assert!(facts.segment_bytes <= Some(1_000), "{name}: {facts:?}");
    }
}

#[test]
fn connections_come_from_the_addresses_and_ports_that_were_given() {
    let server = Server::start();
    // A range that is free now, by a socket that held its first port.
    let held = std::net::TcpListener::bind("127.0.0.7:0").expect("loopback");
    let low = held.local_addr().expect("bound").port().min(60_000);
    drop(held);
    let words = format!(
        "-c 4 -n 1KiB --iterations 3 --shutdown rude --bind 127.0.0.7 --bind 127.0.0.8 --source-port \
         [{low},{}]",
        low + 7
    );
    let document = goodput(&server, &words).exits(0).document();
    let (measurement, summary) = only(&document);
    assert_eq!(summary.completed, 12);
    let seen = &measurement
        .server
        .as_ref()
        .and_then(|end| end.goodput.as_ref())
        .expect("it reports")
        .flows;
    let remotes: Vec<std::net::SocketAddr> = seen
        .iter()
        .map(|flow| flow.remote.as_deref().unwrap_or_default().parse().expect("an address"))
        .collect();
    assert!(remotes.iter().all(|remote| (low..=low + 7).contains(&remote.port())), "{remotes:?}");
    for (address, count) in [("127.0.0.7", 6), ("127.0.0.8", 6)] {
        let from = remotes.iter().filter(|remote| remote.ip().to_string() == address).count();
        assert_eq!(from, count, "{address}: {remotes:?}");
    }
    for (words, code, parts) in [
        ("--bind ::1", 2, &["--bind", "family"][..]),
        ("--bind 192.0.2.7", 4, &["192.0.2.7", "no interface of this machine"]),
        ("--interface nosuch0", 4, &["'nosuch0'", "ip link"]),
        ("--congestion nosuch", 4, &["'nosuch'"]),
        ("--dscp 64", 2, &["--dscp 64", "0 to 63"]),
        ("--cpu 4095", 4, &["processor 4095", "may use"]),
        ("--server-cpu 4095", 3, &["processor 4095", "may use"]),
    ] {
        goodput(&server, &format!("-n 1KiB {words}")).exits(code).complains(parts);
    }
}

#[test]
fn workers_stay_where_they_are_kept() {
    let server = Server::start();
    let cpu = pathscope_os::cpus::allowed()[0];
    let words = format!("-c 4 -n 100KiB --cpu {cpu} --server-cpu {cpu},{cpu}");
    let document = goodput(&server, &words).exits(0).document();
    let (measurement, _) = only(&document);
    check_all(measurement);
    // One worker for each processor that was named.
    assert_eq!(measurement.client.workers.len(), 1);
    assert_eq!(measurement.server.as_ref().map(|end| end.workers.len()), Some(2));
}

#[test]
fn a_processor_named_a_thousand_times_has_no_thousand_workers() {
    let server = Server::start();
    let allowed = pathscope_os::cpus::allowed();
    let named = vec![allowed[0].to_string(); 1_000].join(",");
    let document =
        goodput(&server, &format!("-c 64 -n 10KiB --server-cpu {named}")).exits(0).document();
    let (measurement, _) = only(&document);
    check_all(measurement);
    let workers = measurement.server.as_ref().map_or(0, |end| end.workers.len());
    assert!((1..=allowed.len()).contains(&workers), "{workers} workers");
    let told = &measurement.substitutions;
    let ran = told.iter().find(|it| it.what == "workers of the server").map(|it| it.ran.clone());
    assert_eq!(ran, Some(workers.to_string()), "{told:?}");
}

#[test]
fn bursts_pause() {
    let server = Server::start();
    let words = "-c 1 -n 640KiB --buffer 64KiB --burst-count 2 --burst-delay 100ms";
    let document = goodput(&server, words).exits(0).document();
    let (measurement, summary) = only(&document);
    check_all(measurement);
    assert_eq!(received(summary), 640 << 10);
    // Ten sends or more, a pause after every second but the last.
    assert!(measurement.duration_ns >= 400_000_000, "{}", measurement.duration_ns);
}

#[test]
fn rates_are_drawn_and_the_kernel_spreads_what_leaves() {
    let server = Server::start();
    let words = "-c 3 -t 1s --rate [8Mbit,16Mbit] --seed 5 --pattern pull";
    let document = goodput(&server, words).exits(0).document();
    let (measurement, summary) = only(&document);
    check_all(measurement);
    // In a second each sends what its rate allows, and a quantum; a busy machine sends less.
    let most = 3 * (2_000_000 + 2_048);
    assert!((300_000..=most).contains(&received(summary)), "{}", received(summary));
    let pacing = |end: &pathscope_modes::registry::EndReport| end.sockets.as_ref()?.pacing_bps;
    let server_s = pacing(measurement.server.as_ref().expect("it reports"));
    // A quarter above a rate of the range, at the end that sends.
    assert!((Some(9_900_000)..=Some(20_000_000)).contains(&server_s), "{server_s:?}");
    assert_eq!(pacing(&measurement.client), None);
    // A period is to begin with a burst.
    let words = "-c 1 -t 1s --rate 8Mbit --rate-period 100ms";
    let document = goodput(&server, words).exits(0).document();
    assert_eq!(pacing(&only(&document).0.client), None);
}

#[test]
fn a_total_rate_is_that_of_all_connections() {
    let server = Server::start();
    let document =
        goodput(&server, "-c 4 -t 1s --total-rate 40Mbit --pattern pull").exits(0).document();
    let (_, summary) = only(&document);
    // What is sent in a second at 40 Mbit/s, and a quantum of each connection; a busy machine sends less.
    let most = 5_000_000 + 4 * 2_048;
    assert!((1_000_000..=most).contains(&received(summary)), "{}", received(summary));
}

#[test]
fn words_that_contradict_each_other_are_named() {
    for (words, parts) in [
        ("-t 1s --iterations 3", &["--iterations", "--duration", "--transfer"][..]),
        ("-n 1KiB --iterations 0", &["--iterations 0", "1 to"]),
        ("-n [9,1]", &["--transfer", "[low,high]"]),
    ] {
        let words: Vec<&str> =
            ["goodput", "127.0.0.1"].into_iter().chain(words.split(' ')).collect();
        run(&words).exits(2).complains(parts);
    }
}
