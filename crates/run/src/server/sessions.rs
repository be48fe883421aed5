//! Who is in: the sessions of a server, found by their tokens.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_core::quantity::count;
use pathscope_core::record::Host;
use pathscope_flow::{Group, GroupId};
use pathscope_modes::registry::{Plan, Test};
use pathscope_os::sockets::{self, Settings, Socket};
use pathscope_os::{Waker, memory};
use pathscope_peers::Refusal;
use pathscope_peers::limits::{Census, Limits, Origin};
use pathscope_peers::native::{
    AttachCode, Return, Seat, Seats, encode_ack, encode_checked_ack, turned_away,
};

use super::lobby::IsChecked;
use crate::attendance::{Attendance, Attended};
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
    /// Congestion controls that every user of this machine may choose.
    pub congestion_controls: Vec<String>,
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
    present: usize,
    refused: usize,
    files_free: u64,
    /// What the tests from each address have taken of them.
    files_taken: HashMap<Origin, u64>,
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

impl State {
    /// So many are taken by the tests from there.
    fn note_files(&mut self, origin: Origin, taken: u64) {
        if taken > 0 {
            self.files_taken.insert(origin, taken);
        } else {
            self.files_taken.remove(&origin);
        }
    }
}

/// A client's place at the server, left when it is dropped.
#[derive(Debug)]
pub(super) struct Admission {
    sessions: Arc<Sessions>,
    pub from: SocketAddr,
    /// Whether it is a session, or why not.
    pub admitted: Result<(), Refusal>,
    files: u64,
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

    /// Takes files for the sockets of a test, in place of those taken before.
    pub fn take_files(&mut self, wanted: u64) -> Result<(), RunError> {
        let limits = &self.sessions.limits;
        if let Some(most) = limits.descriptors.filter(|&most| wanted > most) {
            let [wanted, most] = [wanted, most].map(count);
            return Err(RunError::DescriptorsOfSession { wanted, most });
        }
        let origin = Origin::of(self.from.ip());
        let mut state = self.sessions.state();
        let taken = state.files_taken.get(&origin).map_or(0, |taken| taken - self.files);
        if let Some(most) = limits.descriptors_per_address.filter(|&most| wanted + taken > most) {
            let [wanted, taken, most] = [wanted, taken, most].map(count);
            return Err(RunError::DescriptorsOfAddress { wanted, taken, origin, most });
        }
        let free = state.files_free + self.files;
        if wanted > free {
            return Err(RunError::NoFiles { wanted, free });
        }
        state.files_free = free - wanted;
        state.note_files(origin, taken + wanted);
        self.files = wanted;
        Ok(())
    }

    /// Gives back what was taken.
    pub fn give_files_back(&mut self) {
        let mut state = self.sessions.state();
        state.files_free += self.files;
        let origin = Origin::of(self.from.ip());
        let taken = state.files_taken.get(&origin).copied().unwrap_or(0);
        state.note_files(origin, taken - self.files);
        self.files = 0;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.give_files_back();
        let mut state = self.sessions.state();
        if self.admitted.is_ok() {
            state.census.leave(self.from.ip());
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
    /// How many connections that follow one another are there.
    attendance: Option<(GroupId, Attendance)>,
    /// Who sits on them now.
    lanes: HashMap<(FlowId, Lane), SocketAddr>,
}

/// What a connection gets that has its seat.
#[derive(Debug)]
struct Claimed {
    /// Of its session.
    mailbox: Mailbox,
    settings: Settings,
    attended: Option<Attended>,
}

/// Of a test with few connections, so many may come before those that they follow are closed here: a worker that has no
/// processor for a moment closes none.
const LEAST_AHEAD: u32 = 64;

/// How many sockets the flows of a group have at once, at most. Of connections that are replaced, some may come before those
/// that they follow are closed, and no more than the client has in the making.
pub(super) fn most_attached(test: &Test, group: &Group) -> u32 {
    let ahead = match &test.plan {
        Plan::Goodput(plan) if group.replaces() => plan.shape.connect_limit,
        _ => 0,
    };
    group.flows + ahead.min(group.flows.max(LEAST_AHEAD))
}

fn attendance_of(test: &Test) -> Option<(GroupId, Attendance)> {
    let group = test.groups().into_iter().find(|group| group.replaces())?;
    Some((group.id, Attendance::new(most_attached(test, &group))))
}

impl Sessions {
    /// None yet; their tests may take so many files. `listener` is woken when one leaves.
    pub fn new(
        limits: Limits,
        host: Host,
        journal: Journal,
        (files, exit_after): (u64, Option<u64>),
        listener: Waker,
    ) -> Self {
        let state = Mutex::new(State { files_free: files, ..State::default() });
        let congestion_controls = sockets::unprivileged_congestion_controls();
        let left = Condvar::new();
        Self { limits, host, journal, congestion_controls, exit_after, state, left, listener }
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
        Some(Admission { sessions: Arc::clone(sessions), from, admitted, files: 0 })
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
            attendance: attendance_of(test),
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

    /// A connection asks for its seat, and is told the answer; or comes back, where there is no room for it yet and it may
    /// wait.
    pub fn attach_stream(
        &self,
        (seat, is_checked): (Seat, IsChecked),
        mut stream: TcpStream,
        may_wait: bool,
    ) -> Option<TcpStream> {
        let (code, claimed) = self.claim_stream(seat);
        if code == AttachCode::NO_ROOM && may_wait {
            return Some(stream);
        }
        let ack = if is_checked { encode_checked_ack(code) } else { encode_ack(code) };
        // Four bytes on a connection that has sent nothing yet always fit; blocking comes after.
        let told = stream.write_all(&ack).and_then(|()| stream.set_nonblocking(false));
        let (Some(Claimed { mailbox, settings, attended }), Ok(())) = (claimed, told) else {
            return None;
        };
        let socket = Socket::from(stream);
        // Probes beside a load go as the system sends them.
        let set = if seat.group == GroupId(0) { socket.apply(&settings) } else { Ok(()) };
        mailbox.post(match set {
            Ok(()) => Word::Attached {
                group: seat.group,
                flow: seat.flow,
                socket: FlowSocket::Open(Arc::new(socket)),
                connect_ns: None,
                attended,
            },
            Err(error) => Word::AttachFailed(error.into()),
        });
        None
    }

    fn claim_stream(&self, seat: Seat) -> (AttachCode, Option<Claimed>) {
        let mut state = self.state();
        let State { tests, served, .. } = &mut *state;
        let Some(expected) = tests.get_mut(&seat.token) else {
            return (AttachCode::UNKNOWN_SESSION, None);
        };
        if self.exit_after.is_some_and(|most| *served >= most) {
            return (AttachCode::SERVED, None);
        }
        let attendance = expected.attendance.as_ref().filter(|(group, _)| *group == seat.group);
        let attended = attendance.map(|(_, attendance)| attendance.enter());
        if matches!(attended, Some(None)) {
            return (AttachCode::NO_ROOM, None);
        }
        let attended = attended.flatten();
        let code = expected.seats.claim_stream(seat);
        let is_seated = code == AttachCode::ATTACHED;
        *served += u64::from(is_seated);
        let pacing = settings::pacing(&expected.test, Role::Server, seat.flow);
        let settings = Settings { pacing_bytes_per_second: pacing, ..expected.settings.clone() };
        let mailbox = expected.mailbox.clone();
        (code, is_seated.then_some(Claimed { mailbox, settings, attended }))
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
        // Nobody is remembered who has no seat: the plan bounds how many there are.
        if code != AttachCode::ATTACHED {
            return code;
        }
        let is_new = if expected.roams {
            expected.lanes.insert((seat.flow, seat.lane), remote) != Some(remote)
        } else {
            expected.datagrams.insert(remote)
        };
        if is_new {
            let Seat { group, flow, lane, .. } = seat;
            let socket = FlowSocket::Promised { local, remote };
            expected.mailbox.post(if expected.roams {
                Word::Lane { group, flow, lane, socket: Some(socket) }
            } else {
                Word::Attached { group, flow, socket, connect_ns: None, attended: None }
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
    use std::io::Read;
    use std::net::TcpListener;

    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_modes::goodput::Iterations;
    use pathscope_modes::latency::LatencyPlan;

    use super::*;
    use crate::mail::Letters;
    use crate::survey::{self, SurveyOptions};

    fn sessions() -> Sessions {
        sessions_with(Limits::default())
    }

    /// With a hundred files for their tests.
    fn sessions_with(limits: Limits) -> Sessions {
        Sessions::new(limits, Host::default(), Journal::default(), (100, None), waker())
    }

    fn waker() -> Waker {
        Waker::new().expect("a waker")
    }

    fn test(plan: Plan) -> Test {
        let report_every_ns = Period::from_secs(1);
        Test { plan, probe: None, report_every_ns }
    }

    /// Pings over UDP, on one flow.
    fn pings() -> Test {
        test(Plan::Latency(LatencyPlan::probe(Frequency(100))))
    }

    /// One flow of two lanes that may come from anywhere.
    fn paths() -> Test {
        let plan = serde_json::from_str(
            r#"{"rate_bps":1000000,"grouping":30,"datagram_bytes":1024,"duration_ns":10000000000,"lanes":2,"late_by_ns":20000000}"#,
        );
        test(Plan::Multipath(plan.expect("a plan")))
    }

    #[test]
    fn who_is_refused_a_seat_is_not_remembered() {
        let local = SocketAddr::from(([127, 0, 0, 1], 5210));
        for (test, wrong) in [(pings(), (0, 0)), (paths(), (0, 2)), (paths(), (1, 0))] {
            let sessions = sessions();
            let (mailbox, letters) = Mailbox::new(waker());
            sessions.expect(Token([1; 16]), &test, mailbox).expect("nobody else has the token");
            let claim = |(flow, lane), port| {
                let (flow, lane) = (FlowId(flow), Lane(lane));
                let seat = Seat { token: Token([1; 16]), group: GroupId(0), flow, lane };
                sessions.attach_datagrams(seat, local, SocketAddr::from(([127, 0, 0, 1], port)))
            };
            assert_eq!(claim((0, 0), 1), AttachCode::ATTACHED);
            for port in 2..1_000 {
                assert_ne!(claim(wrong, port), AttachCode::ATTACHED);
            }
            let state = sessions.state();
            let expected = &state.tests[&Token([1; 16])];
            let remembered = expected.datagrams.len() + expected.lanes.len();
            assert_eq!((remembered, letters.receiver.try_iter().count()), (1, 1));
        }
    }

    #[test]
    fn a_token_is_of_one_test_at_a_time() {
        let (sessions, test) = (sessions(), pings());
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

    #[test]
    fn neither_a_session_nor_an_address_takes_every_descriptor() {
        let sessions = Arc::new(sessions_with(Limits {
            descriptors: Some(60),
            descriptors_per_address: Some(80),
            ..Limits::default()
        }));
        let admit = |from: &str| {
            let from = from.parse().expect("an address");
            Sessions::admit(&sessions, from).expect("few are refused")
        };
        // Two addresses of one site, and another.
        let mut one = admit("[2001:db8::1]:9");
        let mut other = admit("[2001:db8::2]:9");
        let mut stranger = admit("192.0.2.1:9");
        let refused = |admission: &mut Admission, wanted| {
            admission.take_files(wanted).expect_err("too many").to_string()
        };
        let said = refused(&mut one, 61);
        assert!(said.starts_with("61 descriptors") && said.contains("limit of 60"), "{said}");
        assert!(said.ends_with("a higher --limit-descriptors"), "{said}");
        one.take_files(60).expect("within its limit");
        let said = refused(&mut other, 21);
        assert!(said.contains("60 of other sessions from 2001:db8::/64"), "{said}");
        assert!(
            said.contains("limit of 80") && said.contains("-descriptors-per-address"),
            "{said}"
        );
        other.take_files(20).expect("within its limit");
        let said = refused(&mut stranger, 21);
        assert!(said.starts_with("21 connections are more than the 20"), "{said}");
        stranger.take_files(20).expect("they are there");
        // A test in place of another, and a session that is gone.
        one.take_files(10).expect("fewer");
        other.take_files(60).expect("the rest of the site's");
        drop(one);
        stranger.take_files(40).expect("they are there");
        drop((other, stranger));
        assert_eq!(sessions.state().files_free, 100);
        assert!(sessions.state().files_taken.is_empty());
    }

    /// One connection after the other, for ever, with so many in the making.
    fn one_after_the_other(connect_limit: u32) -> Test {
        let options = SurveyOptions {
            connections: 1,
            duration: Period::from_secs(10),
            probe_rate: Frequency(100),
            report_every: Period::from_secs(1),
            congestion_control: None,
        };
        let mut tests = survey::tests(&options).into_iter().map(|(_, test)| test);
        let goodput = tests.find(|test| matches!(&test.plan, Plan::Goodput(_)));
        let mut test = goodput.expect("a survey measures goodput");
        if let Plan::Goodput(plan) = &mut test.plan {
            plan.shape.iterations = Iterations::Forever;
            plan.shape.connect_limit = connect_limit;
        }
        test
    }

    /// A connection asks for a seat. What it is told, or nothing where it waits.
    fn asks(sessions: &Sessions, flow: u32, may_wait: bool) -> Option<[u8; 4]> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut client =
            TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (server, _) = listener.accept().expect("one has come");
        let (token, group, lane) = (Token([1; 16]), GroupId(0), Lane::ONLY);
        let seat = Seat { token, group, flow: FlowId(flow), lane };
        if sessions.attach_stream((seat, false), server, may_wait).is_some() {
            return None;
        }
        let mut told = [0; 4];
        client.read_exact(&mut told).expect("it is told something");
        Some(told)
    }

    fn take_one(letters: &Letters) {
        assert!(matches!(letters.receiver.try_recv(), Ok(Word::Attached { .. })));
    }

    #[test]
    fn connections_that_follow_one_another_are_no_more_at_once_than_was_agreed() {
        let sessions = sessions();
        let (mailbox, letters) = Mailbox::new(waker());
        let test = one_after_the_other(2);
        sessions.expect(Token([1; 16]), &test, mailbox).expect("it is the only one");
        let attached = Some(encode_ack(AttachCode::ATTACHED));
        for flow in 0..3 {
            assert_eq!(asks(&sessions, flow, true), attached, "{flow}");
        }
        assert_eq!(asks(&sessions, 3, true), None);
        assert_eq!(asks(&sessions, 3, false), Some(encode_ack(AttachCode::NO_ROOM)));
        // One of them is over, and its number was not lost meanwhile.
        take_one(&letters);
        assert_eq!(asks(&sessions, 3, false), attached);
        assert_eq!(asks(&sessions, 4, false), Some(encode_ack(AttachCode::NO_ROOM)));
    }

    #[test]
    fn what_may_be_attached_at_once_is_what_descriptors_are_taken_for() {
        let most = |connect_limit| {
            let test = one_after_the_other(connect_limit);
            most_attached(&test, &test.groups()[0])
        };
        assert_eq!([most(1), most(50), most(1_000)], [2, 51, 65]);
    }
}
