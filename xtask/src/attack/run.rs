//! One run of the hostile program against a server, and what it says of itself.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::samples::Sample;
use crate::ends::End;

/// A run of it against a server.
pub struct Attack {
    pub end: End,
    pub output: Option<String>,
}

/// What an attack says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Told {
    /// What happened how often.
    pub counts: std::collections::BTreeMap<String, u64>,
    /// Bounds that it saw broken, as sentences.
    pub broken: Vec<String>,
}

impl Attack {
    /// Its processor time so far.
    pub fn processor_ticks(&self) -> Option<u64> {
        Sample::of(self.end.id()).ok().map(|sample| sample.processor_ticks)
    }

    /// Whether it has ended, after a look of that length.
    pub fn has_ended(&mut self, within: Duration) -> bool {
        if self.output.is_none() {
            self.output = self.end.output_if_ended(within);
        }
        self.output.is_some()
    }

    /// What it says of itself.
    pub fn told(self) -> Result<Told> {
        let output = self.output.unwrap_or_default();
        let line = output.lines().next().unwrap_or_default();
        let mut told: Told =
            serde_json::from_str(line).with_context(|| format!("read what it says: {output}"))?;
        told.broken.extend(output.lines().nth(1).map(str::to_owned));
        Ok(told)
    }
}
