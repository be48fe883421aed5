//! Engines on clocks and systems that are scripted: what is measured where time jumps, and where a worker is late.

mod clock_steps;
mod common;
mod send_lag;
