//! What happens to each frame on the wire, drawn from one generator for each impairment.

use pathscope_core::quantity::Period;

use crate::link::random::{Generator, Kind, Seed};
use crate::link::{Chance, Loss};

/// The generators of one direction, and the state of its bursts.
#[derive(Debug)]
pub struct Fate {
    loss: Generator,
    is_bad: bool,
    corruption: Generator,
    duplication: Generator,
    jitter: Generator,
    reordering: Generator,
}

impl Fate {
    pub fn new(seed: Seed) -> Self {
        let generator = |kind| Generator::new(seed, kind);
        Self {
            loss: generator(Kind::Loss),
            is_bad: false,
            corruption: generator(Kind::Corruption),
            duplication: generator(Kind::Duplication),
            jitter: generator(Kind::Jitter),
            reordering: generator(Kind::Reordering),
        }
    }

    /// Whether the next frame is lost.
    pub fn loses(&mut self, loss: Loss) -> bool {
        let Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } = loss else {
            // Bursts that are switched on later begin good again.
            self.is_bad = false;
            return match loss {
                Loss::Random(chance) => self.loss.happens(chance),
                _ => false,
            };
        };
        let (chance, change) = if self.is_bad { (loss_bad, to_good) } else { (loss_good, to_bad) };
        let is_lost = self.loss.happens(chance);
        self.is_bad ^= self.loss.happens(change);
        is_lost
    }

    /// Whether the next frame is damaged, and what then draws the place.
    pub fn corrupts(&mut self, chance: Chance) -> Option<&mut Generator> {
        self.corruption.happens(chance).then_some(&mut self.corruption)
    }

    /// Whether the next frame arrives twice.
    pub fn duplicates(&mut self, chance: Chance) -> bool {
        self.duplication.happens(chance)
    }

    /// How long the next frame is on its way, in nanoseconds: any whole number within the jitter is
    /// as likely as any other.
    pub fn delay_ns(&mut self, delay: Period, jitter: Period) -> u64 {
        if jitter.0 == 0 {
            return delay.0;
        }
        let more = self.jitter.below(jitter.0.saturating_mul(2).saturating_add(1));
        delay.0.saturating_sub(jitter.0).saturating_add(more)
    }

    /// Whether the next frame is held back.
    pub fn holds_back(&mut self, chance: Chance) -> bool {
        self.reordering.happens(chance)
    }
}
