//! What is written down of a run: rows while it goes on, samples one by one, times at which the program stood still, what the
//! machine does.

pub(crate) mod activity;
pub(crate) mod confirmation;
pub mod journal;
pub(crate) mod ledger;
pub(crate) mod lookout;
pub(crate) mod names;
pub(crate) mod newcomers;
mod places;
pub mod samples;
