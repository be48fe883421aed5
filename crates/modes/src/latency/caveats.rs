//! What has to hold of a latency test, and what to mind before believing its figures, those of the probes beside a load
//! included.

use pathscope_core::quantity::{count, counted, duration_ns, echoes, ratio, total};
use pathscope_core::record::{Caveat, Check, FlowError, FlowErrorKind};
use pathscope_core::stats::{LatencyFigures, Trend};

use super::findings::{LatencyCaveat, LatencyCheck};
use super::{Arrivals, LatencyPlan, LatencyReport, LatencySummary, LoadModel, PartsSummary};
use crate::{checks, finding, lag};

/// Every ping came as it was sent and every echo was its ping, and the flow lived to its end.
pub fn verified(client: &LatencyReport, server: Option<&LatencyReport>) -> Check {
    let (back, there) = (client.came_corrupt(), server.map_or(0, LatencyReport::came_corrupt));
    // What else ends a flow of the server is what the client was told, or the client's own end.
    let of_data = |error: &&FlowError| error.kind == FlowErrorKind::Data;
    let found = server.and_then(|server| server.error.as_ref().filter(of_data));
    let error = client.error.as_ref().or(found).map(|error| error.text.clone());
    let damaged = (back > 0 || there > 0).then(|| {
        let there = match there {
            0 => String::new(),
            there => format!(", and the server found {} damaged", counted(there, "ping")),
        };
        format!("{} told of other bytes than were sent{there}", echoes(back))
    });
    let right = match client.received {
        0 => "no echo came, so none was wrong".to_owned(),
        1 => "the 1 echo is the ping that was sent".to_owned(),
        received => format!("all {} are the pings that were sent", echoes(received)),
    };
    checks::of_ends(LatencyCheck::EchoesVerified, error.or(damaged), None, right)
}

/// What to mind.
pub fn caveats(plan: &LatencyPlan, summary: &LatencySummary) -> Vec<Caveat> {
    let parts = summary.parts.as_ref();
    finding::caveats([
        (LatencyCaveat::SendLag, late_generator(plan, summary)),
        (LatencyCaveat::LateEchoes, late_echoes(summary)),
        (LatencyCaveat::PingsUnsent, unsent(plan, summary)),
        (LatencyCaveat::Drift, drifted(summary)),
        (LatencyCaveat::SocketDrops, summary.socket_drops.told("ping")),
        (LatencyCaveat::KernelStampsMissing, parts.and_then(stamps_missing)),
        (LatencyCaveat::WallClockStepped, parts.and_then(wall_clock_stepped)),
    ])
}

/// An open loop whose sender could not keep up: the pings that were due and never left are the latest, so
/// leaving them out flatters the figures.
fn unsent(plan: &LatencyPlan, summary: &LatencySummary) -> Option<String> {
    let LoadModel::Open { period_ns, arrivals } = plan.load_model else { return None };
    let about = if arrivals == Arrivals::Fixed { "" } else { "about " };
    (summary.unsent > 0).then(|| {
        format!(
            "{about}{} of {} pings that were due never left: this machine cannot keep a period of {period_ns}",
            count(summary.unsent),
            count(summary.sent.saturating_add(summary.unsent))
        )
    })
}

/// Figures of a run that was not the same at its end as at its begin stand for neither.
fn drifted(summary: &LatencySummary) -> Option<String> {
    const MUCH: f64 = 0.05;
    let change = summary.drift.filter(Trend::is_significant)?.change_over_run;
    let way = if change > 0.0 { "rose" } else { "fell" };
    (change.abs() > MUCH).then(|| {
        format!(
            "the median round trip {way} by {} over the run: its figures stand for neither end of it",
            ratio(change.abs())
        )
    })
}

/// Whether the parts of the round trip stand for all of it.
fn stamps_missing(parts: &PartsSummary) -> Option<String> {
    let refused: String = [("client", &parts.client), ("server", &parts.server)]
        .into_iter()
        .filter_map(|(end, facts)| {
            let why = facts.as_ref()?.refused.as_ref()?;
            Some(format!("; the {end}'s system would not stamp ({why})"))
        })
        .collect();
    match parts.pings {
        0 => Some(format!(
            "of no ping did all stamps of both kernels come, so the round trip is not split{refused}"
        )),
        pings if pings < parts.of - parts.of / 10 => Some(format!(
            "all stamps of both kernels came of {} of {} pings: the parts stand for those alone{refused}",
            count(pings),
            count(parts.of)
        )),
        _ => None,
    }
}

/// Whether kernels may have stamped by a clock that was somewhere else.
fn wall_clock_stepped(parts: &PartsSummary) -> Option<String> {
    let ends = [&parts.client, &parts.server].into_iter().flatten();
    let steps = total(ends.map(|facts| facts.wall_clock_steps));
    let stepped = match steps {
        0 => "was not seen to step".to_owned(),
        steps => format!("was stepped {}", counted(steps, "time")),
    };
    (steps > 0 || parts.implausible > 0).then(|| {
        format!(
            "a wall clock, by which kernels stamp, {stepped}; the stamps of {} could not be and are left out, and \
             others of the tenth of a second before may be wrong by as much",
            counted(parts.implausible, "ping")
        )
    })
}

/// What comes after its ping was settled is no copy for certain, and the ping may count as lost.
fn late_echoes(summary: &LatencySummary) -> Option<String> {
    let when = if summary.late == 1 {
        "when its ping was not remembered any more: it has no latency"
    } else {
        "when their pings were not remembered any more: they have no latency"
    };
    (summary.late > 0).then(|| {
        let late = echoes(summary.late);
        format!("{late} came {when}, and pings that had no echo by then count as lost")
    })
}

/// What pings of an open loop waited for this machine is not in their round trips. But then they did not leave when they
/// were to, and what keeps a machine from sending keeps it from receiving as well.
fn late_generator(plan: &LatencyPlan, summary: &LatencySummary) -> Option<String> {
    let LoadModel::Open { period_ns, .. } = plan.load_model else { return None };
    let lag = summary.send_lag.as_ref()?;
    let least = period_ns.0.min(typical_ns(&summary.rtt).unwrap_or(u64::MAX)) / 10;
    let late = if typical_ns(lag)? > least {
        usually_late(lag) + &lag::of_latest(lag, period_ns.0)
    } else {
        now_and_then_late(lag, period_ns.0 / 10)?
    };
    Some(format!(
        "{late}: that is this machine's own, and not in RTT; but what keeps it from sending keeps it from receiving as well, \
         and that is in RTT"
    ))
}

/// The median; of few, which do not support one, the mean.
fn typical_ns(figures: &LatencyFigures) -> Option<u64> {
    figures.median_ns().or_else(|| figures.mean_ns.map(|mean| mean.round() as u64))
}

fn usually_late(lag: &LatencyFigures) -> String {
    lag::of_half(lag, "pings").unwrap_or_else(|| {
        let mean = duration_ns(lag.mean_ns.unwrap_or(0.0).round() as u64);
        format!("pings left {mean} after their time on average")
    })
}

/// Where the latest of few, or the highest percentile that many support, is above this.
fn now_and_then_late(lag: &LatencyFigures, most_ns: u64) -> Option<String> {
    let of_few = || {
        let (latest, pings) = (lag.max_ns?, counted(lag.count, "ping"));
        Some((latest, format!("of {pings} one left {} after its time", duration_ns(latest))))
    };
    let (late_ns, text) = lag::of_tail(lag, "pings").or_else(of_few)?;
    (late_ns > most_ns).then_some(text)
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};
    use pathscope_core::record::StampFacts;
    use pathscope_core::stats::LatencyHistogram;

    use super::*;
    use crate::drops::SocketDrops;

    /// So many of each value.
    fn figures(values: &[(u64, u64)]) -> LatencyFigures {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|&(value, times)| histogram.record_many(value, times));
        LatencyFigures::of(&histogram)
    }

    /// A thousand pings, one every millisecond, of 500 µs each, and nothing to mind.
    fn quiet() -> (LatencyPlan, LatencySummary) {
        let summary = LatencySummary {
            rtt: figures(&[(500_000, 1_000)]),
            send_lag: Some(figures(&[(1_000, 1_000)])),
            sent: 1_000,
            received: 1_000,
            socket_drops: SocketDrops { client: Some(0), server: Some(0) },
            ..LatencySummary::default()
        };
        (LatencyPlan::probe(Frequency(1_000)), summary)
    }

    fn said(change: impl FnOnce(&mut LatencyPlan, &mut LatencySummary)) -> Vec<(String, String)> {
        let (mut plan, mut summary) = quiet();
        change(&mut plan, &mut summary);
        let caveats = caveats(&plan, &summary);
        caveats.into_iter().map(|caveat| (caveat.name, caveat.text)).collect()
    }

    fn trend(summary: &mut LatencySummary, change_over_run: f64, z: f64) {
        summary.drift = Some(Trend { slope_per_second: 0.0, change_over_run, z, points: 20 });
    }

    fn parts(summary: &mut LatencySummary, pings: u64, wall_clock_steps: u64) {
        let facts = StampFacts { error_ns: 1, wall_clock_steps, refused: None };
        summary.parts =
            Some(PartsSummary { pings, of: 1_000, client: Some(facts), ..PartsSummary::default() });
    }

    type Change = fn(&mut LatencyPlan, &mut LatencySummary);

    fn lagging(summary: &mut LatencySummary, values: &[(u64, u64)]) {
        summary.send_lag = Some(figures(values));
    }

    #[test]
    fn each_trouble_has_its_caveat_and_no_other() {
        let table: [(&str, &str, Change); 21] = [
            ("pings_unsent", "7 of 1,007 pings that were due never left", |_, it| it.unsent = 7),
            ("pings_unsent", "about 7 of 1,007 pings", |plan, it| {
                let arrivals = Arrivals::Poisson { seed: 1 };
                plan.load_model = LoadModel::Open { period_ns: Period(1_000_000), arrivals };
                it.unsent = 7;
            }),
            // More than a tenth of the median latency, and then of the period.
            ("send_lag", "half of the pings left", |_, it| lagging(it, &[(51_000, 1_000)])),
            ("send_lag", "half of the pings left", |_, it| {
                it.rtt = figures(&[(9_000_000, 1_000)]);
                lagging(it, &[(1_000, 400), (101_000, 600)]);
            }),
            // Two of five are late, which no median knows of.
            ("send_lag", "of a hundred pings one left", |_, it| {
                lagging(it, &[(1_000, 600), (800_000, 400)]);
            }),
            ("send_lag", "of a hundred pings one left 101", |_, it| {
                lagging(it, &[(1_000, 980), (101_000, 20)]);
            }),
            ("send_lag", "of ten pings one left", |_, it| {
                lagging(it, &[(1_000, 80), (101_000, 20)]);
            }),
            // From the first ping on, be it answered or not.
            ("send_lag", "pings left 30 ms after their time on average", |_, it| {
                it.rtt = LatencyFigures::default();
                lagging(it, &[(30_000_000, 1)]);
            }),
            ("send_lag", "pings left 51 µs after their time on average", |_, it| {
                lagging(it, &[(51_000, 19)]);
            }),
            ("send_lag", "of 90 pings one left 30", |_, it| {
                lagging(it, &[(1_000, 89), (30_000_000, 1)]);
            }),
            // One of ten was a period late and more, which no median knows of.
            ("send_lag", "half of the pings left 51", |_, it| {
                lagging(it, &[(51_000, 900), (1_100_000_000, 100)]);
            }),
            ("send_lag", "or more after their time, the latest 1.1 s", |_, it| {
                lagging(it, &[(51_000, 900), (1_100_000_000, 100)]);
            }),
            ("send_lag", "after their time on average, the latest 30", |_, it| {
                lagging(it, &[(51_000, 18), (30_000_000, 1)]);
            }),
            ("late_echoes", "3 echoes came when", |_, it| it.late = 3),
            ("drift", "rose by 5.1", |_, it| trend(it, 0.051, 2.0)),
            ("drift", "fell by", |_, it| trend(it, -0.2, -3.0)),
            ("socket_drops", "2 pings at the server and 0 echoes", |_, it| {
                it.socket_drops.server = Some(2);
            }),
            ("socket_drops", "0 pings at the server and 5 echoes", |_, it| {
                it.socket_drops = SocketDrops { client: Some(5), server: None };
            }),
            ("kernel_stamps_missing", "of no ping", |_, it| parts(it, 0, 0)),
            ("kernel_stamps_missing", "899 of 1,000 pings", |_, it| parts(it, 899, 0)),
            ("wall_clock_stepped", "was stepped 2 times", |_, it| parts(it, 1_000, 2)),
        ];
        for (name, words, change) in table {
            let said = said(change);
            assert_eq!(said.len(), 1, "{name}: {said:?}");
            assert!(said[0].0 == name && said[0].1.contains(words), "{name}, {words}: {said:?}");
        }
    }

    #[test]
    fn what_is_small_enough_has_none() {
        let table: [Change; 9] = [
            |_, _| {},
            |_, it| lagging(it, &[(1_000, 80), (99_000, 1)]),
            // A tenth of the period in the tail, and of the latency in the middle.
            |_, it| lagging(it, &[(49_000, 980), (99_000, 20)]),
            // One in two hundred.
            |_, it| lagging(it, &[(1_000, 995), (800_000, 5)]),
            // Nobody's schedule was missed.
            |plan, it| {
                plan.load_model = LoadModel::Closed;
                lagging(it, &[(900_000, 1_000)]);
                it.unsent = 7;
            },
            |_, it| trend(it, 0.049, 5.0),
            |_, it| trend(it, 0.5, 1.9),
            |_, it| it.socket_drops = SocketDrops::default(),
            |_, it| parts(it, 900, 0),
        ];
        for (row, change) in table.into_iter().enumerate() {
            assert_eq!(said(change), [], "{row}");
        }
    }

    #[test]
    fn echoes_and_pings_are_counted_as_they_are_spelt() {
        let checked = |received| {
            let client = LatencyReport { received, ..LatencyReport::default() };
            verified(&client, None).text
        };
        assert_eq!(checked(0), "no echo came, so none was wrong");
        assert_eq!(checked(1), "the 1 echo is the ping that was sent");
        assert_eq!(checked(2), "all 2 echoes are the pings that were sent");
        assert_eq!(checked(12_345), "all 12,345 echoes are the pings that were sent");
        let late = |late| said(|_, it| it.late = late);
        assert_eq!(late(0), []);
        assert!(late(1)[0].1.starts_with("1 echo came when its ping was"), "{:?}", late(1));
        assert!(late(2)[0].1.starts_with("2 echoes came when their pings were"), "{:?}", late(2));
        assert!(late(12_345)[0].1.starts_with("12,345 echoes came"), "{:?}", late(12_345));
        let dropped = |client, server| {
            let drops = SocketDrops { client: Some(client), server: Some(server) };
            drops.told("ping")
        };
        assert_eq!(dropped(0, 0), None);
        for (client, server, words) in [
            (0, 1, "1 ping at the server and 0 echoes at the client: it reached"),
            (1, 0, "0 pings at the server and 1 echo at the client: it reached"),
            (2, 12_345, "12,345 pings at the server and 2 echoes at the client: they reached"),
        ] {
            let said = dropped(client, server).expect("some were dropped");
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn damage_at_either_end_fails_the_check() {
        let end = |corrupt, corrupt_datagrams| LatencyReport {
            received: 10,
            corrupt,
            corrupt_datagrams,
            ..LatencyReport::default()
        };
        let fine = verified(&end(0, 0), Some(&end(0, 0)));
        assert!(fine.has_held() && fine.text == "all 10 echoes are the pings that were sent");
        assert!(verified(&end(0, 0), None).has_held());
        for (client, server, words) in [
            ((0, 1), None, "1 echo told of other bytes than were sent"),
            ((2, 3), None, "3 echoes told"),
            // The word of the server was lost on its way.
            ((0, 0), Some((1, 1)), "and the server found 1 ping damaged"),
            ((0, 0), Some((2, 0)), "found 2 pings damaged"),
        ] {
            let of = |(echoes, datagrams)| end(echoes, datagrams);
            let (client, server) = (of(client), server.map(of));
            let failed = verified(&client, server.as_ref());
            assert!(failed.has_failed() && failed.text.contains(words), "{words}: {failed:?}");
        }
        let error = |kind| {
            let error = FlowError { kind, text: "odd bytes".to_owned(), errno: None };
            LatencyReport { error: Some(error), ..end(0, 0) }
        };
        let of_server = verified(&end(0, 0), Some(&error(FlowErrorKind::Data)));
        assert!(of_server.has_failed() && of_server.text == "odd bytes");
        assert!(verified(&error(FlowErrorKind::Network), None).has_failed());
        assert!(verified(&end(0, 0), Some(&error(FlowErrorKind::Network))).has_held());
    }
}
