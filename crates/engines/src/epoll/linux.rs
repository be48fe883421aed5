//! Linux: epoll, with timers to the nanosecond.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use pathscope_core::id::Lane;
use pathscope_flow::Machine;
use pathscope_os::{OsError, Waker};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags};

use super::NAME;
use super::patient::Patient;
use super::polling::Polling;
use crate::calls::{Called, timespec};
use crate::event_loop::{Awaited, EventLoop, Lingering, Pause, Visit, Wire};
use crate::{EngineError, Finished, SystemCalls, Trouble, Worker};

/// Ready sockets that one wait tells of.
pub(super) const EVENTS: usize = 256;
/// And of very many flows. All timers that are due have their turn between two waits: where few were told of what came, those who send by
/// the clock would keep all from receiving whenever they are behind.
const EVENTS_MOST: usize = 16_384;

/// Room for one of them.
pub(super) const NONE: Event = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };

/// From so long on, a wait may be cut into whole milliseconds and a rest.
const COARSE: Duration = Duration::from_millis(2);

/// The name of the waker among the sockets.
pub(super) const WAKER: u64 = u64::MAX;

/// A socket is named by its lane, its flow's place above that and, where workers share an instance of epoll, its worker's key above
/// that: so many places have room below a key.
const LANE_BITS: u32 = 8;
const KEY_SHIFT: u32 = LANE_BITS + 16;
pub(super) const PLACES: usize = 1 << (KEY_SHIFT - LANE_BITS);

/// The key of the worker whose socket is named so.
pub(super) const fn key_of(name: u64) -> u64 {
    name >> KEY_SHIFT
}

/// What a socket can be registered for, in the bits of a [`Wire`].
const TO_RECEIVE: u8 = 1;
const TO_SEND: u8 = 2;

pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let mut event_loop = EventLoop::open(worker, calls, NAME, Lingering::Allowed)?;
    let usual = if event_loop.may_hear_late() { event_loop.slots.len() } else { 0 };
    let mut registrations = Registrations::alone(event_loop.waker(), event_loop.slots.len())?;
    registrations.patient = Patient::new(usual);
    if !event_loop.has_succession() {
        registrations.polling = Polling::of::<M>();
    }
    let mut events = vec![NONE; event_loop.slots.len().clamp(EVENTS, EVENTS_MOST)];
    let mut has_waited = true;
    while event_loop.is_open() {
        event_loop.tick();
        let began = event_loop.now;
        event_loop.attend();
        if registrations.polling.is_on() {
            registrations.ask_all(&mut event_loop);
            continue;
        }
        registrations.serve(&mut event_loop);
        // Flows that came as others left have their first turn before anything is waited for; then it is that of who is ready.
        has_waited = !(has_waited && event_loop.is_called());
        if has_waited && event_loop.is_open() {
            registrations.wait(&mut event_loop, &mut events)?;
            if registrations.is_idle() {
                event_loop.approach(began);
            }
        }
    }
    Ok(event_loop.close())
}

/// An instance of epoll that this waker ends a wait of.
pub(super) fn create(waker: &Waker) -> Result<OwnedFd, OsError> {
    let failed = |errno: rustix::io::Errno| OsError::Call {
        what: "open an epoll instance",
        source: errno.into(),
    };
    let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
    epoll::add(&epoll, waker, EventData::new_u64(WAKER), EventFlags::IN).map_err(failed)?;
    Ok(epoll)
}

/// What a worker waits for, and who of its flows is to be visited.
pub(super) struct Registrations {
    epoll: Arc<OwnedFd>,
    /// The name of the first lane of the first place.
    first: u64,
    queue: VecDeque<u32>,
    /// Those that the kernel is not to tell of.
    patient: Patient,
    /// Whether it tells of none, since all are asked.
    polling: Polling,
}

impl Registrations {
    /// Those of a worker that has an instance of epoll to itself.
    fn alone(waker: &Waker, slots: usize) -> Result<Self, EngineError> {
        let (epoll, queue) = (Arc::new(create(waker)?), VecDeque::with_capacity(slots));
        let (patient, polling) = (Patient::default(), Polling::default());
        Ok(Self { epoll, first: 0, queue, patient, polling })
    }

    /// Those of a worker of this key, at an instance of many.
    pub fn among(epoll: Arc<OwnedFd>, key: u64) -> Self {
        let (queue, patient) = (VecDeque::new(), Patient::default());
        let polling = Polling::default();
        Self { epoll, first: key << KEY_SHIFT, queue, patient, polling }
    }

    /// Whether nobody is to be visited.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Waits for nothing any more.
    pub fn clear<M: Machine, S: SystemCalls>(&self, event_loop: &mut EventLoop<M, S>) {
        for (place, slot) in event_loop.slots.iter_mut().enumerate() {
            for (lane, wire) in slot.wires.iter_mut().enumerate() {
                // A socket that is closed has removed itself.
                let _ = self.change(wire, place, lane, 0);
            }
        }
    }

    /// Visits once everyone to whom something happened.
    pub fn serve<M: Machine, S: SystemCalls>(&mut self, event_loop: &mut EventLoop<M, S>) {
        self.look_at_patient(event_loop);
        self.enqueue_roused(event_loop);
        for _ in 0..self.queue.len() {
            let Some(place) = self.queue.pop_front() else { return };
            let place = place as usize;
            event_loop.slots[place].is_queued = false;
            match event_loop.visit(place) {
                Visit::Unfinished => {
                    event_loop.rest.moved();
                    // A flow that can always send is never idle, and has to hear what came all the same.
                    self.register(event_loop, place);
                    self.enqueue(event_loop, place);
                }
                Visit::Moved => {
                    event_loop.rest.moved();
                    if !self.is_left(event_loop, place) {
                        self.register(event_loop, place);
                    }
                }
                Visit::Idle => self.register(event_loop, place),
            }
            if !self.queue.is_empty() {
                event_loop.tick();
                event_loop.attend();
            }
            if !event_loop.is_open() {
                return;
            }
        }
        self.enqueue_roused(event_loop);
    }

    /// Whether a flow whose socket the kernel does not tell of is left so.
    fn is_left<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        place: usize,
    ) -> bool {
        let slot = &event_loop.slots[place];
        let is_left = self.patient.is_of_use()
            && slot.is_patient()
            && slot.wires.iter().all(|wire| wire.registered == 0);
        if is_left {
            self.patient.enter(place as u32, slot.machine.id(), event_loop.now);
            event_loop.look_by = self.patient.due();
        }
        is_left
    }

    /// Looks whether flows have ended that the kernel does not tell of; of those that have not, it is to tell.
    fn look_at_patient<M: Machine, S: SystemCalls>(&mut self, event_loop: &mut EventLoop<M, S>) {
        while let Some(next) = self.patient.next(event_loop.open_flows(), event_loop.now) {
            let place = next.place as usize;
            let slot = &mut event_loop.slots[place];
            if slot.machine.id() != next.flow || !slot.is_patient() {
                continue;
            }
            slot.wires.iter_mut().for_each(|wire| wire.readable = true);
            if event_loop.visit(place) != Visit::Idle {
                event_loop.rest.moved();
            }
            self.register(event_loop, place);
        }
        event_loop.look_by = self.patient.due();
    }

    fn enqueue_roused<M: Machine, S: SystemCalls>(&mut self, event_loop: &mut EventLoop<M, S>) {
        self.queue.extend(event_loop.roused.drain(..));
    }

    fn enqueue<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        place: usize,
    ) {
        if event_loop.slots[place].enters_queue() {
            self.queue.push_back(place as u32);
        }
    }

    /// Has the kernel tell of what a flow waits for, where it does not already.
    fn register<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        place: usize,
    ) {
        for lane in 0..event_loop.slots[place].wires.len() {
            let Awaited { to_receive, to_send } = event_loop.awaited(place, lane);
            let wire = &mut event_loop.slots[place].wires[lane];
            let mut missing = 0;
            if to_receive && !wire.readable {
                missing |= TO_RECEIVE;
            }
            if to_send && !wire.writable {
                missing |= TO_SEND;
            }
            let wanted = wire.registered | missing;
            if let Err(errno) = self.change(wire, place, lane, wanted) {
                event_loop.failed(place, Lane(lane as u8), errno);
                self.enqueue(event_loop, place);
            }
        }
    }

    /// Registers a wire for exactly this. Fails where the kernel's limits are reached.
    fn change(&self, wire: &mut Wire, place: usize, lane: usize, wanted: u8) -> Result<(), i32> {
        if wanted == wire.registered {
            return Ok(());
        }
        let name = self.first + ((place as u64) << LANE_BITS | lane as u64);
        let data = EventData::new_u64(name);
        let Some(socket) = &wire.socket else { return Ok(()) };
        let outcome = match (wire.registered, wanted) {
            (0, wanted) => epoll::add(&self.epoll, socket, data, flags(wanted)),
            (_, 0) => epoll::delete(&self.epoll, socket),
            (_, wanted) => epoll::modify(&self.epoll, socket, data, flags(wanted)),
        };
        wire.registered = wanted;
        outcome.map_err(rustix::io::Errno::raw_os_error)
    }

    fn wait<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        events: &mut [Event],
    ) -> Result<(), EngineError> {
        let pause = if self.queue.is_empty() { event_loop.pause() } else { Pause::Spin };
        let mut ready = 0;
        let epoll = &self.epoll;
        event_loop.wait(pause, |_, _, timeout| {
            let timeout = doze(epoll, timeout)?;
            ready = epoll::wait(epoll, &mut *events, timeout.map(timespec).as_ref())?;
            let is_called = events[..ready].iter().any(|event| event.data.u64() == WAKER);
            Ok(if is_called { Called::Yes } else { Called::No })
        })?;
        for &Event { flags, data } in &events[..ready] {
            if data.u64() != WAKER {
                self.note(event_loop, data.u64(), flags);
            }
        }
        if self.polling.waited(ready, event_loop.slots.len()) {
            self.clear(event_loop);
        }
        Ok(())
    }

    /// Visits everyone once, ready or not. Where too few had anything to move the kernel is to tell again, once each has been visited anew.
    fn ask_all<M: Machine, S: SystemCalls>(&mut self, event_loop: &mut EventLoop<M, S>) {
        self.enqueue_roused(event_loop);
        self.queue.clear();
        let flows = event_loop.slots.len();
        let mut moved = 0;
        for place in 0..flows {
            let slot = &mut event_loop.slots[place];
            slot.is_queued = false;
            for wire in &mut slot.wires {
                (wire.readable, wire.writable) = (true, true);
            }
            moved += usize::from(event_loop.visit(place) != Visit::Idle);
            event_loop.tick();
            event_loop.attend();
            if !event_loop.is_open() {
                return;
            }
        }
        event_loop.rest.moved();
        if !self.polling.asked(flows, moved) {
            (0..flows).for_each(|place| self.enqueue(event_loop, place));
        }
    }

    /// A socket is ready. Where nobody waits for that any more, the kernel need not tell again.
    pub fn note<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        name: u64,
        flags: EventFlags,
    ) {
        let own = name - self.first;
        let (place, lane) = ((own >> LANE_BITS) as usize, (own & 0xff) as usize);
        if lane >= event_loop.slots[place].wires.len() {
            // The flow has departed since the kernel told of it.
            return;
        }
        let Awaited { to_receive, to_send } = event_loop.awaited(place, lane);
        // An error is found by trying, whichever way.
        let trouble = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        let wire = &mut event_loop.slots[place].wires[lane];
        let mut wanted = wire.registered;
        if trouble || flags.contains(EventFlags::IN) {
            wire.readable = true;
            wanted &= if to_receive { !0 } else { !TO_RECEIVE };
        }
        if trouble || flags.contains(EventFlags::OUT) {
            wire.writable = true;
            wanted &= if to_send { !0 } else { !TO_SEND };
        }
        // Cutting down a registration cannot reach a limit.
        let _ = self.change(wire, place, lane, wanted);
        if to_receive || to_send {
            self.enqueue(event_loop, place);
        }
    }
}

/// How long is left to wait for events. The call that waits for them counts in whole milliseconds, rounded up
/// (`epoll_pwait2` does not, and is not in every kernel): what a timer has left below two of them is waited for in
/// `ppoll`, for which an instance of epoll is readable when it has an event; and of a longer time the last
/// millisecond is left for that.
pub(super) fn doze(
    epoll: &OwnedFd,
    timeout: Option<Duration>,
) -> Result<Option<Duration>, Trouble> {
    let Some(left) = timeout.filter(|left| !left.is_zero()) else { return Ok(timeout) };
    if left >= COARSE {
        let whole = Duration::from_millis(u64::try_from(left.as_millis()).unwrap_or(u64::MAX) - 1);
        return Ok(Some(whole));
    }
    let mut watched = [PollFd::new(epoll, PollFlags::IN)];
    rustix::event::poll(&mut watched, Some(&timespec(left)))?;
    Ok(Some(Duration::ZERO))
}

fn flags(wanted: u8) -> EventFlags {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, wanted & TO_RECEIVE != 0);
    flags.set(EventFlags::OUT, wanted & TO_SEND != 0);
    flags
}
