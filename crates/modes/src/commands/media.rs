//! `pathscope media`: the same streams once or several times, and the files that frames and streams can be written to.

mod again;

use std::path::PathBuf;

use clap::Args;
use pathscope_core::error::Failure;
use pathscope_core::quantity::Period;

use self::again::Times;
use crate::command::{Command, Each, Facts, Files, JournalArgs, JournalSubject, Prepared, Refusal};
use crate::follow_up::Tests;
use crate::media::MediaArgs;
use crate::mode::Mode as _;
use crate::sockets::settle;

/// What was typed.
#[derive(Args, Debug)]
pub struct MediaCommand {
    #[arg(
        required = true,
        value_name = "HOST",
        help = "Server, as HOST, HOST:PORT or [IPV6]:PORT; several names or addresses of one server: streams come from all of its \
                addresses, in turns; names of several servers: the test runs with each, from one start on"
    )]
    hosts: Vec<String>,
    /// What is measured
    #[command(flatten)]
    mode: MediaArgs,
    /// How often all streams are asked for, again when they have ended: a number up to 1000, or forever
    #[arg(long, value_name = "N", default_value = "1")]
    iterations: String,
    /// The time of all streams that follow one another; the last is cut to it
    #[arg(long, value_name = "TIME")]
    time_limit: Option<Period>,
    /// Also write each frame that this end received, as a row of CSV, or of Parquet where its name ends in
    /// .parquet, to this file
    #[arg(long, value_name = "FILE")]
    jitter_file: Option<PathBuf>,
    /// Also show each frame that this end received when it has ended, as a line on standard output; beside --json-stream, as a line of JSON
    #[arg(long)]
    each: bool,
    /// What is written while it runs
    #[command(flatten)]
    journal: JournalArgs,
}

impl Command for MediaCommand {
    type Tests = Tests;

    fn prepare(self, facts: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal> {
        let mut mode = self.mode;
        settle(&mut mode.bind, &mut mode.interface, facts.machine)?;
        let plan = mode.into_plan()?;
        if self.jitter_file.is_some() && !plan.is_down() {
            let text = "--jitter-file holds the frames that this end receives, and with --direction up it \
                        receives none; leave one of them out";
            return Err(Refusal { failure: Failure::Usage, text: text.to_owned() });
        }
        let times = Times::of(&self.iterations)?;
        let tests = again::tests(&plan, times, self.time_limit, facts.report_every)?;
        let files = Files {
            samples: self.jitter_file.map(|file| ("--jitter-file", file)),
            journal: Some((JournalSubject::Streams, self.journal)),
            each: Each { is_shown: self.each, latencies: None },
            ..Files::default()
        };
        Ok(Prepared {
            hosts: self.hosts,
            tests,
            announcement: Some(format!("media: {}", plan.subtitle())),
            probe_server: None,
            files,
        })
    }
}
