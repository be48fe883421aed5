//! A survey: latency idle, then goodput up, down and both ways, each with latency beside it.

use std::fmt::Write as _;

use pathscope_core::Wait;
use pathscope_core::quantity::{Bytes, Frequency, Period, bit_rate, count, counted, duration_ns};

use crate::goodput::{GoodputPlan, Pace, Shape};
use crate::groups::Test;
use crate::latency::{self, LatencyPlan};
use crate::load::{Extent, Pattern, Verify};
use crate::registry::Plan;
use crate::sockets::SocketPlan;
use clap::Args;

/// Probes a second unless something else is asked for: in a step of the usual length more than the 1,000 that a p99 needs, also
/// where a quarter of them is lost.
pub const PROBE_RATE: Frequency = Frequency(250);
/// How long a step lasts unless something else is asked for.
pub const STEP: Period = Period::from_secs(6);
/// Headers that a ping has on the way, over IPv4.
const IP_AND_UDP_BYTES: u64 = 28;

/// What a survey can be told.
#[derive(Args, Clone, Debug)]
pub struct SurveyOptions {
    /// Connections of each load
    #[arg(short = 'c', long, value_name = "N", default_value_t = 8)]
    pub connections: u32,
    /// How long each of the four steps lasts
    #[arg(short = 't', long, value_name = "TIME", default_value_t = STEP)]
    pub duration: Period,
    /// Congestion control at both ends [default: each system's own]
    #[arg(long = "congestion", value_name = "NAME")]
    pub congestion_control: Option<String>,
    /// Latency probes a second, idle and beside each load
    #[arg(long, value_name = "N/s", default_value_t = PROBE_RATE)]
    pub probe_rate: Frequency,
}

/// The tests of a survey with their names, in order. Idle and loaded latency are measured by as many probes of the same size, so
/// that they can be compared.
pub fn tests(options: &SurveyOptions, report_every: Period) -> Vec<(String, Test)> {
    let probe = LatencyPlan::probe(options.probe_rate);
    let idle =
        LatencyPlan { extent: latency::Extent::DurationNs(options.duration), ..probe.clone() };
    let idle = Test::new(idle.into(), None, report_every);
    let load =
        |pattern| Test::new(load(options, pattern).into(), Some(probe.clone()), report_every);
    vec![
        ("latency idle".to_owned(), idle),
        ("goodput up".to_owned(), load(Pattern::Push)),
        ("goodput down".to_owned(), load(Pattern::Pull)),
        ("goodput both ways".to_owned(), load(Pattern::Duplex)),
    ]
}

/// What a survey is about to do, a line for each step: whoever waits for it knows for what, and how long.
pub fn announcement(options: &SurveyOptions, tests: &[(String, Test)]) -> String {
    let steps = tests.len() as u64;
    let each = options.duration.0;
    let mut text = format!(
        "survey: {steps} steps of {} each, {} in all and some seconds to set up:\n",
        duration_ns(each),
        duration_ns(each.saturating_mul(steps))
    );
    let widest = tests.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (number, (name, test)) in (1..).zip(tests) {
        let what = match &test.plan {
            Plan::Latency(_) => "round trips while nothing else is sent",
            Plan::Goodput(GoodputPlan { pattern: Pattern::Push, .. }) => "to the server",
            Plan::Goodput(GoodputPlan { pattern: Pattern::Pull, .. }) => "from the server",
            _ => "both at once",
        };
        let connections = match &test.plan {
            Plan::Goodput(plan) => {
                format!("{}, ", counted(plan.connections.into(), "TCP connection"))
            }
            _ => String::new(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {number}  {name:widest$}  {connections}{what}");
    }
    let rate = options.probe_rate;
    let size = LatencyPlan::probe(rate).size_bytes.0 + IP_AND_UDP_BYTES;
    let load = bit_rate((size * 8).saturating_mul(rate.0) as f64);
    let pings = count(rate.0);
    let _ = write!(text, "  in each: {pings} pings a second over UDP for the RTT, {load} each way");
    text
}

fn load(options: &SurveyOptions, pattern: Pattern) -> GoodputPlan {
    GoodputPlan {
        pattern,
        connections: options.connections,
        extent: Extent::DurationNs(options.duration),
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
    use pathscope_core::stats::samples_needed;

    use super::*;

    const EACH_SECOND: Period = Period::from_secs(1);
    const USUAL: SurveyOptions = SurveyOptions {
        connections: 8,
        duration: STEP,
        probe_rate: PROBE_RATE,
        congestion_control: None,
    };

    #[test]
    fn the_usual_probes_of_a_step_are_enough_for_a_p99() {
        for (name, test) in tests(&USUAL, EACH_SECOND) {
            let warm_up_ns = match &test.plan {
                Plan::Goodput(plan) => plan.warm_up_ns.0,
                _ => 0,
            };
            let samples = (STEP.0 - warm_up_ns) / PROBE_RATE.period_ns();
            assert!(samples * 3 / 4 >= samples_needed(99.0), "{name}: {samples}");
        }
    }

    #[test]
    fn a_survey_says_what_it_will_do_and_how_long_that_takes() {
        assert_eq!(
            announcement(&USUAL, &tests(&USUAL, EACH_SECOND)),
            "survey: 4 steps of 6 s each, 24 s in all and some seconds to set up:
  1  latency idle       round trips while nothing else is sent
  2  goodput up         8 TCP connections, to the server
  3  goodput down       8 TCP connections, from the server
  4  goodput both ways  8 TCP connections, both at once
  in each: 250 pings a second over UDP for the RTT, 184.0 kbit/s each way"
        );
    }

    #[test]
    fn every_step_of_a_survey_is_a_valid_test() {
        let options = USUAL;
        let tests = tests(&options, EACH_SECOND);
        assert_eq!(tests.len(), 4);
        for (name, test) in tests {
            assert_eq!(test.validate(), Ok(()), "{name}");
        }
    }
}
