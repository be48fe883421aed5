//! Carries out what a dialogue says: the one loop of a session, the same at both ends, turn by turn.
//!
//! A turn is called for by the control connection, if there is one, by word from the workers, or by a deadline. Nothing in it
//! waits for the other end; what is said is queued and leaves as the connection takes it. So one thread has one session at a
//! client, which waits between its turns ([`Driver::drive`]), and many at a server.
//!
//! In one file: it is one loop, and what it carries out in the order in which that comes up.

mod absence;
mod began;
mod begin;
mod carrier;
mod control;
mod joined;
mod listening;
mod messages;
mod participants;
mod salvage;
mod substitutions;
#[cfg(test)]
mod tests;
mod times;
mod watch;

use std::net::{SocketAddr, TcpStream};
use std::sync::MutexGuard;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::Scribes;
use pathscope_core::record::{FlowError, Substitution};
use pathscope_flow::{Credentials, Dialogue, Event, Input, Output, Resumed};
use pathscope_modes::conventions::{Conventions, StreamEnd};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};
use pathscope_os::wake::Waker;
use pathscope_os::{clock, cpus};
use pathscope_peers::dialogue::STOP_TAKES;

use self::began::Came;
pub(crate) use self::carrier::Carrier;
use self::control::{Control, Heard};
use self::joined::Early;
use self::participants::Participants;
pub(crate) use self::participants::Parting;
use self::salvage::Salvage;
pub(crate) use self::watch::{Hosted, Watch};
use crate::error::RunError;
use crate::messages::door::Door;
use crate::messages::inbox::{Inbox, InboxReader};
use crate::paths::log::{PathsRemote, ServerIs};
use crate::records::journal::{Journal, SessionJournal};
use crate::records::names::FlowNames;
use crate::records::samples::SampleFile;
use crate::session::running::{Leftover, RunningTest, begun_as};
use crate::workers::placement::Means;

/// A test whose time is up, or over at the other end, and whose flows have moved nothing for so long is ended by force:
/// a path can swallow a connection without a word while the control connection lives. Flows that still move drain
/// their queues. As long as the other end may be silent on the control connection; less than it waits for this one's
/// report.
const STALLED: Duration = Duration::from_secs(10);

/// A connection on which nothing moves is given up after so long when the client has said what all of its
/// came to: less than the client waits for the server to say the same.
const DESERTED: Duration = Duration::from_secs(4);

/// After a wish to stop, flows have so long to end by themselves: less than the dialogue gives both
/// ends to report.
const STOPPING: Duration = Duration::from_secs(12);

/// And so long where this end cannot go on: the other end is told to stop as well, and both say how much was sent.
const GIVEN_UP: Duration = Duration::from_secs(2);

/// For how long at most a client that was told to stop waits for its own flows and for the server, when flows run.
pub(crate) fn stopping_takes(awaits_answers: bool) -> Duration {
    STOP_TAKES.duration() + salvage::within(awaits_answers)
}

/// What was sent has so long to be acknowledged, counted from when anything last was, and once somebody wants to stop in all:
/// shorter than anybody waits for the report that follows.
const UNDELIVERED: Duration = Duration::from_secs(3);

/// And counted so where somebody wants to stop.
const UNDELIVERED_STOPPING: Duration = Duration::from_millis(300);

/// And in all, once the other end has reported: it awaits this report.
const UNDELIVERED_AWAITED: Duration = Duration::from_secs(1);

/// How often a control connection that takes nothing any more is read: more than its buffer holds.
const LAST_READS: u32 = 1_024;

/// Word that is taken in one turn, so that no session of a thread has all of its time.
const TURN: usize = 256;

/// What each end does in its own way.
pub(crate) trait End {
    /// Provides the sockets of the test's flows, which arrive as word and present its credentials; or says why it cannot. Who
    /// takes leave has none to provide.
    fn provide(&mut self, test: &mut RunningTest, inbox: &Inbox) -> Result<(), RunError>;
    /// Server: whether flows may come to the test that was provided for. If not, word follows when they may.
    fn may_attach(&mut self, _test: &RunningTest, _inbox: &Inbox) -> bool {
        true
    }
    /// The session has so many bytes of messages: some are not whole, some not confirmed, some have not left. Or why it
    /// must not have as many.
    fn holds(&mut self, _bytes: usize) -> Result<(), RunError> {
        Ok(())
    }
    /// So many connections have come and are kept until there is a test. Or why the last of them cannot be.
    fn keeps(&mut self, _connections: u64) -> Result<(), RunError> {
        Err(RunError::LeftEarly)
    }
    /// One more connection has come that is the session's by being of its client. Or why it gets no place.
    fn joins(&mut self) -> Result<(), RunError> {
        Err(RunError::LeftEarly)
    }
    /// Server: a flow has begun too late for the test of its client, and is in none of its counts.
    fn leaves_out(&mut self) {}
    /// Every flow is there, and the test starts with others: the dialogue awaits word that it may.
    fn ready(&mut self) {}
    /// The test's flows run since `at`; this was left open and chosen.
    fn started(&mut self, _at: Tick, _chosen: Vec<Substitution>) {}
    /// An interval has passed at one end.
    fn interval(&mut self, _whose: Role, _interval: Box<EndInterval>) {}
    /// Client: an interval of latency probes at another server has passed.
    fn probed(&mut self, _interval: Box<EndInterval>) {}
    /// The other end says that a connection failed there, and of what.
    fn peer_failed(&mut self, _flow: FlowId, _error: FlowError) {}
    /// What one end says when all its flows are over.
    fn report(&mut self, _whose: Role, _report: Box<EndReport>) {}
    /// The control connection is lost and may be made anew, or is there again.
    fn away(&mut self, _is_away: bool) {}
    /// Server: this connection is the session's no more.
    fn parts_with(&mut self, _parting: Parting) {}
    /// The test is over; this is left of its sockets. The client closes first, so that nothing gathers in `TIME_WAIT` at the server.
    fn test_over(&mut self, leftover: Leftover) {
        leftover.close();
    }
}

/// A dialogue about our tests.
pub(crate) trait Talk:
    Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error: Into<RunError>>
{
}

impl<D> Talk for D where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error: Into<RunError>>
{
}

/// One session at one end.
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever the others are")]
pub(crate) struct Driver<D> {
    pub dialogue: D,
    role: Role,
    /// What holds on the connections of its flows.
    conventions: Conventions,
    /// So many workers of its tests may spin at most.
    pub spinning: usize,
    control: Control,
    /// Where that, or one that takes its place, is waited for.
    watch: Watch,
    /// Where the other end was when the session began.
    remote: Option<SocketAddr>,
    /// Processors for the workers of this end: half of them where the other end is on this machine.
    cpus: usize,
    /// Server: connections of the test that have come by being of its client.
    joined: u32,
    /// By what they come, and all who have.
    door: Door,
    entered: u64,
    /// Those that came before there was a test.
    early: Vec<Early>,
    /// What came of each flow of datagrams that has begun by itself before it had its socket, as far as that has not been told it.
    came_before: Vec<Came>,
    /// Whether its test is of those.
    is_counted: bool,
    /// Server: clients that take part beside the one that began the session.
    participants: Participants,
    has_control: bool,
    /// Whether the other end says there what connections came to.
    pub hears_of_ends: bool,
    /// Client: nothing is told of what the server receives while a test runs.
    pub is_untold: bool,
    /// When nobody is expected any more, where they follow one another and none is there.
    deserted_at: Tick,
    /// Whether a control connection is asked for that takes the place of this one.
    reconnects: bool,
    /// When it was asked for the last time.
    asked_at: Tick,
    /// Why nobody asks for it, and when that is tried again: this machine lacked something for now.
    unasked: Option<(RunError, Tick)>,
    /// Whether it is lost, as the flows of the test were told.
    is_away: bool,
    /// Server: a connection of which the dialogue has not said yet whether it takes the place of this one.
    candidate: Option<TcpStream>,
    /// Where word for this session is left.
    pub inbox: Inbox,
    messages: InboxReader,
    /// Apart, since most sessions have none most of the time.
    test: Option<Box<RunningTest>>,
    journal: SessionJournal,
    /// Where what each test measures is written one by one.
    pub samples: Option<SampleFile>,
    /// Server: who makes what its client is told that this program prints.
    pub scribes: Option<Scribes>,
    /// What the other end runs otherwise than asked.
    there: Vec<Substitution>,
    /// Server: what was chosen for a test whose flows may not come yet.
    waiting: Option<Vec<Substitution>>,
    /// Server: whether the test starts once others have opened its sockets.
    is_opening: bool,
    /// When the flows of the test are ended by force.
    abandon_at: Tick,
    /// What [`STALLED`] says, or less when the other end has ended.
    stalled: Duration,
    /// When a flow of this end last moved anything, as far as reports tell.
    moved_at: Tick,
    stopping: bool,
    /// When what was sent is waited for no longer: the other end has reported.
    awaited: Tick,
    /// Why a test cannot go on at this end.
    trouble: Option<RunError>,
    /// Server: held while a long message is read.
    reading: Option<MutexGuard<'static, ()>>,
    /// From the end of the dialogue on, where flows ran.
    salvage: Option<Salvage>,
}

/// What a turn leaves to be done.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Nothing before something comes, or before this time.
    Until(Tick),
    /// Nothing, since the dialogue has left off.
    Left(Left),
}

/// How a dialogue left off.
#[derive(Debug)]
pub(crate) enum Left {
    /// A test is over, and the dialogue goes on.
    TestOver,
    /// The dialogue has ended, well or not.
    Ended(Result<(), RunError>),
}

impl<D: Talk> Driver<D> {
    /// A session over this, with a peer of such conventions, waited for by itself or, if `hosted`, with others. What happens is
    /// written down in `journal`.
    pub fn new(
        dialogue: D,
        (role, conventions): (Role, Conventions),
        (carrier, hosted): (Carrier, Option<Hosted>),
        journal: &Journal,
    ) -> Result<Self, RunError> {
        let remote = carrier.remote();
        let shares = if carrier.is_within_one_host() { 2 } else { 1 };
        let cpus = (cpus::allowed().len() / shares).max(1);
        let (watch, waker) = hosted.map(|Hosted { watch, waker }| (watch, waker)).unzip();
        let (stream, (inbox, messages), door) = match carrier {
            Carrier::Control(stream, _) => {
                let inbox = Inbox::new(waker.map_or_else(Waker::new, Ok)?);
                (Some(stream), inbox, Door::default())
            }
            Carrier::Joined { control, inbox, door } => (Some(control), inbox, door),
            Carrier::Flows { inbox, door, .. } => (None, inbox, door),
        };
        let watch = watch.map_or_else(|| Watch::own(&inbox.waker), Ok)?;
        let has_control = stream.is_some();
        let control = match stream {
            Some(stream) => Control::new(stream, role, watch.clone())?,
            None => Control::none(role, watch.clone()),
        };
        let named = remote.map(|address| address.to_string());
        // One session of a server may have half of the processors spun on, so that none keeps all from the others.
        let spinning = match role {
            Role::Client => usize::MAX,
            Role::Server => (cpus::allowed().len() / 2).max(1),
        };
        Ok(Self {
            dialogue,
            role,
            conventions,
            spinning,
            remote,
            cpus,
            joined: 0,
            door,
            entered: 0,
            early: Vec::new(),
            came_before: Vec::new(),
            is_counted: false,
            participants: Participants::default(),
            has_control,
            hears_of_ends: has_control,
            is_untold: false,
            deserted_at: Tick::NEVER,
            control,
            watch,
            reconnects: false,
            asked_at: Tick::ZERO,
            unasked: None,
            is_away: false,
            candidate: None,
            inbox,
            messages,
            test: None,
            journal: SessionJournal::new(journal.clone(), named.unwrap_or_default()),
            samples: None,
            scribes: None,
            there: Vec::new(),
            waiting: None,
            is_opening: false,
            abandon_at: Tick::NEVER,
            stalled: STALLED,
            moved_at: Tick::ZERO,
            stopping: false,
            awaited: Tick::NEVER,
            trouble: None,
            reading: None,
            salvage: None,
        })
    }

    /// Goes on until a test is over or the dialogue has ended, on a thread of its own.
    pub fn drive(&mut self, end: &mut impl End) -> Left {
        loop {
            if let Some(left) = self.drive_until(end, |_| false) {
                return left;
            }
        }
    }

    /// The same, but no longer than until this is so (`None`), of which the session's waker tells where the dialogue does not.
    pub fn drive_until(
        &mut self,
        end: &mut impl End,
        is_enough: impl Fn(&D) -> bool,
    ) -> Option<Left> {
        loop {
            let until = match self.go_on(end) {
                Turn::Until(_) if is_enough(&self.dialogue) => return None,
                Turn::Until(until) => until,
                Turn::Left(left) => return Some(left),
            };
            let timeout = (until != Tick::NEVER).then(|| until.since(clock::now()));
            match self.watch.wait(timeout) {
                Ok(is_ready) => self.attend(is_ready, end),
                Err(error) => return Some(Left::Ended(Err(error))),
            }
        }
    }

    /// Carries out what there is to do, and says for what to wait then.
    pub fn go_on(&mut self, end: &mut impl End) -> Turn {
        let left = self.carry_out(end);
        self.reading = None;
        if let Some(left) = left {
            return Turn::Left(left);
        }
        if let Err(error) = end.holds(self.held_bytes()) {
            return Turn::Left(self.leave(error, end));
        }
        self.tell_absence(end);
        match self.control.watch().and_then(|()| self.participants.watch()) {
            Ok(()) => Turn::Until(self.next_deadline()),
            Err(error) => Turn::Left(Left::Ended(Err(error))),
        }
    }

    /// After a wait: takes word, listens if the control connection is ready for that, and does what it is time for.
    pub fn attend(&mut self, is_ready: bool, end: &mut impl End) {
        self.inbox.waker.drain();
        self.take_some(end);
        if is_ready && !self.control.is_held_back() {
            self.listen();
        }
        if is_ready {
            self.hear_participants();
        }
        self.keep_time();
        self.see_who_is_there();
        // Whether what was sent is acknowledged is asked where it is time.
        if self.test.as_ref().is_some_and(|test| clock::now() >= test.next_look()) {
            self.check_over(end);
        }
    }

    /// Takes word that has been left, not too much of it: for the rest there is another turn.
    fn take_some(&mut self, end: &mut impl End) {
        for _ in 0..TURN {
            let Some(word) = self.messages.take() else { return };
            self.take(word, end);
        }
        self.inbox.waker.wake();
    }

    /// What keeps the paths of the test.
    fn paths(&self) -> impl Iterator<Item = &PathsRemote> {
        self.test.iter().flat_map(|test| test.paths())
    }

    /// What there is of messages.
    fn held_bytes(&self) -> usize {
        let waiting_bytes = self.control.waiting_bytes() + self.participants.waiting_bytes();
        self.dialogue.unread_bytes() + self.dialogue.kept_bytes() + waiting_bytes
    }

    /// The session cannot go on. Its client is told, if it listens.
    fn leave(&mut self, error: RunError, end: &mut impl End) -> Left {
        // Nothing starts any more.
        self.is_opening = false;
        self.dialogue.input(Input::Stop(&error.to_string()), clock::now());
        drop(self.carry_out_what_is_asked(end));
        self.control.flush();
        self.flush_participants();
        Left::Ended(Err(error))
    }

    /// Why the test that is over could not go on at this end, if so.
    pub const fn take_trouble(&mut self) -> Option<RunError> {
        self.trouble.take()
    }

    /// Whether the flows of a test are running.
    pub fn is_running(&self) -> bool {
        self.test.as_ref().is_some_and(|test| test.started().is_some() && !test.is_over())
    }

    /// Carries out everything that the dialogue asks for, what it asks for because its words cannot leave included.
    fn carry_out(&mut self, end: &mut impl End) -> Option<Left> {
        let mut last_reads = 0..LAST_READS;
        loop {
            let left = self.carry_out_what_is_asked(end);
            let are_all_there = self.flush_participants();
            if left.is_some() {
                return left;
            }
            let takes_any = self.control.flush();
            if takes_any && are_all_there {
                return None;
            }
            // Else the dialogue has heard of who is gone.
            if takes_any {
                continue;
            }
            // What the other end said before it went comes first; but it may still speak, and only not listen.
            let has_more = last_reads.next().is_some() && self.listen();
            if !has_more && self.control.close() == Heard::Closed {
                self.dialogue.input(Input::ControlClosed, clock::now());
            }
        }
    }

    fn carry_out_what_is_asked(&mut self, end: &mut impl End) -> Option<Left> {
        while !self.is_opening
            && let Some(output) = self.dialogue.output()
        {
            match output {
                Output::Send(bytes) => {
                    // Who hears that it may send is heard at once.
                    self.hear_datagrams();
                    self.control.say(&bytes);
                }
                Output::SendTo(name, bytes) => {
                    self.hear_datagrams();
                    self.participants.say(name, &bytes);
                    self.journal
                        .step(|| format!("client {} of several was told something", name.0));
                }
                Output::Dismiss(name) => self.dismiss(name, end),
                Output::Recount => self.recount(),
                Output::Open { credentials, plan, substitutions } => {
                    self.there = substitutions;
                    if let Err(error) = self.provide((credentials, None), plan, end) {
                        self.give_up(error);
                    }
                }
                Output::Prepare { credentials, resumed, plan } => {
                    match self.provide((credentials, resumed), plan, end) {
                        Ok(chosen) => self.prepared(chosen, end),
                        Err(error) => {
                            let sentence = error.to_string();
                            let unable = Input::Unable { code: error.code(), sentence: &sentence };
                            self.dialogue.input(unable, clock::now());
                        }
                    }
                }
                Output::Ready => end.ready(),
                Output::Start => self.begin(end),
                Output::Reconnect => self.reconnect(),
                Output::SessionLost => self.session_lost(),
                Output::TakeOver => self.take_over(),
                Output::TurnAway(bytes) => self.turn_away(&bytes, end),
                Output::Rejoin(credentials) => {
                    self.paths().for_each(|paths| paths.rejoin(credentials));
                }
                Output::Resumed => {
                    self.journal.step(|| "the server is back, and its flows run");
                    self.paths().for_each(|paths| paths.note_server(ServerIs::Back));
                }
                Output::Tell { group, flow, event } => {
                    if event == Event::Stop {
                        let now = clock::now();
                        self.journal.stops(now);
                        self.stop_by(now + STOPPING);
                    }
                    self.test.iter_mut().for_each(|test| test.tell(group, flow, event));
                    if event == Event::Stop && self.admits() {
                        self.test.iter_mut().for_each(|test| test.close_entrances(Some(group)));
                    }
                }
                Output::PeerInterval(interval) => end.interval(self.role.peer(), interval),
                Output::PeerEnded { group, flow, totals, failure } => {
                    if let Some(error) = &failure {
                        end.peer_failed(flow, error.clone());
                    }
                    // The connection may have come past this thread, and its word before it was heard of here.
                    self.hear_of_newcomers(group, 0);
                    self.journal.peer_ended(flow, totals, failure);
                }
                Output::PeerReport(report) => {
                    self.journal.peer_reported(&report, self.conventions.end == StreamEnd::Stopped);
                    self.awaited = clock::now() + UNDELIVERED_AWAITED;
                    self.end_with_peer();
                    end.report(self.role.peer(), report);
                }
                Output::TestOver => {
                    self.journal.step(|| "both ends have reported; the test is over");
                    let leftover =
                        self.test.take().map(|test| test.into_leftover()).unwrap_or_default();
                    self.abandon_at = Tick::NEVER;
                    end.test_over(leftover);
                    self.control.flush();
                    return Some(Left::TestOver);
                }
                Output::End(result) => {
                    self.control.flush();
                    let result = result.map_err(|error| self.told_with_unasked(error.into()));
                    // What went wrong here is more to the point than what the other end made of it.
                    return Some(Left::Ended(self.trouble.take().map_or(result, Err)));
                }
            }
        }
        None
    }

    /// Provides for a test. Returns what was left open and chosen here.
    fn provide(
        &mut self,
        sockets: (Credentials, Option<Resumed>),
        plan: Box<Test>,
        end: &mut impl End,
    ) -> Result<Vec<Substitution>, RunError> {
        let tells = [self.hears_of_ends, self.dialogue.peer_tells_failures()];
        let names = FlowNames::of::<D>(begun_as(&sockets));
        self.journal.expect(names, (self.role, tells), &plan);
        self.journal.remarked(self.dialogue.remarks(), self.scribes.as_ref());
        let mut test = Box::new(RunningTest::new(*plan, self.role, sockets, self.means())?);
        self.journal.step(|| format!("test accepted: {}", test.test.plan.subtitle()));
        end.provide(&mut test, &self.inbox)?;
        test.make_room(!self.has_control && self.role == Role::Server);
        let chosen = test.substitutions();
        self.test = Some(test);
        self.joined = 0;
        self.abandon_at = Tick::NEVER;
        self.awaited = Tick::NEVER;
        self.stalled = STALLED;
        Ok(chosen)
    }

    /// What there is for the workers of this end.
    const fn means(&self) -> Means {
        Means { cpus: self.cpus, spinning: self.spinning }
    }

    /// This end cannot go on: the other end is told, and what runs is ended.
    fn give_up(&mut self, error: RunError) {
        let now = clock::now();
        self.dialogue.input(Input::Stop(&error.to_string()), now);
        self.stop_by(now + GIVEN_UP);
        self.trouble.get_or_insert(error);
    }
}
