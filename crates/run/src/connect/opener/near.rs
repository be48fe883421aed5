//! What workers do of an opener's work: the one that tells of a vacancy begins the next connection itself, and the one that will
//! have it carries it through, where the server takes that.

use std::sync::{Mutex, TryLockError};

use pathscope_core::id::FlowId;
use pathscope_os::clock;

use super::Opener;
use crate::connect::Orders;
use crate::connect::ahead::GoingAhead;
use crate::connect::handshake::Handshake;
use crate::messages::attendance::Arrival;
use crate::messages::replacements::{Near, NotMade, Taken, Told};

impl Near for Mutex<Opener> {
    fn vacated(&self, flow: FlowId) -> Taken {
        let mut opener = match self.try_lock() {
            Ok(opener) => opener,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Taken::Not,
        };
        // It may have been told to stop before.
        let is_told = opener.hear();
        opener.take(Told::Vacancy(flow));
        opener.begin_all();
        if is_told && !opener.needs_its_thread() { Taken::Wholly } else { Taken::WithRest }
    }
}

impl Opener {
    /// Whether there is something that whoever told it of a vacancy has not done.
    fn needs_its_thread(&self) -> bool {
        self.making.len() > 0
            || self.is_finished()
            || self.may_begin()
            || clock::now() < self.pause_until
    }

    /// Hands a connection that was begun to the worker that will have it, where the server takes its flow's first bytes with
    /// what it says; else gives it back. Where fewer may be in the making at once than there are, this thread has to see each.
    pub(super) fn send_ahead(&self, number: u32, making: Handshake) -> Option<Handshake> {
        let Orders { credentials, group, way_in, .. } = &self.orders;
        let goes_ahead = credentials.goes_ahead
            && number >= group.flows
            && group.flows <= self.test.plan.connect_limit();
        if !goes_ahead {
            return Some(making);
        }
        let Handshake { stream, asking } = making;
        // Its own address is asked for where it is told: a call less for each of very many.
        let (flow, ends) = (asking.flow, [None, Some(asking.server)]);
        let arrival = Arrival { begun: Some(asking.begun), ..Arrival::default() };
        let undecided = self.undecided.one();
        let preface = |asking, opener| GoingAhead::new(asking, (opener, way_in.clone()), undecided);
        let left = way_in.admit_ahead((flow, ends), stream.into(), arrival, (asking, preface));
        left.err().map(|(socket, asking)| Handshake { stream: socket.into_tcp_stream(), asking })
    }

    /// One that went ahead is not its flow's.
    pub(super) fn not_made(&mut self, NotMade { asking, outcome }: NotMade) {
        let number = asking.flow.0 - self.orders.group.first.0;
        let result = match outcome {
            Ok(_) => self.make_again(number, &asking),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            self.failed(number, asking.begun, error);
        }
    }
}
