//! Each message there and back, on the wire, and from a version that says more.

use pathscope_core::quantity::Period;
use pathscope_core::record::Caveat;
use proptest::prelude::*;

use super::super::fixtures;
use super::super::frame::{BODY_MOST, Decoder};
use super::*;
use crate::limits::Limits;

fn all() -> Vec<Message> {
    let host = Host { name: "alpha".to_owned(), cpus_allowed: vec![0, 1], ..Host::default() };
    let substitution = Substitution {
        what: "engine".to_owned(),
        asked: "auto".to_owned(),
        ran: "epoll".to_owned(),
        why: "many connections".to_owned(),
    };
    let interval = EndInterval { index: 3, end_ns: 1_000_000_000, ..EndInterval::default() };
    let report = EndReport {
        caveats: vec![Caveat {
            name: "loopback".to_owned(),
            text: "one machine".to_owned(),
            remedy: None,
        }],
        ..EndReport::default()
    };
    vec![
        Message::Hello(Box::new(Hello {
            capabilities: vec!["media".to_owned()],
            security: vec!["none".to_owned()],
            host: host.clone(),
        })),
        Message::Welcome(Box::new(Welcome {
            version: 1,
            capabilities: Vec::new(),
            security: "none".to_owned(),
            limits: Limits { duration_ns: Some(Period(5)), ..Limits::NONE },
            host,
            session: Some(Token([0xcd; 16])),
            server: Some(Token([0xef; 16])),
        })),
        Message::Refuse(Refusal::new("duration", "too long").with_hint("ask for less")),
        Message::Propose(Propose::new(&fixtures::load(2))),
        Message::Accept(Box::new(Accept {
            token: Token([0xab; 16]),
            test: fixtures::load(2),
            substitutions: vec![substitution],
        })),
        Message::Start,
        Message::Started,
        Message::Interval(Box::new(interval)),
        Message::Totals(vec![FlowTotal { group: GroupId(1), flow: FlowId(2), total: u64::MAX }]),
        Message::PackedTotals(vec![FlowTotal {
            group: GroupId(1),
            flow: FlowId(2),
            total: u64::MAX,
        }]),
        Message::Report(Box::new(report)),
        Message::Stop(Stop { reason: "interrupted".to_owned(), ends: false }),
        Message::End,
        Message::Ping(Beat { id: 7 }),
        Message::Pong(Beat { id: 7 }),
        Message::Ack,
        Message::Returned(Returned { damaged: 3 }),
        Message::Leave,
    ]
}

fn frame(bytes: &[u8]) -> Frame {
    Decoder::default().next(&mut &bytes[..], BODY_MOST).expect("a frame").expect("a whole one")
}

#[test]
fn each_message_comes_back_as_it_was() {
    for message in all() {
        let bytes = message.encode().expect("short enough");
        let again = Message::decode(&frame(&bytes)).expect("readable").expect("known");
        assert_eq!(again, message);
    }
}

#[test]
fn short_messages_on_the_wire() {
    for (message, wire) in [
        (Message::Start, &b"\0\0\0\x02\0\x06{}"[..]),
        (Message::Started, b"\0\0\0\x02\0\x07{}"),
        (Message::End, b"\0\0\0\x02\0\x0b{}"),
        (Message::Ping(Beat { id: 7 }), b"\0\0\0\x08\0\x0c{\"id\":7}"),
        (Message::Pong(Beat { id: 7 }), b"\0\0\0\x08\0\x0d{\"id\":7}"),
        (
            Message::Totals(vec![FlowTotal { group: GroupId(0), flow: FlowId(2), total: 9 }]),
            b"\0\0\0\x2a\0\x08{\"flows\":[{\"group\":0,\"flow\":2,\"total\":9}]}",
        ),
        (
            Message::Stop(Stop { reason: "interrupted".to_owned(), ends: false }),
            b"\0\0\0\x18\0\x0a{\"reason\":\"interrupted\"}",
        ),
        (
            Message::Refuse(Refusal::new("duration", "too long")),
            b"\0\0\0\x35\0\x03{\"code\":\"duration\",\"sentence\":\"too long\",\"hint\":null}",
        ),
    ] {
        assert_eq!(message.encode().expect("short"), wire, "{message:?}");
    }
}

#[test]
fn the_first_messages_on_the_wire() {
    let hello = Hello { security: vec!["none".to_owned()], ..Hello::default() };
    let bytes = Message::Hello(Box::new(hello)).encode().expect("short");
    let text = String::from_utf8_lossy(&bytes[6..]).into_owned();
    assert!(
        text.starts_with(r#"{"capabilities":[],"security":["none"],"host":{"name":"","tool":"#),
        "{text}"
    );
    assert_eq!(&bytes[4..6], b"\0\x01");
}

#[test]
fn fields_of_a_later_version_are_ignored() {
    let has_fields = |message: &Message| message.kind() != MessageType::PACKED_TOTALS;
    for message in all().into_iter().filter(has_fields) {
        let mut frame = frame(&message.encode().expect("short"));
        assert_eq!(frame.body.pop(), Some(b'}'));
        let comma = if frame.body.len() > 1 { "," } else { "" };
        frame.body.extend_from_slice(format!("{comma}\"later\":[{{\"x\":null}}]}}").as_bytes());
        assert_eq!(Message::decode(&frame).expect("readable"), Some(message));
    }
}

#[test]
fn choices_of_a_later_version_do_not_spoil_a_report() {
    let corruption = |nature| {
        format!(
            r#"{{"goodput":{{"corruptions":[{{"flow":0,"corruption":
            {{"offset_bytes":0,"length_bytes":1,"nature":{nature}}}}}],"flows":[{{"error":
            {{"kind":"entangled","text":"later","errno":null}}}}]}}}}"#
        )
    };
    let read = |nature| {
        let frame = Frame { kind: MessageType::REPORT, body: corruption(nature).into_bytes() };
        match Message::decode(&frame).expect("readable") {
            Some(Message::Report(report)) => *report,
            other => panic!("a report, not {other:?}"),
        }
    };
    let known = read(r#"{"kind":"later","by":[1]}"#);
    assert_eq!((known.goodput.map(|it| it.corruptions.len()), known.caveats.len()), (Some(1), 0));
    let replaced = read("7");
    assert_eq!(replaced.goodput, None);
    assert_eq!(replaced.caveats[0].name, "report_unreadable");
}

#[test]
fn types_of_a_later_version_are_skipped_or_named() {
    let later = |number| Frame { kind: MessageType(number), body: b"\xff not JSON".to_vec() };
    assert_eq!(Message::decode(&later(0x8123)).expect("optional"), None);
    let error = Message::decode(&later(0x0123)).expect_err("not optional").to_string();
    assert_eq!(
        error,
        "a message of type 0x0123 is not known to this version, and cannot be skipped"
    );
}

#[test]
fn a_test_of_a_later_version_is_refused_and_not_misread() {
    let later = br#"{"test":{"plan":{"wormhole":{}},"probe":null,"report_every_ns":1}}"#;
    let frame = Frame { kind: MessageType::PROPOSE, body: later.to_vec() };
    let Some(Message::Propose(propose)) = Message::decode(&frame).expect("readable") else {
        panic!("a proposal")
    };
    let refusal = propose.test().expect_err("nobody knows this");
    assert_eq!(refusal.code, "not_understood");
    assert!(refusal.sentence.contains("wormhole"), "{refusal}");
}

#[test]
fn a_full_message_of_totals_is_within_the_bound() {
    let longest = FlowTotal { group: GroupId(255), flow: FlowId(u32::MAX), total: u64::MAX };
    for message in [Message::Totals, Message::PackedTotals] {
        assert!(message(vec![longest; TOTALS_MOST]).encode().is_ok());
    }
}

#[test]
fn what_is_too_long_is_not_sent() {
    let reason = "x".repeat(1 << 16);
    let error = Message::Stop(Stop { reason, ends: false }).encode().expect_err("too long");
    assert_eq!(
        error.to_string(),
        "the message 'stop' would be 65549 bytes long; at most 65536 can be sent"
    );
}

proptest! {
    #[test]
    fn no_body_makes_decoding_panic(
        kind in prop_oneof![1_u16..14, Just(0x8001_u16), any::<u16>()],
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            r#"\{("(reason|id|test|token|flows|version|code)":([0-9]{1,20}|"[a-f0-9]{0,40}"|\[\]|\{\}),?){0,3}\}"#
                .prop_map(String::into_bytes),
        ],
    ) {
        let frame = Frame { kind: MessageType(kind), body };
        if let Ok(Some(message)) = Message::decode(&frame) {
            prop_assert_eq!(message.kind(), frame.kind);
        }
    }
}
