//! What has to hold of a test of datagram goodput, and what to mind of its figures.

use pathscope_core::quantity::{count, counted, duration_ns, ratio, total, were};
use pathscope_core::record::{Caveat, Check};

use super::findings::{DatagramsCaveat, DatagramsCheck};
use super::{
    DatagramCorruption, DatagramDirection, DatagramsPlan, DatagramsReport, DatagramsSummary,
};
use crate::load::Verify;
use crate::results::Ends;
use crate::{checks, finding, lag};

/// A sender that is behind its schedule by more than this at its 99th percentile sends in bursts.
const LAG_TOLD_NS: u64 = 10_000_000;

/// What had to hold of both ends' words.
pub fn checks(plan: &DatagramsPlan, ends: &Ends<'_, DatagramsPlan>) -> Vec<Check> {
    let verified = (plan.verify != Verify::Off).then(|| verified(plan, ends));
    let all = verified.into_iter().chain([completed(plan, ends)]);
    // Another tool's server that reports what it received says nothing of what it was told.
    let is_told = ends.hosts.tells().is_everything();
    let counts_agree = |client: &_, server: &_| counts_agree(client, server, is_told);
    all.chain(checks::of_counts(ends, DatagramsCheck::CountsAgree, counts_agree)).collect()
}

/// Every received byte that was looked at was what it must be.
fn verified(plan: &DatagramsPlan, ends: &Ends<'_, DatagramsPlan>) -> Check {
    let corrupt = total(ends.reports().map(|end| end.corrupt));
    let first = ends.reports().flat_map(|end| &end.corruptions).next();
    let first = first.map_or_else(String::new, DatagramCorruption::text);
    let wrong = (corrupt > 0)
        .then(|| format!("{} not what was sent; {first}", counted(corrupt, "datagram")));
    let unknown = checks::unknown_data(ends, (plan.is_up(), plan.is_down()));
    let right = match total(ends.reports().map(|end| end.received)) {
        received if plan.verify == Verify::Sampled => format!(
            "of {} received, one byte in 16 was checked, and none was wrong",
            counted(received, "datagram")
        ),
        0 => "no datagram came, so none was wrong".to_owned(),
        1 => "the 1 received datagram is what was sent".to_owned(),
        received => format!("all {} received datagrams are what was sent", count(received)),
    };
    checks::of_ends(DatagramsCheck::Verified, wrong, unknown, right)
}

/// Every flow came to its end at both ends.
fn completed(plan: &DatagramsPlan, ends: &Ends<'_, DatagramsPlan>) -> Check {
    let failed = ends.reports().map(|end| end.failed).fold(0, u64::max);
    let error = ends.reports().flat_map(|end| &end.flows).find_map(|flow| flow.error.as_ref());
    let why = error.map_or_else(String::new, |error| format!(": {}", error.text));
    let wrong = (failed > 0).then(|| format!("{} failed{why}", counted(failed, "flow")));
    let flows = plan.flows_in_all().into();
    let unknown = ends.server.is_none().then(|| checks::unknown_end(ends, "flow", flows));
    let right = checks::all_ended("flow", flows);
    checks::of_ends(DatagramsCheck::Completed, wrong, unknown, right)
}

/// What each receiver was told is what the sender says, where the server says what it was told, and no more arrived.
fn counts_agree(client: &DatagramsReport, server: &DatagramsReport, is_told: bool) -> Check {
    let agree = |sender: &DatagramsReport, receiver: &DatagramsReport, is_told: bool| {
        let is_same =
            receiver.expected == Some(sender.sent) || !is_told && receiver.expected.is_none();
        is_same && receiver.received <= sender.sent
    };
    let passed = agree(client, server, is_told) && agree(server, client, true);
    let told = |end: &DatagramsReport| end.expected.map_or_else(|| "?".to_owned(), count);
    let (up, down) = (count(client.sent), count(server.sent));
    let text = if passed {
        format!("both ends count the same: {} up, {down} down", counted(client.sent, "datagram"))
    } else {
        format!(
            "sent and told differ: of datagrams {up} and {} up, {down} and {} down",
            told(server),
            told(client)
        )
    };
    Check::new(DatagramsCheck::CountsAgree, passed, text)
}

/// What a reader must know of the figures.
pub fn caveats(plan: &DatagramsPlan, summary: &DatagramsSummary) -> Vec<Caveat> {
    finding::caveats(summary.directions().flat_map(|(name, way)| {
        [
            (DatagramsCaveat::RateNotReached, rate_not_reached(plan, name, way)),
            (DatagramsCaveat::SendLag, send_lag(name, way)),
        ]
    }))
}

fn rate_not_reached(plan: &DatagramsPlan, name: &str, way: &DatagramDirection) -> Option<String> {
    let (rate, sent, unsent) = (plan.rate_bps?, way.sent?, way.unsent?);
    let reached = sent as f64 / sent.saturating_add(unsent) as f64;
    (unsent > 0).then(|| {
        format!(
            "{rate} was asked for, and the sender of '{name}' reached {} of it: {} {} due and never left",
            ratio(reached),
            counted(unsent, "datagram"),
            were(unsent)
        )
    })
}

fn send_lag(name: &str, way: &DatagramDirection) -> Option<String> {
    let lag = lag::p99_ns(way.send_lag.as_ref()).filter(|&lag| lag > LAG_TOLD_NS)?;
    let means = match way.lost {
        Some(0) => "these bursts were not the rate that was asked for",
        Some(_) => "part of what was lost may be due to these bursts",
        None => "if any was lost, these bursts may be why",
    };
    Some(format!(
        "one batch in a hundred of '{name}' left {} or more after its time, and what was due by then with it: \
         {means}",
        duration_ns(lag)
    ))
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

    use super::super::tests::plan;
    use super::*;
    use crate::load::Pattern;

    /// A sender that made up for two seconds in a burst.
    fn told(change: impl FnOnce(&mut DatagramDirection)) -> Vec<String> {
        let mut lag = LatencyHistogram::new();
        lag.record_many(2_000_000_000, 1_000);
        let mut way = DatagramDirection {
            sent: Some(1_000),
            unsent: Some(0),
            send_lag: Some(LatencyFigures::of(&lag)),
            ..DatagramDirection::default()
        };
        change(&mut way);
        let summary = DatagramsSummary { up: Some(way), ..DatagramsSummary::default() };
        caveats(&plan(Pattern::Push), &summary).into_iter().map(|caveat| caveat.text).collect()
    }

    #[test]
    fn of_loss_is_spoken_where_there_was_some() {
        for (lost, words) in [
            (Some(0), "with it: these bursts were not the rate that was asked for"),
            (Some(1), "with it: part of what was lost may be due to these bursts"),
            // The receiver has not said.
            (None, "with it: if any was lost, these bursts may be why"),
        ] {
            let told = told(|way| way.lost = lost);
            assert!(told.len() == 1 && told[0].ends_with(words), "{lost:?}: {told:?}");
        }
    }

    #[test]
    fn datagrams_are_counted_as_they_are_spelt() {
        let unsent = |unsent| told(|way| (way.unsent, way.send_lag) = (Some(unsent), None)).pop();
        assert_eq!(unsent(0), None);
        for (count, words) in [
            (1, ": 1 datagram was due and never left"),
            (2, ": 2 datagrams were due and never left"),
            (12_345, ": 12,345 datagrams were due and never left"),
        ] {
            assert!(unsent(count).is_some_and(|text| text.ends_with(words)), "{count}");
        }
        let checked = |count| {
            let sender = DatagramsReport { sent: count, expected: Some(0), ..Default::default() };
            let receiver =
                DatagramsReport { received: count, expected: Some(count), ..Default::default() };
            let all = checks(&plan(Pattern::Push), &Ends::of_reports(&sender, Some(&receiver)));
            all.into_iter().map(|check| (check.has_held(), check.text)).collect::<Vec<_>>()
        };
        for (count, received, agree) in [
            (0, "no datagram came, so none was wrong", "0 datagrams up, 0 down"),
            (1, "the 1 received datagram is what was sent", "1 datagram up, 0 down"),
            (2, "all 2 received datagrams are what was sent", "2 datagrams up, 0 down"),
            (
                12_345,
                "all 12,345 received datagrams are what was sent",
                "12,345 datagrams up, 0 down",
            ),
        ] {
            let said = checked(count);
            let has = |words: &str| said.iter().any(|(passed, it)| *passed && it.ends_with(words));
            assert!(has(received) && has(agree), "{count}: {said:?}");
        }
    }
}
