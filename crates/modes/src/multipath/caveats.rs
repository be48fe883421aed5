//! What has to hold of a multipath test, and what to mind before believing its figures.

use pathscope_core::quantity::{count, counted, total, were};
use pathscope_core::record::{Caveat, Check};

use super::findings::{MultipathCaveat, MultipathCheck};
use super::{MultipathPlan, MultipathReport, MultipathSummary, PathReport};
use crate::drops::SocketDrops;
use crate::paths::BY_ADDRESS;
use crate::results::Ends;
use crate::{checks, finding, lag};

/// Every datagram that came at either end was as it was sent.
pub fn verified(ends: &Ends<'_, MultipathPlan>) -> Check {
    let paths = || ends.reports().flat_map(|end| &end.paths);
    let corrupt = total(paths().map(|path| path.corrupt));
    let wrong = (corrupt > 0)
        .then(|| format!("{} came with other bytes than were sent", counted(corrupt, "datagram")));
    let place = match ends.server {
        None => "here",
        Some(_) if ends.of_client().resumptions > 0 => "here, and at the server since it was back,",
        Some(_) => "at either end",
    };
    let right = match total(paths().map(|path| path.received)) {
        0 => format!("no datagram came {place}, so none was wrong"),
        1 => format!("the 1 datagram that came {place} is as it was sent"),
        came => format!("all {} datagrams that came {place} are as they were sent", count(came)),
    };
    checks::of_ends(MultipathCheck::Verified, wrong, None, right)
}

/// Each path that was named has carried answers, and where none was named any: whoever asks for a path wants to know what
/// it is worth. Absent where no datagram was due.
pub fn worked(plan: &MultipathPlan, client: &MultipathReport) -> Option<Check> {
    let named = plan.paths.iter().zip(&client.paths).filter(|(_, path)| path.received == 0);
    let silent: Vec<String> = named.map(|(name, path)| never_worked(name, path)).collect();
    let wrong = if silent.is_empty() {
        let due = counted(client.scheduled, "datagram");
        (client.received == 0).then(|| format!("not one of {due} was answered"))
    } else {
        Some(silent.join("; "))
    };
    let is_asked = wrong.is_some() || !plan.paths.is_empty();
    let is_told = is_asked && client.scheduled.saturating_add(client.unsent) > 0;
    let right = format!("every path that was named worked: {}", plan.paths.join(", "));
    is_told.then(|| checks::of_ends(MultipathCheck::PathsWorked, wrong, None, right))
}

/// Why a path carried nothing, as far as that is known.
fn never_worked(name: &str, path: &PathReport) -> String {
    let why = match &path.facts.trouble {
        Some(trouble) if path.sent == 0 => trouble.clone(),
        _ if path.sent > 0 => format!(
            "none of the {} that were sent on it {} answered",
            counted(path.sent, "datagram"),
            were(path.sent)
        ),
        _ if path.refused > 0 => {
            format!("this machine refused {} on it", counted(path.refused, "datagram"))
        }
        _ => "nothing was sent on it".to_owned(),
    };
    format!("path {name} never worked: {why}")
}

/// What to mind.
pub fn caveats(
    plan: &MultipathPlan,
    summary: &MultipathSummary,
    ends: &Ends<'_, MultipathPlan>,
) -> Vec<Caveat> {
    let client = ends.of_client();
    finding::caveats([
        (MultipathCaveat::PathNeverWorked, unused(plan, client)),
        (MultipathCaveat::OnePath, lonely(plan, client)),
        (MultipathCaveat::SendLag, late_sender(plan, summary)),
        (MultipathCaveat::DatagramsUnsent, unsent(plan, summary)),
        (MultipathCaveat::LateEchoes, late(summary)),
        (MultipathCaveat::SocketDrops, drops(ends)),
        (MultipathCaveat::BoundByAddress, by_address(client)),
        (MultipathCaveat::ServerResumed, resumed(client)),
    ])
}

/// Paths that carried nothing, whether they were named or found: whatever is said of the others, it is not of these.
fn unused(plan: &MultipathPlan, client: &MultipathReport) -> Option<String> {
    let name = |(index, path): (usize, &PathReport)| {
        let name = plan.paths.get(index).unwrap_or(&path.facts.interface);
        let is_silent = path.received == 0 && !name.is_empty();
        is_silent.then(|| never_worked(name, path))
    };
    let silent: Vec<String> = client.paths.iter().enumerate().filter_map(name).collect();
    (!silent.is_empty()).then(|| silent.join("; "))
}

/// One path alone, where there could have been more: nothing is compared.
fn lonely(plan: &MultipathPlan, client: &MultipathReport) -> Option<String> {
    let worked = client.paths.iter().filter(|path| path.received > 0).count();
    let text = "one path alone worked, so there is nothing to compare it with: \
                --secondary 0 measures one on purpose";
    (plan.lanes > 1 && worked == 1).then(|| text.to_owned())
}

/// A sender that lags behind its schedule makes its groups longer than they are meant to be, or now and then leaves a gap
/// that is none of the path's.
fn late_sender(plan: &MultipathPlan, summary: &MultipathSummary) -> Option<String> {
    let (lag, interval_ns) = (&summary.send_lag, plan.interval_ns());
    if lag.median_ns()? > interval_ns.min(summary.effective.median_ns()?) / 10 {
        let late = lag::of_half(lag, "datagrams")? + &lag::of_latest(lag, interval_ns);
        return Some(format!("{late}: this machine kept the schedule no better"));
    }
    let (_, late) = lag::of_tail(lag, "datagrams").filter(|late| late.0 > interval_ns / 10)?;
    Some(format!("{late}: now and then this machine did not keep the schedule"))
}

/// What was due and never left.
fn unsent(plan: &MultipathPlan, summary: &MultipathSummary) -> Option<String> {
    (summary.unsent > 0).then(|| {
        format!(
            "{} of {} datagrams that were due never left: this machine cannot keep {} on so many paths",
            count(summary.unsent),
            count(summary.scheduled.saturating_add(summary.unsent)),
            plan.rate_bps
        )
    })
}

/// Answers that came when their numbers had been given up count as losses.
fn late(summary: &MultipathSummary) -> Option<String> {
    let late = total(summary.paths.iter().map(|path| path.late));
    let answers = counted(late, "answer");
    (late > 0).then(|| {
        format!("{answers} came after their numbers had been given up: they count as lost")
    })
}

/// What the ends' own sockets dropped.
fn drops(ends: &Ends<'_, MultipathPlan>) -> Option<String> {
    let of = |end: &MultipathReport| total(end.paths.iter().map(|path| path.socket_drops));
    let (client, server) = (Some(of(ends.of_client())), ends.of_server().map(of));
    SocketDrops { client, server }.told("datagram")
}

/// A server that was gone has counted nothing while it was, and a new process nothing of what was before.
fn resumed(client: &MultipathReport) -> Option<String> {
    let times = counted(client.resumptions, "time");
    (client.resumptions > 0).then(|| {
        format!(
            "the server was gone and back {times}: what it found damaged or dropped is of the time after, and losses are not told apart by direction"
        )
    })
}

/// A socket that is bound by its address stays on its interface as long as routes have it there.
fn by_address(client: &MultipathReport) -> Option<String> {
    let facts = client.paths.iter().map(|path| &path.facts);
    let bound = facts.filter(|facts| facts.binding.as_deref() == Some(BY_ADDRESS));
    let names: Vec<&str> = bound.map(|facts| facts.interface.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the system does not let a socket be bound to {}: it is bound by its source address, and routes were seen \
             to send that by its interface at each look",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

    use super::super::tests::plan;
    use super::*;
    use crate::paths::PathFacts;

    #[test]
    fn wrong_bytes_fail_the_check_and_drops_are_told() {
        let path = |received, corrupt, socket_drops| PathReport {
            received,
            corrupt,
            socket_drops,
            ..PathReport::default()
        };
        let end = |paths| MultipathReport { paths, ..MultipathReport::default() };
        let (client, server) = (end(vec![path(5, 0, 2)]), end(vec![path(6, 1, 0)]));
        assert!(verified(&Ends::of_reports(&client, None)).has_held());
        for (came, words) in [
            (0, "no datagram came here, so none was wrong"),
            (1, "the 1 datagram that came here is as it was sent"),
            (2, "all 2 datagrams that came here are as they were sent"),
            (12_345, "all 12,345 datagrams that came here are as they were sent"),
        ] {
            let client = end(vec![path(came, 0, 0)]);
            assert_eq!(verified(&Ends::of_reports(&client, None)).text, words);
        }
        let check = verified(&Ends::of_reports(&client, Some(&server)));
        assert!(check.has_failed() && check.text.starts_with("1 datagram came"), "{}", check.text);
        let summary = MultipathSummary { unsent: 3, scheduled: 7, ..MultipathSummary::default() };
        let names = |client: &MultipathReport| -> Vec<String> {
            let all = caveats(&plan(1), &summary, &Ends::of_reports(client, Some(&server)));
            all.into_iter().map(|caveat| caveat.name).collect()
        };
        assert_eq!(names(&client), ["datagrams_unsent", "socket_drops"]);
        let client = MultipathReport { resumptions: 1, ..client };
        assert_eq!(names(&client), ["datagrams_unsent", "socket_drops", "server_resumed"]);
    }

    #[test]
    fn a_path_that_was_named_and_never_worked_fails_and_says_why() {
        let path = |interface: &str, sent, received, trouble: Option<&str>| PathReport {
            sent,
            received,
            facts: PathFacts {
                interface: interface.to_owned(),
                trouble: trouble.map(str::to_owned),
                ..PathFacts::default()
            },
            ..PathReport::default()
        };
        let named = |names: &[&str]| {
            let paths = names.iter().map(|name| (*name).to_owned()).collect();
            MultipathPlan { paths, ..plan(2) }
        };
        let client = |paths: Vec<PathReport>| MultipathReport {
            scheduled: 100,
            received: paths.iter().map(|path| path.received).sum(),
            paths,
            ..MultipathReport::default()
        };
        let said = |plan: &MultipathPlan, client: &MultipathReport| {
            let summary = MultipathSummary::default();
            let caveats = caveats(plan, &summary, &Ends::of_reports(client, None)).into_iter();
            let check = worked(plan, client).map(|check| (check.has_held(), check.text));
            (check, caveats.map(|it| it.name).collect::<Vec<_>>())
        };
        let both = ["eth0", "wlan0"];
        let good = path("eth0", 100, 99, None);
        // An interface that was down all the time.
        let down = client(vec![good.clone(), path("wlan0", 0, 0, Some("it is down"))]);
        let text = "path wlan0 never worked: it is down".to_owned();
        let told = vec!["path_never_worked".to_owned(), "one_path".to_owned()];
        assert_eq!(said(&named(&both), &down), (Some((false, text)), told.clone()));
        // One that nobody asked for costs no check.
        assert_eq!(said(&named(&[]), &down), (None, told.clone()));
        // One whose datagrams are swallowed.
        let silent = client(vec![good.clone(), path("wlan0", 90, 0, None)]);
        let text = "path wlan0 never worked: none of the 90 datagrams that were sent on it were \
                    answered";
        assert_eq!(said(&named(&both), &silent), (Some((false, text.to_owned())), told));
        // Neither of two, named or not.
        let none = client(vec![path("eth0", 9, 0, None), path("wlan0", 9, 0, None)]);
        let (check, caveats) = said(&named(&both), &none);
        let (passed, text) = check.expect("datagrams were due");
        assert!(!passed && text.contains("eth0 never") && text.contains("wlan0 never"), "{text}");
        assert_eq!(caveats, ["path_never_worked"]);
        let (check, _) = said(&named(&[]), &none);
        let text = "not one of 100 datagrams was answered".to_owned();
        assert_eq!(check, Some((false, text)));
        // All is well, and where one path was asked for it is no caveat.
        let all = client(vec![good.clone(), path("wlan0", 100, 1, None)]);
        let text = "every path that was named worked: eth0, wlan0".to_owned();
        assert_eq!(said(&named(&both), &all), (Some((true, text)), Vec::new()));
        let alone = MultipathPlan { lanes: 1, ..named(&[]) };
        assert_eq!(said(&alone, &client(vec![good])), (None, Vec::new()));
    }

    /// So many of each value.
    fn figures(values: &[(u64, u64)]) -> LatencyFigures {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|&(value, times)| histogram.record_many(value, times));
        LatencyFigures::of(&histogram)
    }

    #[test]
    fn a_late_sender_is_told_in_the_middle_and_in_the_tail() {
        let plan = plan(2);
        let tenth = plan.interval_ns() / 10;
        let table = [
            (&[(tenth, 1_000)][..], None),
            (&[(tenth * 11 / 10, 1_000)], Some("half of the datagrams left")),
            (&[(tenth * 11 / 10, 990), (1_000_000_000, 10)], Some("half of the datagrams left")),
            // Two of five are late, which no median knows of.
            (&[(0, 600), (tenth * 2, 400)], Some("of a hundred datagrams one left")),
            (&[(0, 980), (tenth * 2, 20)], Some("of a hundred datagrams one left")),
            (&[(0, 80), (tenth * 2, 20)], Some("of ten datagrams one left")),
            // One in two hundred.
            (&[(0, 995), (tenth * 2, 5)], None),
            (&[], None),
        ];
        for (lag, words) in table {
            let summary = MultipathSummary {
                send_lag: figures(lag),
                effective: figures(&[(plan.interval_ns() * 2, 1_000)]),
                ..MultipathSummary::default()
            };
            let client = MultipathReport::default();
            let said = caveats(&plan, &summary, &Ends::of_reports(&client, None));
            assert_eq!(said.len(), usize::from(words.is_some()), "{lag:?}: {said:?}");
            let is_said = said.iter().all(|caveat| caveat.text.starts_with(words.unwrap_or("")));
            assert!(is_said && said.iter().all(|it| it.name == "send_lag"), "{lag:?}: {said:?}");
            // Where the median is told, and one was late by more than a period.
            let has_latest = said.iter().any(|it| it.text.contains("their time, the latest 1"));
            assert_eq!(has_latest, lag.len() == 2 && lag[1].0 == 1_000_000_000, "{said:?}");
        }
    }

    #[test]
    fn a_path_by_its_address_alone_is_told() {
        let path = |interface: &str, binding: &str| {
            let binding = Some(binding.to_owned());
            let facts =
                PathFacts { interface: interface.to_owned(), binding, ..Default::default() };
            PathReport { facts, received: 1, ..PathReport::default() }
        };
        let told = |paths| {
            let client = MultipathReport { paths, ..MultipathReport::default() };
            let ends = Ends::of_reports(&client, None);
            caveats(&plan(1), &MultipathSummary::default(), &ends)
        };
        assert_eq!(told(vec![path("eth0", "device")]), []);
        let [caveat] =
            <[_; 1]>::try_from(told(vec![path("eth0", "device"), path("wlan0", BY_ADDRESS)]))
                .expect("one caveat");
        assert_eq!(caveat.name, "bound_by_address");
        assert!(caveat.text.contains("bound to wlan0: it is"), "{}", caveat.text);
    }
}
