//! Operations in flight: found by the name that the kernel knows them by, and by their tickets.

use std::os::fd::RawFd;

use super::balance::Balance;
use super::message::Message;
use crate::completion::{Submission, Ticket, Way};

/// Names of what is no operation of a flow.
pub const WAKER: u64 = u64::MAX;
pub const NOBODY: u64 = u64::MAX - 1;

/// No flight.
const NONE: u32 = u32::MAX;

/// What the kernel does for an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// It carries it out.
    Asked,
    /// It says when the socket is ready for it.
    Polled,
    /// Nothing: there was no room for what came.
    WithoutRoom,
}

/// One operation.
pub struct Flight {
    pub submission: Submission,
    pub stage: Stage,
    /// It stays open until the operation is complete.
    pub descriptor: RawFd,
    /// The one before it with the same ticket.
    older: u32,
}

/// A place for one, which may have had others.
#[derive(Default)]
struct Entry {
    flight: Option<Flight>,
    /// How many it has had: part of the name.
    round: u32,
    /// Its header, if it ever needed one.
    message: Option<Box<Message>>,
}

/// What is in flight on a lane, and what is known of its socket.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// By way: the youngest.
    youngest: [u32; 3],
    /// The last receive has emptied the socket.
    pub was_emptied: bool,
    /// Whether its stream sends or receives next.
    pub balance: Balance,
}

const STILL: Traffic =
    Traffic { youngest: [NONE; 3], was_emptied: false, balance: Balance::NOTHING };

/// All that are in flight.
#[derive(Default)]
pub struct Flights {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// By place, and by lane.
    traffic: Vec<Vec<Traffic>>,
}

impl Flights {
    /// So many.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// What is known of a lane.
    pub fn traffic(&mut self, Ticket { place, lane, .. }: Ticket) -> &mut Traffic {
        let (place, lane) = (place as usize, lane.index());
        if self.traffic.len() <= place {
            self.traffic.resize_with(place + 1, Vec::new);
        }
        let lanes = &mut self.traffic[place];
        if lanes.len() <= lane {
            lanes.resize(lane + 1, STILL);
        }
        &mut lanes[lane]
    }

    /// One more; its name.
    pub fn begin(&mut self, submission: Submission, stage: Stage, descriptor: RawFd) -> u64 {
        let ticket = submission.ticket;
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            self.entries.len() as u32 - 1
        });
        let youngest = &mut self.traffic(ticket).youngest[way(ticket)];
        let older = std::mem::replace(youngest, index);
        let entry = &mut self.entries[index as usize];
        entry.round = entry.round.wrapping_add(1);
        entry.flight = Some(Flight { submission, stage, descriptor, older });
        name(index, entry.round)
    }

    /// The one of this name, with its header.
    pub fn get(&mut self, name: u64) -> Option<(&mut Flight, &mut Option<Box<Message>>)> {
        let entry = self.entries.get_mut(name as u32 as usize)?;
        if entry.round != (name >> 32) as u32 {
            return None;
        }
        entry.flight.as_mut().map(|flight| (flight, &mut entry.message))
    }

    /// Ends it.
    pub fn end(&mut self, name: u64) -> Option<Flight> {
        self.get(name)?;
        let index = name as u32;
        let flight = self.entries[index as usize].flight.take()?;
        self.free.push(index);
        self.unlink(flight.submission.ticket, index, flight.older);
        Some(flight)
    }

    fn unlink(&mut self, ticket: Ticket, index: u32, older: u32) {
        let youngest = &mut self.traffic(ticket).youngest[way(ticket)];
        if *youngest == index {
            *youngest = older;
            return;
        }
        let mut at = *youngest;
        while let Some(flight) = self.entries.get_mut(at as usize).and_then(|it| it.flight.as_mut())
        {
            if flight.older == index {
                flight.older = older;
                return;
            }
            at = flight.older;
        }
    }

    /// The names of all that have this ticket.
    pub fn of_ticket(&mut self, ticket: Ticket, names: &mut Vec<u64>) {
        names.clear();
        let mut at = self.traffic(ticket).youngest[way(ticket)];
        while let Some(entry) = self.entries.get(at as usize) {
            let Some(flight) = &entry.flight else { return };
            names.push(name(at, entry.round));
            at = flight.older;
        }
    }
}

fn way(ticket: Ticket) -> usize {
    match ticket.way {
        Way::Send => 0,
        Way::Receive => 1,
        Way::Neither => 2,
    }
}

fn name(index: u32, round: u32) -> u64 {
    u64::from(round) << 32 | u64::from(index)
}
