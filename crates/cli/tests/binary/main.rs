//! The binary as a user has it: on loopback, and in labs.

mod common;
#[cfg(test)]
mod lab;
mod measure;
mod shape;
mod show;
mod trouble;
