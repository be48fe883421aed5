//! What the kernel says of a process: memory, threads, descriptors, processor time.

use std::fs;

use anyhow::{Context as _, Result};

/// One look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Memory that is resident.
    pub resident_bytes: u64,
    /// The most that ever was.
    pub most_resident_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// Descriptors that are open.
    pub descriptors: u64,
    /// Processor time, its own and the kernel's for it, in ticks of 10 ms.
    pub processor_ticks: u64,
}

impl Sample {
    /// Of a process that runs.
    pub fn of(process: u32) -> Result<Self> {
        let read = |name: &str| {
            let path = format!("/proc/{process}/{name}");
            fs::read_to_string(&path).with_context(|| format!("read {path}"))
        };
        let status = read("status")?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
        };
        let folder = format!("/proc/{process}/fd");
        let descriptors = fs::read_dir(&folder).with_context(|| format!("list {folder}"))?.count();
        Ok(Self {
            resident_bytes: field("VmRSS").context("find its memory: it has ended")? * 1_024,
            most_resident_bytes: field("VmHWM").unwrap_or_default() * 1_024,
            threads: field("Threads").unwrap_or_default(),
            descriptors: descriptors as u64,
            processor_ticks: ticks(&read("stat")?).unwrap_or_default(),
        })
    }
}

/// How many descriptors a process may have.
pub fn descriptor_limit(process: u32) -> Result<u64> {
    let path = format!("/proc/{process}/limits");
    let limits = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .with_context(|| format!("find the limit of descriptors in {path}"))
}

/// Fields 14 and 15 of `/proc/PID/stat`; the name, field 2, may hold blanks and parentheses.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    user.checked_add(fields.next()?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_what_every_process_has() {
        let sample = Sample::of(std::process::id()).expect("it runs");
        assert!(sample.resident_bytes > 0 && sample.threads > 0 && sample.descriptors > 2);
        assert!(sample.most_resident_bytes >= sample.resident_bytes / 2);
        assert!(descriptor_limit(std::process::id()).expect("it has one") > 2);
    }

    #[test]
    fn processor_time_is_found_behind_any_name() {
        assert_eq!(ticks("42 (a) (b c) S 1 42 42 0 -1 4194304 97 0 0 0 3 4 5 6 20"), Some(7));
        assert_eq!(ticks("42 (a) S 1"), None);
    }
}
