//! Every kind of damage, done to a stream in virtual time: found, located, named, counted, and nobody else's.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::FlowErrorKind;
use pathscope_flow::sim::{Edit, Ended};
use pathscope_flow::{Machine, Phase};

use super::super::*;
use super::{FLOW, Goodput, LATE, agreed, gigabit, plan, session, sim, transfer};
use crate::load::{Pattern, Verify};
use crate::pattern::{Corruption, LAP_BYTES, Nature, SAMPLE_BYTES};

const TRANSFER: u64 = 3_000_000;
/// Where the damage is done: well inside of a lap, outside of what is sampled.
const AT: u64 = 80 * LAP_BYTES + 4_000;

fn stream(flow: u32, from: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    session().stream(flow, true).copy_to(from, &mut bytes);
    bytes
}

/// Two flows that push; the first is damaged. What the server found on it.
fn damage(verify: Verify, edit: Edit) -> (Goodput, Option<Corruption>) {
    let plan = GoodputPlan { connections: 2, verify, ..plan(Pattern::Push, transfer(TRANSFER)) };
    let mut sim = sim(&plan, gigabit());
    sim.edit(FLOW, Role::Client, edit);
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    assert_eq!(agreed(&sim, FlowId(1), &outcome).0, TRANSFER, "the other flow goes on");
    let found = sim.server_shared().corruptions.clone();
    assert!(found.iter().all(|found| found.flow == FLOW) && found.len() < 2, "{found:?}");
    let found = found.into_iter().next().map(|found| found.corruption);
    (sim, found)
}

/// Each kind of damage, with its name and how far after its place the first wrong byte may be.
fn table() -> Vec<(&'static str, Edit, Nature, u64)> {
    let lap = LAP_BYTES;
    let mut table =
        vec![("bit flip", Edit::Xor { offset: AT, mask: 0x20 }, Nature::BitFlip { bits: 1 }, 0)];
    for len in [1, 1_448, 65_536, lap, 3 * lap] {
        // Until the next mark a stream that is shifted by laps is what it must be.
        let reach = if len % lap == 0 { lap } else { 8 };
        table.push((
            "drop",
            Edit::Delete { offset: AT, len },
            Nature::Shifted { by_bytes: len as i64 },
            reach,
        ));
        table.push((
            "duplicate",
            Edit::Insert { offset: AT, bytes: stream(0, AT - len, len) },
            Nature::Shifted { by_bytes: -(len as i64) },
            reach,
        ));
    }
    table.push((
        "swap",
        Edit::Replace { offset: AT, bytes: stream(1, AT, 65_536) },
        Nature::OtherFlow { flow: 1, from_client: true },
        8,
    ));
    table
}

#[test]
fn each_kind_of_damage_is_located_and_named() {
    for (name, edit, nature, reach) in table() {
        let (sim, found) = damage(Verify::Full, edit.clone());
        let what = format!("{name}: {found:?}");
        let found = found.expect(&what);
        assert_eq!(found.nature, nature, "{what}");
        assert!((AT..=AT + reach).contains(&found.offset_bytes), "{what}");
        assert!(found.length_bytes > 0, "{what}");
        let error = sim.server(FLOW).error().expect("it failed");
        assert_eq!(error.kind, FlowErrorKind::Data, "{what}");
        assert_eq!(sim.server(FLOW).totals().received, found.offset_bytes, "{what}");
        let phases = [sim.client(FLOW).phase(), sim.server(FLOW).phase()];
        assert_eq!(phases, [Phase::Failed; 2], "{what}: the connection is reset");
    }
}

#[test]
fn a_sample_finds_all_damage_that_lasts_and_says_where_it_was_seen() {
    for (name, edit, nature, _) in table() {
        let is_flip = matches!(edit, Edit::Xor { .. });
        let (sim, found) = damage(Verify::Sampled, edit);
        let what = format!("{name}: {found:?}");
        if is_flip {
            assert_eq!(
                (found, sim.server(FLOW).error()),
                (None, None),
                "{what}: it was not looked at"
            );
            continue;
        }
        let found = found.expect(&what);
        assert_eq!(found.nature, nature, "{what}");
        assert!((AT..=AT + LAP_BYTES + 16).contains(&found.offset_bytes), "{what}");
        assert!(found.offset_bytes % LAP_BYTES < SAMPLE_BYTES, "{what}");
    }
    let (_, found) = damage(Verify::Sampled, Edit::Xor { offset: 80 * LAP_BYTES + 400, mask: 1 });
    let found = found.expect("the first sixteenth of a lap is looked at");
    assert_eq!(found.nature, Nature::BitFlip { bits: 1 });
    assert_eq!(found.offset_bytes, 80 * LAP_BYTES + 400);
}

#[test]
fn two_flows_whose_blocks_are_swapped_are_both_named() {
    let plan = GoodputPlan { connections: 2, ..plan(Pattern::Push, transfer(TRANSFER)) };
    let mut sim = sim(&plan, gigabit());
    for (flow, other) in [(0, 1), (1, 0)] {
        let bytes = stream(other, AT, 65_536);
        sim.edit(FlowId(flow), Role::Client, Edit::Replace { offset: AT, bytes });
    }
    let outcome = sim.run(LATE);
    assert_eq!(outcome.ended, Ended::Over, "{outcome}");
    let mut found = sim.server_shared().corruptions.clone();
    found.sort_by_key(|found| found.flow);
    let named: Vec<_> =
        found.into_iter().map(|found| (found.flow.0, found.corruption.nature)).collect();
    let other = |flow| Nature::OtherFlow { flow, from_client: true };
    assert_eq!(named, [(0, other(1)), (1, other(0))]);
}
