//! Latency probes that a server of ours answers beside a load at one that has no place for them. Here both are one program; what
//! is asserted is what is told of both, and no time.

use std::net::TcpListener;

use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::document::{Document, Measurement};
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::load::{Extent, LoadArgs, Pattern};
use pathscope_peers::registry::PeerKind;

use crate::common;

const KIND: PeerKind = PeerKind::Iperf3;

/// A load with probes beside it.
fn load(pattern: Pattern, extent: Extent) -> Test {
    let mut plan = GoodputPlan::of(LoadArgs::usual()).expect("it can be run");
    (plan.pattern, plan.connections, plan.extent) = (pattern, 2, extent);
    plan.warm_up_ns = Period(0);
    let probe = LatencyPlan::probe(Frequency(200));
    Test::new(plan.into(), Some(probe), Period::from_millis(100))
}

/// What comes of a load at a server that takes such clients and ours, with the probes' server at that port or, where one is given, at
/// another.
fn measured(test: &Test, elsewhere: Option<u16>) -> (Document, Option<String>, Vec<String>) {
    let ((document, failure), lines) = common::served_at_both(KIND, |[port, ours]| {
        let place = (vec!["127.0.0.1".to_owned()], port);
        let probes = format!("127.0.0.1:{}", elsewhere.unwrap_or(ours));
        common::run_beside(KIND, (place, Some(probes)), vec![test.clone()])
    });
    (document, failure, lines)
}

/// Pings that its intervals tell of.
fn in_intervals(measurement: &Measurement) -> u64 {
    let ends = measurement.intervals.iter().filter_map(|it| it.client.as_ref());
    ends.filter_map(|end| end.latency.as_ref()).map(|pings| pings.sent).sum()
}

#[test]
fn probes_at_a_server_of_their_own_are_those_of_the_load() {
    let second = Extent::DurationNs(Period::from_secs(1));
    let some = Extent::TransferBytes(Bytes(64 << 20));
    for (pattern, extent) in
        [(Pattern::Push, second), (Pattern::Pull, second), (Pattern::Bidir, some)]
    {
        let (document, failure, lines) = measured(&load(pattern, extent), None);
        assert_eq!(failure, None, "{pattern:?}");
        let measurement = &document.measurements[0];
        let probes = measurement.summary.probe.as_ref().expect("they are told of");
        let report = measurement.client.probe.as_ref().expect("they are reported");
        assert!(probes.received > 0 && measurement.test.probe().is_some(), "{pattern:?}");
        assert_eq!(probes.sent, report.sent, "{pattern:?}");
        if extent == second {
            // A machine that stands still sends fewer, and none is sent beside no load.
            assert!(report.sent <= 200, "{pattern:?}: {}", report.sent);
        }
        let told = in_intervals(measurement);
        assert!(told > 0 && told <= report.sent, "{pattern:?}: {told} of {}", report.sent);
        assert!(measurement.client.latency.is_none(), "nobody measured pings alone");
        let caveats: Vec<&str> = measurement.caveats.iter().map(|it| &*it.name).collect();
        assert!(caveats.contains(&"probes_elsewhere"), "{caveats:?}");
        let over = lines.iter().filter(|line| line.contains("session over")).count();
        assert_eq!(over, 2, "a session for the load, and one for the probes: {lines:?}");
    }
}

#[test]
fn where_no_server_answers_probes_no_load_begins() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let nobody = listener.local_addr().expect("bound").port();
    drop(listener);
    let test = load(Pattern::Push, Extent::DurationNs(Period::from_secs(1)));
    let (document, failure, _) = measured(&test, Some(nobody));
    let failure = failure.expect("nobody is there");
    assert!(failure.starts_with("the server of the latency probes, 127.0.0.1:"), "{failure}");
    assert!(document.measurements.is_empty());
}
