//! Whether what a server stamped can be: all that the bytes of its stamps can be compared with.

use pathscope_core::Tick;

/// Clocks run differently while one of them is set right: the kernel takes 10 % at the most.
const SLEWED: u64 = 10;

/// Whether a server's two stamps are in order, and no further apart than the round trip of a datagram that was sent at `sent` and came back
/// at `now`, by the client's clock, plus a tenth. Of a round trip that ends before it began nothing is known.
pub fn are_plausible([received, echoed]: [Tick; 2], sent: Tick, now: Tick) -> bool {
    let since = |later: Tick, earlier: Tick| later.as_nanos().checked_sub(earlier.as_nanos());
    let most = since(now, sent).map_or(u64::MAX, |rtt| rtt.saturating_add(rtt / SLEWED));
    since(echoed, received).is_some_and(|residence| residence <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stamps_that_cannot_be_are_known(
            residence in 0_u64..1_000,
            rest in 0_u64..1_000,
            bit in 0_u32..64,
        ) {
            let check = |received: u64, echoed: u64| {
                // Sent at 1, and back after what both ways and the server took.
                let now = Tick::from_nanos(1 + residence + rest);
                are_plausible([received, echoed].map(Tick::from_nanos), Tick::from_nanos(1), now)
            };
            let (received, echoed) = (1 << 40, (1 << 40) + residence);
            prop_assert!(check(received, echoed));
            let rtt = residence + rest;
            for (received, echoed) in [(received ^ (1 << bit), echoed), (received, echoed ^ (1 << bit))] {
                let is_near = received <= echoed && echoed - received <= rtt + rtt / 10;
                prop_assert_eq!(check(received, echoed), is_near, "{} {}", received, echoed);
            }
        }
    }

    #[test]
    fn a_clock_that_goes_back_and_a_server_without_stamps_are_no_damage() {
        let at = Tick::from_nanos;
        assert!(are_plausible([at(5), at(900)], at(100), at(50)));
        assert!(are_plausible([at(0), at(0)], at(100), at(101)));
        // A clock that is being slewed by 8 %.
        assert!(are_plausible([at(0), at(1_080_000_000)], at(7), at(1_000_000_007)));
    }
}
