//! What each stream of a test came to at both ends. Not here: how that looks.

use pathscope_modes::document::Measurement;

use super::shape::Shape;
use super::streams::{Row, Stream, Streams};

/// A stream at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Half {
    pub bytes: u64,
    /// From the end of the warm-up.
    pub time_ns: u64,
    /// Segments sent again; absent where nobody counts them.
    pub retransmits: Option<u64>,
    pub datagrams: Option<Datagrams>,
}

/// Its datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Datagrams {
    /// Those that were sent; where that is not known, those up to the highest number that came.
    pub all: u64,
    /// Those that never came.
    pub lost: u64,
    pub jitter_ns: Option<u64>,
    pub reordered: u64,
    pub duplicates: u64,
}

/// A stream at both ends, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub sent: Option<Half>,
    pub received: Option<Half>,
}

/// At this end alone, as its rows have it.
pub(super) fn here(stream: &Stream, shape: &Shape) -> Outcome {
    let half = own(&stream.whole, stream.sends, shape);
    if stream.sends {
        Outcome { sent: Some(half), received: None }
    } else {
        Outcome { sent: None, received: Some(half) }
    }
}

fn own(whole: &Row, sends: bool, shape: &Shape) -> Half {
    let datagrams = whole.datagrams.filter(|_| shape.is_udp).map(|it| {
        let all = if sends { it.sent } else { it.expected.unwrap_or(0).max(it.received) };
        let lost = if sends { 0 } else { all - it.received };
        let jitter_ns = if sends { None } else { it.jitter_ns };
        Datagrams { all, lost, jitter_ns, reordered: it.reordered, duplicates: it.duplicates }
    });
    Half {
        bytes: whole.bytes,
        time_ns: whole.end_ns.saturating_sub(shape.omit_ns),
        retransmits: whole.retransmits.filter(|_| sends),
        datagrams,
    }
}

/// At both ends, as a client's result has them.
pub(super) fn of_both(
    streams: &Streams,
    block_bytes: u64,
    measured: Option<&Measurement>,
) -> Vec<Outcome> {
    let shape = &streams.shape;
    // A server leaves a warm-up out where it does nothing but receive: all else that it says is of the whole test.
    let leaves_out = streams.all.iter().all(|stream| stream.sends);
    let omit_ns = if leaves_out { shape.omit_ns } else { 0 };
    let outcome = |stream: &Stream| {
        let own = here(stream, shape);
        let Some(measured) = measured else { return own };
        let mut there = there(stream, omit_ns, block_bytes, measured);
        match own {
            Outcome { sent: Some(sent), .. } => {
                if let (Some(there), Some(mine)) = (&mut there, sent.datagrams) {
                    // What the other end says of datagrams is of the whole test.
                    know_all(there, mine.all.saturating_add(stream.before));
                }
                Outcome { sent: Some(sent), received: there }
            }
            Outcome { received: Some(mut received), .. } => {
                lost_here(&mut received, stream, measured);
                if let Some(all) = there.and_then(|it| it.datagrams).map(|it| it.all) {
                    know_all(&mut received, all.saturating_sub(stream.before));
                }
                Outcome { sent: there, received: Some(received) }
            }
            none => none,
        }
    };
    streams.all.iter().map(outcome).collect()
}

/// How many were sent is known: what is more than came is lost.
pub(super) fn know_all(received: &mut Half, all: u64) {
    if let Some(datagrams) = &mut received.datagrams {
        let came = datagrams.all.saturating_sub(datagrams.lost);
        (datagrams.all, datagrams.lost) = (all.max(came), all.saturating_sub(came));
    }
}

/// What this end's own report says of datagrams that never came, once the other has said how many there were.
fn lost_here(received: &mut Half, stream: &Stream, measured: &Measurement) {
    let flows = measured.client.datagrams.iter().flat_map(|report| &report.flows);
    let Some(facts) = flows.into_iter().find(|facts| facts.flow.0 == stream.flow) else { return };
    let datagrams = received.datagrams.get_or_insert_default();
    if datagrams.all == 0 {
        datagrams.all = facts.received + facts.lost;
        datagrams.lost = facts.lost;
    }
}

/// What the other end said of it.
fn there(stream: &Stream, omit_ns: u64, block_bytes: u64, measured: &Measurement) -> Option<Half> {
    let server = measured.server.as_ref()?;
    let time_ns = server.elapsed_ns.saturating_sub(omit_ns);
    if let Some(report) = &server.goodput {
        let facts = report.flows.iter().find(|facts| facts.flow.0 == stream.flow)?;
        let bytes = if stream.sends { facts.received_bytes } else { facts.sent_bytes };
        let retransmits = facts.tcp.and_then(|tcp| tcp.retransmits).filter(|_| !stream.sends);
        return Some(Half { bytes, time_ns, retransmits, datagrams: None });
    }
    let report = server.datagrams.as_ref()?;
    let facts = report.flows.iter().find(|facts| facts.flow.0 == stream.flow)?;
    let (number, all, lost) = if stream.sends {
        (facts.received, facts.received + facts.lost, facts.lost)
    } else {
        (facts.sent, facts.sent, 0)
    };
    let is_one = report.flows.len() == 1 && stream.sends;
    let datagrams = Datagrams {
        all,
        lost,
        jitter_ns: facts.smoothed_jitter_ns.map(|it| it.round() as u64).filter(|_| stream.sends),
        // They are counted over all streams.
        reordered: if is_one { report.reordered } else { 0 },
        duplicates: if is_one { report.duplicates } else { 0 },
    };
    let told = facts.received_bytes.filter(|_| stream.sends);
    let bytes = told.unwrap_or(number.saturating_mul(block_bytes));
    Some(Half { bytes, time_ns, retransmits: None, datagrams: Some(datagrams) })
}

/// Halves of several streams as one; none where there is none.
pub(super) fn sum(halves: impl IntoIterator<Item = Half>) -> Option<Half> {
    let mut halves = halves.into_iter();
    let mut all = halves.next()?;
    let jitter_of = |half: &Half| half.datagrams.and_then(|it| it.jitter_ns);
    let mut jitters: Vec<u64> = jitter_of(&all).into_iter().collect();
    for half in halves {
        jitters.extend(jitter_of(&half));
        // The time is that of the first.
        all.bytes = all.bytes.saturating_add(half.bytes);
        if let Some(more) = half.retransmits {
            all.retransmits = Some(all.retransmits.unwrap_or(0).saturating_add(more));
        }
        if let Some(more) = half.datagrams {
            let sum = all.datagrams.get_or_insert_default();
            sum.all += more.all;
            sum.lost += more.lost;
            sum.reordered += more.reordered;
            sum.duplicates += more.duplicates;
        }
    }
    if let Some(datagrams) = &mut all.datagrams {
        let total = jitters.iter().fold(0_u64, |sum, it| sum.saturating_add(*it));
        datagrams.jitter_ns = total.checked_div(jitters.len() as u64);
    }
    Some(all)
}
