//! What is known of a cell once it is over, beside what pathscope says: what its links did to every frame, what the kernel's
//! ping took, and each single ping.

use std::collections::BTreeSet;
use std::ops::Range;

use pathscope_lab::link::{Counts, DamagedFrame, Flow, FlowCounts, Ports, Tally};
use pathscope_lab::relay::LinkAccount;
use pathscope_modes::figures::Found;
use serde_json::Value;

use crate::cell::{Cell, UDP_BYTES};
use crate::relay::Witnesses;
use crate::samples::Samples;
use crate::samples::frames::Frames;
use crate::samples::pings::Pings;
use crate::samples::stamps::Stamps;
use crate::way::ANSWER_BYTES;
pub use crate::way::{ETHERNET_BYTES, TCP, UDP, Way};

/// Of TCP with its stamps.
const TCP_BYTES: u64 = 32;
/// With which a receiver says that it wants more; in a stream of both directions it is beside the data.
pub const CONSENT_BYTES: u64 = 40;
/// Payload of a datagram beside a load, and of its answer.
pub const PROBE_BYTES: u64 = 64;
/// Where a datagram over several paths has the client's stamp, which the client alone can compare.
pub const CLIENT_STAMP: Range<usize> = 24..32;
/// Where an echo has the server's stamps, in pings and in datagrams over several paths.
pub const SERVER_STAMPS: Range<usize> = 32..48;
/// By which a datagram that comes back is known to be of its flow, in every mode: the mode's own mark, and flow and token.
pub const IDENTITY: [Range<usize>; 2] = [0..4, 6..16];
/// What a link may do to a frame that then arrives nowhere.
pub const TAKEN: [fn(&Counts) -> Tally; 3] =
    [|counts| counts.lost, |counts| counts.dropped, |counts| counts.cut];

/// All of it.
#[derive(Debug)]
pub struct Evidence<'cell> {
    /// What was done.
    pub cell: &'cell Cell,
    /// What pathscope says: a measurement, as its document has it.
    pub measurement: &'cell Value,
    /// What each of its links did, in the order of the place's links.
    pub links: Vec<LinkAccount>,
    /// Round trips of the kernel's ping: least and mean, in nanoseconds.
    pub ping_ns: Option<(f64, f64)>,
    /// What the run wrote down one by one.
    pub samples: Option<Samples>,
    /// The port of the server.
    pub port: u16,
    /// What others than the relay say of the same frames.
    pub witnesses: Witnesses,
}

impl Evidence<'_> {
    /// What stands beside a figure in the same result, of the same direction where there are two.
    pub fn beside(&self, found: &Found, name: &str) -> Option<&Value> {
        let group = found.group.place.replace('.', "/");
        let place = match Way::of(found).and(found.side) {
            Some(side) => format!("/{group}/{side}/{name}"),
            None => format!("/{group}/{name}"),
        };
        self.measurement.pointer(&place)
    }

    /// The same as a number.
    pub fn sibling(&self, found: &Found, name: &str) -> Option<f64> {
        self.beside(found, name)?.as_f64()
    }

    /// Each ping, where they were written down.
    pub fn pings(&self) -> Option<&Pings> {
        match &self.samples {
            Some(Samples::Pings(pings)) => Some(pings),
            _ => None,
        }
    }

    /// Each frame.
    pub fn frames(&self) -> Option<&Frames> {
        match &self.samples {
            Some(Samples::Frames(frames)) => Some(frames),
            _ => None,
        }
    }

    /// Each datagram on each path.
    pub fn stamps(&self) -> Option<&Stamps> {
        match &self.samples {
            Some(Samples::Stamps(stamps)) => Some(stamps),
            _ => None,
        }
    }

    /// What became of all frames of the test, of one link and direction.
    pub fn counts(&self, link: usize, way: Way, protocol: u8) -> Option<Counts> {
        let rows = self.rows(link, way, protocol)?;
        Some(rows.fold(Counts::default(), |sum, row| sum.add(&row.counts)))
    }

    /// Of what is counted so in frames of the test over UDP, how many datagrams of this size are among them; the ends say other
    /// things in datagrams of `others` bytes, those that are there most often first. Absent where that cannot be told apart.
    pub fn datagrams(
        &self,
        link: usize,
        way: Way,
        of: fn(&Counts) -> Tally,
        bytes: u64,
        others: &[u64],
    ) -> Option<f64> {
        let headers = ETHERNET_BYTES + self.cell.family.header_bytes() + UDP_BYTES;
        if !self.cell.is_whole(bytes) {
            return None;
        }
        // Each flow by itself: the fewer the frames, the surer it is what they were.
        let of_row = |row: &FlowCounts| {
            let tally = of(&row.counts);
            let payload = tally.bytes.checked_sub(tally.frames * headers)?;
            told_apart(Tally { bytes: payload, ..tally }, bytes, others)
        };
        let probes = self.probe_ports(link);
        let rows = self.rows(link, way, UDP)?;
        let rows = rows.filter(|row| client_port(row, way).is_none_or(|it| !probes.contains(&it)));
        let count: u64 = rows.map(of_row).sum::<Option<u64>>()?;
        Some(count as f64)
    }

    /// Frames of the test over UDP that one link damaged.
    pub fn damaged(&self, link: usize, way: Way) -> impl Iterator<Item = &DamagedFrame> {
        let damages = self.links.get(link).map_or(&[][..], |link| match way {
            Way::Up => &link.forward.truth.damages,
            Way::Down => &link.backward.truth.damages,
        });
        let port = self.port;
        let server = move |ports: Ports| match (ports, way) {
            (Ports::Pair { destination, .. }, Way::Up) => destination == port,
            (Ports::Pair { source, .. }, Way::Down) => source == port,
            _ => false,
        };
        let is_of_test = move |flow: &Flow| matches!(flow, Flow::Ip { protocol: UDP, ports, .. } if server(*ports));
        damages.iter().filter(move |it| is_of_test(&it.flow))
    }

    /// How many of them at these bytes of their payload.
    pub fn damages(&self, link: usize, way: Way, bytes: Range<usize>) -> f64 {
        let there = self.damaged(link, way);
        there.filter(|it| bytes.contains(&it.damage.payload_offset)).count() as f64
    }

    /// How many of them where nothing can be known of them any more.
    pub fn nameless(&self, link: usize, way: Way) -> f64 {
        IDENTITY.into_iter().map(|bytes| self.damages(link, way, bytes)).sum()
    }

    /// What became of the frames of probes beside a load, of one link and direction; what opens their flow is among them.
    pub fn probes(&self, link: usize, way: Way) -> Option<Counts> {
        let probes = self.probe_ports(link);
        let rows = self.rows(link, way, UDP)?;
        let rows = rows.filter(|row| client_port(row, way).is_some_and(|it| probes.contains(&it)));
        Some(rows.fold(Counts::default(), |sum, row| sum.add(&row.counts)))
    }

    /// Of the answers to probes that are counted so, how many.
    pub fn echoes(&self, link: usize, of: fn(&Counts) -> Tally) -> Option<f64> {
        let tally = of(&self.probes(link, Way::Down)?);
        let headers = ETHERNET_BYTES + self.cell.family.header_bytes() + UDP_BYTES;
        let bytes = tally.bytes.checked_sub(tally.frames * headers)?;
        let echoes = told_apart(Tally { bytes, ..tally }, PROBE_BYTES, &[ANSWER_BYTES])?;
        Some(echoes as f64)
    }

    /// The client's ports of probes: from there nothing else comes than datagrams of their size, which no load has.
    pub fn probe_ports(&self, link: usize) -> BTreeSet<u16> {
        let headers = ETHERNET_BYTES + self.cell.family.header_bytes() + UDP_BYTES;
        let is_load = self.cell.asked.bytes == Some(PROBE_BYTES);
        let rows = self.rows(link, Way::Up, UDP).filter(|_| !is_load).into_iter().flatten();
        let is_of_probes = |row: &&FlowCounts| {
            let all = row.counts.offered;
            all.frames > 0 && all.bytes == all.frames * (headers + PROBE_BYTES)
        };
        rows.filter(is_of_probes).filter_map(|row| client_port(row, Way::Up)).collect()
    }

    /// Whether all datagrams of the test that its links carried are told apart from what else the ends say.
    pub fn is_told_apart(&self) -> bool {
        let Some(bytes) = self.cell.asked.bytes.filter(|&bytes| self.cell.is_whole(bytes)) else {
            return true;
        };
        (0..self.links.len()).all(|link| {
            [Way::Up, Way::Down].into_iter().all(|way| {
                let others = [CONSENT_BYTES, way.opening_bytes()];
                // Pings have no consent, and may be nearly as short as one.
                let is_told = |others: &[u64]| {
                    self.datagrams(link, way, |counts| counts.offered, bytes, others).is_some()
                };
                is_told(&others) || is_told(&others[1..])
            })
        })
    }

    fn rows(
        &self,
        link: usize,
        way: Way,
        protocol: u8,
    ) -> Option<impl Iterator<Item = &FlowCounts>> {
        let link = self.links.get(link)?;
        let port = self.port;
        let direction = match way {
            Way::Up => &link.forward,
            Way::Down => &link.backward,
        };
        let is_of_test = move |row: &&FlowCounts| match &row.flow {
            Flow::Ip { protocol: its, ports: Ports::Pair { source, destination }, .. } => {
                *its == protocol && port == if way == Way::Up { *destination } else { *source }
            }
            _ => false,
        };
        Some(direction.truth.flows.iter().filter(is_of_test))
    }

    /// The payload in frames of TCP, if all of them have stamps and nothing else.
    pub fn stream_bytes(&self, tally: Tally) -> u64 {
        let headers = ETHERNET_BYTES + self.cell.family.header_bytes() + TCP_BYTES;
        tally.bytes.saturating_sub(tally.frames * headers)
    }

    /// The most payload that a link's rate carries over TCP, in bits a second.
    pub fn most_stream_bps(&self, rate_bps: f64) -> f64 {
        let mtu = self.cell.place.mtu();
        let payload = mtu - self.cell.family.header_bytes() - TCP_BYTES;
        rate_bps * payload as f64 / (mtu + ETHERNET_BYTES) as f64
    }

    /// What a round trip over a link takes at the least: its delays.
    pub fn least_rtt_ns(&self, link: usize) -> Option<f64> {
        self.cell.conditions.get(link).map(|it| 2.0 * it.delay_ns as f64)
    }
}

/// The port at the client's end.
fn client_port(row: &FlowCounts, way: Way) -> Option<u16> {
    match row.flow {
        Flow::Ip { ports: Ports::Pair { source, destination }, .. } => {
            Some(if way == Way::Up { source } else { destination })
        }
        _ => None,
    }
}

/// How many datagrams of `bytes` are among so many of so many bytes together, where all others are of one of the other sizes
/// and the second of these is rare.
fn told_apart(all: Tally, bytes: u64, others: &[u64]) -> Option<u64> {
    /// More of the rare ones than any flow has.
    const MOST_RARE: u64 = 12;
    let (&often, rare) = others.split_first()?;
    let step = bytes.checked_sub(often).filter(|step| *step > 0)?;
    let with = |rare: u64, size: u64| {
        let frames = all.frames.checked_sub(rare)?;
        let more = all.bytes.checked_sub(rare * size)?.checked_sub(frames * often)?;
        (more.is_multiple_of(step) && more / step <= frames).then_some(more / step)
    };
    let counts = rare.first().map_or_else(
        || vec![with(0, 0)],
        |&size| (0..=MOST_RARE).map(|rare| with(rare, size)).collect(),
    );
    let mut counts = counts.into_iter().flatten();
    let first = counts.next()?;
    counts.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use pathscope_lab::link::Tally;

    use super::{ANSWER_BYTES, CONSENT_BYTES, told_apart};
    use crate::way::OPENING_BYTES;

    /// So many datagrams of so many bytes, each.
    fn of(parts: &[(u64, u64)]) -> Tally {
        Tally {
            frames: parts.iter().map(|(count, _)| count).sum(),
            bytes: parts.iter().map(|(count, bytes)| count * bytes).sum(),
        }
    }

    #[test]
    fn data_are_told_apart_from_what_else_the_ends_say() {
        for bytes in [200, 1_200] {
            for data in [0, 1, 7, 500] {
                for consents in [0, 3, 80] {
                    for rare in 0..=12 {
                        for size in [OPENING_BYTES, ANSWER_BYTES] {
                            let all = of(&[(data, bytes), (consents, CONSENT_BYTES), (rare, size)]);
                            let told = told_apart(all, bytes, &[CONSENT_BYTES, size]);
                            assert_eq!(told, Some(data), "{bytes} {consents} {rare} {size}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_no_number() {
        // As long as a consent.
        assert_eq!(told_apart(of(&[(9, 40)]), 40, &[CONSENT_BYTES, OPENING_BYTES]), None);
        // Three openings and nothing else are as long as two consents and one ping of 112 bytes.
        let all = of(&[(3, OPENING_BYTES)]);
        assert_eq!(told_apart(all, 112, &[CONSENT_BYTES, OPENING_BYTES]), None);
        // Of another length altogether.
        assert_eq!(told_apart(of(&[(5, 200), (1, 99)]), 200, &[OPENING_BYTES]), None);
    }
}
