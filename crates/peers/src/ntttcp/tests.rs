//! What is said to ntttcp's receivers, word by word (reference/ntttcp.md, section 2), in time that is passed in.

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::quantity::{Bytes, Period};
use pathscope_flow::{Dialogue as _, Gather, GroupId, Input, Output};
use pathscope_modes::datagrams::DatagramArgs;
use pathscope_modes::goodput::Shutdown;
use pathscope_modes::load::{Extent, LoadArgs, Pattern};
use pathscope_modes::pattern::StreamKey;
use pathscope_modes::registry::{EndReport, Plan};

use super::client::proposed;
use super::hearing::{BUSY, END, FINISHED, IDLE, LAST, QUERY, START, WAIT};
use super::*;
use crate::PeerError;
use crate::attach::AttachDatagrams as _;
use crate::dialogue::ClientDialogue as _;
use crate::native::fixtures;

const NOW: Tick = Tick::from_nanos(1_000);

/// So many connections for ten seconds, and no probes.
fn load(connections: u32) -> Test {
    Test::new(fixtures::load(connections).plan, None, Period::from_secs(1))
}

fn changed(change: impl FnOnce(&mut pathscope_modes::goodput::GoodputPlan)) -> Test {
    let Plan::Goodput(mut plan) = load(2).plan else { panic!("it is a load") };
    change(&mut plan);
    Test::new(plan.into(), None, Period::from_secs(1))
}

/// So many flows of datagrams for ten seconds.
fn datagrams(connections: u32) -> Test {
    let words = LoadArgs { connections: Some(connections), ..LoadArgs::usual() };
    let own = DatagramArgs {
        protocol: "udp".to_owned(),
        datagram: Some(Bytes(1_000)),
        offload: None,
        may_fragment: false,
        dont_fragment: false,
        find_rate: false,
    };
    let plan = own.into_plan(words).expect("it can be run");
    Test::new(plan.into(), None, Period::from_secs(1))
}

/// What is asked for now, a word each.
fn asked(client: &mut NtttcpClient) -> Vec<String> {
    let word = |output| match output {
        Output::Send(bytes) => {
            let word = i32::from_be_bytes(bytes.try_into().expect("four bytes"));
            format!("say {word}")
        }
        Output::Open { .. } => "open".to_owned(),
        Output::Start => "start".to_owned(),
        Output::Tell { event, .. } => format!("tell {event:?}"),
        Output::TestOver => "test over".to_owned(),
        Output::End(result) => {
            let told = result.map_or_else(|it: PeerError| it.to_string(), |()| "well".to_owned());
            format!("end: {told}")
        }
        _ => "what nobody hears".to_owned(),
    };
    std::iter::from_fn(|| client.output()).map(word).collect()
}

fn hear(client: &mut NtttcpClient, word: i32) -> Vec<String> {
    client.input(Input::Received(&word.to_be_bytes()), NOW);
    asked(client)
}

/// A client that was told that the server is idle, and has a test of so many connections that nothing follows.
fn agreeing(connections: u32) -> NtttcpClient {
    agreeing_on(load(connections))
}

fn agreeing_on(test: Test) -> NtttcpClient {
    let mut client = NtttcpClient::new(NOW);
    assert_eq!(asked(&mut client), [format!("say {QUERY}")]);
    assert!(hear(&mut client, IDLE).is_empty() && client.peer_facts().is_some());
    client.propose(test, NOW);
    assert_eq!(asked(&mut client), ["say 11"], "a second more than it takes");
    client.finish(NOW);
    client
}

/// The same with all connections there.
fn starting(connections: u32) -> NtttcpClient {
    let mut client = agreeing(connections);
    assert_eq!(hear(&mut client, 60), ["open"]);
    for flow in 0..connections {
        assert!(asked(&mut client).is_empty(), "not all are there");
        client.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, NOW);
    }
    assert_eq!(asked(&mut client), [format!("say {START}")]);
    client
}

fn running() -> NtttcpClient {
    let mut client = starting(2);
    assert_eq!(hear(&mut client, START), ["start"]);
    client
}

fn over(client: &mut NtttcpClient) -> Vec<String> {
    client.input(Input::Over(Box::<EndReport>::default()), NOW);
    asked(client)
}

#[test]
fn a_test_begins_and_ends_by_the_words_of_the_reference() {
    let mut client = running();
    assert_eq!(over(&mut client), [format!("say {END}")]);
    assert_eq!(hear(&mut client, FINISHED), ["test over", "end: well"]);
    assert_eq!(client.deadline(), None);
}

#[test]
fn words_come_in_whatever_pieces() {
    let mut client = NtttcpClient::new(NOW);
    client.propose(load(1), NOW);
    asked(&mut client);
    for byte in [0, 0, 0] {
        client.input(Input::Received(&[byte]), NOW);
        assert!(asked(&mut client).is_empty());
    }
    // The rest of one word and a whole other.
    client.input(Input::Received(&[11, 0, 0, 0, 60]), NOW);
    assert_eq!(asked(&mut client), ["say 11", "open"]);
}

#[test]
fn it_waits_for_others_and_takes_the_word_twice() {
    let mut client = starting(1);
    assert!(hear(&mut client, WAIT).is_empty());
    assert!(client.deadline().is_some_and(|at| at > NOW.plus_nanos(600_000_000_000)));
    assert_eq!(hear(&mut client, START), ["start"]);
    assert!(hear(&mut client, START).is_empty());
}

#[test]
fn the_last_of_several_says_so_and_begins_with_them() {
    let starting = || {
        let mut client = NtttcpClient::last(NOW);
        assert_eq!(asked(&mut client), [format!("say {QUERY}")]);
        hear(&mut client, IDLE);
        client.propose(load(1), NOW);
        assert_eq!(asked(&mut client), ["say 11"]);
        assert_eq!(hear(&mut client, 12), ["open"]);
        client.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, NOW);
        assert_eq!(asked(&mut client), [format!("say {LAST}")]);
        client
    };
    let mut client = starting();
    // The reference says it twice, at once.
    let twice = [START, START].map(i32::to_be_bytes).concat();
    client.input(Input::Received(&twice), NOW);
    assert_eq!(asked(&mut client), ["start"]);
    assert_eq!(over(&mut client), [format!("say {END}")]);
    assert!(hear(&mut starting(), END)[0].contains("takes no more senders"));
    // One that knows of no last sender says again what it said before.
    assert!(hear(&mut starting(), 12)[0].contains("start it with -M"));
}

#[test]
fn who_has_waited_for_others_in_vain_is_told_for_how_long() {
    let mut client = starting(1);
    assert!(hear(&mut client, WAIT).is_empty());
    client.input(Input::Deadline, client.deadline().expect("it waits"));
    let told = asked(&mut client);
    assert!(told[0].contains("did not begin within 1200 s"), "{told:?}");
}

#[test]
fn no_number_that_means_something_else_is_ever_proposed() {
    for seconds in 0..200 {
        let test = changed(|plan| plan.extent = Extent::DurationNs(Period::from_secs(seconds)));
        let said = proposed(&test);
        assert!(![69, 76, 82, 88].contains(&said), "{said}");
        assert!((seconds + 1..=seconds + 2).contains(&said.unsigned_abs().into()), "{said}");
    }
}

#[test]
fn what_a_server_says_no_with_is_told() {
    let mut client = NtttcpClient::new(NOW);
    asked(&mut client);
    assert!(hear(&mut client, BUSY)[0].contains("busy with another sender"));
    let mut client = agreeing(1);
    assert!(hear(&mut client, 5)[0].contains("runs for 5 s, and this test takes 10 s"));
    assert_eq!(hear(&mut agreeing(1), 0), ["open"], "it goes on until it is ended");
    let mut client = starting(1);
    assert!(hear(&mut client, END)[0].contains("takes no more senders"));
    for (mut client, word) in [(agreeing(1), -1), (starting(1), 4_711)] {
        assert!(hear(&mut client, word)[0].contains(&format!("it said {word}")));
    }
    let mut client = NtttcpClient::new(NOW);
    asked(&mut client);
    let told = hear(&mut client, i32::from_be_bytes(*b"HTTP"));
    assert!(told[0].contains("may be no ntttcp receiver"), "{told:?}");
}

#[test]
fn a_server_that_is_gone_ends_what_has_not_begun_and_nothing_else() {
    for mut client in [agreeing(1), starting(1)] {
        client.input(Input::ControlClosed, NOW);
        assert!(asked(&mut client)[0].starts_with("end: the server closed the connection"));
    }
    let mut client = running();
    client.input(Input::ControlClosed, NOW);
    assert!(asked(&mut client).is_empty(), "its connections tell what becomes of it");
    assert_eq!(over(&mut client), ["test over", "end: well"]);
    let mut client = running();
    over(&mut client);
    client.input(Input::ControlClosed, NOW);
    assert_eq!(asked(&mut client), ["test over", "end: well"]);
}

#[test]
fn a_server_that_is_gone_ends_a_test_of_datagrams() {
    let mut client = agreeing_on(datagrams(1));
    assert_eq!(hear(&mut client, 60), ["open"]);
    client.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, NOW);
    assert_eq!(asked(&mut client), [format!("say {START}")]);
    assert_eq!(hear(&mut client, START), ["start"]);
    client.input(Input::ControlClosed, NOW);
    let told = asked(&mut client);
    assert!(told[0].starts_with("end: the server closed the connection"), "{told:?}");
}

#[test]
fn datagrams_are_sent_to_who_has_said_that_it_waits_for_them() {
    assert_eq!(Ntttcp::carries(&datagrams(4)), Ok(()));
    let refusal = NtttcpNoSync::carries(&datagrams(4)).expect_err("it has said nothing");
    assert!(refusal.to_string().contains("--peer ntttcp, and a receiver"), "{refusal}");
    let flow = Ntttcp::attach_datagrams(
        Seat { token: TOKEN, group: GroupId(0), flow: FlowId(0), lane: Lane::ONLY },
        None,
        0,
        NOW,
    );
    let mut flow = flow.expect("it knows datagrams");
    assert_eq!((flow.datagram(NOW), flow.deadline()), (None, None));
    assert_eq!(flow.outcome(), Some(&Ok(())));
}

#[test]
fn what_does_not_come_is_waited_for_no_longer_than_its_limit() {
    let silent = |mut client: NtttcpClient| {
        asked(&mut client);
        let deadline = client.deadline().expect("it waits");
        client.input(Input::Deadline, NOW);
        assert!(asked(&mut client).is_empty(), "it is not time yet");
        client.input(Input::Deadline, deadline);
        asked(&mut client).join(", ")
    };
    assert!(silent(NtttcpClient::new(NOW)).contains("answer as an ntttcp receiver does"));
    assert!(silent(agreeing(1)).contains("say how long it runs"));
    assert!(silent(starting(1)).contains("did not begin"));
    assert!(silent(running()).contains("nothing heard"));
    let mut ending = running();
    over(&mut ending);
    assert_eq!(silent(ending), "test over, end: well", "it need not answer any more");
}

#[test]
fn it_stops_its_flows_first_and_itself_the_second_time() {
    let mut client = running();
    client.input(Input::Stop("a test"), NOW);
    assert_eq!(asked(&mut client), ["tell Stop"]);
    assert_eq!(over(&mut client), [format!("say {END}")]);
    client.input(Input::Stop("a test"), NOW);
    assert!(asked(&mut client)[0].starts_with("end: the client stopped"));
}

#[test]
fn what_is_sent_is_letters() {
    let mut gather = Gather::new(&mut [], 100_000);
    PAYLOAD.gather(StreamKey::new(1, 0, true), 65_000, 100_000, &mut gather);
    let sent: Vec<u8> = gather.slices().iter().flat_map(|slice| slice.to_vec()).collect();
    assert!(sent.len() == 100_000 && sent.iter().all(|byte| *byte == 0x41));
}

#[test]
fn what_it_cannot_carry_is_refused_with_what_to_say_instead() {
    assert_eq!((Ntttcp::carries(&load(4)), NtttcpNoSync::carries(&load(4))), (Ok(()), Ok(())));
    let pull = changed(|plan| plan.pattern = Pattern::Pull);
    let rude = changed(|plan| plan.shape.shutdown = Shutdown::Rude);
    for (test, instead) in [
        (pull, "--pattern push"),
        (rude, "in good order"),
        (fixtures::load(2), "--no-probe"),
        (fixtures::paths(), "and nothing else: goodput"),
    ] {
        for refusal in [Ntttcp::carries(&test), NtttcpNoSync::carries(&test)] {
            let refusal = refusal.expect_err("it cannot").to_string();
            assert!(refusal.contains(instead), "{refusal}");
        }
    }
    let counted = changed(|plan| plan.extent = Extent::TransferBytes(Bytes(9)));
    assert!(Ntttcp::carries(&counted).is_err() && NtttcpNoSync::carries(&counted).is_ok());
}
