//! The begin of a connection that comes with a preface. What this end says leaves with the first bytes of the flow, in one
//! send; where the other end answers, the flow hears of nothing until that has come. For flows of streams with one lane.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_flow::{Event, Gather, Machine, Phase, SendWant};
use pathscope_os::errno::is_no_room;

use super::complete::Step;
use super::held_back::Prologue;
use super::{EventLoop, Slot, SlotState};
use crate::preface::{Preface, Unheard};
use crate::{Blocking, SystemCalls, Trouble};

/// So many bytes of the flow go with a preface that is to be answered: with it in one packet on every path, so that nothing
/// is left unread where the other end turns the connection away.
const EARLY_MOST: usize = 1_024;

/// What is received with an answer: of the flow, as a rule, all that there is so early.
const BESIDE_ANSWER: usize = 4_096;

/// What a receive brings before a flow begins.
enum Came {
    /// So many bytes that are not the flow's, and so many in all.
    Bytes { own: usize, received: usize },
    /// None, and this is what the step comes to.
    Nothing(Step),
    /// The other end sends no more.
    End,
    /// The connection broke.
    Failure(i32),
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// A flow that was started has this to say and to hear first.
    pub(super) fn begin_prologue(&mut self, place: usize, preface: Box<dyn Preface>) {
        let slot = &mut self.slots[place];
        if slot.state != SlotState::Live {
            return;
        }
        let (awaits, until) = (preface.missing_bytes() > 0, preface.until());
        let (early, deferred, unheard) = ((0, self.now), Vec::new(), None);
        let unread = if awaits { 0 } else { preface.unread_bytes() };
        let prologue = Prologue { preface, said: 0, unread, awaits, early, deferred, unheard };
        slot.prologue = Some(Box::new(prologue));
        if awaits {
            self.look_by(place, until);
        }
    }

    fn look_by(&mut self, place: usize, until: Tick) {
        if let Some(due) = self.slots[place].timer_at_the_latest(until) {
            self.timers.set(place, due);
        }
    }

    /// One operation of a flow that has not begun yet.
    pub(super) fn step_before(&mut self, place: usize) -> Step {
        let slot = &self.slots[place];
        // Who fails now resets its connection, and what it has to say would be lost.
        let is_asked = slot.machine.phase() != Phase::Failed;
        if is_asked {
            self.refresh(place);
        }
        let Some(prologue) = &self.slots[place].prologue else { return Step::Idle };
        match (prologue.rest().is_empty(), prologue.awaits) {
            _ if prologue.unread > 0 => self.skip_unread(place),
            (false, true) => self.say(place, EARLY_MOST),
            (false, false) => {
                // What has come already may have an answer, which goes along.
                let received =
                    if is_asked { self.receive(place, Blocking::Never) } else { Step::Idle };
                if received == Step::Idle { self.say(place, usize::MAX) } else { received }
            }
            (true, _) => self.hear_answer(place),
        }
    }

    /// Says what is left of a preface, with so many bytes of the flow behind it.
    fn say(&mut self, place: usize, most: usize) -> Step {
        let Some((said, outcome)) = self.send_prologue(place, most) else { return Step::Idle };
        match outcome {
            Ok(0) | Err(Trouble::Blocked) => {
                self.slots[place].wires[0].writable = false;
                Step::Idle
            }
            Ok(sent) => self.has_said(place, said, sent),
            Err(Trouble::Interrupted) => Step::Done(0),
            Err(Trouble::Failed(errno)) if is_no_room(errno) => {
                self.slots[place].wires[0].writable = false;
                Step::Idle
            }
            Err(Trouble::Failed(errno)) => self.failed(place, Lane::ONLY, errno),
        }
    }

    /// How many bytes of the preface were offered, and how many in all; and what became of them. Nothing where none can be sent.
    fn send_prologue(
        &mut self,
        place: usize,
        most: usize,
    ) -> Option<((usize, usize), Result<usize, Trouble>)> {
        let Self { slots, shared, calls, scratch, .. } = self;
        let Slot { machine, wires, want, prologue, .. } = &slots[place];
        let prologue = prologue.as_ref()?;
        let socket = wires.first().filter(|wire| wire.writable)?.socket.as_ref()?;
        let rest = prologue.rest();
        let most = match want.send() {
            SendWant::Stream { max } if prologue.early.0 == 0 && !machine.phase().is_over() => {
                max.min(most)
            }
            _ => 0,
        };
        let mut gather = Gather::new(scratch, rest.len().saturating_add(most));
        let words = gather.copy(rest);
        if most > 0 && words == rest.len() {
            machine.gather(shared, Lane::ONLY, &mut gather);
        }
        let outcome = calls.send(socket, gather.slices(), Blocking::Never);
        Some(((words, gather.len()), outcome))
    }

    /// The kernel took so many of `offered` bytes, of which the first were the preface's.
    fn has_said(&mut self, place: usize, (words, offered): (usize, usize), sent: usize) -> Step {
        self.account.operations += 1;
        self.tick();
        let (now, slot) = (self.now, &mut self.slots[place]);
        let wire = &mut slot.wires[0];
        wire.writable = sent == offered;
        let Some(prologue) = &mut slot.prologue else { return Step::Done(sent) };
        if prologue.said == 0 {
            prologue.preface.connected(now);
        }
        let of_flow = sent.saturating_sub(words);
        prologue.said += sent - of_flow;
        if prologue.awaits {
            prologue.early = (of_flow, now);
            // What answers it is not there yet; whoever waits for sockets will say when it is.
            wire.readable = false;
            return Step::Done(sent);
        }
        if prologue.rest().is_empty() {
            slot.prologue = None;
        }
        if of_flow > 0 {
            slot.machine.sent(&mut self.shared, Lane::ONLY, of_flow, now);
            slot.touch();
            slot.wires[0].readable = false;
        }
        Step::Done(sent)
    }

    /// Receives what was seen before.
    fn skip_unread(&mut self, place: usize) -> Step {
        let Some(prologue) = &self.slots[place].prologue else { return Step::Idle };
        let came = self.receive_before(place, prologue.unread);
        let Some(prologue) = &mut self.slots[place].prologue else { return Step::Idle };
        // Where there is no more of it, the connection is the flow's all the same, and that hears what became of it.
        prologue.unread = match came {
            Came::Bytes { own, .. } => prologue.unread - own,
            Came::Nothing(_) => prologue.unread,
            Came::End | Came::Failure(_) => 0,
        };
        match came {
            Came::Bytes { received, .. } => Step::Done(received),
            Came::Nothing(step) => step,
            Came::End => self.ended(place, Lane::ONLY),
            Came::Failure(errno) => self.failed(place, Lane::ONLY, errno),
        }
    }

    fn hear_answer(&mut self, place: usize) -> Step {
        let Some(prologue) = &self.slots[place].prologue else { return Step::Idle };
        let (own, received) = match self.receive_before(place, prologue.preface.missing_bytes()) {
            Came::Bytes { own, received } => (own, received),
            Came::Nothing(step) => return step,
            Came::End => return self.turn_away(place, Unheard::Closed),
            Came::Failure(errno) => return self.turn_away(place, Unheard::Failed(errno)),
        };
        let slot = &mut self.slots[place];
        let Some(prologue) = &mut slot.prologue else { return Step::Idle };
        if !prologue.preface.heard(&self.received.whole()[..own]) {
            return self.turn_away(place, Unheard::Answered);
        }
        if prologue.preface.missing_bytes() == 0 {
            if let Some(socket) = slot.wires.first().and_then(|wire| wire.socket.as_ref()) {
                prologue.preface.answered(socket);
            }
            self.end_prologue(place);
        }
        Step::Done(received)
    }

    /// Receives so many bytes that come before those of the flow, as far as they are there, into the begin of the worker's room; and with
    /// them what follows, which is kept for the flow.
    fn receive_before(&mut self, place: usize, missing: usize) -> Came {
        let Self { slots, calls, received: room, account, .. } = self;
        let wire = slots[place].wires.first_mut().filter(|wire| wire.readable);
        let Some(wire) = wire else { return Came::Nothing(Step::Idle) };
        let Some(socket) = &wire.socket else { return Came::Nothing(Step::Idle) };
        let room = room.whole();
        let asked = (missing + BESIDE_ANSWER).min(room.len());
        match calls.receive(socket, &mut room[..asked], Blocking::Never) {
            Ok(0) => Came::End,
            Ok(received) => {
                account.operations += 1;
                let own = missing.min(received);
                let beside = &room[own..received];
                wire.readable = received == asked;
                wire.position = beside.len() as u64;
                wire.unread.extend(beside);
                Came::Bytes { own, received }
            }
            Err(Trouble::Interrupted) => Came::Nothing(Step::Done(0)),
            Err(Trouble::Failed(errno)) if !is_no_room(errno) => Came::Failure(errno),
            Err(Trouble::Blocked | Trouble::Failed(_)) => {
                wire.readable = false;
                Came::Nothing(Step::Idle)
            }
        }
    }

    /// The connection is the flow's: it is told what happened.
    fn end_prologue(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        let Some(prologue) = slot.prologue.take() else { return };
        let Prologue { early: (early, at), deferred, .. } = *prologue;
        if early > 0 {
            slot.machine.sent(&mut self.shared, Lane::ONLY, early, at);
        }
        slot.touch();
        for event in deferred {
            self.deliver(place, event);
        }
    }

    /// Keeps what happens to a flow that is held back. Whether it is.
    pub(super) fn keeps_for_later(&mut self, place: usize, event: Event) -> bool {
        let prologue = self.slots[place].prologue.as_mut().filter(|prologue| prologue.awaits);
        prologue.is_some_and(|prologue| {
            prologue.deferred.push(event);
            true
        })
    }

    /// The timer of a flow that is held back fired: it was the flow's, or the time of the answer is up.
    pub(super) fn look_at_prologue(&mut self, place: usize) {
        let Some(prologue) = &mut self.slots[place].prologue else { return };
        let until = prologue.preface.until();
        if self.now >= until {
            self.turn_away(place, Unheard::Late);
        } else {
            prologue.deferred.push(Event::Wake);
            self.look_by(place, until);
        }
    }

    /// The connection will not be the flow's.
    pub(super) fn turn_away(&mut self, place: usize, why: Unheard) -> Step {
        if let Some(prologue) = &mut self.slots[place].prologue {
            prologue.unheard = Some(why);
            self.dismiss(place);
        }
        Step::Done(0)
    }

    /// Closes a connection that is not its flow's, and says so.
    pub(super) fn let_go(&mut self, place: usize) {
        self.tick();
        let slot = &mut self.slots[place];
        drop(slot.wires.take());
        let (flow, prologue) = (slot.machine.id(), slot.prologue.take());
        self.places.remove(flow);
        self.vacant.push(place as u32);
        if let Some(succession) = &mut self.succession {
            (succession.turned_away)(flow);
        }
        if let Some(Prologue { preface, unheard: Some(why), .. }) = prologue.map(|it| *it) {
            preface.turned_away(why, self.now);
        }
    }
}
