//! The binary as a user has it: on loopback, and in labs.

mod common;
mod daemon;
#[cfg(test)]
mod lab;
mod latency;
mod measure;
mod show;
mod trouble;
