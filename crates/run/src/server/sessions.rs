//! Who is in: the sessions of a server, found by their tokens.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::record::Host;
use pathscope_flow::GroupId;
use pathscope_modes::registry::Test;
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::{Waker, memory};
use pathscope_peers::Refusal;
use pathscope_peers::limits::{Census, Limits};
use pathscope_peers::native::{
    AttachCode, Return, Seat, Seats, encode_ack, encode_checked_ack, turned_away,
};

use super::FILES_KEPT;
use super::lobby::IsChecked;
use crate::error::RunError;
use crate::journal::Journal;
use crate::mail::{FlowSocket, Mailbox, Word};
use crate::settings;

/// Clients that are being told why they have no session: each costs a thread for some seconds.
const REFUSED_AT_ONCE: usize = 64;

/// So many sessions end before what they left is given back while others run.
const FREED_AT_ONCE: usize = 64;

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    pub limits: Limits,
    pub host: Host,
    pub journal: Journal,
    /// Data connections that are served; then the server ends. Absent: any number.
    exit_after: Option<u64>,
    state: Mutex<State>,
    left: Condvar,
    /// Wakes the listening thread when a client leaves.
    listener: Waker,
}

#[derive(Debug, Default)]
struct State {
    census: Census,
    /// Sessions whose control connection is lost, and that take no place meanwhile.
    absent: u32,
    present: usize,
    refused: usize,
    files_free: u64,
    /// Data connections so far.
    served: u64,
    tests: HashMap<Token, Expected>,
    /// Threads that talk to a client, or tell one why it has no session.
    threads: usize,
    /// Of those that ended, how many left memory behind that was not given back yet.
    freed: usize,
    /// Where word is left for sessions that outlive their connections, by what only their clients are told.
    living: HashMap<Token, Mailbox>,
}

/// A client's place at the server, left when it is dropped.
#[derive(Debug)]
pub(super) struct Admission {
    sessions: Arc<Sessions>,
    pub from: SocketAddr,
    /// Whether it is a session, or why not.
    pub admitted: Result<(), Refusal>,
    files: u64,
    /// Whether it takes no place for now, since its client is away.
    is_absent: bool,
}

impl Admission {
    /// All sessions, this one among them.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The same, for longer than this place.
    pub fn share(&self) -> Arc<Sessions> {
        Arc::clone(&self.sessions)
    }

    /// The client is away, and may come back: its session goes on, and its place is for others meanwhile. Of so many at a
    /// time as there are places, so that clients that come and go leave no more than that behind.
    pub fn step_out(&mut self) {
        let mut state = self.sessions.state();
        let most = self.sessions.limits.sessions.unwrap_or(u32::MAX);
        if self.admitted.is_err() || self.is_absent || state.absent >= most {
            return;
        }
        self.is_absent = true;
        state.absent += 1;
        state.census.leave(self.from.ip());
    }

    /// The client is back.
    pub fn step_in(&mut self) {
        let mut state = self.sessions.state();
        if std::mem::take(&mut self.is_absent) {
            state.absent -= 1;
            state.census.come_back(self.from.ip());
        }
    }

    /// Takes files for the sockets of a test, in place of those taken before.
    pub fn take_files(&mut self, wanted: u64) -> Result<(), RunError> {
        let mut state = self.sessions.state();
        let free = state.files_free + self.files;
        if wanted > free {
            return Err(RunError::NoFiles { wanted, free });
        }
        state.files_free = free - wanted;
        self.files = wanted;
        Ok(())
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut state = self.sessions.state();
        state.files_free += self.files;
        if self.admitted.is_ok() {
            if self.is_absent {
                state.absent -= 1;
            } else {
                state.census.leave(self.from.ip());
            }
            state.present -= 1;
            self.sessions.left.notify_all();
            self.sessions.listener.wake();
        } else {
            state.refused -= 1;
        }
    }
}

/// A thread of a session, from before it has anything until it has freed everything.
#[derive(Debug)]
pub(super) struct Stay(Arc<Sessions>);

impl Stay {
    /// One more begins.
    pub fn begin(sessions: &Arc<Sessions>) -> Self {
        sessions.state().threads += 1;
        Self(Arc::clone(sessions))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.threads -= 1;
        state.freed += 1;
        // The last one, whom nobody waits for; of a server that is never alone, one of many.
        let gives_back = state.threads == 0 || state.freed >= FREED_AT_ONCE;
        if gives_back {
            state.freed = 0;
        }
        drop(state);
        if gives_back {
            memory::give_back();
        }
    }
}

/// A test whose flows are awaited.
#[derive(Debug)]
struct Expected {
    seats: Seats,
    test: Test,
    settings: Settings,
    mailbox: Mailbox,
    datagrams: HashSet<SocketAddr>,
    /// Whether lanes may come late, and again from other addresses.
    roams: bool,
    /// Who sits on them now.
    lanes: HashMap<(FlowId, Lane), SocketAddr>,
}

impl Sessions {
    /// None yet; their connections may take so many files. `listener` is woken when one leaves.
    pub fn new(
        limits: Limits,
        host: Host,
        journal: Journal,
        (files, exit_after): (u64, Option<u64>),
        listener: Waker,
    ) -> Self {
        // Of few files, half.
        let files_free = files - FILES_KEPT.min(files / 2);
        let state = Mutex::new(State { files_free, ..State::default() });
        Self { limits, host, journal, exit_after, state, left: Condvar::new(), listener }
    }

    /// A client asks for a session: it gets one, or is told why not; `None` where too many are being told.
    pub fn admit(sessions: &Arc<Self>, from: SocketAddr) -> Option<Admission> {
        let mut state = sessions.state();
        let admitted = state.census.enter(from.ip(), &sessions.limits);
        match &admitted {
            Ok(()) => state.present += 1,
            Err(_) if state.refused >= REFUSED_AT_ONCE => return None,
            Err(_) => state.refused += 1,
        }
        drop(state);
        Some(Admission {
            sessions: Arc::clone(sessions),
            from,
            admitted,
            files: 0,
            is_absent: false,
        })
    }

    /// Whether a test may begin: the server has not served all that it was to serve.
    pub fn check_served(&self) -> Result<(), RunError> {
        match self.exit_after {
            Some(most) if self.state().served >= most => Err(RunError::Served { most }),
            _ => Ok(()),
        }
    }

    /// Whether all is done: as many connections as were to be served, and nobody is left.
    pub fn is_done(&self) -> bool {
        let state = self.state();
        self.exit_after.is_some_and(|most| state.served >= most) && state.present == 0
    }

    /// A session begins that is found by this name.
    pub fn live(&self, name: Token, mailbox: Mailbox) {
        self.state().living.insert(name, mailbox);
    }

    /// It is over.
    pub fn bury(&self, name: Token) {
        self.state().living.remove(&name);
    }

    /// A client comes back on another connection: its session hears of it, and decides. One that is not known is told so.
    pub fn take_back(&self, back: Return, mut stream: TcpStream) {
        let living = self.state().living.get(&back.session).cloned();
        match living {
            Some(mailbox) => {
                let Return { attempt, received, .. } = back;
                mailbox.post(Word::Returned { stream, attempt, received });
            }
            // A few bytes on a connection that has sent nothing yet always fit.
            None => drop(stream.write_all(&turned_away())),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.state().present
    }

    /// Waits until none is left, or for so long.
    pub fn await_all(&self, most: Duration) {
        let waiting = self.left.wait_timeout_while(self.state(), most, |state| state.present > 0);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }

    /// The flows of a test are awaited; where another session has their token already, they are not. That one is told to
    /// end, since whoever knows the token is its client: it may not have heard that its connection is gone.
    pub fn expect(&self, token: Token, test: &Test, mailbox: Mailbox) -> Result<(), RunError> {
        let expected = Expected {
            seats: Seats::new(test.groups()),
            settings: settings::settings(test),
            test: test.clone(),
            mailbox,
            datagrams: HashSet::new(),
            roams: test.roams(),
            lanes: HashMap::new(),
        };
        match self.state().tests.entry(token) {
            Entry::Vacant(place) => drop(place.insert(expected)),
            Entry::Occupied(place) => {
                place.get().mailbox.post(Word::Stop("its client asks for the session anew"));
                return Err(RunError::StillThere);
            }
        }
        Ok(())
    }

    /// A test is over: nobody is awaited any more.
    pub fn forget(&self, token: Token) {
        self.state().tests.remove(&token);
    }

    /// A connection asks for its seat, and is told the answer.
    pub fn attach_stream(&self, (seat, is_checked): (Seat, IsChecked), mut stream: TcpStream) {
        let (code, expected) = self.claim_stream(seat);
        let ack = if is_checked { encode_checked_ack(code) } else { encode_ack(code) };
        // Four bytes on a connection that has sent nothing yet always fit; blocking comes after.
        let told = stream.write_all(&ack).and_then(|()| stream.set_nonblocking(false));
        let (Some((mailbox, settings)), Ok(())) = (expected, told) else { return };
        let socket = Socket::from(stream);
        // Probes beside a load go as the system sends them.
        let set = if seat.group == GroupId(0) { socket.apply(&settings) } else { Ok(()) };
        mailbox.post(match set {
            Ok(()) => Word::Attached {
                group: seat.group,
                flow: seat.flow,
                socket: FlowSocket::Open(Arc::new(socket)),
                connect_ns: None,
            },
            Err(error) => Word::AttachFailed(error.into()),
        });
    }

    fn claim_stream(&self, seat: Seat) -> (AttachCode, Option<(Mailbox, Settings)>) {
        let mut state = self.state();
        let State { tests, served, .. } = &mut *state;
        let Some(expected) = tests.get_mut(&seat.token) else {
            return (AttachCode::UNKNOWN_SESSION, None);
        };
        if self.exit_after.is_some_and(|most| *served >= most) {
            return (AttachCode::SERVED, None);
        }
        let code = expected.seats.claim_stream(seat);
        let is_seated = code == AttachCode::ATTACHED;
        *served += u64::from(is_seated);
        let pacing = settings::pacing(&expected.test, Role::Server, seat.flow);
        let settings = Settings { pacing_bytes_per_second: pacing, ..expected.settings.clone() };
        (code, is_seated.then(|| (expected.mailbox.clone(), settings)))
    }

    /// A proven address asks for a seat. What it is to be told.
    pub fn attach_datagrams(
        &self,
        seat: Seat,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> AttachCode {
        let mut state = self.state();
        let Some(expected) = state.tests.get_mut(&seat.token) else {
            return AttachCode::UNKNOWN_SESSION;
        };
        let code = expected.seats.claim_datagram(seat, remote);
        let is_new = if expected.roams {
            expected.lanes.insert((seat.flow, seat.lane), remote) != Some(remote)
        } else {
            expected.datagrams.insert(remote)
        };
        if code == AttachCode::ATTACHED && is_new {
            let Seat { group, flow, lane, .. } = seat;
            let socket = FlowSocket::Promised { local, remote };
            expected.mailbox.post(if expected.roams {
                Word::Lane { group, flow, lane, socket: Some(socket) }
            } else {
                Word::Attached { group, flow, socket, connect_ns: None }
            });
        }
        code
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_modes::latency::LatencyPlan;
    use pathscope_modes::registry::Plan;

    use super::*;

    fn sessions(most: u32) -> Arc<Sessions> {
        let limits = Limits { sessions: Some(most), ..Limits::default() };
        let waker = Waker::new().expect("a waker");
        let (host, journal) = (Host::default(), Journal::default());
        Arc::new(Sessions::new(limits, host, journal, (100, None), waker))
    }

    #[test]
    fn an_absent_client_keeps_its_session_and_no_place() {
        let sessions = sessions(1);
        let from = SocketAddr::from(([192, 0, 2, 1], 9));
        let ask = || Sessions::admit(&sessions, from).expect("few are refused");
        let mut first = ask();
        assert!(first.admitted.is_ok() && ask().admitted.is_err());
        first.step_out();
        let mut second = ask();
        assert!(second.admitted.is_ok(), "the first is away");
        // As many may be away as there are places, and no more.
        second.step_out();
        assert!(ask().admitted.is_err());
        // A client that comes back needs no free place, and takes one.
        first.step_in();
        second.step_out();
        let third = ask();
        assert!(third.admitted.is_err() && sessions.count() == 2);
        drop(first);
        let fourth = ask();
        assert!(fourth.admitted.is_ok() && ask().admitted.is_err());
        second.step_in();
        drop((second, fourth));
        assert_eq!((sessions.count(), sessions.state().absent), (0, 0));
        assert!(ask().admitted.is_ok());
    }

    #[test]
    fn a_token_is_of_one_test_at_a_time() {
        let waker = || Waker::new().expect("a waker");
        let (host, journal) = (Host::default(), Journal::default());
        let sessions = Sessions::new(Limits::default(), host, journal, (100, None), waker());
        let plan = Plan::Latency(LatencyPlan::probe(pathscope_core::quantity::Frequency(100)));
        let report_every_ns = pathscope_core::quantity::Period::from_secs(1);
        let test = Test { plan, probe: None, report_every_ns };
        let (first, letters) = Mailbox::new(waker());
        let expect = |token, mailbox| sessions.expect(Token(token), &test, mailbox);
        let other = || Mailbox::new(waker()).0;
        assert!(expect([1; 16], first).is_ok() && expect([2; 16], other()).is_ok());
        assert!(letters.receiver.try_recv().is_err());
        // Whoever it is knows the token, and the first may be one whose client is long gone.
        assert!(matches!(expect([1; 16], other()), Err(RunError::StillThere)));
        assert!(matches!(letters.receiver.try_recv(), Ok(Word::Stop(_))));
        sessions.forget(Token([1; 16]));
        assert!(expect([1; 16], other()).is_ok());
    }
}
