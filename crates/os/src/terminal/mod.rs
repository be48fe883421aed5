//! The terminal on standard output, as far as its system knows it.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

/// Columns of the terminal that standard output is; `None` where it is none, or does not say.
pub fn columns() -> Option<usize> {
    imp::columns()
}
