//! Latency probes beside a load: what they came to, and what to mind of them.

use pathscope_core::figure::Part;
use pathscope_core::presentation::{Figure, Shape};
use pathscope_core::quantity::{count, counted, ratio, were};
use pathscope_core::record::Caveat;
use pathscope_flow::Transport;

use crate::document::Interval;
use crate::figure::{Heat, Point};
use crate::finding::TestCaveat;
use crate::groups::{Beside as Group, Test};
use crate::latency::figures::LOADED;
use crate::latency::{LatencySummary, Protocol, presentation};
use crate::registry::{EndReport, Plan, ProbePlan, Reports, Summary, client_slices};
use crate::results::{Beside, Results, Slices};

/// What the reports of both ends on them come to.
pub(crate) fn summary(
    test: &Test,
    (client, server): (&mut EndReport, Option<&EndReport>),
    intervals: &[Interval],
    beside: &Beside<'_>,
) -> Option<LatencySummary> {
    if let Some(own) = &mut client.probe {
        ProbePlan::complete(own, None, beside);
    }
    let plan = test.probe()?;
    let reports = Reports { client, server, hosts: beside.hosts };
    let ends = reports.ends(|report| report.probe.as_ref())?;
    Some(plan.summary(&ends, &client_slices::<ProbePlan>(intervals)))
}

/// What to mind of them, beside what the load brought over.
pub(crate) fn caveats(test: &Test, probes: &LatencySummary, load: &Summary) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = unanswered(probes).into_iter().collect();
    let Some(plan) = test.probe() else { return caveats };
    let sent_bytes = plan.size_bytes.0.saturating_mul(probes.sent);
    // In the direction that had less of it.
    let carried = test.plan.carried_of(load).into_iter().min();
    caveats.extend(carried.and_then(|carried| too_many(sent_bytes, carried)));
    caveats.extend(plan.probe_caveats(probes));
    caveats
}

/// They are to take nothing from the load: where the path is slow, they may.
fn too_many(probes: u64, carried: u64) -> Option<Caveat> {
    /// From this share of the load on.
    const NOTICED: f64 = 0.02;
    let share = probes as f64 / carried.saturating_add(probes).max(1) as f64;
    let text = format!(
        "the latency probes were {} of what was carried, and the load is that much less: --probe-rate asks for fewer",
        ratio(share)
    );
    (carried > 0 && share >= NOTICED).then(|| Caveat::new(TestCaveat::ProbeLoad, text))
}

fn unanswered(probes: &LatencySummary) -> Option<Caveat> {
    let text = if probes.sent > 0 && probes.received == 0 {
        "no latency probe was answered: UDP may be filtered on this path, so loaded latency is unknown".to_owned()
    } else if probes.lost > 0 {
        let sent = counted(probes.sent, "latency probe");
        format!("{} of {sent} {} never answered", count(probes.lost), were(probes.lost))
    } else {
        return None;
    };
    Some(Caveat::new(TestCaveat::ProbeUnanswered, text))
}

/// Their cells of a live row, beside those of the load. A row has too few for a p99.
pub(crate) fn cells(interval: &Slices<'_, ProbePlan>) -> [Figure; 2] {
    let [median, _, most] = presentation::rtt_cells(&LOADED, interval.of_client());
    [median, most]
}

/// Their figure over time.
pub(crate) fn point(interval: &Slices<'_, ProbePlan>) -> Point {
    presentation::median_point(&LOADED, interval.of_client())
}

/// Their round trips over time.
pub(crate) fn heat<'interval>(interval: &Slices<'interval, ProbePlan>) -> Option<Heat<'interval>> {
    presentation::heat(&LOADED, interval.of_client())
}

/// Their figures, in short.
pub(crate) fn figures(probes: &LatencySummary) -> Vec<Figure> {
    let percents = [50.0, 75.0, 90.0, 95.0, 99.0];
    let mut figures = presentation::percentiles(&LOADED, ("rtt", &probes.rtt), &percents);
    let since = presentation::since(probes).map_or_else(String::new, |since| format!("; {since}"));
    let note = format!("{} of {} probes lost{since}", count(probes.lost), count(probes.sent));
    // Where too few came back for a median, these two are all that is known.
    if probes.rtt.count > 0 && probes.rtt.median_ns().is_none() {
        let taken = format!("{} taken", count(probes.rtt.count));
        figures.push(LOADED.figure("rtt.min", probes.rtt.min_ns).with_note(taken));
    }
    figures.push(LOADED.figure("rtt.max", probes.rtt.max_ns).with_note(note));
    let loaded = |figure: Figure| {
        let label = format!("loaded {}", figure.label);
        figure.labelled(label).of("loaded RTT")
    };
    figures.into_iter().map(loaded).collect()
}

/// The distribution of their round trips.
pub(crate) fn distribution(client: &EndReport) -> Option<Shape> {
    let rtt = client.probe.as_ref()?.rtt.as_ref()?;
    Some(LOADED.shape(&Part::Whole, ("rtt", "client.probe.rtt", "rtt_ns"), rtt))
}

impl Test {
    /// Its probes as a test of their own, as long as the time of the load: its flows may wait for what is late, and nothing loads the
    /// path then.
    pub fn probes_apart(&self) -> Option<Self> {
        let probes = self.probe()?.clone();
        let probes = match self.duration_ns() {
            Some(most) => probes.lasting(most),
            None => probes,
        };
        Some(Self::new(probes.into(), None, self.report_every_ns))
    }

    /// Has the pings of such a test as its probes.
    pub fn take_probes(&mut self, of: Self) {
        if let Plan::Latency(probes) = of.plan {
            self.beside = vec![Group::Probes(probes)];
        }
    }

    /// Makes the probes use TCP, and with `idle` the plan's own pings: on a path that lets no UDP through. Returns whether
    /// no datagrams are left.
    pub fn go_without_datagrams(&mut self, idle: bool) -> bool {
        if let Some(probe) = self.probe_mut() {
            probe.protocol = Protocol::Tcp;
        }
        if let (Plan::Latency(plan), true) = (&mut self.plan, idle) {
            plan.protocol = Protocol::Tcp;
        }
        self.groups().iter().all(|group| group.transport == Transport::Stream)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::{Frequency, Period};

    use crate::survey::{self, SurveyOptions};

    #[test]
    fn probes_go_apart_for_the_time_of_the_load_and_come_back() {
        let options = SurveyOptions {
            connections: 3,
            duration: survey::STEP,
            probe_rate: Frequency(100),
            congestion_control: None,
        };
        let load = survey::tests(&options, Period::from_secs(1)).swap_remove(1).1;
        let apart = load.probes_apart().expect("it has probes");
        assert_eq!((apart.plan.name(), apart.duration_ns()), ("latency", load.duration_ns()));
        assert_eq!((apart.validate(), apart.beside.len()), (Ok(()), 0));
        let mut alone = load.alone();
        assert!(alone.probe().is_none() && alone.probes_apart().is_none());
        alone.take_probes(apart);
        assert_eq!(
            alone.probe().map(|probes| probes.size_bytes),
            load.probe().map(|it| it.size_bytes)
        );
        assert_eq!(alone.groups(), load.groups());
    }
}
