//! Tests of datagrams of several servers as one: what can be added up. Not what one of them came to, which is `summary`.

use super::{DatagramDirection, DatagramsSummary};
use crate::arrivals::LossBursts;
use crate::sums::all_known;

/// What these came to together; rates where they ran at the same time.
pub(super) fn together(all: &[&DatagramsSummary], is_shared: bool) -> DatagramsSummary {
    DatagramsSummary {
        up: way(all.iter().map(|it| it.up.as_ref()), is_shared),
        down: way(all.iter().map(|it| it.down.as_ref()), is_shared),
        completed: all.iter().map(|it| it.completed).sum(),
        failed: all.iter().map(|it| it.failed).sum(),
    }
}

fn way<'all>(
    all: impl Iterator<Item = Option<&'all DatagramDirection>>,
    is_shared: bool,
) -> Option<DatagramDirection> {
    let all = all_known(all)?;
    let first = *all.first()?;
    let sum = |of: fn(&DatagramDirection) -> Option<u64>| {
        all_known(all.iter().map(|it| of(it))).map(|counts| counts.iter().sum())
    };
    let rate = |of: fn(&DatagramDirection) -> Option<f64>| {
        let rates = all_known(all.iter().map(|it| of(it))).filter(|_| is_shared);
        rates.map(|rates| rates.iter().sum())
    };
    let (sent, received, lost) = (sum(|it| it.sent), sum(|it| it.received), sum(|it| it.lost));
    let reordered: Option<u64> = sum(|it| it.reordered);
    let runs = all_known(all.iter().map(|it| it.bursts.as_ref()));
    let bursts = runs.map(|runs| {
        runs.into_iter().fold(LossBursts::default(), |mut all, more| {
            all.merge(more);
            all
        })
    });
    let is_verified = all.iter().all(|it| it.verify == first.verify);
    Some(DatagramDirection {
        goodput_bps: rate(|it| it.goodput_bps),
        datagrams_per_second: rate(|it| it.datagrams_per_second),
        window_ns: all.iter().map(|it| it.window_ns).min().unwrap_or(0),
        sent,
        unsent: sum(|it| it.unsent),
        received,
        received_bytes: sum(|it| it.received_bytes),
        lost,
        lost_ratio: sent
            .zip(lost)
            .filter(|&(sent, _)| sent > 0)
            .map(|(sent, lost): (u64, u64)| lost as f64 / sent as f64),
        socket_drops: sum(|it| it.socket_drops),
        lost_on_the_way: sum(|it| it.lost_on_the_way),
        bursts,
        duplicates: sum(|it| it.duplicates),
        reordered,
        reordered_ratio: reordered
            .map(|reordered| reordered as f64 / received.unwrap_or(0_u64).max(1) as f64),
        late: sum(|it| it.late),
        corrupt: sum(|it| it.corrupt),
        foreign: sum(|it| it.foreign),
        verify: first.verify.filter(|_| is_verified),
        ..DatagramDirection::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_all_is_of_their_sums() {
        let of = |sent, lost| DatagramsSummary {
            down: Some(DatagramDirection {
                goodput_bps: Some(2e6),
                sent: Some(sent),
                received: Some(sent - lost),
                lost: Some(lost),
                lost_ratio: Some(lost as f64 / sent as f64),
                ..DatagramDirection::default()
            }),
            completed: 1,
            ..DatagramsSummary::default()
        };
        let all = together(&[&of(900, 0), &of(100, 10)], true);
        let down = all.down.expect("both have it");
        assert_eq!((down.goodput_bps, down.lost_ratio), (Some(4e6), Some(0.01)));
        assert_eq!((all.completed, all.up.is_none()), (2, true));
    }
}
