//! What numbered datagrams say as they arrive: which came and which came again, in which order, how many
//! were lost in a row, and how their transit times vary. Constant memory for each flow, whatever comes.
//!
//! No mode: it knows neither headers nor payloads, and what its counts mean is said by the mode that keeps
//! them.

mod bursts;
mod order;
mod seen;
mod transit;

pub use bursts::LossBursts;
pub use order::Order;
pub use seen::{Seen, Sight};
pub(crate) use transit::difference;
pub use transit::{InterarrivalJitter, LastTransit, VariationFigures, VariationTally};
