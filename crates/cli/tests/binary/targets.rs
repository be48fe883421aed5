//! Several names and addresses of one server: connections go to all of them in turns. Those of several servers are
//! `several_servers`.

use std::net::TcpListener;

use crate::common::{Ran, Running, Server, pathscope, run};
use pathscope_core::record::Check;
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputSummary;

/// A server on two addresses of loopback, and how clients name them.
fn two_addresses() -> (Server, String) {
    let mut server = Server::start_with(&["--listen", "127.0.0.2"]);
    // Said before it serves; each address has a port of its own here.
    let line = server.running.seen_stderr("127.0.0.2:");
    let port: String = line
        .split_once("127.0.0.2:")
        .map_or("", |(_, rest)| rest)
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    (server, format!("127.0.0.2:{port}"))
}

fn goodput(hosts: &[&str], words: &str) -> Ran {
    let words: Vec<&str> =
        ["goodput", "--no-probe", "--json"].into_iter().chain(words.split(' ')).collect();
    run(&[&words[..], hosts].concat())
}

fn summary(document: &Document) -> &GoodputSummary {
    let measurement = &document.measurements[0];
    assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
    measurement.summary.goodput.as_ref().expect("it is goodput")
}

#[test]
fn connections_go_to_all_addresses_in_turns() {
    let (server, second) = two_addresses();
    let host = server.host();
    for words in ["-c 6 -n 10KiB", "-c 2 -n 10KiB --iterations 3 --bind 127.0.0.1 --bind 127.0.0.2"]
    {
        let document = goodput(&[&host, &second, &host], words).exits(0).document();
        assert_eq!(document.target, Some(format!("{host}, {second}, {host}")));
        let found: Vec<(&str, u64, u64)> = summary(&document)
            .remotes
            .iter()
            .map(|remote| (remote.address.as_str(), remote.completed, remote.sent_bytes))
            .collect();
        assert_eq!(found, [("127.0.0.1", 3, 30 << 10), ("127.0.0.2", 3, 30 << 10)], "{words}");
        if words.contains("--bind") {
            // Each address of this end meets each of the server.
            let flows =
                &document.measurements[0].client.goodput.as_ref().expect("it reports").flows;
            let pair = |address: &Option<String>| address.as_deref().unwrap_or("")[..9].to_owned();
            let mut pairs: Vec<_> =
                flows.iter().map(|flow| (pair(&flow.local), pair(&flow.remote))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), 4, "{pairs:?}");
        }
    }
    let shown = Running::start(pathscope(&["goodput", "-n", "1KiB", "--no-probe", &host, &second]));
    let shown = shown.finish().exits(0);
    assert!(shown.stdout.contains("by address of the server"), "{}", shown.said());
}

#[test]
fn a_target_that_is_not_there_is_named_and_an_address_of_one_is_left_out() {
    let server = Server::start();
    let host = server.host();
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let gone = closed.local_addr().expect("bound").to_string();
    drop(closed);
    goodput(&[&host, &gone], "-c 4 -n 1KiB").exits(3).complains(&[&gone, "refused"]);
    // The name has an address of IPv6 on most machines, where this server does not listen.
    let named = format!("localhost:{}", server.port);
    let document = goodput(&[&named], "-c 4 -n 1KiB").exits(0).document();
    let remotes = &summary(&document).remotes;
    assert_eq!((remotes.len(), remotes[0].completed), (1, 4), "{remotes:?}");
    let silent = document.caveats.iter().filter(|caveat| caveat.name == "address_unanswered");
    assert!(silent.clone().all(|caveat| caveat.text.contains("[::1]")), "{:?}", document.caveats);
    // Of a family that no --bind address has, none is gone to.
    let document = goodput(&[&named], "-c 4 -n 1KiB --bind 127.0.0.1").exits(0).document();
    assert_eq!(summary(&document).remotes.len(), 1);
    goodput(&[&host], "-n 1KiB --bind ::1").exits(2).complains(&["--bind", "family"]);
}
