//! The paths of a multipath test at its client: which interfaces reach the server, a socket on each, and what
//! happens to them while the test runs. One thread keeps them; nothing here is on the way of a datagram.
//!
//! A path is an interface. It comes up as a lane when the server has answered on the very socket that the lane will
//! use, and goes down when its link, its address or its route is gone.

mod monitor;
mod open;

pub(crate) use monitor::start;
