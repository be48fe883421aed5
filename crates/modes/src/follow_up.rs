//! Tests that follow from what was measured: a run whose list is not known when it begins. Not what they look
//! for, which is a mode's, nor how they are run.

use pathscope_core::event::Record;
use pathscope_core::presentation::Row;
use pathscope_core::record::Remarks;

use crate::document::Document;
use crate::groups::Test;

/// What a run measures.
pub struct Tests {
    /// The tests that are known when it begins, with their names and in order.
    pub list: Vec<(String, Test)>,
    /// What follows from them; none: nothing does.
    pub follow_up: Option<Box<dyn FollowUp>>,
    /// Whether they are compared with each other, as the steps of a survey: all go to one address of the server, and what
    /// the pings of any of them go over is not asked for by name.
    pub are_compared: bool,
    /// What their server is told beside, where its kind has words for that.
    pub remarks: Remarks,
}

impl From<Vec<(String, Test)>> for Tests {
    fn from(list: Vec<(String, Test)>) -> Self {
        Self { list, follow_up: None, are_compared: false, remarks: Remarks::default() }
    }
}

/// Asked after each measurement what it means, and what is measured next. A run with a follow-up shows a row for
/// each measurement in place of those of its intervals.
pub trait FollowUp {
    /// What may follow, in a few words, for whoever looks at a plan.
    fn ahead(&self) -> String;

    /// Every test that is known before any has run, each once and with its name, for whoever looks at a plan; none: those that the run begins with
    /// are all.
    fn planned(&self) -> Vec<(String, Test)> {
        Vec::new()
    }

    /// Tests that are known already and were not handed out yet.
    fn known(&mut self) -> Vec<&mut Test> {
        Vec::new()
    }

    /// The last measurement of `document` has come to its planned end. What follows from all of them may be
    /// written into the document.
    fn follow(&mut self, document: &mut Document) -> Step;
}

/// What follows from a measurement.
pub struct Step {
    /// What it means, in a row.
    pub row: Row,
    /// The same as data.
    pub record: Box<dyn Record>,
    /// The next test and its name; none: there is no more to measure.
    pub next: Option<(String, Test)>,
}
