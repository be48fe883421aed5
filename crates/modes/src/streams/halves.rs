//! What the halves of a stream of datagrams are asked: the one that sends, and the one that receives. Which there are, and how they go
//! together, is the stream's affair (`flow`).

use pathscope_core::Tick;
use pathscope_core::record::FlowError;
use pathscope_flow::{Batch, FlowDatagrams, SendWant, Shared};

use super::consent::Consent;

/// What the streams of one worker have in common.
pub trait Streams: Shared {
    /// Whether a stream ends with the session of its ends, and not before it is known that the other end was there to its end.
    const NEEDS_SESSION: bool;

    /// A stream is under way, or no longer.
    fn under_way(&mut self, _begins: bool) {}

    /// What is said where the system takes or gives nothing any more.
    fn broken(&self, errno: i32) -> String;
}

/// The half of a stream that sends.
pub trait Sends: Send {
    /// What such halves have in common with those that receive.
    type Shared: Streams;

    /// The stream begins.
    fn start(&mut self, shared: &mut Self::Shared, now: Tick);

    /// Nothing new is sent; what was begun is finished.
    fn stop(&mut self, shared: &mut Self::Shared, now: Tick);

    /// What to send now, and when to look again.
    fn offer(&mut self, shared: &mut Self::Shared, now: Tick) -> (SendWant, Tick);

    /// Writes the next datagrams.
    fn fill<'data>(&mut self, shared: &'data mut Self::Shared, batch: &mut Batch<'data>, now: Tick);

    /// The kernel took so many of those that were filled.
    fn took(&mut self, shared: &mut Self::Shared, count: u64, at: Tick);

    /// Word came that a datagram was refused, here or on the way. Whether none has been taken for too long.
    fn refused(&mut self, shared: &mut Self::Shared, now: Tick) -> bool;

    /// Whether it will send no more.
    fn is_done(&self) -> bool;
}

/// The half of a stream that receives.
pub trait Receives: Send {
    /// What such halves have in common with those that send.
    type Shared: Streams;

    /// The stream begins.
    fn start(&mut self, shared: &mut Self::Shared, now: Tick);

    /// The run is ended: what is on its way may still come.
    fn stop(&mut self, now: Tick);

    /// The sender has sent so many datagrams and will send no more.
    fn told(&mut self, shared: &mut Self::Shared, total: u64, now: Tick);

    /// The sender is gone. That it sent anything after the last that came is not known.
    fn lost(&mut self, _shared: &mut Self::Shared, _now: Tick) {}

    /// Does what is due by now, and says when to be woken. While the sender is away, no word of it can come. Fails where it has
    /// broken its word.
    fn wake(&mut self, shared: &mut Self::Shared, away: bool, now: Tick)
    -> Result<Tick, FlowError>;

    /// These datagrams came together. Those that are none of the stream may be consents, and the others are as good as one.
    fn take<'data>(
        &mut self,
        shared: &mut Self::Shared,
        datagrams: impl Iterator<Item = &'data [u8]>,
        consent: &mut Consent,
        now: Tick,
    );

    /// So many datagrams and bytes of payload came before the flow had its socket, or to another, and were counted there.
    fn came_before(&mut self, _shared: &mut Self::Shared, _came: (u64, u64), _now: Tick) {}

    /// Whether it has to be known what waits in the socket.
    fn weighs(&self) -> bool {
        false
    }

    /// So many bytes wait there.
    fn weighed(&mut self, _held: u64) {}

    /// Whether the sender may have more to send, for all that is known here.
    fn awaits(&self) -> bool;

    /// Whether all that it is to receive has come, though more may come.
    fn has_enough(&self) -> bool {
        false
    }

    /// Whether nothing is awaited any more.
    fn is_done(&self) -> bool;

    /// Datagrams that came, each counted once.
    fn received(&self) -> u64;

    /// What became of those that came so far, where that is counted.
    fn so_far(&self) -> Option<FlowDatagrams> {
        None
    }
}
