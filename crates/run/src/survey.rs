//! A survey: latency idle, then goodput up, down and both ways, each with latency beside it.

use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Frequency, Period};
use pathscope_modes::goodput::{self, GoodputPlan, Pace, Pattern, Shape, Verify};
use pathscope_modes::latency::{self, LatencyPlan};
use pathscope_modes::registry::{Plan, Test};
use pathscope_modes::sockets::SocketPlan;

/// What a survey can be told.
#[derive(Clone, Debug)]
pub struct SurveyOptions {
    /// Connections of each load.
    pub connections: u32,
    /// How long each step lasts.
    pub duration: Period,
    /// Latency probes, idle and beside each load.
    pub probe_rate: Frequency,
    /// From one live report to the next.
    pub report_every: Period,
    /// Congestion control at both ends; absent: each system's own.
    pub congestion_control: Option<String>,
}

/// The tests of a survey with their names, in order. Idle and loaded latency are measured alike, by
/// the same probes, so that they can be compared.
pub fn tests(options: &SurveyOptions) -> Vec<(String, Test)> {
    let probe = LatencyPlan::probe(options.probe_rate);
    let idle =
        LatencyPlan { extent: latency::Extent::DurationNs(options.duration), ..probe.clone() };
    let idle =
        Test { plan: Plan::Latency(idle), probe: None, report_every_ns: options.report_every };
    let load = |pattern| Test {
        plan: Plan::Goodput(load(options, pattern)),
        probe: Some(probe.clone()),
        report_every_ns: options.report_every,
    };
    vec![
        ("latency idle".to_owned(), idle),
        ("goodput up".to_owned(), load(Pattern::Push)),
        ("goodput down".to_owned(), load(Pattern::Pull)),
        ("goodput both ways".to_owned(), load(Pattern::Duplex)),
    ]
}

fn load(options: &SurveyOptions, pattern: Pattern) -> GoodputPlan {
    GoodputPlan {
        pattern,
        connections: options.connections,
        extent: goodput::Extent::DurationNs(options.duration),
        buffer_bytes: Bytes(512 << 10),
        push_bytes: Bytes(1 << 20),
        pull_bytes: Bytes(1 << 20),
        rate_bps: None,
        warm_up_ns: Period((options.duration.0 / 10).min(500_000_000)),
        verify: Verify::Full,
        congestion_control: options.congestion_control.clone(),
        engine: None,
        wait: Wait::Auto,
        shape: Shape::default(),
        sockets: pattern.sockets(SocketPlan::default()),
        pace: Pace::default(),
        client_cpus: Vec::new(),
        server_cpus: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_survey_is_a_valid_test() {
        let options = SurveyOptions {
            connections: 8,
            duration: Period::from_secs(6),
            probe_rate: Frequency(100),
            report_every: Period::from_secs(1),
            congestion_control: None,
        };
        let tests = tests(&options);
        assert_eq!(tests.len(), 4);
        for (name, test) in tests {
            assert_eq!(test.validate(), Ok(()), "{name}");
        }
    }
}
