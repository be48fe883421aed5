//! The plain engine: tries each socket with direct calls. For one flow, or few.
//!
//! Spinning, a turn is one system call for each way a flow wants to move, and nothing else. Sleeping, a
//! single flow that only sends, or only receives and times what it receives, sleeps in that very call, bounded by the socket's
//! own timeout, as long as something moves; otherwise the worker sleeps in `ppoll`, which keeps timers to the nanosecond and
//! hears commands at once.

mod split;
mod whole;

use std::time::Duration;

use arrayvec::ArrayVec;
use pathscope_core::{Tick, Wait};
use pathscope_flow::{ClockNeed, Machine, Transport};
use pathscope_os::{OsError, Waker};

use crate::calls::{Called, Watch, poll};
use crate::event_loop::{
    Awaited, Direction, EventLoop, Lingering, Medium, Pause, Slot, Step, Visit, Wire,
};
use crate::{Blocking, EngineError, Finished, SystemCalls, Trouble, Worker};

/// As it is typed.
pub const NAME: &str = "plain";

pub use split::run_split;

/// The longest sleep in a call that a command cannot interrupt. Of those that time each message more than of streams: a
/// processor that idles with a timer due in 10 ms wakes later for what comes (measured on a virtual machine: round trips
/// over TCP 1.036 times as long, 1.018 to 1.055 in 54 pairs, as with one in 50 ms).
const fn longest_sleep<M: Machine>() -> Duration {
    match M::CLOCK {
        ClockNeed::EveryOperation => Duration::from_millis(50),
        ClockNeed::EveryTurn => Duration::from_millis(10),
    }
}

/// A timer or report that is due sooner keeps a worker from such a sleep. More than the sleep, since the
/// kernel rounds a socket's timeout up to its scheduler tick, 10 ms at most; and a millisecond to wake up in and to
/// approach the timer as the worker waits.
const fn least_time_ns<M: Machine>() -> u64 {
    longest_sleep::<M>().as_nanos() as u64 + 11_000_000
}

/// Lanes that can be watched without an allocation.
const WATCHES_ON_STACK: usize = 15;

/// Runs a worker's flows on the calling thread until all are over.
pub fn run<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let worker = worker.make_all();
    let timeouts = Timeouts::set(&worker)?;
    let finished = work(worker, calls, Lingering::Allowed)?;
    timeouts.unset(&finished);
    Ok(finished)
}

fn work<M: Machine, S: SystemCalls>(
    worker: Worker<M>,
    calls: S,
    lingering: Lingering,
) -> Result<Finished<M>, EngineError> {
    let sleeps = worker.terms.wait == Wait::Sleep;
    let mut event_loop = EventLoop::open(worker, calls, NAME, lingering)?;
    let mut blocks = Blocks::Again;
    while event_loop.is_open() {
        event_loop.tick();
        let began = event_loop.now;
        event_loop.attend();
        let has_moved = (sleeps && block(&mut event_loop, &mut blocks) == Slept::Moved)
            || visit_all(&mut event_loop);
        if has_moved {
            blocks = Blocks::Again;
        } else {
            rest(&mut event_loop, &mut blocks, began)?;
        }
    }
    Ok(event_loop.close())
}

/// Lets every flow move what it can; whether any did.
fn visit_all<M: Machine, S: SystemCalls>(event_loop: &mut EventLoop<M, S>) -> bool {
    forget_roused(event_loop);
    let mut moved = false;
    for place in 0..event_loop.slots.len() {
        for wire in &mut event_loop.slots[place].wires {
            (wire.readable, wire.writable) = (true, true);
        }
        moved |= event_loop.visit(place) != Visit::Idle;
        if place > 0 {
            event_loop.tick();
        }
        event_loop.attend();
    }
    if moved {
        event_loop.rest.moved();
    }
    moved
}

/// Every slot is visited in every turn: whom something happened to does not matter here.
fn forget_roused<M: Machine, S: SystemCalls>(event_loop: &mut EventLoop<M, S>) {
    while let Some(place) = event_loop.roused.pop() {
        event_loop.slots[place as usize].is_queued = false;
    }
}

fn rest<M: Machine, S: SystemCalls>(
    event_loop: &mut EventLoop<M, S>,
    blocks: &mut Blocks,
    began: Tick,
) -> Result<(), EngineError> {
    match event_loop.pause() {
        _ if !event_loop.is_open() || !event_loop.roused.is_empty() => Ok(()),
        // No hint to the processor: the next turn is a system call, and the hint would delay it.
        Pause::Spin => {
            event_loop.approach(began);
            Ok(())
        }
        // Be it in vain, it took time: what is due now is known in the next turn.
        Pause::Sleep if block(event_loop, blocks) != Slept::No => Ok(()),
        Pause::Sleep => event_loop.wait(Pause::Sleep, |slots, (waker, medium), timeout| {
            watch(slots, waker, medium, timeout)
        }),
    }
}

/// Whether to sleep in calls that move bytes, which a command cannot interrupt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Blocks {
    Again,
    /// Not before something has moved: the last such call waited in vain.
    NotYet,
}

/// What came of a call that moves bytes and may sleep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slept {
    /// None was made.
    No,
    InVain,
    /// Something moved.
    Moved,
}

/// Where a single flow wants to move one way only and nothing else is due soon: moves it with a call
/// that may sleep.
fn block<M: Machine, S: SystemCalls>(
    event_loop: &mut EventLoop<M, S>,
    blocks: &mut Blocks,
) -> Slept {
    if *blocks == Blocks::NotYet || !can_block(event_loop) {
        return Slept::No;
    }
    let wire = &mut event_loop.slots[0].wires[0];
    (wire.readable, wire.writable) = (true, true);
    event_loop.visited(0);
    let (_, step) = event_loop.step(0, Direction::Out, Blocking::UntilTimeout);
    if step == Step::Idle {
        *blocks = Blocks::NotYet;
        return Slept::InVain;
    }
    event_loop.rest.moved();
    Slept::Moved
}

fn can_block<M: Machine, S: SystemCalls>(event_loop: &mut EventLoop<M, S>) -> bool {
    let [slot] = &event_loop.slots[..] else { return false };
    // One that comes must not wait, and its sockets have no timeouts.
    if event_loop.has_succession() {
        return false;
    }
    // Nor does a lane that joined later, and another may join at any time.
    if slot.wires.len() != 1 || slot.roams {
        return false;
    }
    // What happened last may have set another timer.
    event_loop.refresh(0);
    if event_loop.due().nanos_since(event_loop.now) < least_time_ns::<M>() {
        return false;
    }
    let Awaited { to_receive, to_send } = event_loop.awaited(0, 0);
    // Datagrams are stamped before they are sent, and the timeout is of each and not of the call; and who times each send
    // has to hear that one was refused, and when.
    let is_timed =
        event_loop.transport() == Transport::Datagram || M::CLOCK == ClockNeed::EveryOperation;
    if to_send && is_timed {
        return false;
    }
    // A sender at its limit brings less to a receive that sleeps than to one behind a sleep in `ppoll`: 8 to 11 % less over
    // loopback, in either tool's receiver (docs/method/bench.md, "iperf3's wire").
    if to_receive && M::CLOCK == ClockNeed::EveryTurn {
        return false;
    }
    let wire = &event_loop.slots[0].wires[0];
    let has_rest = !wire.unread.is_empty() && !wire.starved;
    to_receive != to_send && !has_rest && event_loop.is_open()
}

/// Sleeps until a lane that is waited for is ready.
fn watch<M: Machine>(
    slots: &mut [Slot<M>],
    waker: &Waker,
    medium: Medium,
    timeout: Option<Duration>,
) -> Result<Called, Trouble> {
    let watches = slots.iter().flat_map(|slot| {
        slot.wires
            .iter()
            .enumerate()
            .filter_map(move |(lane, wire)| watch_for(wire, slot.awaited(lane, medium)))
    });
    if watches.clone().nth(WATCHES_ON_STACK).is_none() {
        let mut watches: ArrayVec<Watch<'_>, WATCHES_ON_STACK> = watches.collect();
        return poll(&mut watches, waker, timeout);
    }
    let mut watches: Vec<Watch<'_>> = watches.collect();
    poll(&mut watches, waker, timeout)
}

fn watch_for(wire: &Wire, awaited: Awaited) -> Option<Watch<'_>> {
    let Awaited { to_receive, to_send } = awaited;
    let socket = wire.socket.as_ref().filter(|_| to_receive || to_send)?;
    Some(Watch { socket, readable: to_receive, writable: to_send })
}

/// The timeouts that bound a blocking call, unset before the sockets go back. Those of a worker that could not go on are closed.
struct Timeouts {
    are_set: bool,
}

impl Timeouts {
    /// For a worker that may block: only a single flow on a single lane does.
    fn set<M: Machine>(worker: &Worker<M>) -> Result<Self, EngineError> {
        let socket = match &worker.flows[..] {
            // Nobody blocks where flows are replaced, and who departs must be closed.
            _ if worker.succession.is_some() => None,
            [(_, sockets)] if sockets.len() == 1 && worker.terms.wait != Wait::Spin => {
                sockets.first()
            }
            _ => None,
        };
        if let Some(socket) = socket {
            let set = socket
                .set_receive_timeout(Some(longest_sleep::<M>()))
                .and_then(|()| socket.set_send_timeout(Some(longest_sleep::<M>())));
            set.map_err(|source| OsError::Call { what: "set the timeouts of a socket", source })?;
        }
        Ok(Self { are_set: socket.is_some() })
    }

    fn unset<M: Machine>(self, finished: &Finished<M>) {
        let sockets = finished.flows.iter().flat_map(|(_, sockets)| sockets.iter());
        for socket in sockets.filter(|_| self.are_set) {
            // A failure leaves a timeout on a socket that is broken anyway.
            let _ = socket.set_receive_timeout(None);
            let _ = socket.set_send_timeout(None);
        }
    }
}
