//! `pathscope survey`: tests of several modes, one after the other.

use clap::Args;

use crate::command::{Command, Facts, Files, Prepared, Refusal};
use crate::follow_up::Tests;
use crate::latency::LatencyPlan;
use crate::survey::{self, SurveyOptions};

/// What was typed.
#[derive(Args, Debug)]
pub struct SurveyCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT [default: one inside this process]")]
    host: Option<String>,
    #[command(flatten)]
    options: SurveyOptions,
}

impl Command for SurveyCommand {
    type Tests = Tests;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Tests>, Refusal> {
        let instead = "leave the option out for what is usual";
        LatencyPlan::probe_rate(self.options.probe_rate, instead)?;
        let tests = survey::tests(&self.options, facts.report_every);
        Ok(Prepared {
            hosts: self.host.into_iter().collect(),
            announcement: Some(survey::announcement(&self.options, &tests)),
            probe_server: None,
            files: Files { leaves_result: true, ..Files::default() },
            tests: Tests { are_compared: true, ..tests.into() },
        })
    }
}
