//! Whether this machine has room for very many connections: memory, and files of all processes together. What one process may have open is
//! `workers/placement`'s affair, and ports are `ports`'.

use pathscope_core::quantity::{bytes, count};
use pathscope_os::limits;

use crate::error::RunError;

/// Fewer are begun without asking: what they take is little.
const FEW: u64 = 10_000;

/// What the kernel takes for a TCP connection at each of its ends, that carries little (measured: 3.8 KiB of slab on Linux 6.18).
const KERNEL_BYTES: u64 = 4 << 10;
/// And this program, at the most (measured: 1.9 KiB at a server, 2.3 KiB at a client).
const OUR_BYTES: u64 = 2 << 10;

/// What a machine has left. What is not known is not asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    memory_bytes: Option<u64>,
    files: Option<u64>,
}

/// Whether there is room for so many connections, of which so many ends are on this machine; if not, what is missing.
pub(crate) fn check(connections: u64, ends: u64) -> Result<(), RunError> {
    if connections < FEW {
        return Ok(());
    }
    let left = Left { memory_bytes: limits::memory_left(), files: limits::files_left() };
    left.check(connections, ends.max(1))
}

impl Left {
    fn check(self, connections: u64, ends: u64) -> Result<(), RunError> {
        let sockets = connections.saturating_mul(ends);
        let here = if ends > 1 { ", both ends of which are here," } else { "" };
        if let Some(left) = self.files.filter(|&left| left < sockets) {
            return Err(RunError::Unsupported(format!(
                "{} connections{here} are {} open files, and this machine may open {} more for all its programs: ask for at most {} \
                 connections, or raise fs.file-max",
                count(connections),
                count(sockets),
                count(left),
                count(left / ends),
            )));
        }
        let each = KERNEL_BYTES + OUR_BYTES;
        let needed = sockets.saturating_mul(each);
        if let Some(left) = self.memory_bytes.filter(|&left| left < needed) {
            return Err(RunError::Unsupported(format!(
                "{} connections{here} take about {} ({} each at an end), and this machine has {} of memory left: ask for at most {} \
                 connections, or free some",
                count(connections),
                bytes(needed),
                bytes(each),
                bytes(left),
                count(left / (each * ends)),
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_what_is_missing() {
        let said = |left: Left, connections, ends| match left.check(connections, ends) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        let left = |memory_bytes, files| Left { memory_bytes, files };
        let million = 1_000_000;
        assert_eq!(said(left(Some(12_288 * million), Some(2 * million)), million, 2), "");
        assert_eq!(said(left(None, None), u64::MAX, 2), "");
        let memory = said(left(Some(6_144 * million), None), million, 2);
        assert!(memory.contains("take about 11.44 GiB (6 KiB each at an end)"), "{memory}");
        assert!(memory.contains("at most 500,000"), "{memory}");
        assert_eq!(said(left(Some(6_144 * million), None), million, 1), "");
        let files = said(left(None, Some(million + 1)), million, 2);
        assert!(
            files.contains("are 2,000,000 open files") && files.contains("fs.file-max"),
            "{files}"
        );
        assert!(files.contains("at most 500,000"), "{files}");
        assert!(check(FEW - 1, u64::MAX).is_ok(), "few are not counted");
    }
}
