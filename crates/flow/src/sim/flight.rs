//! A send that the system has for a while, and what happens to its machine meanwhile.
//!
//! The machine is shown what comes, and neither asked nor told anything: whatever else there is to tell has the send land early.

use pathscope_core::Tick;

use super::conditions::Flights;
use super::offer::{Flight, Offer};
use super::outcome::Breach;
use super::site::Site;
use super::world::Happening;
use crate::Machine;

/// Of so many sends one finds no room, and one is interrupted.
const DEFEATED: u64 = 8;
/// The same of those that land early.
const RECALLED: u64 = 3;

impl<M: Machine> Site<'_, M> {
    /// Hands an offer to the system.
    pub(super) fn launch(&mut self, offer: Offer, Flights { most_ns, .. }: Flights) {
        let takes_ns = self.world.flights.below(most_ns.saturating_add(1));
        let lands_at = self.world.now.plus_nanos(takes_ns);
        self.world.at(lands_at, Happening::Land(self.key));
        self.end.flight = Some(Flight { offer, lands_at });
    }

    /// Does the next thing while a send is in flight.
    pub(super) fn fly(&mut self) -> Result<bool, Breach> {
        let lands_at = self.end.flight.as_ref().map_or(Tick::ZERO, |flight| flight.lands_at);
        let is_recalled = lands_at > self.world.now && self.is_awaited();
        if lands_at <= self.world.now || is_recalled {
            self.land(if is_recalled { RECALLED } else { DEFEATED });
            self.ask()?;
            return Ok(true);
        }
        if self.receive()? {
            return Ok(true);
        }
        self.arm();
        Ok(false)
    }

    /// Whether something waits for the send to land.
    fn is_awaited(&self) -> bool {
        let has_news = self.end.is_to_be_told() || self.is_due() || self.ended_lane().is_some();
        has_news || self.end.machine.phase() != self.end.phase
    }

    /// The system gives back a send: of `defeated` one that found no room, one that was interrupted, and the others taken.
    fn land(&mut self, defeated: u64) {
        let Some(Flight { offer, .. }) = self.end.flight.take() else { return };
        let lane = offer.lane;
        match self.world.flights.below(defeated) {
            // Whatever the lane had is gone with it.
            _ if self.end.sockets[lane.index()].is_dead => self.world.done_with(offer.content),
            0 => {
                self.end.machine.refused(self.shared, lane, offer.at);
                self.world.done_with(offer.content);
            }
            1 => self.world.done_with(offer.content),
            _ => self.take(offer),
        }
    }
}
