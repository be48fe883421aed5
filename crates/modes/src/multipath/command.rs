//! `pathscope multipath`: one test, and the file that its datagrams can be written to.

use std::path::PathBuf;

use clap::Args;

use super::{MultipathArgs, MultipathPlan};
use crate::command::{Command, Facts, Files, Plans, Prepared, Refusal};
use crate::sockets::interface_of;

/// What was typed.
#[derive(Args, Debug)]
pub struct MultipathCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT")]
    host: String,
    /// What is measured
    #[command(flatten)]
    mode: MultipathArgs,
    /// Also write the stamps of each datagram on each path as a row of CSV, or of Parquet where its name ends in
    /// .parquet, to this file
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
}

impl Command for MultipathCommand {
    type Tests = Plans<MultipathPlan>;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal> {
        let mut mode = self.mode;
        for path in &mut mode.paths {
            let typed = std::mem::take(path);
            *path = interface_of(typed, facts.machine).map_err(|why| why.of("--path"))?;
        }
        let plan = mode.into_plan((facts.interfaces)()?)?;
        let samples = self.samples.map(|file| ("--samples", file));
        Ok(Prepared {
            hosts: vec![self.host],
            tests: vec![("multipath".to_owned(), plan)],
            announcement: None,
            probe_server: None,
            files: Files { samples, ..Files::default() },
        })
    }
}
