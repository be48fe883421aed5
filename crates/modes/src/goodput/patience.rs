//! For how long nothing may move on a connection of which nobody says elsewhere how it stands. Not here: what is said then.

use pathscope_core::Tick;

/// Data that are awaited, or that the other end does not take, have so long.
const DATA_NS: u64 = 30_000_000_000;
/// What is said behind them has to pass all that waits on the way: so long.
const WORD_NS: u64 = 60_000_000_000;

/// When something last moved. Looked at rarely: a timer that is set anew with each byte would cost more than the byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    moved_at: Tick,
    look_at: Tick,
}

impl Default for Patience {
    fn default() -> Self {
        Self { moved_at: Tick::ZERO, look_at: Tick::NEVER }
    }
}

impl Patience {
    /// Something has moved, or will not before then by this end's own choice.
    #[inline]
    pub fn moved(&mut self, at: Tick) {
        self.moved_at = self.moved_at.max(at);
    }

    /// When to look again, while data or, at the end, words are awaited; or for how many seconds nothing has moved, where that is
    /// too long.
    pub fn look(&mut self, is_of_words: bool, now: Tick) -> Result<Tick, u64> {
        let most_ns = if is_of_words { WORD_NS } else { DATA_NS };
        if self.look_at == Tick::NEVER {
            self.moved(now);
            self.look_at = now.plus_nanos(most_ns);
        }
        if now >= self.look_at {
            let until = self.moved_at.plus_nanos(most_ns);
            if now >= until {
                return Err(most_ns / 1_000_000_000);
            }
            self.look_at = until;
        }
        Ok(self.look_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_too_long_while_something_moves_and_words_have_longer() {
        let at = |seconds: u64| Tick::from_nanos(seconds * 1_000_000_000);
        let mut patience = Patience::default();
        assert_eq!(patience.look(false, at(5)), Ok(at(35)));
        patience.moved(at(20));
        assert_eq!(patience.look(false, at(34)), Ok(at(35)), "the timer stays as it is");
        assert_eq!(patience.look(false, at(35)), Ok(at(50)));
        assert_eq!(patience.look(true, at(50)), Ok(at(80)));
        assert_eq!(patience.look(true, at(80)), Err(60));
        let mut pausing = Patience::default();
        assert_eq!(pausing.look(false, at(0)), Ok(at(30)));
        pausing.moved(at(100));
        assert_eq!(pausing.look(false, at(30)), Ok(at(130)));
    }
}
