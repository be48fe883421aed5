//! When what enters a link comes out of it. Not what: see [`stream`](super::stream) and
//! [`datagram`](super::datagram).

use pathscope_core::Tick;

use super::Link;
use super::world::{Happening, PipeKey, World};

/// The clockwork of one direction of a lane.
#[derive(Debug)]
pub(super) struct Transit {
    pub(super) link: Link,
    /// Nothing that enters comes out.
    pub(super) cut: bool,
    /// When the link last began to carry without a gap, and what it has carried since. Times are computed
    /// from there, so that rounding does not add up.
    busy_since: Tick,
    busy_bytes: u64,
    free_at: Tick,
    awaits_freedom: bool,
}

impl Transit {
    pub(super) const fn new(link: Link) -> Self {
        Self {
            link,
            cut: false,
            busy_since: Tick::ZERO,
            busy_bytes: 0,
            free_at: Tick::ZERO,
            awaits_freedom: false,
        }
    }

    pub(super) fn is_free(&self, now: Tick) -> bool {
        self.free_at <= now
    }

    /// Carries `bytes` that enter now; says when the last of them comes out.
    pub(super) fn carry(&mut self, bytes: usize, now: Tick) -> Tick {
        if self.free_at < now {
            (self.busy_since, self.busy_bytes, self.free_at) = (now, 0, now);
        }
        self.busy_bytes += bytes as u64;
        if let Some(rate) = self.link.rate {
            self.free_at = self.busy_since.plus_nanos(rate.nanos_for(self.busy_bytes));
        }
        self.free_at.plus_nanos(self.link.one_way_ns)
    }

    /// When something without length comes out that enters behind all the rest.
    pub(super) fn behind_all(&self, now: Tick) -> Tick {
        self.free_at.max(now).plus_nanos(self.link.one_way_ns)
    }

    /// How long the receiver of the other direction takes to answer over this one; `None`: for ever.
    pub(super) fn answer_ns(&self) -> Option<u64> {
        (!self.cut).then_some(self.link.one_way_ns)
    }

    /// Takes nothing before `until`.
    pub(super) fn hold(&mut self, until: Tick) {
        if self.free_at < until {
            (self.busy_since, self.busy_bytes, self.free_at) = (until, 0, until);
        }
    }

    /// Asks to be told when the link is free again.
    pub(super) fn await_freedom(&mut self, key: PipeKey, world: &mut World) {
        if !self.awaits_freedom {
            self.awaits_freedom = true;
            world.at(self.free_at, Happening::LinkFree(key));
        }
    }

    pub(super) fn freed(&mut self) {
        self.awaits_freedom = false;
    }
}

/// What the receiving socket does with what comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Listener {
    /// Keeps it.
    Open,
    /// Drops it: the connection is gone, or the socket is closed.
    Deaf,
    /// Answers it with a reset: the process has died.
    Dead,
}
