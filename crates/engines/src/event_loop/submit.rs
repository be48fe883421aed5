//! Operations that the kernel has for a while, each with a buffer of its own. The socket is its flow's: whoever begins an operation
//! sees it once.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Batch, ClockNeed, KeptSend, Machine, Transport};
use pathscope_os::batches::{Arrived, MOST};

use super::decide::Operation;
use super::wire::Aside;
use super::{DATAGRAM_BYTES, EventLoop, Slot, Ticket, Way, Wire};
use crate::worker::JOINED_BYTES;
use crate::{SystemCalls, Trouble};

/// Room for what one send of a stream copies: headers and messages. Tables are not copied.
const COPIED_BYTES: usize = 64 << 10;

/// An operation for a driver to carry out.
#[derive(Debug)]
pub struct Submission {
    /// Its name, for as long as it is in flight.
    pub ticket: Ticket,
    /// What tells its socket from others that its lane had, or has got since.
    pub(super) launched_as: u32,
    /// When the system was asked: as it was submitted, unless the driver asks later.
    pub at: Tick,
    /// What to do.
    pub work: Work,
}

/// What an operation does. Its buffer is the driver's until the operation is complete.
#[derive(Debug)]
pub enum Work {
    /// Send bytes of a stream, or as many of them as the socket takes.
    SendStream {
        /// Which.
        bytes: KeptSend,
        /// How many.
        offered: usize,
        /// Whether more follows at once.
        more_follows: bool,
    },
    /// Send datagrams on a connected socket, or as many of them as it takes.
    SendDatagrams {
        /// They lie at its begin.
        buffer: Box<[u8]>,
        /// Bytes of all of them.
        len: usize,
        /// Length of each but for a shorter last one.
        stride: usize,
        /// Whether the system cuts them: all leave with one call, or none.
        as_one: bool,
    },
    /// Receive bytes of a stream, or one datagram.
    Receive {
        /// To this. Empty until it is complete where the driver has rooms.
        buffer: Box<[u8]>,
        /// Where it lies there.
        begin: usize,
        /// When the kernel got it, by the wall clock; `None`: it is not asked.
        stamp: Option<Option<u64>>,
    },
    /// Receive datagrams.
    ReceiveSeveral {
        /// Into strides of it. The same.
        buffer: Box<[u8]>,
        /// Bytes of a stride.
        stride: usize,
        /// What came to each.
        arrived: Strides,
    },
    /// Wait until a send may take something: the last one took nothing, or not all.
    AwaitRoom,
}

/// An operation that is complete.
#[derive(Debug)]
pub struct Completion {
    /// The operation, with its buffer.
    pub submission: Submission,
    /// What came of it: bytes, datagrams sent, or strides that are filled. One that was recalled before anything moved was
    /// [`Trouble::Blocked`].
    pub outcome: Result<usize, Trouble>,
    /// Whether the same operation, which receives, brings more: it is in flight still, and completes again.
    pub goes_on: bool,
}

impl Submission {
    /// What an operation that goes on has brought to this room, as one of its own.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the io_uring engine alone"))]
    pub(crate) fn brings(&self, (buffer, begin): (Box<[u8]>, usize)) -> Self {
        let work = Work::Receive { buffer, begin, stamp: None };
        Self { ticket: self.ticket, launched_as: self.launched_as, at: self.at, work }
    }
}

impl Completion {
    /// Whether something came of it: word that there is room, or that there is none, moves nothing.
    pub(crate) fn has_moved(&self) -> bool {
        let waits = matches!(self.submission.work, Work::AwaitRoom);
        !waits && !matches!(self.outcome, Err(Trouble::Blocked | Trouble::Interrupted))
    }
}

/// What came to each stride of a room.
type Strides = Box<[Arrived; MOST]>;

/// Buffers that no operation has.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Operations that receive begin without a room: the driver gives them one.
    pub driver_has_rooms: bool,
    pub rooms: Vec<Box<[u8]>>,
    sends: Vec<KeptSend>,
    datagrams: Vec<Box<[u8]>>,
    arrived: Vec<Strides>,
}

fn new_buffer(bytes: usize) -> Box<[u8]> {
    vec![0; bytes].into_boxed_slice()
}

impl Spare {
    /// Room for what comes.
    fn room(&mut self, bytes: usize) -> Box<[u8]> {
        if self.driver_has_rooms {
            return Box::default();
        }
        self.rooms.pop().unwrap_or_else(|| new_buffer(bytes))
    }

    /// Takes back room for what came, where there was any.
    fn take_back_room(&mut self, room: Box<[u8]>) {
        if !room.is_empty() {
            self.rooms.push(room);
        }
    }

    /// Takes back what an operation had.
    pub fn take_back(&mut self, work: Work) {
        match work {
            Work::SendStream { bytes, .. } => self.sends.push(bytes),
            Work::SendDatagrams { buffer, .. } => self.datagrams.push(buffer),
            Work::Receive { buffer, .. } => self.take_back_room(buffer),
            Work::ReceiveSeveral { buffer, arrived, .. } => {
                self.take_back_room(buffer);
                self.arrived.push(arrived);
            }
            Work::AwaitRoom => {}
        }
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// What a flow sends next, unless a send is in flight.
    pub fn submit_send(&mut self, place: usize, spare: &mut Spare) -> Option<Submission> {
        let slot = &self.slots[place];
        if slot.is_sending() {
            return None;
        }
        let (lane, _) = slot.offer()?;
        let work = match slot.next_send() {
            None if slot.wires[lane.index()].in_flight.awaits_room => return None,
            None => {
                let ticket = Ticket { place: place as u32, lane, way: Way::Neither };
                return Some(self.submission(ticket, Work::AwaitRoom));
            }
            Some(Operation::SendStream { max, .. }) => self.gathered(place, lane, max, spare),
            Some(Operation::SendDatagrams { stride, max, .. }) => {
                self.filled(place, lane, (stride, max), spare)
            }
            Some(_) => None,
        };
        let Some(work) = work else {
            self.withdraw(place);
            return None;
        };
        Some(self.submission(Ticket { place: place as u32, lane, way: Way::Send }, work))
    }

    /// What is received next on a lane, unless that is in flight. What was left of before is shown first.
    pub fn submit_receive(
        &mut self,
        place: usize,
        lane: Lane,
        spare: &mut Spare,
    ) -> Option<Submission> {
        let medium = self.medium;
        let wire = &mut self.slots[place].wires[lane.index()];
        // Nobody looks whether it is: the operation waits for that.
        wire.readable = true;
        if let Some(Operation::ShowRest { limit, .. }) =
            self.slots[place].next_receive(lane, medium)
        {
            self.show_rest(place, lane, limit);
            self.refresh(place);
        }
        let slot = &self.slots[place];
        // It may have departed by what it was shown.
        let wire = slot.wires.get(lane.index())?;
        let next = slot.next_receive(lane, medium);
        if wire.in_flight.receives {
            if next.is_none() && wire.in_flight.goes_on && !wire.unread.is_empty() {
                self.stop_receiving(place, lane);
            }
            return None;
        }
        let work = match next? {
            Operation::ReceiveSeveral { .. } => {
                let stride = wire.batching().map_or(JOINED_BYTES, |it| it.stride_bytes);
                let arrived = spare.arrived.pop().unwrap_or_default();
                Work::ReceiveSeveral { buffer: spare.room(medium.room_bytes), stride, arrived }
            }
            Operation::Receive { .. } | Operation::Discard { .. } => {
                let is_stamped =
                    medium.transport == Transport::Datagram && wire.numbers().is_some();
                let stamp = (self.stamps.is_some() && is_stamped).then_some(None);
                Work::Receive { buffer: spare.room(medium.room_bytes), begin: 0, stamp }
            }
            // One more rest is shown in the next visit.
            _ => return None,
        };
        Some(self.submission(Ticket { place: place as u32, lane, way: Way::Receive }, work))
    }

    /// The receive that is in flight on the lane on which a flow would send next.
    pub fn receiving_where_it_sends(&self, place: usize) -> Option<Ticket> {
        let slot = &self.slots[place];
        let (lane, _) = slot.offer()?;
        let receives = slot.wires[lane.index()].in_flight.receives && !slot.is_sending();
        receives.then_some(Ticket { place: place as u32, lane, way: Way::Receive })
    }

    /// Whether something of what was left may be shown.
    pub fn has_rest_to_show(&self, place: usize) -> bool {
        let slot = &self.slots[place];
        let next = |lane| slot.next_receive(Lane(lane as u8), self.medium);
        (0..slot.wires.len()).any(|lane| matches!(next(lane), Some(Operation::ShowRest { .. })))
    }

    fn submission(&mut self, ticket: Ticket, work: Work) -> Submission {
        Submission { ticket, launched_as: self.launched(ticket), at: self.now, work }
    }

    /// Bytes of a stream; none: the machine had nothing.
    fn gathered(
        &mut self,
        place: usize,
        lane: Lane,
        max: usize,
        spare: &mut Spare,
    ) -> Option<Work> {
        let mut bytes = spare.sends.pop().unwrap_or_else(|| KeptSend::new(COPIED_BYTES));
        let mut gather = bytes.gather(max);
        self.slots[place].machine.gather(&self.shared, lane, &mut gather);
        let offered = gather.len();
        drop(gather);
        if offered == 0 {
            spare.sends.push(bytes);
            return None;
        }
        if M::CLOCK == ClockNeed::EveryOperation {
            self.tick();
        }
        let more_follows = self.slots[place].want.more_follows();
        Some(Work::SendStream { bytes, offered, more_follows })
    }

    /// Datagrams; none: the machine had nothing.
    fn filled(
        &mut self,
        place: usize,
        lane: Lane,
        (stride, max): (usize, usize),
        spare: &mut Spare,
    ) -> Option<Work> {
        if M::CLOCK == ClockNeed::EveryOperation {
            self.tick();
        }
        let mut buffer = spare.datagrams.pop().unwrap_or_else(|| new_buffer(DATAGRAM_BYTES));
        let Self { slots, shared, calls, account, now, .. } = self;
        let Slot { machine, wires, .. } = &mut slots[place];
        let Wire { socket: Some(socket), aside, .. } = &mut wires[lane.index()] else {
            return None;
        };
        let mut batching = Aside::batching_of(aside);
        let max = batching.as_ref().map_or(max, |batching| batching.at_once(stride, max));
        let mut batch = Batch::kept(&mut buffer, stride, max);
        machine.fill(shared, lane, &mut batch, *now);
        let (count, len) = (batch.count(), batch.bytes().len());
        if count == 0 {
            spare.datagrams.push(buffer);
            return None;
        }
        // Where the socket cannot be told how to cut, for whatever reason, they leave one by one.
        let as_one = batching.as_mut().is_some_and(|batching| {
            let used = &mut account.batches;
            batching.leaves_as_one((calls, used), socket, (count, stride)).unwrap_or(false)
        });
        Some(Work::SendDatagrams { buffer, len, stride, as_one })
    }
}
