//! `pathscope toy`: one test, and the file that its numbers can be written to.

use std::path::PathBuf;

use clap::Args;

use super::args::ToyArgs;
use super::plan::ToyPlan;
use crate::command::{Command, Facts, Files, Plans, Prepared, Refusal};

/// What was typed.
#[derive(Args, Debug)]
pub struct ToyCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT")]
    host: String,
    /// What is measured
    #[command(flatten)]
    mode: ToyArgs,
    /// Also write each number that left, as a row of CSV, to this file
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
}

impl Command for ToyCommand {
    type Tests = Plans<ToyPlan>;

    fn prepare(self, _: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal> {
        let plan = self.mode.into_plan()?;
        let samples = self.samples.map(|file| ("--samples", file));
        Ok(Prepared {
            hosts: vec![self.host],
            tests: vec![("toy".to_owned(), plan)],
            announcement: None,
            probe_server: None,
            files: Files { samples, ..Files::default() },
        })
    }
}
