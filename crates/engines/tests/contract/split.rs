//! Flows in two halves.
