//! The versioned document that a run ends with.
