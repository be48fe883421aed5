//! The axes, and which of their values go together.

use std::fmt;
use std::time::Duration;

use pathscope_calibration::covering;
use serde::{Deserialize, Serialize};

/// What kernels come with; each finds the capacity of a path in its own way.
const CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];
/// Of the link, in Mbit/s.
const RATES: [u32; 3] = [20, 60, 200];
/// Of the link, one way, in milliseconds.
const DELAYS: [u32; 2] = [2, 20];
const CONNECTIONS: [u32; 2] = [1, 8];
/// One way to a satellite and back to the ground, in milliseconds: connections need seconds until they are as fast as they get.
const FAR_MS: u32 = 290;
const FAR_RATE: u32 = 20;

/// Where a cause is brought about: a link, what sends over it, and in which direction.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Cell {
    pub control: String,
    pub megabits: u32,
    /// One way.
    pub delay_ms: u32,
    pub connections: u32,
    /// Whether the server sends.
    pub pulls: bool,
}

impl Cell {
    /// The cells of a cause: so few that every two values of axes meet, or all. `start`: which direction is the first.
    pub fn all(is_full: bool, start: usize) -> Vec<Self> {
        let sizes = [CONTROLS.len(), RATES.len(), DELAYS.len(), CONNECTIONS.len()];
        let choices = if is_full { every(&sizes) } else { covering::cover(&sizes, &|_| true) };
        let cell = |(index, choice): (usize, &Vec<usize>)| Self {
            control: CONTROLS[choice[0]].to_owned(),
            megabits: RATES[choice[1]],
            delay_ms: DELAYS[choice[2]],
            connections: CONNECTIONS[choice[3]],
            pulls: (start + index) % 2 == 1,
        };
        choices.iter().enumerate().map(cell).collect()
    }

    /// The cells far away of a cause: one for each congestion control. `start`: which direction and how many connections are first.
    pub fn far(start: usize) -> Vec<Self> {
        let cell = |(index, control): (usize, &str)| Self {
            control: control.to_owned(),
            megabits: FAR_RATE,
            delay_ms: FAR_MS,
            connections: CONNECTIONS[(start / 2 + index) % 2],
            pulls: (start + index) % 2 == 1,
        };
        CONTROLS.into_iter().enumerate().map(cell).collect()
    }

    /// How long a run sends, at the least: near by a second shows it, and far away a second is two round trips.
    pub const fn lasts(&self) -> Duration {
        Duration::from_millis(if self.delay_ms < FAR_MS { 2_500 } else { 20_000 })
    }

    /// What is on its way in a round trip when the link is full.
    pub fn bytes_on_the_way(&self) -> u64 {
        u64::from(self.megabits) * 1_000_000 / 8 * 2 * u64::from(self.delay_ms) / 1_000
    }

    /// A queue that holds what a round trip brings, and is none that loses by itself.
    pub fn queue(&self) -> String {
        format!("{}p", (self.bytes_on_the_way() / 1_500).max(100))
    }

    /// The end that sends: `client` or `server`.
    pub fn sender(&self) -> End {
        if self.pulls { End::Server } else { End::Client }
    }

    pub fn receiver(&self) -> End {
        if self.pulls { End::Client } else { End::Server }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { control, megabits, delay_ms, connections, .. } = self;
        let way = if self.pulls { "pull" } else { "push" };
        write!(out, "{control} {megabits} Mbit/s {delay_ms} ms × {connections} {way}")
    }
}

/// An end of a test, and the node that it runs on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    Client,
    Server,
}

impl End {
    pub const fn node(self) -> &'static str {
        match self {
            Self::Client => "a",
            Self::Server => "b",
        }
    }
}

/// Every choice there is.
fn every(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![Vec::new()], |choices, &size| {
        let longer = |choice: Vec<usize>| {
            (0..size).map(move |value| {
                let mut choice = choice.clone();
                choice.push(value);
                choice
            })
        };
        choices.into_iter().flat_map(longer).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cells_are_all_and_few_meet_every_two_values() {
        assert_eq!(Cell::all(true, 0).len(), 36);
        let few = Cell::all(false, 0);
        assert!((9..=12).contains(&few.len()), "{few:?}");
        for control in CONTROLS {
            for megabits in RATES {
                let meets = |cell: &Cell| cell.control == control && cell.megabits == megabits;
                assert!(few.iter().any(meets), "{control} {megabits}");
            }
        }
        assert!(few.iter().any(|cell| cell.pulls) && few.iter().any(|cell| !cell.pulls));
        assert_ne!(Cell::all(false, 0)[0].pulls, Cell::all(false, 1)[0].pulls);
        let far: Vec<Cell> = (0..4).flat_map(Cell::far).collect();
        for (index, cell) in far.iter().enumerate() {
            assert!(!far[..index].contains(cell), "{cell} twice");
            assert!(cell.lasts() > 30 * Duration::from_millis(2 * u64::from(cell.delay_ms)));
        }
    }
}
