//! What every engine does alike: a worker at work, from its first event to its last.
//!
//! An [`EventLoop`] holds the flows in their slots, knows which operation each wants next (`decide`), tells it what came of
//! one (`complete`), and attends to what is not bytes (`attend`): commands, timers, reports. An engine that knows which
//! sockets are ready decides which slot to [`visit`](EventLoop::visit) next, where operations are done as they are
//! decided (`transfer`), and how to wait when none has anything to do. One that hands operations to the kernel is `completion`'s:
//! it takes them with buffers of their own (`submit`), and gives them back with what came of them (`arrive`); what happens to a
//! flow meanwhile is settled in `flight`.

mod arrive;
mod attend;
mod batches;
mod batching;
mod closing;
mod complete;
mod decide;
mod flight;
mod held_back;
mod kept_want;
mod lanes;
#[cfg(not(pathscope_other))]
mod lent;
mod numbers;
mod places;
mod prologue;
mod reports;
mod rest;
mod room;
mod sight;
mod slot;
mod stamps;
mod submit;
mod succession;
mod transfer;
mod visit;
mod wire;

use pathscope_core::record::{BatchUse, OffCpu, WorkerUsage};
use pathscope_core::{Tick, Wait};
use pathscope_flow::{Batches, ClockNeed, Machine, Phase, Transport, Weigh};
use pathscope_os::cpus::{self, ThreadUsage};
use pathscope_os::{Waker, memory};

use crate::inbox::{Inbox, Notice, Outbox};
use crate::timers::Timers;
use crate::{Ended, EngineError, Finished, ReportOf, Succession, SystemCalls, Worker};

use attend::Kept;
use batching::Batching;
pub(crate) use complete::Step;
use flight::Flights;
pub use flight::{Ticket, Way};
#[cfg(not(pathscope_other))]
pub(crate) use lent::{Lent, LentSize};
use places::Places;
use reports::Reports;
pub(crate) use rest::{Pause, Rest};
use room::Room;
use slot::SlotState;
pub(crate) use slot::{Awaited, Medium, Slot};
use stamps::Stamps;
pub(crate) use submit::Spare;
pub use submit::{Completion, Submission, Work};
pub(crate) use visit::{Direction, Visit};
pub(crate) use wire::Wire;
use wire::WireState;

pub(crate) use crate::calls::Called;

/// Room for what a machine writes anew in one send of a stream: headers, mostly.
const SCRATCH_BYTES: usize = 4_096;
/// Room for the datagrams of one send.
const DATAGRAM_BYTES: usize = 64 * 1_024;
/// Below this an operation is one of small messages: its call costs more than its copy, and what comes
/// next mostly answers what was sent.
const SMALL_BYTES: usize = 16 << 10;
/// After a graceful close, how long the other end is given to close as well.
const LINGER_NS: u64 = 1_000_000_000;

/// How an event loop differs from another of the same engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lingering {
    /// After a graceful close, what still comes is taken until the other end closes.
    Allowed,
    /// Somebody else reads these sockets.
    LeftToOthers,
}

/// A worker at work.
#[derive(Debug)]
pub(crate) struct EventLoop<M: Machine, S> {
    pub calls: S,
    /// The last clock reading.
    pub now: Tick,
    pub slots: Vec<Slot<M>>,
    pub rest: Rest,
    /// Slots to which something happened outside of a visit.
    pub roused: Vec<u32>,
    /// When the engine looks at sockets that it has the system tell nothing of.
    pub look_by: Tick,
    shared: M::Shared,
    medium: Medium,
    lingering: Lingering,
    timers: Timers,
    /// The last slot that a timer woke and that had no visit since.
    last_woken: Option<usize>,
    /// A report to be told. It is as large as a machine's report, and there for no longer than half a millisecond: a server with thousands of
    /// workers has no room in each for it.
    kept: Option<Box<Kept<ReportOf<M>>>>,
    /// Whether each comes with what went through each flow.
    tells_flows: bool,
    inbox: Inbox,
    outbox: Outbox<ReportOf<M>>,
    reports: Reports,
    places: Places,
    /// Slots that are not over.
    open: usize,
    succession: Option<Succession<M>>,
    /// Whether flows may still come.
    expects_more: bool,
    /// Slots whose flows are gone, for those that come.
    vacant: Vec<u32>,
    left: Option<Ended>,
    flights: Flights,
    received: Room,
    datagrams: Box<[u8]>,
    scratch: Box<[u8]>,
    account: Account,
    /// Where the kernel was asked for stamps.
    stamps: Option<Stamps>,
}

/// What the worker's thread used.
#[derive(Debug)]
struct Account {
    engine: &'static str,
    wait: Wait,
    began: Tick,
    used_before: Option<ThreadUsage>,
    operations: u64,
    flows: u64,
    /// Where it never sleeps.
    off_cpu: Option<OffCpu>,
    /// How datagrams moved, and whether several may at once.
    batches: BatchUse,
    may_batch: bool,
}

impl Account {
    /// Reads the clock.
    #[inline]
    fn look<S: SystemCalls>(&mut self, now: &mut Tick, calls: &mut S) {
        let last = std::mem::replace(now, calls.now());
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.add(now.nanos_since(last));
        }
    }
}

impl<M: Machine, S: SystemCalls> EventLoop<M, S> {
    /// Takes the worker's flows to their slots. To be called on the thread that runs them.
    pub fn open(
        mut worker: Worker<M>,
        mut calls: S,
        engine: &'static str,
        lingering: Lingering,
    ) -> Result<Self, EngineError> {
        let terms = worker.terms;
        if terms.wait == Wait::Auto {
            return Err(EngineError::WaitUndecided);
        }
        cpus::set_precise_timers()?;
        let mut slots = Slot::all_of(&mut worker);
        let stamps = if terms.stamps {
            Stamps::begin(&mut slots, terms.transport, &mut calls)
        } else {
            None
        };
        if terms.transport == Transport::Datagram {
            for wire in slots.iter_mut().flat_map(|slot| &mut slot.wires) {
                let socket = wire.socket.as_ref();
                let batching = socket.and_then(|it| Batching::begin(terms.batches, it, &mut calls));
                wire.aside().batching = batching;
            }
        }
        let datagram_bytes =
            if terms.transport == Transport::Datagram { DATAGRAM_BYTES } else { 0 };
        let now = calls.now();
        let account = Account {
            engine,
            wait: terms.wait,
            began: now,
            used_before: cpus::thread_usage(),
            operations: 0,
            flows: slots.len() as u64,
            off_cpu: None,
            batches: BatchUse::default(),
            may_batch: terms.transport == Transport::Datagram && terms.batches != Batches::One,
        };
        let mut event_loop = Self {
            calls,
            now,
            rest: Rest::new(terms.wait),
            roused: Vec::with_capacity(slots.len()),
            look_by: Tick::NEVER,
            shared: worker.shared,
            medium: Medium {
                transport: terms.transport,
                room_bytes: terms.receive_buffer_bytes.max(1),
                closes_departed: worker.succession.is_some(),
                counts_lost: terms.counts_lost,
            },
            lingering,
            timers: Timers::new(slots.len()),
            last_woken: None,
            kept: None,
            tells_flows: false,
            inbox: worker.inbox,
            outbox: worker.outbox,
            reports: Reports::new(terms.start, terms.report_every, terms.begin.max(now)),
            places: Places::of(
                slots.iter().map(|slot| slot.machine.id()),
                worker.succession.is_none(),
            ),
            open: slots.len(),
            expects_more: worker.succession.is_some(),
            succession: worker.succession,
            vacant: Vec::new(),
            left: None,
            flights: Flights::default(),
            received: Room::new(terms.receive_buffer_bytes),
            datagrams: vec![0; datagram_bytes].into(),
            scratch: vec![0; SCRATCH_BYTES].into(),
            account,
            stamps,
            slots,
        };
        if M::CLOCK == ClockNeed::EveryOperation {
            // What small messages go through: the kernel is to find memory for it before any is timed.
            event_loop.received.touch_first();
            memory::touch(event_loop.datagrams.get_mut(..SCRATCH_BYTES).unwrap_or_default());
            memory::touch(&mut event_loop.scratch);
        }
        event_loop.begin(terms.begin)?;
        Ok(event_loop)
    }

    /// Whether there is anything left to do.
    pub fn is_open(&self) -> bool {
        (self.open > 0 || self.expects_more) && self.left.is_none()
    }

    /// What carries the flows.
    pub fn transport(&self) -> Transport {
        self.medium.transport
    }

    /// What wakes this worker.
    #[cfg_attr(pathscope_other, expect(dead_code, reason = "for the epoll engine alone"))]
    pub fn waker(&self) -> &Waker {
        self.inbox.waker()
    }

    /// What the flow waits for on one of its lanes.
    pub fn awaited(&self, place: usize, lane: usize) -> Awaited {
        self.slots[place].awaited(lane, self.medium)
    }

    /// Reads the clock.
    #[inline]
    pub fn tick(&mut self) {
        self.account.look(&mut self.now, &mut self.calls);
    }

    /// The last report, the account, and the flows back.
    pub fn close(mut self) -> Finished<M> {
        self.forget_flights();
        self.tick();
        self.report_the_rest();
        self.dismiss_all();
        let usage = self.usage();
        let mut lane_drops = Vec::new();
        if self.slots.iter().any(|slot| slot.roams) {
            lane_drops = self.slots.iter_mut().map(Slot::lane_drops).collect();
        }
        // In the same memory, and less of it: of very many there is none for both.
        let mut flows: Vec<_> = self.slots.into_iter().map(Slot::leave).collect();
        flows.shrink_to_fit();
        Finished {
            lane_drops,
            flows,
            shared: self.shared,
            usage: vec![usage],
            ended: self.left.unwrap_or(Ended::AllOver),
            stamps: self.stamps.as_ref().map(Stamps::facts),
        }
    }

    /// What was used until now, and of how long: the clock is read around what it is a share of, since taking leave of flows takes
    /// time as well, most of it perhaps without a processor.
    fn usage(&mut self) -> WorkerUsage {
        let used = cpus::thread_usage().zip(self.account.used_before);
        let ended = self.calls.now();
        let used = used.map(|(now, before)| now.since(before)).unwrap_or_default();
        WorkerUsage {
            elapsed_ns: ended.nanos_since(self.account.began),
            user_ns: used.user_ns,
            system_ns: used.system_ns,
            preempted: used.preempted,
            waited_ns: used.waited_ns,
            flows: self.account.flows,
            engine: self.account.engine.to_owned(),
            wait: self.account.wait.name().to_owned(),
            operations: self.account.operations,
            batches: self.account.may_batch.then_some(self.account.batches),
            off_cpu: self.account.off_cpu,
        }
    }

    /// Asks the flow what it wants, if something happened to it since, and does what is not bytes.
    pub fn refresh(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        if !slot.is_stale() || self.flights.count > 0 && self.cannot_be_asked(place) {
            return;
        }
        self.slots[place].ask(&mut self.shared, self.now);
        if self.flights.count > 0 && self.lands_first(place) {
            return;
        }
        self.carry_out(place);
    }

    /// Does what is not bytes of what a flow said last.
    #[inline]
    fn carry_out(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        let weighs_all = slot.want.weigh == Weigh::All;
        if !slot.want.sends() && slot.wires.iter().any(|wire| wire.keeps_end) {
            self.push(place);
        }
        let slot = &mut self.slots[place];
        slot.carry_out(&mut self.shared, self.medium, self.now);
        if let Some(due) = slot.timer_change() {
            self.timers.set(place, due);
        }
        self.announce(place);
        if weighs_all {
            self.have_others_weighed(place);
        }
    }

    /// Tells the session of a change of phase.
    fn announce(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        let Some(phase) = slot.phase_change() else { return };
        let notice = Notice::Phase {
            flow: slot.machine.id(),
            phase,
            totals: slot.machine.totals(),
            at: slot.machine.ended_at().filter(|_| phase.is_over()).unwrap_or(self.now),
            error: slot.machine.error().filter(|_| phase == Phase::Failed).map(Box::new),
        };
        self.outbox.send(notice, &self.sight());
        if phase.is_over() {
            self.retire(place);
        }
    }

    /// A flow wants nothing any more; a stream that was closed gracefully is read to its end first.
    fn retire(&mut self, place: usize) {
        let lingers = self.medium.transport == Transport::Stream
            && self.lingering == Lingering::Allowed
            && self.slots[place].may_linger();
        if lingers {
            self.slots[place].state = SlotState::Lingering;
            self.timers.set(place, self.now.plus_nanos(LINGER_NS));
        } else {
            self.dismiss(place);
        }
    }

    fn dismiss(&mut self, place: usize) {
        let slot = &mut self.slots[place];
        if slot.state != SlotState::Over {
            slot.state = SlotState::Over;
            self.open -= 1;
            self.timers.set(place, Tick::NEVER);
            if self.flights.count > 0 {
                self.depart_when_landed(place);
            } else {
                self.depart(place);
            }
        }
    }
}
