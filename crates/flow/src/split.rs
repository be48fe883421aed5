//! A flow cut in two for two threads, where one cannot hold a schedule and drain, or where both
//! directions are to block.

use crate::Machine;

/// A machine whose sending and receiving half can run on threads of their own.
///
/// Both halves get their own of what the flows of a worker have in common; what one must know of the other travels in the bytes (a stamp
/// in an echoed header) or comes back with [`join`](Self::join). Running both halves on one socket is
/// the same measurement as running the whole.
pub trait Split: Machine {
    /// The half that sends. Receives nothing.
    type Sender: Machine<Shared = Self::Shared>;
    /// The half that receives. Sends nothing.
    type Receiver: Machine<Shared = Self::Shared>;

    /// Cuts the flow in two, before it starts. Asked only of flows whose plan makes two independent halves.
    fn split(self) -> (Self::Sender, Self::Receiver);

    /// The flow again, after both halves are over.
    fn join(sender: Self::Sender, receiver: Self::Receiver) -> Self;

    /// The shared state for the half that sends and for the one that receives.
    fn split_shared(shared: Self::Shared) -> (Self::Shared, Self::Shared);

    /// The shared state again.
    fn join_shared(sender: Self::Shared, receiver: Self::Shared) -> Self::Shared;
}
