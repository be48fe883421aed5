//! Steps are told apart, directions add up, and there is an end to rows.

use super::*;

const LOST: Place = |counts| &mut counts.lost;
const OFFERED: Place = |counts| &mut counts.offered;

fn flow(number: u16) -> Flow {
    Flow::Other { ether_type: number }
}

fn with(ledger: &mut Ledger, number: u16, place: Place) {
    let row = ledger.row(flow(number));
    ledger.count(row, place, 100);
}

#[test]
fn a_step_holds_what_happened_in_it() {
    let mut ledger = Ledger::default();
    with(&mut ledger, 1, OFFERED);
    with(&mut ledger, 2, OFFERED);
    let earlier = ledger.truth();
    with(&mut ledger, 2, OFFERED);
    with(&mut ledger, 2, LOST);
    ledger.late_by(5);
    let step = ledger.truth().since(&earlier);
    assert_eq!(step.total.offered, Tally { frames: 1, bytes: 100 });
    assert_eq!(step.total.lost, Tally { frames: 1, bytes: 100 });
    assert_eq!(step.total.in_flight(), Tally::default());
    assert_eq!(step.flows.len(), 1, "nothing happened to the first flow");
    assert_eq!(step.flow(&flow(2)), step.total);
    assert_eq!(step.flow(&flow(1)), Counts::default());
    assert_eq!(step.lateness.count, 1);
}

#[test]
fn a_whole_is_the_sum_of_its_steps() {
    let mut ledger = Ledger::default();
    with(&mut ledger, 1, OFFERED);
    ledger.late_by(7);
    let first = ledger.truth();
    with(&mut ledger, 3, OFFERED);
    with(&mut ledger, 1, LOST);
    ledger.late_by(9);
    let whole = ledger.truth();
    let mut sum = first.clone();
    sum.add(&whole.since(&first));
    assert_eq!((sum.total, &sum.flows), (whole.total, &whole.flows));
    assert_eq!(sum.lateness.buckets, whole.lateness.buckets);
}

#[test]
fn flows_beyond_the_last_row_share_one() {
    let mut ledger = Ledger::default();
    let address = |number: u32| Flow::Ip {
        source: std::net::Ipv4Addr::from(number).into(),
        destination: std::net::Ipv4Addr::LOCALHOST.into(),
        protocol: 17,
        ports: super::super::Ports::None,
    };
    for number in 0..MOST_FLOWS as u32 + 3 {
        let row = ledger.row(address(number));
        ledger.count(row, OFFERED, 1);
    }
    let row = ledger.row(address(0));
    ledger.count(row, OFFERED, 1);
    let truth = ledger.truth();
    assert_eq!(truth.flows.len(), MOST_FLOWS);
    assert_eq!(truth.other_flows.offered.frames, 3);
    assert_eq!(truth.flow(&address(0)).offered.frames, 2);
    assert_eq!(truth.total.offered.frames, MOST_FLOWS as u64 + 4);
}

#[test]
fn the_truth_is_stored_and_read() {
    let mut ledger = Ledger::default();
    with(&mut ledger, 1, OFFERED);
    ledger.late_by(3);
    let truth = ledger.truth();
    let stored = serde_json::to_string(&truth).expect("names and numbers");
    assert_eq!(serde_json::from_str::<Truth>(&stored).expect("as written"), truth);
}
