//! What people see, whole, at 80 columns; and that no input breaks it.

mod properties;
mod samples;
mod snapshots;
