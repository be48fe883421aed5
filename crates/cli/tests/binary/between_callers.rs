//! What one caller can do to another of whom he knows the token: nothing. The victim is a caller of our own in each state of
//! its session, and the client as a user has it. 127.0.0.2 is another address than its own.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::caller::{Caller, PATIENCE, attach, attach_stream, socket_from};
use crate::common::{Running, Server, pathscope};
use crate::relay::relay;
use pathscope_core::record::Check;

const HOME: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Codes of answers: `docs/protocol.md`, section 1.
const ATTACHED: u8 = 0;
const NO_SUCH_SESSION: u8 = 1;
const TAKEN: u8 = 3;
const NOT_PROVEN: u8 = 7;

const CONNECTIONS: &str = r#"{"goodput":{"pattern":"pull","connections":2,
    "extent":{"duration_ns":1000000000},"buffer_bytes":65536,"push_bytes":1048576,"pull_bytes":1048576,
    "rate_bps":8000000,"warm_up_ns":0,"verify":"full","congestion_control":null,"engine":null,"wait":"auto"}}"#;
const DATAGRAMS: &str = r#"{"datagrams":{"pattern":"pull","connections":2,
    "extent":{"duration_ns":1000000000},"datagram_bytes":200,"rate_bps":1600000,"warm_up_ns":0,
    "verify":"full","engine":null,"wait":"auto"}}"#;
const LANES: &str = r#"{"multipath":{"rate_bps":1000000,"grouping":30,"datagram_bytes":1024,
    "duration_ns":60000000000,"lanes":2,"late_by_ns":20000000}}"#;

/// What somebody tries who knows this token and no name, from each address: seats by TCP and UDP, as version 1 says it and
/// as version 2 does under a wrong name. What each is told.
fn tries_seats(host: &str, token: [u8; 16], flow: u32) -> Vec<u8> {
    let mut told = Vec::new();
    for from in [HOME, ELSEWHERE] {
        for name in [None, Some([0; 16]), Some(token)] {
            told.push(attach_stream(host, IpAddr::V4(from), (token, name), flow).0);
            told.push(attach(&socket_from(from, host), token, name, flow));
        }
    }
    told
}

/// What he is told who proposes the test of this token anew, and cannot name its session.
fn tries_to_resume(host: &str, token: [u8; 16]) -> Vec<String> {
    let mut refusals = Vec::new();
    for (version, name) in [(1, None), (2, None), (2, Some([0; 16])), (2, Some(token))] {
        let mut thief = Caller::greet(host, ELSEWHERE, version);
        let session = name.map(|name| format!(r#","session":"{}""#, digits(name)));
        let fields = format!(r#","resumes":"{}"{}"#, digits(token), session.unwrap_or_default());
        let refusal = thief.ask(LANES, &fields).expect_err("it is not his");
        refusals.push(format!("{}: {}", refusal["code"], refusal["sentence"]));
    }
    refusals
}

fn digits(bytes: [u8; 16]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).concat()
}

/// All of it, at a session that lives. It is refused by name.
fn attack(host: &str, victim: &Caller, flow: u32) {
    let told = tries_seats(host, victim.token, flow);
    assert!(told.iter().all(|&code| code == NOT_PROVEN), "{told:?}");
    for refusal in tries_to_resume(host, victim.token) {
        assert!(refusal.starts_with("\"unable\": \"another session here has"), "{refusal}");
    }
}

/// The server still listens to it, and has not told it to stop.
fn is_undisturbed(victim: &mut Caller) {
    victim.say(0x0c, r#"{"id":9}"#);
    assert_eq!(victim.hear(0x0d)["id"], 9);
    assert!(!victim.came.contains(&0x0a), "{:x?}", victim.came);
}

#[test]
fn who_knows_the_token_of_a_test_that_has_not_begun_takes_none_of_its_seats() {
    let server = Server::start();
    let host = server.host();
    let mut victim = Caller::propose(&host, 2, CONNECTIONS);
    attack(&host, &victim, 1);
    let (code, _first) = victim.connect(0);
    assert_eq!(code, ATTACHED);
    attack(&host, &victim, 0);
    let (code, _second) = victim.connect(1);
    assert_eq!((code, victim.connect(1).0), (ATTACHED, TAKEN));
    is_undisturbed(&mut victim);
    victim.start();
    // Now that all seats are taken, nobody is let in.
    let told = tries_seats(&host, victim.token, 1);
    assert!(told.iter().all(|&code| code == NO_SUCH_SESSION), "{told:?}");

    let mut victim = Caller::propose(&host, 2, DATAGRAMS);
    let sockets = [(); 2].map(|()| socket_from(HOME, &host));
    for (flow, socket) in (0..).zip(&sockets) {
        attack(&host, &victim, flow);
        assert_eq!(victim.attach(socket, flow), ATTACHED);
        attack(&host, &victim, flow);
    }
    is_undisturbed(&mut victim);
    victim.start();
    for socket in &sockets {
        socket.recv(&mut [0; 2_048]).expect("it streams to who is its client");
    }
    is_undisturbed(&mut victim);
}

#[test]
fn who_knows_the_token_of_a_multipath_test_moves_and_ends_nothing_in_any_state_of_it() {
    let server = Server::start();
    let host = server.host();
    let mut victim = Caller::propose(&host, 2, LANES);
    attack(&host, &victim, 0);
    let lane = socket_from(HOME, &host);
    assert_eq!(victim.attach(&lane, 0), ATTACHED);
    attack(&host, &victim, 0);
    is_undisturbed(&mut victim);
    victim.start();
    attack(&host, &victim, 0);
    is_undisturbed(&mut victim);
    // Its client comes from another address.
    assert_eq!(victim.attach(&socket_from(ELSEWHERE, &host), 0), ATTACHED);
    // While its client is away.
    victim.leave();
    attack(&host, &victim, 0);
    victim.come_back();
    attack(&host, &victim, 0);
    is_undisturbed(&mut victim);
    // Wound up, and its client has not reported yet.
    victim.say(0x0a, r#"{"reason":"enough"}"#);
    victim.hear(9);
    attack(&host, &victim, 0);
    is_undisturbed(&mut victim);
    victim.say(9, r#"{"elapsed_ns":1000000000}"#);
    victim.say(0x0b, "{}");
    // And the next test of that session.
    victim.ask(LANES, "").expect("it is as any other");
    assert_eq!(victim.attach(&lane, 0), ATTACHED);
}

#[test]
fn a_session_gives_way_to_its_own_client() {
    let server = Server::start();
    let host = server.host();
    let mut victim = Caller::propose(&host, 2, LANES);
    let lane = socket_from(HOME, &host);
    assert_eq!(victim.attach(&lane, 0), ATTACHED);
    victim.start();
    let name = victim.session.expect("version 2");
    let mut again = Caller::greet(&host, ELSEWHERE, 2);
    let resumes = digits(victim.token);
    let fields = format!(r#","resumes":"{resumes}","session":"{}""#, digits(name));
    again.ask(LANES, &fields).expect("it knows the name");
    assert_ne!(again.token, victim.token);
    let reason = victim.hear(0x0a);
    assert_eq!(reason["reason"], "its client asks for the session anew");
    // Its lanes come in with what was drawn for it, and with nothing else; from a port of their own, since the session
    // before listens to theirs until it has ended.
    let lane = socket_from(HOME, &host);
    assert_eq!(victim.attach(&lane, 0), NO_SUCH_SESSION);
    assert_eq!(attach(&lane, again.token, Some(name), 0), NOT_PROVEN);
    assert_eq!(again.attach(&lane, 0), ATTACHED);
    again.start();
}

#[test]
fn sockets_of_version_1_come_from_where_their_session_is() {
    let server = Server::start();
    let host = server.host();
    let far = IpAddr::V4(ELSEWHERE);
    let victim = Caller::propose(&host, 1, CONNECTIONS);
    assert_eq!(attach_stream(&host, far, (victim.token, None), 0).0, NOT_PROVEN);
    assert_eq!(victim.connect(0).0, ATTACHED);
    let victim = Caller::propose(&host, 1, DATAGRAMS);
    assert_eq!(victim.attach(&socket_from(ELSEWHERE, &host), 0), NOT_PROVEN);
    assert_eq!(victim.attach(&socket_from(HOME, &host), 0), ATTACHED);
    // What its plan binds to was told on the control connection.
    let bound = CONNECTIONS.replace(r#""engine""#, r#""sockets":{"bind":["127.0.0.2"]},"engine""#);
    let victim = Caller::propose(&host, 1, &bound);
    assert_eq!(attach_stream(&host, far, (victim.token, None), 0).0, ATTACHED);
    // Lanes come from anywhere; and nobody ends the session.
    let mut victim = Caller::propose(&host, 1, LANES);
    assert_eq!(victim.attach(&socket_from(ELSEWHERE, &host), 0), ATTACHED);
    victim.start();
    let resumes = format!(r#","resumes":"{}""#, digits(victim.token));
    for version in [1, 2] {
        let mut thief = Caller::greet(&host, ELSEWHERE, version);
        let refusal = thief.ask(LANES, &resumes).expect_err("it is not his").to_string();
        assert!(refusal.contains("a session here has this test still"), "{refusal}");
    }
    // Who names another session gets a test of his own.
    let mut other = Caller::greet(&host, ELSEWHERE, 2);
    let named = format!(r#"{resumes},"session":"{}""#, digits([3; 16]));
    other.ask(LANES, &named).expect("nobody has that session");
    assert_ne!(other.token, victim.token);
    is_undisturbed(&mut victim);
}

/// Relays TCP and UDP to `server`, and tells the token of each attempt to attach a lane.
fn relay_all(server: &str) -> (SocketAddr, Receiver<[u8; 16]>) {
    let near = relay(server, None);
    let (sender, tokens) = channel();
    let socket = UdpSocket::bind(near).expect("the port of TCP is free on UDP");
    let server = server.to_owned();
    std::thread::spawn(move || carry(&Arc::new(socket), &server, &sender));
    (near, tokens)
}

fn carry(near: &Arc<UdpSocket>, server: &str, tokens: &Sender<[u8; 16]>) {
    let mut lanes: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut buffer = [0; 2_048];
    while let Ok((count, from)) = near.recv_from(&mut buffer) {
        if let Some(token) = buffer.get(16..32).filter(|_| buffer.starts_with(b"PSAT")) {
            // A test that knows it listens no longer.
            let _ = tokens.send(token.try_into().expect("16 bytes"));
        }
        let far = lanes.entry(from).or_insert_with(|| {
            let far = Arc::new(socket_from(HOME, server));
            far.set_read_timeout(None).expect("a socket");
            let (near, back) = (Arc::clone(near), Arc::clone(&far));
            std::thread::spawn(move || {
                let mut buffer = [0; 2_048];
                while let Ok(count) = back.recv(&mut buffer) {
                    let _ = near.send_to(&buffer[..count], from);
                }
            });
            far
        });
        let _ = far.send(&buffer[..count]);
    }
}

#[test]
fn a_client_that_somebody_reads_and_attacks_has_its_result_whole() {
    let server = Server::start();
    let host = server.host();
    for words in [
        &["multipath", "--path", "lo", "-t", "8s", "--rate", "sd"][..],
        &["goodput", "--protocol", "udp", "-t", "3s", "--rate", "4Mbit", "--pattern", "duplex"],
    ] {
        let (near, tokens) = relay_all(&host);
        let near = near.to_string();
        let client = Running::start(pathscope(&[words, &[&near, "--json"]].concat()));
        let token = tokens.recv_timeout(PATIENCE).expect("it attaches a lane");
        for _ in 0..3 {
            let told = tries_seats(&host, token, 0);
            // Once a test of goodput runs, nobody knows its token any more.
            let is_refused = |&code: &u8| matches!(code, NOT_PROVEN | NO_SUCH_SESSION);
            assert!(told.iter().all(is_refused), "{words:?}: {told:?}");
            if words[0] == "multipath" {
                let refusals = tries_to_resume(&host, token);
                assert!(refusals.iter().all(|it| it.starts_with("\"unable\"")), "{refusals:?}");
            }
        }
        let document = client.finish().exits(0).document();
        let measurement = &document.measurements[0];
        assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
        let codes: Vec<_> = measurement.caveats.iter().map(|caveat| caveat.name.as_str()).collect();
        assert!(!codes.contains(&"server_resumed"), "{codes:?}");
        assert!(!codes.contains(&"control_connection_renewed"), "{codes:?}");
        if let Some(figures) = &measurement.summary.multipath {
            // What a busy machine lets fall is a few; whoever is cut off loses most.
            assert_eq!(figures.sent, figures.scheduled);
            assert!(figures.received >= figures.scheduled / 10 * 9, "{figures:?}");
        }
    }
}

/// The proof of these callers is that of the document.
#[test]
fn the_proof_of_the_document_is_what_a_caller_says() {
    let bytes = |text: &str| -> Vec<u8> {
        let byte = |digits| u8::from_str_radix(digits, 16).expect("hexadecimal");
        text.split(' ').map(byte).collect()
    };
    let document = include_str!("../../../../docs/protocol.md");
    let session: [u8; 16] = std::array::from_fn(|at| if at == 0 { 0xbb } else { 15 - at as u8 });
    let lines = [("f5 50 53 50 0d 0a 1a 0a 04", 32), ("50 53 41 54 03", 56)];
    for (begins, at) in lines {
        let line = document.lines().find(|line| line.starts_with(begins)).expect("an example");
        let mut said = bytes(line);
        let told: [u8; 8] = said[at..at + 8].try_into().expect("eight bytes");
        if at == 56 {
            said[12..16].fill(0);
        }
        assert_eq!(crate::caller::proof(session, &said[..at]), told, "{begins}");
    }
}
