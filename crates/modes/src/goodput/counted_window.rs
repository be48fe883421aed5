//! The window in which a flow's receives count: when it opens, and what had come by then.
//!
//! No more may count in it than came in it. What comes too early to be counted may be received later: bytes that nobody
//! took yet, and bytes that the kernel keeps until what was lost before them has come again. So the window opens at a time
//! at which the kernel is asked what it holds, and so many bytes are left out of what is received from then on.
//!
//! Without a warm-up the first receive of any flow opens the window of all. Flows whose first bytes had come by then, as they have where
//! this end begins late, are asked at that moment, too.
//!
//! In a run of stated duration it closes when that is over. What had left by then and comes later is received and compared,
//! and not counted: a stream that lost its last packets may wait for a timer longer than the run took.

use pathscope_flow::Weigh;

use crate::load::{ReceiveWindow, Stage};

/// When the windows of all flows open and close, in time since the first flow of a worker started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    /// The warm-up; zero: the first receive opens it.
    pub opens_ns: u64,
    /// The duration; [`u64::MAX`]: the last receive closes it.
    pub closes_ns: u64,
}

/// One flow's part of the window. Of the fewest bytes that hold it: a flow stays small.
#[derive(Debug, Default)]
pub(super) struct CountedWindow {
    first_ns: u64,
    last_ns: u64,
    bytes: u64,
    /// Bytes that had come when it opened and are still to be received. A kernel counts them in 32 bits.
    from_before: u32,
    /// Of those, bytes that had come when the window of all flows opened, where that had opened before.
    from_before_all: u32,
    /// What the window of all flows counts of this one beyond what this one's does.
    more_for_all: u32,
    /// How often something right came, in the window or not.
    pub receives: u16,
    stage: Stage,
    beside: Beside,
}

/// What is known of one flow's part beside the window of all flows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Beside {
    /// Nothing: that of all opens before this one's, if it has.
    #[default]
    Unknown,
    /// It opens with this one's.
    Together,
    /// It opened before, and it is known what had come of this one by then.
    Weighed,
}

impl CountedWindow {
    /// What was received in it.
    pub fn window(&self) -> ReceiveWindow {
        let first_ns = (self.stage != Stage::Shut).then_some(self.first_ns);
        // What opened after a warm-up may not have received anything since.
        let last_ns = first_ns.and((self.last_ns >= self.first_ns).then_some(self.last_ns));
        ReceiveWindow { first_ns, last_ns, bytes: self.bytes }
    }

    /// Bytes that this flow brought into the window of all flows.
    pub fn for_all(&self) -> u64 {
        self.bytes + u64::from(self.more_for_all)
    }

    /// Counts a receive. `all` is the window of all flows, which counts it too; without a warm-up the first receive opens
    /// the window, and is not in it.
    #[inline]
    pub fn record(
        &mut self,
        bytes: u64,
        since_start: u64,
        (all, planned): (&mut ReceiveWindow, Planned),
    ) {
        self.receives = self.receives.saturating_add(u16::from(bytes > 0));
        if since_start > planned.closes_ns {
            self.close(planned.closes_ns, all);
        }
        let before = match self.stage {
            Stage::Open => bytes.min(u64::from(self.from_before)),
            Stage::Shut if planned.opens_ns == 0 => {
                self.stage = Stage::Opening;
                if all.first_ns.is_none() {
                    self.beside = Beside::Together;
                }
                self.first_ns = since_start;
                bytes
            }
            Stage::Shut | Stage::Opening | Stage::Closed => return,
        };
        self.bytes += bytes - before;
        self.last_ns = since_start;
        if self.stage == Stage::Open {
            self.from_before -= before as u32;
        }
        if self.beside == Beside::Together {
            all.record(bytes - before, since_start);
        } else {
            let before_all = before.min(u64::from(self.from_before_all));
            self.from_before_all -= before_all as u32;
            let more = u32::try_from(before - before_all).unwrap_or(u32::MAX);
            self.more_for_all = self.more_for_all.saturating_add(more);
            all.record(bytes - before_all, since_start);
        }
    }

    /// More comes, and does not count: until then it did, so that a flow gains nothing by standing still at the end.
    pub fn close(&mut self, since_start: u64, all: &mut ReceiveWindow) {
        if self.stage == Stage::Open {
            self.last_ns = self.last_ns.max(since_start);
            all.last_ns = all.last_ns.max(Some(self.last_ns));
        }
        self.stage = Stage::Closed;
    }

    /// After a warm-up: when it is to open, if it is still shut.
    pub fn opens_at(&self, planned: Planned) -> Option<u64> {
        (self.stage == Stage::Shut && planned.opens_ns > 0).then_some(planned.opens_ns)
    }

    /// Whose flows it is time to ask what has come: `started_ns` is when this one began.
    pub fn weigh(
        &self,
        since_start: u64,
        started_ns: u64,
        (all, planned): (&ReceiveWindow, Planned),
    ) -> Weigh {
        let is_time = self.opens_at(planned).is_some_and(|at| since_start >= at);
        match self.stage {
            // It opens that of all.
            Stage::Opening if self.beside == Beside::Together => Weigh::All,
            Stage::Opening => Weigh::This,
            Stage::Shut if is_time || self.is_behind(started_ns, all, planned) => Weigh::This,
            _ => Weigh::Nothing,
        }
    }

    /// Whether the window of all has opened by what came on another flow, while nothing of this one's had been received: some of that may
    /// have come before.
    fn is_behind(&self, started_ns: u64, all: &ReceiveWindow, planned: Planned) -> bool {
        let began_before = all.first_ns.is_some_and(|first_ns| started_ns <= first_ns);
        self.stage == Stage::Shut
            && planned.opens_ns == 0
            && began_before
            && self.beside == Beside::Unknown
    }

    /// So many bytes have come that were not received yet: it opens now, without them, or the window of all has.
    pub fn weighed(
        &mut self,
        held: u64,
        since_start: u64,
        (all, planned): (&mut ReceiveWindow, Planned),
    ) {
        let held = u32::try_from(held).unwrap_or(u32::MAX);
        match self.stage {
            Stage::Open | Stage::Closed => return,
            Stage::Shut if planned.opens_ns == 0 => {
                (self.from_before_all, self.beside) = (held, Beside::Weighed);
                return;
            }
            Stage::Shut | Stage::Opening => {}
        }
        self.stage = Stage::Open;
        self.from_before = held;
        if planned.opens_ns > 0 {
            self.beside = Beside::Together;
            self.first_ns = since_start;
            // What is received from then on is in it, and a flow that is slow to begin gains nothing by that.
            all.first_ns.get_or_insert(since_start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn after(warm_up_ns: u64) -> Planned {
        Planned { opens_ns: warm_up_ns, closes_ns: u64::MAX }
    }

    #[test]
    fn after_a_warm_up_what_had_come_is_left_out_whenever_it_is_received() {
        let (mut counted, mut all) = (CountedWindow::default(), ReceiveWindow::default());
        counted.record(1_000, 90, (&mut all, after(100)));
        let weigh = |at| counted.weigh(at, 0, (&all, after(100)));
        assert_eq!([weigh(99), weigh(100)], [Weigh::Nothing, Weigh::This]);
        assert_eq!(counted.opens_at(after(100)), Some(100));
        // Received before it was asked: that was before the window, too.
        counted.record(500, 101, (&mut all, after(100)));
        counted.weighed(700, 102, (&mut all, after(100)));
        assert_eq!((counted.opens_at(after(100)), all.first_ns), (None, Some(102)));
        for (bytes, at) in [(300, 110), (600, 120), (50, 130)] {
            counted.record(bytes, at, (&mut all, after(100)));
        }
        let expected = ReceiveWindow { first_ns: Some(102), last_ns: Some(130), bytes: 250 };
        assert_eq!((counted.window(), all), (expected, expected));
        assert_eq!(counted.for_all(), 250);
    }

    #[test]
    fn without_one_the_first_receive_opens_it_and_what_waits_behind_is_left_out() {
        let mut all = ReceiveWindow::default();
        let mut flows: [CountedWindow; 3] = Default::default();
        let weigh = |flow: &CountedWindow, started, at, all: &ReceiveWindow| {
            flow.weigh(at, started, (all, after(0)))
        };
        assert_eq!(weigh(&flows[1], 0, 9, &all), Weigh::Nothing, "nothing has come");
        flows[0].record(100, 10, (&mut all, after(0)));
        // Who opens the window of all has the others asked as well, for what they hold now may have come before.
        assert_eq!(weigh(&flows[0], 0, 10, &all), Weigh::All);
        flows[0].weighed(2_000, 10, (&mut all, after(0)));
        assert_eq!(weigh(&flows[1], 10, 10, &all), Weigh::This);
        flows[1].weighed(70, 10, (&mut all, after(0)));
        assert_eq!(weigh(&flows[1], 0, 10, &all), Weigh::Nothing, "once");
        // What comes of a connection that began later came later.
        assert_eq!(weigh(&flows[2], 11, 20, &all), Weigh::Nothing);
        for (flow, held, at) in [(1, 50, 20), (2, 5, 25)] {
            flows[flow].record(100, at, (&mut all, after(0)));
            assert_eq!(weigh(&flows[flow], 0, at, &all), Weigh::This, "of its own");
            flows[flow].weighed(held, at, (&mut all, after(0)));
            assert_eq!(weigh(&flows[flow], 0, at, &all), Weigh::Nothing);
        }
        flows[0].record(3_000, 30, (&mut all, after(0)));
        flows[1].record(80, 40, (&mut all, after(0)));
        flows[2].record(80, 41, (&mut all, after(0)));
        let of = |flow: &CountedWindow| (flow.window().first_ns, flow.window().bytes);
        let windows = flows.each_ref().map(of);
        assert_eq!(windows, [(Some(10), 1_000), (Some(20), 30), (Some(25), 75)]);
        // Of the second 70 had come before the window of all, of the third nothing.
        assert_eq!(flows.each_ref().map(CountedWindow::for_all), [1_000, 110, 180]);
        assert_eq!((all.first_ns, all.last_ns, all.bytes), (Some(10), Some(41), 1_290));
    }

    #[test]
    fn of_bytes_that_had_come_for_all_those_behind_its_first_receive_are_left_out_too() {
        let mut all = ReceiveWindow { first_ns: Some(5), last_ns: Some(5), bytes: 0 };
        let mut flow = CountedWindow::default();
        flow.weighed(150, 5, (&mut all, after(0)));
        // 30 of 180 that wait behind the first have come since.
        flow.record(100, 10, (&mut all, after(0)));
        flow.weighed(80, 10, (&mut all, after(0)));
        flow.record(200, 20, (&mut all, after(0)));
        assert_eq!((flow.window().bytes, flow.for_all(), all.bytes), (120, 150, 150));
    }

    #[test]
    fn what_comes_when_the_time_is_over_is_in_no_window() {
        let planned = Planned { opens_ns: 100, closes_ns: 1_000 };
        let mut all = ReceiveWindow::default();
        let mut flows: [CountedWindow; 3] = Default::default();
        for flow in &mut flows {
            flow.weighed(0, 100, (&mut all, planned));
        }
        flows[0].record(500, 900, (&mut all, planned));
        assert_eq!(all.length_ns(), 800, "nothing is on its way");
        // One stood still from 200 on, and that counts; another had nothing at all.
        flows[1].record(70, 200, (&mut all, planned));
        for (flow, at) in [(1, 5_000), (2, 6_000), (1, 7_000)] {
            flows[flow].record(9_000, at, (&mut all, planned));
        }
        let windows = flows.each_ref().map(CountedWindow::window);
        let of = |last, bytes| ReceiveWindow { first_ns: Some(100), last_ns: Some(last), bytes };
        assert_eq!(windows, [of(900, 500), of(1_000, 70), of(1_000, 0)]);
        assert_eq!((all, windows[2].goodput_bps()), (of(1_000, 570), None));
        // Its user ended it at 400.
        let mut ended = CountedWindow::default();
        let mut all = ReceiveWindow::default();
        ended.weighed(0, 100, (&mut all, planned));
        ended.record(40, 300, (&mut all, planned));
        ended.close(400, &mut all);
        ended.record(50, 600, (&mut all, planned));
        assert_eq!((ended.window(), all), (of(400, 40), of(400, 40)));
    }
}
