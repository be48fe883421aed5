//! Time, and what is to happen in it. Knows neither machines nor bytes: who handles a happening is the
//! simulator's business.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};

use super::chance::{Dice, Portions};
use super::offer::Content;
use super::script::{Action, Fate, Passing};
use super::{Conditions, Ends};
use crate::{Event, KeptSend};

/// One machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct EndKey {
    pub(super) flow: FlowId,
    pub(super) role: Role,
}

/// One direction of one lane.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PipeKey {
    pub(super) flow: FlowId,
    pub(super) lane: Lane,
    pub(super) from: Role,
}

impl PipeKey {
    pub(super) const fn sender(self) -> EndKey {
        EndKey { flow: self.flow, role: self.from }
    }

    /// The other direction of the lane.
    pub(super) const fn reverse(self) -> Self {
        Self { from: self.from.peer(), ..self }
    }

    pub(super) const fn receiver(self) -> EndKey {
        EndKey { flow: self.flow, role: self.from.peer() }
    }
}

/// What travels over a link.
#[derive(Debug)]
pub(super) enum Parcel {
    /// A datagram, or a piece of a stream.
    Payload(Vec<u8>),
    /// The end of a stream.
    Fin,
}

/// Something that happens at a time.
#[derive(Debug)]
pub(super) enum Happening {
    /// A parcel reaches the receiving socket.
    Arrive { pipe: PipeKey, parcel: Parcel },
    /// The sender of a stream learns that the receiver has taken so many bytes.
    Credit { pipe: PipeKey, bytes: usize },
    /// A link can take the next parcel.
    LinkFree(PipeKey),
    /// A socket learns that its connection is gone.
    Break { end: EndKey, lane: Lane, errno: i32 },
    /// A machine is told of something.
    Tell { end: EndKey, event: Event },
    /// Every other flow of this end's process is to say whether it wants to be weighed.
    Weigh(EndKey),
    /// A timer is due.
    Wake(EndKey),
    /// It may be told what came of a send.
    Land(EndKey),
    /// A pause is over.
    Resume,
    /// The test does something.
    Script(Action),
}

/// As much as one offloaded send of datagrams carries.
const SCRATCH_BYTES: usize = 64 << 10;

/// Decides over datagrams.
pub(super) type Fates = Box<dyn FnMut(&mut Passing<'_>) -> Fate>;
/// Changes pieces of streams.
pub(super) type Tampering = Box<dyn FnMut(&mut Passing<'_>)>;

/// All that the flows of a simulation have in common, at both ends.
pub(super) struct World {
    pub(super) now: Tick,
    pub(super) conditions: Conditions,
    pub(super) reads: Portions,
    pub(super) writes: Portions,
    pub(super) flights: Dice,
    pub(super) operations: u64,
    /// Machines that are not over.
    pub(super) alive: usize,
    /// Where machines put what they write: the simulator's one buffer.
    pub(super) scratch: Vec<u8>,
    /// For sends that the system has for a while.
    pub(super) kept: Vec<KeptSend>,
    pub(super) totals_after_ns: Option<u64>,
    pub(super) fates: Option<Fates>,
    pub(super) tampering: Option<Tampering>,
    paused_until: Ends<Tick>,
    agenda: BinaryHeap<Entry>,
    entries: u64,
    ready: VecDeque<EndKey>,
    is_ready: Vec<Ends<bool>>,
}

impl World {
    pub(super) fn new(conditions: Conditions) -> Self {
        Self {
            now: Tick::ZERO,
            conditions,
            reads: Portions::new(conditions.reads),
            writes: Portions::new(conditions.writes),
            flights: Dice::new(conditions.flights.map_or(0, |flights| flights.seed)),
            operations: 0,
            alive: 0,
            scratch: vec![0; SCRATCH_BYTES],
            kept: Vec::new(),
            totals_after_ns: None,
            fates: None,
            tampering: None,
            paused_until: Ends::both(Tick::ZERO),
            agenda: BinaryHeap::new(),
            entries: 0,
            ready: VecDeque::new(),
            is_ready: Vec::new(),
        }
    }

    /// One more flow, numbered next.
    pub(super) fn add_flow(&mut self) {
        self.is_ready.push(Ends::both(false));
        self.alive += 2;
    }

    /// What the clock of one end shows.
    pub(super) fn clock(&self, role: Role) -> Tick {
        self.clock_at(role, self.now)
    }

    /// What the clock of one end shows at a time of the simulation.
    pub(super) fn clock_at(&self, role: Role, at: Tick) -> Tick {
        self.conditions.clock_origins[role].plus_nanos(at.as_nanos())
    }

    /// Somewhere to keep the bytes of a send.
    pub(super) fn kept_send(&mut self) -> KeptSend {
        self.kept.pop().unwrap_or_else(|| KeptSend::new(SCRATCH_BYTES))
    }

    /// What the bytes of an offer were kept in may keep others.
    pub(super) fn done_with(&mut self, content: Content) {
        if let Content::Stream(kept) = content {
            self.kept.push(kept);
        }
    }

    /// When a timer fires that one end wants at `wake` of its own clock.
    pub(super) fn firing(&self, role: Role, wake: Tick) -> Tick {
        let since_origin = wake.nanos_since(self.conditions.clock_origins[role]);
        Tick::from_nanos(since_origin).plus_nanos(self.conditions.timers_late_ns)
    }

    /// Puts something on the agenda. What happens at one time happens in the order of these calls.
    pub(super) fn at(&mut self, at: Tick, happening: Happening) {
        let number = self.entries;
        self.entries += 1;
        self.agenda.push(Entry { at: at.max(self.now), number, happening });
    }

    pub(super) fn next_at(&self) -> Option<Tick> {
        self.agenda.peek().map(|entry| entry.at)
    }

    pub(super) fn take_next(&mut self) -> Option<(Tick, Happening)> {
        self.agenda.pop().map(|entry| (entry.at, entry.happening))
    }

    pub(super) fn pause(&mut self, role: Role, for_ns: u64) {
        let until = self.now.plus_nanos(for_ns).max(self.paused_until[role]);
        self.paused_until[role] = until;
        self.at(until, Happening::Resume);
    }

    /// This machine may have something to do.
    pub(super) fn make_ready(&mut self, end: EndKey) {
        let is_ready = &mut self.is_ready[end.flow.0 as usize][end.role];
        if !*is_ready {
            *is_ready = true;
            self.ready.push_back(end);
        }
    }

    /// The machine whose turn it is, of those that are not paused.
    pub(super) fn next_ready(&mut self) -> Option<EndKey> {
        let runs = |end: &EndKey| self.paused_until[end.role] <= self.now;
        let place = self.ready.iter().position(runs)?;
        let end = self.ready.remove(place)?;
        self.is_ready[end.flow.0 as usize][end.role] = false;
        Some(end)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("World")
            .field("now", &self.now)
            .field("operations", &self.operations)
            .field("agenda", &self.agenda)
            .field("ready", &self.ready)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Entry {
    at: Tick,
    number: u64,
    happening: Happening,
}

/// The earliest is the greatest, since the heap hands out the greatest.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Entry {}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
