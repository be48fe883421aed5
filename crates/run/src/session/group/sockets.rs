//! The sockets of a group: opened as its flows are about to run, and those that are left when they are over, wherever they are.

use pathscope_core::id::{FlowId, Lane};
use pathscope_core::journal::KernelView;
use pathscope_core::record::SocketFacts;
use pathscope_core::sending::SendState;
use pathscope_flow::Transport;
use pathscope_modes::load::FLOWS_TOLD;
use pathscope_modes::mode::{DatagramSockets, ToldAs};
use pathscope_os::send_state::send_state;
use pathscope_os::sockets::{Settings, Socket};
use pathscope_os::tcp_facts::tcp_facts;
use pathscope_os::{batches, memory};

use super::GroupState;
use crate::error::RunError;
use crate::holders::Holders;
use crate::messages::inbox::{FlowSocket, Inbox};
use crate::messages::outcome;
use crate::records::journal::{ASKED, Beginner};
use crate::workers::shares::shares;
use crate::workers::sharing;
use crate::workers::worker::Tells;

/// Room for datagrams that wait while an end stands still, of all flows of a group. The kernel charges some 800
/// bytes for a small one: 20,000 of them, two seconds at 10,000 a second.
const DATAGRAM_ROOM: usize = 16 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_DATAGRAM_ROOM: usize = 256 << 10;

/// The sockets of flows that are about to run.
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
            let holders = Holders::start(&shares, &inbox.waker).map_err(|error| {
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
        let (mut sockets, mut told, mut facts) = (Vec::new(), Vec::new(), None);
        for (number, socket) in (0..).zip(std::mem::take(&mut self.sockets)) {
            let socket = socket.ok_or_else(missing)?;
            let flow = FlowId(self.group.first.0 + number);
            let mut addresses = socket.addresses();
            if let FlowSocket::Held(held) = &socket {
                facts = facts.or_else(|| held.facts.as_deref().cloned());
            }
            let socket = socket.open(asked)?;
            if let (Some(socket), Some(kept)) = (&socket, self.kept_near) {
                // Where the system does not take it, it adapts.
                let _ = socket.bound_receive_buffer(kept);
            }
            let is_asked = tells.status && (number as usize) < ASKED;
            let tcp = socket.as_ref().filter(|_| is_told && is_asked).and_then(tcp_facts);
            if let Some(socket) = &socket {
                let is_receive_buffer_bounded = self.kept_near.is_some();
                facts = facts
                    .or_else(|| Some(SocketFacts { is_receive_buffer_bounded, ..socket.facts() }));
                addresses = addresses.or_else(|| Some(outcome::addresses(socket)));
            }
            if is_told {
                let (addresses, view) =
                    (addresses.unwrap_or_default(), tcp.as_ref().map(KernelView::of));
                told.push(Beginner { flow, addresses, view });
            }
            sockets.extend(socket);
        }
        if let Some(wanted) = self.job.datagram_sockets(self.role) {
            self.room_bytes = prepare(wanted, &sockets)?;
        } else if self.group.transport == Transport::Datagram
            && asked.receive_buffer_bytes.is_none()
        {
            let bytes = (DATAGRAM_ROOM / self.group.flows.max(1) as usize).max(LEAST_DATAGRAM_ROOM);
            for socket in &sockets {
                // What the system does not grant shows as drops, which are told.
                let _ = socket.enlarge_receive_buffer(bytes);
            }
        }
        Ok(Opened { sockets, facts, told })
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
        let bytes = DATAGRAM_ROOM / usize::from(self.group.lanes.max(1));
        // What the system does not grant shows as drops, which are told.
        let _ = socket.enlarge_receive_buffer(bytes);
        Ok(socket)
    }
}

/// Makes sockets of datagrams ready, or says what of the plan they cannot carry. The room that was asked for, and the least
/// that one was granted.
fn prepare(wanted: DatagramSockets, sockets: &[Socket]) -> Result<Option<(u64, u64)>, RunError> {
    let mut room: Option<(u64, u64)> = None;
    for socket in sockets {
        if wanted.keep_whole {
            // Where the system cannot, it cuts them in pieces, which is told by nobody.
            let _ = batches::keep_whole(socket);
        }
        if let Some(datagram) = wanted.longest_bytes
            && let Some(longest) = batches::longest_payload(socket).map(u64::from)
            && longest < datagram
        {
            return Err(RunError::Unsupported(format!(
                "datagrams of {datagram} bytes are longer than the path from here takes whole; ask for at most \
                 --datagram {longest}, or for --may-fragment"
            )));
        }
        if let Some(wanted) = wanted.room_bytes {
            // What the system does not grant is told.
            let _ = socket.enlarge_receive_buffer(usize::try_from(wanted).unwrap_or(usize::MAX));
            // It counts its own overhead in, as much again.
            let granted = socket.receive_buffer_bytes().map(|granted| granted as u64 / 2);
            let least = room.map_or(u64::MAX, |(_, least)| least);
            room = granted.map(|granted| (wanted, granted.min(least)));
        }
    }
    Ok(room)
}
