//! Rows that come of what the journal tells.

use pathscope_core::id::FlowId;
use pathscope_core::journal::{Connection, ConnectionProgress, DatagramProgress};
use pathscope_core::record::{FlowFacts, TcpFacts};
use pathscope_core::tcp_look::TcpLook;

use super::super::asked::Way;
use super::*;

const SECOND: u64 = 1_000_000_000;

/// A connection of this flow that begins, or that is over.
pub fn connection(flow: u32) -> Connection {
    let facts = FlowFacts {
        flow: FlowId(flow),
        local: Some(format!("127.0.0.1:{}", 40_000 + flow)),
        remote: Some("127.0.0.1:5201".to_owned()),
        ..FlowFacts::default()
    };
    Connection { facts, ..Connection::default() }
}

/// So many bytes went either way until then; with so many segments sent again in all.
pub fn progress(
    flow: u32,
    [start_ms, end_ms]: [u64; 2],
    bytes: u64,
    retransmits: Option<u64>,
) -> ConnectionProgress {
    let tcp = retransmits.map(|retransmits| TcpLook {
        retransmits: Some(retransmits),
        congestion_window_bytes: Some(1_178_694),
        peer_window_bytes: Some(328_704),
        path_mtu_bytes: Some(65_535),
        rtt_ns: Some(49_000 + retransmits * 1_000),
        rtt_variation_ns: Some(24_000),
        ..TcpLook::default()
    });
    ConnectionProgress {
        start_ns: start_ms * 1_000_000,
        end_ns: end_ms * 1_000_000,
        at_ns: end_ms * 1_000_000,
        flow: FlowId(flow),
        sent_bytes: bytes,
        received_bytes: bytes,
        tcp,
        ..ConnectionProgress::default()
    }
}

fn streams(shape: Shape) -> Streams {
    let mut streams = Streams::new(shape);
    for flow in 0..shape.all_streams() {
        streams.opened(&connection(flow));
    }
    streams
}

fn push() -> Shape {
    Shape { is_client: true, streams: 1, interval_ns: SECOND, ..Shape::default() }
}

/// A row: place, times in milliseconds, bytes, whether they are left out, segments sent again.
type Told = (usize, [u64; 2], u64, bool, Option<u64>);

fn next(streams: &mut Streams) -> Option<Vec<Told>> {
    let rows = streams.take_interval()?.into_iter();
    let times = |row: &Row| [row.start_ns, row.end_ns].map(|it| it / 1_000_000);
    Some(
        rows.map(|(place, it)| (place, times(&it), it.bytes, it.is_omitted, it.retransmits))
            .collect(),
    )
}

#[test]
fn reports_that_are_shorter_than_rows_are_put_together_and_rows_begin_anew_after_the_warm_up() {
    // Rows of 2 s, a warm-up of 1 s: reports of 1 s.
    let mut streams = streams(Shape { omit_ns: SECOND, interval_ns: 2 * SECOND, ..push() });
    streams.progress(&progress(0, [0, 1_000], 7, Some(3)));
    assert_eq!(next(&mut streams), Some(vec![(0, [0, 1_000], 7, true, Some(3))]));
    streams.progress(&progress(0, [1_000, 2_000], 10, Some(4)));
    assert_eq!(next(&mut streams), None);
    streams.progress(&progress(0, [2_000, 2_999], 20, Some(6)));
    assert_eq!(next(&mut streams), Some(vec![(0, [1_000, 2_999], 30, false, Some(3))]));
    streams.progress(&progress(0, [2_999, 3_100], 5, None));
    let tcp = Some(TcpFacts { retransmits: Some(9), ..TcpFacts::default() });
    let mut over = connection(0);
    over.facts.tcp = tcp;
    streams.closed(&over);
    assert_eq!(next(&mut streams), Some(vec![(0, [2_999, 3_100], 5, false, Some(3))]));
    assert_eq!(next(&mut streams), None);
    let whole = streams.all[0].whole;
    assert_eq!((whole.bytes, whole.retransmits), (35, Some(6)));
    assert_eq!([whole.start_ns, whole.end_ns], [SECOND, 3_100_000_000]);
    let seen = streams.all[0].round_trips;
    assert_eq!((seen.least_rtt_ns, seen.most_rtt_ns), (55_000, 55_000));
}

#[test]
fn an_interval_is_whole_when_all_streams_have_told_of_it_or_are_over() {
    let shape = Shape { way: Way::Both, streams: 1, ..push() };
    let mut streams = streams(shape);
    assert_eq!([streams.all[0].sends, streams.all[1].sends], [true, false]);
    assert_eq!([streams.all[0].socket, streams.all[1].socket], [5, 7]);
    streams.progress(&progress(1, [0, 1_000], 5, None));
    assert_eq!(next(&mut streams), None);
    streams.progress(&progress(0, [0, 1_000], 4, Some(0)));
    let first = vec![(0, [0, 1_000], 4, false, Some(0)), (1, [0, 1_000], 5, false, None)];
    assert_eq!(next(&mut streams), Some(first));
    // What passes until an end is noticed is no row, unless something came in it.
    streams.progress(&progress(0, [1_000, 1_001], 0, Some(0)));
    streams.closed(&connection(0));
    streams.progress(&progress(1, [1_000, 1_001], 3, None));
    assert_eq!(next(&mut streams), None);
    streams.end();
    assert_eq!(next(&mut streams), Some(vec![(1, [1_000, 1_001], 3, false, None)]));
    assert_eq!(next(&mut streams), None);
}

#[test]
fn without_an_interval_there_is_one_row() {
    let mut streams = streams(Shape { interval_ns: 0, ..push() });
    for second in 0..3 {
        streams.progress(&progress(0, [second * 1_000, second * 1_000 + 1_000], 5, Some(second)));
        assert_eq!(next(&mut streams), None);
    }
    streams.end();
    assert_eq!(next(&mut streams), Some(vec![(0, [0, 3_000], 15, false, Some(2))]));
}

#[test]
fn what_comes_in_the_moments_behind_the_planned_end_is_of_the_last_row() {
    let timed = Shape { planned_ns: Some(2 * SECOND), ..push() };
    let begun = || {
        let mut streams = streams(timed);
        streams.progress(&progress(0, [0, 1_000], 5, Some(1)));
        assert_eq!(next(&mut streams), Some(vec![(0, [0, 1_000], 5, false, Some(1))]));
        streams.progress(&progress(0, [1_000, 2_000], 6, Some(1)));
        assert_eq!(next(&mut streams), None);
        streams
    };
    let mut over = begun();
    over.progress(&progress(0, [2_000, 2_004], 3, Some(4)));
    over.closed(&connection(0));
    assert_eq!(next(&mut over), Some(vec![(0, [1_000, 2_004], 9, false, Some(3))]));
    assert_eq!((next(&mut over), over.all[0].whole.bytes), (None, 14));
    // What takes longer has rows of its own.
    let mut late = begun();
    late.progress(&progress(0, [2_000, 3_000], 7, Some(1)));
    assert_eq!(next(&mut late), Some(vec![(0, [1_000, 2_000], 6, false, Some(0))]));
    late.end();
    assert_eq!(next(&mut late), Some(vec![(0, [2_000, 3_000], 7, false, Some(0))]));
    assert_eq!((next(&mut late), late.all[0].whole.bytes), (None, 18));
}

#[test]
fn the_row_in_which_a_connection_ends_has_what_was_told_of_it_before() {
    let mut streams = streams(push());
    let look = Some(TcpLook {
        reorderings: Some(2),
        ..progress(0, [0, 0], 0, Some(1)).tcp.expect("a look")
    });
    streams.progress(&ConnectionProgress { tcp: look, ..progress(0, [0, 1_000], 5, None) });
    streams.progress(&progress(0, [1_000, 1_400], 6, None));
    let mut over = connection(0);
    let tcp = TcpFacts {
        retransmits: Some(4),
        congestion_window_bytes: Some(10),
        rtt_ns: Some(7_000),
        ..TcpFacts::default()
    };
    over.facts.tcp = Some(tcp);
    streams.closed(&over);
    streams.take_interval().expect("the first second is whole");
    let last = streams.take_interval().expect("what came until the end is a row")[0].1;
    assert_eq!((last.bytes, last.retransmits), (6, Some(3)));
    let last = last.look.expect("it has ended");
    assert_eq!((last.congestion_window_bytes, last.rtt_ns), (Some(10), Some(7_000)));
    assert_eq!((last.peer_window_bytes, last.path_mtu_bytes), (Some(328_704), Some(65_535)));
    assert_eq!((last.rtt_variation_ns, last.reorderings), (Some(24_000), Some(2)));
}

#[test]
fn what_datagrams_are_waited_for_is_no_time_of_the_test() {
    let came = |start_end, bytes| ConnectionProgress {
        datagrams: Some(DatagramProgress::default()),
        ..progress(0, start_end, bytes, None)
    };
    for (interval_ns, ends) in [(SECOND, [1_000, 2_000]), (700_000_000, [700, 1_400]), (0, [1, 2])]
    {
        let shape = Shape { planned_ns: Some(2 * SECOND), interval_ns, ..push() };
        let mut streams = streams(shape);
        streams.progress(&came([0, ends[0]], 50));
        streams.progress(&came([ends[0], ends[1]], 50));
        streams.progress(&came([ends[1], 2_560], 3));
        streams.closed(&connection(0));
        let mut last_ms = 0;
        while let Some(rows) = next(&mut streams) {
            last_ms = rows[0].1[1];
        }
        let whole = &streams.all[0].whole;
        assert_eq!((whole.bytes, whole.end_ns, last_ms), (103, 2 * SECOND, 2_000), "{interval_ns}");
    }
}

#[test]
fn sums_add_counts_and_take_the_mean_of_jitter() {
    let row = |bytes, jitter_ns| Row {
        end_ns: SECOND,
        bytes,
        datagrams: Some(DatagramProgress {
            received: 3,
            expected: Some(4),
            jitter_ns: Some(jitter_ns),
            ..DatagramProgress::default()
        }),
        ..Row::default()
    };
    let all = sum(&[row(5, 10), row(6, 20)]).expect("there are two");
    let datagrams = all.datagrams.expect("they are datagrams");
    assert_eq!((all.bytes, datagrams.received, datagrams.expected), (11, 6, Some(8)));
    assert_eq!(datagrams.jitter_ns, Some(15));
    assert_eq!(sum([]), None);
}
