//! `docs/protocol.md` is what an implementer reads: its examples are what this code says and reads.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Token};
use pathscope_flow::GroupId;

use crate::attach::{AttachDatagrams, Seat};
use crate::native::frame::{Frame, MessageType};
use crate::native::link::Link;
use crate::native::message::{Beat, FlowTotal, Message};
use crate::native::opening::hex;
use crate::native::{
    AttachCode, Attaching, Challenger, Greeting, Heard, HelloCheck, Opening, Return, VersionRange,
    proof_of,
};

const DOCUMENT: &str = include_str!("../../../../../docs/protocol.md");

const SEAT: Seat = Seat {
    token: Token([0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xbb]),
    group: GroupId(1),
    flow: FlowId(0x0001_0203),
    lane: Lane(2),
};

const SESSION: Token = Token([0xbb, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);

fn assert_shown(bytes: &[u8]) {
    let line = hex(bytes);
    assert!(DOCUMENT.lines().any(|shown| shown == line), "not in the document: {line}");
}

#[test]
fn the_openings_and_frames_are_shown() {
    let versions = VersionRange { least: 1, most: 3 };
    assert_shown(&Opening::Control(Greeting { versions, hello: None }).encode());
    let hello = Frame { kind: MessageType::HELLO, body: b"{}".to_vec() }.encode();
    let versions = VersionRange { least: 1, most: 2 };
    let hello = Some(HelloCheck::of(&hello));
    assert_shown(&Opening::Control(Greeting { versions, hello }).encode());
    assert_shown(&Opening::Data(SEAT).encode());
    assert_shown(&Opening::CheckedData(SEAT, proof_of(SEAT, SESSION)).encode());
    assert_shown(&Opening::Return(Return { session: SESSION, attempt: 2, received: 66 }).encode());
    assert_shown(&Message::Start.encode().expect("short"));
    assert_shown(&Message::Ping(Beat { id: 7 }).encode().expect("short"));
}

#[test]
fn the_frames_of_version_2_are_shown() {
    let frame = |message: Message| message.frame().expect("short");
    let mut server = Link::new(Token([7; 16]));
    let words = [(); 3].map(|()| server.say(&frame(Message::Start)));
    for (after, message, said) in [(1, Message::Start, 0), (3, Message::Ping(Beat { id: 7 }), 1)] {
        let mut client = Link::new(Token([7; 16]));
        for mut word in words[..after].iter().map(Vec::as_slice) {
            client.next(&mut word, 100).expect("good");
        }
        assert_shown(&if said == 0 {
            client.say(&frame(message))
        } else {
            client.utter(frame(message))
        });
    }
}

#[test]
fn the_datagrams_are_shown() {
    let challenger = Challenger::new([7; 16]);
    let from = "192.0.2.7:4242".parse().expect("an address");
    let mut attaching = Attaching::new(SEAT, Some(SESSION), 0x0102_0304_0506_0708, Tick::ZERO);
    let request = attaching.datagram(Tick::ZERO).expect("due");
    assert_shown(&request);
    let Heard::Challenge(challenge) = challenger.received(from, &request, Tick::ZERO) else {
        panic!("a request is challenged")
    };
    attaching.received(&challenge, Tick::ZERO);
    let confirm = attaching.datagram(Tick::ZERO).expect("due");
    assert_shown(&confirm);
    let Heard::Confirmed(claim) = challenger.received(from, &confirm, Tick::ZERO) else {
        panic!("the right cookie confirms")
    };
    assert_shown(&claim.answer(AttachCode::ATTACHED));
}

#[test]
fn each_message_is_shown_and_can_be_read() {
    let (_, block) = DOCUMENT.split_once("```messages\n").expect("a block of messages");
    let (block, _) = block.split_once("```").expect("its end");
    let mut names = Vec::new();
    for line in block.lines() {
        let mut parts = line.splitn(3, ' ');
        let [number, name, body] = [(); 3].map(|()| parts.next().expect("three parts"));
        let kind = MessageType(u16::from_str_radix(number, 16).expect("a type"));
        assert_eq!(kind.name(), Some(name));
        let frame = Frame { kind, body: body.as_bytes().to_vec() };
        let message = Message::decode(&frame).expect(line).expect("known");
        assert_eq!(message.kind(), kind);
        if let Message::Propose(propose) = message {
            assert_eq!(propose.test().map(|test| test.validate()), Ok(Ok(())));
        }
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    // And one is no text.
    assert_eq!(names.len(), 18);
    let total = |flow, total| FlowTotal { group: GroupId(0), flow: FlowId(flow), total };
    let packed = Message::PackedTotals(vec![total(0, 1 << 30), total(1, 70_000)]);
    assert_shown(&packed.encode().expect("short"));
}
