//! Pings over TCP as they are on the wire: when each left and its answer came in at the near interface, and how long the far host
//! had it. What both ends' stacks and programs take is in neither.

use std::collections::BTreeMap;

use super::pcap::{Captured, Segment};
use crate::samples::Durations;

/// More than any client or server says on a flow before its first ping.
const MOST_BEFORE: u64 = 512;

/// The pings of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundTrips {
    /// From the first frame of each ping to the last of its answer, at the near interface.
    pub wire: Durations,
    /// The same less what the far host took: from its last frame there to the first of the answer.
    pub path: Durations,
}

/// What passed one interface of one stream, as the time at which each byte did first.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// The number of the byte before the first.
    first: Option<u32>,
    /// Up to which byte, and when.
    ends: Vec<(u64, u64)>,
}

impl Stream {
    fn add(&mut self, segment: &Segment) {
        if segment.is_first {
            self.first = Some(segment.sequence.wrapping_add(1));
            return;
        }
        let Some(first) = self.first else { return };
        let begin = u64::from(segment.sequence.wrapping_sub(first));
        let end = begin + u64::from(segment.length);
        // What is said again was there before.
        if segment.length > 0 && end < 1 << 31 && end > self.bytes() {
            self.ends.push((end, segment.stamp_ns));
        }
    }

    fn bytes(&self) -> u64 {
        self.ends.last().map_or(0, |(end, _)| *end)
    }

    /// When this byte passed first.
    fn at(&self, byte: u64) -> Option<u64> {
        let index = self.ends.partition_point(|(end, _)| *end <= byte);
        self.ends.get(index).map(|(_, stamp_ns)| *stamp_ns)
    }
}

/// Both streams of a connection at one interface: to the server and back.
type Streams = BTreeMap<u16, [Stream; 2]>;

impl RoundTrips {
    /// Of both captures: of so many flows to a server's port, each with so many pings of so many bytes that are all answered.
    /// Absent where these are not found.
    pub fn of(
        near: &[Captured<'_>],
        far: &[Captured<'_>],
        port: u16,
        (flows, pings, bytes): (u64, u64, u64),
    ) -> Option<Self> {
        let (near, far) = (streams(near, port), streams(far, port));
        // What is said before the first ping, where a connection is a flow. The control connection is none.
        let before = |streams: &[Stream; 2]| {
            let of = |stream: &Stream| stream.bytes().checked_sub(pings * bytes);
            let before = [of(&streams[0])?, of(&streams[1])?];
            before.iter().all(|it| *it <= MOST_BEFORE).then_some(before)
        };
        let (mut wire, mut path) = (Vec::new(), Vec::new());
        let mut found = 0;
        for (client, streams) in &near {
            let Some([up, down]) = before(streams) else { continue };
            let there = far.get(client)?;
            found += 1;
            for ping in 0..pings {
                let (ping, answer) = (up + ping * bytes, down + ping * bytes);
                let left = streams[0].at(ping)?;
                let back = streams[1].at(answer + bytes - 1)?;
                let came = there[0].at(ping + bytes - 1)?;
                let answered = there[1].at(answer)?;
                let round = back.checked_sub(left)? as f64;
                wire.push(round);
                path.push(round - answered.checked_sub(came)? as f64);
            }
        }
        (found == flows).then(|| Self { wire: Durations::new(wire), path: Durations::new(path) })
    }

    /// Has all of them take longer.
    pub fn delay_by(&mut self, by_ns: f64) {
        self.wire.delay_by(by_ns);
        self.path.delay_by(by_ns);
    }
}

fn streams(frames: &[Captured<'_>], port: u16) -> Streams {
    let mut streams = Streams::new();
    for segment in frames.iter().filter_map(Captured::segment) {
        let (client, way) = if segment.destination == port {
            (segment.source, 0)
        } else if segment.source == port {
            (segment.destination, 1)
        } else {
            continue;
        };
        streams.entry(client).or_default()[way].add(&segment);
    }
    streams
}

#[cfg(test)]
mod tests {
    use super::super::pcap::tests::{file, frame};
    use super::super::pcap::{Segment, frames};
    use super::RoundTrips;

    const PORT: u16 = 80;

    fn said(stamp_ns: u64, is_up: bool, sequence: u32, length: u32) -> (u64, Vec<u8>) {
        let (source, destination) = if is_up { (4_000, PORT) } else { (PORT, 4_000) };
        let is_first = length == 0;
        let segment = Segment { stamp_ns, source, destination, sequence, length, is_first };
        (stamp_ns, frame(u8::from(is_up), false, segment))
    }

    /// Two pings of 100 bytes behind a word of 7 and its answer of 9; the numbers go round.
    fn captures() -> [Vec<u8>; 2] {
        let first = u32::MAX - 20;
        let next = |bytes: u32| first.wrapping_add(1 + bytes);
        let near = [
            said(0, true, first, 0),
            said(1, false, 500, 0),
            said(2, true, next(0), 7),
            said(3, false, 501, 9),
            said(1_000, true, next(7), 100),
            // Its answer comes in two pieces, and the first of them is said again.
            said(1_700, false, 510, 60),
            said(1_800, false, 570, 40),
            said(1_900, false, 510, 60),
            said(3_000, true, next(107), 100),
            said(3_500, false, 610, 100),
        ];
        let far = [
            said(0, true, first, 0),
            said(1, false, 500, 0),
            said(2, true, next(0), 7),
            said(2, false, 501, 9),
            said(1_100, true, next(7), 100),
            said(1_550, false, 510, 60),
            said(1_560, false, 570, 40),
            said(3_200, true, next(107), 100),
            said(3_300, false, 610, 100),
        ];
        [file(&near), file(&far)]
    }

    #[test]
    fn each_ping_is_found_and_what_the_far_host_took_is_taken_off() {
        let [near, far] = captures();
        let (near, far) = (frames(&near).expect("one"), frames(&far).expect("one"));
        let trips = RoundTrips::of(&near, &far, PORT, (1, 2, 100)).expect("two pings");
        let ends = |it: &super::Durations| (it.statistic("min"), it.statistic("max"));
        assert_eq!(ends(&trips.wire), (Some(500.0), Some(800.0)));
        assert_eq!(ends(&trips.path), (Some(350.0), Some(400.0)));
        // More flows or pings than there are.
        assert_eq!(RoundTrips::of(&near, &far, PORT, (2, 2, 100)), None);
        assert_eq!(RoundTrips::of(&near, &far, PORT, (1, 3, 100)), None);
    }
}
