//! One operation of one machine: a send or a receive on one lane.

use std::io::IoSlice;
use std::num::NonZeroUsize;

use pathscope_core::id::Lane;

use super::datagram::DatagramPipe;
use super::offer::{Content, Offer};
use super::outcome::Breach;
use super::pipe::Pipe;
use super::site::Site;
use super::stream::StreamPipe;
use super::world::Happening;
use crate::{Batch, Consumed, Event, Machine, RecvMeta, RecvWant, SendWant};

/// Receiving.
impl<M: Machine> Site<'_, M> {
    /// Does one operation, if one is possible; the directions take turns.
    pub(super) fn transfer(&mut self) -> Result<bool, Breach> {
        if !self.end.started {
            return Ok(false);
        }
        let order = if self.end.received_last {
            [Self::send, Self::receive]
        } else {
            [Self::receive, Self::send]
        };
        for operation in order {
            if operation(self)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many bytes the machine may be shown; `None`: it takes nothing.
    pub(super) fn receive_limit(&self) -> Option<usize> {
        match self.end.want.recv {
            RecvWant::Nothing | RecvWant::UpTo(0) => None,
            RecvWant::UpTo(limit) => Some(limit),
            RecvWant::Any => Some(usize::MAX),
        }
    }

    pub(super) fn receive(&mut self) -> Result<bool, Breach> {
        let Some(limit) = self.receive_limit() else { return Ok(false) };
        let from = self.key.role.peer();
        let lanes = self.lanes.len();
        let readable =
            (0..lanes).map(|place| (self.end.first_lane + place) % lanes).find(|lane| match &self
                .lanes[*lane][from]
            {
                Pipe::Stream(pipe) => pipe.is_readable(limit),
                Pipe::Datagram(pipe) => pipe.is_readable(),
            });
        let Some(lane) = readable else { return Ok(false) };
        self.end.first_lane = lane + 1;
        self.end.received_last = true;
        self.world.operations += 1;
        self.receive_on(Lane(lane as u8), limit)?;
        Ok(true)
    }

    fn receive_on(&mut self, lane: Lane, limit: usize) -> Result<(), Breach> {
        let from = self.key.role.peer();
        match &self.lanes[lane.index()][from] {
            Pipe::Stream(_) => self.receive_stream(lane, limit),
            Pipe::Datagram(_) => self.receive_datagrams(lane, limit),
        }
    }

    fn receive_stream(&mut self, lane: Lane, limit: usize) -> Result<(), Breach> {
        let (now, key, role) = (self.now(), self.incoming_key(lane), self.key.role);
        let Pipe::Stream(pipe) = &mut self.lanes[lane.index()][role.peer()] else { return Ok(()) };
        if self.world.conditions.reads_overshoot {
            pipe.take_ahead(key, self.world);
        }
        let bytes = pipe.present(limit, self.world.reads.next());
        let stamps = self.world.conditions.kernel_stamps;
        let stamp = stamps.then(|| self.world.clock_at(role, pipe.last_arrival()));
        let meta = RecvMeta { stride: None, stamp, drops: 0 };
        let Consumed(consumed) = self.end.machine.received(self.shared, lane, bytes, meta, now);
        let presented = bytes.len();
        if consumed > presented {
            return Err(Breach::ConsumedTooMuch { consumed, presented });
        }
        pipe.consume(presented, consumed, key, self.world);
        Ok(())
    }

    fn receive_datagrams(&mut self, lane: Lane, limit: usize) -> Result<(), Breach> {
        let (now, role) = (self.now(), self.key.role);
        let Pipe::Datagram(pipe) = &mut self.lanes[lane.index()][role.peer()] else {
            return Ok(());
        };
        let stamps = self.world.conditions.kernel_stamps;
        let Some(bundle) = pipe.present(limit, self.world.reads.next(), stamps) else {
            return Ok(());
        };
        let meta = RecvMeta {
            // A lone datagram without bytes is the shorter last one of a batch of any stride.
            stride: Some(NonZeroUsize::new(bundle.stride).unwrap_or(NonZeroUsize::MIN)),
            stamp: stamps.then(|| self.world.clock_at(role, bundle.at)),
            drops: pipe.traffic.overflowed,
        };
        let Consumed(consumed) =
            self.end.machine.received(self.shared, lane, &bundle.bytes, meta, now);
        check_datagrams(consumed, bundle.bytes.len(), bundle.stride)?;
        pipe.consume(bundle.bytes.len(), consumed);
        Ok(())
    }
}

fn check_datagrams(consumed: usize, presented: usize, stride: usize) -> Result<(), Breach> {
    if consumed > presented {
        Err(Breach::ConsumedTooMuch { consumed, presented })
    } else if consumed < presented && !consumed.is_multiple_of(stride) {
        Err(Breach::CutDatagram { consumed, stride })
    } else {
        Ok(())
    }
}

/// Sending.
impl<M: Machine> Site<'_, M> {
    fn send(&mut self) -> Result<bool, Breach> {
        let lane = self.end.want.send_lane;
        if self.end.want.send == SendWant::Nothing || self.end.sockets[lane.index()].is_dead {
            return Ok(false);
        }
        let has_room = match (self.end.want.send, &self.lanes[lane.index()][self.key.role]) {
            (SendWant::Stream { max } | SendWant::Datagrams { max, .. }, _) if max == 0 => {
                return Ok(false);
            }
            (SendWant::Stream { .. }, Pipe::Stream(pipe)) => pipe.room() > 0,
            (SendWant::Datagrams { stride, .. }, Pipe::Datagram(pipe)) => pipe.has_room(stride),
            _ => false,
        };
        if !has_room {
            self.end.machine.refused(self.shared, lane, self.now());
            return Ok(false);
        }
        let offer = self.offer(lane)?;
        match self.world.conditions.flights {
            Some(flights) => self.launch(offer, flights),
            None => self.take(offer),
        }
        Ok(true)
    }

    /// The system takes what it can of an offer.
    pub(super) fn take(&mut self, offer: Offer) {
        let Offer { lane, at, content } = offer;
        let portion = self.world.writes.next();
        let amount = match (&mut self.lanes[lane.index()][self.key.role], &content) {
            (Pipe::Stream(pipe), Content::Stream(kept)) => {
                write_gathered(pipe, &kept.slices(), portion)
            }
            (Pipe::Datagram(pipe), Content::Datagrams { bytes, stride }) => {
                write_batch(pipe, (bytes, *stride), portion)
            }
            _ => 0,
        };
        self.end.received_last = false;
        self.world.operations += 1;
        self.reconsider();
        self.end.machine.sent(self.shared, lane, amount, at);
        let key = self.outgoing_key(lane);
        self.lanes[lane.index()][key.from].transmit(key, self.world);
        if matches!(content, Content::Datagrams { .. }) {
            self.count_out(lane, amount);
        }
        self.world.done_with(content);
    }

    /// Numbers datagrams as they are sent, and has their stamps told.
    fn count_out(&mut self, lane: Lane, amount: usize) {
        let sent = &mut self.end.sockets[lane.index()].sent;
        let first = *sent;
        *sent += amount as u64;
        let end = *sent;
        if !self.world.conditions.kernel_stamps {
            return;
        }
        let due = self.world.now.plus_nanos(self.world.conditions.handover_ns);
        let at = self.world.clock_at(self.key.role, due);
        for number in first..end {
            let event = Event::HandedOver { lane, number, at };
            self.world.at(due, Happening::Tell { end: self.key, event });
        }
    }

    /// What the machine has to send.
    fn offer(&mut self, lane: Lane) -> Result<Offer, Breach> {
        let at = self.now();
        let (machine, shared) = (&mut self.end.machine, &mut *self.shared);
        let (is_empty, content) = match self.end.want.send {
            SendWant::Datagrams { stride, max } => {
                let mut batch = Batch::new(&mut self.world.scratch, stride, max);
                machine.fill(shared, lane, &mut batch, at);
                let bytes = batch.bytes().to_vec();
                (batch.count() == 0, Content::Datagrams { bytes, stride })
            }
            SendWant::Stream { max } => {
                let mut kept = self.world.kept_send();
                let mut gather = kept.gather(max);
                machine.gather(shared, lane, &mut gather);
                let is_empty = gather.is_empty();
                drop(gather);
                (is_empty, Content::Stream(kept))
            }
            SendWant::Nothing => return Err(Breach::NothingToSend { lane }),
        };
        if is_empty { Err(Breach::NothingToSend { lane }) } else { Ok(Offer { lane, at, content }) }
    }
}

/// Writes what the socket takes, at most `portion` bytes; says how many.
fn write_gathered(pipe: &mut StreamPipe, slices: &[IoSlice<'_>], portion: usize) -> usize {
    let amount =
        slices.iter().map(|slice| slice.len()).sum::<usize>().min(pipe.room()).min(portion);
    let mut left = amount;
    for slice in slices {
        let taken = slice.len().min(left);
        pipe.write(&slice[..taken]);
        left -= taken;
    }
    amount
}

/// Writes as many datagrams as the socket takes, at most `portion`; says how many.
fn write_batch(pipe: &mut DatagramPipe, (bytes, stride): (&[u8], usize), portion: usize) -> usize {
    let mut amount = 0;
    // One that is empty is one, too.
    for datagram in bytes.chunks(stride.max(1)).chain(bytes.is_empty().then_some(bytes)) {
        if amount == portion || !pipe.has_room(datagram.len()) {
            break;
        }
        pipe.write(datagram);
        amount += 1;
    }
    amount
}
