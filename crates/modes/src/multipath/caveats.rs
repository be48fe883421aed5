//! What has to hold of a multipath test, and what to mind before believing its figures.

use pathscope_core::quantity::{count, counted, duration_ns, total};
use pathscope_core::record::{Caveat, Check};

use super::{BY_ADDRESS, MultipathPlan, MultipathReport, MultipathSummary};
use crate::latency::SocketDrops;

/// Every datagram that came at either end was as it was sent.
pub fn verified(client: &MultipathReport, server: Option<&MultipathReport>) -> Check {
    let paths = || client.paths.iter().chain(server.iter().flat_map(|server| &server.paths));
    let (came, corrupt): (u64, u64) = paths().fold((0, 0), |sum, path| {
        (sum.0.saturating_add(path.received), sum.1.saturating_add(path.corrupt))
    });
    let text = if corrupt == 0 {
        let place = match server {
            None => "here",
            Some(_) if client.resumptions > 0 => "here, and at the server since it was back,",
            Some(_) => "at either end",
        };
        format!("all {} datagrams that came {place} are as they were sent", count(came))
    } else {
        format!("{} came with other bytes than were sent", counted(corrupt, "datagram"))
    };
    Check { name: "verified".to_owned(), passed: corrupt == 0, text }
}

/// What to mind.
pub fn caveats(
    plan: &MultipathPlan,
    summary: &MultipathSummary,
    client: &MultipathReport,
    server: Option<&MultipathReport>,
) -> Vec<Caveat> {
    let each = [
        late_sender(plan, summary),
        unsent(plan, summary),
        late(summary),
        drops(client, server),
        by_address(client),
        resumed(client),
    ];
    each.into_iter().flatten().collect()
}

/// A sender that lags behind its schedule makes its groups longer than they are meant to be, or now and then leaves a gap
/// that is none of the path's.
fn late_sender(plan: &MultipathPlan, summary: &MultipathSummary) -> Option<Caveat> {
    let lag = summary.send_lag.median_ns()?;
    let median = summary.effective.median_ns()?;
    if lag > plan.interval_ns().min(median) / 10 {
        let text = format!(
            "half of the datagrams left {} or more after their time: this machine kept the schedule no better",
            duration_ns(lag)
        );
        return Some(Caveat::new("send_lag", text));
    }
    let (tail, datagrams) = summary.send_lag.tail_ns()?;
    (tail > plan.interval_ns() / 10).then(|| {
        let text = format!(
            "of {datagrams} datagrams one left {} or more after its time: now and then this machine did not keep the \
             schedule",
            duration_ns(tail)
        );
        Caveat::new("send_lag", text)
    })
}

/// What was due and never left.
fn unsent(plan: &MultipathPlan, summary: &MultipathSummary) -> Option<Caveat> {
    (summary.unsent > 0).then(|| {
        let text = format!(
            "{} of {} datagrams that were due never left: this machine cannot keep {} on so many paths",
            count(summary.unsent),
            count(summary.scheduled.saturating_add(summary.unsent)),
            plan.rate_bps
        );
        Caveat::new("datagrams_unsent", text)
    })
}

/// Answers that came when their numbers had been given up count as losses.
fn late(summary: &MultipathSummary) -> Option<Caveat> {
    let late = total(summary.paths.iter().map(|path| path.late));
    (late > 0).then(|| {
        let text = format!(
            "{} came after their numbers had been given up: they count as lost",
            counted(late, "answer")
        );
        Caveat::new("late_echoes", text)
    })
}

/// What the ends' own sockets dropped.
fn drops(client: &MultipathReport, server: Option<&MultipathReport>) -> Option<Caveat> {
    let of = |end: &MultipathReport| total(end.paths.iter().map(|path| path.socket_drops));
    let drops = SocketDrops { client: Some(of(client)), server: server.map(of) };
    drops.caveat("datagrams")
}

/// A server that was gone has counted nothing while it was, and a new process nothing of what was before.
fn resumed(client: &MultipathReport) -> Option<Caveat> {
    (client.resumptions > 0).then(|| {
        let text = format!(
            "the server was gone and back {}: what it found damaged or dropped is of the time after, and losses are not told apart by direction",
            counted(client.resumptions, "time")
        );
        Caveat::new("server_resumed", text)
    })
}

/// A socket that is bound by its address stays on its interface as long as routes have it there.
fn by_address(client: &MultipathReport) -> Option<Caveat> {
    let facts = client.paths.iter().map(|path| &path.facts);
    let bound = facts.filter(|facts| facts.binding.as_deref() == Some(BY_ADDRESS));
    let names: Vec<&str> = bound.map(|facts| facts.interface.as_str()).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "the system does not let a socket be bound to {}: it is bound by its source address, and routes were seen \
             to send that by its interface at each look",
            names.join(", ")
        );
        Caveat::new("bound_by_address", text)
    })
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::{LatencyFigures, LatencyHistogram};

    use super::super::tests::plan;
    use super::super::{PathFacts, PathReport};
    use super::*;

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
        assert!(verified(&client, None).passed);
        let check = verified(&client, Some(&server));
        assert!(!check.passed && check.text.starts_with("1 datagram came"), "{}", check.text);
        let summary = MultipathSummary { unsent: 3, scheduled: 7, ..MultipathSummary::default() };
        let names = |client: &MultipathReport| -> Vec<String> {
            let all = caveats(&plan(2), &summary, client, Some(&server));
            all.into_iter().map(|caveat| caveat.name).collect()
        };
        assert_eq!(names(&client), ["datagrams_unsent", "socket_drops"]);
        let client = MultipathReport { resumptions: 1, ..client };
        assert_eq!(names(&client), ["datagrams_unsent", "socket_drops", "server_resumed"]);
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
            let said = caveats(&plan, &summary, &MultipathReport::default(), None);
            assert_eq!(said.len(), usize::from(words.is_some()), "{lag:?}: {said:?}");
            let is_said = said.iter().all(|caveat| caveat.text.starts_with(words.unwrap_or("")));
            assert!(is_said && said.iter().all(|it| it.name == "send_lag"), "{lag:?}: {said:?}");
        }
    }

    #[test]
    fn a_path_by_its_address_alone_is_told() {
        let path = |interface: &str, binding: &str| {
            let binding = Some(binding.to_owned());
            let facts =
                PathFacts { interface: interface.to_owned(), binding, ..Default::default() };
            PathReport { facts, ..PathReport::default() }
        };
        let told = |paths| {
            let client = MultipathReport { paths, ..MultipathReport::default() };
            caveats(&plan(2), &MultipathSummary::default(), &client, None)
        };
        assert_eq!(told(vec![path("eth0", "device")]), []);
        let [caveat] =
            <[_; 1]>::try_from(told(vec![path("eth0", "device"), path("wlan0", BY_ADDRESS)]))
                .expect("one caveat");
        assert_eq!(caveat.name, "bound_by_address");
        assert!(caveat.text.contains("bound to wlan0: it is"), "{}", caveat.text);
    }
}
