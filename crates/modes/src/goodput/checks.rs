//! What has to hold of a goodput test: the data was right, every connection came to its end, both ends count the same. What
//! is not known does not hold.

use std::collections::HashSet;

use pathscope_core::id::FlowId;
use pathscope_core::quantity::{count, counted, total};
use pathscope_core::record::{Check, FlowErrorKind};

use super::both_ends::differ;
use super::findings::GoodputCheck;
use super::{GoodputPlan, GoodputReport, GoodputSummary, Shutdown, disagreements, errors};
use crate::checks::{self, Unknown};
use crate::end::EndFacts;
use crate::load::{FastOpen, Verify};
use crate::results::Ends;

/// The checks of a test, the gravest first. The client's report is one that has
/// [taken in](super::both_ends::take_in) what the server found.
pub fn checks(plan: &GoodputPlan, ends: &Ends<'_, GoodputPlan>) -> Vec<Check> {
    let all = verified(plan, ends).into_iter().chain([completed(plan, ends)]);
    all.chain(checks::of_counts(ends, GoodputCheck::CountsAgree, counts_agree)).collect()
}

/// Every received byte that was looked at was what it must be.
fn verified(plan: &GoodputPlan, ends: &Ends<'_, GoodputPlan>) -> Option<Check> {
    // Only the first are located, and those of a connection that is damaged both ways twice.
    let located: HashSet<FlowId> =
        ends.reports().flat_map(|end| &end.corruptions).map(|found| found.flow).collect();
    let corrupt = ends.reports().map(|end| end.failures.data).fold(located.len() as u64, u64::max);
    let received = total(ends.reports().map(|end| end.received_bytes));
    let wrong = (corrupt > 0).then(|| {
        let first = first_damage(ends).map_or_else(String::new, |it| format!("; {it}"));
        format!("wrong data on {}{first}", counted(corrupt, "connection"))
    });
    let ways = (plan.is_up(), plan.is_down());
    let unknown = checks::unknown_data(ends, ways).map(|unknown| {
        let own = ends.of_client().received_bytes;
        let is_compared = plan.verify == Verify::Full && ends.hosts.tells().payload;
        let unknown = if tells_endings(ends) && ends.of_client().completed > 0 {
            unknown.with(" more than that each connection which completed came to its last byte")
        } else {
            unknown
        };
        let right = format!("; all {} bytes that the client received are right", count(own));
        unknown.with(if own > 0 && is_compared { &right } else { "" })
    });
    let right = if plan.verify == Verify::Sampled {
        format!("of {} received bytes one in 16 was checked, and none was wrong", count(received))
    } else {
        format!("all {} received bytes are the bytes that were sent", count(received))
    };
    let is_any = received > 0 || wrong.is_some() || unknown.is_some();
    let is_told = plan.verify != Verify::Off && is_any;
    is_told.then(|| checks::of_ends(GoodputCheck::Verified, wrong, unknown, right))
}

/// Where the first wrong data was, and what it was.
fn first_damage(ends: &Ends<'_, GoodputPlan>) -> Option<String> {
    let client = ends.of_client();
    let to_client = client.corruptions.iter().map(|found| (found, "from the server to the client"));
    let to_server = ends.of_server().into_iter().flat_map(|server| &server.corruptions);
    let to_server = to_server.map(|found| (found, "from the client to the server"));
    if let Some((found, way)) = to_server.chain(to_client).min_by_key(|(found, _)| found.flow) {
        return Some(format!("flow {} {way}: {}", found.flow, errors::damage(&found.corruption)));
    }
    client.flows.iter().find_map(|flow| {
        let error = flow.error.as_ref().filter(|error| error.kind == FlowErrorKind::Data)?;
        Some(format!("flow {}: {}", flow.flow, error.text))
    })
}

/// Whether the server has said of each connection that all has come, where it says nothing else.
pub(super) fn tells_endings(ends: &Ends<'_, GoodputPlan>) -> bool {
    let tells = ends.hosts.tells();
    tells.endings && !tells.report
}

/// Every connection came to its planned end at both ends.
fn completed(plan: &GoodputPlan, ends: &Ends<'_, GoodputPlan>) -> Check {
    let GoodputSummary { completed, failed, cut, unknown, .. } =
        GoodputSummary::endings(plan, ends.of_client(), ends.of_server(), tells_endings(ends));
    let ended = completed.saturating_add(cut).saturating_add(unknown);
    // Where a time limit or nothing ends the run, there are as many as were made.
    let is_open = plan.shape.time_limit_ns.is_some();
    let planned = plan.connections_in_all().filter(|_| !is_open);
    let total = planned.unwrap_or(ended.saturating_add(failed));
    let failed = failed.max(total.saturating_sub(ended));
    let unknown = (unknown > 0).then(|| checks::unknown_end(ends, "connection", unknown));
    let wrong = (failed > 0).then(|| {
        let of_all = format!("{} of {} failed", count(failed), counted(total, "connection"));
        let unknown = unknown.as_ref().map(|unknown| unknown.text().to_owned());
        let told = [Some(of_all), first_failure(ends), unknown];
        told.into_iter().flatten().collect::<Vec<_>>().join("; ")
    });
    let cut = (cut > 0).then(|| {
        let completed = counted(completed, "connection");
        format!("{completed} completed, and {} cut by the end of the run", count(cut))
    });
    // The server may have seen those otherwise.
    let unsaid = cut.as_ref().filter(|_| ends.server.is_none());
    let is_told = ends.hosts.tells().report;
    let unsaid = unsaid.map(|cut| {
        if is_told {
            Unknown::Unsaid(format!("{cut}; the server has not said how it saw them"))
        } else {
            Unknown::Untold(format!("{cut}; such a server does not say how it saw them"))
        }
    });
    // What such a server says is that it moved what it was told to. That this is what was sent shows in the end that follows.
    let is_hasty = tells_endings(ends) && plan.is_up() && plan.shape.shutdown != Shutdown::Graceful;
    let hasty = (is_hasty && completed > 0).then(|| {
        let text = "connections were reset as soon as the server had said that it was done: one that was told of fewer \
                    bytes would not be noticed (--shutdown graceful)";
        Unknown::Untold(text.to_owned())
    });
    let right = cut.unwrap_or_else(|| checks::all_ended("connection", total));
    checks::of_ends(GoodputCheck::Completed, wrong, unknown.or(unsaid).or(hasty), right)
}

/// Connections that failed at one end, as it knows it.
pub(super) fn failed_here(report: &GoodputReport) -> Option<String> {
    let &GoodputReport { completed, failed, cut, .. } = report;
    let all = total([completed, failed, cut]);
    let error = report.flows.iter().find_map(|flow| flow.error.as_ref());
    let why = error.map_or_else(String::new, |error| format!(": {}", error.text));
    let told = match (failed, all) {
        (0, _) => return None,
        (1, 1) => format!("its connection failed{why}"),
        (1, _) => format!("1 of its {} failed{why}", counted(all, "connection")),
        _ => {
            let first = error.map_or("", |_| ", the first");
            format!("{} of its {} failed{first}{why}", count(failed), counted(all, "connection"))
        }
    };
    Some(told)
}

/// How often a queue of connections that wait was full at an end's machine, as its kernel counted it.
pub(super) fn listen_queue_full(facts: EndFacts<'_>) -> Option<String> {
    let full = facts.host?.protocols.get("TcpExt.ListenOverflows")?;
    let times = counted(*full, "time");
    Some(format!(
        "a queue of connections that wait to be accepted was full {times} at the server's machine (TcpExt.ListenOverflows, of all its \
         programs): what came then was dropped, and is sent again a second later or more"
    ))
}

/// That none was opened as all were to be, and why, where that is known.
pub(super) fn fast_open_not_taken(counts: &FastOpen) -> Option<String> {
    let &FastOpen { taken, fell_back, is_served } = counts;
    let why = match is_served {
        Some(false) => {
            "net.ipv4.tcp_fastopen lacks bit 2 at the server: sysctl -w net.ipv4.tcp_fastopen=3 there"
        }
        Some(true) => {
            "its net.ipv4.tcp_fastopen allows it, so something on the way takes the option or the data out of SYNs, or there are more \
             than four addresses to --bind, since the client's system keeps cookies for few of its addresses towards another"
        }
        None => "its net.ipv4.tcp_fastopen needs bit 2, and what is on the way has to let it pass",
    };
    (taken == 0 && fell_back > 0).then(|| {
        let all = counted(fell_back, "connection");
        format!("--fast-open changed nothing: of {all} the server's system took none with its SYN; {why}")
    })
}

/// Which connection failed first, and of what: as the client knows it, else as the server does.
fn first_failure(ends: &Ends<'_, GoodputPlan>) -> Option<String> {
    ends.reports().flat_map(|end| &end.flows).find_map(|flow| {
        let error = flow.error.as_ref()?;
        Some(format!("flow {}: {}", flow.flow, error.text))
    })
}

/// What one end says it sent is what the other says it received, connection by connection.
fn counts_agree(client: &GoodputReport, server: &GoodputReport) -> Check {
    let differing = disagreements(client, server);
    let is_same =
        client.sent_bytes == server.received_bytes && client.received_bytes == server.sent_bytes;
    let ways = [
        ((client, server), (client.sent_bytes, server.received_bytes)),
        ((server, client), (server.sent_bytes, client.received_bytes)),
    ];
    let connections = client.completed.saturating_add(client.failed).saturating_add(client.cut);
    let sums_agree = !ways.into_iter().any(|(ends, counts)| differ(ends, counts, connections));
    let passed = differing.is_empty() && sums_agree;
    if passed && !is_same {
        let beyond = total(ways.map(|(_, (sent, received))| received.saturating_sub(sent)));
        if beyond > 0 {
            let text = format!(
                "{} came beyond those that the other end counts as sent: it leaves out the send that it was in when it stopped",
                counted(beyond, "byte")
            );
            return Check::unknown(GoodputCheck::CountsAgree, text);
        }
        let on_its_way = total(ways.map(|(_, (sent, received))| sent.saturating_sub(received)));
        let text = format!(
            "{} were on their way when an end said what it had received: it is not known whether they came",
            counted(on_its_way, "byte")
        );
        return Check::unknown(GoodputCheck::CountsAgree, text);
    }
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
    use pathscope_core::counters::HostCounters;
    use pathscope_core::quantity::Period;
    use pathscope_core::record::{FlowError, FlowFacts};

    use super::super::FlowCorruption;
    use super::super::tests::plan;
    use super::*;
    use crate::load::{Extent, FailureCounts, Pattern};
    use crate::pattern::{Corruption, Nature};

    fn of(connections: u32, pattern: Pattern) -> GoodputPlan {
        let second = Extent::DurationNs(Period::from_secs(1));
        GoodputPlan { connections, ..plan(pattern, second) }
    }

    #[test]
    fn that_none_was_opened_with_its_first_bytes_is_told_with_what_is_known_of_why() {
        let told = |taken, fell_back, is_served| {
            fast_open_not_taken(&FastOpen { taken, fell_back, is_served }).unwrap_or_default()
        };
        for (is_served, why) in [
            (Some(false), "lacks bit 2 at the server: sysctl -w net.ipv4.tcp_fastopen=3 there"),
            (Some(true), "allows it, so something on the way"),
            (None, "needs bit 2, and what is on the way"),
        ] {
            let text = told(0, 20, is_served);
            assert!(text.contains("of 20 connections the server's system took none"), "{text}");
            assert!(text.contains(why), "{text}");
            // One that was is enough, and none that was answered is none.
            assert_eq!((told(1, 19, is_served), told(0, 0, is_served)), Default::default());
        }
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
        let check = verified(&of(9, Pattern::Duplex), &Ends::of_reports(client, Some(server)));
        let check = check.expect("something was checked");
        (check.has_held(), check.text)
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
    fn an_end_alone_tells_how_many_failed_and_the_first_of_them() {
        let error = FlowError {
            kind: FlowErrorKind::Network,
            text: "reset (ECONNRESET)".to_owned(),
            errno: None,
        };
        let told = |completed, failed| {
            let flow = FlowFacts { error: Some(error.clone()), ..FlowFacts::default() };
            let flows = if failed > 0 { vec![FlowFacts::default(), flow] } else { Vec::new() };
            failed_here(&GoodputReport { completed, failed, flows, ..GoodputReport::default() })
        };
        assert_eq!(told(3, 0), None);
        assert_eq!(told(0, 1).as_deref(), Some("its connection failed: reset (ECONNRESET)"));
        let several = "2 of its 3 connections failed, the first: reset (ECONNRESET)";
        assert_eq!(told(1, 2).as_deref(), Some(several));
    }

    #[test]
    fn a_queue_that_was_full_is_told_with_how_often() {
        let told = |counted: &[(&str, u64)]| {
            let protocols = counted.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
            let host = HostCounters { protocols, ..HostCounters::default() };
            listen_queue_full(EndFacts { host: Some(&host), ..EndFacts::default() })
        };
        let full = told(&[("TcpExt.ListenOverflows", 1_234), ("TcpExt.ListenDrops", 2_000)]);
        let full = full.expect("it was full");
        assert!(full.contains("was full 1,234 times at the server's machine"), "{full}");
        assert_eq!(told(&[("TcpExt.ListenDrops", 3)]), None, "they were dropped of something else");
        assert_eq!(listen_queue_full(EndFacts::default()), None);
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
            let checks = checks(&of(2, pattern), &Ends::of_reports(&client, None));
            checks.into_iter().map(|check| (check.name, check.passed)).collect::<Vec<_>>()
        };
        let named = |verified, completed| {
            [("verified", verified), ("completed", completed)]
                .map(|(name, it)| (name.to_owned(), Some(it)))
        };
        assert_eq!(held(Pattern::Push), named(false, false));
        // All that was received, the client received.
        assert_eq!(held(Pattern::Pull), named(true, false));
    }
}
