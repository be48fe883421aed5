//! All that CI runs, nothing more and nothing less: the same command on a laptop and there.
//!
//! Every step runs, also after one that failed, and a table at the end says how each went. The last
//! line counts tests and steps together, each step other than the tests as one.

mod features;
mod machine;
mod outcome;
mod steps;
mod suite;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

pub use machine::find_program;
use outcome::{Outcome, Tally};
use steps::{STEPS, Step};

/// Which steps to run.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Run only these steps
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Also install pandas, Matplotlib and `LibreOffice` (1 GB), and run the tests that need them
    #[arg(long)]
    long: bool,
}

/// Runs the steps and answers whether nothing failed.
pub fn run(root: &Path, arguments: &Arguments) -> Result<bool> {
    let steps = chosen(&arguments.only, arguments.long)?;
    let reports: Vec<Report> = steps.into_iter().map(|step| carry_out(step, root)).collect();
    let total = reports.iter().fold(Tally::default(), |total, report| total.plus(&report.tally));
    print_table(&reports, &total);
    Ok(total.failed == 0)
}

/// How one step went.
struct Report {
    name: &'static str,
    took: Duration,
    tally: Tally,
}

fn chosen(only: &[String], long: bool) -> Result<Vec<&'static Step>> {
    let known = |name: &&String| STEPS.iter().any(|step| step.name == **name);
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        bail!("find the step `{unknown}`; there are: {}", names.join(", "));
    }
    let is_asked_for = |step: &Step| only.iter().any(|name| name == step.name);
    let is_of_all = |step: &Step| only.is_empty() && (long || !step.is_long);
    let is_chosen = |step: &&Step| is_of_all(step) || is_asked_for(step) || long && step.is_long;
    Ok(STEPS.iter().filter(is_chosen).collect())
}

fn carry_out(step: &'static Step, root: &Path) -> Report {
    println!("\n== {}: {}", step.name, step.purpose);
    let start = now();
    let outcome = (step.run)(root).unwrap_or_else(|error| Outcome::failed(&format!("{error:#}")));
    Report { name: step.name, took: start.elapsed(), tally: outcome.tally(step.name) }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a step took is for people, not a measurement"
)]
fn now() -> Instant {
    Instant::now()
}

fn print_table(reports: &[Report], total: &Tally) {
    println!("\n{:<10} {:>8} {:>8} {:>7} {:>8}", "step", "time", "passed", "failed", "skipped");
    for Report { name, took, tally } in reports {
        let seconds = took.as_secs_f64();
        let Tally { passed, failed, skipped, .. } = tally;
        println!("{name:<10} {seconds:>6.1} s {passed:>8} {failed:>7} {skipped:>8}");
    }
    for note in &total.notes {
        println!("{note}");
    }
    // Last, since the end of a long output is what is shown of it at the least.
    for fault in &total.faults {
        println!("\n{fault}");
    }
    println!("\n{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name_and_run_in_order() {
        let names = |only: &[&str], long| -> Result<Vec<&str>> {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            Ok(chosen(&only, long)?.into_iter().map(|step| step.name).collect())
        };
        assert_eq!(names(&["tests", "tidy"], false).expect("both exist"), ["tidy", "tests"]);
        assert_eq!(names(&["tests"], true).expect("both exist"), ["programs", "tests"]);
        assert_eq!(names(&[], true).expect("all").len(), STEPS.len());
        assert_eq!(names(&[], false).expect("all but one").len(), STEPS.len() - 1);
        assert!(names(&["tidings"], false).is_err_and(|error| error.to_string().contains("tidy")));
    }
}
