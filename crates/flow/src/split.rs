//! A flow cut in two for two threads, where one cannot hold a schedule and drain, or where both
//! directions are to block.

use crate::{Machine, Shared};

/// A machine whose sending and receiving half can run on threads of their own.
///
/// Both halves get their own [`Shared`]; what one must know of the other travels in the bytes (a stamp
/// in an echoed header) or comes back with [`join`](Self::join). Running both halves on one socket is
/// the same measurement as running the whole.
pub trait Split: Machine {
    /// The half that sends. Receives nothing.
    type Sender: Machine;
    /// The half that receives. Sends nothing.
    type Receiver: Machine;

    /// Cuts the flow in two, before it starts. Asked only of flows whose plan makes two independent halves.
    fn split(self) -> (Self::Sender, Self::Receiver);

    /// The flow again, after both halves are over.
    fn join(sender: Self::Sender, receiver: Self::Receiver) -> Self;

    /// The shared state for each half.
    fn split_shared(
        shared: Self::Shared,
    ) -> (<Self::Sender as Machine>::Shared, <Self::Receiver as Machine>::Shared);

    /// The shared state again.
    fn join_shared(
        sender: <Self::Sender as Machine>::Shared,
        receiver: <Self::Receiver as Machine>::Shared,
    ) -> Self::Shared;

    /// A report of a half, as one of the whole.
    fn sender_report(
        report: <<Self::Sender as Machine>::Shared as Shared>::Report,
    ) -> <Self::Shared as Shared>::Report;

    /// A report of a half, as one of the whole.
    fn receiver_report(
        report: <<Self::Receiver as Machine>::Shared as Shared>::Report,
    ) -> <Self::Shared as Shared>::Report;
}
