//! What is said and heard on a connection before it is its flow's, for flows that replace others: what this end says goes
//! with the first bytes of the flow, and what answers it is no flow's. Not here: when, which is `event_loop`'s, and the words
//! themselves, which are those of whoever made the connection.

use pathscope_core::Tick;
use pathscope_os::Socket;

/// At one end of one connection. Dynamic calls: they are made a few times a connection.
pub trait Preface: Send {
    /// What this end says first.
    fn says(&self) -> &[u8];

    /// So many bytes of what the other end says were seen before, and are still to be received: they are no flow's. Only where no answer is
    /// awaited.
    fn unread_bytes(&self) -> usize {
        0
    }

    /// So many bytes of the answer have not come yet; none from the beginning, where none is awaited.
    ///
    /// While any are, the flow is told nothing, and what went with the preface counts as sent only when they have come:
    /// of a connection that does not become its own a flow knows nothing.
    fn missing_bytes(&self) -> usize;

    /// By when they have to be there.
    fn until(&self) -> Tick;

    /// Something of it could be sent: the connection is there, or its SYN has left with that (TCP Fast Open).
    fn connected(&mut self, at: Tick);

    /// So many bytes of the answer as were missing, or fewer, have come. Whether it may be the flow's still.
    fn heard(&mut self, bytes: &[u8]) -> bool;

    /// The answer is whole: the connection is the flow's from now on.
    fn answered(&mut self, _socket: &Socket) {}

    /// The connection is not the flow's, and is closed.
    fn turned_away(self: Box<Self>, why: Unheard, at: Tick);
}

/// Why a connection did not become its flow's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unheard {
    /// What came is not what had to come.
    Answered,
    /// The other end closed before its answer was whole.
    Closed,
    /// The system's error number.
    Failed(i32),
    /// The time was up.
    Late,
}
