//! Goodput tests of several servers as one: what can be added up. Not what one of them came to, which is `summary`.

use super::{DirectionSummary, ErrnoCounts, GoodputSummary};
use crate::load::{FailureCounts, FastOpen};
use crate::sums::{add_fields, all_known};

/// What these came to together; rates where they ran at the same time.
pub(super) fn together(all: &[&GoodputSummary], is_shared: bool) -> GoodputSummary {
    let sum = |of: fn(&GoodputSummary) -> u64| all.iter().map(|it| of(it)).sum();
    let mut failures = FailureCounts::default();
    for it in all {
        add_fields!(failures, it.failures; network, protocol, data);
    }
    GoodputSummary {
        up: way(all.iter().map(|it| it.up), is_shared),
        down: way(all.iter().map(|it| it.down), is_shared),
        completed: sum(|it| it.completed),
        failed: sum(|it| it.failed),
        failures,
        cut: sum(|it| it.cut),
        unknown: sum(|it| it.unknown),
        attempted: sum(|it| it.attempted),
        completed_per_second: all_known(all.iter().map(|it| it.completed_per_second))
            .filter(|_| is_shared)
            .map(|rates| rates.iter().sum()),
        retransmits: all_known(all.iter().map(|it| it.retransmits)).map(|all| all.iter().sum()),
        errnos: ErrnoCounts::together(all.iter().flat_map(|it| &it.errnos)),
        fast_open: all_known(all.iter().map(|it| it.fast_open))
            .and_then(|all| FastOpen::together(&all)),
        remotes: all.iter().flat_map(|it| it.remotes.iter().cloned()).collect(),
        // Of the flows of one server beside each other, or of its time.
        starved: Vec::new(),
        failure_times: None,
    }
}

fn way(
    all: impl Iterator<Item = Option<DirectionSummary>>,
    is_shared: bool,
) -> Option<DirectionSummary> {
    let all = all_known(all)?;
    let first = all.first()?;
    let bytes = |of: fn(&DirectionSummary) -> Option<u64>| {
        all_known(all.iter().map(of)).map(|bytes| bytes.iter().sum())
    };
    let rates = |of: fn(&DirectionSummary) -> Option<f64>| {
        all_known(all.iter().map(of)).filter(|_| is_shared).unwrap_or_default()
    };
    let goodput = rates(|it| it.goodput_bps);
    let acknowledged = rates(|it| it.acknowledged_bps);
    let is_verified = all.iter().all(|it| it.verify == first.verify);
    Some(DirectionSummary {
        goodput_bps: (!goodput.is_empty()).then(|| goodput.iter().sum()),
        window_ns: all.iter().map(|it| it.window_ns).min().unwrap_or(0),
        sent_bytes: bytes(|it| it.sent_bytes),
        received_bytes: bytes(|it| it.received_bytes),
        acknowledged_bps: (!acknowledged.is_empty()).then(|| acknowledged.iter().sum()),
        acknowledged_bytes: bytes(|it| it.acknowledged_bytes),
        verified: all.iter().all(|it| it.verified),
        verify: first.verify.filter(|_| is_verified),
        too_short: all.iter().map(|it| it.too_short).sum(),
        slowest_bps: rates(|it| it.slowest_bps).into_iter().reduce(f64::min),
        fastest_bps: rates(|it| it.fastest_bps).into_iter().reduce(f64::max),
        starved: all.iter().map(|it| it.starved).sum(),
        ..DirectionSummary::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(goodput_bps: Option<f64>, received_bytes: Option<u64>) -> GoodputSummary {
        let up = DirectionSummary {
            goodput_bps,
            received_bytes,
            window_ns: 5,
            fairness: Some(1.0),
            ..DirectionSummary::default()
        };
        GoodputSummary { up: Some(up), completed: 3, attempted: 4, ..GoodputSummary::default() }
    }

    #[test]
    fn what_can_be_added_up_is_and_nothing_else() {
        let [one, other] = [of(Some(1e6), Some(10)), of(Some(3e6), Some(30))];
        let all = together(&[&one, &other], true);
        let up = all.up.expect("both have it");
        assert_eq!((up.goodput_bps, up.received_bytes), (Some(4e6), Some(40)));
        assert_eq!((up.fairness, up.median_bps), (None, None));
        assert_eq!((all.completed, all.attempted, all.down.is_none()), (6, 8, true));
        // At different times rates are no rate of all.
        let up = together(&[&one, &other], false).up.expect("both have it");
        assert_eq!((up.goodput_bps, up.received_bytes), (None, Some(40)));
    }

    #[test]
    fn what_one_of_them_does_not_know_nobody_knows_of_all() {
        let [one, other] = [of(Some(1e6), Some(10)), of(None, None)];
        let up = together(&[&one, &other], true).up.expect("both have it");
        assert_eq!((up.goodput_bps, up.received_bytes), (None, None));
        let none = GoodputSummary::default();
        assert!(together(&[&one, &none], true).up.is_none());
    }
}
