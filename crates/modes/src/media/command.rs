//! `pathscope media`: the same test once or several times, and the files that frames and streams can be written to.

use std::path::PathBuf;

use clap::Args;
use pathscope_core::error::Failure;

use super::{MediaArgs, MediaPlan};
use crate::command::{
    Command, Facts, Files, JournalArgs, JournalSubject, Plans, Prepared, Refusal,
};
use crate::mode::Mode as _;

/// What was typed.
#[derive(Args, Debug)]
pub struct MediaCommand {
    #[arg(help = "Server, as HOST, HOST:PORT or [IPV6]:PORT")]
    host: String,
    /// What is measured
    #[command(flatten)]
    mode: MediaArgs,
    /// How often all of it is done, one run after the other
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1_000)
    )]
    iterations: u32,
    /// Also write each frame that this end received, as a row of CSV, or of Parquet where its name ends in
    /// .parquet, to this file
    #[arg(long, value_name = "FILE")]
    jitter_file: Option<PathBuf>,
    /// What is written while it runs
    #[command(flatten)]
    journal: JournalArgs,
}

impl Command for MediaCommand {
    type Tests = Plans<MediaPlan>;

    fn prepare(self, _: &Facts<'_>) -> Result<Prepared<Self::Tests>, Refusal> {
        let plan = self.mode.into_plan()?;
        if self.jitter_file.is_some() && !plan.is_down() {
            let text = "--jitter-file holds the frames that this end receives, and with --direction up it \
                        receives none; leave one of them out";
            return Err(Refusal { failure: Failure::Usage, text: text.to_owned() });
        }
        let name = |number| match self.iterations {
            1 => "media".to_owned(),
            all => format!("media {number} of {all}"),
        };
        let files = Files {
            samples: self.jitter_file.map(|file| ("--jitter-file", file)),
            journal: Some((JournalSubject::Streams, self.journal)),
            ..Files::default()
        };
        Ok(Prepared {
            hosts: vec![self.host],
            tests: (1..=self.iterations).map(|number| (name(number), plan.clone())).collect(),
            announcement: Some(format!("media: {}", plan.subtitle())),
            files,
        })
    }
}
