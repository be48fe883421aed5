//! `pathscope survey`: tests of several modes, one after the other.

use clap::Args;
use pathscope_core::quantity::{Frequency, Period};

use crate::command::{Command, Facts, Files, Prepared, Refusal};
use crate::follow_up::Tests;
use crate::latency::LatencyPlan;
use crate::survey::{self, SurveyOptions};

/// What was typed.
#[derive(Args, Debug)]
pub struct SurveyCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT [default: one inside this process]")]
    host: Option<String>,
    /// Connections of each load
    #[arg(short = 'c', long, value_name = "N", default_value_t = 8)]
    connections: u32,
    /// How long each of the four steps lasts
    #[arg(short = 't', long, value_name = "TIME", default_value_t = survey::STEP)]
    duration: Period,
    /// Congestion control at both ends [default: each system's own]
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Latency probes a second, idle and beside each load
    #[arg(long, value_name = "N/s", default_value_t = survey::PROBE_RATE)]
    probe_rate: Frequency,
}

impl Command for SurveyCommand {
    type Tests = Tests;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Tests>, Refusal> {
        let instead = "leave the option out for what is usual";
        let options = SurveyOptions {
            connections: self.connections,
            duration: self.duration,
            probe_rate: LatencyPlan::probe_rate(self.probe_rate, instead)?,
            report_every: facts.report_every,
            congestion_control: self.congestion,
        };
        let tests = survey::tests(&options);
        Ok(Prepared {
            hosts: self.host.into_iter().collect(),
            announcement: Some(survey::announcement(&options, &tests)),
            files: Files { leaves_result: true, ..Files::default() },
            tests: Tests { are_compared: true, ..tests.into() },
        })
    }
}
