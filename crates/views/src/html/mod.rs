//! For a browser: the result as one file that needs no network, with charts that can be looked into. Written when the run has
//! ended, and nothing before.
//!
//! What a line is drawn from stands in a table below it, too, and percentiles are among the figures: without scripts the page
//! lacks its charts alone. Charts are drawn by Apache `ECharts` (`echarts/README.md`), from numbers that the page holds as JSON;
//! `page.js` (with a file for each kind of chart) lays them out and computes no figure, but for the statistics of a range that a reader selects.

mod bars;
mod charts;
mod estimates;
mod extents;
mod page;
mod pictures;
mod scatter;
#[cfg(test)]
mod tests;
mod unit;

pub use page::page;
