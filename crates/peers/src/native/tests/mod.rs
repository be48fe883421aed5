//! Both ends against each other in virtual time.

mod between_callers;
mod document;
mod faults;
mod foreign;
mod order;
mod pair;
mod renewal;
mod resumption;
mod stops;
mod strangers;
mod transcripts;
