//! How connections of a test end, as rows say it: at this end, and by the other end's word where that says any.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::journal::Entry;
use pathscope_core::record::{FlowError, FlowFacts, TcpFacts};
use pathscope_core::tcp_look::TcpLook;
use pathscope_flow::Totals;
use pathscope_modes::load::ConnectionEnd;
use pathscope_modes::registry::EndReport;

use super::{Held, SessionJournal, sum};
use crate::messages::outcome::{FlowProgress, LastSeen};
use crate::records::confirmation::{Peer, PeerEnd, error_of_both, unconfirmed};

/// Connections that wait for word from an end that has not said any yet: memory is not theirs to use up.
const UNCONFIRMED: usize = 10_000;

/// The row of a connection that failed here is written after this time at the latest, whatever the other end may yet say
/// of it: it is told why, or finds out, within a second or two.
const FAILED_WAITS: Duration = Duration::from_secs(3);

impl SessionJournal {
    /// A connection has ended, and so the kernel saw it then. Of one that is known to have, this says nothing new.
    pub fn ended(
        &mut self,
        flow: FlowId,
        totals: Totals,
        (at, seen): (Tick, Option<LastSeen>),
        error: Option<FlowError>,
    ) {
        let held = self.connections.get(&flow).filter(|held| held.until.is_none());
        let Some(held) = held else { return };
        let facts = FlowFacts {
            sent_bytes: totals.sent,
            received_bytes: totals.received,
            error,
            tcp: seen.map(|seen| seen.facts),
            ..held.facts.clone()
        };
        self.is_over(facts, seen.and_then(|seen| seen.look), at);
    }

    /// A worker is over: whatever of these connections was still under way is so no more.
    pub fn connections_over(
        &mut self,
        connections: &[(ConnectionEnd, Option<Box<TcpFacts>>)],
        now: Tick,
    ) {
        for (end, tcp) in connections {
            let at = end.ended_at.unwrap_or(now);
            let seen = tcp.as_deref().map(|&facts| LastSeen { facts, look: None });
            self.ended(end.flow, end.totals, (at, seen), end.error.clone());
        }
    }

    /// A connection has ended here; it stood so then, as far as more is known of that than its facts tell. Its row is written when the other
    /// end has confirmed it, or will not.
    pub(super) fn is_over(&mut self, facts: FlowFacts, look: Option<TcpLook>, at: Tick) {
        let (flow, has_failed) = (facts.flow, facts.error.is_some());
        if self.wants_progress() {
            let totals = Totals { sent: facts.sent_bytes, received: facts.received_bytes };
            let tcp = facts.tcp.as_ref().filter(|_| facts.sent_bytes > 0);
            let tcp = tcp.map(|tcp| look.unwrap_or_else(|| TcpLook::at_end(flow, tcp)));
            let progress = FlowProgress { flow, totals, datagrams: None, tcp };
            self.progress_of(&progress, (Tick::ZERO, at));
        }
        let Some(held) = self.connections.get_mut(&flow) else { return };
        (held.facts, held.until) = (facts, Some(at));
        let says = match self.peer {
            Peer::Awaited | Peer::Heard => true,
            Peer::Silent => has_failed && self.tells_failures,
            Peer::Gone | Peer::Left => false,
        };
        let peer = held.peer.take();
        if says && peer.is_none() {
            if has_failed {
                self.failed.push_back((flow, at));
            } else {
                self.await_word();
            }
            return;
        }
        let (role, state) = (self.role(), self.peer);
        self.write_end(flow, |facts| match peer {
            Some(peer) => error_of_both(role, facts, &peer),
            // What ended well has no word of the other end, where that says nothing any more.
            None => facts
                .error
                .clone()
                .or_else(|| matches!(state, Peer::Gone | Peer::Left).then(|| unconfirmed(state))),
        });
    }

    /// One more that ended well waits for the other end's word.
    fn await_word(&mut self) {
        self.waiting += 1;
        if self.peer == Peer::Awaited && self.waiting > UNCONFIRMED {
            // It says nothing of connections, whatever it might: these rows stand for themselves.
            self.peer = Peer::Silent;
            self.write_unconfirmed(|facts| facts.error.clone());
        }
    }

    /// The other end was lost, or is waited for no longer since somebody wanted to stop. What it received of connections
    /// that it has not told of it will never say.
    pub fn alone(&mut self, is_stopped: bool) {
        let peer = if is_stopped { Peer::Left } else { Peer::Gone };
        if matches!(self.peer, Peer::Awaited | Peer::Heard) {
            self.peer = peer;
        }
        self.write_unconfirmed(|facts| facts.error.clone().or_else(|| Some(unconfirmed(peer))));
    }

    /// The other end says what a connection came to there.
    pub fn peer_ended(&mut self, flow: FlowId, totals: Totals, failure: Option<FlowError>) {
        if self.peer == Peer::Awaited {
            self.peer = Peer::Heard;
        }
        let role = self.role();
        let Some(held) = self.connections.get_mut(&flow) else { return };
        let peer = PeerEnd { totals, failure };
        if held.until.is_some() {
            self.write_end(flow, |facts| error_of_both(role, facts, &peer));
        } else {
            held.peer = Some(peer);
        }
        if self.connections.is_empty() {
            self.write_last();
        }
    }

    /// The other end has said all that it will say.
    /// What it counted while more was on its way says nothing of how they ended.
    pub fn peer_reported(&mut self, report: &EndReport, is_cut_short: bool) {
        // One of another version says nothing of single connections: its report does, of the first.
        let has_heard = std::mem::take(&mut self.peer) == Peer::Heard;
        let role = self.role();
        let told = self.test.as_ref().map(|(plan, ..)| plan.connections_of(report));
        let told = told.unwrap_or_default();
        self.write_unconfirmed(|facts| match told.iter().find(|there| there.flow == facts.flow) {
            Some(there) => {
                let totals = if is_cut_short {
                    Totals { sent: facts.received_bytes, received: facts.sent_bytes }
                } else {
                    Totals { sent: there.sent_bytes, received: there.received_bytes }
                };
                error_of_both(role, facts, &PeerEnd { totals, failure: there.error.clone() })
            }
            None => facts.error.clone().or_else(|| has_heard.then(|| unconfirmed(Peer::Gone))),
        });
    }

    /// Writes the rows of connections that have ended here and were not confirmed, each with what `judge` says.
    pub(super) fn write_unconfirmed(&mut self, judge: impl Fn(&FlowFacts) -> Option<FlowError>) {
        let waiting = self.connections.iter().filter(|(_, held)| held.until.is_some());
        let mut waiting: Vec<FlowId> = waiting.map(|(&flow, _)| flow).collect();
        waiting.sort_unstable();
        for flow in waiting {
            self.write_end(flow, &judge);
        }
        self.write_last();
    }

    /// Writes the rows of connections that failed here some time before, and of which the other end has said nothing.
    pub(super) fn write_failed(&mut self, now: Tick) {
        while let Some(&(flow, _)) = self.failed.front().filter(|(_, at)| *at + FAILED_WAITS <= now)
        {
            self.failed.pop_front();
            self.write_end(flow, |facts| facts.error.clone());
        }
    }

    /// Writes the row of a connection that has ended here, with the error that `judge` finds; once. It says what the kernel
    /// has sent again since, too: all that this end says of a connection is from one reading, that of its report, once there
    /// is one.
    fn write_end(&mut self, flow: FlowId, judge: impl FnOnce(&FlowFacts) -> Option<FlowError>) {
        let Some(Held { mut facts, since, until: Some(at), retransmits, .. }) =
            self.connections.remove(&flow)
        else {
            return;
        };
        self.forget_name(flow);
        if let Some(tcp) = &mut facts.tcp {
            tcp.retransmits = tcp.retransmits.max(retransmits);
        }
        facts.error = judge(&facts);
        self.ended.count(facts.error.as_ref());
        self.retransmits = sum(self.retransmits, facts.tcp.and_then(|tcp| tcp.retransmits));
        self.tell(Entry::Closed, facts, (since, at));
    }
}
