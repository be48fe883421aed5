//! Another build of the instrument, named with `--earlier`: what a change has cost. Never an opponent unless it is
//! named: `--earlier OLD --against earlier`.

use super::pathscope::PATHSCOPE;
use super::{Contender, Program};

pub const EARLIER: Contender =
    Contender { name: "earlier", program: Program::Earlier, ..PATHSCOPE };
