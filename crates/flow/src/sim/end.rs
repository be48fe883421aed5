//! What the simulator knows of one machine between two of its steps.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::offer::Flight;
use crate::{Close, Event, Machine, Phase, Want};

#[derive(Debug)]
pub(super) struct End<M> {
    pub(super) machine: M,
    pub(super) want: Want,
    /// A send that the system has.
    pub(super) flight: Option<Flight>,
    pub(super) phase: Phase,
    pub(super) started: bool,
    /// What the machine is yet to be told, in order.
    pub(super) pending: VecDeque<Event>,
    pub(super) closing: Option<Close>,
    pub(super) sockets: Vec<Socket>,
    /// Whether the last operation was a receive: then a send has the turn, as in an engine that lets
    /// neither direction starve.
    pub(super) received_last: bool,
    /// Where the next receive looks first.
    pub(super) first_lane: usize,
    pub(super) total_told: bool,
    /// When the one timer fires that still counts.
    pub(super) armed: Option<Tick>,
    /// When the machine was over or its process died; it is not called any more.
    pub(super) over_at: Option<Tick>,
}

/// One lane's socket at this end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Socket {
    /// The connection is gone.
    pub(super) is_dead: bool,
    /// The machine knows that the other end sends no more.
    pub(super) end_told: bool,
    /// Datagrams that were sent.
    pub(super) sent: u64,
}

impl<M: Machine> End<M> {
    pub(super) fn new(machine: M, lanes: usize) -> Self {
        let phase = machine.phase();
        Self {
            machine,
            want: Want::NOTHING,
            flight: None,
            phase,
            started: false,
            pending: VecDeque::new(),
            closing: None,
            sockets: vec![Socket::default(); lanes],
            received_last: false,
            first_lane: 0,
            total_told: false,
            armed: None,
            over_at: None,
        }
    }

    /// Has the machine told of something. The start comes first, whatever else has happened before it.
    pub(super) fn tell(&mut self, event: Event) {
        match event {
            _ if self.over_at.is_some() => {}
            Event::Start => self.pending.push_front(event),
            _ => self.pending.push_back(event),
        }
    }

    /// Whether the machine is to be told something now.
    pub(super) fn is_to_be_told(&self) -> bool {
        let first = self.pending.front();
        first == Some(&Event::Start) || first.is_some() && self.started
    }

    /// What the machine is to be told now.
    pub(super) fn next_told(&mut self) -> Option<Event> {
        if self.is_to_be_told() { self.pending.pop_front() } else { None }
    }
}
