//! A sender of datagrams at the receiver's end: it has made no connection when it says that it begins, and how many flows it has is seen from
//! those that begin. Not here: who takes their first datagrams, and opens their sockets.

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use pathscope_flow::{Event, Output};
use pathscope_modes::groups::MAIN;

use super::super::hearing::START;
use super::super::stage::{Calling, Stage};
use super::{NO_MORE, NtttcpServer};
use crate::PeerError;

/// Of one that sends datagrams the first has come within this time.
const FIRST: Period = Period::from_secs(15);
/// And the first of each of its flows within this: they begin at once, as fast as its threads have their turns.
const CALLS: Period = Period::from_secs(5);

impl NtttcpServer {
    /// It may send.
    pub(super) fn await_datagrams(&mut self, now: Tick) {
        self.say(START);
        let until = now.plus_nanos(FIRST.0);
        self.stage = Stage::Calling(Calling { until, last: until });
    }

    /// One more flow has begun, with a datagram of so many bytes.
    pub(super) fn began_flow(&mut self, bytes: u64, now: Tick) {
        let Stage::Calling(calling) = &mut self.stage else { return };
        if self.came == 0 {
            self.datagrams = Some((bytes, now));
            calling.last = now.plus_nanos(CALLS.0);
        }
        calling.until = now.plus_nanos(NO_MORE.0).min(calling.last);
        self.came = self.came.saturating_add(1);
    }

    /// No more flows are awaited.
    pub(super) fn have_begun(&mut self, now: Tick) {
        if self.came == 0 {
            let (who, what) =
                (Role::Client, "send a datagram that came here, and has no connection,");
            return self.end(Err(PeerError::Late { who, what, limit: FIRST }));
        }
        self.counted(now);
    }

    /// It has sent all. Connections tell that themselves; of flows of datagrams what is on its way is taken yet.
    pub(super) fn drain(&mut self, now: Tick) {
        let Stage::Running(run) = &mut self.stage else { return };
        if self.datagrams.is_some() && run.drains(now) {
            self.outputs.push_back(Output::Tell { group: MAIN, flow: None, event: Event::Stop });
        }
    }
}
