//! The contract that every engine keeps, each way of waiting, over TCP and UDP on loopback.
//!
//! No test sleeps: each waits for the thing itself, and for at most [`harness::PATIENCE`], so that a
//! hang is a failure.

mod batches;
mod costs;
mod faults;
mod flows;
mod following;
mod harness;
mod lanes;
mod prefaces;
mod punctuality;
mod refusals;
mod reluctance;
mod shared;
mod sight;
mod split;
mod stamps;
mod starvation;
mod streams;
mod succession;
mod timed;
mod toys;
mod waking;
mod weighing;
mod words;
