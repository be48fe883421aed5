//! All tests, and what their output says of them.
//!
//! A test that cannot run here prints a line `skipped, because …` and returns, which the test harness
//! counts as passed. We count it as what it is, beside those that are `#[ignore]`d, and list why.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};

use super::outcome::{Outcome, Tally};
use crate::cargo;

const SKIP_MARK: &str = "skipped, because ";

/// Tests at once, for each processor: those of the binary wait for clocks most of their time. All of them take half the time
/// so on two processors.
const THREADS_PER_CPU: usize = 3;

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Lines of a failed test's output that are told again at the end: its panic and what is asserted stand first.
const FAULT_LINES: usize = 30;

/// Runs all tests of the workspace.
pub fn run(root: &Path) -> Result<Outcome> {
    let mut command = cargo::cargo(root);
    let threads = format!("--test-threads={}", THREADS_PER_CPU * cpus());
    // The output of tests that passed is shown, or their reasons to skip would be lost.
    command.args(["test", "--workspace", "--no-fail-fast", "--", "--show-output", &threads]);
    println!("{}", cargo::words(&command));
    let mut child = command.stdout(Stdio::piped()).spawn().context("run cargo test")?;
    let output = child.stdout.take().context("read the output of cargo test")?;
    let mut reader = Reader::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("read the output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        reader.read(&line);
    }
    let status = child.wait().context("wait for cargo test")?;
    Ok(Outcome::Counted(reader.finish(status.success())))
}

/// Reads the output of test harnesses line by line.
#[derive(Default)]
struct Reader {
    tally: Tally,
    /// In the output of tests that passed.
    in_successes: bool,
    /// Whose output is being read.
    test: String,
    /// The last test that was counted as skipped: one that says so twice is still one.
    last_skipped: String,
    /// In the output of tests that failed.
    in_failures: bool,
    /// Lines told of the failed test whose output is being read.
    fault_lines: usize,
    /// Tests that said themselves that they did not run; the harness counts them as passed.
    declared_skips: usize,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let line = line.trim();
        match line {
            "successes:" => (self.in_successes, self.in_failures) = (true, false),
            "failures:" => (self.in_successes, self.in_failures) = (false, true),
            _ => {}
        }
        self.add_fault(line);
        if let Some(name) = output_head(line) {
            name.clone_into(&mut self.test);
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.add_result(counts);
        } else if let Some((test, reason)) = ignored(line) {
            let reason = reason.unwrap_or("it is ignored without a reason");
            self.tally.notes.push(format!("{test}: {SKIP_MARK}{reason}"));
        } else if let Some(reason) = line.strip_prefix(SKIP_MARK) {
            self.add_skip(reason);
        }
    }

    fn add_result(&mut self, counts: &str) {
        let counts = counts.split(['.', ';']).map(str::trim);
        for (count, what) in counts.filter_map(|part| part.split_once(' ')) {
            let Ok(count) = count.parse::<usize>() else { continue };
            match what {
                "passed" => self.tally.passed += count,
                "failed" => self.tally.failed += count,
                "ignored" => self.tally.skipped += count,
                _ => {}
            }
        }
        (self.in_successes, self.in_failures) = (false, false);
        self.last_skipped.clear();
    }

    /// A line about tests that failed: a name begins, or what it said goes on.
    fn add_fault(&mut self, line: &str) {
        if !self.in_failures {
            return;
        }
        if let Some(name) = output_head(line) {
            self.fault_lines = 0;
            self.tally.faults.push(format!("{name}: failed"));
        } else if line == "failures:" {
            // The list of names that follows has been told with what each said.
            self.fault_lines = FAULT_LINES;
        } else if let Some(fault) = self.tally.faults.last_mut()
            && !line.is_empty()
            && self.fault_lines < FAULT_LINES
        {
            self.fault_lines += 1;
            fault.push_str("\n    ");
            fault.push_str(line);
        }
    }

    fn add_skip(&mut self, reason: &str) {
        if !self.in_successes || self.last_skipped == self.test {
            return;
        }
        self.last_skipped.clone_from(&self.test);
        self.declared_skips += 1;
        self.tally.notes.push(format!("{}: {SKIP_MARK}{reason}", self.test));
    }

    /// `ended_well` is what cargo says: a harness that crashed has printed no counts.
    fn finish(mut self, ended_well: bool) -> Tally {
        self.tally.passed = self.tally.passed.saturating_sub(self.declared_skips);
        self.tally.skipped += self.declared_skips;
        if !ended_well && self.tally.failed == 0 {
            self.tally.failed = 1;
            self.tally.faults.push("cargo test failed outside of any test".to_owned());
        }
        self.tally
    }
}

/// The test whose output begins: `---- name stdout ----`.
fn output_head(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// A test that did not run, and the reason: `test name ... ignored, reason`.
fn ignored(line: &str) -> Option<(&str, Option<&str>)> {
    let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some((test, rest.strip_prefix(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(output: &str, ended_well: bool) -> Tally {
        let mut reader = Reader::default();
        output.lines().for_each(|line| reader.read(line));
        reader.finish(ended_well)
    }

    const TWO_HARNESSES: &str = "
running 4 tests
test a ... ok
test b ... ok
test c ... ignored, takes an hour
test d ... ok

successes:

---- b stdout ----
skipped, because there is no second core
skipped, because there is no second core

---- d stdout ----
we said: skipped, because that is how it goes

successes:
    a
    b
    d

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 2 tests
test b ... ok
test e ... FAILED

successes:

---- b stdout ----
skipped, because this is not Linux

failures:

---- e stdout ----
skipped, because it printed that and then failed

failures:
    e

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn a_test_that_says_it_was_skipped_did_not_pass() {
        let tally = tally(TWO_HARNESSES, false);
        assert_eq!((tally.passed, tally.failed, tally.skipped), (2, 1, 3));
        assert_eq!(
            tally.notes,
            [
                "c: skipped, because takes an hour",
                "b: skipped, because there is no second core",
                "b: skipped, because this is not Linux",
            ]
        );
    }

    #[test]
    fn a_test_that_failed_is_told_again_with_what_it_said() {
        assert_eq!(
            tally(TWO_HARNESSES, false).faults,
            ["e: failed\n    skipped, because it printed that and then failed"]
        );
        let long = TWO_HARNESSES.replace("skipped, because it printed", &"said\n".repeat(100));
        let faults = tally(&long, false).faults;
        assert_eq!(faults.len(), 1);
        assert_eq!(faults.concat().lines().count(), 1 + FAULT_LINES);
    }

    #[test]
    fn a_harness_that_crashed_is_a_failure() {
        let crashed = "running 2 tests\ntest a ... ok\n";
        assert_eq!(tally(crashed, false).failed, 1);
        assert_eq!(tally(crashed, false).faults, ["cargo test failed outside of any test"]);
        assert_eq!(tally(crashed, true).failed, 0);
    }
}
