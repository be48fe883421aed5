//! What a test may move where a server's operator limits it: what is asked for, and what it comes to.

use pathscope_core::id::FlowId;
use pathscope_core::quantity::BitRate;
use pathscope_flow::{GroupId, Input};
use pathscope_modes::datagrams::DatagramsInterval;
use pathscope_modes::goodput::GoodputInterval;

use super::*;
use crate::iperf3::framing::document;
use crate::limits::RateLimit;

/// A server whose tests may move a megabyte a second, averaged over two.
fn held_to_a_rate() -> Server {
    let rate = RateLimit::new(BitRate(8_000_000), Some(Period::from_secs(2)), "--rate");
    let mut server = Server::new(
        ServerSettings { rate: Some(rate), ..settings(Limits::NONE) },
        Token([4; 16]),
        NOW,
    );
    asked(&mut server);
    server
}

#[test]
fn more_than_a_test_may_move_is_not_begun_whichever_way_it_goes() {
    for (said, is_granted) in [
        (r#"{"udp":true,"time":9,"bandwidth":8000000}"#, true),
        (r#"{"udp":true,"time":9,"bandwidth":8000001}"#, false),
        (r#"{"tcp":true,"time":9,"parallel":2,"bandwidth":4000000,"reverse":true}"#, true),
        (r#"{"tcp":true,"time":9,"parallel":3,"bandwidth":4000000,"reverse":true}"#, false),
        (r#"{"tcp":true,"time":9,"bandwidth":4000001,"bidirectional":true}"#, false),
        // Either of the two ways to say it, as there.
        (r#"{"udp":true,"time":9,"bandwidth":1000000,"fqrate":9000000}"#, false),
        // As fast as it goes may be slow enough.
        (r#"{"tcp":true,"time":9}"#, true),
        (r#"{"udp":true,"time":9,"reverse":true}"#, true),
    ] {
        let mut server = held_to_a_rate();
        server.input(Input::Received(&document(said.as_bytes())), NOW);
        let words = asked(&mut server);
        if is_granted {
            assert_eq!(words, ["prepare"], "{said}");
        } else {
            assert_eq!(words[0], "fe 00 00 00 1b 00 00 00 00", "{said}");
            assert!(words[1].contains("limit of 8.000 Mbit/s for a test"), "{said}: {}", words[1]);
        }
    }
}

#[test]
fn a_test_that_moves_more_on_average_is_ended_and_both_ends_are_told() {
    let of_streams = |sent_bytes, received_bytes| EndInterval {
        goodput: Some(GoodputInterval { sent_bytes, received_bytes, ..GoodputInterval::default() }),
        ..EndInterval::default()
    };
    let of_datagrams = |sent_bytes, received_bytes| EndInterval {
        datagrams: Some(DatagramsInterval {
            sent_bytes,
            received_bytes,
            ..DatagramsInterval::default()
        }),
        ..EndInterval::default()
    };
    let (tcp, udp) =
        (r#"{"time":9,"bidirectional":true}"#, r#"{"udp":true,"time":9,"bidirectional":true}"#);
    for (said, moved) in
        [(tcp, &of_streams as &dyn Fn(u64, u64) -> EndInterval), (udp, &of_datagrams)]
    {
        let mut server = held_to_a_rate();
        server.input(Input::Received(&document(said.as_bytes())), NOW);
        server.input(Input::Prepared(Vec::new()), NOW);
        (0..2).for_each(|flow| {
            server.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, NOW);
        });
        asked(&mut server);
        // Both ways together: at the limit, then a byte in each second above.
        for (second, bytes) in [(1, 2_000_000), (2, 0), (3, 2_000_000), (4, 2)] {
            let (start_ns, end_ns) = ((second - 1) * SECOND_NS, second * SECOND_NS);
            let interval = EndInterval { start_ns, end_ns, ..moved(bytes / 2, bytes / 2) };
            server.input(Input::Interval(Box::new(interval)), at(second * 1_000));
            if second < 4 {
                assert!(asked(&mut server).is_empty(), "second {second}");
            }
        }
        let words = asked(&mut server);
        assert_eq!(words[..3], ["fe 00 00 00 1b 00 00 00 00", "all Settle", "all Stop"], "{said}");
        let told = "the server stopped while the test ran: the test moved 8.000 Mbit/s in all over the last 2 s";
        assert!(words[3].starts_with(told), "{}", words[3]);
    }
}
