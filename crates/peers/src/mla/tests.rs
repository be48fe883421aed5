//! What is said on a path before it is one, byte by byte, and what is made of the answer; and which tests are carried.

use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::conventions::bare::Bare;
use pathscope_modes::multipath::{MultipathPlan, SendOrder};

use super::*;
use crate::attach::{AttachDatagrams, AttachError};

const S: u64 = 1_000_000_000;

fn at(nanos: u64) -> Tick {
    Tick::from_nanos(nanos)
}

/// What a server sends back: nothing changed but the eight bytes of its stamp.
fn echoed(ping: &[u8]) -> Vec<u8> {
    let mut echo = ping.to_vec();
    assert!(Mla::answer(&mut echo, at(77_000)));
    echo
}

/// Section 3 of the reference, and section 7 of a ping: number -1, this end's clock, no stamp of a server, the filler.
#[test]
fn a_ping_is_these_bytes_and_its_echo_makes_the_path() {
    let mut asking = Asking::new(at(5_000_000));
    let ping = asking.datagram(at(5_000_000)).expect("it is due");
    assert_eq!(ping.len(), 1_024);
    assert_eq!(ping[..8], [0xff; 8]);
    assert_eq!(ping[8..24], *b"\x88\x13\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!((ping[24], ping[25], ping[1_023]), (0, 1, 231));
    assert_eq!(asking.datagram(at(5_000_001)), None);
    // The receiver of an answer sees its begin alone.
    asking.received(&echoed(&ping)[..256], at(6_000_000));
    assert_eq!(asking.outcome(), Some(&Ok(())));
    assert_eq!((asking.datagram(at(9 * S)), asking.deadline()), (None, None));
}

#[test]
fn what_is_no_answer_leaves_it_asking_until_it_gives_up() {
    let mut asking = Asking::new(at(S));
    let ping = asking.datagram(at(S)).expect("it is due");
    let echo = echoed(&ping);
    let mut number = echo.clone();
    number[..8].copy_from_slice(&5_i64.to_le_bytes());
    let mut earlier = echo.clone();
    Bare { sequence: -1, sent_us: 1, echoed_us: 7 }.write(&mut earlier);
    let mut negative = echo;
    negative[23] = 0x80;
    for other in [&ping, &number, &earlier, &negative, &ping[..23].to_vec(), &Vec::new()] {
        asking.received(other, at(2 * S));
        assert_eq!(asking.outcome(), None, "{:?}", &other.get(..24));
    }
    let mut sent = 1;
    while let Some(deadline) = asking.deadline() {
        sent += u32::from(asking.datagram(deadline).is_some());
    }
    assert_eq!(asking.outcome(), Some(&Err(AttachError::Unanswered { seconds: 10 })));
    assert_eq!(sent, 12, "after 0, 0.2, 0.6, 1.4, 2.4 … 9.4 s");
}

fn multipath(datagram_bytes: u64) -> Test {
    let plan = MultipathPlan {
        rate_bps: pathscope_core::quantity::BitRate(5_000_000),
        grouping: 30,
        datagram_bytes: Bytes(datagram_bytes),
        duration_ns: Period::from_secs(1),
        paths: Vec::new(),
        lanes: 2,
        order: SendOrder::PrimaryFirst,
        late_by_ns: Period::from_millis(50),
    };
    Test::new(Plan::Multipath(plan), None, Period::from_secs(1))
}

#[test]
fn it_carries_paths_whose_datagrams_its_server_has_room_for() {
    assert_eq!(Mla::carries(&multipath(1_024)), Ok(()));
    assert_eq!(in_band::connections_of(&multipath(1_024)), 1);
    let refusal = Mla::carries(&multipath(1_025)).expect_err("they are too long");
    assert!(refusal.to_string().contains("1024 bytes, and 1025"), "{refusal}");
}
