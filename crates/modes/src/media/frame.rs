//! How a frame ends, and how many ended which way.

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sums::add_fields;

/// How a frame ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It was whole when it was to be played.
    Completed,
    /// It was whole, and some of its datagrams had come more than once.
    Repeated,
    /// It was not whole then, and was so afterwards.
    Late,
    /// It was not whole, since something of it came damaged.
    Erroneous,
    /// It was not whole, then or afterwards.
    Dropped,
    /// The stream was stopped before it was to be played, and it was not whole.
    Cut,
}

impl Outcome {
    /// A word for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Repeated => "repeated",
            Self::Late => "late",
            Self::Erroneous => "erroneous",
            Self::Dropped => "dropped",
            Self::Cut => "cut",
        }
    }
}

/// How many frames ended which way. Each that was sent is in one of these; late and unsent ones are also in
/// `missed`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct FrameCounts {
    /// Whole when they were to be played.
    pub completed: u64,
    /// Whole, with datagrams that came more than once.
    pub repeated: u64,
    /// Not whole when they were to be played, though nothing of them came damaged: late ones and dropped ones.
    pub missed: u64,
    /// Of the missed: whole afterwards.
    pub late: u64,
    /// Of the missed: never sent, as the sender said when it had ended.
    pub unsent: u64,
    /// Not whole, since something of them came damaged.
    pub erroneous: u64,
    /// Not whole, and not yet to be played when the stream was stopped.
    pub cut: u64,
}

impl FrameCounts {
    /// Sent and never whole, though nothing of them came damaged.
    pub fn dropped(&self) -> u64 {
        self.missed.saturating_sub(self.late).saturating_sub(self.unsent)
    }

    /// Of those that were sent: not played.
    pub fn not_played(&self) -> u64 {
        self.missed.saturating_sub(self.unsent).saturating_add(self.erroneous)
    }

    /// Played: there in time.
    pub fn played(&self) -> u64 {
        self.completed.saturating_add(self.repeated)
    }

    /// All that were to be played.
    pub fn judged(&self) -> u64 {
        self.played().saturating_add(self.missed).saturating_add(self.erroneous)
    }

    /// Adds those of another stream, or of another time.
    pub fn add(&mut self, other: &Self) {
        add_fields!(self, other; completed, repeated, missed, late, unsent, erroneous, cut);
    }

    pub(super) fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Completed => &mut self.completed,
            Outcome::Repeated => &mut self.repeated,
            Outcome::Late => &mut self.late,
            Outcome::Erroneous => &mut self.erroneous,
            Outcome::Dropped => &mut self.missed,
            Outcome::Cut => &mut self.cut,
        } += 1;
    }
}

/// One frame that has ended, for whoever wants the raw material.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameRow {
    /// Its stream.
    pub flow: FlowId,
    /// Its number in the stream, from 0.
    pub frame: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Datagrams of it that never came.
    pub missing: u32,
    /// Datagrams of it that came once more.
    pub repeats: u32,
    /// When the last of its datagrams that came was sent, by the sender's clock.
    pub sent: Tick,
    /// When that came.
    pub received: Tick,
    /// Of those that were whole in time: how much longer the last datagram travelled than that of the first such
    /// frame of the stream, and how much that differs from the frame of this kind before it.
    pub flight_ns: Option<(i64, u64)>,
    /// How long before it was to be played it was whole; below zero: after. Absent where it never was.
    pub margin_ns: Option<i64>,
}
