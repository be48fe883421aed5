//! What is said to ctsTraffic's clients and servers, byte by byte (reference/ctstraffic.md, sections 0 and 2.1 to 2.3).

use pathscope_flow::Gather;
use pathscope_modes::load::Pattern;
use pathscope_modes::pattern::StreamKey;

use super::*;
use crate::operator::OperatorWords as _;

fn sent(position: u64, len: usize) -> Vec<u8> {
    let mut gather = Gather::new(&mut [], len);
    CtsTraffic::CONVENTIONS.payload.gather(StreamKey::new(9, 3, false), position, len, &mut gather);
    gather.slices().iter().flat_map(|slice| slice.to_vec()).collect()
}

#[test]
fn the_pattern_is_of_numbers_and_begins_anew_after_65_536_bytes() {
    assert_eq!(sent(0, 6), [0, 0, 1, 0, 2, 0]);
    assert_eq!(sent(510, 4), [0xff, 0, 0, 1]);
    assert_eq!(sent(65_534, 6), [0xff, 0x7f, 0, 0, 1, 0]);
    for position in [1_u64, 777, 65_535, 200_001] {
        let k = position % 65_536;
        let expected = if k % 2 == 0 { (k / 2) & 0xff } else { (k / 2) >> 8 };
        assert_eq!(u64::from(sent(position, 1)[0]), expected, "{position}");
    }
}

#[test]
fn a_connection_is_told_its_name_first_as_text_with_a_zero_behind() {
    let from = "127.0.0.1:5".parse().expect("an address");
    let joining = CtsTraffic::accepted_as(from, [0xab; 16]).expect("it has a listener");
    assert_eq!(joining.answer, b"abababab-abab-4bab-abab-abababababab\0");
    assert_eq!(joining.identity, Identity::Address(from.ip()));
    assert!(CtsTraffic::accepted(from).is_none(), "none without a name");
}

#[test]
fn the_word_at_the_end_is_four_bytes_without_a_zero() {
    let StreamEnd::Agreed(agreed) = CtsTraffic::CONVENTIONS.end else { panic!("it is agreed") };
    assert_eq!(*agreed.done, [0x44, 0x4f, 0x4e, 0x45]);
}

#[test]
fn what_an_operator_does_not_say_is_as_ctstraffic_has_it() {
    let tests = CtsTrafficWords::default().tests().expect("it can be run");
    let [Test { plan: Plan::Goodput(plan), .. }] = tests.as_slice() else { panic!("one load") };
    assert_eq!(
        (plan.pattern, plan.transfer_of(pathscope_core::id::FlowId(7))),
        (Pattern::Push, Some(1 << 30))
    );
    assert!(plan.replaces() && plan.sockets.keepalive_ns.is_some());
    assert_eq!(CtsTraffic::carries(&tests[0]), Ok(()));
}

#[test]
fn a_time_alone_is_refused_with_what_to_say_instead() {
    let plan = pathscope_modes::goodput::GoodputPlan::of(pathscope_modes::load::LoadArgs::usual());
    let test =
        Test::new(plan.expect("it is one").into(), None, pathscope_core::quantity::Period(1));
    let refusal = CtsTraffic::carries(&test).expect_err("nobody says when it ends").to_string();
    assert!(refusal.contains("--transfer") && refusal.contains("--time-limit"), "{refusal}");
}
