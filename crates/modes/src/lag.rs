//! How late a sender was, in words. What that means is said by the mode that tells of it.

use pathscope_core::quantity::duration_ns;
use pathscope_core::stats::LatencyFigures;

/// How late half of all `what` left, where they are enough for a median.
pub(crate) fn of_half(lag: &LatencyFigures, what: &str) -> Option<String> {
    let median = duration_ns(lag.median_ns()?);
    Some(format!("half of the {what} left {median} or more after their time"))
}

/// How late the latest left, where that is above this: then others that were due by then left with it, in a burst.
pub(crate) fn of_latest(lag: &LatencyFigures, most_ns: u64) -> String {
    let latest = lag.max_ns.filter(|&latest| latest > most_ns);
    latest.map_or_else(String::new, |latest| format!(", the latest {}", duration_ns(latest)))
}

/// How late the latest share of all `what` left of which there are enough to tell, and that in words.
pub(crate) fn of_tail(lag: &LatencyFigures, what: &str) -> Option<(u64, String)> {
    let (tail_ns, many) = lag.tail_ns()?;
    let tail = duration_ns(tail_ns);
    Some((tail_ns, format!("of {many} {what} one left {tail} or more after its time")))
}

/// How late the latest hundredth left.
pub(crate) fn p99_ns(lag: Option<&LatencyFigures>) -> Option<u64> {
    lag?.percentile(99.0)?.value_ns
}
