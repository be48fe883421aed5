//! What a link does to packets: its conditions, and a machine that applies them in virtual time.
//!
//! Pure: no socket, no clock. What moves real packets through it is `relay`.

mod conditions;

pub use conditions::{Chance, Conditions, Loss, Queue, Reordering};
