//! What a session does with word that was left for it: of its workers, of those who make and keep its connections, and
//! of who wants it to stop.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowError, FlowErrorKind};
use pathscope_flow::{GroupId, Input, Phase, Totals, Transport};
use pathscope_modes::registry::EndInterval;
use pathscope_os::clock;

use super::{Driver, End, STOPPING, Talk, UNDELIVERED};
use crate::error::RunError;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{FlowSocket, SessionMessage};
use crate::messages::outcome::{WorkerOutcome, named};
use crate::records::newcomers::{Newcomer, Passed};

impl<D: Talk> Driver<D> {
    /// Takes word that has been left.
    pub(super) fn take(&mut self, word: SessionMessage, end: &mut impl End) {
        let now = clock::now();
        match word {
            SessionMessage::Attached { group, flow, socket, arrival } => {
                self.attach((group, flow), socket, arrival, now);
            }
            SessionMessage::AttachedTogether { group, all } => {
                for (flow, held, arrival) in all {
                    self.attach((group, flow), FlowSocket::Held(held), arrival, now);
                }
            }
            SessionMessage::Opened => self.opened(end),
            SessionMessage::AttachFailed(error) => self.give_up(error),
            SessionMessage::Joined { stream, answer } => self.join(stream, &answer, end),
            SessionMessage::Participates { stream, place } => self.participate(stream, place),
            SessionMessage::Called(promised) => self.call(promised, end),
            SessionMessage::Begins(beginning) => self.begins(beginning, end),
            SessionMessage::MayAttach => self.has_turn(),
            SessionMessage::Lane { group, flow, lane, socket } => {
                let Some(test) = &mut self.test else { return };
                let is_first = test.change_lane(group, flow, lane, socket);
                if is_first && self.role == Role::Server {
                    self.dialogue.input(Input::Attached { group, flow }, now);
                }
            }
            SessionMessage::LanesReady { group, flow } => {
                self.dialogue.input(Input::Attached { group, flow }, now);
            }
            SessionMessage::ConnectFailed { group, flow, address, error, tried } => {
                self.not_made((group, flow), address, &error, tried);
            }
            SessionMessage::NoMoreFlows { group } => self.close_entrances(group),
            SessionMessage::Phase { group, flow, phase, totals, at, error, tcp } => {
                let Some(test) = &mut self.test else { return };
                self.journal.step(|| {
                    let transport = test.group(group).map(|state| state.group.transport);
                    let Totals { sent, received } = totals;
                    let what =
                        if transport == Some(Transport::Datagram) { "datagrams" } else { "bytes" };
                    format!("flow {flow} is {phase:?}: {sent} {what} sent, {received} received")
                });
                test.phase(group, flow, phase, error.as_ref().map(|error| error.kind));
                if phase.is_over() && test.tells_connections(group) {
                    let error = error.map(|error| named(*error));
                    // Of one that is not replaced the other end may want to hear.
                    if !test.replaces() {
                        let failure = error.clone().filter(|_| phase == Phase::Failed);
                        self.dialogue.input(Input::Ended { group, flow, totals, failure }, now);
                    }
                    self.journal.ended(flow, totals, (at, tcp.as_deref().copied()), error);
                }
                self.dialogue.input(Input::Phase { group, flow, phase, totals }, now);
            }
            SessionMessage::Departed { group, facts, at } => {
                // The server has said what it counts on the connection itself, unless that failed.
                if self.role == Role::Client || facts.error.is_some() {
                    let totals = Totals { sent: facts.sent_bytes, received: facts.received_bytes };
                    let (flow, failure) = (facts.flow, facts.error.clone());
                    self.dialogue.input(Input::Ended { group, flow, totals, failure }, now);
                }
                self.hear_of_newcomers(group, 0);
                if self.journal.departed(*facts, at) {
                    self.hear_of_newcomers(group, 1);
                }
            }
            SessionMessage::PathChanged { change, at } => self.journal.path_changed(*change, at),
            SessionMessage::Progress { start, end, flows } => {
                self.hear_of_all_newcomers();
                self.journal.progress(&flows, (start, end));
            }
            SessionMessage::Interval { group, worker, index, start, end: until, tally, views } => {
                self.hear_of_all_newcomers();
                let Some(test) = &mut self.test else { return };
                self.journal.saw(worker, views);
                let whole = test.interval(group, worker, (index, [start, until]), tally);
                self.intervals(whole, end);
            }
            SessionMessage::WorkerOver { group, worker, outcome } => {
                self.worker_over((group, worker), *outcome, end, now);
            }
            SessionMessage::Probed(interval) => end.probed(interval),
            SessionMessage::Reconnected(stream) => self.reconnected(stream),
            SessionMessage::Unreached => self.dialogue.input(Input::Unreached, now),
            SessionMessage::Returned { stream, attempt, received } => {
                self.candidate = Some(stream);
                self.dialogue.input(Input::Returned { attempt, received }, now);
            }
            SessionMessage::MayStart => self.dialogue.input(Input::MayStart, now),
            SessionMessage::Stop(reason) => {
                // Who asks twice waits for nobody.
                let is_second = std::mem::replace(&mut self.stopping, true);
                self.stop_by(if is_second { now } else { now + STOPPING });
                self.awaited = self.awaited.min(now + UNDELIVERED);
                self.dialogue.input(Input::Stop(reason), now);
            }
        }
    }

    fn worker_over(
        &mut self,
        (group, worker): (GroupId, usize),
        outcome: Result<WorkerOutcome, RunError>,
        end: &mut impl End,
        now: Tick,
    ) {
        if self.test.is_none() {
            return;
        }
        match &outcome {
            Ok(WorkerOutcome { connections, streams, .. }) => {
                self.journal.connections_over(connections, now);
                self.journal.streams_over(streams, now);
            }
            Err(error) => self.tell_lost((group, worker), error, now),
        }
        let Some(test) = &mut self.test else { return };
        let whole = test.worker_over(group, worker, outcome, now);
        self.intervals(whole, end);
        self.check_over(end);
    }

    /// A worker could not go on. Of its connections their close tells the other end, and of its flows of datagrams nothing does but a word.
    fn tell_lost(&mut self, (group, worker): (GroupId, usize), error: &RunError, now: Tick) {
        let Some(test) = &self.test else { return };
        if test.group(group).is_none_or(|state| state.group.transport != Transport::Datagram) {
            return;
        }
        let (kind, text) = (FlowErrorKind::Unknown, error.to_string());
        let failure = FlowError { kind, text, errno: None };
        for flow in test.flows_of(worker).map(FlowId) {
            let (totals, failure) = (Totals::default(), Some(failure.clone()));
            self.dialogue.input(Input::Ended { group, flow, totals, failure }, now);
        }
    }

    /// Writes down the connections of a group that came past this thread; `written`: so many of them have rows since the last time.
    pub(super) fn hear_of_newcomers(&mut self, group: GroupId, written: u32) {
        let Some(state) = self.test.as_ref().and_then(|test| test.group(group)) else { return };
        let Some(passed) = state.ledger.take_newcomers(written) else { return };
        let Passed { came, completed, left_out } = passed;
        for Newcomer { flow, ends, since } in came {
            self.journal.opened(flow, ends, since);
        }
        self.journal.leaves_out(left_out);
        // The other end may have a row of each that is written when it has heard of it.
        for (flow, totals) in completed {
            let failure = None;
            self.dialogue.input(Input::Ended { group, flow, totals, failure }, clock::now());
        }
    }

    /// No flow of this group will come any more.
    fn close_entrances(&mut self, group: GroupId) {
        self.test.iter_mut().for_each(|test| test.close_entrances(Some(group)));
    }

    fn hear_of_all_newcomers(&mut self) {
        let groups = self.test.iter().flat_map(|test| &test.groups);
        let groups: Vec<GroupId> = groups.map(|state| state.group.id).collect();
        groups.into_iter().for_each(|group| self.hear_of_newcomers(group, 0));
    }

    /// A flow has its socket.
    fn attach(
        &mut self,
        (group, flow): (GroupId, FlowId),
        socket: FlowSocket,
        mut arrival: Arrival,
        now: Tick,
    ) {
        let Some(test) = &mut self.test else { return };
        if let Some(name) = arrival.called.take() {
            self.journal.call(flow, name);
        }
        let follows = test.started().is_some() && test.tells_connections(group);
        if let Some(addresses) = socket.addresses().filter(|_| follows) {
            self.journal.opened(flow, addresses, now);
        }
        test.connected(group, &arrival);
        if test.attach((group, flow), socket, arrival) {
            self.dialogue.input(Input::Attached { group, flow }, now);
        }
    }

    /// A connection that was to follow another could not be made.
    fn not_made(
        &mut self,
        (group, flow): (GroupId, FlowId),
        address: SocketAddr,
        error: &RunError,
        tried: [Tick; 2],
    ) {
        if let Some(state) = self.test.as_mut().and_then(|test| test.group_mut(group)) {
            let error = state.ledger.not_made(flow, address, error, tried);
            self.journal.not_made(flow, address, error, tried);
        }
    }

    fn intervals(&mut self, whole: Vec<EndInterval>, end: &mut impl End) {
        for interval in whole.into_iter().map(Box::new) {
            if self.test.as_ref().is_some_and(|test| test.test.plan.has_moved_in(&interval)) {
                self.moved_at = clock::now();
            }
            self.journal.interval(&interval);
            self.dialogue.input(Input::Interval(interval.clone()), clock::now());
            end.interval(self.role, interval);
        }
    }

    pub(super) fn check_over(&mut self, end: &mut impl End) {
        let (patience, now) = (self.patience(), clock::now());
        if !self.test.as_mut().is_some_and(|test| test.is_delivered(patience, now)) {
            return;
        }
        // What is said of single connections is said before the report.
        self.hear_of_all_newcomers();
        let Some(test) = &mut self.test else { return };
        if let Some(mut report) = test.take_report(&self.journal.names::<D>(test.token)) {
            if self.role == Role::Server {
                report.caveats.extend(self.journal.caveats());
            }
            self.journal.reported(&report);
            self.journal.step(|| "every flow is over; this end reports");
            let mut said = report.clone();
            said.output = self.journal.printed();
            self.dialogue.input(Input::Over(said), clock::now());
            end.report(self.role, report);
        }
    }
}
