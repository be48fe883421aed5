//! Evidence that says something else than what was so: a rule that holds against that as well does not look.
//!
//! Not here: whether a rule notices, see `judge`.

use std::collections::BTreeSet;

use pathscope_lab::link::{Counts, Damage, DamagedFrame, Flow, FlowCounts, Ports, Tally, Truth};
use pathscope_lab::relay::LinkAccount;
use serde_json::Value;

use crate::cell::{Cell, UDP_BYTES};
use crate::change::{Change, SHARE, alter};
use crate::evidence::{ETHERNET_BYTES, Evidence, PROBE_BYTES, SERVER_STAMPS, UDP};
use crate::relay::Witnesses;
use crate::rule::Against;
use crate::samples::Samples;

/// Single samples are changed by more than twice what two histograms lose.
const SAMPLE_SHARE: f64 = 0.007_5;
/// A ping, and what a link's delay allows at the least, are changed by more than twice what two stacks may take.
const STACKS_NS: u64 = 700_000;
/// One cell's evidence with one source changed.
#[derive(Debug)]
pub struct Moved {
    cell: Cell,
    measurement: Value,
    links: Vec<LinkAccount>,
    ping_ns: Option<(f64, f64)>,
    samples: Option<Samples>,
    port: u16,
    witnesses: Witnesses,
}

impl Moved {
    /// The same evidence, but for what comes from this source.
    pub fn of(evidence: &Evidence<'_>, against: Against, change: Change) -> Self {
        let mut moved = Self {
            cell: evidence.cell.clone(),
            measurement: evidence.measurement.clone(),
            links: evidence.links.clone(),
            ping_ns: evidence.ping_ns,
            samples: evidence.samples.clone(),
            port: evidence.port,
            witnesses: evidence.witnesses.clone(),
        };
        match against {
            Against::Asked => moved.asked(change),
            Against::Links => moved.conditions(change),
            Against::Ledger => {
                let links = 0..moved.links.len();
                let probes: Vec<_> = links.map(|link| evidence.probe_ports(link)).collect();
                moved.ledger(change, &probes);
            }
            Against::Ping => {
                let other = |it: f64| match change {
                    Change::More => it + STACKS_NS as f64,
                    Change::Less => it - STACKS_NS as f64,
                };
                moved.ping_ns = moved.ping_ns.map(|(least, mean)| (other(least), other(mean)));
            }
            Against::Samples => {
                if let Some(samples) = &mut moved.samples {
                    samples.stretch(change.factor(SAMPLE_SHARE));
                }
            }
            Against::Figures => {
                alter(&mut moved.measurement, change);
                moved.intervals(change);
            }
            Against::Counters | Against::Captures | Against::Filter | Against::Shaper => {
                moved.witnesses.change(against, change, STACKS_NS);
            }
            Against::Unknown => {}
        }
        moved
    }

    /// As evidence.
    pub fn evidence(&self) -> Evidence<'_> {
        Evidence {
            cell: &self.cell,
            measurement: &self.measurement,
            links: self.links.clone(),
            ping_ns: self.ping_ns,
            samples: self.samples.clone(),
            port: self.port,
            witnesses: self.witnesses.clone(),
        }
    }

    fn asked(&mut self, change: Change) {
        let asked = &mut self.cell.asked;
        asked.flows = change.number(asked.flows, 1);
        for number in [&mut asked.number, &mut asked.bytes, &mut asked.transfer_bytes] {
            *number = number.map(|it| change.number(it, 1));
        }
        asked.rate_bps = asked.rate_bps.map(|rate| rate * change.factor(SHARE));
        self.cell.duration.0 = change.number(self.cell.duration.0, self.cell.duration.0 / 2);
    }

    /// One more or less of them.
    fn intervals(&mut self, change: Change) {
        let intervals = self.measurement.get_mut("intervals").and_then(Value::as_array_mut);
        let Some(intervals) = intervals else { return };
        match change {
            Change::More => intervals.extend_from_within(..intervals.len().min(1)),
            Change::Less => drop(intervals.pop()),
        }
    }

    fn conditions(&mut self, change: Change) {
        for conditions in &mut self.cell.conditions {
            conditions.delay_ns = change.number(conditions.delay_ns, STACKS_NS);
            conditions.rate_bps = conditions.rate_bps.map(|rate| rate * change.factor(0.5));
            conditions.queue_packets = conditions.queue_packets.map(|_| 1);
        }
    }

    /// A datagram more or less in each count, and a stream by a share.
    fn ledger(&mut self, change: Change, probes: &[BTreeSet<u16>]) {
        let headers = ETHERNET_BYTES + self.cell.family.header_bytes() + UDP_BYTES;
        let load_bytes = self.cell.asked.bytes.unwrap_or(PROBE_BYTES);
        for (link, probes) in self.links.iter_mut().zip(probes) {
            for direction in [&mut link.forward, &mut link.backward] {
                damage(&mut direction.truth, change);
                for row in &mut direction.truth.flows {
                    let is_udp = matches!(row.flow, Flow::Ip { protocol: UDP, .. });
                    let is_of_probes = matches!(
                        row.flow,
                        Flow::Ip { ports: Ports::Pair { source, destination }, .. }
                            if probes.contains(&source) || probes.contains(&destination)
                    );
                    let datagram = headers + if is_of_probes { PROBE_BYTES } else { load_bytes };
                    let other = |tally: Tally| {
                        let (frames, bytes) = if is_udp {
                            (1, datagram)
                        } else {
                            (tally.frames / 10 + 1, tally.bytes / 10)
                        };
                        let is_there = change == Change::More || tally.frames >= frames;
                        let (frames, bytes) = if is_there { (frames, bytes) } else { (0, 0) };
                        Tally {
                            frames: change.number(tally.frames, frames),
                            bytes: change.number(tally.bytes, bytes),
                        }
                    };
                    let counts = row.counts;
                    row.counts = Counts {
                        offered: other(counts.offered),
                        duplicated: other(counts.duplicated),
                        // What is delivered twice is one more, and not two.
                        delivered: other(other(counts.delivered)),
                        dropped: other(counts.dropped),
                        lost: other(counts.lost),
                        corrupted: other(counts.corrupted),
                        reordered: other(counts.reordered),
                        ..counts
                    };
                }
            }
        }
    }
}

/// A damaged datagram more or less: more where its name is, and where a server's stamps are.
fn damage(truth: &mut Truth, change: Change) {
    let is_udp = |row: &&FlowCounts| matches!(row.flow, Flow::Ip { protocol: UDP, .. });
    match change {
        Change::More => {
            let Some(flow) = truth.flows.iter().find(is_udp).map(|row| row.flow) else { return };
            truth.damages.extend([0, SERVER_STAMPS.start].map(|payload_offset| DamagedFrame {
                flow,
                at_ns: 0,
                damage: Damage {
                    ip_id: None,
                    tcp_sequence: None,
                    frame_offset: 0,
                    payload_offset,
                    bit: 0,
                },
            }));
        }
        Change::Less => drop(truth.damages.pop()),
    }
}
