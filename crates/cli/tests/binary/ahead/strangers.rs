//! Openings that a server refuses, with the bytes of a request behind them, from callers that share no code with ours: its answer is
//! read, and the connection ends without a reset, which could have overtaken the answer.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};

use crate::caller::{Caller, answer_of, connect, opening};
use crate::common::Server;

/// A connection that is replaced for ever.
const REPLACED: &str = r#"{"goodput":{"pattern":"push","connections":1,
    "extent":{"transfer_bytes":1000000},"buffer_bytes":65536,"push_bytes":1048576,"pull_bytes":1048576,
    "rate_bps":null,"warm_up_ns":0,"verify":"full","congestion_control":null,"engine":null,"wait":"auto",
    "shape":{"iterations":"forever","connect_limit":1000,"time_limit_ns":null,"shutdown":"graceful",
             "transfer_most_bytes":null,"buffer_most_bytes":null,"seed":0}}}"#;

/// Codes of answers: `docs/protocol.md`, section 1.
const NO_SUCH_SESSION: u8 = 1;
const NO_SUCH_SEAT: u8 = 2;
const TAKEN: u8 = 3;
const NOT_PROVEN: u8 = 7;

/// As much as may stand there, and more than is read of it at once.
const BEHIND: [usize; 3] = [64, 1_024, 20_000];

/// How often each is tried: what is to be read and a reset would race.
const TIMES: usize = 10;

/// This is said with so many bytes behind it, in one go.
fn says(host: &str, opening: &[u8], behind: usize) -> TcpStream {
    let mut stream = connect(host, IpAddr::V4(Ipv4Addr::LOCALHOST));
    stream.write_all(&[opening, &vec![7; behind]].concat()).expect("there is room");
    stream
}

/// The server closes when its client has, and resets nothing.
fn ends_well(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).expect("it stands");
    let rest = stream.read(&mut [0; 16]).expect("an end, and no reset");
    assert_eq!(rest, 0);
}

#[test]
fn a_refusal_is_read_though_a_request_stands_behind_the_opening() {
    let server = Server::start();
    let host = server.host();
    let caller = Caller::propose(&host, 2, REPLACED);
    let (code, _seated) = caller.connect(0);
    assert_eq!(code, 0);
    let (token, session) = (caller.token, caller.session);
    let cases = [
        (opening(([3; 16], session), 0), NO_SUCH_SESSION),
        (opening((token, Some([3; 16])), 1), NOT_PROVEN),
        (opening((token, session), u32::MAX), NO_SUCH_SEAT),
        (opening((token, session), 0), TAKEN),
    ];
    for (opening, refusal) in cases {
        for behind in BEHIND {
            for _ in 0..TIMES {
                let mut stream = says(&host, &opening, behind);
                assert_eq!(answer_of(&mut stream, true), refusal, "{behind}");
                ends_well(stream);
            }
        }
    }
}

#[test]
fn who_waits_for_a_place_too_long_reads_that_there_is_none() {
    const NO_ROOM: u8 = 4;
    let server = Server::start();
    let host = server.host();
    // Two at a time at the most, and both stay.
    let few = REPLACED.replace("\"connect_limit\":1000", "\"connect_limit\":1");
    let mut caller = Caller::propose(&host, 2, &few);
    let first = caller.connect(0);
    caller.start();
    let second = caller.connect(1);
    assert_eq!([first.0, second.0], [0, 0]);
    let says = |flow| says(&host, &opening((caller.token, caller.session), flow), 1_024);
    let waiting: Vec<_> = (2..12).map(says).collect();
    for mut stream in waiting {
        assert_eq!(answer_of(&mut stream, true), NO_ROOM);
        ends_well(stream);
    }
}

#[test]
fn a_damaged_opening_ends_without_a_word_and_without_a_reset() {
    let server = Server::start();
    let host = server.host();
    let caller = Caller::propose(&host, 2, REPLACED);
    let mut damaged = opening((caller.token, caller.session), 0);
    damaged[20] ^= 1;
    for behind in [64, 1_024] {
        for _ in 0..TIMES {
            let mut stream = says(&host, &damaged, behind);
            assert_eq!(stream.read(&mut [0; 16]).expect("an end, and no reset"), 0);
        }
    }
    // The place is free all the same.
    assert_eq!(caller.connect(0).0, 0);
}
