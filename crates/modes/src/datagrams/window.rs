//! The window in which datagrams count, and what had come before it opened.
//!
//! No more may count in it than came in it. Datagrams that came while a worker was not there wait in their sockets: at the
//! start of a test, whose first word may come later than the first data, and after a standstill. They are received together, as
//! fast as they can be taken, and would make a rate that no line carried. So the first receive opens the window and is
//! not in it, nor is what is taken from the sockets that were ready with it until each was found empty.

use crate::load::{ReceiveWindow, Stage};

/// Receives of so long after the first are of sockets that may have been ready with it.
const TURN_NS: u64 = 1_000_000;
/// But of a test that is over soon no more than this part of it.
const TURN_SHARE: u64 = 100;
/// A socket that is never empty is waited for during this part of a test.
const MOST_SHARE: u64 = 10;

/// When windows open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Opening {
    warm_up_ns: u64,
    turn_ns: u64,
    most_ns: u64,
}

impl Opening {
    /// Of a test that has this warm-up and takes so long as far as is known.
    pub fn new(warm_up_ns: u64, test_ns: u64) -> Self {
        let turn_ns = TURN_NS.min(test_ns / TURN_SHARE);
        Self { warm_up_ns, turn_ns, most_ns: test_ns / MOST_SHARE }
    }
}

/// What all flows of a worker received in the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommonWindow {
    /// What was received in it.
    pub window: ReceiveWindow,
    /// The first receive after the warm-up.
    opened_ns: Option<u64>,
}

/// One flow's part of it: it counts what all count of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowWindow {
    /// What was received in it.
    pub window: ReceiveWindow,
    stage: Stage,
}

impl FlowWindow {
    /// Counts a receive of `bytes`, in time since the start of the test.
    #[inline]
    pub fn record(
        &mut self,
        bytes: u64,
        since_start: u64,
        opening: Opening,
        all: &mut CommonWindow,
    ) {
        if since_start < opening.warm_up_ns {
            return;
        }
        let after = since_start.saturating_sub(*all.opened_ns.get_or_insert(since_start));
        self.stage = match self.stage {
            // What comes later was not there when the others were taken.
            Stage::Shut if after >= opening.turn_ns.max(1) => Stage::Open,
            Stage::Shut => Stage::Opening,
            Stage::Opening if after >= opening.most_ns.max(1) => Stage::Open,
            stage => stage,
        };
        if self.stage == Stage::Open {
            // It opens with that of all: a flow that is slow to begin gains nothing by that.
            self.window.first_ns.get_or_insert(all.window.first_ns.unwrap_or(since_start));
            self.window.record(bytes, since_start);
            all.window.record(bytes, since_start);
            return;
        }
        let last_ns = Some(since_start);
        self.window = ReceiveWindow { first_ns: last_ns, last_ns, bytes: 0 };
        all.window = if all.window.bytes == 0 {
            self.window
        } else {
            ReceiveWindow { last_ns, ..all.window }
        };
    }

    /// Whether it has to be known what waits in its socket.
    pub fn is_to_be_weighed(&self) -> bool {
        self.stage == Stage::Opening
    }

    /// So many bytes wait there.
    pub fn weighed(&mut self, held: u64) {
        if self.stage == Stage::Opening && held == 0 {
            self.stage = Stage::Open;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_NS: u64 = 10_000_000_000;
    const MS: u64 = 1_000_000;

    /// Receives of a thousand bytes each, by the flow, the time and what waits behind it.
    fn of(
        opening: Opening,
        receives: impl IntoIterator<Item = (usize, u64, u64)>,
    ) -> (ReceiveWindow, Vec<ReceiveWindow>) {
        let (mut all, mut flows) = (CommonWindow::default(), vec![FlowWindow::default(); 8]);
        for (flow, at, held) in receives {
            flows[flow].record(1_000, at, opening, &mut all);
            if flows[flow].is_to_be_weighed() {
                flows[flow].weighed(held);
            }
        }
        let windows: Vec<ReceiveWindow> = flows.iter().map(|flow| flow.window).collect();
        assert_eq!(all.window.bytes, windows.iter().map(|it| it.bytes).sum::<u64>());
        (all.window, windows)
    }

    fn long(warm_up_ns: u64) -> Opening {
        Opening::new(warm_up_ns, TEST_NS)
    }

    #[test]
    fn what_waited_before_the_first_receive_is_left_out_however_much_that_is() {
        // So many that came while nobody was there, and then one each 10 ms.
        for waited in [1, 5, 20_000] {
            let taken = (0..waited).map(|place| (0, 40 * MS + 500 * place, waited - 1 - place));
            let (window, _) = of(long(0), taken.chain((5..55).map(|it| (0, 10 * it * MS, 0))));
            assert_eq!(window.bytes, 50_000, "{waited}");
            assert_eq!(window.first_ns, Some(40 * MS + 500 * (waited - 1)));
            let bps = window.goodput_bps().expect("a rate");
            assert!(bps <= 8e5 * 1.03, "{waited}: {bps}");
        }
    }

    #[test]
    fn sockets_that_were_ready_together_are_emptied_together() {
        // Each of eight flows has three that waited; then one of all in turns each 10 ms.
        let taken =
            (0..24).map(|place| (place as usize / 3, 40 * MS + 2_000 * place, 2 - place % 3));
        let later = (5..85).map(|place| (place as usize % 8, 10 * place * MS, 0));
        let (window, _) = of(long(0), taken.chain(later));
        assert_eq!((window.bytes, window.first_ns), (80_000, Some(40 * MS + 46_000)));
    }

    #[test]
    fn of_one_after_the_other_all_but_the_first_count_and_after_a_warm_up_too() {
        let (window, _) = of(long(0), (1..=50).map(|it| (0, 10 * it * MS, 0)));
        assert_eq!((window.bytes, window.length_ns()), (49_000, 490 * MS));
        let (window, _) = of(long(100 * MS), (1..=50).map(|it| (0, 10 * it * MS + 5, 0)));
        assert_eq!((window.bytes, window.length_ns()), (40_000, 400 * MS));
    }

    #[test]
    fn flows_that_send_in_phase_have_the_rate_that_they_have() {
        // Eight flows, each one in 50 ms, all within 0.2 ms.
        let burst =
            |it: u64| (0..8).map(move |flow| (flow as usize, 50 * it * MS + 25_000 * flow, 0));
        for warm_up in [0, 120 * MS] {
            let (window, flows) = of(long(warm_up), (0..40).flat_map(burst));
            let bps = window.goodput_bps().expect("a rate");
            assert!((bps / 1.28e6 - 1.0).abs() < 0.001, "{bps}");
            assert!(flows.iter().all(|flow| 8 * flow.bytes == window.bytes));
        }
    }

    #[test]
    fn a_flow_that_begins_later_counts_from_its_first_receive_on_and_gains_no_time() {
        let late = (60..100).map(|it| (1, 10 * it * MS, 0));
        let (window, flows) = of(long(0), (1..100).map(|it| (0, 10 * it * MS + 1, 0)).chain(late));
        assert_eq!((flows[1].bytes, flows[1].first_ns), (40_000, window.first_ns));
    }

    #[test]
    fn a_socket_that_is_never_empty_is_not_waited_for_for_ever() {
        let (window, _) = of(long(0), (0..10_000).map(|it| (0, it * MS, 7)));
        assert_eq!((window.bytes, window.first_ns), (9_000_000, Some(999 * MS)));
    }

    #[test]
    fn a_test_that_is_over_soon_has_a_rate_all_the_same() {
        let (window, _) = of(Opening::new(0, 500_000), (0..50).map(|it| (0, 10_000 * it, 0)));
        assert_eq!(window.bytes, 49_000);
        let (window, _) = of(Opening::new(0, 0), (0..50).map(|it| (0, it, 1)));
        assert_eq!(window.bytes, 49_000);
    }
}
