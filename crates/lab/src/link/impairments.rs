//! How frames are lost and how they change places, as data: `1%`, `burst:1%,30%`, `1%x3`.

use std::fmt;
use std::str::FromStr;

use pathscope_core::quantity::Period;

use super::Chance;
use super::words::{self, WordError};

/// How frames are lost on the wire.
///
/// In words: `none`; `1%` for each frame by itself; `burst:1%,30%` for bursts, with the chance that
/// one begins and the chance that it ends; `burst:1%,30%,0%,100%` with the loss between bursts and
/// within them. `burst(1%,30%)` is read as well; a shell would want that in quotes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Loss {
    /// None is.
    #[default]
    None,
    /// Each by itself.
    Random(Chance),
    /// In bursts: two states, each with its own loss, after Gilbert (1960) and Elliott (1963).
    ///
    /// A link begins good. A frame is lost or not by the state that it finds, and then the state
    /// changes or not for the next. So a share of `to_bad / (to_bad + to_good)` of all frames find
    /// it bad, and a bad spell is `1 / to_good` frames long on average.
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

impl Loss {
    /// All chances it is made of.
    pub(super) fn chances(self) -> [Chance; 4] {
        match self {
            Self::None => [Chance::NEVER; 4],
            Self::Random(chance) => [chance; 4],
            Self::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                [to_bad, to_good, loss_good, loss_bad]
            }
        }
    }

    /// Whether the bad state, if there is one, can be left.
    pub(super) fn bursts_end(self) -> bool {
        !matches!(self, Self::GilbertElliott { to_good: Chance::NEVER, .. })
    }
}

impl FromStr for Loss {
    type Err = WordError;

    fn from_str(typed: &str) -> Result<Self, WordError> {
        if typed == "none" {
            return Ok(Self::None);
        }
        let in_brackets = || typed.strip_prefix("burst(")?.strip_suffix(')');
        if let Some(chances) = typed.strip_prefix("burst:").or_else(in_brackets) {
            return burst(typed, chances);
        }
        Ok(match typed.parse()? {
            Chance::NEVER => Self::None,
            chance => Self::Random(chance),
        })
    }
}

fn burst(typed: &str, chances: &str) -> Result<Loss, WordError> {
    let chances: Result<Vec<Chance>, WordError> = chances.split(',').map(str::parse).collect();
    let (to_bad, to_good, loss_good, loss_bad) = match *chances?.as_slice() {
        [to_bad, to_good] => (to_bad, to_good, Chance::NEVER, Chance::ALWAYS),
        [to_bad, to_good, loss_good, loss_bad] => (to_bad, to_good, loss_good, loss_bad),
        _ => {
            let example = "burst:1%,30% or burst:1%,30%,0%,100%";
            return Err(WordError::unknown(typed, "two or four chances of bursts", example));
        }
    };
    Ok(Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad })
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => formatter.write_str("none"),
            Self::Random(chance) => chance.fmt(formatter),
            Self::GilbertElliott {
                to_bad,
                to_good,
                loss_good: Chance::NEVER,
                loss_bad: Chance::ALWAYS,
            } => write!(formatter, "burst:{to_bad},{to_good}"),
            Self::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                write!(formatter, "burst:{to_bad},{to_good},{loss_good},{loss_bad}")
            }
        }
    }
}

/// Frames held back until others have passed them. In words `none`, `1%x3`, or `1%x3,50ms` with its
/// patience.
///
/// "Others" are frames of the same direction, of whatever flow, that are not held back themselves;
/// copies do not count. Those held back keep their order among each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reordering {
    /// Which.
    pub chance: Chance,
    /// How many later frames pass each (the extent of RFC 4737, section 4.2).
    pub distance: u32,
    /// A frame waits for those no longer than this, from when it would have arrived, so that the
    /// last ones of a stream arrive.
    pub patience: Period,
}

/// Below the 200 ms of Linux' shortest retransmission timeout, so that a frame that nobody passes
/// is late and not taken for lost.
const PATIENCE: Period = Period::from_millis(100);

impl Default for Reordering {
    /// None.
    fn default() -> Self {
        Self { chance: Chance::NEVER, distance: 1, patience: PATIENCE }
    }
}

impl FromStr for Reordering {
    type Err = WordError;

    fn from_str(typed: &str) -> Result<Self, WordError> {
        if typed == "none" {
            return Ok(Self::default());
        }
        let unknown = || WordError::unknown(typed, "a chance and a distance", "1%x3 or 1%x3,100ms");
        let (places, patience) = match typed.split_once(',') {
            Some((places, patience)) => (places, patience.parse()?),
            None => (typed, PATIENCE),
        };
        let (chance, distance) = places.split_once('x').ok_or_else(unknown)?;
        let distance = distance.parse().map_err(|_| unknown())?;
        Ok(Self { chance: chance.parse()?, distance, patience })
    }
}

impl fmt::Display for Reordering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return formatter.write_str("none");
        }
        write!(formatter, "{}x{}", self.chance, self.distance)?;
        if self.patience == PATIENCE {
            return Ok(());
        }
        write!(formatter, ",{}", words::period(self.patience))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_read_and_written() {
        let burst = |loss_good, loss_bad| Loss::GilbertElliott {
            to_bad: Chance::percent(1),
            to_good: Chance::percent(30),
            loss_good,
            loss_bad,
        };
        for (typed, loss, shown) in [
            ("none", Loss::None, "none"),
            ("0%", Loss::None, "none"),
            ("1%", Loss::Random(Chance::percent(1)), "1%"),
            ("burst(1%,30%,0%,100%)", burst(Chance::NEVER, Chance::ALWAYS), "burst:1%,30%"),
            ("burst:1%,30%", burst(Chance::NEVER, Chance::ALWAYS), "burst:1%,30%"),
            (
                "burst:1%,0.3,1%,50%",
                burst(Chance::percent(1), Chance::percent(50)),
                "burst:1%,30%,1%,50%",
            ),
        ] {
            assert_eq!(typed.parse(), Ok(loss), "{typed}");
            assert_eq!(loss.to_string(), shown);
            assert_eq!(shown.parse(), Ok(loss));
        }
    }

    #[test]
    fn reorderings_are_read_and_written() {
        let reordering =
            |patience| Reordering { chance: Chance::percent(1), distance: 3, patience };
        for (typed, value, shown) in [
            ("none", Reordering::default(), "none"),
            ("1%x3", reordering(PATIENCE), "1%x3"),
            ("1%x3,50ms", reordering(Period::from_millis(50)), "1%x3,50ms"),
        ] {
            assert_eq!(typed.parse(), Ok(value), "{typed}");
            assert_eq!(value.to_string(), shown);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_explained() {
        for (typed, words) in [
            ("some", "'some' is not a chance"),
            ("burst:1%", "two or four chances of bursts; write for example burst:1%,30%"),
            ("burst:1%,2%,3%", "two or four"),
            ("burst:1%,x", "'x' is not a chance"),
            ("burst(1%,2%", "is not a chance"),
        ] {
            let error = typed.parse::<Loss>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
        for (typed, words) in [
            ("1%", "is not a chance and a distance; write for example 1%x3"),
            ("1%x", "is not a chance and a distance"),
            ("1x3", "'1' is not a chance"),
            ("1%x3,5", "has no unit"),
        ] {
            let error = typed.parse::<Reordering>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }
}
