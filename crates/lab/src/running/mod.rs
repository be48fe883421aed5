//! A lab that stands: where it is written down, how its keeper is asked, how its nodes are entered,
//! and how it is taken down, also where its keeper is gone.
//!
//! Not here: building one (`keeper`).

mod control;
mod enter;
mod leftovers;
mod registry;

use std::io;
use std::path::PathBuf;

use pathscope_os::OsError;

pub use control::{Answer, Request, SetOrder};
pub(crate) use control::{GOING, reply};
pub use enter::enter;
pub use leftovers::{Down, Left, down, end_programs};
pub(crate) use leftovers::{clear_for_another, forget, mark};
pub(crate) use registry::Hold;
pub use registry::{NodePlace, Registry, RunningLab, Shaper, ask, fresh_token};

/// Variables that every program on a node finds in its environment.
pub const TOKEN_VARIABLE: &str = "PATHSCOPE_LAB_TOKEN";
/// The lab's name.
pub const LAB_VARIABLE: &str = "PATHSCOPE_LAB";
/// The node's name.
pub const NODE_VARIABLE: &str = "PATHSCOPE_NODE";
/// The folder of the registry that the lab is written down in.
pub const REGISTRY_VARIABLE: &str = "PATHSCOPE_LAB_REGISTRY";

/// Something that could not be done with a lab that stands, or should.
#[derive(Debug, thiserror::Error)]
pub enum RunningLabError {
    /// There is no lab of this name.
    #[error("no lab is up by the name of {name}; {there}")]
    NoSuchLab {
        /// As typed.
        name: String,
        /// Those that are up, in words.
        there: String,
    },
    /// No name was given and the choice is not clear.
    #[error("{there}; name one with --lab")]
    WhichLab {
        /// Those that are up, in words.
        there: String,
    },
    /// No lab is up.
    #[error("no lab is up; start one with: pathscope lab up FILE")]
    NoLab,
    /// The name is taken.
    #[error(
        "a lab by the name of {name} is up already, or being built; take it down with 'pathscope lab \
             down {name}', or give this one another with --lab"
    )]
    NameInUse {
        /// The name.
        name: String,
    },
    /// It is claimed, and its description not written.
    #[error(
        "lab {name} is not up yet: it is being built, or its keeper was killed meanwhile; wait for \
             its 'pathscope lab up', or clear what is left with 'pathscope lab down {name}'"
    )]
    Unfinished {
        /// The name.
        name: String,
    },
    /// It is to be taken down before it is up.
    #[error(
        "lab {name} is being built, so it cannot be taken down yet; end its 'pathscope lab up' with \
             Ctrl-C, or try again once it is up"
    )]
    BeingBuilt {
        /// The name.
        name: String,
    },
    /// Its keeper does not let go.
    #[error(
        "the keeper of lab {name} does not end, and its description cannot be used ({trouble}); find \
             the process 'pathscope lab keep' and kill it, then repeat 'pathscope lab down {name}'"
    )]
    Stubborn {
        /// The name.
        name: String,
        /// What it did, or what is wrong with the description.
        trouble: String,
    },
    /// The lab has no such node.
    #[error("lab {lab} has no node {node}; it has {there}")]
    NoSuchNode {
        /// The lab.
        lab: String,
        /// As typed.
        node: String,
        /// Those it has.
        there: String,
    },
    /// Its keeper did not answer, or not as it should.
    #[error(
        "the keeper of lab {lab} (process {keeper}) {trouble}; 'pathscope lab down {lab}' clears \
             what is left"
    )]
    Keeper {
        /// The lab.
        lab: String,
        /// Its process.
        keeper: u32,
        /// What it did.
        trouble: String,
    },
    /// It refused, and says why.
    #[error("{0}")]
    Refused(String),
    /// A file of the lab.
    #[error("cannot {what} {}: {source}", .path.display())]
    File {
        /// `read`, `write`, ….
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system.
    #[error(transparent)]
    Os(#[from] OsError),
}

impl RunningLabError {
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
