//! All that can be found of tests beside figures, in one place: `docs/findings.md` is written from this. The lists themselves
//! are the modes'.

use pathscope_core::finding::Finding as _;

pub use crate::finding::ModeFindings;
use crate::finding::{TestCaveat, TestCheck};
use crate::foreign::findings::ForeignCaveat;
use crate::search::findings::SearchCaveat;
use crate::{registry, search};

/// What can be found of any test, of each mode, of a search for a rate, and of a file of another tool.
pub fn all() -> impl Iterator<Item = ModeFindings> {
    let of = |mode, checks, caveats, limits| ModeFindings { mode, checks, caveats, limits };
    let any = of("any test", TestCheck::ALL, TestCaveat::ALL, &[]);
    let search = of("a search for a rate", &[], SearchCaveat::ALL, search::findings::LIMITS);
    let foreign = of("a file of another tool", &[], ForeignCaveat::ALL, &[]);
    [any].into_iter().chain(registry::FINDINGS.iter().copied()).chain([search, foreign])
}
