//! Any other system: not known.

pub fn columns() -> Option<usize> {
    None
}
