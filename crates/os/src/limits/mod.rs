//! How much the system lets this process have.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use crate::OsError;

/// Raises the number of files and sockets this process may have open to the most it is allowed;
/// returns how many.
pub fn raise_open_files() -> Result<u64, OsError> {
    imp::raise_open_files()
}

/// How many files and sockets one table of descriptors of this process may have open at the most: its threads share one, unless they
/// have left it.
pub fn open_files() -> Option<u64> {
    imp::open_files()
}

/// The ports that the system takes for connections which say none, both ends of the range included; `None`: not known.
pub fn local_ports() -> Option<(u16, u16)> {
    imp::local_ports()
}

/// How many files and sockets all processes of this machine may still open; `None`: not known.
pub fn files_left() -> Option<u64> {
    imp::files_left()
}

/// How many bytes of memory programs of this machine may still take; `None`: not known.
pub fn memory_left() -> Option<u64> {
    imp::memory_left()
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg_attr(pathscope_other, ignore = "not possible on this system")]
    fn raising_twice_changes_nothing() {
        let first = super::raise_open_files().expect("a limit");
        assert!(first >= 64);
        assert_eq!(super::raise_open_files().expect("a limit"), first);
    }
}
