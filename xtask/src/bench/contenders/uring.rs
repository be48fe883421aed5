//! The instrument whose client hands its operations to a ring (`uring`), to be held against itself with the engine that it takes by
//! itself: `--subject uring --against pathscope`. Never an opponent unless it is named.

use super::pathscope::PATHSCOPE;
use super::{Contender, pathscope, words};

pub const URING: Contender = Contender {
    name: "uring",
    client: |setting| [&pathscope::client(setting)[..], &words("--engine uring")].concat(),
    ..PATHSCOPE
};
