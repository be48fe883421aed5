//! Carries operations out by the ring.
//!
//! Those that the ring knows are handed over: sends of a stream or of one datagram, or of several that the system cuts, and receives. What
//! it has no operation for is a call, once the ring says that the socket is ready. So is everything where calls are not the kernel's
//! own: whoever answers them in its place is asked.

use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use io_uring::squeue::Flags;
use io_uring::types::CancelBuilder;
use io_uring::{cqueue, opcode};
use pathscope_os::{Socket, Waker};
use rustix::io::Errno;

use super::flights::{Flights, NOBODY, Stage, WAKER};
use super::operations::{Receives, call, entry, poll};
use super::ring::{Landed, Ring};
use super::rooms::{GROUP, Rooms};
use super::turns::Turns;
use crate::completion::{Called, Completion, Driver, Submission, Ticket, Way, Work};
use crate::{SystemCalls, Trouble};

/// At the end, how often and how long it is waited for what was recalled. It lands at once.
const SETTLING: u32 = 100_000;
const SETTLES_IN: Duration = Duration::from_millis(100);

/// A ring and all that is in flight on it.
pub struct Uring {
    /// Before what it has memory of: it goes first.
    ring: Ring,
    rooms: ManuallyDrop<Rooms>,
    flights: ManuallyDrop<Flights>,
    /// What the kernel has said of its operations, and nobody has heard yet.
    landed: VecDeque<Landed>,
    /// What is complete.
    done: VecDeque<Completion>,
    /// Receives that wait for a room.
    without_room: VecDeque<u64>,
    /// For the names of what is recalled.
    names: Vec<u64>,
    turns: Turns,
    has_recalled: bool,
    waker: Watched,
}

/// Whether the ring looks at the waker, and whether it was seen to be raised.
#[derive(Default)]
struct Watched {
    is_armed: bool,
    is_raised: bool,
}

/// How an operation is carried out.
enum Means {
    /// By the ring.
    Ring,
    /// By the ring, which says when the socket is ready.
    Poll,
    /// By a call.
    Call,
}

impl Uring {
    /// For about so many flows, each of which receives so many bytes at once.
    pub fn new((flows, room_bytes): (usize, usize), turns: Turns) -> io::Result<Self> {
        let ring = Ring::new(flows.saturating_mul(3))?;
        let rooms = Rooms::new(&ring, room_bytes)?;
        Ok(Self {
            ring,
            rooms: ManuallyDrop::new(rooms),
            flights: ManuallyDrop::default(),
            landed: VecDeque::new(),
            done: VecDeque::new(),
            without_room: VecDeque::new(),
            names: Vec::new(),
            turns,
            has_recalled: false,
            waker: Watched::default(),
        })
    }

    fn finish(&mut self, submission: Submission, outcome: Result<usize, Trouble>) {
        self.done.push_back(Completion { submission, outcome, goes_on: false });
    }

    /// Has the kernel begin an operation.
    fn begin(&mut self, submission: Submission, stage: Stage, descriptor: RawFd) {
        let sends = submission.ticket.way == Way::Send;
        let name = self.flights.begin(submission, stage, descriptor);
        match self.put(name) {
            // Where that fails, the next wait says so.
            Ok(()) if sends && self.turns.hand_over_at_once() => drop(self.ring.hand_over()),
            Ok(()) => {}
            Err(trouble) => self.drop_out(name, trouble),
        }
    }

    /// The ring's queue was full, and the kernel did not take what is in it: it never had the operation.
    fn drop_out(&mut self, name: u64, trouble: Trouble) {
        if let Some(flight) = self.flights.end(name) {
            self.finish(flight.submission, Err(trouble));
        }
    }

    /// Puts an operation in the ring's queue.
    fn put(&mut self, name: u64) -> Result<(), Trouble> {
        let Some((flight, _)) = self.flights.get(name) else { return Ok(()) };
        let ticket = flight.submission.ticket;
        let was_emptied = self.flights.traffic(ticket).was_emptied;
        let Some((flight, message)) = self.flights.get(name) else { return Ok(()) };
        if flight.stage == Stage::Asked && ticket.way == Way::Receive {
            self.rooms.open();
        }
        let goes_on = self.turns.receive_goes_on(&flight.submission.work);
        let how = if goes_on { Receives::On } else { Receives::Once { was_emptied } };
        let Some(entry) = entry(flight, message, (self.rooms.room_bytes(), how)) else {
            return Ok(());
        };
        // SAFETY: buffers and headers are in boxes of the flight's, which stays until it has landed, or of the rooms', which the kernel has; both
        // outlive the ring. The socket stays open until its operations have landed, as `completion` has it.
        unsafe { self.ring.push(&entry.user_data(name)) }
    }

    /// Tries an operation by a call, and waits for its socket where it would have to.
    fn attempt<S: SystemCalls>(
        &mut self,
        mut submission: Submission,
        socket: &Socket,
        calls: &mut S,
    ) {
        let outcome = call(&mut submission.work, (socket, &mut self.rooms), calls);
        if outcome == Err(Trouble::Blocked) && submission.ticket.way == Way::Receive {
            self.begin(submission, Stage::Polled, socket.as_fd().as_raw_fd());
        } else {
            // That there is no room to send is told, and its machine with it.
            self.finish(submission, outcome);
        }
    }

    /// Hears what the kernel has said since.
    fn take_landed(&mut self) {
        self.ring.take(&mut self.landed);
    }

    /// What the kernel said of an operation.
    fn land<S: SystemCalls>(&mut self, landed: Landed, calls: &mut S) {
        let Landed { name, result, flags } = landed;
        if name == WAKER {
            self.waker = Watched { is_armed: false, is_raised: true };
            return;
        }
        let Some((flight, _)) = self.flights.get(name) else { return };
        match flight.stage {
            Stage::Polled => self.is_ready((name, result), calls),
            Stage::Asked | Stage::WithoutRoom => self.is_done((name, result), flags),
        }
    }

    fn is_ready<S: SystemCalls>(&mut self, (name, result): (u64, i32), calls: &mut S) {
        let Some(flight) = self.flights.end(name) else { return };
        let submission = flight.submission;
        if let Err(trouble) = outcome(result) {
            self.finish(submission, Err(trouble));
        } else if submission.ticket.way == Way::Neither {
            self.finish(submission, Ok(0));
        } else {
            // SAFETY: it stays open until its operation is complete, and is not closed here.
            let socket = unsafe { OwnedFd::from_raw_fd(flight.descriptor) };
            let socket = ManuallyDrop::new(Socket::from(socket));
            self.attempt(submission, &socket, calls);
        }
    }

    fn is_done(&mut self, (name, result): (u64, i32), flags: u32) {
        let Some((flight, message)) = self.flights.get(name) else { return };
        let receives = flight.submission.ticket.way == Way::Receive;
        if receives && outcome(result) == Err(Trouble::Failed(Errno::NOBUFS.raw_os_error())) {
            self.wants_room(name);
            return;
        }
        if receives && cqueue::more(flags) {
            let room = cqueue::buffer_select(flags).and_then(|it| self.rooms.filled(it));
            let submission = flight.submission.brings(room.unwrap_or_default());
            self.done.push_back(Completion { submission, outcome: outcome(result), goes_on: true });
            return;
        }
        if let Work::Receive { buffer, begin, stamp } = &mut flight.submission.work {
            if let Some(room) = cqueue::buffer_select(flags).and_then(|it| self.rooms.filled(it)) {
                (*buffer, *begin) = room;
            }
            if let (Some(stamp), Some(message)) = (stamp, message) {
                *stamp = message.stamp();
            }
        }
        let Some(mut flight) = self.flights.end(name) else { return };
        let submission = &mut flight.submission;
        if receives {
            let was_emptied = !cqueue::sock_nonempty(flags);
            let traffic = self.flights.traffic(submission.ticket);
            traffic.was_emptied = was_emptied;
            traffic.balance.received(result, !was_emptied);
        } else if submission.ticket.way == Way::Send {
            self.flights.traffic(submission.ticket).balance.sent(result);
        }
        let outcome = outcome(result).map(|bytes| match &submission.work {
            // An empty one is one, too.
            Work::SendDatagrams { stride, .. } => bytes.div_ceil((*stride).max(1)).max(1),
            _ => bytes,
        });
        self.finish(flight.submission, outcome);
    }

    /// There was no room left for what came: it stays in the kernel until there is.
    fn wants_room(&mut self, name: u64) {
        if self.rooms.grow() {
            return self.again(name);
        }
        if let Some((flight, _)) = self.flights.get(name) {
            flight.stage = Stage::WithoutRoom;
            self.without_room.push_back(name);
        }
    }

    /// Has the kernel begin a receive again.
    fn again(&mut self, name: u64) {
        let Some((flight, _)) = self.flights.get(name) else { return };
        flight.stage = Stage::Asked;
        if let Err(trouble) = self.put(name) {
            self.drop_out(name, trouble);
        }
    }
}

/// What came of an operation.
fn outcome(result: i32) -> Result<usize, Trouble> {
    usize::try_from(result).map_err(|_| match Errno::from_raw_os_error(-result) {
        // It was recalled.
        Errno::CANCELED => Trouble::Blocked,
        errno => errno.into(),
    })
}

fn means<S: SystemCalls>(work: &Work) -> Means {
    match work {
        Work::AwaitRoom => Means::Poll,
        _ if !S::IS_KERNEL => Means::Call,
        Work::SendStream { .. } | Work::Receive { .. } => Means::Ring,
        Work::SendDatagrams { len, stride, as_one, .. } if *as_one || len <= stride => Means::Ring,
        Work::SendDatagrams { .. } | Work::ReceiveSeveral { .. } => Means::Call,
    }
}

impl<S: SystemCalls> Driver<S> for Uring {
    fn submit(&mut self, submission: Submission, socket: &Socket, calls: &mut S) {
        let descriptor = socket.as_fd().as_raw_fd();
        match means::<S>(&submission.work) {
            Means::Ring => self.begin(submission, Stage::Asked, descriptor),
            Means::Poll => self.begin(submission, Stage::Polled, descriptor),
            Means::Call => self.attempt(submission, socket, calls),
        }
    }

    fn recall(&mut self, ticket: Ticket) {
        let mut names = std::mem::take(&mut self.names);
        self.flights.of_ticket(ticket, &mut names);
        for &name in &names {
            let Some((flight, _)) = self.flights.get(name) else { continue };
            if flight.stage == Stage::WithoutRoom {
                if let Some(flight) = self.flights.end(name) {
                    self.finish(flight.submission, Err(Trouble::Blocked));
                }
                continue;
            }
            let cancel = opcode::AsyncCancel::new(name).build();
            let cancel = cancel.user_data(NOBODY).flags(Flags::SKIP_SUCCESS);
            // SAFETY: it points to nothing. Where the kernel has no room for it now, the operation lands by itself or is recalled again.
            let _ = unsafe { self.ring.push(&cancel) };
            self.has_recalled = true;
        }
        self.names = names;
    }

    fn next(&mut self, calls: &mut S) -> Option<Completion> {
        if std::mem::take(&mut self.has_recalled) {
            // Where that fails, the next wait says so.
            let _ = self.ring.look();
        }
        loop {
            if let Some(done) = self.done.pop_front() {
                return Some(done);
            }
            if self.landed.is_empty() {
                self.take_landed();
            }
            let landed = self.landed.pop_front()?;
            self.land(landed, calls);
        }
    }

    fn keeps_back(&self) -> bool {
        !self.done.is_empty() || !self.landed.is_empty()
    }

    fn receives_first(&mut self, ticket: Ticket) -> bool {
        self.turns.take_turns() && self.flights.traffic(ticket).balance.receives_first()
    }

    fn has_rooms(&self) -> bool {
        true
    }

    fn take_back(&mut self, room: Box<[u8]>) {
        self.rooms.take_back(room);
        while let Some(name) = self.without_room.pop_front() {
            // It may have been recalled.
            if self.flights.get(name).is_some() {
                return self.again(name);
            }
        }
    }

    fn wait(&mut self, waker: &Waker, timeout: Option<Duration>) -> Result<Called, Trouble> {
        self.take_landed();
        if !self.landed.is_empty() {
            // It was complete as it was handed over.
        } else if timeout == Some(Duration::ZERO) {
            self.ring.look()?;
        } else {
            if !self.waker.is_armed {
                let watch = poll(waker.as_fd().as_raw_fd(), libc::POLLIN).user_data(WAKER);
                // SAFETY: it points to nothing, and who has the waker has it for longer than the ring.
                unsafe { self.ring.push(&watch) }?;
                self.waker.is_armed = true;
            }
            self.ring.sleep(timeout)?;
        }
        self.take_landed();
        let is_raised = std::mem::take(&mut self.waker.is_raised);
        Ok(if is_raised { Called::Yes } else { Called::No })
    }
}

impl Uring {
    /// Has everything land that is in flight, for nobody.
    fn settle(&mut self) -> Result<(), Trouble> {
        while let Some(name) = self.without_room.pop_front() {
            self.flights.end(name);
        }
        let all = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
        // SAFETY: it points to nothing.
        unsafe { self.ring.push(&all.user_data(NOBODY).flags(Flags::SKIP_SUCCESS)) }?;
        for _ in 0..SETTLING {
            self.take_landed();
            while let Some(Landed { name, flags, .. }) = self.landed.pop_front() {
                self.waker.is_armed &= name != WAKER;
                if !cqueue::more(flags) {
                    self.flights.end(name);
                }
                drop(cqueue::buffer_select(flags).and_then(|number| self.rooms.filled(number)));
            }
            if self.flights.len() == 0 && !self.waker.is_armed {
                // Where it fails, the ring has it until it is closed, and nothing uses it.
                let _ = self.ring.submitter().unregister_buf_ring(GROUP);
                return Ok(());
            }
            match self.ring.sleep(Some(SETTLES_IN)) {
                Ok(()) | Err(Trouble::Blocked | Trouble::Interrupted) => {}
                failed => return failed,
            }
        }
        Err(Trouble::Blocked)
    }
}

impl Drop for Uring {
    /// Whoever had the sockets is alone with them, and nobody fills memory any more that is given up.
    fn drop(&mut self) {
        if self.settle().is_err() {
            // The kernel may still have it: better lost than in use twice.
            return;
        }
        // SAFETY: nothing is in flight, and neither is used again.
        unsafe {
            ManuallyDrop::drop(&mut self.flights);
            ManuallyDrop::drop(&mut self.rooms);
        }
    }
}
