//! What follows from a machine's answer: its phase, its close, and whether it keeps to the seam.

use pathscope_core::Tick;
use pathscope_core::id::Lane;

use super::outcome::Breach;
use super::pipe::{ECONNRESET, Pipe};
use super::site::Site;
use super::transit::Listener;
use super::world::{EndKey, Happening, PipeKey};
use crate::{Close, Event, Machine, Phase, RecvWant, SendWant, Transport, Weigh};

impl<M: Machine> Site<'_, M> {
    /// Asks the machine what it wants, and does what needs no bytes.
    pub(super) fn ask(&mut self) -> Result<(), Breach> {
        self.end.want = self.end.machine.want(self.shared, self.now());
        self.weigh();
        if self.end.want.recv == RecvWant::Nothing {
            self.reconsider();
        }
        self.check_want()?;
        self.close();
        self.advance()
    }

    /// Tells the machine what has come and was not received yet, if it asks.
    fn weigh(&mut self) {
        let weigh = self.end.want.weigh;
        if weigh != Weigh::Nothing {
            let (now, from) = (self.now(), self.key.role.peer());
            let bytes = self.lanes.iter().map(|lane| lane[from].unread_bytes() as u64).sum();
            let held = Event::Held { bytes, ready_bytes: bytes };
            self.end.machine.event(self.shared, held, now);
            self.end.want = self.end.machine.want(self.shared, now);
        }
        if weigh == Weigh::All {
            self.world.at(self.world.now, Happening::Weigh(self.key));
        }
    }

    fn check_want(&self) -> Result<(), Breach> {
        let (want, phase) = (self.end.want, self.end.machine.phase());
        let sends = want.send != SendWant::Nothing;
        let closes = want.close.is_some() || self.end.closing.is_some();
        let waits = want.recv != RecvWant::Nothing || want.wake.is_some();
        if phase.is_over() && (sends || waits) {
            return Err(Breach::WantsThoughOver { phase, want });
        }
        if sends && closes {
            return Err(Breach::SendsThoughClosed { want });
        }
        let Some(lane) = self.lanes.get(want.send_lane.index()) else {
            return Err(Breach::NoSuchLane { lane: want.send_lane, lanes: self.lanes.len() });
        };
        match (want.send, lane[self.key.role].transport()) {
            (SendWant::Stream { .. }, Transport::Datagram)
            | (SendWant::Datagrams { .. }, Transport::Stream) => {
                Err(Breach::WrongTransport { want })
            }
            _ => Ok(()),
        }
    }

    /// Notes how far the machine is; tells the other end the total, as a dialogue does.
    fn advance(&mut self) -> Result<(), Breach> {
        let (from, to) = (self.end.phase, self.end.machine.phase());
        if to < from {
            return Err(Breach::PhaseWentBack { from, to });
        }
        self.end.phase = to;
        if matches!(to, Phase::SendingDone | Phase::Settled | Phase::Done) && !self.end.total_told {
            self.end.total_told = true;
            self.tell_total();
        }
        if to.is_over() {
            self.retire();
        }
        Ok(())
    }

    fn tell_total(&mut self) {
        if let Some(after_ns) = self.world.totals_after_ns {
            let event = Event::PeerTotal(self.end.machine.totals().sent);
            let at = self.world.now.plus_nanos(after_ns);
            self.world.at(at, Happening::Tell { end: self.peer_key(), event });
        }
    }

    /// The machine is called no more.
    pub(super) fn retire(&mut self) {
        if self.end.over_at.is_none() {
            self.end.over_at = Some(self.world.now);
            self.end.armed = None;
            self.end.pending.clear();
            self.world.alive -= 1;
        }
    }
}

/// Closing.
impl<M: Machine> Site<'_, M> {
    /// Closes as the machine wants. Only a harder close follows another.
    fn close(&mut self) {
        let Some(close) = self.end.want.close else { return };
        if self.end.closing.is_some_and(|before| hardness(before) >= hardness(close)) {
            return;
        }
        self.end.closing = Some(close);
        for lane in self.every_lane() {
            match close {
                Close::HalfWrite | Close::Graceful | Close::Complete => self.finish(lane),
                Close::Reset => self.reset(lane),
            }
        }
    }

    pub(super) fn finish(&mut self, lane: Lane) {
        let key = self.outgoing_key(lane);
        self.lanes[lane.index()][key.from].finish(key, self.world);
    }

    /// Ends a lane from this side: a stream's other end learns it behind all that is on the link.
    fn reset(&mut self, lane: Lane) {
        if self.end.sockets[lane.index()].is_dead {
            return;
        }
        let (end, now) = (self.peer_key(), self.world.now);
        if let Pipe::Stream(pipe) = self.outgoing(lane)
            && !pipe.transit.cut
        {
            let at = pipe.transit.behind_all(now);
            self.world.at(at, Happening::Break { end, lane, errno: ECONNRESET });
        }
        self.drop_lane(lane);
    }

    /// A lane's sockets at this end are gone.
    pub(super) fn drop_lane(&mut self, lane: Lane) {
        self.end.sockets[lane.index()].is_dead = true;
        self.outgoing(lane).stop_sending();
        self.incoming(lane).stop_receiving(Listener::Deaf);
    }

    /// Takes what still comes until the other end closes, for a machine that does not want to see it.
    pub(super) fn drain(&mut self) {
        for lane in self.every_lane() {
            let key = self.incoming_key(lane);
            self.lanes[lane.index()][key.from].drain(key, self.world);
        }
    }
}

const fn hardness(close: Close) -> u8 {
    match close {
        Close::HalfWrite => 0,
        Close::Graceful => 1,
        Close::Complete => 2,
        Close::Reset => 3,
    }
}

/// Where things are.
impl<M: Machine> Site<'_, M> {
    /// What this end's clock shows.
    pub(super) fn now(&self) -> Tick {
        self.world.clock(self.key.role)
    }

    pub(super) fn every_lane(&self) -> impl Iterator<Item = Lane> + use<M> {
        (0..self.lanes.len()).map(|lane| Lane(lane as u8))
    }

    pub(super) fn outgoing(&mut self, lane: Lane) -> &mut Pipe {
        &mut self.lanes[lane.index()][self.key.role]
    }

    pub(super) fn incoming(&mut self, lane: Lane) -> &mut Pipe {
        &mut self.lanes[lane.index()][self.key.role.peer()]
    }

    pub(super) const fn outgoing_key(&self, lane: Lane) -> PipeKey {
        PipeKey { flow: self.key.flow, lane, from: self.key.role }
    }

    pub(super) const fn incoming_key(&self, lane: Lane) -> PipeKey {
        PipeKey { flow: self.key.flow, lane, from: self.key.role.peer() }
    }

    const fn peer_key(&self) -> EndKey {
        EndKey { flow: self.key.flow, role: self.key.role.peer() }
    }

    /// Something has happened: the machine may want what it refused.
    pub(super) fn reconsider(&mut self) {
        let from = self.key.role.peer();
        self.lanes.iter_mut().for_each(|lane| lane[from].reconsider());
    }
}
