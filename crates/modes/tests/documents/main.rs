//! Documents as files have them: read again, shown, and drawn.

mod context;
mod document;
mod multipath_charts;
mod presentation;
