//! Every kind of flow by the `io_uring` engine through the binary: what it moves is verified and counted as by any other. Where this
//! machine has no such engine, that is what is told.

use pathscope_core::record::Check;

use crate::common::{Server, run};

/// Each sends or receives in another way.
const RUNS: [&str; 9] = [
    "goodput --pattern push -c 8 -t 200ms",
    "goodput --pattern duplex -c 8 -n 3MiB",
    "goodput --pattern pushpull -c 3 -n 2MiB",
    "goodput --pattern duplex -c 5 -n 30000 --iterations 6",
    "goodput --protocol udp --rate 50Mbit -t 200ms",
    "latency -c 64 -n 50",
    "latency --wait spin -n 300",
    "latency --protocol udp -c 3 -n 200 --timestamps kernel",
    "media --profile voice -t 300ms",
];

#[test]
fn every_kind_of_flow_is_moved_by_the_ring() {
    let server = Server::start();
    for words in RUNS {
        let host = server.host();
        let mut words: Vec<&str> = words.split(' ').collect();
        words.splice(1..1, [host.as_str(), "--engine", "uring", "--json"]);
        let ran = run(&words);
        if ran.stderr.contains("the uring engine is not possible on this machine") {
            ran.exits(4).complains(&["--engine epoll"]);
            println!("skipped, because this machine has no io_uring");
            return;
        }
        let document = ran.exits(0).document();
        let [measurement] = &document.measurements[..] else { panic!("one: {words:?}") };
        let checks = &measurement.checks;
        assert!(!checks.is_empty() && checks.iter().all(Check::has_held), "{words:?} {checks:?}");
        for end in [Some(&measurement.client), measurement.server.as_ref()] {
            let workers = &end.expect("both ends report").workers;
            let moved = workers.iter().filter(|worker| worker.engine == "uring");
            assert!(
                moved.map(|worker| worker.operations).sum::<u64>() > 0,
                "{words:?} {workers:?}"
            );
        }
    }
}
