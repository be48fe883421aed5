//! How long an opener leaves a server alone that takes none of its connections.

/// So many that were not made, one after the other, are no reason for that yet.
const FAILURES_BORNE: u32 = 4;
/// After a connection that could not be begun: so long until the next is.
pub(super) const SHORTEST_NS: u64 = 1_000_000;
/// Where connections follow one another for ever and none is made any more, the pause doubles with each, up to so long.
const LONGEST_NS: u64 = 1_000_000_000;

/// How long nothing is begun after so many that were not made, one after the other.
pub(super) fn after_ns(failures: u32) -> u64 {
    // The longest is a thousand times the shortest.
    match failures.saturating_sub(FAILURES_BORNE).min(10) {
        0 => 0,
        beyond => (SHORTEST_NS << beyond).min(LONGEST_NS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_gone_is_asked_less_and_less_often() {
        let pauses: Vec<u64> = (0..20).map(after_ns).collect();
        assert_eq!(pauses[..6], [0, 0, 0, 0, 0, 2_000_000]);
        assert!(pauses.is_sorted());
        assert_eq!((pauses[19], after_ns(u32::MAX)), (LONGEST_NS, LONGEST_NS));
    }
}
