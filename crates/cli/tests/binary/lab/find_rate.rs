//! The highest rate without loss over a link whose rate is known: what is found is at most that, and not much less.

use pathscope_core::record::Limit;
use pathscope_modes::search::{SearchEnd, TrialVerdict};

use super::Stand;
use crate::common::document_in;

/// 20 Mbit/s of the link's bytes, and room for 23 ms before it. Each datagram of 1,400 bytes is 1,442 of the link.
const NARROW: &str = "name = \"narrow\"\nhosts = [\"a\", \"b\"]\n[links]\n\
    \"a:b\" = { rate = \"20Mbit\", delay = \"1ms\", queue = \"40p\" }\n";
const LINK_BPS: f64 = 20e6;
const QUEUE_BYTES: f64 = 40.0 * 1_442.0;
const PAYLOAD_SHARE: f64 = 1_400.0 / 1_442.0;
/// A sender that was never later than this sent no burst that the queue could not take.
const PUNCTUAL_NS: u64 = 5_000_000;

#[test]
fn the_rate_of_a_link_is_found_and_no_more_than_it_carries() {
    let Some(stand) = Stand::up(NARROW) else { return };
    let _server = stand.server("b");
    for pattern in ["push", "pull"] {
        let words = ["goodput", "b", "--protocol", "udp", "--find-rate", "--pattern", pattern];
        let file = stand.folder.path().join(format!("{pattern}.json"));
        let file_name = file.to_str().expect("plain");
        // Each trial is a line, so that one that hangs is told from many.
        let more = ["--rate", "100Mbit", "-t", "1s", "--no-probe", "-o", file_name];
        let ran = stand.pathscope("a", &[&words[..], &more].concat()).finish().exits(0);
        let document = document_in(&file);
        let search = document.rate_search.as_ref().expect("it was asked for");
        let found = search.found.unwrap_or_else(|| panic!("{}", ran.said()));
        let shown = search.trials[found.trial as usize - 1];
        // What the queue takes in the trial hides as much, and so does what the link carries while a sender ends late.
        let seconds = shown.duration_ns as f64 / 1e9;
        let late = shown.send_lag_max_ns.expect("it had a rate") as f64 / 1e9;
        let carried = LINK_BPS * (seconds + late) + QUEUE_BYTES * 8.0;
        let most = carried / seconds * PAYLOAD_SHARE * 1.001;
        assert!(found.rate_bps as f64 <= most, "{} of {most}: {}", found.rate_bps, ran.said());
        // A machine that stands still loses at any rate: by a burst of the sender's, or in the receiver's socket.
        let lost = search.trials.iter().filter(|trial| trial.verdict == TrialVerdict::Lost);
        let failed = lost.min_by_key(|trial| trial.sent_bps).expect("100 Mbit/s are too much");
        let is_the_links = failed.send_lag_max_ns.is_some_and(|lag| lag <= PUNCTUAL_NS)
            && failed.socket_drops == Some(0)
            && search.trials.iter().all(|trial| trial.verdict != TrialVerdict::SenderSlower);
        if is_the_links && search.ended == SearchEnd::Found {
            let least = LINK_BPS * PAYLOAD_SHARE * 0.9;
            assert!(found.rate_bps as f64 >= least, "{}", ran.said());
            assert_eq!(search.limit, Some(Limit::Network), "{}", ran.said());
        }
    }
}
