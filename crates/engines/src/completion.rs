//! Engines that hand operations to the kernel and hear what came of them: a ring of submissions, a completion port.
//!
//! What all of them do alike is here; what tells them apart is a [`Driver`]. An operation owns its buffer while the driver
//! has it, one that sends and one that receives on each lane at most, which may complete several times. Operations of one lane complete in the order in which
//! the system did them, those of different lanes in any.

use std::collections::VecDeque;
use std::time::Duration;

use pathscope_core::id::Lane;
use pathscope_flow::Machine;
use pathscope_os::{Socket, Waker};

pub use crate::calls::Called;
pub use crate::event_loop::{Completion, Submission, Ticket, Way, Work};
use crate::event_loop::{EventLoop, Lingering, Pause, Spare};
use crate::{EngineError, Finished, SystemCalls, Trouble, Worker};

/// Completions that are told before it is others' turn: commands, timers, submissions.
const TOLD_AT_ONCE: usize = 64;
/// Parts of what was left that one visit shows, so that no flow starves others.
const SHOWN_AT_ONCE: usize = 16;

/// What carries operations out.
pub trait Driver<S: SystemCalls> {
    /// Begins an operation on this socket, which stays open until the operation is complete. Its flow may be over by then, and its lane have
    /// another.
    fn submit(&mut self, submission: Submission, socket: &Socket, calls: &mut S);

    /// Has an operation end early, if it has not ended yet. It completes all the same, and soon.
    fn recall(&mut self, ticket: Ticket);

    /// The next operation that is complete.
    fn next(&mut self, calls: &mut S) -> Option<Completion>;

    /// Whether it keeps back something that is complete: nobody sleeps then.
    fn keeps_back(&self) -> bool {
        false
    }

    /// Whether more waits on a lane than its flow has received for what it sent: the next send is begun after that. Only where it is sure: the
    /// receive that is in flight completes without it.
    fn receives_first(&mut self, _ticket: Ticket) -> bool {
        false
    }

    /// Whether it has rooms for what comes: operations that receive get one as they complete, and have none before.
    fn has_rooms(&self) -> bool {
        false
    }

    /// Takes back a room of its own: what lay in it was told.
    fn take_back(&mut self, room: Box<[u8]>) {
        drop(room);
    }

    /// Waits until an operation may be complete, the waker is raised, or the time is up.
    fn wait(&mut self, waker: &Waker, timeout: Option<Duration>) -> Result<Called, Trouble>;
}

/// Runs a worker's flows on the calling thread until all are over.
pub fn run<M: Machine, S: SystemCalls>(
    (name, mut driver): (&'static str, impl Driver<S>),
    worker: Worker<M>,
    calls: S,
) -> Result<Finished<M>, EngineError> {
    let mut event_loop = EventLoop::open(worker, calls, name, Lingering::Allowed)?;
    let mut turns = Turns::default();
    turns.spare.driver_has_rooms = driver.has_rooms();
    while event_loop.is_open() {
        event_loop.tick();
        let began = event_loop.now;
        event_loop.attend();
        turns.has_recalled = false;
        turns.recall(&mut event_loop, &mut driver);
        let is_told = turns.tell(&mut event_loop, &mut driver);
        turns.serve(&mut event_loop, &mut driver);
        if !event_loop.is_open() {
            break;
        }
        if turns.has_recalled {
            // It may have landed already, and somebody waits for that.
            continue;
        }
        // What was begun in this turn and is complete at once ends the wait.
        let may_sleep =
            !driver.keeps_back() && turns.queue.is_empty() && event_loop.roused.is_empty();
        let pause = if may_sleep { event_loop.pause() } else { Pause::Spin };
        event_loop.wait(pause, |_, (waker, _), timeout| driver.wait(waker, timeout))?;
        if may_sleep && !is_told {
            event_loop.approach(began);
        }
    }
    // Whoever gets the sockets is alone with them.
    drop(driver);
    Ok(event_loop.close())
}

/// Who is to be visited, and what is free for their operations.
#[derive(Default)]
struct Turns {
    queue: VecDeque<u32>,
    spare: Spare,
    /// Whether something was recalled in this turn.
    has_recalled: bool,
}

impl Turns {
    /// Tells flows what came of their operations; whether there was any.
    fn tell<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        driver: &mut impl Driver<S>,
    ) -> bool {
        for told in 0..TOLD_AT_ONCE {
            let Some(completion) = driver.next(&mut event_loop.calls) else { return told > 0 };
            if told > 0 {
                event_loop.tick();
            }
            let has_moved = completion.has_moved();
            let place = event_loop.arrive(completion, &mut self.spare);
            if self.spare.driver_has_rooms {
                self.spare.rooms.drain(..).for_each(|room| driver.take_back(room));
            }
            if has_moved {
                event_loop.rest.moved();
            }
            self.enqueue(event_loop, place);
        }
        true
    }

    /// Begins what everyone wants to whom something happened.
    fn serve<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        driver: &mut impl Driver<S>,
    ) {
        self.queue.extend(event_loop.roused.drain(..));
        for _ in 0..self.queue.len() {
            let Some(place) = self.queue.pop_front() else { return };
            let place = place as usize;
            event_loop.slots[place].is_queued = false;
            if self.visit(event_loop, driver, place) {
                self.enqueue(event_loop, place);
            }
            self.recall(event_loop, driver);
            if !self.queue.is_empty() {
                event_loop.tick();
                event_loop.attend();
            }
            if !event_loop.is_open() {
                return;
            }
        }
        // A flow may have had something recalled that has no visit.
        self.recall(event_loop, driver);
        self.queue.extend(event_loop.roused.drain(..));
    }

    fn recall<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        driver: &mut impl Driver<S>,
    ) {
        while let Some(ticket) = event_loop.next_recall() {
            driver.recall(ticket);
            self.has_recalled = true;
        }
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

    /// Begins what one flow wants; whether there is more to do at once.
    fn visit<M: Machine, S: SystemCalls>(
        &mut self,
        event_loop: &mut EventLoop<M, S>,
        driver: &mut impl Driver<S>,
        place: usize,
    ) -> bool {
        event_loop.refresh(place);
        for _ in 0..SHOWN_AT_ONCE {
            for lane in 0..event_loop.slots[place].wires.len() {
                let lane = Lane(lane as u8);
                if let Some(receive) = event_loop.submit_receive(place, lane, &mut self.spare) {
                    begin(receive, event_loop, driver);
                }
                // A flow may have departed by what it was shown.
                if event_loop.slots[place].wires.is_empty() {
                    return false;
                }
            }
            if !event_loop.has_rest_to_show(place) {
                break;
            }
        }
        if event_loop.receiving_where_it_sends(place).is_some_and(|it| driver.receives_first(it)) {
            return false;
        }
        let send = event_loop.submit_send(place, &mut self.spare);
        let is_offered = send.as_ref().is_some_and(|send| !matches!(send.work, Work::AwaitRoom));
        if let Some(send) = send {
            begin(send, event_loop, driver);
        }
        if !is_offered && !event_loop.slots[place].is_sending() {
            event_loop.visited(place);
        }
        event_loop.has_rest_to_show(place)
    }
}

/// Hands an operation over.
fn begin<M: Machine, S: SystemCalls>(
    submission: Submission,
    event_loop: &mut EventLoop<M, S>,
    driver: &mut impl Driver<S>,
) {
    let EventLoop { slots, calls, .. } = event_loop;
    let Ticket { place, lane, .. } = submission.ticket;
    // What has an operation is there, and has its socket.
    let wire = slots.get(place as usize).and_then(|slot| slot.wires.get(lane.index()));
    if let Some(socket) = wire.and_then(|wire| wire.socket.as_ref()) {
        driver.submit(submission, socket, calls);
    }
}
