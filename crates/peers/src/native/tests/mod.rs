//! Both ends against each other in virtual time.

mod faults;
mod order;
mod pair;
mod stops;
mod strangers;
