//! Round trips to servers of other kinds that are as long as an acknowledgement is put off. All else there is to mind is `caveats`.

use std::ops::RangeInclusive;

use pathscope_core::quantity::duration_ns;
use pathscope_core::record::Caveat;

use super::findings::LatencyCaveat;
use super::{LatencyPlan, LatencySummary, Protocol};

/// Round trips that may be those of a receiver's habit: `TCP_DELACK_MIN` of Linux is 40 ms, after which what Nagle's algorithm keeps back
/// leaves at a server that sends an echo in pieces. On a path that is as long they are the path's.
pub fn put_off(plan: &LatencyPlan, summary: &LatencySummary) -> Option<Caveat> {
    const ABOUT_NS: RangeInclusive<u64> = 39_000_000..=50_000_000;
    let median = summary.rtt.median_ns()?;
    let is_so = plan.protocol == Protocol::Tcp && ABOUT_NS.contains(&median);
    is_so.then(|| {
        let text = format!(
            "the median of {} may not be the path's: so long waits a server that sends an echo in pieces, as lagscope's does that \
             was told another length (-z) than the {} of these pings",
            duration_ns(median),
            plan.reply_bytes()
        );
        Caveat::new(LatencyCaveat::PutOff, text)
    })
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Frequency;
    use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

    use super::*;

    #[test]
    fn a_median_as_long_as_an_acknowledgement_is_put_off_is_told() {
        for (protocol, median_ns, is_told) in [
            (Protocol::Tcp, 44_000_000, true),
            (Protocol::Tcp, 40_000_000, true),
            (Protocol::Tcp, 20_000_000, false),
            (Protocol::Tcp, 60_000_000, false),
            (Protocol::Udp, 44_000_000, false),
        ] {
            let plan = LatencyPlan { protocol, ..LatencyPlan::probe(Frequency(1_000)) };
            let mut histogram = LatencyHistogram::new();
            histogram.record_many(median_ns, 1_000);
            let rtt = LatencyFigures::of(&histogram);
            let summary = LatencySummary { rtt, ..LatencySummary::default() };
            assert_eq!(put_off(&plan, &summary).is_some(), is_told, "{protocol:?} {median_ns}");
        }
    }
}
