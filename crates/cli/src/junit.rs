//! Checks as test cases of `JUnit`'s XML, which CI systems show: a suite for each measurement, a case for each check.
//!
//! What the form is: the schema of Jenkins' xUnit plugin, as `quick-junit` writes it.

use std::path::Path;
use std::time::Duration;

use pathscope_core::error::Failure;
use pathscope_core::quantity::named;
use pathscope_core::record::Check;
use pathscope_modes::compared::ComparisonDocument;
use pathscope_modes::document::{Document, servers};
use pathscope_os::outlets::explain;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::Trouble;
use crate::files::Destination;

/// A file for test cases, where one is wanted.
pub struct JunitFile {
    name: String,
    destination: Destination,
}

impl JunitFile {
    /// Makes sure that it can be written before anything is measured.
    pub fn prepare(path: Option<&Path>) -> Result<Option<Self>, Trouble> {
        let prepare = |path: &Path| {
            let destination = Destination::prepare("--junit", path)?;
            Ok(Self { name: named(path), destination })
        };
        path.map(prepare).transpose()
    }

    /// Writes it.
    pub fn write(mut self, report: &Report) -> Result<(), Trouble> {
        let failed =
            |why: &str| Trouble::new(Failure::Output, format!("cannot write {}: {why}", self.name));
        let text = report.to_string().map_err(|error| failed(&error.to_string()))?;
        let written = self.destination.write(text.trim_end());
        written.map_err(|error| failed(&explain(&error)))
    }
}

/// The checks of all measurements; and how the run ended, as a case of its own, since a run that was cut short has checked nothing of what
/// was left.
pub fn of_run(document: &Document) -> Report {
    let mut report = Report::new(format!("pathscope {}", document.kind));
    for part in document.of_each_server() {
        let is_one_of_several = !document.servers.is_empty();
        for measurement in &part.measurements {
            let of_server = || servers::named(measurement, part.target.as_deref());
            let name = if is_one_of_several { of_server() } else { measurement.name.clone() };
            let mut suite = suite(&name, &measurement.checks);
            suite.set_time(Duration::from_nanos(measurement.duration_ns));
            report.add_test_suite(suite);
        }
    }
    let together = document.together.iter().filter(|together| !together.checks.is_empty());
    together.for_each(|together| {
        report.add_test_suite(suite(servers::ALL, &together.checks));
    });
    let reason = document.outcome.reason.as_deref();
    let status = reason.map_or_else(TestCaseStatus::success, |reason| {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(reason);
        status
    });
    let mut run = TestSuite::new("run");
    run.add_test_case(TestCase::new("came to its planned end", status));
    report.add_test_suite(run);
    report.set_time(Duration::from_nanos(document.duration_ns));
    report
}

/// What was not to move.
pub fn of_comparison(document: &ComparisonDocument) -> Report {
    let mut report = Report::new("pathscope compare");
    report.add_test_suite(suite("comparison", &document.checks));
    report
}

fn suite(name: &str, checks: &[Check]) -> TestSuite {
    let mut suite = TestSuite::new(name);
    for check in checks {
        // What is asserted of a figure is told apart by its words, and other checks by their names: theirs differ from run to run.
        let asked = check.text.split_once(": ").map_or(check.text.as_str(), |(asked, _)| asked);
        let is_asked = ["asserted", "not_changed"].contains(&check.name.as_str());
        let case = if is_asked { asked } else { &check.name };
        let mut status = TestCaseStatus::success();
        if check.has_failed() {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(check.text.as_str());
        } else if check.is_unknown() {
            // It can neither fail nor succeed with such a peer, and its readers know that as a case that was skipped.
            status = TestCaseStatus::skipped();
            status.set_message(check.text.as_str());
        }
        let mut case = TestCase::new(case, status);
        case.set_classname(name);
        suite.add_test_case(case);
    }
    suite
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_can_know_is_a_case_that_was_skipped() {
        let check = |name: &str, passed| Check {
            name: name.to_owned(),
            passed,
            text: format!("why {name}"),
            remedy: None,
        };
        let checks = [check("a", Some(true)), check("b", None), check("c", Some(false))];
        let suite = suite("goodput", &checks);
        assert_eq!((suite.tests, suite.skipped, suite.failures, suite.errors), (3, 1, 1, 0));
        let mut report = Report::new("pathscope");
        report.add_test_suite(suite);
        let text = report.to_string().expect("it is XML");
        assert!(text.contains("<skipped message=\"why b\"/>"), "{text}");
    }
}
