//! The conditions of one direction of a link, as data.

use pathscope_core::quantity::{BitRate, Period};
use serde::{Deserialize, Serialize};

/// A probability, exact in parts of a thousand million: 1 % is 10,000,000.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Chance(pub u32);

/// What one direction of a link does to each frame, in this order: queue, rate, then on the wire loss,
/// corruption, duplication, delay with its jitter, and reordering.
///
/// The default does nothing: no limit, no delay, no damage.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Conditions {
    /// Bits a second, of frames with their Ethernet header and without preamble, check sequence and
    /// gap, as tc counts; none is as fast as the relay goes.
    pub rate: Option<BitRate>,
    /// From the end of a frame's transmission to its arrival.
    pub delay: Period,
    /// Each frame's delay differs from `delay` by up to this much either way, evenly distributed.
    /// Frames keep their order: one never arrives before the one ahead of it.
    pub jitter: Period,
    /// What may wait for its transmission, besides the frame being sent.
    pub queue: Queue,
    /// Frames that are sent and never arrive.
    pub loss: Loss,
    /// Frames that arrive twice, the second right behind the first.
    pub duplication: Chance,
    /// Frames of which one bit of the payload is turned over and the checksums made to fit.
    pub corruption: Chance,
    /// Frames that arrive later than those sent after them.
    pub reordering: Option<Reordering>,
}

/// The bound of a queue that drops at its tail.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// So many frames.
    Packets(u32),
    /// So many bytes of frames with their Ethernet header.
    Bytes(u64),
}

impl Default for Queue {
    /// What Linux gives an interface and what netem takes by itself.
    fn default() -> Self {
        Self::Packets(1000)
    }
}

/// How frames are lost on the wire.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// None is.
    #[default]
    None,
    /// Each by itself.
    Random(Chance),
    /// In bursts: two states, each with its own loss, after Gilbert (1960) and Elliott (1963).
    GilbertElliott {
        /// From good to bad, asked for each frame.
        to_bad: Chance,
        /// From bad to good, asked for each frame.
        to_good: Chance,
        /// Loss while good.
        loss_good: Chance,
        /// Loss while bad.
        loss_bad: Chance,
    },
}

/// Frames held back until others have passed them.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Reordering {
    /// Which.
    pub chance: Chance,
    /// How many later frames pass each (the extent of RFC 4737, section 4.2).
    pub distance: u32,
    /// A frame waits for those no longer than this, so that the last ones of a stream arrive.
    pub patience: Period,
}
