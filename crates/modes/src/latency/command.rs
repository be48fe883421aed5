//! `pathscope latency`: one test, and the files that its pings can be written to.

use std::path::PathBuf;

use clap::Args;

use super::{LatencyArgs, LatencyPlan};
use crate::command::{Command, Each, Facts, Files, Plans, Prepared, Refusal};

/// What was typed.
#[derive(Args, Debug)]
pub struct LatencyCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT")]
    host: String,
    /// What is measured
    #[command(flatten)]
    mode: LatencyArgs,
    /// Also write each measured ping, lost ones included, as a row of CSV, or of Parquet where its name ends in
    /// .parquet, to this file
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Also write how often each latency was measured, in lagscope's JSON, to this file
    #[arg(long, value_name = "FILE")]
    frequency_file: Option<PathBuf>,
    /// Also write each latency in whole microseconds, in lagscope's CSV, to this file
    #[arg(long, value_name = "FILE")]
    latency_file: Option<PathBuf>,
    /// Also show each ping when it has ended, as a line on standard output; beside --json-stream, as a line of JSON
    #[arg(long)]
    each: bool,
}

impl Command for LatencyCommand {
    type Tests = Plans<LatencyPlan>;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal> {
        let mut mode = self.mode;
        mode.sockets.settle(facts.machine)?;
        if mode.says_no_size() {
            mode.size = facts.servers.ping_bytes(&self.host)?;
        }
        if mode.wants_seed() {
            // 32 bits, which read well in a document.
            mode.seed = Some((facts.random)()? >> 32);
        }
        let tests = vec![("latency".to_owned(), mode.into_plan()?)];
        let files = Files {
            samples: self.samples.map(|file| ("--samples", file)),
            frequencies: self.frequency_file.map(|file| ("--frequency-file", file)),
            each: Each {
                is_shown: self.each,
                latencies: self.latency_file.map(|file| ("--latency-file", file)),
            },
            ..Files::default()
        };
        Ok(Prepared {
            hosts: vec![self.host],
            tests,
            announcement: None,
            probe_server: None,
            files,
        })
    }
}
