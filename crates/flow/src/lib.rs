//! The seam: what a flow wants, apart from how bytes move.
//!
//! A [`Machine`] says after each event what it [`Want`]s; told what was sent or received, it checks and
//! records. An engine owns buffers and sockets and carries it out; it never reads a payload. Time is a
//! `Tick` that somebody passes in. [`sim`] runs machines against each other in virtual time.
//!
//! Pure: no socket, no file, no clock, no thread, nothing printed.

#![forbid(unsafe_code)]

mod buffer;
mod machine;
mod session;
pub mod sim;
mod split;
mod want;

pub use buffer::{Batch, Batches, Gather, KeptSend, MAX_SLICES, datagrams_in_one};
pub use machine::{
    ClockNeed, Consumed, Event, FlowDatagrams, Machine, Phase, RecvMeta, Shared, Totals,
};
pub use session::{
    Credentials, Dialogue, Group, GroupId, Input, Output, Participant, Resumed, Transport,
};
pub use split::Split;
pub use want::{Close, RecvWant, SendWant, Want, Weigh};
