//! What the threads of a run tell each other: a session's inbox, how the opener of connections and the workers report to it,
//! and who is counted meanwhile. Not what is done about it.

pub(crate) mod asking;
pub(crate) mod attendance;
pub(crate) mod door;
pub(crate) mod handing;
pub(crate) mod inbox;
pub(crate) mod outcome;
pub(crate) mod pages;
pub(crate) mod replacements;
