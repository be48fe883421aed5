//! What is said to simpleperf's clients and servers, byte by byte (reference/simpleperf.md, section 2).

use pathscope_flow::Gather;
use pathscope_modes::pattern::StreamKey;

use super::*;
use crate::attach::AttachStream as _;
use crate::operator::OperatorWords as _;

#[test]
fn what_is_sent_is_text_that_never_holds_the_word_wherever_it_is_cut() {
    let mut gather = Gather::new(&mut [], 5 * MESSAGE);
    Simpleperf::CONVENTIONS.payload.gather(
        StreamKey::new(1, 0, true),
        123,
        5 * MESSAGE,
        &mut gather,
    );
    let sent: Vec<u8> = gather.slices().iter().flat_map(|slice| slice.to_vec()).collect();
    assert_eq!(sent.len(), 5 * MESSAGE);
    assert!(sent.is_ascii() && !sent.contains(&b'B'), "not even its first letter is in it");
    assert_eq!(&TEXT[..12], b"012345678901");
}

#[test]
fn the_words_at_the_end_are_these() {
    let StreamEnd::Word(parting) = Simpleperf::CONVENTIONS.end else { panic!("it ends by words") };
    assert_eq!(*parting.said, [0x42, 0x59, 0x45]);
    assert_eq!(*parting.answer, [0x41, 0x43, 0x4b, 0x3a, 0x20, 0x42, 0x59, 0x45]);
    assert_eq!(parting.message_bytes, 1_000);
    // A client says nothing before its data, and hears nothing.
    let token = Token([0; 16]);
    let seat = Seat {
        token,
        group: pathscope_flow::GroupId(0),
        flow: pathscope_core::id::FlowId(0),
        lane: pathscope_core::id::Lane::ONLY,
    };
    let attaching = Simpleperf::attach_stream(seat, None, None);
    assert_eq!((attaching.opening(), attaching.missing_bytes()), (Vec::new(), 0));
}

#[test]
fn what_it_cannot_carry_is_refused_with_what_to_say_instead() {
    let test = SimpleperfWords::default().tests().expect("it is one").swap_remove(0);
    assert_eq!(Simpleperf::carries(&test), Ok(()));
    let Plan::Goodput(plan) = test.plan else { panic!("it is a load") };
    let mut pull = plan.clone();
    pull.pattern = Pattern::Pull;
    let mut rude = plan;
    rude.shape.shutdown = Shutdown::Rude;
    for (plan, instead) in [(pull, "--pattern push"), (rude, "--shutdown graceful")] {
        let test = Test::new(plan.into(), None, test.report_every_ns);
        let refusal = Simpleperf::carries(&test).expect_err("it cannot").to_string();
        assert!(refusal.contains(instead), "{refusal}");
    }
}
