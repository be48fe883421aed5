//! What has to hold of a goodput test: the data was right, every connection came to its end, both ends count the same. What
//! is not known does not hold.

use std::collections::HashSet;
use std::fmt;

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{count, counted, total};
use pathscope_core::record::{Check, FlowErrorKind};

use super::findings::GoodputCheck;
use super::{GoodputPlan, GoodputReport, GoodputSummary, disagreements, errors};
use crate::load::Verify;

/// The checks of a test, the gravest first. The client's report is one that has
/// [taken in](super::both_ends::take_in) what the server found.
pub fn checks(
    plan: &GoodputPlan,
    client: &GoodputReport,
    server: Option<&GoodputReport>,
) -> Vec<Check> {
    let all = verified(plan, client, server).into_iter().chain([completed(plan, client, server)]);
    all.chain(server.map(|server| counts_agree(client, server))).collect()
}

/// Every received byte that was looked at was what it must be.
fn verified(
    plan: &GoodputPlan,
    client: &GoodputReport,
    server: Option<&GoodputReport>,
) -> Option<Check> {
    let ends = || [Some(client), server].into_iter().flatten();
    // Only the first are located, and those of a connection that is damaged both ways twice.
    let located: HashSet<FlowId> =
        ends().flat_map(|end| &end.corruptions).map(|found| found.flow).collect();
    let corrupt = ends().map(|end| end.failures.data).fold(located.len() as u64, u64::max);
    let received = total(ends().map(|end| end.received_bytes));
    let is_unknown = corrupt == 0 && plan.is_up() && server.is_none();
    let text = if corrupt > 0 {
        let first = first_damage(client, server).map_or_else(String::new, |it| format!("; {it}"));
        format!("wrong data on {}{first}", counted(corrupt, "connection"))
    } else if is_unknown {
        let own = format!("; all {} bytes that the client received are right", count(received));
        let own = if received > 0 && plan.verify == Verify::Full { own.as_str() } else { "" };
        format!("it is not known whether what the server received is right: it has not said{own}")
    } else if plan.verify == Verify::Sampled {
        format!("of {} received bytes one in 16 was checked, and none was wrong", count(received))
    } else {
        format!("all {} received bytes are the bytes that were sent", count(received))
    };
    let is_told = plan.verify != Verify::Off && (received > 0 || corrupt > 0 || is_unknown);
    is_told.then(|| Check {
        name: "verified".to_owned(),
        passed: corrupt == 0 && !is_unknown,
        text,
    })
}

/// Where the first wrong data was, and what it was.
fn first_damage(client: &GoodputReport, server: Option<&GoodputReport>) -> Option<String> {
    let to_client = client.corruptions.iter().map(|found| (found, "from the server to the client"));
    let to_server = server.iter().flat_map(|server| &server.corruptions);
    let to_server = to_server.map(|found| (found, "from the client to the server"));
    if let Some((found, way)) = to_server.chain(to_client).min_by_key(|(found, _)| found.flow) {
        return Some(format!("flow {} {way}: {}", found.flow, errors::damage(&found.corruption)));
    }
    client.flows.iter().find_map(|flow| {
        let error = flow.error.as_ref().filter(|error| error.kind == FlowErrorKind::Data)?;
        Some(format!("flow {}: {}", flow.flow, error.text))
    })
}

/// Every connection came to its planned end at both ends.
fn completed(plan: &GoodputPlan, client: &GoodputReport, server: Option<&GoodputReport>) -> Check {
    let GoodputSummary { completed, failed, cut, unknown, .. } =
        GoodputSummary::endings(plan, client, server);
    let ended = completed.saturating_add(cut).saturating_add(unknown);
    // Where a time limit or nothing ends the run, there are as many as were made.
    let is_open = plan.shape.time_limit_ns.is_some();
    let planned = plan.connections_in_all().filter(|_| !is_open);
    let total = planned.unwrap_or(ended.saturating_add(failed));
    let failed = failed.max(total.saturating_sub(ended));
    let unknown = (unknown > 0).then_some(Unknown(unknown));
    let text = if failed > 0 {
        let first = first_failure(client, server).map_or_else(String::new, |it| format!("; {it}"));
        let unknown = unknown.map_or_else(String::new, |unknown| format!("; {unknown}"));
        format!("{} of {} failed{first}{unknown}", count(failed), counted(total, "connection"))
    } else if let Some(unknown) = unknown {
        unknown.to_string()
    } else if cut > 0 {
        let completed = counted(completed, "connection");
        let unsaid =
            if server.is_none() { "; the server has not said how it saw them" } else { "" };
        format!("{completed} completed, and {} cut by the end of the run{unsaid}", count(cut))
    } else {
        match total {
            1 => "the connection came to its end".to_owned(),
            _ => format!("all {} connections came to their end", count(total)),
        }
    };
    let is_known = unknown.is_none() && (server.is_some() || cut == 0);
    Check::new(GoodputCheck::Completed, failed == 0 && is_known, text)
}

/// Connections of which the server has not said how they ended.
#[derive(Clone, Copy)]
struct Unknown(u64);

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connections = counted(self.0, "connection");
        write!(formatter, "it is not known how {connections} ended at the server: it has not said")
    }
}

/// Which connection failed first, and of what: as the client knows it, else as the server does.
fn first_failure(client: &GoodputReport, server: Option<&GoodputReport>) -> Option<String> {
    [Some(client), server].into_iter().flatten().flat_map(|end| &end.flows).find_map(|flow| {
        flow.error.as_ref().map(|error| format!("flow {}: {}", flow.flow, error.text))
    })
}

/// What one end says it sent is what the other says it received, connection by connection.
fn counts_agree(client: &GoodputReport, server: &GoodputReport) -> Check {
    let differing = disagreements(client, server);
    let sums_agree =
        client.sent_bytes == server.received_bytes && client.received_bytes == server.sent_bytes;
    let passed = differing.is_empty() && sums_agree;
    let text = if passed {
        format!(
            "both ends count the same: {} up, {} down",
            counted(client.sent_bytes, "byte"),
            counted(client.received_bytes, "byte")
        )
    } else {
        format!(
            "sent and received differ: {} and {} bytes up, {} and {} bytes down{}",
            count(client.sent_bytes),
            count(server.received_bytes),
            count(server.sent_bytes),
            count(client.received_bytes),
            differing.first().map_or_else(String::new, |first| format!("; {first}"))
        )
    };
    Check::new(GoodputCheck::CountsAgree, passed, text)
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Period;

    use super::super::FlowCorruption;
    use super::super::tests::plan;
    use super::*;
    use crate::load::{Extent, FailureCounts, Pattern};
    use crate::pattern::{Corruption, Nature};

    fn of(connections: u32, pattern: Pattern) -> GoodputPlan {
        let second = Extent::DurationNs(Period::from_secs(1));
        GoodputPlan { connections, ..plan(pattern, second) }
    }

    fn report(damaged: std::ops::Range<u32>, data: u64) -> GoodputReport {
        let nature = Nature::BitFlip { bits: 1 };
        let corruption = Corruption { offset_bytes: 70_000, length_bytes: 1, nature };
        let corruptions = damaged
            .map(|flow| FlowCorruption { flow: FlowId(flow), corruption: corruption.clone() });
        let failures = FailureCounts { data, ..FailureCounts::default() };
        GoodputReport {
            corruptions: corruptions.collect(),
            failures,
            received_bytes: 1,
            ..GoodputReport::default()
        }
    }

    fn said(client: &GoodputReport, server: &GoodputReport) -> (bool, String) {
        let check = verified(&of(9, Pattern::Duplex), client, Some(server));
        let check = check.expect("something was checked");
        (check.passed, check.text)
    }

    #[test]
    fn connections_with_wrong_data_are_counted_once_and_all() {
        let none = || report(0..0, 0);
        assert!(said(&none(), &none()).0);
        // One that is damaged both ways; more than are located; and those whose places were left out.
        for (client, server, told) in [
            (report(3..4, 1), report(3..4, 1), "wrong data on 1 connection;"),
            (report(0..64, 70), none(), "wrong data on 70 connections;"),
            (none(), report(0..0, 1), "wrong data on 1 connection"),
        ] {
            let (passed, text) = said(&client, &server);
            assert!(!passed && text.starts_with(told), "{text}");
        }
    }

    #[test]
    fn damage_is_told_with_its_flow_its_way_its_place_and_its_kind() {
        let (_, text) = said(&report(0..0, 0), &report(3..5, 2));
        assert_eq!(
            text,
            "wrong data on 2 connections; flow 3 from the client to the server: wrong data at byte \
             70,000, 1 byte long: 1 bit flipped"
        );
    }

    #[test]
    fn what_the_server_has_not_said_does_not_hold() {
        let client = GoodputReport { completed: 2, received_bytes: 9, ..GoodputReport::default() };
        let held = |pattern| {
            let checks = checks(&of(2, pattern), &client, None);
            checks.into_iter().map(|check| (check.name, check.passed)).collect::<Vec<_>>()
        };
        let named = |verified, completed| {
            [("verified".to_owned(), verified), ("completed".to_owned(), completed)]
        };
        assert_eq!(held(Pattern::Push), named(false, false));
        // All that was received, the client received.
        assert_eq!(held(Pattern::Pull), named(true, false));
    }
}
