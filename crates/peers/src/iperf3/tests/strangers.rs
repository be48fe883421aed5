//! What else may come: garbage, silence, refusals, and the end of the connection, in each stage.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::BitRate;
use pathscope_flow::{GroupId, Input};

use super::*;
use crate::dialogue::ClientDialogue as _;
use crate::iperf3::framing::document;

/// A client in each of its stages but the last, and how that is told.
fn clients() -> Vec<(&'static str, Client)> {
    let mut clients = Vec::new();
    let steps = ["greeting", "agreeing", "attaching", "running", "ending", "reporting", "showing"];
    for (place, name) in steps.into_iter().enumerate() {
        let mut client = client();
        client.propose(load(Pattern::Push, 1), NOW);
        let results = document(br#"{"streams":[]}"#);
        let said: [&[u8]; 6] = [&[0x09], &[0x0a], &[0x01, 0x02], &[], &[0x0d], &results];
        for (step, bytes) in said.iter().take(place).enumerate() {
            client.input(Input::Received(bytes), NOW);
            match step {
                2 => client.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, NOW),
                3 => client.input(Input::Over(Box::default()), NOW),
                _ => {}
            }
        }
        asked(&mut client);
        clients.push((name, client));
    }
    clients
}

fn servers() -> Vec<(&'static str, Server)> {
    let mut servers = Vec::new();
    let steps = ["asking", "preparing", "attaching", "running", "ending", "settling", "showing"];
    for (place, name) in steps.into_iter().enumerate() {
        let mut server = server(Limits::NONE);
        let (parameters, results) = (document(b"{}"), document(br#"{"streams":[]}"#));
        let said: [&[u8]; 6] = [&parameters, &[], &[], &[0x04], &results, &[]];
        for (step, bytes) in said.iter().take(place).enumerate() {
            server.input(Input::Received(bytes), NOW);
            match step {
                1 => server.input(Input::Prepared(Vec::new()), NOW),
                2 => server.input(Input::Attached { group: GroupId(0), flow: FlowId(0) }, NOW),
                5 => server.input(Input::Over(Box::default()), NOW),
                _ => {}
            }
        }
        asked(&mut server);
        servers.push((name, server));
    }
    servers
}

fn end_of(words: &[String]) -> &str {
    words.last().map_or("nothing", String::as_str)
}

#[test]
fn a_client_takes_no_for_an_answer_at_any_time_whole_or_cut_short() {
    for (said, told) in [
        (&[0xff][..], "it runs another test"),
        (&[0xfe, 0, 0, 0, 37, 0, 0, 0, 9], "the test is longer than it grants"),
        (&[0xfe, 0, 0, 0, 142], "a user's name"),
        (&[0xfe], "does not say why"),
        (&[0x0b], "its program was told to end"),
    ] {
        for (stage, mut client) in clients() {
            for byte in said {
                client.input(Input::Received(&[*byte]), NOW);
            }
            client.input(Input::ControlClosed, NOW);
            let words = asked(&mut client);
            assert!(end_of(&words).contains(told), "{stage}: {words:?}");
            let runs = matches!(stage, "running" | "ending" | "reporting" | "showing");
            assert_eq!(words.contains(&"all Stop".to_owned()), runs, "{stage}: {words:?}");
            assert_eq!(client.deadline(), None);
        }
    }
}

#[test]
fn a_connection_that_ends_is_told_with_the_moment_and_flows_are_stopped() {
    for (stage, mut client) in clients() {
        client.input(Input::ControlClosed, NOW);
        let words = asked(&mut client);
        assert!(
            end_of(&words).starts_with("the server closed the connection"),
            "{stage}: {words:?}"
        );
    }
    for (stage, mut server) in servers() {
        server.input(Input::ControlClosed, NOW);
        let words = asked(&mut server);
        let told = if stage == "showing" { "end" } else { "the client closed the connection" };
        assert!(end_of(&words).starts_with(told), "{stage}: {words:?}");
        let runs = matches!(stage, "running" | "ending" | "settling");
        assert_eq!(words.contains(&"all PeerLost".to_owned()), runs, "{stage}: {words:?}");
    }
}

#[test]
fn silence_ends_by_a_deadline_in_each_stage_but_what_this_end_has_to_do_itself() {
    for (stage, mut client) in clients() {
        let mut now = NOW;
        for _ in 0..4 {
            let Some(deadline) = client.deadline() else { break };
            now = deadline;
            client.input(Input::Deadline, now);
        }
        assert_eq!(client.deadline(), None, "{stage}");
        assert!(now.nanos_since(NOW) <= 130 * SECOND_NS, "{stage}");
        assert_ne!(end_of(&asked(&mut client)), "nothing", "{stage}");
    }
    for (stage, mut server) in servers().into_iter().filter(|(stage, _)| *stage != "preparing") {
        let mut now = NOW;
        for _ in 0..4 {
            let Some(deadline) = server.deadline() else { break };
            now = deadline;
            server.input(Input::Deadline, now);
        }
        assert_eq!(server.deadline(), None, "{stage}");
        assert!(now.nanos_since(NOW) <= 130 * SECOND_NS, "{stage}");
        assert_ne!(end_of(&asked(&mut server)), "nothing", "{stage}");
    }
}

#[test]
fn a_server_that_does_not_ask_for_results_is_told_of_with_what_can_help() {
    for (pattern, rate_bps, said) in [
        (Pattern::Pull, None, "within 30 s; see whether it still runs, and what it has printed"),
        (Pattern::Pull, Some(BitRate(1_000_000)), "and what it has printed itself"),
        (Pattern::Push, None, "a --rate that the path carries keeps the way free"),
        (Pattern::Bidir, Some(BitRate(1_000_000)), "and whether the path carries --rate"),
    ] {
        let mut test = load(pattern, 1);
        if let Plan::Goodput(plan) = &mut test.plan {
            plan.rate_bps = rate_bps;
        }
        let flows = if pattern == Pattern::Bidir { 2 } else { 1 };
        let mut client = client();
        client.propose(test, NOW);
        for said in [&[0x09][..], &[0x0a], &[0x01, 0x02]] {
            client.input(Input::Received(said), NOW);
        }
        for flow in (0..flows).map(FlowId) {
            client.input(Input::Attached { group: GroupId(0), flow }, NOW);
        }
        client.input(Input::Over(Box::default()), NOW);
        for _ in 0..4 {
            let Some(deadline) = client.deadline() else { break };
            client.input(Input::Deadline, deadline);
        }
        let words = asked(&mut client);
        assert!(end_of(&words).contains("did not ask for results"), "{pattern:?}: {words:?}");
        assert!(end_of(&words).contains(said), "{pattern:?}: {words:?}");
    }
}

#[test]
fn what_makes_no_sense_is_told_whatever_it_is() {
    let noise: Vec<u8> = (0..=255).collect();
    for byte in noise.iter().filter(|byte| !matches!(byte, 0x0b | 0xfe | 0xff)) {
        for (stage, mut client) in clients() {
            client.input(Input::Received(&[*byte, 0xff, 0xff, 0xff, 0x7f]), NOW);
            let words = asked(&mut client);
            assert!(!words.is_empty() || *byte == 0x01, "{stage}: {byte:02x}");
        }
    }
    for byte in noise {
        for (_, mut server) in servers() {
            server.input(Input::Received(&[byte, 0xff, 0xff, 0xff, 0x7f]), NOW);
            let words = asked(&mut server);
            assert!(!words.is_empty(), "{byte:02x}");
        }
    }
}

#[test]
fn no_document_is_waited_for_that_is_too_long() {
    for length in [8_193_u32, 0, 0x00ff_ffff, u32::MAX] {
        let mut server = server(Limits::NONE);
        asked(&mut server);
        server.input(Input::Received(&length.to_be_bytes()), NOW);
        let words = asked(&mut server);
        assert_eq!(words[0], "fe 00 00 00 72 00 00 00 00");
        assert!(words[1].contains(&format!("says that it is {length} bytes long")), "{words:?}");
    }
}

#[test]
fn a_client_that_is_stopped_ends_in_order_and_asked_twice_at_once() {
    for (stage, mut client) in clients() {
        client.input(Input::Stop("interrupted"), NOW);
        let words = asked(&mut client);
        let is_begun = matches!(stage, "running" | "ending" | "reporting" | "showing");
        if !is_begun {
            assert_eq!((words[0].as_str(), words.len()), ("0c", 2), "{stage}");
            continue;
        }
        assert_eq!(
            words.contains(&"all Stop".to_owned()),
            stage == "running",
            "{stage}: {words:?}"
        );
        client.input(Input::Stop("interrupted"), NOW);
        let words = asked(&mut client);
        assert!(words[0] == "0c" && end_of(&words).contains("interrupted"), "{stage}: {words:?}");
    }
}

#[test]
fn a_server_that_is_stopped_says_so_and_one_that_has_all_leaves() {
    for (stage, mut server) in servers() {
        server.input(Input::Stop("interrupted"), NOW);
        let words = asked(&mut server);
        if matches!(stage, "ending" | "settling" | "showing") {
            assert!(words.is_empty(), "{stage}: {words:?}");
        } else {
            assert!(
                words[0] == "0b" && end_of(&words).contains("interrupted"),
                "{stage}: {words:?}"
            );
        }
    }
}

#[test]
fn a_client_that_was_told_to_end_is_told_that_it_is_known() {
    for (stage, mut server) in servers().into_iter().filter(|(stage, _)| *stage != "asking") {
        server.input(Input::Received(&[0x0c]), NOW);
        let words = asked(&mut server);
        assert_eq!(words[0], "fe 00 00 00 77 00 00 00 00", "{stage}");
        assert!(end_of(&words).contains("the client stopped"), "{stage}: {words:?}");
    }
}
