//! Who is in: the sessions of a server, found by their tokens.

mod admission;
mod seat_word;
mod served;
mod setups;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role, Token};
use pathscope_flow::{Credentials, GroupId, Resumed};
use pathscope_modes::groups::Test;
use pathscope_os::sockets;
use pathscope_os::{Waker, clock, memory};
use pathscope_peers::access::Access;
use pathscope_peers::attach::{ClaimSeat, Seat, SeatRefusal};
use pathscope_peers::dialogue::Returning;
use pathscope_peers::limits::{Census, Quota};
use pathscope_peers::registry::{DatagramClaim, StreamClaim};
use pathscope_peers::seats::Seats;

pub(super) use admission::Admission;
use seat_word::take_seat;
pub(super) use seat_word::{Attached, OnItsWay};
pub(super) use setups::Called;
use setups::Setups;

use super::Settings;
use super::needs::{FILES_OF_SESSION, most_attached};
use super::parted::{AllParted, Parted};
use crate::connect::settings;
use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::attendance::{Arrival, Attendance, Attended};
use crate::messages::handing::Handing;
use crate::messages::inbox::{FlowSocket, Inbox, SessionMessage};
use crate::promised::Promised;
use crate::threads::lock;
use crate::workers::entrances::WayIn;

/// So many sessions end before what they left is given back while others run.
const FREED_AT_ONCE: usize = 64;

/// What a client is told whose test is to be taken up again, and in version 1 cannot be.
const STILL_THERE: &str = "a session here has this test still, and proposals of protocol version 1 cannot prove that it is \
                           theirs: it ends by itself where its client is gone";

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    pub settings: Settings,
    /// What is said to all clients, so that they know this process at each of its addresses.
    pub identity: Token,
    /// Congestion controls that every user of this machine may choose.
    pub congestion_controls: Vec<String>,
    state: Mutex<State>,
    /// Connections that sessions part with.
    pub parted: AllParted,
    /// Wakes the listening thread when a client leaves.
    listener: Waker,
}

#[derive(Debug, Default)]
struct State {
    census: Census,
    /// Sessions whose control connection is lost, and that take no place meanwhile.
    absent: u32,
    present: usize,
    /// Since when nobody is, where that is so: since the last has left, or it began to listen.
    empty_since: Tick,
    /// Descriptors that sessions and their tests may have.
    files: u64,
    /// What sessions and their tests have of each [`Resource`].
    taken: [Quota; Resource::ALL.len()],
    /// Data connections so far.
    served: u64,
    /// Tests so far.
    begun: u64,
    tests: HashMap<Token, Expected>,
    /// Sessions that have not freed everything yet.
    stays: usize,
    /// Of those that ended, how many left memory behind that was not given back yet.
    freed: usize,
    /// Where word is left for sessions that outlive their connections, by what only their clients are told.
    living: HashMap<Token, Inbox>,
    /// Tests whose datagram flows are known by where they come from.
    setups: Setups,
}

/// What there is only so much of for sessions and their tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Resource {
    /// Those that tests have taken in the table that all threads share.
    Descriptors,
    /// Those and the ones in tables of workers' own.
    AllDescriptors,
    Threads,
    /// What messages, plans and tables take, as far as they were promised it.
    Memory,
}

impl Resource {
    const ALL: [Self; 4] = [Self::Descriptors, Self::AllDescriptors, Self::Threads, Self::Memory];
}

impl State {
    /// The session that has this test is told to end, and no socket comes to it any more, if it is the one that was named.
    fn give_way(&mut self, Resumed { token, session: named }: Resumed) -> Result<(), RunError> {
        match (self.tests.get(&token).map(|expected| expected.session), named) {
            (Some(Some(session)), _) if named != Some(session) => {
                let text = "another session here has this test, and only the client that knows the name of that may take \
                            the test up";
                return Err(RunError::Peer(text.to_owned()));
            }
            (Some(None), None) => return Err(RunError::Peer(STILL_THERE.to_owned())),
            // None is here; it is the one that was named; or a session of version 1 has chosen this token, and the client
            // that asks is another, whose test gets a token of its own.
            _ => {}
        }
        let Some(name) = named else { return Ok(()) };
        if let Some(inbox) = self.living.get(&name) {
            inbox.post(SessionMessage::Stop("its client asks for the session anew"));
            self.tests.retain(|_, expected| expected.session != Some(name));
        }
        Ok(())
    }

    /// Descriptors that tests may have: those that no session has for itself.
    fn files_for_tests(&self) -> u64 {
        self.files.saturating_sub(FILES_OF_SESSION * self.present as u64)
    }

    /// Descriptors that nobody has.
    fn files_free(&self) -> u64 {
        self.files_for_tests().saturating_sub(self.taken[Resource::Descriptors as usize].taken())
    }
}

/// A session, from before it has anything until it has freed everything.
#[derive(Debug)]
pub(super) struct Stay(Arc<Sessions>);

impl Stay {
    /// One more begins.
    pub fn begin(sessions: &Arc<Sessions>) -> Self {
        lock(&sessions.state).stays += 1;
        Self(Arc::clone(sessions))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.stays -= 1;
        let freed = state.freed + 1;
        // The last one, whom nobody waits for; of a server that is never alone, one of many.
        let gives_back = state.stays == 0 || freed >= FREED_AT_ONCE;
        state.freed = if gives_back { 0 } else { freed };
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
    /// What the session is called that has it; nothing in version 1.
    session: Option<Token>,
    /// Whose sockets it takes.
    access: Access,
    test: Test,
    inbox: Inbox,
    /// The sockets of these groups on their way to those who hold them.
    handing: Vec<(GroupId, Arc<Mutex<Handing>>)>,
    /// Where the flows of this group come in that follow others.
    way_in: Option<(GroupId, WayIn)>,
    /// How many connections that follow one another are there.
    attendance: Option<(GroupId, Attendance)>,
    /// Who sits where, of datagram flows.
    lanes: HashMap<(FlowId, Lane), SocketAddr>,
}

/// A connection that is a lane of a flow, as it says.
#[derive(Debug)]
pub(super) struct SeatRequest {
    pub stream: TcpStream,
    pub claim: StreamClaim,
    pub from: SocketAddr,
    /// So many bytes of what it says are still to be received.
    pub unread: usize,
}

/// What a connection gets that has its seat.
struct Claimed {
    /// Where its session hears of it.
    inbox: Inbox,
    /// How it is set.
    settings: sockets::Settings,
    /// Its place among those that follow others.
    attended: Option<Attended>,
    /// Where it comes in, if it is one of those.
    way_in: WayIn,
    /// Where it goes, if others hold it.
    handing: Option<Arc<Mutex<Handing>>>,
}

impl Sessions {
    /// None yet; their tests may take so many files. `listener` is woken when one leaves.
    pub fn new(settings: Settings, identity: Token, files: u64, listener: Waker) -> Self {
        let empty_since = clock::now();
        let state = Mutex::new(State { empty_since, files, ..State::default() });
        let congestion_controls = sockets::unprivileged_congestion_controls();
        let parted = AllParted::default();
        Self { settings, identity, congestion_controls, state, parted, listener }
    }

    /// A session begins that is found by this name.
    pub fn live(&self, name: Token, inbox: Inbox) {
        lock(&self.state).living.insert(name, inbox);
    }

    /// It is over.
    pub fn bury(&self, name: Token) {
        lock(&self.state).living.remove(&name);
    }

    /// A client comes back on another connection: its session hears of it, and decides. One whose session is not known comes back with what it is to be told.
    pub fn take_back(&self, back: Returning, stream: TcpStream) -> Option<(TcpStream, Vec<u8>)> {
        let Returning { session, attempt, received, unknown } = back;
        let Some(inbox) = lock(&self.state).living.get(&session).cloned() else {
            return Some((stream, unknown));
        };
        inbox.post(SessionMessage::Returned { stream, attempt, received });
        None
    }

    /// A session parts with a connection.
    pub fn part_with(&self, parted: Parted) {
        self.parted.add(parted);
        self.listener.wake();
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        lock(&self.state).present
    }

    /// The flows of a test are awaited. Of one that runs at its client already, the session before gives way, but only to
    /// who knows its name: it may not have heard that its client has left it. What is refused changes nothing for it.
    pub fn expect(
        &self,
        (Credentials { token, session, .. }, resumed): (Credentials, Option<Resumed>),
        (test, access): (&Test, Access),
        inbox: Inbox,
    ) -> Result<(), RunError> {
        let groups = test.groups();
        let follow = groups.iter().find(|group| group.replaces());
        let expected = Expected {
            attendance: follow.map(|it| (it.id, Attendance::new(most_attached(test, it)))),
            seats: Seats::new(groups),
            session,
            access,
            test: test.clone(),
            inbox,
            handing: Vec::new(),
            way_in: None,
            lanes: HashMap::new(),
        };
        let mut state = lock(&self.state);
        resumed.map_or(Ok(()), |resumed| state.give_way(resumed))?;
        if state.tests.contains_key(&token) {
            return Err(RunError::Peer(STILL_THERE.to_owned()));
        }
        state.tests.insert(token, expected);
        Ok(())
    }

    /// The sockets of these groups are handed to whoever holds them, and of this one those that follow others come in there. Nobody has
    /// come yet: the client has not been told that its test may run.
    pub fn hold(
        &self,
        credentials: Credentials,
        holders: Vec<(GroupId, Holders)>,
        way_in: Option<(GroupId, WayIn)>,
    ) {
        if let Some(expected) = lock(&self.state).tests.get_mut(&credentials.token) {
            let handing = |(group, holders)| {
                let handing = Handing::new(group, holders, expected.inbox.clone());
                (group, Arc::new(Mutex::new(handing)))
            };
            expected.handing = holders.into_iter().map(handing).collect();
            expected.way_in = way_in;
        }
    }

    /// A test is over: nobody is awaited any more. One that has given way leaves the place to who has it now.
    pub fn forget(&self, Credentials { token, session, .. }: Credentials) {
        let mut state = lock(&self.state);
        if state.tests.get(&token).is_some_and(|expected| expected.session == session) {
            state.tests.remove(&token);
        }
    }

    /// A connection asks for its seat, and is told the answer; or there is no room for it yet and it may wait, or it has none.
    pub fn attach_stream(&self, request: SeatRequest, may_wait: bool) -> Attached {
        let claimed = match self.claim_stream(&request) {
            Ok(claimed) => claimed,
            Err(SeatRefusal::NoRoom) if may_wait => return Attached::Waits(request),
            Err(why) => {
                let word = request.claim.reply(Err(why));
                return Attached::Refused { stream: request.stream, word };
            }
        };
        Attached::Over(take_seat(request, claimed))
    }

    fn claim_stream(
        &self,
        SeatRequest { claim, from, .. }: &SeatRequest,
    ) -> Result<Claimed, SeatRefusal> {
        let seat = claim.seat();
        let mut state = lock(&self.state);
        let State { tests, served, .. } = &mut *state;
        let expected = tests.get_mut(&seat.token).ok_or(SeatRefusal::UnknownSession)?;
        if !expected.access.takes(claim, *from) {
            return Err(SeatRefusal::NotProven);
        }
        if self.settings.exit_after.is_some_and(|most| *served >= most) {
            return Err(SeatRefusal::Served);
        }
        let attendance = expected.attendance.as_mut().filter(|(group, _)| *group == seat.group);
        let attended =
            attendance.map(|(_, it)| it.enter().ok_or(SeatRefusal::NoRoom)).transpose()?;
        expected.seats.claim_stream(seat)?;
        *served += 1;
        let settings = settings::settings_at(seat, Role::Server, &expected.test);
        let mut handing = expected.handing.iter().filter(|(group, _)| *group == seat.group);
        let handing = handing.next().map(|(_, handing)| Arc::clone(handing));
        let way_in = expected.way_in.as_ref().filter(|(group, _)| *group == seat.group);
        let way_in = way_in.map_or_else(WayIn::default, |(_, way_in)| way_in.clone());
        Ok(Claimed { inbox: expected.inbox.clone(), settings, attended, way_in, handing })
    }

    /// A proven address asks for a seat. What it is to be told.
    pub fn attach_datagrams(
        &self,
        claim: &DatagramClaim,
        promised: Promised,
    ) -> Result<(), SeatRefusal> {
        let (seat, remote) = (claim.seat(), promised.remote);
        let mut state = lock(&self.state);
        let expected = state.tests.get_mut(&seat.token).ok_or(SeatRefusal::UnknownSession)?;
        if !expected.access.takes(claim, remote) {
            return Err(SeatRefusal::NotProven);
        }
        // Nobody is remembered who has no seat: the plan bounds how many there are.
        expected.seats.claim_datagram(seat, remote)?;
        if expected.lanes.insert((seat.flow, seat.lane), remote) != Some(remote) {
            let Seat { group, flow, lane, .. } = seat;
            let socket = FlowSocket::Promised(promised);
            expected.inbox.post(if expected.test.roams() {
                SessionMessage::Lane { group, flow, lane, socket: Some(socket) }
            } else {
                SessionMessage::Attached { group, flow, socket, arrival: Arrival::default() }
            });
        }
        Ok(())
    }
}
