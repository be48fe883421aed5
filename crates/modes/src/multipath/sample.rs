//! The stamps of each datagram on each path, for whoever wants the raw material.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use crate::samples::SampleBuffer;

/// What became of one number on one path. [`Tick::NEVER`]: that did not happen. Those of one number follow
/// one another, one for each path of the plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MultipathSample {
    /// The number, from 0.
    pub number: u64,
    /// The path's place.
    pub lane: Lane,
    /// When it left, by the client's clock.
    pub sent: Tick,
    /// When the server sent it back, by the server's clock.
    pub echoed: Tick,
    /// When it came back, by the client's clock.
    pub received: Tick,
}

/// Samples on their way to a sink.
pub type MultipathSamples = SampleBuffer<MultipathSample>;
