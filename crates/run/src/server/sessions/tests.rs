//! Who gets a seat, and what it takes of a server.
//!
//! In one file: one list of tests of one table of sessions.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};

use pathscope_core::Tick;
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::goodput::Iterations;
use pathscope_modes::latency::LatencyPlan;
use pathscope_modes::registry::Plan;
use pathscope_peers::attach::{AttachDatagrams, DatagramHeard, HearDatagrams};
use pathscope_peers::limits::Limits;
use pathscope_peers::native::{self, AttachCode, Attaching, Proof, encode_ack, proof_of};
use pathscope_peers::registry::Challenger;

use super::*;
use crate::messages::inbox::InboxReader;
use crate::promised::Beside;
use crate::server::needs::SESSION_BYTES;
use pathscope_modes::survey::{self, SurveyOptions};

fn sessions() -> Sessions {
    sessions_with(Limits::default())
}

/// With a hundred files for their tests, and some for three sessions.
fn sessions_with(limits: Limits) -> Sessions {
    let settings = Settings { limits, ..Settings::default() };
    Sessions::new(settings, Token([8; 16]), FILES, waker())
}

const FILES: u64 = 100 + 3 * FILES_OF_SESSION;

fn waker() -> Waker {
    Waker::new().expect("a waker")
}

fn test(plan: Plan) -> Test {
    let report_every_ns = Period::from_secs(1);
    Test::new(plan, None, report_every_ns)
}

/// Of a session without a name.
const OF_VERSION_1: Credentials =
    Credentials { token: Token([1; 16]), session: None, goes_ahead: false };

/// Where the sessions of these tests come from.
const HOME: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4_000);

/// The socket of a flow that asks here, from there.
fn promised(local: SocketAddr, remote: SocketAddr) -> Promised {
    Promised { local, remote, beside: Beside::default() }
}

fn expect(
    sessions: &Sessions,
    known: (Credentials, Option<Resumed>),
    test: &Test,
    inbox: Inbox,
) -> Result<(), RunError> {
    let access = Access::new(known.0.session, HOME, test);
    sessions.expect(known, (test, access), inbox)
}

/// What somebody says at this address who has been challenged there.
fn claim_of(seat: Seat, session: Option<Token>, from: SocketAddr) -> DatagramClaim {
    let challenger = Challenger::new([7; 16]);
    let mut attaching = Attaching::new(seat, session, 5, Tick::ZERO);
    loop {
        let said = attaching.datagram(Tick::ZERO).expect("it asks, and confirms");
        match challenger.hear(from, &said, Tick::ZERO) {
            DatagramHeard::Answer(challenge) => attaching.received(&challenge, Tick::ZERO),
            DatagramHeard::Claimed(claim) => return claim,
            DatagramHeard::Nothing | DatagramHeard::Joins(_) => panic!("a client is heard"),
        }
    }
}

/// Pings over UDP, on one flow.
fn pings() -> Test {
    test(Plan::Latency(LatencyPlan::probe(Frequency(100))))
}

/// One flow of two lanes that may come from anywhere.
fn paths() -> Test {
    let plan = serde_json::from_str(
        r#"{"rate_bps":1000000,"grouping":30,"datagram_bytes":1024,"duration_ns":10000000000,"lanes":2,"late_by_ns":20000000}"#,
    );
    test(Plan::Multipath(plan.expect("a plan")))
}

#[test]
fn who_is_refused_a_seat_is_not_remembered() {
    let local = SocketAddr::from(([127, 0, 0, 1], 5210));
    for (test, wrong) in [(pings(), (0, 0)), (paths(), (0, 2)), (paths(), (1, 0))] {
        let sessions = sessions();
        let (inbox, reader) = Inbox::new(waker());
        expect(&sessions, (OF_VERSION_1, None), &test, inbox).expect("nobody else has the token");
        let claim = |(flow, lane), port| {
            let (flow, lane) = (FlowId(flow), Lane(lane));
            let seat = Seat { token: Token([1; 16]), group: GroupId(0), flow, lane };
            let from = SocketAddr::from(([127, 0, 0, 1], port));
            sessions.attach_datagrams(&claim_of(seat, None, from), promised(local, from))
        };
        assert_eq!(claim((0, 0), 1), Ok(()));
        for port in 2..1_000 {
            assert_ne!(claim(wrong, port), Ok(()));
        }
        let state = lock(&sessions.state);
        let expected = &state.tests[&Token([1; 16])];
        assert_eq!((expected.lanes.len(), reader.take_all().count()), (1, 1));
    }
}

#[test]
fn neither_a_session_nor_an_address_takes_every_descriptor() {
    let sessions = Arc::new(sessions_with(Limits {
        descriptors: Some(60),
        descriptors_per_address: Some(80),
        ..Limits::default()
    }));
    let admit = |from: &str| {
        let from = from.parse().expect("an address");
        Sessions::admit(&sessions, from).expect("there is room")
    };
    // Two addresses of one site, and another.
    let mut one = admit("[2001:db8::1]:9");
    let mut other = admit("[2001:db8::2]:9");
    let mut stranger = admit("192.0.2.1:9");
    let refused = |admission: &mut Admission, wanted| {
        admission.take_files((wanted, 0)).expect_err("too many").to_string()
    };
    let said = refused(&mut one, 61);
    assert!(said.starts_with("61 descriptors") && said.contains("limit of 60"), "{said}");
    assert!(said.ends_with("a higher --limit-descriptors"), "{said}");
    one.take_files((60, 0)).expect("within its limit");
    let said = refused(&mut other, 21);
    assert!(said.contains("60 of other sessions from 2001:db8::/64"), "{said}");
    assert!(said.contains("limit of 80") && said.contains("-descriptors-per-address"), "{said}");
    other.take_files((20, 0)).expect("within its limit");
    let said = refused(&mut stranger, 21);
    assert!(said.starts_with("21 connections are more than the 20"), "{said}");
    stranger.take_files((20, 0)).expect("they are there");
    // A test in place of another, and a session that is gone.
    one.take_files((10, 0)).expect("fewer");
    other.take_files((60, 0)).expect("the rest of the site's");
    drop(one);
    stranger.take_files((40, 0)).expect("they are there");
    // Those in tables of workers' own take no place in the first, and count for the session and its address.
    let said = stranger.take_files((10, 51)).expect_err("too many").to_string();
    assert!(said.starts_with("61 descriptors") && said.contains("limit of 60"), "{said}");
    stranger.take_files((10, 50)).expect("within its limit");
    assert_eq!(lock(&sessions.state).taken[Resource::Descriptors as usize].taken(), 70);
    let mut again = admit("192.0.2.1:10");
    let said = again.take_files((2, 19)).expect_err("too many").to_string();
    assert!(said.contains("60 of other sessions from 192.0.2.1"), "{said}");
    again.take_files((2, 18)).expect("within its address's limit");
    drop((other, stranger, again));
    assert_eq!(lock(&sessions.state).files_free(), FILES);
    assert!(lock(&sessions.state).taken[Resource::Descriptors as usize].is_empty());
    assert!(lock(&sessions.state).taken[Resource::AllDescriptors as usize].is_empty());
}

#[test]
fn no_caller_takes_all_memory_and_everything_comes_back() {
    const MIB: u64 = 1 << 20;
    const REST: u64 = 4 * MIB - SESSION_BYTES;
    let sessions = Arc::new(sessions_with(Limits {
        memory_bytes: Some(Bytes(8 * MIB)),
        memory_bytes_per_address: Some(Bytes(4 * MIB)),
        ..Limits::default()
    }));
    let ask = |from: &str| Sessions::admit(&sessions, from.parse().expect("an address"));
    let admit = |from: &str| ask(from).expect("there is room");
    let mut one = admit("192.0.2.1:9");
    one.take_memory(REST).expect("the rest of its share");
    one.take_memory(REST).expect("it has it");
    let refused = one.take_memory(REST + 1).expect_err("more than its share");
    assert_eq!(refused.code, "memory");
    let said = refused.to_string();
    assert!(said.contains("4160 KiB of memory") && said.contains("limit of 4 MiB"), "{said}");
    assert!(said.ends_with("--limit-memory-per-address"), "{said}");
    let refusal = ask("192.0.2.1:10").expect_err("its address has its share");
    assert_eq!(refusal.code, "memory");
    // What runs goes on, and others have what is left.
    let mut stranger = admit("[2001:db8::1]:9");
    stranger.take_memory(REST).expect("it is left");
    let said = ask("192.0.2.3:9").expect_err("nothing is left").to_string();
    assert!(said.contains("0 B that it has left of its limit of 8 MiB"), "{said}");
    assert!(said.ends_with("--limit-memory"), "{said}");
    one.take_memory(0).expect("less is always given");
    let mut here = admit("127.0.0.1:9");
    let left = 4 * MIB - 2 * SESSION_BYTES;
    here.take_memory(left).expect("callers on this machine have no share of their own");
    assert!(here.take_memory(left + 1).is_err(), "but they are counted");
    assert_eq!(lock(&sessions.state).taken[Resource::Memory as usize].taken(), 8 * MIB);
    drop((one, stranger, here));
    assert!(lock(&sessions.state).taken[Resource::Memory as usize].is_empty());
    assert_eq!((sessions.count(), lock(&sessions.state).census.sessions()), (0, 0));
}

#[test]
fn no_caller_takes_every_thread_and_everything_comes_back() {
    let limits = Limits { threads: Some(8), threads_per_address: Some(4), ..Limits::default() };
    let sessions = Arc::new(sessions_with(limits));
    let ask = |from: &str| Sessions::admit(&sessions, from.parse().expect("an address"));
    let admit = |from: &str| ask(from).expect("a session takes none");
    let mut one = admit("[2001:db8::1]:9");
    one.take_threads(3).expect("within its share");
    let mut other = admit("[2001:db8::2]:9");
    other.take_threads(1).expect("the last of the site");
    let refusal = admit("[2001:db8::3]:9").take_threads(1).expect_err("the site has its share");
    assert_eq!(refusal.code, "threads");
    assert!(refusal.to_string().ends_with("--limit-threads-per-address"), "{refusal}");
    let mut stranger = admit("192.0.2.1:9");
    let said = stranger.take_threads(5).expect_err("more than its share").to_string();
    assert!(said.starts_with("5 threads") && said.contains("beside 0 of other"), "{said}");
    stranger.take_threads(4).expect("the rest");
    let said = admit("192.0.2.2:9").take_threads(1).expect_err("nothing is left").to_string();
    assert!(said.contains("limit of 8") && said.ends_with("--limit-threads"), "{said}");
    // A caller on this machine is not counted, whatever he has.
    let mut here = ask("127.0.0.1:9").expect("it is here");
    here.take_threads(1_000).expect("nothing is withheld from it");
    assert_eq!(lock(&sessions.state).taken[Resource::Threads as usize].taken(), 8);
    stranger.take_threads(0).expect("its test is over");
    assert_eq!(lock(&sessions.state).taken[Resource::Threads as usize].taken(), 4);
    drop((one, other, stranger, here));
    assert!(
        lock(&sessions.state).taken[Resource::Threads as usize].is_empty()
            && lock(&sessions.state).taken[Resource::Memory as usize].is_empty()
    );
    assert_eq!(lock(&sessions.state).files_free(), FILES);
}

#[test]
fn a_session_without_descriptors_is_refused_by_name() {
    let sessions = Arc::new(sessions_with(Limits::default()));
    let from = SocketAddr::from(([192, 0, 2, 1], 9));
    lock(&sessions.state).files = FILES_OF_SESSION;
    let first = Sessions::admit(&sessions, from).expect("there are as many");
    let refusal = Sessions::admit(&sessions, from).expect_err("there are none");
    assert_eq!(refusal.code, "descriptors");
    assert!(refusal.to_string().contains("ulimit -n"), "{refusal}");
    drop(first);
    assert!(Sessions::admit(&sessions, from).is_ok());
    assert_eq!((sessions.count(), lock(&sessions.state).census.sessions()), (0, 0));
}

/// One connection after the other, for ever, with so many in the making.
fn one_after_the_other(connect_limit: u32) -> Test {
    let options = SurveyOptions {
        connections: 1,
        duration: Period::from_secs(10),
        probe_rate: Frequency(100),
        congestion_control: None,
    };
    let mut tests = survey::tests(&options, Period::from_secs(1)).into_iter().map(|(_, test)| test);
    let goodput = tests.find(|test| matches!(&test.plan, Plan::Goodput(_)));
    let mut test = goodput.expect("a survey measures goodput");
    if let Plan::Goodput(plan) = &mut test.plan {
        plan.shape.iterations = Iterations::Forever;
        plan.shape.connect_limit = connect_limit;
    }
    test
}

/// A connection that says this.
fn stream_claim(seat: Seat, proof: Option<Proof>) -> StreamClaim {
    StreamClaim::Native(native::StreamClaim::new(seat, proof))
}

/// Tells a connection why it has no seat, where it has none. Whether it waits for nothing.
fn is_told(attached: Attached) -> bool {
    match attached {
        Attached::Over(_) => true,
        Attached::Waits(_) => false,
        Attached::Refused { mut stream, word } => stream.write_all(&word).is_ok(),
    }
}

/// A connection asks for a seat. What it is told, or nothing where it waits.
fn asks(sessions: &Sessions, flow: u32, may_wait: bool) -> Option<[u8; 4]> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let (server, _) = listener.accept().expect("one has come");
    let (token, group, lane) = (Token([1; 16]), GroupId(0), Lane::ONLY);
    let seat = Seat { token, group, flow: FlowId(flow), lane };
    let claim = stream_claim(seat, None);
    let request = SeatRequest { stream: server, claim, from: HOME, unread: 0 };
    if !is_told(sessions.attach_stream(request, may_wait)) {
        return None;
    }
    let mut told = [0; 4];
    client.read_exact(&mut told).expect("it is told something");
    Some(told)
}

fn take_one(reader: &InboxReader) {
    assert!(matches!(reader.take(), Some(SessionMessage::Attached { .. })));
}

#[test]
fn connections_that_follow_one_another_are_no_more_at_once_than_was_agreed() {
    let sessions = sessions();
    let (inbox, reader) = Inbox::new(waker());
    let test = one_after_the_other(2);
    expect(&sessions, (OF_VERSION_1, None), &test, inbox).expect("it is the only one");
    let attached = Some(encode_ack(AttachCode::ATTACHED));
    for flow in 0..3 {
        assert_eq!(asks(&sessions, flow, true), attached, "{flow}");
    }
    assert_eq!(asks(&sessions, 3, true), None);
    assert_eq!(asks(&sessions, 3, false), Some(encode_ack(AttachCode::NO_ROOM)));
    // One of them is over, and its number was not lost meanwhile.
    take_one(&reader);
    assert_eq!(asks(&sessions, 3, false), attached);
    assert_eq!(asks(&sessions, 4, false), Some(encode_ack(AttachCode::NO_ROOM)));
}

#[test]
fn what_may_be_attached_at_once_is_what_descriptors_are_taken_for() {
    let most = |connect_limit| {
        let test = one_after_the_other(connect_limit);
        most_attached(&test, &test.groups()[0])
    };
    assert_eq!([most(1), most(50), most(1_000)], [2, 51, 65]);
}

#[test]
fn an_absent_client_keeps_its_session_and_no_place() {
    let sessions = Arc::new(sessions_with(Limits { sessions: Some(1), ..Limits::default() }));
    let from = SocketAddr::from(([192, 0, 2, 1], 9));
    let ask = || Sessions::admit(&sessions, from);
    let mut first = ask().expect("it is the first");
    assert!(ask().is_err());
    first.step_out();
    let mut second = ask().expect("the first is away");
    // As many may be away as there are places, and no more.
    second.step_out();
    assert!(ask().is_err());
    // A client that comes back needs no free place, and takes one.
    first.step_in();
    second.step_out();
    assert!(ask().is_err() && sessions.count() == 2);
    drop(first);
    let fourth = ask().expect("the first is gone");
    assert!(ask().is_err());
    second.step_in();
    drop((second, fourth));
    assert_eq!((sessions.count(), lock(&sessions.state).absent), (0, 0));
    assert!(ask().is_ok());
}

/// A session of this name, and where word for it is left.
fn live(sessions: &Sessions, name: u8) -> (Option<Token>, InboxReader, Inbox) {
    let (inbox, reader) = Inbox::new(waker());
    sessions.live(Token([name; 16]), inbox.clone());
    (Some(Token([name; 16])), reader, inbox)
}

#[test]
fn a_server_without_clients_ends_when_it_has_waited_as_long_as_it_was_to() {
    let limit = Period::from_secs(2);
    let settings =
        Settings { exit_after_idle: Some(limit), exit_after_tests: Some(1), ..Settings::default() };
    let sessions = Arc::new(Sessions::new(settings, Token([8; 16]), FILES, waker()));
    let until = sessions.idle_until().expect("nobody is here");
    assert_eq!(sessions.done(Tick::from_nanos(until.as_nanos() - 1)), None);
    let why = sessions.done(until).expect("it has waited");
    assert_eq!(why, "no client was here for 2 s (--exit-after-idle): ending");
    // Who is here may say nothing for as long as he likes; when he has left the time begins anew.
    let admission = Sessions::admit(&sessions, HOME).expect("there is room");
    assert_eq!(sessions.idle_until(), None);
    assert_eq!(sessions.done(Tick::NEVER), None);
    drop(admission);
    assert!(sessions.idle_until() >= Some(until));
    sessions.begin_test().expect("it is the first");
    let why = sessions.done(Tick::ZERO).expect("it has served its test");
    assert!(why.contains("--exit-after-tests"), "{why}");
    // Who was told of no such time waits for ever.
    assert_eq!(sessions_with(Limits::default()).done(Tick::NEVER), None);
}

/// A lane that presents this asks for its seat.
fn claims(
    sessions: &Sessions,
    Credentials { token, session, .. }: Credentials,
    lane: u8,
) -> Result<(), SeatRefusal> {
    let (local, from) = ([1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)))).into();
    let seat = Seat { token, group: GroupId(0), flow: FlowId(0), lane: Lane(lane) };
    sessions.attach_datagrams(&claim_of(seat, session, from), promised(local, from))
}

#[test]
fn a_test_is_taken_up_again_by_who_knows_the_name_of_its_session_and_by_nobody_else() {
    let (sessions, test) = (sessions(), paths());
    let (session, reader, inbox) = live(&sessions, 9);
    let (drawn, taken) = (Token([1; 16]), Token([2; 16]));
    let victim = Credentials { token: drawn, session, goes_ahead: false };
    expect(&sessions, (victim, None), &test, inbox).expect("it is the only one");
    assert_eq!(claims(&sessions, victim, 0), Ok(()));
    assert!(matches!(reader.take(), Some(SessionMessage::Lane { .. })));
    // Who knows the token alone: in version 2 with no name, a wrong one or his own, and in version 1.
    let (own, _reader, inbox) = live(&sessions, 8);
    let thief = Credentials { token: taken, session: own, goes_ahead: false };
    let ask = |credentials, named| {
        let resumed = Some(Resumed { token: drawn, session: named });
        expect(&sessions, (credentials, resumed), &test, inbox.clone())
    };
    let of_version_1 = Credentials { token: drawn, session: None, goes_ahead: false };
    let cases = [(thief, None), (thief, Some(drawn)), (thief, own), (of_version_1, None)];
    for (credentials, named) in cases {
        let refused = ask(credentials, named);
        let refused = refused.expect_err("it is not his").to_string();
        assert!(refused.starts_with("another session here has this test"), "{named:?}: {refused}");
        // Nothing was stopped, no lane moved, and the test goes on taking its own.
        assert!(reader.take().is_none(), "{named:?}");
        assert_eq!(claims(&sessions, thief, 0), Err(SeatRefusal::UnknownSession), "{named:?}");
        assert_eq!(claims(&sessions, victim, 1), Ok(()), "{named:?}");
        let lane = reader.take();
        assert_eq!(
            matches!(lane, Some(SessionMessage::Lane { .. })),
            named.is_none() && credentials == thief
        );
    }
    // Its client.
    ask(thief, session).expect("it knows the name");
    assert!(matches!(reader.take(), Some(SessionMessage::Stop(_))));
    assert_eq!(claims(&sessions, victim, 0), Err(SeatRefusal::UnknownSession));
    assert_eq!(claims(&sessions, thief, 0), Ok(()));
    // And once more, from a third session. What the first forgets as it ends is none of theirs.
    sessions.bury(Token([9; 16]));
    let (third, _reader, inbox) = live(&sessions, 7);
    let credentials = Credentials { token: Token([3; 16]), session: third, goes_ahead: false };
    let resumed = Some(Resumed { token: drawn, session: own });
    expect(&sessions, (credentials, resumed), &test, inbox).expect("it knows the name");
    sessions.forget(victim);
    assert_eq!(claims(&sessions, thief, 0), Err(SeatRefusal::UnknownSession));
    assert_eq!(claims(&sessions, credentials, 0), Ok(()));
}

#[test]
fn a_test_of_version_1_is_not_stopped_by_who_asks_for_it() {
    let (sessions, test) = (sessions(), paths());
    let (inbox, reader) = Inbox::new(waker());
    let resumed = Some(Resumed { token: Token([1; 16]), session: None });
    // Where nobody has the token, it may be one that an earlier server has drawn.
    expect(&sessions, (OF_VERSION_1, resumed), &test, inbox).expect("it is the only one");
    let other = || Inbox::new(waker()).0;
    let again = expect(&sessions, (OF_VERSION_1, resumed), &test, other());
    assert_eq!(again.expect_err("it is there").to_string(), STILL_THERE);
    assert!(reader.take().is_none());
    assert_eq!(claims(&sessions, OF_VERSION_1, 0), Ok(()));
    // Who has chosen a token keeps nobody of version 2 from it: that test gets one of its own.
    let (session, _reader, inbox) = live(&sessions, 9);
    let credentials = Credentials { token: Token([2; 16]), session, goes_ahead: false };
    let resumed = Some(Resumed { token: Token([1; 16]), session: Some(Token([5; 16])) });
    expect(&sessions, (credentials, resumed), &test, inbox).expect("it is another test");
    // And nobody forgets another's.
    sessions.forget(Credentials { token: Token([1; 16]), session, goes_ahead: false });
    assert_eq!(claims(&sessions, OF_VERSION_1, 1), Ok(()));
    sessions.forget(OF_VERSION_1);
    expect(&sessions, (OF_VERSION_1, None), &test, other()).expect("its place is free");
}

/// A connection from there asks for a seat, saying this. What it is told, as far as a code.
fn connects(sessions: &Sessions, seat: Seat, proof: Option<Proof>, from: SocketAddr) -> u8 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let (server, _) = listener.accept().expect("one has come");
    let claim = stream_claim(seat, proof);
    let attached =
        sessions.attach_stream(SeatRequest { stream: server, claim, from, unread: 0 }, true);
    assert!(is_told(attached), "who has no place there waits for none");
    let mut told = [0; 4];
    client.read_exact(&mut told).expect("it is told something");
    told[2]
}

#[test]
fn a_seat_is_of_who_proves_that_it_is_his_and_nobody_else_takes_anything() {
    let sessions = sessions();
    let (session, reader, inbox) = live(&sessions, 9);
    let name = Token([9; 16]);
    let credentials = Credentials { token: Token([1; 16]), session, goes_ahead: false };
    // One connection after the other: so many and no more at once.
    let test = one_after_the_other(2);
    expect(&sessions, (credentials, None), &test, inbox).expect("it is the only one");
    let seat = |flow| {
        let (token, group, lane) = (Token([1; 16]), GroupId(0), Lane::ONLY);
        Seat { token, group, flow: FlowId(flow), lane }
    };
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], 4_000));
    let refused = AttachCode::NOT_PROVEN.0;
    let wrong = Some(proof_of(seat(0), Token([8; 16])));
    for from in [HOME, elsewhere] {
        for proof in [None, wrong, Some(proof_of(seat(1), name))] {
            assert_eq!(connects(&sessions, seat(0), proof, from), refused, "{from} {proof:?}");
        }
    }
    assert!(reader.take().is_none());
    assert_eq!(lock(&sessions.state).served, 0);
    // Every seat is there, and as many places as there were.
    for flow in 0..3 {
        let proof = Some(proof_of(seat(flow), name));
        assert_eq!(connects(&sessions, seat(flow), proof, elsewhere), 0, "{flow}");
        assert_eq!(connects(&sessions, seat(flow), None, HOME), refused, "{flow}");
    }
    assert_eq!(reader.take_all().count(), 3);
}

#[test]
fn a_lane_moves_with_who_proves_that_it_is_his_and_with_nobody_else() {
    for test in [paths(), pings()] {
        let sessions = sessions();
        let (session, reader, inbox) = live(&sessions, 9);
        let victim = Credentials { token: Token([1; 16]), session, goes_ahead: false };
        expect(&sessions, (victim, None), &test, inbox).expect("it is the only one");
        let (local, token) = (SocketAddr::from(([127, 0, 0, 1], 5_210)), victim.token);
        let seat = Seat { token, group: GroupId(0), flow: FlowId(0), lane: Lane(0) };
        let ask = |session, from| {
            let from = SocketAddr::from(from);
            sessions.attach_datagrams(&claim_of(seat, session, from), promised(local, from))
        };
        let anybody = |when| {
            for (named, from) in [
                (None, ([127, 0, 0, 1], 7)),
                (None, ([127, 0, 0, 2], 7)),
                (Some(Token([8; 16])), ([127, 0, 0, 1], 7)),
                (Some(token), ([127, 0, 0, 2], 7)),
            ] {
                assert_eq!(
                    ask(named, from),
                    Err(SeatRefusal::NotProven),
                    "{when}: {named:?} {from:?}"
                );
            }
        };
        anybody("before its client has come");
        assert_eq!(ask(session, ([192, 0, 2, 1], 4)), Ok(()));
        anybody("after it has");
        assert_eq!(reader.take_all().count(), 1);
        // Its client comes from another address, where lanes come and go.
        let moved = ask(session, ([198, 51, 100, 7], 4));
        let expected = if test.roams() { Ok(()) } else { Err(SeatRefusal::Taken) };
        assert_eq!(moved, expected);
    }
}

#[test]
fn in_version_1_a_seat_is_of_who_comes_from_its_session_s_address() {
    let elsewhere = SocketAddr::from(([127, 0, 0, 2], 4_000));
    let seat = Seat { token: Token([1; 16]), group: GroupId(0), flow: FlowId(0), lane: Lane(0) };
    let ask = |sessions: &Sessions, from| {
        sessions.attach_datagrams(&claim_of(seat, None, from), promised(HOME, from))
    };
    for (test, expected) in [(pings(), Err(SeatRefusal::NotProven)), (paths(), Ok(()))] {
        let sessions = sessions();
        let (inbox, _reader) = Inbox::new(waker());
        expect(&sessions, (OF_VERSION_1, None), &test, inbox).expect("it is the only one");
        assert_eq!(ask(&sessions, elsewhere), expected);
        assert_eq!(ask(&sessions, HOME), Ok(()));
    }
    let sessions = sessions();
    let (inbox, _reader) = Inbox::new(waker());
    expect(&sessions, (OF_VERSION_1, None), &one_after_the_other(2), inbox).expect("it is");
    assert_eq!(connects(&sessions, seat, None, elsewhere), AttachCode::NOT_PROVEN.0);
    assert_eq!(connects(&sessions, seat, None, HOME), 0);
}
