//! What became of frames, counted.

use serde::{Deserialize, Serialize};

/// Frames and their bytes, with their Ethernet header.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// So many frames.
    pub frames: u64,
    /// Of so many bytes together.
    pub bytes: u64,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            frames: self.frames.saturating_add(other.frames),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            frames: self.frames.saturating_sub(other.frames),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

/// What became of all frames of a flow, or of a direction.
///
/// Every frame that was offered or made ends in one place:
/// offered + duplicated = delivered + dropped + lost + cut + overrun + in flight.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Came to the link's entrance.
    pub offered: Tally,
    /// Copies that the link made.
    pub duplicated: Tally,
    /// Arrived at the other end: the driver says that it handed them over.
    pub delivered: Tally,
    /// Found the queue full.
    pub dropped: Tally,
    /// Lost on the wire by chance.
    pub lost: Tally,
    /// Lost because the link was cut.
    pub cut: Tally,
    /// Lost because the lab could not carry them: more in flight than it holds, or an exit that
    /// took no more. A measurement in which this is not zero measured the lab.
    pub overrun: Tally,
    /// Had one bit of their payload turned over. Where they went is counted elsewhere.
    pub corrupted: Tally,
    /// Were to be corrupted and had no payload that could be.
    pub spared: Tally,
    /// Were passed by later ones of their flow.
    pub reordered: Tally,
}

impl Counts {
    /// Those of both.
    pub fn add(&self, other: &Self) -> Self {
        self.each(other, Tally::add)
    }

    /// What has been added since `earlier`, which are the same counts at an earlier time.
    pub fn since(&self, earlier: &Self) -> Self {
        self.each(earlier, Tally::less)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is on its way: waits, is being sent, or travels. Of a difference it says by how much
    /// that grew, and nothing where it shrank.
    pub fn in_flight(&self) -> Tally {
        let came = self.offered.add(self.duplicated);
        let gone = [self.dropped, self.lost, self.cut, self.overrun];
        came.less(gone.into_iter().fold(self.delivered, Tally::add))
    }

    pub(super) fn one(length: usize) -> Tally {
        Tally { frames: 1, bytes: length as u64 }
    }

    fn each(&self, other: &Self, combine: impl Fn(Tally, Tally) -> Tally) -> Self {
        Self {
            offered: combine(self.offered, other.offered),
            duplicated: combine(self.duplicated, other.duplicated),
            delivered: combine(self.delivered, other.delivered),
            dropped: combine(self.dropped, other.dropped),
            lost: combine(self.lost, other.lost),
            cut: combine(self.cut, other.cut),
            overrun: combine(self.overrun, other.overrun),
            corrupted: combine(self.corrupted, other.corrupted),
            spared: combine(self.spared, other.spared),
            reordered: combine(self.reordered, other.reordered),
        }
    }
}

/// Adds one frame to one of the counts.
pub(in crate::link) type Place = fn(&mut Counts) -> &mut Tally;

impl Counts {
    pub(super) fn count(&mut self, place: Place, length: usize) {
        let tally = place(self);
        *tally = tally.add(Self::one(length));
    }
}
