//! One session at one end: the loop that carries out what a dialogue says, the test that runs, its groups of flows,
//! and what workers tell it. Not how sockets come to be (`connect`), nor what moves their bytes (`workers`).

pub(crate) mod driver;
pub(crate) mod group;
pub(crate) mod intervals;
pub(crate) mod reconnection;
pub(crate) mod renewed;
pub(crate) mod running;
