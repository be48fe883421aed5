//! Calibration: every figure that pathscope prints beside a truth that it does not know, over the whole range of its settings.
//!
//! `covering` chooses few cells in which every pair of settings is met, `grid` says what those settings are, `rules` which
//! truth each figure is held to and how far off it may be, `judge` compares, `document` keeps it, `presentation` shows it. All of these
//! are pure. `runner` and `preparation` alone start anything, by the runner of `experiments`.
//!
//! Not here: networks (`lab`), and what a figure means (docs/figures.md).

#![forbid(unsafe_code)]

mod against;
mod amount;
mod cell;
mod change;
pub mod covering;
pub mod document;
mod evidence;
pub mod findings;
mod grid;
mod judge;
mod moved;
mod others;
mod place;
mod preparation;
pub mod presentation;
mod relay;
mod relay_figures;
mod rule;
mod rules;
pub mod runner;
mod samples;

mod way;

pub use cell::Setting;
pub use grid::{Extent, commands};
pub use rule::Against;
