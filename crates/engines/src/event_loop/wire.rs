//! The sockets of one flow, a lane each, and what is known about each: in few bytes, since there may be very many flows, of which nearly
//! all have one lane that carries a stream. What a flow wants of them is `slot`'s.

use std::ops::{Deref, DerefMut};

use pathscope_core::Tick;
use pathscope_os::Socket;

use super::batching::Batching;
use super::numbers::Numbers;
use crate::Lanes;

/// A lane's socket and what is known about it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the socket")]
#[derive(Debug)]
pub(crate) struct Wire {
    /// Nobody else has it. A lane that has not come yet has none, and is dead.
    pub socket: Option<Socket>,
    /// What tells its socket from those that the lane had before, once anything was in flight on it; 0: nothing was.
    pub launched_as: u32,
    /// Bytes of a stream received so far.
    pub position: u64,
    /// What was presented and not consumed.
    pub unread: Unread,
    /// What only datagrams have.
    pub aside: Option<Box<Aside>>,
    /// Bytes that were sent and not acknowledged when it was reset: nobody knows of them afterwards. A kernel counts them in 31 bits.
    pub lost_bytes: u32,
    /// Whether a receive may bring something, as far as is known.
    pub readable: bool,
    /// Whether a send may take something, as far as is known.
    pub writable: bool,
    /// Whether the kernel may keep the end of what was sent last until more is.
    pub keeps_end: bool,
    pub state: WireState,
    /// Nothing of what was presented was consumed: it needs more bytes, or another event.
    pub starved: bool,
    /// What of it the kernel has for a while.
    pub in_flight: InFlight,
    /// For an engine that registers sockets: what for.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub registered: u8,
}

/// What is known of a lane's datagrams.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// Where several may move at once: how far that goes.
    pub batching: Option<Batching>,
    /// Where what leaves is stamped: how it is numbered.
    pub numbers: Option<Numbers>,
    /// When the kernel got what was received last, where it says so.
    pub stamp: Option<Tick>,
    /// Those dropped for want of room, when last asked.
    pub drops: u64,
    /// The same of the sockets that this lane had before.
    drops_before: u64,
}

/// How far a lane is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WireState {
    /// It sends and receives.
    Open,
    /// The other end will send no more.
    Ended,
    /// It neither sends nor receives any more.
    Dead,
}

/// Whether the kernel has an operation of a lane that sends, one that receives, and one that waits for room to send.
#[expect(clippy::struct_excessive_bools, reason = "each is of an operation of its own")]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct InFlight {
    pub sends: bool,
    pub receives: bool,
    /// The one that receives brings more than once.
    pub goes_on: bool,
    pub awaits_room: bool,
}

impl Wire {
    pub fn new(socket: Socket) -> Self {
        Self { socket: Some(socket), state: WireState::Open, ..Self::place() }
    }

    /// A lane that has not come yet.
    pub fn place() -> Self {
        Self {
            socket: None,
            launched_as: 0,
            position: 0,
            unread: Unread::default(),
            aside: None,
            lost_bytes: 0,
            readable: true,
            writable: true,
            keeps_end: false,
            state: WireState::Dead,
            starved: false,
            in_flight: InFlight::default(),
            registered: 0,
        }
    }

    /// The same lane with another socket.
    pub fn replaced_by(&mut self, socket: Socket) {
        let drops_before = self.all_drops();
        let aside = Some(Box::new(Aside { drops_before, ..Aside::default() }));
        *self = Self { aside, ..Self::new(socket) };
    }

    /// What is known of its datagrams, to be added to.
    pub fn aside(&mut self) -> &mut Aside {
        self.aside.get_or_insert_default()
    }

    /// How far batches go on it.
    #[inline]
    pub fn batching(&self) -> Option<&Batching> {
        self.aside.as_ref()?.batching.as_ref()
    }

    /// How what leaves is numbered.
    pub fn numbers(&self) -> Option<&Numbers> {
        self.aside.as_ref()?.numbers.as_ref()
    }

    /// Asks the kernel what the socket dropped.
    pub fn count_drops(&mut self) {
        if let Some(dropped) = self.socket.as_ref().and_then(Socket::receive_drops) {
            let drops = &mut self.aside().drops;
            // The kernel counts in 32 bits.
            *drops += u64::from(dropped.wrapping_sub(*drops as u32));
        }
    }

    /// What all sockets dropped that this lane ever had.
    pub fn all_drops(&mut self) -> u64 {
        self.count_drops();
        self.aside.as_ref().map_or(0, |aside| aside.drops_before + aside.drops)
    }

    /// Whether the kernel may be asked for more.
    pub fn is_open_to_receive(&self) -> bool {
        self.state == WireState::Open
    }
}

impl Aside {
    /// Where it is known of a wire: how far batches go there.
    #[inline]
    pub fn batching_of(aside: &mut Option<Box<Self>>) -> Option<&mut Batching> {
        aside.as_mut()?.batching.as_mut()
    }

    /// The same of how what leaves is numbered.
    pub fn numbers_of(aside: &mut Option<Box<Self>>) -> Option<&mut Numbers> {
        aside.as_mut()?.numbers.as_mut()
    }
}

/// What a kernel says that waits in it.
pub(super) fn in_kernel(bytes: Option<u64>) -> u32 {
    bytes.map_or(0, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX))
}

/// What was presented on a lane and not consumed. There is mostly none, and then it takes no more than this.
#[derive(Debug, Default)]
#[expect(
    clippy::box_collection,
    reason = "a vector's own size for each of very many lanes would be more"
)]
pub(crate) struct Unread(Option<Box<Vec<u8>>>);

impl Deref for Unread {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |bytes| bytes)
    }
}

impl Unread {
    /// More comes behind it.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.0.get_or_insert_default().extend_from_slice(bytes);
        }
    }

    /// So many bytes were consumed.
    pub fn consume(&mut self, count: usize) {
        if let Some(bytes) = &mut self.0 {
            bytes.drain(..count.min(bytes.len()));
        }
    }

    /// Nothing is left of it. Its room is kept.
    #[inline]
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|bytes| bytes.clear());
    }
}

/// The lanes of a flow.
#[derive(Debug)]
pub(crate) enum Wires {
    One(Wire),
    /// Any other number.
    Several(Vec<Wire>),
}

impl Wires {
    const NONE: Self = Self::Several(Vec::new());

    /// One more.
    pub fn push(&mut self, wire: Wire) {
        *self = match std::mem::replace(self, Self::NONE) {
            Self::Several(wires) if wires.is_empty() => Self::One(wire),
            Self::One(first) => Self::Several(vec![first, wire]),
            Self::Several(mut wires) => {
                wires.push(wire);
                Self::Several(wires)
            }
        };
    }

    /// All of them; none is left.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::NONE)
    }

    /// The sockets of those that have one.
    pub fn into_sockets(self) -> Lanes {
        match self {
            Self::One(wire) => wire.socket.map_or_else(Lanes::default, Lanes::One),
            Self::Several(wires) => wires.into_iter().filter_map(|wire| wire.socket).collect(),
        }
    }
}

impl FromIterator<Wire> for Wires {
    fn from_iter<I: IntoIterator<Item = Wire>>(wires: I) -> Self {
        let mut all = Self::NONE;
        wires.into_iter().for_each(|wire| all.push(wire));
        all
    }
}

impl Deref for Wires {
    type Target = [Wire];

    #[inline]
    fn deref(&self) -> &[Wire] {
        match self {
            Self::One(wire) => std::slice::from_ref(wire),
            Self::Several(wires) => wires,
        }
    }
}

impl DerefMut for Wires {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Wire] {
        match self {
            Self::One(wire) => std::slice::from_mut(wire),
            Self::Several(wires) => wires,
        }
    }
}

impl<'a> IntoIterator for &'a mut Wires {
    type Item = &'a mut Wire;
    type IntoIter = std::slice::IterMut<'a, Wire>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_of_a_stream_takes_few_bytes_and_one_alone_no_more() {
        assert_eq!((size_of::<Wire>(), size_of::<Wires>()), (48, 48));
    }

    #[test]
    fn lanes_keep_their_order_however_many_there_are() {
        let wire = |position| Wire { position, ..Wire::place() };
        for count in 0..4 {
            let mut wires: Wires = (0..count).map(wire).collect();
            assert!(wires.iter().map(|wire| wire.position).eq(0..count));
            assert_eq!(matches!(wires, Wires::One(_)), count == 1);
            assert_eq!(wires.take().len() as u64, count);
            assert!(wires.is_empty());
            wires.push(wire(9));
            assert_eq!(wires[0].position, 9);
        }
    }

    #[test]
    fn what_is_left_unread_is_consumed_from_its_begin() {
        let mut unread = Unread::default();
        unread.consume(0);
        unread.extend(&[]);
        assert!(unread.0.is_none(), "there is nothing to keep");
        unread.extend(&[1, 2]);
        unread.extend(&[3]);
        unread.consume(1);
        assert_eq!(*unread, [2, 3]);
        unread.clear();
        assert!(unread.is_empty());
    }
}
