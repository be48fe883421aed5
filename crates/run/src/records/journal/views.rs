//! How the kernel sees connections, for rows of status: when a test begins, and as workers report it.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_core::journal::{KernelView, StreamStatus};
use pathscope_modes::mode::ToldAs;

use super::SessionJournal;

/// Connections whose kernel is asked for every status row; asking a million would take a second.
pub(crate) const ASKED: usize = 1_000;

/// A flow that begins with the test and is told.
#[derive(Clone, Debug)]
pub(crate) struct Beginner {
    pub flow: FlowId,
    /// Its own address and the other end's.
    pub addresses: [Option<SocketAddr>; 2],
    /// How the kernel sees its connection, where somebody reads rows of status.
    pub view: Option<KernelView>,
}

impl SessionJournal {
    /// Whether somebody reads rows of status.
    pub fn tells_status(&self) -> bool {
        self.journal.wants().status
    }

    /// A test's flows begin to move data: these are told one by one, each as it is said.
    pub fn started(&mut self, flows: &[Beginner], told_as: ToldAs, at: Tick) {
        if !self.is_kept() {
            return;
        }
        (self.started, self.told_as) = (at, told_as);
        self.runs(at);
        if flows.is_empty() {
            // None are told, or the first is yet to come.
            return;
        }
        let streams = flows.len() as u64;
        for Beginner { flow, addresses, .. } in flows {
            self.opened(*flow, *addresses, at);
        }
        let views = flows.iter().filter_map(|it| Some((it.flow, it.view?)));
        self.views.insert(None, views.collect());
        self.status(at, &StreamStatus { streams, ..StreamStatus::default() });
    }

    /// A worker reports how the kernel sees the first of its connections that are open.
    pub fn saw(&mut self, worker: usize, views: Box<[(FlowId, KernelView)]>) {
        self.views.remove(&None);
        if !views.is_empty() || self.views.contains_key(&Some(worker)) {
            self.views.insert(Some(worker), views);
        }
    }

    /// How the kernel saw connections that are open, as workers last reported; of those that await word, what it had sent again.
    pub(super) fn views(&self) -> Vec<KernelView> {
        let is_open = |flow| self.connections.get(flow).is_some_and(|held| held.until.is_none());
        let seen = self.views.values().flatten();
        let open = seen.filter(|(flow, _)| is_open(flow)).map(|&(_, view)| view);
        let over = self.connections.values().filter(|held| held.until.is_some());
        let sent_again = over.filter_map(|held| held.facts.tcp.as_ref()?.retransmits);
        let over = sent_again
            .map(|again| KernelView { retransmits: Some(again), ..KernelView::default() });
        open.chain(over).collect()
    }
}
