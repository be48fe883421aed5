//! A report that fits into one message: lists are cut, distributions made coarser, and a caveat says so.
//! The sender's own document keeps everything.

use pathscope_core::record::Caveat;
use pathscope_modes::registry::EndReport;

use super::findings::NativeCaveat;
use super::message::json;

/// Halvings after which nothing is left of any list: 2²⁰ entries are more than memory gives a report.
const ROUNDS: u32 = 21;

/// The report, if need be with less detail, in at most `most` bytes of JSON.
pub(super) fn shorten(report: Box<EndReport>, most: usize) -> Box<EndReport> {
    if json(&report).len() <= most {
        return report;
    }
    let mut short = report;
    short.caveats.insert(0, caveat());
    for _ in 0..ROUNDS {
        if json(&short).len() <= most {
            return short;
        }
        short.halve();
    }
    // Only texts without measure are left to blame, and this version writes none.
    let elapsed_ns = short.elapsed_ns;
    Box::new(EndReport { caveats: vec![caveat()], elapsed_ns, ..EndReport::default() })
}

fn caveat() -> Caveat {
    Caveat::new(
        NativeCaveat::ReportShortened,
        "this end's report was too long for one message: it has fewer flows, or coarser distributions",
    )
}

#[cfg(test)]
mod tests {
    use pathscope_core::record::FlowFacts;
    use pathscope_core::stats::{Bucket, Distribution};
    use pathscope_modes::goodput::GoodputReport;
    use pathscope_modes::latency::LatencyReport;

    use super::*;

    fn long() -> EndReport {
        let bucket = |index: u64| Bucket { upper_ns: 1_000_000_000 + index, count: index };
        let rtt = Distribution {
            count: (0..20_000).sum(),
            buckets: (0..20_000).map(bucket).collect(),
            ..Distribution::default()
        };
        EndReport {
            goodput: Some(GoodputReport {
                flows: vec![FlowFacts::default(); 3_000],
                flows_omitted: 7,
                ..GoodputReport::default()
            }),
            latency: Some(LatencyReport { rtt: Some(rtt), ..LatencyReport::default() }),
            ..EndReport::default()
        }
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        let report = Box::new(EndReport { elapsed_ns: 5, ..EndReport::default() });
        assert_eq!(shorten(report.clone(), 1 << 20), report);
    }

    #[test]
    fn a_long_report_is_cut_and_says_so() {
        let short = shorten(Box::new(long()), 1 << 20);
        assert!(json(&short).len() <= 1 << 20);
        assert_eq!(short.caveats[0].name, "report_shortened");
        let goodput = short.goodput.expect("kept");
        assert_eq!(goodput.flows.len() as u64 + goodput.flows_omitted, 3_007);
        let rtt = short.latency.and_then(|latency| latency.rtt).expect("kept");
        assert_eq!(rtt.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), rtt.count);
        assert_eq!(rtt.buckets.last().map(|bucket| bucket.upper_ns), Some(1_000_019_999));
    }

    #[test]
    fn there_is_a_last_resort() {
        let mut report = long();
        report.elapsed_ns = 9;
        report.caveats =
            vec![Caveat { name: "long".to_owned(), text: "x".repeat(100_000), remedy: None }];
        let short = shorten(Box::new(report), 10_000);
        assert!(json(&short).len() <= 10_000);
        assert_eq!(short.elapsed_ns, 9);
    }
}
