//! One operation of one machine: a send or a receive on one lane.

use std::num::NonZeroUsize;

use pathscope_core::id::Lane;

use super::datagram::DatagramPipe;
use super::outcome::Breach;
use super::pipe::Pipe;
use super::site::Site;
use super::stream::StreamPipe;
use super::world::Happening;
use crate::{Batch, Consumed, Event, Gather, Machine, RecvMeta, RecvWant, SendWant};

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

    fn receive(&mut self) -> Result<bool, Breach> {
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
        let amount = match (self.end.want.send, &self.lanes[lane.index()][self.key.role]) {
            (SendWant::Stream { max }, Pipe::Stream(pipe)) if max > 0 && pipe.room() > 0 => {
                self.write_stream(lane, max)?
            }
            (SendWant::Datagrams { stride, max }, Pipe::Datagram(pipe))
                if max > 0 && pipe.has_room(stride) =>
            {
                self.write_datagrams(lane, stride, max)?
            }
            (SendWant::Stream { max } | SendWant::Datagrams { max, .. }, _) if max > 0 => {
                self.end.machine.refused(self.shared, lane, self.now());
                return Ok(false);
            }
            _ => return Ok(false),
        };
        self.end.received_last = false;
        self.world.operations += 1;
        self.reconsider();
        self.end.machine.sent(self.shared, lane, amount, self.now());
        let key = self.outgoing_key(lane);
        self.lanes[lane.index()][key.from].transmit(key, self.world);
        if matches!(self.end.want.send, SendWant::Datagrams { .. }) {
            self.count_out(lane, amount);
        }
        Ok(true)
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

    fn write_stream(&mut self, lane: Lane, max: usize) -> Result<usize, Breach> {
        let Pipe::Stream(pipe) = &mut self.lanes[lane.index()][self.key.role] else {
            return Ok(0);
        };
        let mut gather = Gather::new(&mut self.world.scratch, max);
        self.end.machine.gather(self.shared, lane, &mut gather);
        if gather.is_empty() {
            return Err(Breach::NothingToSend { lane });
        }
        Ok(write_gathered(pipe, &gather, self.world.writes.next()))
    }

    fn write_datagrams(&mut self, lane: Lane, stride: usize, max: usize) -> Result<usize, Breach> {
        let now = self.now();
        let Pipe::Datagram(pipe) = &mut self.lanes[lane.index()][self.key.role] else {
            return Ok(0);
        };
        let mut batch = Batch::new(&mut self.world.scratch, stride, max);
        self.end.machine.fill(self.shared, lane, &mut batch, now);
        if batch.count() == 0 {
            return Err(Breach::NothingToSend { lane });
        }
        Ok(write_batch(pipe, &batch, self.world.writes.next()))
    }
}

/// Writes what the socket takes, at most `portion` bytes; says how many.
fn write_gathered(pipe: &mut StreamPipe, gather: &Gather<'_>, portion: usize) -> usize {
    let amount = gather.len().min(pipe.room()).min(portion);
    let mut left = amount;
    for slice in gather.slices() {
        let taken = slice.len().min(left);
        pipe.write(&slice[..taken]);
        left -= taken;
    }
    amount
}

/// Writes as many datagrams as the socket takes, at most `portion`; says how many.
fn write_batch(pipe: &mut DatagramPipe, batch: &Batch<'_>, portion: usize) -> usize {
    let bytes = batch.bytes();
    let mut amount = 0;
    while amount < batch.count().min(portion) {
        let start = amount * batch.stride();
        let datagram = &bytes[start..bytes.len().min(start + batch.stride())];
        if !pipe.has_room(datagram.len()) {
            break;
        }
        pipe.write(datagram);
        amount += 1;
    }
    amount
}
