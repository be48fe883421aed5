//! How a step went, and what that adds to the count.

/// How a step went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// In order.
    Passed,
    /// Not in order; why, if its output does not say.
    Failed(Option<String>),
    /// It could not run here, because …
    Skipped(String),
    /// Many things were tried.
    Counted(Tally),
}

impl Outcome {
    /// Passed or failed, where the step's own output says why.
    pub const fn of(in_order: bool) -> Self {
        if in_order { Self::Passed } else { Self::Failed(None) }
    }

    /// Failed, for this reason.
    pub fn failed(why: &str) -> Self {
        Self::Failed(Some(why.to_owned()))
    }

    /// What it adds to the count; notes and faults begin with the step's name.
    pub fn tally(self, step: &str) -> Tally {
        match self {
            Self::Passed => Tally { passed: 1, ..Tally::default() },
            Self::Failed(why) => Tally {
                failed: 1,
                faults: vec![why.map_or_else(
                    || format!("{step}: failed, as its output says"),
                    |why| format!("{step}: failed to {why}"),
                )],
                ..Tally::default()
            },
            Self::Skipped(why) => Tally {
                skipped: 1,
                notes: vec![format!("{step}: skipped, because {why}")],
                ..Tally::default()
            },
            Self::Counted(tally) => tally,
        }
    }
}

/// How many things passed, failed and could not run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Ran, and held.
    pub passed: usize,
    /// Ran, and did not hold.
    pub failed: usize,
    /// Could not run here.
    pub skipped: usize,
    /// Why, for each that was skipped.
    pub notes: Vec<String>,
    /// What failed, and the end of what it said: the whole output may be long, or cut by whoever shows it.
    pub faults: Vec<String>,
}

impl Tally {
    /// Both together.
    pub fn plus(mut self, other: &Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.notes.extend_from_slice(&other.notes);
        self.faults.extend_from_slice(&other.faults);
        self
    }
}
