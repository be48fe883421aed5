//! The truth about one direction: what became of every frame, by flow and in all.
//!
//! The live [`Ledger`] is written by the machine; [`Truth`] is a copy of it that can be stored,
//! added to that of other directions, and subtracted from a later one.

mod counts;
mod lateness;
mod queue;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use pathscope_core::stats::{Distribution, LatencyHistogram};
use serde::{Deserialize, Serialize};

use super::packet::{Damage, Flow};

pub(super) use counts::Place;
pub use counts::{Counts, Tally};
pub use queue::QueueCounts;

/// Flows with a row of their own; frames of any beyond share the one row `other_flows`.
pub const MOST_FLOWS: usize = 65_536;
/// Corrupted frames that are told one by one; any beyond are only counted.
pub const MOST_DAMAGES: usize = 1_024;

/// What became of every frame of one direction so far.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// Of all frames.
    pub total: Counts,
    /// By flow, in the order in which each was first seen.
    pub flows: Vec<FlowCounts>,
    /// Of frames of flows that came when there were [`MOST_FLOWS`] already.
    pub other_flows: Counts,
    /// How long the queue was.
    pub queue: QueueCounts,
    /// How much later than it was due each frame was handed over: the lab's own fault.
    pub lateness: Distribution,
    /// The first [`MOST_DAMAGES`] corrupted frames, in the order in which they were sent.
    pub damages: Vec<DamagedFrame>,
}

/// One flow's part of it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FlowCounts {
    /// Whose frames.
    pub flow: Flow,
    /// What became of them.
    pub counts: Counts,
}

/// One frame that was corrupted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DamagedFrame {
    /// Whose.
    pub flow: Flow,
    /// When its transmission ended, in nanoseconds of the driver's clock.
    pub at_ns: u64,
    /// Which bit.
    pub damage: Damage,
}

impl Truth {
    /// What became of one flow's frames; nothing where it was never seen.
    pub fn flow(&self, flow: &Flow) -> Counts {
        let row = self.flows.iter().find(|row| row.flow == *flow);
        row.map(|row| row.counts).unwrap_or_default()
    }

    /// That of two directions or links.
    pub fn add(&mut self, other: &Self) {
        let mut rows: HashMap<Flow, usize> =
            self.flows.iter().enumerate().map(|(index, row)| (row.flow, index)).collect();
        for row in &other.flows {
            let index = *rows.entry(row.flow).or_insert_with(|| {
                self.flows.push(FlowCounts { flow: row.flow, counts: Counts::default() });
                self.flows.len() - 1
            });
            self.flows[index].counts = self.flows[index].counts.add(&row.counts);
        }
        self.total = self.total.add(&other.total);
        self.other_flows = self.other_flows.add(&other.other_flows);
        self.queue = self.queue.add(&other.queue);
        let mut lateness = self.lateness.histogram();
        lateness.merge(&other.lateness.histogram());
        self.lateness = lateness.distribution();
        self.damages.extend(&other.damages);
    }

    /// What happened since `earlier`, which is the same direction's truth at an earlier time. Flows
    /// to which nothing happened are left out.
    pub fn since(&self, earlier: &Self) -> Self {
        let before: HashMap<Flow, Counts> =
            earlier.flows.iter().map(|row| (row.flow, row.counts)).collect();
        let gained = |row: &FlowCounts| {
            let before = before.get(&row.flow).copied().unwrap_or_default();
            FlowCounts { flow: row.flow, counts: row.counts.since(&before) }
        };
        let has_changed = |row: &FlowCounts| !row.counts.is_empty();
        Self {
            total: self.total.since(&earlier.total),
            flows: self.flows.iter().map(gained).filter(has_changed).collect(),
            other_flows: self.other_flows.since(&earlier.other_flows),
            queue: self.queue.since(&earlier.queue),
            lateness: lateness::gained(&self.lateness, &earlier.lateness),
            damages: self.damages.iter().skip(earlier.damages.len()).copied().collect(),
        }
    }
}

/// Which row a frame is counted in; `None` is that of other flows.
pub(super) type Row = Option<u32>;

/// The account that a machine keeps.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    total: Counts,
    rows: Vec<FlowCounts>,
    by_flow: HashMap<Flow, u32>,
    other_flows: Counts,
    pub queue: QueueCounts,
    lateness: LatencyHistogram,
    damages: Vec<DamagedFrame>,
}

impl Ledger {
    /// The row of a flow, a new one where it is new and there is room.
    pub fn row(&mut self, flow: Flow) -> Row {
        if let Some(row) = self.by_flow.get(&flow) {
            return Some(*row);
        }
        if self.rows.len() >= MOST_FLOWS {
            return None;
        }
        let row = self.rows.len() as u32;
        self.rows.push(FlowCounts { flow, counts: Counts::default() });
        self.by_flow.insert(flow, row);
        Some(row)
    }

    /// Counts one frame.
    pub fn count(&mut self, row: Row, place: Place, length: usize) {
        self.total.count(place, length);
        let row = row.and_then(|row| self.rows.get_mut(row as usize));
        row.map_or(&mut self.other_flows, |row| &mut row.counts).count(place, length);
    }

    /// Notes how late a frame was handed over.
    pub fn late_by(&mut self, nanoseconds: u64) {
        self.lateness.record(nanoseconds);
    }

    /// Notes a corrupted frame, while there is room.
    pub fn damaged(&mut self, frame: DamagedFrame) {
        if self.damages.len() < MOST_DAMAGES {
            self.damages.push(frame);
        }
    }

    /// Of all frames.
    pub fn total(&self) -> Counts {
        self.total
    }

    /// A copy as it stands.
    pub fn truth(&self) -> Truth {
        Truth {
            total: self.total,
            flows: self.rows.clone(),
            other_flows: self.other_flows,
            queue: self.queue,
            lateness: self.lateness.distribution(),
            damages: self.damages.clone(),
        }
    }
}
