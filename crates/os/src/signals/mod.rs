//! Signals: what whoever started this process has decided about them.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

/// Whether this process ignores a signal; not known counts as no.
pub fn is_ignored(signal: i32) -> bool {
    imp::is_ignored(signal)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn a_rust_program_ignores_broken_pipes_and_nothing_that_kills() {
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGKILL));
        assert!(!is_ignored(0) && !is_ignored(-1) && !is_ignored(1_000));
    }
}
