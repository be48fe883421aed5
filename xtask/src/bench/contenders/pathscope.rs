//! The instrument itself, as a user runs it: probes off, every byte verified.

use anyhow::{Context as _, Result, ensure};
use pathscope_core::record::Check;
use pathscope_core::stats::LatencyFigures;
use pathscope_modes::document::Document;
use pathscope_modes::goodput::GoodputSummary;

use super::super::case::{Case, DATAGRAM_BYTES, Measure, PING_BYTES, REQUEST_BYTES};
use super::super::conditions::Conditions;
use super::super::outputs::Outputs;
use super::{Contender, Program, Setting, words};

/// Length of what a connection says before its request.
const OPENING_BYTES: usize = 48;

pub const PATHSCOPE: Contender = Contender {
    name: "pathscope",
    program: Program::Pathscope,
    measure,
    server: |setting| words(&format!("server --listen 127.0.0.1 --port {} --quiet", setting.port)),
    server_ends: |_| false,
    controls_by_tcp: true,
    is_timed: true,
    client,
    figure,
};

#[expect(clippy::unnecessary_wraps, reason = "the shape that every contender has")]
fn measure(case: &Case, _conditions: &Conditions) -> Option<Measure> {
    Some(match case {
        Case::Goodput { .. } | Case::Datagrams { .. } => Measure::GoodputBps,
        Case::Churn { .. } => Measure::ConnectionsPerSecond,
        Case::Requests { .. } => Measure::RequestsPerSecond,
        Case::Latency { .. } => Measure::MedianRttNs,
    })
}

pub(super) fn client(setting: &Setting<'_>) -> Vec<String> {
    let Setting { conditions, port, .. } = setting;
    let seconds = conditions.seconds;
    let common = format!("127.0.0.1 --port {port} --duration {seconds}s --json");
    match setting.case {
        Case::Goodput { connections, direction, write_bytes } => words(&format!(
            "goodput {common} --pattern {} --connections {connections} --buffer {write_bytes}B \
             --congestion {} --no-probe",
            direction.name(),
            conditions.congestion,
        )),
        Case::Datagrams { offload } => words(&format!(
            "goodput {common} --protocol udp --datagram {DATAGRAM_BYTES} --offload {} --no-probe",
            if offload { "auto" } else { "off" },
        )),
        Case::Churn { connections } => words(&format!(
            "goodput 127.0.0.1 --port {port} --json --quiet --connections {connections} --iterations forever \
             --transfer {} --time-limit {seconds}s --shutdown rude --no-probe",
            REQUEST_BYTES - OPENING_BYTES,
        )),
        Case::Requests { connections } => words(&format!(
            "latency {common} --connections {connections} --wait sleep --size {PING_BYTES}B"
        )),
        Case::Latency { protocol, wait } => words(&format!(
            "latency {common} --protocol {} --wait {} --size {PING_BYTES}B",
            protocol.name(),
            wait.name(),
        )),
    }
}

pub(super) fn figure(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    figure_where(Check::has_held, setting, outputs)
}

/// The figure of a run against another kind of peer, which leaves open what that peer does not tell.
pub(super) fn figure_beside_others(setting: &Setting<'_>, outputs: &Outputs) -> Result<f64> {
    figure_where(|check| !check.has_failed(), setting, outputs)
}

fn figure_where(
    is_good: fn(&Check) -> bool,
    setting: &Setting<'_>,
    outputs: &Outputs,
) -> Result<f64> {
    let document = Document::from_json(&outputs.client).context("read the document")?;
    let measured = document.measurements.first().context("find a measurement")?;
    ensure!(measured.checks.iter().all(is_good), "hold its checks");
    let summary = &measured.summary;
    let figure = match setting.measure {
        Measure::GoodputBps => match &summary.datagrams {
            Some(datagrams) => datagrams.up.as_ref().and_then(|up| up.goodput_bps),
            None => summary.goodput.as_ref().and_then(both_directions),
        },
        Measure::ConnectionsPerSecond => {
            summary.goodput.as_ref().and_then(|goodput| goodput.completed_per_second)
        }
        Measure::MedianRttNs => summary.latency.as_ref().and_then(|latency| median(&latency.rtt)),
        Measure::RequestsPerSecond => summary
            .latency
            .as_ref()
            .map(|latency| latency.rtt.count as f64 / f64::from(setting.conditions.seconds)),
        Measure::RoundTrips => summary.latency.as_ref().map(|latency| latency.rtt.count as f64),
        Measure::MeanRttNs => summary.latency.as_ref().and_then(|latency| latency.rtt.mean_ns),
    };
    figure.context("find the figure in the document")
}

/// What was received, both directions together; none where a direction of the plan tells nothing.
fn both_directions(goodput: &GoodputSummary) -> Option<f64> {
    let directions = [goodput.up, goodput.down].into_iter().flatten();
    let sum: Option<f64> = directions.map(|direction| direction.goodput_bps).sum();
    sum.filter(|sum| *sum > 0.0)
}

fn median(rtt: &LatencyFigures) -> Option<f64> {
    let median = rtt.percentiles.iter().find(|entry| entry.percent.total_cmp(&50.0).is_eq())?;
    median.value_ns.map(|value| value as f64)
}

#[cfg(test)]
mod tests {
    use pathscope_core::stats::LatencyHistogram;
    use pathscope_modes::goodput::DirectionSummary;

    use super::*;

    #[test]
    fn both_directions_are_added_and_none_is_made_up() {
        let direction = |bps| Some(DirectionSummary { goodput_bps: bps, ..Default::default() });
        let sum = |up, down| both_directions(&GoodputSummary { up, down, ..Default::default() });
        assert_eq!(sum(direction(Some(2e9)), direction(Some(1e9))), Some(3e9));
        assert_eq!(sum(direction(Some(2e9)), None), Some(2e9));
        assert_eq!(sum(direction(Some(2e9)), direction(None)), None);
        assert_eq!(sum(None, None), None);
    }

    #[test]
    fn the_median_is_the_document_s_own() {
        let mut histogram = LatencyHistogram::new();
        (0..100).for_each(|_| histogram.record(5_000));
        let median = median(&LatencyFigures::of(&histogram)).expect("plenty of samples");
        assert!((median - 5_000.0).abs() < 50.0, "{median}");
        assert_eq!(super::median(&LatencyFigures::of(&LatencyHistogram::new())), None);
    }
}
