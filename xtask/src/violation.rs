//! A rule that is broken, and where. A value, so that rules are tested without printing.

use std::fmt;

/// One place where one rule is broken.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Violation {
    /// The file, from the root of the workspace.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong, and where it is not obvious what to do instead.
    pub text: String,
}

impl Violation {
    /// A violation of `rule` at a line of a file.
    pub fn new(path: &str, line: usize, rule: &'static str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, text: text.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {} [{}]", self.path, self.line, self.text, self.rule)
    }
}

/// Prints what is broken, and answers whether nothing is.
pub fn report(violations: &[Violation]) -> bool {
    for violation in violations {
        println!("{violation}");
    }
    violations.is_empty()
}
