//! Consent in virtual time: who goes on asking is sent to, and nobody else.

use pathscope_core::id::Token;

use super::*;

const MS: u64 = 1_000_000;

fn at(milliseconds: u64) -> Tick {
    Tick::from_nanos(milliseconds * MS)
}

fn session() -> SessionKey {
    SessionKey::from(Token(std::array::from_fn(|index| index as u8)))
}

/// Both ends of flow 7, started at 0.
fn both() -> (Consent, Consent) {
    let end = |role| {
        let mut consent = Consent::new(role, session(), FlowId(7));
        consent.is_spoken = true;
        consent.start(Tick::ZERO);
        consent
    };
    (end(Role::Client), end(Role::Server))
}

/// What an end says next.
fn said(consent: &mut Consent, now: Tick) -> Vec<u8> {
    consent.say_at = now;
    assert!(consent.attend((false, true), now).is_ok());
    assert!(consent.offer(true).is_some());
    let mut buffer = [0; 64];
    let mut batch = Batch::new(&mut buffer, CONSENT_BYTES, 1);
    consent.fill(&mut batch, now);
    consent.said(now);
    batch.bytes().to_vec()
}

#[test]
fn a_sender_that_never_waits_looks_a_thousand_times_a_second() {
    let (_, mut server) = both();
    let looks = (0..10_000).filter(|tenth| server.listens(true, Tick::from_nanos(tenth * MS / 10)));
    assert_eq!(looks.count(), 1_000);
    // One that waits, or may not send, always hears.
    assert!((0..10).all(|_| server.listens(false, at(1_000))));
    assert!(!server.listens(true, at(1_000)));
    // Nobody says anything to who does not know of it.
    let mut older = Consent::new(Role::Server, session(), FlowId(7));
    older.start(Tick::ZERO);
    assert!(!older.listens(false, at(9_000)));
}

#[test]
fn each_of_very_many_flows_asks_less_often_and_a_refusal_leaves_it_as_many_words() {
    for (flows, mean) in
        [(1, 250), (10_000, 250), (20_000, 500), (100_000, 1_250), (u32::MAX, 1_250)]
    {
        let (mut client, mut server) = both();
        client.share_among(flows);
        for _ in 0..100 {
            client.said(at(9_000));
            let wait = client.say_at.nanos_since(at(9_000)) / MS;
            assert!((mean / 2..=mean / 2 * 3).contains(&wait), "{flows}: {wait}");
        }
        server.share_among(flows);
        server.refused(111, at(100));
        assert_eq!(server.until, at(100 + mean / 10 * 32));
    }
}

/// When the sender gives up, if nothing comes.
fn gives_up(consent: &mut Consent) -> (Tick, FlowError) {
    loop {
        let now = consent.due();
        assert!(now < Tick::NEVER, "it never does");
        if let Err(error) = consent.attend((true, false), now) {
            return (now, error);
        }
    }
}

#[test]
fn a_consent_is_a_promise() {
    let (mut client, mut server) = both();
    said(&mut client, at(0));
    let datagram = said(&mut client, at(250));
    assert_eq!(
        datagram[..24],
        *b"PSCN\x07\0\0\x80\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x01\0\0\0\0\0\0\0"
    );
    assert_eq!(datagram[24..36], [0x80, 0xb2, 0xe6, 0x0e, 0, 0, 0, 0, 40, 0, 0, 0]);
    // The example of docs/protocol.md.
    assert_eq!(datagram[36..], [0x2d, 0x8e, 0xd1, 0x41]);
    server.hears(&datagram, at(1_000));
    assert!(server.due() <= at(250), "it has its own to say");
    server.say_at = Tick::NEVER;
    assert_eq!(server.due(), at(6_000));
}

#[test]
fn flows_do_not_speak_in_step() {
    let said_at = |flow| {
        let mut consent = Consent::new(Role::Server, session(), FlowId(flow));
        consent.is_spoken = true;
        consent.start(at(0));
        let mut said_at = [at(0); 40];
        for when in &mut said_at {
            *when = consent.say_at;
            assert!(consent.attend((false, true), *when).is_ok());
            consent.said(*when);
        }
        said_at
    };
    let all: Vec<[Tick; 40]> = (0..50).map(said_at).collect();
    for flow in &all {
        assert!(flow[0] <= at(250), "{flow:?}");
        let waits = flow.windows(2).map(|pair| pair[1].nanos_since(pair[0]));
        assert!(waits.clone().all(|wait| (125 * MS..=375 * MS).contains(&wait)), "{flow:?}");
        // The mean of 39 waits; five standard deviations are 58 ms.
        let mean = waits.sum::<u64>() / 39;
        assert!(mean.abs_diff(250 * MS) < 58 * MS, "{mean}");
    }
    // Fifty at once would fill a queue of twenty. No 25 ms of ten seconds hold more than a few: five on the average.
    let mut times: Vec<Tick> = all.into_iter().flatten().collect();
    times.sort_unstable();
    let crowded = times.windows(20).find(|some| some[19].nanos_since(some[0]) < 25 * MS);
    assert_eq!(crowded, None);
}

#[test]
fn nothing_else_is_a_consent() {
    let (mut client, mut server) = both();
    server.say_at = Tick::NEVER;
    let datagram = said(&mut client, at(0));
    let unchanged = |server: &mut Consent, datagram: &[u8], why: &str| {
        let is_consent = server.hears(datagram, at(1_000));
        assert_eq!(server.due(), at(5_000), "{why}");
        is_consent
    };
    for bit in 0..8 * datagram.len() {
        let mut damaged = datagram.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(unchanged(&mut server, &damaged, "damaged"), "bit {bit}");
    }
    unchanged(&mut server, &datagram[..39], "cut");
    unchanged(&mut server, &[&datagram[..], &[0]].concat(), "longer");
    let mut other = Consent::new(Role::Client, session(), FlowId(8));
    other.say_at = at(0);
    unchanged(&mut server, &said(&mut other, at(0)), "of another flow");
    let mut own = Consent::new(Role::Server, session(), FlowId(7));
    own.say_at = at(0);
    unchanged(&mut server, &said(&mut own, at(0)), "its own");
    for other in [&b"PSDG"[..], b"PSMV", b"PSAT", b"PSC", b""] {
        assert!(!unchanged(&mut server, other, "of another kind"));
    }
    // Once heard, it does not count again, and nor does one before it.
    let later = said(&mut client, at(250));
    server.hears(&later, at(500));
    assert_eq!(server.due(), at(5_500));
    for old in [&datagram, &later] {
        server.hears(old, at(4_000));
        assert_eq!(server.due(), at(5_500));
    }
}

#[test]
fn a_stream_that_is_not_asked_for_ends_after_five_seconds_with_who_does_not() {
    let (_, mut server) = both();
    server.say_at = Tick::NEVER;
    assert!(server.attend((true, false), at(5_000)).is_ok() && server.is_lapsed());
    let (when, error) = gives_up(&mut server);
    assert_eq!(when, at(5_100));
    assert_eq!(
        error.text,
        "the client has not asked for its datagrams for 5.1 s; without that they are sent for 5 s at most. See \
         whether it still runs, and whether UDP passes both ways"
    );
}

#[test]
fn word_that_waited_while_this_machine_stood_still_is_heard_before_it_gives_up() {
    let (mut client, mut server) = both();
    server.say_at = Tick::NEVER;
    let datagram = said(&mut client, at(0));
    assert!(server.attend((true, false), at(60_000)).is_ok() && server.is_lapsed());
    server.hears(&datagram, at(60_001));
    assert!(!server.is_lapsed());
    assert_eq!(gives_up(&mut server).0, at(65_101));
}

#[test]
fn a_refusal_ends_it_within_a_second_unless_it_is_asked_for_meanwhile() {
    let (mut client, mut server) = both();
    server.say_at = Tick::NEVER;
    let first = said(&mut client, at(0));
    server.refused(111, at(1_000));
    server.hears(&first, at(1_500));
    assert_eq!(server.due(), at(6_500));
    server.refused(111, at(2_000));
    // Those that follow do not put it off.
    server.refused(111, at(2_500));
    let (when, error) = gives_up(&mut server);
    assert_eq!(when, at(2_900));
    assert!(error.text.contains("the client's machine refuses"), "{}", error.text);
}

#[test]
fn with_an_older_peer_a_refusal_alone_ends_it() {
    let mut client = Consent::new(Role::Client, session(), FlowId(7));
    client.start(Tick::ZERO);
    assert_eq!(client.due(), Tick::NEVER);
    client.refused(111, at(1_000));
    client.sign_of_life(at(1_500));
    assert_eq!(client.due(), Tick::NEVER);
    client.refused(111, at(2_000));
    assert_eq!(gives_up(&mut client).0, at(2_900));
}
