//! What a link does to packets: its conditions, and a machine that applies them in virtual time.
//!
//! Pure: no socket, no clock. What moves real packets through it is `relay`.

mod chance;
mod change;
mod conditions;
mod direction;
mod error;
mod frame;
mod impairments;
mod ledger;
mod packet;
mod queueing;
mod random;
mod words;

pub use chance::Chance;
pub use change::{Change, Order};
pub use conditions::{
    Conditions, MOST_DELAY, MOST_DISTANCE, MOST_QUEUE_BYTES, MOST_QUEUE_FRAMES, MOST_RATE,
};
pub use direction::{Delivery, Direction, MOST_BYTES, MOST_FRAMES};
pub use error::ConditionsError;
pub use frame::Frame;
pub use impairments::{Loss, Reordering};
pub use ledger::{
    Counts, DamagedFrame, FlowCounts, MOST_DAMAGES, MOST_FLOWS, QueueCounts, Tally, Truth,
};
pub use packet::{Damage, Flow, Ports};
pub use queueing::{Queue, Rate};
pub use random::{Seed, Way};
pub use words::WordError;
