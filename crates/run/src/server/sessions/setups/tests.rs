//! Whose turn it is, who is answered, and when it is over, in time that is counted and never waited for.

use pathscope_os::Waker;

use super::*;
use crate::messages::inbox::InboxReader;
use crate::promised::Beside;

const LOCAL: &str = "192.0.2.9:5201";

fn at(milliseconds: u64) -> Tick {
    Tick::from_nanos(9_000_000_000 + milliseconds * 1_000_000)
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn place(text: &str) -> Network {
    text.parse().expect("a network")
}

fn enter(setups: &mut Setups, name: u8, flows: u32, ms: u64) -> (bool, InboxReader) {
    let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
    (setups.enter(place("192.0.2.1"), Token([name; 16]), (inbox, flows), at(ms)), reader)
}

/// A datagram comes from this port; whether it is told so.
fn comes(setups: &mut Setups, port: u16, ms: u64) -> bool {
    let (local, mut remote) = (address(LOCAL), address("192.0.2.1:1"));
    remote.set_port(port);
    let mut is_told = false;
    let promised = Promised { local, remote, beside: Beside::default() };
    setups.join(place("192.0.2.1"), promised, || is_told = true, at(ms));
    is_told
}

fn heard(reader: &InboxReader) -> Vec<String> {
    let word = |message| match message {
        SessionMessage::Called(promised) => promised.remote.port().to_string(),
        SessionMessage::MayAttach => "turn".to_owned(),
        SessionMessage::Stop(_) => "stop".to_owned(),
        other => panic!("{other:?}"),
    };
    reader.take_all().map(word).collect()
}

#[test]
fn flows_are_the_test_s_whose_turn_it_is_each_once_and_no_more_than_it_has() {
    let mut setups = Setups::default();
    let ((is_first, one), (is_second, other)) =
        (enter(&mut setups, 1, 2, 0), enter(&mut setups, 2, 1, 1));
    assert!(is_first && !is_second);
    let answers = |setups: &mut Setups, from: &str, session: &InboxReader| {
        let mut is_told = false;
        let (local, remote) = (address(LOCAL), address(from));
        setups.join(
            Network::of(remote.ip(), u8::MAX),
            Promised { local, remote, beside: Beside::default() },
            || {
                is_told = true;
                let heard = heard(session);
                assert!(heard.is_empty(), "it is told before its test hears of it: {heard:?}");
            },
            at(2),
        );
        is_told
    };
    let mut told = Vec::new();
    for port in [7, 7, 8, 9, 8] {
        let is_told = answers(&mut setups, &format!("192.0.2.1:{port}"), &one);
        told.push((is_told, heard(&one).concat()));
    }
    let told: Vec<(bool, &str)> = told.iter().map(|(is, heard)| (*is, heard.as_str())).collect();
    assert_eq!(told, [(true, "7"), (true, ""), (true, "8"), (false, ""), (false, "")]);
    assert!(!answers(&mut setups, "192.0.2.2:7", &one), "nobody waits for those");
    assert!(heard(&other).is_empty());
    setups.leave(place("192.0.2.1"), Token([1; 16]), at(5));
    assert_eq!(heard(&other), ["turn"]);
    assert!(answers(&mut setups, "192.0.2.1:9", &other));
    assert_eq!(heard(&other), ["9"]);
    setups.leave(place("192.0.2.1"), Token([2; 16]), at(6));
    assert!(setups.of.is_empty() && !answers(&mut setups, "192.0.2.1:9", &other));
}

#[test]
fn an_address_is_of_the_widest_network_that_is_allowed_and_this_machine_s_of_none_with_others() {
    let allowed = ["10.1.0.0/16", "10.0.0.0/8", "127.0.0.0/8"].map(place);
    for (of, in_place) in [
        ("10.1.2.3", "10.0.0.0/8"),
        ("::ffff:10.9.9.9", "10.0.0.0/8"),
        ("127.0.0.1", "127.0.0.0/8"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
    ] {
        let address = of.parse().expect("an address");
        assert_eq!(place_of(&allowed, address), place(in_place), "{of}");
    }
    let all = ["0.0.0.0/0", "::/0"].map(place);
    for (of, in_place) in [
        ("192.0.2.1", "0.0.0.0/0"),
        ("2001:db8::1", "::/0"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
    ] {
        let address = of.parse().expect("an address");
        assert_eq!(place_of(&all, address), place(in_place), "{of}");
    }
}

#[test]
fn of_who_asks_where_nobody_is_awaited_is_told_once_for_each_test_that_it_may_be_of() {
    let mut setups = Setups::default();
    let from = |setups: &mut Setups| {
        let (local, remote) = (address(LOCAL), address("203.0.113.7:9"));
        let promised = Promised { local, remote, beside: Beside::default() };
        setups.join(place("203.0.113.7"), promised, || panic!("nobody is awaited there"), at(1))
    };
    assert_eq!(from(&mut setups), Called::Heard, "no test is set up at all");
    let (_, one) = enter(&mut setups, 1, 2, 0);
    let (_, _other) = enter(&mut setups, 2, 2, 0);
    assert_eq!(from(&mut setups), Called::Elsewhere(place("192.0.2.1")));
    assert_eq!(from(&mut setups), Called::Heard);
    // Whose flows come from where its words do is none of those.
    setups.leave(place("192.0.2.1"), Token([1; 16]), at(2));
    assert!(comes(&mut setups, 7, 3) && heard(&one).is_empty());
    assert_eq!(from(&mut setups), Called::Heard);
}

#[test]
fn who_is_slow_costs_others_two_seconds_and_nobody_where_none_waits() {
    let mut setups = Setups::default();
    let (_, slow) = enter(&mut setups, 1, 1, 0);
    assert_eq!(setups.next_deadline(), None);
    setups.expire(at(60_000));
    assert!(heard(&slow).is_empty(), "nobody waits");
    let (_, next) = enter(&mut setups, 2, 1, 60_000);
    let (_, last) = enter(&mut setups, 3, 1, 60_000);
    assert!(setups.next_deadline().is_some_and(|at_once| at_once <= at(60_000)));
    setups.expire(at(60_000));
    assert_eq!((heard(&slow), heard(&next)), (vec!["stop".to_owned()], vec!["turn".to_owned()]));
    assert_eq!(setups.next_deadline(), Some(at(62_000)));
    setups.expire(at(61_999));
    assert!(heard(&last).is_empty());
    // One that leaves before its turn takes it from nobody.
    setups.leave(place("192.0.2.1"), Token([3; 16]), at(61_999));
    assert!(setups.next_deadline().is_none() && heard(&next).is_empty());
}

#[test]
fn who_has_many_flows_and_a_long_way_has_time_for_each_and_not_for_ever() {
    // A round trip for each of 128: 128 flows of 30 ms take 3.84 s.
    let mut setups = Setups::default();
    let (_, far) = enter(&mut setups, 1, 128, 0);
    let (_, next) = enter(&mut setups, 2, 1, 0);
    for flow in 1..=128 {
        setups.expire(at(u64::from(flow) * 30));
        assert!(comes(&mut setups, flow, u64::from(flow) * 30), "flow {flow}");
    }
    assert_eq!((heard(&far).len(), heard(&next).len()), (128, 0), "all came, and none was stopped");
    setups.leave(place("192.0.2.1"), Token([1; 16]), at(3_841));
    assert_eq!(heard(&next), ["turn"]);

    // Who lets one come before each silence is over: 2 s and 250 ms for each of its eight, as it is no faster.
    let mut setups = Setups::default();
    let (_, slow) = enter(&mut setups, 1, 8, 0);
    let (_, next) = enter(&mut setups, 2, 1, 0);
    for (flow, ms) in [(1, 1_900), (2, 3_800)] {
        setups.expire(at(ms));
        assert!(comes(&mut setups, flow, ms), "flow {flow}");
    }
    assert_eq!(setups.next_deadline(), Some(at(4_000)));
    assert_eq!((heard(&slow), heard(&next)), (vec!["1".to_owned(), "2".to_owned()], Vec::new()));
    setups.expire(at(4_000));
    assert_eq!((heard(&slow), heard(&next)), (vec!["stop".to_owned()], vec!["turn".to_owned()]));
}
