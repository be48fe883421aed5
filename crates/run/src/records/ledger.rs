//! Where the connections of one end are written down as each ends, and what those that send are seen to wait for. What is
//! counted of them is `pathscope_modes::load`'s.

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::record::{Caveat, FlowError, FlowErrorKind, FlowFacts, TcpFacts};
use pathscope_core::sending::{Progress, SendSamples, SendState};
use pathscope_core::tcp_look::TcpLook;
use pathscope_engines::Sockets;
use pathscope_modes::end::EndedConnections;
use pathscope_modes::load::{ConnectionEnd, Connections, FailureCounts};
use pathscope_os::errno::errno_name;
use pathscope_os::send_state::send_state;
use pathscope_os::tcp_facts::tcp_look;

use crate::error::RunError;
use crate::messages::attendance::{Arrival, Attended};
use crate::messages::outcome::named;
use crate::records::newcomers::{Newcomer, Newcomers, Passed};
use crate::records::places::{Hosts, Places};
use crate::threads::lock;

/// Flows that are looked at while they run.
const FLOWS_WATCHED: usize = 8;

/// Where flows that end are written down. Cheap to clone; each call locks, once a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(Arc<Mutex<Page>>);

#[derive(Debug, Default)]
struct Page {
    connections: Connections,
    /// Of each flow that runs: the kernel forgets it with the connection. Those that there are from the start have places in order, from
    /// this one on, since they may be very many; when they began nobody asks.
    first: FlowId,
    there: Vec<Places>,
    /// And of those that follow others.
    begun: HashMap<FlowId, Begun>,
    hosts: Hosts,
    /// Of those that follow one another, at the server: held until the flow is written down as over.
    attended: HashMap<FlowId, Attended>,
    /// Those that follow others and come past the session's thread, where somebody writes each down.
    newcomers: Option<Newcomers>,
    /// The first of those that still send. Who runs them has their sockets, and says how they stand.
    watched: Vec<Sender>,
    /// When it was last asked for that.
    asked: Tick,
    seen: SendSamples,
    progress: Progress,
}

/// A flow that follows others.
#[derive(Clone, Copy, Debug)]
struct Begun {
    places: Places,
    /// When its connection was begun; [`Tick::NEVER`] where that is not known.
    at: Tick,
    /// Whether it has no row, since there was no room for it.
    is_left_out: bool,
}

impl Page {
    /// Writes down where a flow is and when it began; where it was before.
    fn exchange(&mut self, flow: FlowId, begun: Begun) -> Option<Places> {
        let there = self.there.get_mut(flow.0.wrapping_sub(self.first.0) as usize);
        match there {
            Some(there) => Some(std::mem::replace(there, begun.places)),
            None => self.begun.insert(flow, begun).map(|before| before.places),
        }
    }

    /// A flow begins on a connection between these addresses.
    fn begin(&mut self, flow: FlowId, addresses: [Option<SocketAddr>; 2], arrival: Arrival) {
        let Arrival { begun, attended, opened_fast, .. } = arrival;
        opened_fast.into_iter().for_each(|is_taken| self.count_fast_open(is_taken));
        let places = self.hosts.keep(addresses);
        let at = begun.unwrap_or(Tick::NEVER);
        let begun = Begun { places, at, is_left_out: false };
        if let Some(before) = self.exchange(flow, begun) {
            self.hosts.forget(before);
        }
        self.attended.extend(attended.map(|attended| (flow, attended)));
    }

    /// One that has begun came past the session's thread.
    fn came(&mut self, flow: FlowId, ends: impl FnOnce() -> [Option<SocketAddr>; 2], since: Tick) {
        let Some(newcomers) = &mut self.newcomers else { return };
        let is_told = newcomers.add(Newcomer { flow, ends: ends(), since });
        if let Some(begun) = self.begun.get_mut(&flow) {
            begun.is_left_out = !is_told;
        }
    }

    fn watch(&mut self, flow: FlowId) {
        if self.watched.len() < FLOWS_WATCHED {
            self.watched.push(Sender { flow, state: Look::Unasked, tcp: None });
        }
    }

    fn count_fast_open(&mut self, is_taken: bool) {
        self.connections.report.fast_open.get_or_insert_default().count(is_taken);
    }

    /// What was written down of a flow that is over.
    fn take(&mut self, flow: FlowId) -> Option<Begun> {
        let there = self.there.get_mut(flow.0.wrapping_sub(self.first.0) as usize);
        match there {
            Some(there) => {
                let places = std::mem::replace(there, Places::UNKNOWN);
                Some(Begun { places, at: Tick::NEVER, is_left_out: false })
            }
            None => self.begun.remove(&flow),
        }
    }
}

/// A flow that is looked at while it sends.
#[derive(Debug)]
struct Sender {
    flow: FlowId,
    state: Look,
    /// How its connection stood when its worker last reported.
    tcp: Option<TcpLook>,
}

/// What is known of a socket since it was asked about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// It was not.
    Unasked,
    Awaited,
    /// How it stood, where the kernel says it.
    Seen(Option<SendState>),
}

impl Ledger {
    /// So many flows from this one on are about to begin, and none follows them.
    pub fn expect(&self, first: FlowId, flows: u32) {
        let mut page = lock(&self.0);
        page.first = first;
        page.there = vec![Places::UNKNOWN; flows as usize];
    }

    /// A flow begins on a connection between these addresses.
    pub fn begin(&self, flow: FlowId, addresses: [Option<SocketAddr>; 2], arrival: Arrival) {
        lock(&self.0).begin(flow, addresses, arrival);
    }

    /// The same of one that follows another, and in one go whether what it sends is looked at and, where it `came` past the session's
    /// thread, both of its ends and since when its data could begin.
    pub fn begin_next(
        &self,
        (flow, addresses): (FlowId, [Option<SocketAddr>; 2]),
        arrival: Arrival,
        is_watched: bool,
        came: Option<(impl FnOnce() -> [Option<SocketAddr>; 2], Tick)>,
    ) {
        let mut page = lock(&self.0);
        page.begin(flow, addresses, arrival);
        if let Some((ends, since)) = came {
            page.came(flow, ends, since);
        }
        if is_watched {
            page.watch(flow);
        }
    }

    /// What is known of one that had begun while its connection was in the making, in one go: whether it was opened with what it says first,
    /// where that was to be, and as above where and since when.
    pub fn answered(
        &self,
        flow: FlowId,
        opened_fast: Option<bool>,
        came: Option<(impl FnOnce() -> [Option<SocketAddr>; 2], Tick)>,
    ) {
        if opened_fast.is_none() && came.is_none() {
            return;
        }
        let mut page = lock(&self.0);
        opened_fast.into_iter().for_each(|is_taken| page.count_fast_open(is_taken));
        if let Some((ends, since)) = came {
            page.came(flow, ends, since);
        }
    }

    /// Connections were to be opened so, whether any was or not; `is_served`: whether this end's system gives what comes with a SYN to
    /// who listens, where it listens.
    pub fn tell_fast_open(&self, is_served: Option<bool>) {
        lock(&self.0).connections.report.fast_open.get_or_insert_default().is_served = is_served;
    }

    /// Each of those that come past the session's thread, so many at once, is written down by somebody; `are_told`: the other end may want
    /// to hear of those that are left out.
    pub fn tell_newcomers(&self, at_once: u32, are_told: bool) {
        lock(&self.0).newcomers = Some(Newcomers::new(at_once, are_told));
    }

    /// What has come past it since the last time; so many rows were written since.
    pub fn take_newcomers(&self, written: u32) -> Option<Passed> {
        lock(&self.0).newcomers.as_mut().map(|newcomers| newcomers.take(written))
    }

    /// That some have no rows.
    pub fn newcomers_caveat(&self) -> Option<Caveat> {
        lock(&self.0).newcomers.as_ref().and_then(Newcomers::caveat)
    }

    /// What a flow sends at this end is looked at, if it is one of the first.
    pub fn watch(&self, flow: FlowId) {
        lock(&self.0).watch(flow);
    }

    /// Asks what the first flows that still send wait for. Whether there are any: then their workers are to look.
    pub fn ask(&self, now: Tick) -> bool {
        let mut page = lock(&self.0);
        page.asked = now;
        page.watched.iter_mut().for_each(|sender| sender.state = Look::Awaited);
        !page.watched.is_empty()
    }

    /// One of their workers looks: some calls of the system. A look counts once all have been seen.
    pub fn look(&self, sockets: &dyn Sockets) {
        let mut page = lock(&self.0);
        let Page { watched, asked, seen, progress, .. } = &mut *page;
        for Sender { flow, state, .. } in watched.iter_mut().filter(|it| it.state != Look::Unasked)
        {
            if let Some(socket) = sockets.of(*flow) {
                *state = Look::Seen(send_state(socket));
            }
        }
        let mut states = Vec::with_capacity(FLOWS_WATCHED);
        for Sender { state, .. } in &*watched {
            match state {
                Look::Unasked => {}
                Look::Awaited => return,
                Look::Seen(state) => states.extend(*state),
            }
        }
        seen.count(&states);
        seen.count_stalled(&states, *asked, progress);
        watched.iter_mut().for_each(|sender| sender.state = Look::Unasked);
    }

    /// One of their workers reports: how their connections stand.
    pub fn look_at_tcp(&self, sockets: &dyn Sockets) {
        for Sender { flow, tcp, .. } in &mut lock(&self.0).watched {
            if let Some(socket) = sockets.of(*flow) {
                *tcp = tcp_look(socket).map(|look| TcpLook { flow: *flow, ..look });
            }
        }
    }

    /// How the connections of the first flows that still send stood in the interval that was reported last.
    pub fn tcp_looks(&self) -> Vec<TcpLook> {
        lock(&self.0).watched.iter_mut().filter_map(|sender| sender.tcp.take()).collect()
    }

    /// A flow has sent all it will.
    pub fn sent_all(&self, flow: FlowId) {
        lock(&self.0).watched.retain(|sender| sender.flow != flow);
    }

    /// Of these flows nothing more is heard.
    pub fn lose(&self, flows: &Range<u32>) {
        lock(&self.0).watched.retain(|sender| !flows.contains(&sender.flow.0));
    }

    /// What was seen of flows that send, once.
    pub fn take_seen(&self) -> SendSamples {
        std::mem::take(&mut lock(&self.0).seen)
    }

    /// More was sent again after a flow had been written down.
    pub fn note_retransmits(&self, flow: FlowId, retransmits: u64) {
        lock(&self.0).connections.note_retransmits(flow, retransmits);
    }

    /// A flow has ended; `system`: its own address, where that was not written down, and what the kernel says of it, asked where it is
    /// told. What it came to, where that is wanted.
    pub fn depart(
        &self,
        end: ConnectionEnd,
        system: (impl FnOnce() -> Option<SocketAddr>, impl FnOnce() -> Option<TcpFacts>),
        is_wanted: bool,
    ) -> Option<FlowFacts> {
        let error = end.error.map(named);
        let mut page = lock(&self.0);
        page.watched.retain(|sender| sender.flow != end.flow);
        let begun = page.take(end.flow);
        let addresses = begun.map_or([None; 2], |begun| page.hosts.forget(begun.places));
        let begun_at = begun.map(|begun| begun.at).filter(|&at| at != Tick::NEVER);
        let is_left_out = begun.is_some_and(|begun| begun.is_left_out);
        if let Some(newcomers) = page.newcomers.as_mut().filter(|_| is_left_out) {
            newcomers.leave_out(end.flow, end.totals, error.as_ref());
        }
        // Of one that failed the other end may have to hear.
        let is_wanted = is_wanted && (!is_left_out || error.is_some());
        // Its place is free again when it is written down.
        let _attended = page.attended.remove(&end.flow);
        let end = ConnectionEnd { error, begun_at, ..end };
        page.connections.depart(end, addresses, is_wanted, system)
    }

    /// A flow that began never was: its connection did not become its own.
    pub fn forget(&self, flow: FlowId) {
        let mut page = lock(&self.0);
        page.watched.retain(|sender| sender.flow != flow);
        if let Some(begun) = page.take(flow) {
            page.hosts.forget(begun.places);
        }
    }

    /// A flow never got its socket, from when it was tried to when it was known.
    pub fn not_made(
        &self,
        flow: FlowId,
        address: SocketAddr,
        error: &RunError,
        tried: [Tick; 2],
    ) -> FlowError {
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: match error {
                RunError::Attach { why, .. } => why.clone(),
                RunError::Refused { why, .. } => why.to_string(),
                other => other.to_string(),
            },
            errno: error.errno().map(|errno| errno_name(errno).to_owned()),
        };
        lock(&self.0).connections.not_made(flow, address, error.clone(), tried);
        error
    }

    /// Connections that failed by this error of the system so far.
    pub fn failed_of(&self, errno: &str) -> u64 {
        let errnos = &lock(&self.0).connections.report.errnos;
        errnos.iter().find(|count| count.errno == errno).map_or(0, |count| count.failed)
    }

    /// All that is written down, once.
    pub fn take(&self) -> Connections {
        std::mem::take(&mut lock(&self.0).connections)
    }

    /// Connections that have ended so far.
    pub fn ended(&self) -> EndedConnections {
        let report = &lock(&self.0).connections.report;
        let FailureCounts { network, data, protocol } = report.failures;
        EndedConnections {
            completed: report.completed,
            failed: report.failed,
            network,
            data,
            protocol,
        }
    }
}
