//! The attach exchange: on the wire, and under each loss, repetition and delay of its first datagrams.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const SEAT: Seat = Seat {
    token: Token([0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xbb]),
    group: GroupId(1),
    flow: FlowId(0x0001_0203),
    lane: Lane(2),
};
const NONCE: u64 = 0x0102_0304_0506_0708;
const ONE_WAY_NS: u64 = 20_000_000;

fn client_address() -> SocketAddr {
    "192.0.2.7:4242".parse().expect("an address")
}

#[test]
fn the_four_datagrams_on_the_wire() {
    let challenger = Challenger::new([7; 16]);
    let mut attaching = Attaching::new(SEAT, None, NONCE, Tick::ZERO);
    let request = attaching.datagram(Tick::ZERO).expect("due");
    let head = b"PSAT\x01\x02\x01\0\0\x01\x02\x03\0\0\0\0\
        \xaa\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xbb\x01\x02\x03\x04\x05\x06\x07\x08";
    assert_eq!((&request[..40], &request[40..]), (&head[..], &[0; 24][..]));

    let Heard::Challenge(challenge) = challenger.received(client_address(), &request, Tick::ZERO)
    else {
        panic!("a request is challenged")
    };
    assert_eq!(challenge[..16], *b"PSAT\x02\0\xc0\xd1\x01\x02\x03\x04\x05\x06\x07\x08");
    attaching.received(&challenge, Tick::ZERO);

    let confirm = attaching.datagram(Tick::ZERO).expect("due");
    assert_eq!((confirm[4], &confirm[5..40]), (3, &request[5..40]));
    assert_eq!((&confirm[40..56], &confirm[56..]), (&challenge[16..], &[0; 8][..]));

    let Heard::Confirmed(claim) = challenger.received(client_address(), &confirm, Tick::ZERO)
    else {
        panic!("the right cookie confirms")
    };
    let answer = claim.answer(AttachCode::ATTACHED);
    assert_eq!(answer[..16], *b"PSAT\x04\0\x1d\xdc\x01\x02\x03\x04\x05\x06\x07\x08");
    attaching.received(&answer, Tick::ZERO);
    assert_eq!((attaching.outcome(), attaching.deadline()), (Some(&Ok(())), None));
    assert_eq!(attaching.datagram(Tick::NEVER), None);
}

/// The confirmation of a lane that is of this session, from the client's address.
fn confirmation(challenger: &Challenger, session: Option<Token>) -> Vec<u8> {
    let mut attaching = Attaching::new(SEAT, session, NONCE, Tick::ZERO);
    let request = attaching.datagram(Tick::ZERO).expect("due");
    let Heard::Challenge(challenge) = challenger.received(client_address(), &request, Tick::ZERO)
    else {
        panic!("a request is challenged")
    };
    attaching.received(&challenge, Tick::ZERO);
    attaching.datagram(Tick::ZERO).expect("due")
}

#[test]
fn a_confirmation_proves_its_session_from_its_address_and_nothing_else() {
    let challenger = Challenger::new([7; 16]);
    let (session, other) = (Token([3; 16]), Token([4; 16]));
    let is_of = |confirm: &[u8], from, session| match challenger.received(from, confirm, Tick::ZERO)
    {
        Heard::Confirmed(claim) => Some(claim.proves(session)),
        _ => None,
    };
    let confirm = confirmation(&challenger, Some(session));
    assert_eq!(is_of(&confirm, client_address(), session), Some(true));
    assert_eq!(is_of(&confirm, client_address(), other), Some(false));
    // Who knows all but the name, as version 1 does.
    let plain = confirmation(&challenger, None);
    assert_eq!((&plain[12..16], &plain[56..]), (&[0; 4][..], &[0; 8][..]));
    assert_eq!(is_of(&plain, client_address(), session), Some(false));
    // Who has read it on its way, and says it again from elsewhere: with the cookie that is for another address, and
    // with his own.
    let elsewhere = "198.51.100.7:4242".parse().expect("an address");
    assert_eq!(is_of(&confirm, elsewhere, session), None);
    let request = AttachMessage::decode(&confirm).expect("a confirmation");
    let cookie = challenger.cookie(elsewhere, &request, 0);
    let stolen = AttachMessage { cookie, ..request };
    assert_eq!(is_of(&stolen.sealed(), elsewhere, session), Some(false));
    // And for another lane.
    let lane = AttachMessage { seat: Seat { lane: Lane(0), ..SEAT }, ..request };
    let cookie = challenger.cookie(client_address(), &lane, 0);
    assert_eq!(
        is_of(&AttachMessage { cookie, ..lane }.sealed(), client_address(), session),
        Some(false)
    );
}

#[test]
fn a_confirmation_that_was_damaged_is_challenged_and_not_refused() {
    let challenger = Challenger::new([7; 16]);
    for session in [None, Some(Token([3; 16]))] {
        let good = confirmation(&challenger, session);
        for bit in 0..8 * good.len() {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let heard = challenger.received(client_address(), &bytes, Tick::ZERO);
            // Of version 1, the byte that nobody looks at.
            let is_heard = session.is_none() && bit / 8 == 7;
            assert_eq!(matches!(heard, Heard::Confirmed(_)), is_heard, "bit {bit}: {heard:?}");
        }
    }
}

#[test]
fn an_answer_that_was_damaged_is_none() {
    let good = Answer { kind: ANSWER, code: AttachCode::ATTACHED, nonce: NONCE, cookie: [3; 16] };
    let good = good.encode();
    for bit in 0..8 * good.len() {
        let mut bytes = good;
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Answer::decode(&bytes), None, "bit {bit}");
    }
    // An older server says no check.
    let mut old = good;
    old[6..8].fill(0);
    assert_eq!(Answer::decode(&old), Answer::decode(&good));
}

#[test]
fn a_cookie_proves_one_address_and_one_seat() {
    let challenger = Challenger::new([7; 16]);
    let request = AttachMessage {
        kind: REQUEST,
        seat: SEAT,
        nonce: NONCE,
        cookie: [0; 16],
        proof: Proof::default(),
    };
    let cookie = challenger.cookie(client_address(), &request, 0);
    let confirm = AttachMessage { kind: CONFIRM, cookie, ..request };
    let confirmed = |challenger: &Challenger, from, request: AttachMessage| {
        matches!(challenger.received(from, &request.encode(), Tick::ZERO), Heard::Confirmed(_))
    };
    assert!(confirmed(&challenger, client_address(), confirm));
    for other in ["192.0.2.7:4243", "192.0.2.8:4242", "[2001:db8::1]:4242"] {
        assert!(!confirmed(&challenger, other.parse().expect("an address"), confirm), "{other}");
    }
    for seat in [
        Seat { flow: FlowId(0), ..SEAT },
        Seat { group: GroupId(0), ..SEAT },
        Seat { lane: Lane(0), ..SEAT },
        Seat { token: Token([0; 16]), ..SEAT },
    ] {
        assert!(
            !confirmed(&challenger, client_address(), AttachMessage { seat, ..confirm }),
            "{seat:?}"
        );
    }
    assert!(!confirmed(&challenger, client_address(), AttachMessage { nonce: 0, ..confirm }));
    assert!(!confirmed(&Challenger::new([8; 16]), client_address(), confirm));
}

#[test]
fn a_cookie_is_good_for_as_long_as_clients_ask_and_not_much_longer() {
    let challenger = Challenger::new([7; 16]);
    let from = client_address();
    let at = |seconds: u64| Tick::from_nanos(seconds * 1_000_000_000);
    for asked in [0, 14, 15, 1_000_003] {
        let request = AttachMessage {
            kind: REQUEST,
            seat: SEAT,
            nonce: NONCE,
            cookie: [0; 16],
            proof: Proof::default(),
        };
        let Heard::Challenge(challenge) = challenger.received(from, &request.encode(), at(asked))
        else {
            panic!("a request is challenged")
        };
        let cookie = Answer::decode(&challenge).expect("a challenge").cookie;
        let confirm = AttachMessage { kind: CONFIRM, cookie, ..request }.encode();
        let holds = |after| match challenger.received(from, &confirm, at(asked + after)) {
            Heard::Confirmed(_) => true,
            Heard::Challenge(_) => false,
            Heard::Nothing => panic!("a confirmation is answered"),
        };
        assert!((0..=15).all(holds), "asked at {asked} s");
        assert!(!(30..90).any(holds), "asked at {asked} s");
    }
}

#[test]
fn silence_ends_after_a_bounded_number_of_requests() {
    let mut attaching = Attaching::new(SEAT, None, NONCE, Tick::ZERO);
    let mut sent = 0;
    while let Some(deadline) = attaching.deadline() {
        sent += u32::from(attaching.datagram(deadline).is_some());
    }
    assert_eq!(sent, 12);
    assert_eq!(attaching.outcome(), Some(&Err(AttachError::Unanswered { seconds: 10 })));
}

#[test]
fn a_changed_address_is_proven_anew() {
    let challenger = Challenger::new([7; 16]);
    let mut attaching = Attaching::new(SEAT, None, NONCE, Tick::ZERO);
    let mut outcome = None;
    for port in [1, 2, 2, 2] {
        let from = SocketAddr::new(client_address().ip(), port);
        let Some(request) = attaching.datagram(Tick::ZERO) else { break };
        match challenger.received(from, &request, Tick::ZERO) {
            Heard::Challenge(challenge) => attaching.received(&challenge, Tick::ZERO),
            Heard::Confirmed(claim) => {
                attaching.received(&claim.answer(AttachCode::ATTACHED), Tick::ZERO);
                outcome = Some(port);
            }
            Heard::Nothing => panic!("all of these are heard"),
        }
    }
    assert_eq!((outcome, attaching.outcome()), (Some(2), Some(&Ok(()))));
}

#[test]
fn a_refusal_says_why() {
    let challenger = Challenger::new([7; 16]);
    let fate = |_| Fate::Arrives;
    let (outcome, _) = exchange(&challenger, AttachCode::UNKNOWN_SESSION, fate);
    assert_eq!(outcome, Err(AttachError::Refused(SeatRefusal::UnknownSession)));
}

/// What the network does with a datagram.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    IsLost,
    ComesTwice,
    IsOvertaken,
}

const FATES: [Fate; 4] = [Fate::Arrives, Fate::IsLost, Fate::ComesTwice, Fate::IsOvertaken];

/// The whole exchange in virtual time; the `n`-th datagram, of either end, has the fate `fate(n)`.
/// Returns the outcome and how many claims the server saw.
fn exchange(
    challenger: &Challenger,
    code: AttachCode,
    fate: impl Fn(usize) -> Fate,
) -> (Result<(), AttachError>, u32) {
    let mut attaching = Attaching::new(SEAT, None, NONCE, Tick::ZERO);
    let mut network = BTreeMap::new();
    let (mut sent, mut claims) = (0, 0);
    let mut now = Tick::ZERO;
    loop {
        let request = attaching.datagram(now).map(|request| (true, request));
        send(&mut network, &mut sent, request, &fate, now);
        if let Some(outcome) = attaching.outcome().filter(|_| network.is_empty()) {
            return (outcome.clone(), claims);
        }
        let arrival = network.first_key_value().map(|(&(at, _), _)| at);
        let deadline = attaching.deadline();
        now = [arrival, deadline].into_iter().flatten().min().expect("it is not over");
        if arrival != Some(now) {
            continue;
        }
        let (_, (to_server, bytes)) = network.pop_first().expect("something arrives");
        if !to_server {
            attaching.received(&bytes, now);
            continue;
        }
        let answer = match challenger.received(client_address(), &bytes, now) {
            Heard::Nothing => None,
            Heard::Challenge(challenge) => Some((false, challenge.to_vec())),
            Heard::Confirmed(claim) => {
                claims += 1;
                assert_eq!(claim.seat(), SEAT);
                Some((false, claim.answer(code).to_vec()))
            }
        };
        send(&mut network, &mut sent, answer, &fate, now);
    }
}

type Network = BTreeMap<(Tick, usize), (bool, Vec<u8>)>;

fn send(
    network: &mut Network,
    sent: &mut usize,
    datagram: Option<(bool, Vec<u8>)>,
    fate: &impl Fn(usize) -> Fate,
    now: Tick,
) {
    let Some(datagram) = datagram else { return };
    let arrivals: &[u64] = match fate(*sent) {
        Fate::Arrives => &[1],
        Fate::IsLost => &[],
        Fate::ComesTwice => &[1, 3],
        // Later than the first repetition of what follows.
        Fate::IsOvertaken => &[25],
    };
    for (copy, delays) in arrivals.iter().enumerate() {
        network.insert((now.plus_nanos(delays * ONE_WAY_NS), 2 * *sent + copy), datagram.clone());
    }
    *sent += 1;
}

#[test]
fn a_flow_attaches_whatever_happens_to_its_first_seven_datagrams() {
    let challenger = Challenger::new([7; 16]);
    for case in 0..4_usize.pow(7) {
        let fate = |sent: usize| match sent {
            0..7 => FATES[case / 4_usize.pow(sent as u32) % 4],
            _ => Fate::Arrives,
        };
        let (outcome, claims) = exchange(&challenger, AttachCode::ATTACHED, fate);
        assert_eq!(outcome, Ok(()), "case {case}");
        assert!(claims >= 1, "case {case}");
    }
}

proptest! {
    #[test]
    fn no_datagram_is_answered_by_more_than_its_half(
        mut datagram in prop::collection::vec(any::<u8>(), 0..200),
        ours in any::<bool>(),
    ) {
        if ours && datagram.len() >= 5 {
            datagram[..4].copy_from_slice(&MAGIC);
            datagram[4] %= 5;
        }
        match Challenger::new([1; 16]).received(client_address(), &datagram, Tick::ZERO) {
            Heard::Challenge(answer) => prop_assert!(2 * answer.len() <= datagram.len()),
            Heard::Confirmed(claim) => prop_assert!(false, "forged: {claim:?}"),
            Heard::Nothing => {}
        }
    }

    #[test]
    fn noise_attaches_nobody(noise in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut attaching = Attaching::new(SEAT, None, NONCE, Tick::ZERO);
        attaching.received(&noise, Tick::ZERO);
        let mut ours = noise;
        ours.splice(..ours.len().min(4), MAGIC);
        attaching.received(&ours, Tick::ZERO);
        prop_assert_eq!(attaching.outcome(), None);
    }
}
