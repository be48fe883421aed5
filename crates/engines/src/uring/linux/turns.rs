//! What the flows of a ring have in common, and what follows from that: when operations are handed over, how long a receive goes on, and
//! which way goes first. Not here: how an operation is said to the kernel.

use pathscope_flow::{ClockNeed, Transport};

use crate::completion::Work;

/// What is begun when, and how long it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// The time of a send is part of what is measured: each is handed over as soon as it was begun.
    are_timed: bool,
    is_stream: bool,
}

impl Turns {
    /// Of machines that need such a clock, and have such sockets.
    pub fn of(clock: ClockNeed, transport: Transport) -> Self {
        Self {
            are_timed: clock == ClockNeed::EveryOperation,
            is_stream: transport == Transport::Stream,
        }
    }

    /// Whether a receive goes on: small messages of a stream come one by one, and each would have the kernel wait for its socket anew. Where
    /// much comes at once it would be taken from the kernel faster than it is looked at.
    pub fn receive_goes_on(self, work: &Work) -> bool {
        self.are_timed && self.is_stream && matches!(work, Work::Receive { stamp: None, .. })
    }

    /// Whether each send is handed over by a call of its own.
    pub fn hand_over_at_once(self) -> bool {
        self.are_timed
    }

    /// Whether what has come goes before what is sent.
    pub fn take_turns(self) -> bool {
        self.is_stream && !self.are_timed
    }
}
