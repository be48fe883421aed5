//! What a TCP sender waits for: its socket as it was seen at one moment, and how often it was seen so.
//!
//! Not here: looking at sockets (`os`), when that is done (`run`), and what follows from it (`modes`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Tick;

mod progress;

pub use progress::Progress;

/// Data that takes longer to be delivered than the shortest round trip by a quarter of it, and by this much, waits in a queue. Below
/// a millisecond the scheduling of either machine makes as much difference.
const QUEUE_FROM_NS: u64 = 1_000_000;
/// Segments that leave together by the way: they are no queue. Of all connections, since those that share a path do not all send
/// in one moment: eight windows of two segments can well be what fills it.
const TOGETHER: u64 = 3;

/// One connected TCP socket at one moment, as its kernel describes it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SendState {
    /// Bytes that the program has handed over and that have not left yet.
    pub unsent_bytes: u64,
    /// Bytes that have left and are not acknowledged.
    pub outstanding_bytes: u64,
    /// Bytes that the other end has acknowledged, ever.
    pub acknowledged_bytes: u64,
    /// Segments that are not acknowledged.
    pub outstanding_segments: u64,
    /// Of those, the ones that are on their way as far as the kernel knows.
    pub in_flight_segments: u64,
    /// Congestion window.
    pub congestion_window_segments: u64,
    /// What the other end has room for; absent where the kernel does not say.
    pub peer_window_bytes: Option<u64>,
    /// Largest segment.
    pub segment_bytes: u64,
    /// Time with data on its way, ever.
    pub busy_ns: u64,
    /// Bytes a second that were delivered of late: of the last round trip, as the kernel has it (`tcpi_delivery_rate`).
    pub delivered_bytes_per_s: Option<u64>,
    /// Smallest round-trip time seen.
    pub min_rtt_ns: Option<u64>,
    /// Whether the send buffer takes more: if not, a program that sends is waiting.
    pub has_room: bool,
}

/// Why a socket does not send more at a moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeldBy {
    /// Everything has left, and there is room: the program has given it no more.
    Program,
    /// Everything has left, the congestion window has room, and the program waits for room in the send buffer.
    SendBuffer,
    /// Data waits that the other end has no room for.
    ReceiveWindow,
    /// Data waits for the congestion window, its pacing or the interface.
    Path,
}

impl SendState {
    /// Whether nothing of what was handed over is left to be acknowledged.
    pub const fn is_delivered(&self) -> bool {
        self.unsent_bytes == 0 && self.outstanding_segments == 0
    }

    /// Why it does not send more.
    pub fn held_by(&self) -> HeldBy {
        let has_window = self.in_flight_segments < self.congestion_window_segments;
        match (self.unsent_bytes > 0, has_window) {
            (true, true) if self.is_held_by_peer() => HeldBy::ReceiveWindow,
            (true, _) | (false, false) => HeldBy::Path,
            (false, true) if self.has_room => HeldBy::Program,
            (false, true) => HeldBy::SendBuffer,
        }
    }

    /// Whether the other end has next to no room for more. Kernels send several segments at once, and wait for room for
    /// them: a window is used up before its last byte. One that adapts itself is twice as large as what is on its way.
    fn is_held_by_peer(&self) -> bool {
        let Some(window) = self.peer_window_bytes else { return false };
        let room = window.saturating_sub(self.outstanding_bytes);
        room < self.segment_bytes.max(window / 4)
    }

    /// For how long what leaves now may be on its way until it is acknowledged, where nothing waits: the shortest round trip and
    /// a quarter of it. None where the kernel does not tell enough.
    fn on_its_way_ns(&self) -> Option<u64> {
        let least_ns = self.min_rtt_ns.filter(|_| self.busy_ns > 0)?;
        Some(least_ns.saturating_add(QUEUE_FROM_NS.max(least_ns / 4)))
    }

    /// What the path carries of this connection in that time.
    fn carried_bytes(&self) -> Option<Carried> {
        let longest_ns = u128::from(self.on_its_way_ns()?);
        let so_far = u128::from(self.acknowledged_bytes) * longest_ns / u128::from(self.busy_ns);
        let of_late = u128::from(self.delivered_bytes_per_s.unwrap_or(0));
        // A single segment may wait for the other end to acknowledge it together with the next.
        let alone = if self.outstanding_segments <= 1 { self.segment_bytes } else { 0 };
        Some(Carried { so_far, of_late: of_late * longest_ns / 1_000_000_000, alone: alone.into() })
    }
}

/// Bytes that a path carries of connections until what leaves is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    /// At their rates since they began.
    so_far: u128,
    /// At their rates in the last round trip.
    of_late: u128,
    /// What waits to be acknowledged together with what follows.
    alone: u128,
}

impl Carried {
    const fn with(self, other: Self) -> Self {
        Self {
            so_far: self.so_far + other.so_far,
            of_late: self.of_late + other.of_late,
            alone: self.alone + other.alone,
        }
    }

    /// At the greater of both rates. Of a long round trip a connection needs seconds until its rate is what it stays at, and the
    /// rate so far is less than that for much longer. The rate of late is that before the other end stopped taking anything.
    fn bytes(self) -> u128 {
        self.so_far.max(self.of_late) + self.alone
    }
}

/// Whether connections that share a path have more on their way, all together, than it carries of them in a round trip: it
/// waits in a queue there, and the path does not run empty. A window that holds nothing is no queue.
pub fn stand_in_queue(states: &[SendState]) -> bool {
    let known = || states.iter().filter_map(|state| Some((state, state.carried_bytes()?)));
    let outstanding: u128 = known().map(|(state, _)| u128::from(state.outstanding_bytes)).sum();
    let together = states.iter().map(|state| TOGETHER * state.segment_bytes).max().unwrap_or(0);
    let carried = known().map(|(_, carried)| carried).fold(Carried::default(), Carried::with);
    outstanding > carried.bytes() + u128::from(together)
}

/// How often sockets that were to send were seen to be held, and by what. Shares of its sum say where a sender's time went.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SendSamples {
    /// Everything had left, and there was room: the program had given no more.
    pub program: u64,
    /// Everything had left, and the program waited for room in the send buffer.
    pub send_buffer: u64,
    /// Data waited that the receiver had no room for.
    pub receive_window: u64,
    /// Data waited for the path: its congestion window, its pacing.
    pub path: u64,
    /// Of those of a send buffer or a window: how often the connections that were looked at in that moment had more on their
    /// way, all together, than the path carries in a round trip, so that more would only have waited in its queue.
    pub queued: u64,
    /// Of all: how often data waited, and the other end had acknowledged next to nothing since the look before, less than a
    /// fifth of what came on average. Absent where that was not counted.
    pub stalled: Option<u64>,
}

impl SendSamples {
    /// Counts one look at each of these sockets, all at one moment. They share a path.
    pub fn count(&mut self, states: &[SendState]) {
        let is_queued = stand_in_queue(states);
        for held_by in states.iter().map(SendState::held_by) {
            let is_of_end = matches!(held_by, HeldBy::SendBuffer | HeldBy::ReceiveWindow);
            self.queued += u64::from(is_of_end && is_queued);
            *match held_by {
                HeldBy::Program => &mut self.program,
                HeldBy::SendBuffer => &mut self.send_buffer,
                HeldBy::ReceiveWindow => &mut self.receive_window,
                HeldBy::Path => &mut self.path,
            } += 1;
        }
    }

    /// Counts those of these sockets that have data waiting, where all of them together came next to no further since the look
    /// before; of looks that are less than a round trip apart, where they did not for longer than that.
    pub fn count_stalled(&mut self, states: &[SendState], now: Tick, progress: &mut Progress) {
        let acknowledged = states.iter().map(|state| state.acknowledged_bytes).sum();
        let waiting = || states.iter().filter(|state| !state.is_delivered());
        let rtt_ns = waiting().filter_map(|state| state.min_rtt_ns).max().unwrap_or(0);
        let waits = waiting().count() as u64;
        let stalled = progress.stood_still(now, acknowledged, waits, rtt_ns);
        self.stalled = Some(self.stalled.unwrap_or(0).saturating_add(stalled));
    }

    /// The looks of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            stalled: match (self.stalled, other.stalled) {
                (Some(one), Some(two)) => Some(one.saturating_add(two)),
                (one, None) => one,
                (None, two) => two,
            },
            program: self.program.saturating_add(other.program),
            send_buffer: self.send_buffer.saturating_add(other.send_buffer),
            receive_window: self.receive_window.saturating_add(other.receive_window),
            path: self.path.saturating_add(other.path),
            queued: self.queued.saturating_add(other.queued),
        }
    }

    /// How many looks there were.
    pub const fn all(self) -> u64 {
        self.program
            .saturating_add(self.send_buffer)
            .saturating_add(self.receive_window)
            .saturating_add(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments on their way on a path of 20 ms, with room in each window: as many as it carried in each round trip.
    fn state() -> SendState {
        SendState {
            outstanding_bytes: 14_480,
            outstanding_segments: 10,
            in_flight_segments: 10,
            congestion_window_segments: 20,
            peer_window_bytes: Some(65_536),
            segment_bytes: 1_448,
            acknowledged_bytes: 724_000,
            busy_ns: 1_000_000_000,
            min_rtt_ns: Some(20_000_000),
            ..SendState::default()
        }
    }

    #[test]
    fn what_holds_a_sender_is_told_from_its_socket() {
        let unsent = SendState { unsent_bytes: 100_000, ..state() };
        let full = SendState { congestion_window_segments: 10, ..state() };
        for (state, held_by) in [
            (state(), HeldBy::SendBuffer),
            (SendState { has_room: true, ..state() }, HeldBy::Program),
            (full, HeldBy::Path),
            (SendState { has_room: true, ..full }, HeldBy::Path),
            (SendState { congestion_window_segments: 10, ..unsent }, HeldBy::Path),
            // Paced, or kept back by the interface.
            (unsent, HeldBy::Path),
            (SendState { peer_window_bytes: Some(15_000), ..unsent }, HeldBy::ReceiveWindow),
            // Two segments would fit, and more are to leave together.
            (SendState { peer_window_bytes: Some(18_000), ..unsent }, HeldBy::ReceiveWindow),
            (SendState { peer_window_bytes: Some(0), ..unsent }, HeldBy::ReceiveWindow),
            (SendState { peer_window_bytes: None, ..unsent }, HeldBy::Path),
        ] {
            assert_eq!(state.held_by(), held_by, "{state:?}");
        }
    }

    #[test]
    fn more_on_its_way_than_the_path_carries_in_a_round_trip_waits_in_a_queue() {
        let queued =
            |outstanding_bytes| stand_in_queue(&[SendState { outstanding_bytes, ..state() }]);
        // A quarter as much again, and what leaves together, are none.
        assert_eq!([0, 14_480, 22_400, 22_500].map(queued), [false, false, false, true]);
        // Near by, what arrives within a millisecond more.
        let near = SendState { min_rtt_ns: Some(20_000), ..state() };
        assert!(!stand_in_queue(&[SendState { outstanding_bytes: 5_000, ..near }]));
        assert!(stand_in_queue(&[SendState { outstanding_bytes: 5_100, ..near }]));
        let idle = SendState { busy_ns: 0, outstanding_bytes: 1 << 40, ..state() };
        assert!(!stand_in_queue(&[idle]));
        assert!(!stand_in_queue(&[]));
    }

    #[test]
    fn samples_add_up() {
        let mut samples = SendSamples::default();
        let unsent = SendState { unsent_bytes: 1, ..state() };
        for state in [
            SendState { has_room: true, ..state() },
            state(),
            SendState { outstanding_bytes: 1 << 20, ..state() },
            SendState { peer_window_bytes: Some(0), ..unsent },
            unsent,
        ] {
            samples.count(&[state]);
        }
        assert_eq!(samples.with(samples).all(), 10);
        let one = SendSamples {
            program: 1,
            send_buffer: 2,
            receive_window: 1,
            path: 1,
            queued: 1,
            stalled: None,
        };
        assert_eq!(samples, one);
    }

    #[test]
    fn a_window_is_no_queue_while_the_rate_so_far_is_still_that_of_a_start() {
        // 580 ms and a window of 512 KiB, four seconds of which went by before it was full.
        let window = SendState {
            unsent_bytes: 1 << 20,
            outstanding_bytes: 524_288,
            outstanding_segments: 362,
            acknowledged_bytes: 1_500_000,
            busy_ns: 6_000_000_000,
            min_rtt_ns: Some(580_000_000),
            ..state()
        };
        let delivered = |bytes| SendState { delivered_bytes_per_s: Some(bytes), ..window };
        assert!(stand_in_queue(&[window]));
        assert!(!stand_in_queue(&[delivered(904_000)]));
        // The link carries less than the window, which takes twice as long as a round trip.
        assert!(stand_in_queue(&[delivered(452_000)]));
        // The other end takes nothing any more: what it took before counts.
        let stopped = SendState { acknowledged_bytes: 5_000_000, ..delivered(0) };
        assert!(!stand_in_queue(&[stopped]));
    }

    #[test]
    fn connections_of_one_path_fill_it_together() {
        let of = |outstanding_bytes| SendState { outstanding_bytes, ..state() };
        let program = SendState { has_room: true, ..of(0) };
        let queued = |states: &[SendState]| {
            let mut samples = SendSamples::default();
            samples.count(states);
            (samples.send_buffer, samples.queued)
        };
        // What one has beyond its part, another may have less.
        assert_eq!(queued(&[of(30_000), of(10_500)]), (2, 0));
        assert_eq!(queued(&[of(30_000), of(10_600)]), (2, 2));
        assert_eq!(queued(&[of(30_000), of(26_000), program]), (2, 0));
    }

    #[test]
    fn many_windows_of_two_segments_fill_a_slow_path() {
        // 20 Mbit/s and 4.1 ms, of which each of eight has an eighth; what they have on its way takes 9.7 ms.
        let of = |outstanding_segments| SendState {
            unsent_bytes: 50_000,
            peer_window_bytes: Some(outstanding_segments * 1_448),
            outstanding_bytes: outstanding_segments * 1_448,
            outstanding_segments,
            in_flight_segments: outstanding_segments,
            acknowledged_bytes: 298_750,
            min_rtt_ns: Some(4_140_000),
            ..state()
        };
        assert!(stand_in_queue(&[of(2); 8]));
        // One segment each that waits for the next, to be acknowledged with it, is no queue.
        assert!(!stand_in_queue(&[of(1); 8]));
        assert!(!stand_in_queue(&[SendState { acknowledged_bytes: 30_000, ..of(1) }; 8]));
    }

    #[test]
    fn a_queue_of_two_fifths_of_a_long_round_trip_is_one() {
        // 60 Mbit/s and 40 ms: eight buffers that hold what takes 56 ms, and goodput is what the path carries.
        let of = |milliseconds: u64| SendState {
            acknowledged_bytes: 896_000,
            min_rtt_ns: Some(40_200_000),
            outstanding_bytes: 896 * milliseconds,
            outstanding_segments: 896 * milliseconds / 1_448,
            ..state()
        };
        assert!(stand_in_queue(&[of(56); 8]));
        assert!(!stand_in_queue(&[of(46); 8]));
    }
}
