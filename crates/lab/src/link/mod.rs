//! What a link does to packets: its conditions, and a machine that applies them in virtual time.
//!
//! Pure: no socket, no clock. What moves real packets through it is `relay`.

mod chance;
mod change;
mod conditions;
mod impairments;
mod queueing;
mod words;

pub use chance::Chance;
pub use change::{Change, Order};
pub use conditions::{Conditions, ConditionsError};
pub use impairments::{Loss, Reordering};
pub use queueing::{Queue, Rate};
pub use words::WordError;
