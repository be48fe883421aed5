//! Linux: `RLIMIT_NOFILE`, and what the kernel says below `/proc/sys`.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::OsError;

/// `None` means no limit, which the kernel does not grant for files.
pub fn raise_open_files() -> Result<u64, OsError> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, raised)
            .map_err(OsError::call("raise the limit of open files"))?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

pub fn local_ports() -> Option<(u16, u16)> {
    range(&fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
}

/// Two numbers, with blanks between them.
fn range(text: &str) -> Option<(u16, u16)> {
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    let (low, high) = (numbers.next()??, numbers.next()??);
    (low <= high).then_some((low, high))
}

pub fn files_left() -> Option<u64> {
    left(&fs::read_to_string("/proc/sys/fs/file-nr").ok()?)
}

/// Open files, those of them that are free, and the most there may be.
fn left(text: &str) -> Option<u64> {
    let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().ok());
    let (open, free, most) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some(most.saturating_sub(open.saturating_sub(free)))
}

pub fn memory_left() -> Option<u64> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// What the kernel thinks that programs may still take, in kibibytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read_and_what_it_does_not_say_is_not_known() {
        assert_eq!(range("32768\t60999\n"), Some((32_768, 60_999)));
        for bad in ["", "5", "9 5", "1 65536", "a b"] {
            assert_eq!(range(bad), None, "{bad}");
        }
        assert_eq!(left("1216\t16\t2466183\n"), Some(2_464_983));
        assert_eq!(left("9\t0\t5\n"), Some(0));
        assert_eq!((left("9 0"), left("9 0 x")), (None, None));
        let memory = "MemTotal:  9 kB\nMemAvailable:     3 kB\n";
        assert_eq!((available(memory), available("MemTotal: 9 kB\n")), (Some(3_072), None));
    }
}
