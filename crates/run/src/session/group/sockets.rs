//! The sockets of a group: opened as its flows are about to run, and those that are left when they are over, wherever they are.

use std::sync::Arc;

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::journal::KernelView;
use pathscope_core::record::SocketFacts;
use pathscope_core::sending::SendState;
use pathscope_modes::load::FLOWS_TOLD;
use pathscope_modes::mode::ToldAs;
use pathscope_os::memory;
use pathscope_os::send_state::send_state;
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::tcp_facts::tcp_facts;

use super::GroupState;
use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::inbox::{FlowSocket, HeldSocket, Inbox};
use crate::messages::outcome;
use crate::readying::{self, Readying};
use crate::records::journal::{ASKED, Beginner};
use crate::workers::shares::shares;
use crate::workers::sharing;
use crate::workers::worker::Tells;

/// The sockets of flows that are about to run.
#[derive(Default)]
pub(crate) struct Opened {
    /// Those that are open here: all or none.
    pub sockets: Vec<Socket>,
    /// How the first is set.
    pub facts: Option<SocketFacts>,
    /// What is told of each.
    pub told: Vec<Beginner>,
}

impl GroupState {
    /// Starts those who hold the sockets of its flows, where one table has no room for them, and finds who runs them beside others'.
    pub fn hold(&mut self, inbox: &Inbox) -> Result<(), RunError> {
        if self.placement.is_shared {
            self.part = Some(sharing::part(&inbox.waker)?);
        }
        if self.placement.has_tables {
            // What very many flows take is given back when they are over, before more is taken for what is said of them.
            memory::keep_little();
            let first = self.group.first.0;
            let shares = shares(self.group.flows, self.placement.workers);
            let shares: Vec<_> = shares.iter().map(|it| first + it.start..first + it.end).collect();
            let readying = Readying::of(&*self.job, self.role, self.group);
            let holders = Holders::start(&shares, readying, &inbox.waker).map_err(|error| {
                RunError::Unsupported(format!(
                    "{error}; and {} connections are more than this process may have open: ask for fewer, or raise its limit of \
                     open files (ulimit -n)",
                    self.group.flows
                ))
            })?;
            self.holders = Some(holders);
        }
        Ok(())
    }

    /// The sockets of flows that are told, once they are over and until both ends have reported.
    fn kept(&self) -> impl Iterator<Item = &(FlowId, Socket)> {
        let beyond = self.beyond();
        self.returned.iter().take_while(move |(flow, _)| *flow < beyond)
    }

    /// How those stand, wherever they are.
    pub fn send_states(&self) -> Vec<SendState> {
        let mut states: Vec<_> = self.kept().filter_map(|(_, socket)| send_state(socket)).collect();
        let beyond = self.beyond();
        let held = self.holders.iter();
        // Each answer is a system call, and others may be very many.
        let ask = move |flow, socket: &Socket| {
            let told = Some(socket).filter(|_| flow < beyond);
            told.and_then(send_state)
        };
        states.extend(held.flat_map(|holders| holders.ask(ask)));
        states.extend(self.part.iter().flat_map(|part| part.ask(ask)));
        states
    }

    /// What the kernel has sent again on those by now.
    pub(super) fn retransmits(&self) -> Vec<(FlowId, u64)> {
        let beyond = self.beyond();
        let ask = move |flow: FlowId, socket: &Socket| {
            let told = Some(socket).filter(|_| flow < beyond)?;
            Some((flow, tcp_facts(told)?.retransmits?))
        };
        let mut again: Vec<_> =
            self.kept().filter_map(|(flow, socket)| ask(*flow, socket)).collect();
        again.extend(self.holders.iter().flat_map(|holders| holders.ask(ask)));
        again.extend(self.part.iter().flat_map(|part| part.ask(ask)));
        again
    }

    /// The first flow that is not told.
    fn beyond(&self) -> FlowId {
        FlowId(self.group.first.0.saturating_add(FLOWS_TOLD))
    }

    /// The sockets of its flows, opened and made ready. This was asked of them.
    pub fn open(&mut self, asked: &Settings, tells: Tells) -> Result<Opened, RunError> {
        let missing = || RunError::Attach {
            flow: self.group.first.0,
            why: "it has no socket".to_owned(),
            errno: None,
        };
        // Pings beside a load are told with it, and not one by one.
        let is_told =
            tells.rows && !self.is_probe && self.job.told_as(self.role) != ToldAs::Nothing;
        let readying = Readying::of(&*self.job, self.role, self.group);
        let mut opened = Opened::default();
        for (number, socket) in (0..).zip(std::mem::take(&mut self.sockets)) {
            let socket = socket.ok_or_else(missing)?;
            let flow = FlowId(self.group.first.0 + number);
            let mut addresses = socket.addresses();
            if let FlowSocket::Held(held) = &socket
                && let Some(first) = held.first.as_deref()
            {
                opened.facts = Some(first.facts.clone());
                self.room_bytes = first.room;
            }
            let socket = socket.open(asked)?;
            let is_asked = tells.status && (number as usize) < ASKED;
            let tcp = socket.as_ref().filter(|_| is_told && is_asked).and_then(tcp_facts);
            if let Some(socket) = &socket {
                opened.facts = opened.facts.or_else(|| Some(socket.facts()));
                addresses = addresses.or_else(|| Some(outcome::addresses(socket)));
                if let Some(readying) = &readying {
                    self.room_bytes = readying::least(self.room_bytes, readying.ready(socket)?);
                }
            }
            if is_told {
                let (addresses, view) =
                    (addresses.unwrap_or_default(), tcp.as_ref().map(KernelView::of));
                opened.told.push(Beginner { flow, addresses, view });
            }
            opened.sockets.extend(socket);
        }
        Ok(opened)
    }

    /// Where others hold the sockets of its flows: has them open those that are promised, of which `kept` is let go once all are open. The first
    /// is opened here, so that it is known how it is set. Whether there are any.
    pub fn open_elsewhere<T: Send + Sync + 'static>(
        &mut self,
        asked: &Settings,
        kept: &Arc<T>,
    ) -> Result<bool, RunError> {
        let Some(holders) = &self.holders else { return Ok(false) };
        let mut promised = Vec::new();
        for (number, place) in (0..).zip(&mut self.sockets) {
            let Some(FlowSocket::Promised(socket)) = place else { continue };
            let flow = FlowId(self.group.first.0 + number);
            *place = Some(if flow == holders.first() {
                FlowSocket::of(flow, socket.open(asked)?, Some(holders))?
            } else {
                promised.push((flow, socket.clone()));
                FlowSocket::Held(HeldSocket { addresses: socket.addresses(), first: None })
            });
        }
        holders.open(&promised, asked, kept)?;
        Ok(!promised.is_empty())
    }

    /// Those of the lanes that have come, where they roam.
    pub fn open_lanes(&mut self, asked: &Settings) -> Result<Vec<(Lane, Socket)>, RunError> {
        let lanes = std::mem::take(&mut self.lanes).into_iter();
        lanes.map(|(lane, socket)| Ok((lane, self.open_lane(socket, asked)?))).collect()
    }

    /// The socket of a lane that roams, with room for datagrams that wait.
    pub fn open_lane(&self, socket: FlowSocket, asked: &Settings) -> Result<Socket, RunError> {
        let missing = || RunError::Attach {
            flow: self.group.first.0,
            why: "it has no socket".to_owned(),
            errno: None,
        };
        let socket = socket.open(asked)?.ok_or_else(missing)?;
        Readying::of_lane(self.group).ready(&socket)?;
        Ok(socket)
    }
}
