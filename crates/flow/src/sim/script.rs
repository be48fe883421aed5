//! What a test does to the world while machines run: actions at a time or before an operation, fates of
//! datagrams, edits of streams.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};

use super::chance::Dice;
use crate::Event;

/// Something done to the world.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Every lane of a flow breaks: both ends are told at once, what was on its way is lost.
    Reset {
        /// Which flow.
        flow: FlowId,
        /// The number that both ends are told.
        errno: i32,
    },
    /// The process at one end dies: its machine is asked no more, its kernel closes the streams, and
    /// answers what still comes with a reset.
    Kill {
        /// Which flow.
        flow: FlowId,
        /// Whose process.
        role: Role,
    },
    /// Nothing that one end sends from now on arrives, and nobody is told.
    Cut {
        /// Which flow.
        flow: FlowId,
        /// Who sends in vain.
        from: Role,
    },
    /// The links that one end sends over carry nothing new for a while; nothing is lost.
    Stall {
        /// Which flow.
        flow: FlowId,
        /// Who sends.
        from: Role,
        /// How long.
        for_ns: u64,
    },
    /// No machine of one end runs for a while; its kernel goes on receiving and sending.
    Pause {
        /// Which end.
        role: Role,
        /// How long.
        for_ns: u64,
    },
    /// The user or the time limit ends the run: every flow of one end is told `Event::Stop`.
    Stop {
        /// Which end.
        role: Role,
    },
    /// One machine is told of something; the lanes themselves do not change.
    Tell {
        /// Which flow.
        flow: FlowId,
        /// Which end.
        role: Role,
        /// What it is told.
        event: Event,
    },
}

/// Bytes that enter a link: one datagram, or a piece of a stream.
#[derive(Debug)]
pub struct Passing<'bytes> {
    /// Whose they are.
    pub flow: FlowId,
    /// On which lane.
    pub lane: Lane,
    /// Who sent them.
    pub from: Role,
    /// How many bytes of the stream, or datagrams of the lane, entered before, as they were sent.
    pub position: u64,
    /// Now, since the simulation began.
    pub at: Tick,
    /// The bytes; may be changed, lengthened and shortened.
    pub bytes: &'bytes mut Vec<u8>,
}

/// What becomes of a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It arrives.
    Deliver,
    /// It is lost.
    Lose,
    /// It arrives later than its link says; those behind it overtake it.
    Delay {
        /// How much later.
        by_ns: u64,
    },
    /// It arrives, and a copy of it arrives later.
    Duplicate {
        /// How much later.
        after_ns: u64,
    },
}

/// Faults at random, in datagrams of a million. What adds up to more than a million leaves the later
/// ones less.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Weather {
    /// Decides the sequence.
    pub seed: u64,
    /// Lost.
    pub lost_ppm: u64,
    /// Arriving twice, the copy `delay_ns` later.
    pub duplicated_ppm: u64,
    /// Arriving `delay_ns` late.
    pub delayed_ppm: u64,
    /// Arriving with one bit flipped.
    pub flipped_ppm: u64,
    /// How late.
    pub delay_ns: u64,
}

impl Weather {
    /// The decisions, for [`Sim::datagrams`](super::Sim::datagrams).
    pub fn fates(self) -> impl FnMut(&mut Passing<'_>) -> Fate + 'static {
        let mut dice = Dice::new(self.seed);
        move |passing| self.fate(&mut dice, passing)
    }

    fn fate(self, dice: &mut Dice, passing: &mut Passing<'_>) -> Fate {
        let mut roll = dice.below(1_000_000);
        let mut falls_on = |share: u64| {
            let hit = roll < share;
            roll = if hit { u64::MAX } else { roll - share };
            hit
        };
        if falls_on(self.lost_ppm) {
            Fate::Lose
        } else if falls_on(self.duplicated_ppm) {
            Fate::Duplicate { after_ns: self.delay_ns }
        } else if falls_on(self.delayed_ppm) {
            Fate::Delay { by_ns: self.delay_ns }
        } else {
            if falls_on(self.flipped_ppm) {
                flip_a_bit(dice, passing.bytes);
            }
            Fate::Deliver
        }
    }
}

fn flip_a_bit(dice: &mut Dice, bytes: &mut [u8]) {
    let bit = dice.below(bytes.len() as u64 * 8);
    if let Some(byte) = bytes.get_mut((bit / 8) as usize) {
        *byte ^= 1 << (bit % 8);
    }
}

/// A change to a stream on its way. Offsets count the bytes as they were sent, whatever pieces they
/// travel in. Edits of one stream must not overlap.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Edit {
    /// The bits of `mask` are flipped in one byte.
    Xor {
        /// Which byte.
        offset: u64,
        /// Which bits.
        mask: u8,
    },
    /// These bytes arrive instead of as many others.
    Replace {
        /// The first that is replaced.
        offset: u64,
        /// What arrives.
        bytes: Vec<u8>,
    },
    /// These bytes arrive before the one at `offset`, which must follow.
    Insert {
        /// Before which.
        offset: u64,
        /// What arrives.
        bytes: Vec<u8>,
    },
    /// These bytes never arrive; those behind them close up.
    Delete {
        /// The first.
        offset: u64,
        /// How many.
        len: u64,
    },
}

impl Edit {
    pub(super) fn offset(&self) -> u64 {
        match self {
            Self::Xor { offset, .. }
            | Self::Replace { offset, .. }
            | Self::Insert { offset, .. }
            | Self::Delete { offset, .. } => *offset,
        }
    }

    /// Changes `piece`, whose first byte was sent at `start`. Of several edits the one furthest back in
    /// the stream comes first, so that the offsets of the others still hold.
    pub(super) fn apply(&self, start: u64, piece: &mut Vec<u8>) {
        let end = start + piece.len() as u64;
        let local = |offset: u64| (offset.clamp(start, end) - start) as usize;
        let range = |offset: u64, len: u64| local(offset)..local(offset.saturating_add(len));
        match self {
            Self::Xor { offset, mask } => {
                piece[range(*offset, 1)].iter_mut().for_each(|byte| *byte ^= mask);
            }
            Self::Replace { offset, bytes } => {
                let range = range(*offset, bytes.len() as u64);
                let skipped = start.saturating_sub(*offset) as usize;
                piece[range].iter_mut().zip(bytes.iter().skip(skipped)).for_each(|(old, new)| {
                    *old = *new;
                });
            }
            Self::Insert { offset, bytes } if (start..end).contains(offset) => {
                let place = local(*offset);
                piece.splice(place..place, bytes.iter().copied());
            }
            Self::Insert { .. } => {}
            Self::Delete { offset, len } => drop(piece.drain(range(*offset, *len))),
        }
    }
}
