//! Experiments on networks of known truth: programs that are started on nodes, what the links between those nodes
//! promise of their figures, and whether that came true.
//!
//! `plan` is an experiment as data, `read` has it from a file, `theory` says what links promise, `programs` are what can be
//! started and how their figures are read, `judge` compares, `document` keeps it all, `presentation` shows it, `map` on a drawing of the network. All of these are pure.
//! `runner` alone starts anything.
//!
//! Not here: building networks (`lab`, which knows no experiment), and measuring (the programs do).

#![forbid(unsafe_code)]

pub mod document;
mod judge;
mod map;
pub mod plan;
pub mod presentation;
pub mod programs;
mod promise;
mod read;
pub mod runner;
mod theory;
