//! The window in which a flow's receives count: when it opens, and what had come by then.
//!
//! No more may count in it than came in it. What comes too early to be counted may be received later: bytes that nobody
//! took yet, and bytes that the kernel keeps until what was lost before them has come again. So the window opens at a time
//! at which the kernel is asked what it holds, and so many bytes are left out of what is received from then on.
//!
//! In a run of stated duration it closes when that is over. What had left by then and comes later is received and compared,
//! and not counted: a stream that lost its last packets may wait for a timer longer than the run took.

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
    /// What the window of all flows counts of this one beyond that, where it had opened before.
    more_for_all: u32,
    /// How often something right came, in the window or not.
    pub receives: u32,
    stage: Stage,
    /// Whether the window of all flows opened with this one's.
    opened_for_all: bool,
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
        self.receives = self.receives.saturating_add(u32::from(bytes > 0));
        if since_start > planned.closes_ns {
            self.close(planned.closes_ns, all);
        }
        let before = match self.stage {
            Stage::Open => bytes.min(u64::from(self.from_before)),
            Stage::Shut if planned.opens_ns == 0 => {
                self.stage = Stage::Opening;
                self.opened_for_all = all.first_ns.is_none();
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
        if self.opened_for_all {
            all.record(bytes - before, since_start);
        } else {
            let before = u32::try_from(before).unwrap_or(u32::MAX);
            self.more_for_all = self.more_for_all.saturating_add(before);
            all.record(bytes, since_start);
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

    /// Whether it is time to ask what has come.
    pub fn is_to_be_weighed(&self, since_start: u64, planned: Planned) -> bool {
        self.stage == Stage::Opening || self.opens_at(planned).is_some_and(|at| since_start >= at)
    }

    /// So many bytes have come that were not received yet: it opens now, without them.
    pub fn weighed(
        &mut self,
        held: u64,
        since_start: u64,
        (all, planned): (&mut ReceiveWindow, Planned),
    ) {
        if matches!(self.stage, Stage::Open | Stage::Closed) {
            return;
        }
        self.stage = Stage::Open;
        self.from_before = u32::try_from(held).unwrap_or(u32::MAX);
        if planned.opens_ns > 0 {
            self.opened_for_all = true;
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
        assert!(
            !counted.is_to_be_weighed(99, after(100)) && counted.is_to_be_weighed(100, after(100))
        );
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
        let mut flows = [CountedWindow::default(), CountedWindow::default()];
        for (flow, held, at) in [(0, 2_000, 10), (1, 50, 20)] {
            flows[flow].record(100, at, (&mut all, after(0)));
            assert!(flows[flow].is_to_be_weighed(at, after(0)));
            flows[flow].weighed(held, at, (&mut all, after(0)));
            assert!(!flows[flow].is_to_be_weighed(at, after(0)));
        }
        flows[0].record(3_000, 30, (&mut all, after(0)));
        flows[1].record(80, 40, (&mut all, after(0)));
        let of = |flow: &CountedWindow| (flow.window().first_ns, flow.window().bytes);
        assert_eq!((of(&flows[0]), of(&flows[1])), ((Some(10), 1_000), (Some(20), 30)));
        // All of what the second received came after the window of all had opened.
        assert_eq!((all.first_ns, all.last_ns, all.bytes), (Some(10), Some(40), 1_180));
        assert_eq!(flows.map(|flow| flow.for_all()), [1_000, 180]);
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
