//! What a task says on standard output. Whoever reads it may go before the task ends: that is an error, and no panic.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context as _, Result};

/// Says a line.
pub fn say(line: impl Display) -> Result<()> {
    writeln!(io::stdout(), "{line}").context("write to standard output")
}

/// Says why a task failed: where nobody reads standard output, on standard error.
pub fn complain(error: &anyhow::Error) {
    let line = format!("failed to {error:#}");
    if writeln!(io::stdout(), "{line}").is_err() {
        // Where nobody reads that either, the exit code says it.
        let _ = writeln!(io::stderr(), "{line}");
    }
}
