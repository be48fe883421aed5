//! What happens during a run, as views hear of it.

use serde::Serialize;

use crate::error::Failure;
use crate::indented;
use crate::presentation::{Presentation, Row};
use crate::record::Caveat;

/// Something happened. Views show it; they are told everything in the order it happened.
#[derive(Clone, Copy)]
pub enum Event<'event> {
    /// The run begins: what will be measured.
    Started {
        /// Title and context.
        presentation: &'event Presentation,
        /// The same as data.
        record: &'event dyn Record,
    },
    /// One report interval of one measurement has passed.
    Interval {
        /// The measurement's name.
        measurement: &'event str,
        /// Of which server, in a run of several.
        server: Option<&'event str>,
        /// Its figures; without cells where there is nothing to show.
        row: &'event Row,
        /// The same as data.
        record: &'event dyn Record,
    },
    /// What all servers of a run did in one report interval: their rows, added up. Data have those of each.
    AllServers {
        /// The sums.
        row: &'event Row,
    },
    /// A measurement of a run that is made of trials has been judged.
    Trial {
        /// What it came to.
        row: &'event Row,
        /// The same as data.
        record: &'event dyn Record,
    },
    /// Something to mind, known while it runs.
    Note(&'event Caveat),
    /// The document so far, for whoever keeps it safe while the run goes on.
    Checkpoint {
        /// The document.
        record: &'event dyn Record,
    },
    /// The run has ended, well or not.
    Finished {
        /// All that was measured.
        presentation: &'event Presentation,
        /// The document.
        record: &'event dyn Record,
        /// What went wrong, if anything, as a sentence.
        failure: Option<(Failure, &'event str)>,
    },
}

/// Anything that can be written as JSON, behind a reference.
pub trait Record {
    /// As JSON text, on one line or laid out for people.
    fn to_json(&self, layout: Layout) -> Result<String, serde_json::Error>;
}

/// How JSON text is laid out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// On one line.
    Line,
    /// Indented, as far as one reads; what lies deeper on a line each.
    Indented,
}

impl<T: Serialize> Record for T {
    fn to_json(&self, layout: Layout) -> Result<String, serde_json::Error> {
        match layout {
            Layout::Line => serde_json::to_string(self),
            Layout::Indented => indented::to_string(self),
        }
    }
}
