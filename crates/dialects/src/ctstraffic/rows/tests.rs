//! Lines and rows as the guide and the reference have them.

use pathscope_core::journal::Frames;
use pathscope_core::record::{FlowFacts, TcpFacts};

use super::*;

fn connection(error: Option<(FlowErrorKind, &str, Option<&str>)>) -> Connection {
    let error = error.map(|(kind, text, errno)| FlowError {
        kind,
        text: text.to_owned(),
        errno: errno.map(str::to_owned),
    });
    let facts = FlowFacts {
        connection_id: Some("0f8fad5b-d9cb-469f-a165-70867728950e".to_owned()),
        local: Some("10.0.0.1:50001".to_owned()),
        remote: Some("[::1]:4444".to_owned()),
        sent_bytes: 1_000,
        received_bytes: 500,
        error,
        ..FlowFacts::default()
    };
    Connection { at_ns: 1_234_000_000, time_ns: 250_000_000, facts, ..Connection::default() }
}

fn stream() -> Stream {
    let facts = FlowFacts { received_bytes: 187_498_800, ..connection(None).facts };
    let frames =
        Frames { completed: 3_590, missed: 7, repeated: 2, erroneous: 1, ..Frames::default() };
    Stream {
        at_ns: 61_273_000_000,
        streamed_ns: 60_000_000_000,
        receives: true,
        facts,
        frames,
        ..Stream::default()
    }
}

#[test]
fn a_connection_has_a_line_when_it_begins_and_one_when_it_ends() {
    assert_eq!(
        opened(&connection(None)),
        "[1.234] TCP connection established [10.0.0.1:50001 - [::1]:4444]\n"
    );
    assert_eq!(
        closed(&connection(None)),
        "[1.234] TCP connection succeeded : [10.0.0.1:50001 - [::1]:4444] [0f8fad5b-d9cb-469f-a165-70867728950e]: \
         SendBytes[1000] SendBps[4000] RecvBytes[500] RecvBps[2000] Time[250 ms]\n"
    );
    let reset = connection(Some((
        FlowErrorKind::Network,
        "the other end reset it, early",
        Some("ECONNRESET"),
    )));
    assert!(
        closed(&reset).starts_with(
            "[1.234] TCP connection failed with the error ECONNRESET: the other end reset it, early : ["
        ),
        "{}",
        closed(&reset)
    );
    let wrong = connection(Some((FlowErrorKind::Data, "byte 5 is wrong", None)));
    assert!(
        closed(&wrong)
            .starts_with("[1.234] TCP connection failed with the protocol error ErrorDataDidNotMatchBitPattern : ["),
        "{}",
        closed(&wrong)
    );
    assert_eq!(
        error(&wrong).as_deref(),
        Some("[1.234] [10.0.0.1:50001 - [::1]:4444] byte 5 is wrong\n")
    );
    assert_eq!(error(&connection(None)), None);
}

#[test]
fn a_row_has_as_many_cells_as_there_are_columns_whatever_is_in_it() {
    let cells = |row: &str| row.trim_end().split(',').count();
    for error in [
        None,
        Some((FlowErrorKind::Network, "a, b, \"c\"\r\nd", None)),
        Some((FlowErrorKind::Protocol, "it ended, before its time", Some("E,X"))),
    ] {
        let row = csv_closed(&connection(error));
        assert_eq!(cells(&row), cells(CONNECTIONS), "{row}");
        assert_eq!(row.lines().count(), 1, "{row}");
        assert_eq!(cells(&csv_tcp_info(&connection(error))), cells(TCP_INFO));
    }
    let text = "sent 9,999 bytes, \"more\" than it was to";
    let row = csv_closed(&connection(Some((FlowErrorKind::Protocol, text, None))));
    assert!(row.contains(",sent 9999 bytes; 'more' than it was to,"), "{row}");
    assert_eq!(cells(&csv_stream_closed(&stream())), cells(STREAMS));
    assert_eq!(
        csv_closed(&connection(None)),
        "1.234,10.0.0.1:50001,[::1]:4444,1000,4000,500,2000,250,Succeeded,0f8fad5b-d9cb-469f-a165-70867728950e\r\n"
    );
    assert_eq!(
        csv_stream_closed(&stream()),
        "61.273,10.0.0.1:50001,[::1]:4444,24999840,3590,7,2,1,Succeeded,0f8fad5b-d9cb-469f-a165-70867728950e\r\n"
    );
}

#[test]
fn what_the_kernel_does_not_say_is_absent_and_never_nothing() {
    let tcp = TcpFacts {
        min_rtt_ns: Some(12_900),
        segment_bytes: Some(1_448),
        retransmitted_bytes: Some(2_896),
        timeout_episodes: Some(2),
        ..TcpFacts::default()
    };
    let mut told = connection(None);
    told.facts.tcp = Some(tcp);
    let row = csv_tcp_info(&told);
    assert!(row.ends_with(",1000,4000,500,2000,250,,2896,,,12,1448,2,,,,\r\n"), "{row}");
}

#[test]
fn an_identifier_of_the_other_end_computes_nothing() {
    let mut odd = connection(None);
    odd.facts.connection_id = Some("=1+1,2\u{1b}".to_owned());
    assert!(csv_closed(&odd).ends_with(",'=1+12 \r\n"), "{}", csv_closed(&odd));
    odd.facts = FlowFacts::default();
    let row = csv_closed(&odd);
    assert!(row.starts_with("1.234,0.0.0.0,0.0.0.0,0,0,0,0,"), "{row}");
    assert!(row.ends_with(&format!("{NO_ID}\r\n")), "{row}");
}

#[test]
fn a_stream_has_lines_of_its_own() {
    assert_eq!(
        stream_closed(&stream()),
        "[61.273] UDP connection succeeded : [10.0.0.1:50001 - [::1]:4444] [0f8fad5b-d9cb-469f-a165-70867728950e]: \
         BitsPerSecond [24999840]  Completed [3590]  Dropped [7]  Repeated [2]  Errors [1]\n"
    );
    assert_eq!(
        stream_opened(&stream()),
        "[61.273] UDP connection established [10.0.0.1:50001 - [::1]:4444]\n"
    );
}

#[test]
fn trouble_says_whose_it_is() {
    let told = Trouble {
        at_ns: 1_500_000_000,
        text: "no".to_owned(),
        session: Some("10.0.0.1:9".to_owned()),
    };
    assert_eq!(trouble(&told), "[1.500] 10.0.0.1:9: no\n");
}
