//! A processor that is there for a tenth of the time, by a control group: named as what holds a transfer back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pathscope_core::record::Limit;

use crate::common::{Running, Server, pathscope};

/// A control group of ours, gone when dropped.
struct Quota(PathBuf);

impl Quota {
    /// A tenth of one processor; or why there can be none.
    fn tenth() -> Result<Self, String> {
        let name = format!("pathscope-test-{}", std::process::id());
        let (first, second) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
        // The first version keeps a folder for each controller.
        let (folder, limits): (PathBuf, &[(&str, &str)]) = if first.is_dir() {
            (first.join(name), &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")])
        } else {
            (second.join(name), &[("cpu.max", "10000 100000")])
        };
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let quota = Self(folder);
        for (file, value) in limits {
            let path = quota.0.join(file);
            fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(quota)
    }

    /// The program, in the group from its beginning.
    fn wrap(&self, program: &Command) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        command.arg(program.get_program()).args(program.get_args());
        command
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Empty, since what ran in it has been waited for; where it is not, the machine keeps a folder.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_quota_of_processor_time_is_named_at_the_end_that_has_it() {
    let quota = match Quota::tenth() {
        Ok(quota) => quota,
        Err(refusal) => return println!("skipped, because there is no quota: {refusal}"),
    };
    let server = Server::start();
    for (pattern, expected) in [("push", Limit::SenderCpu), ("pull", Limit::ReceiverCpu)] {
        let host = server.host();
        let words = ["goodput", &host, "-c", "1", "-t", "3s", "--pattern", pattern];
        let words = [&words[..], &["--no-probe", "--wait", "sleep", "--json"]].concat();
        let ran = Running::start(quota.wrap(&pathscope(&words))).finish().exits(0);
        let document = ran.document();
        let measurement = &document.measurements[0];
        let worker = &measurement.client.workers[0];
        if worker.waited_ns.is_none() {
            return println!("skipped, because this kernel does not tell how long threads wait");
        }
        let used = worker.cpu_share();
        assert!(used <= 0.15, "{pattern}: the quota is kept: {used}");
        let verdict = measurement.verdict.as_ref().expect("both ends reported");
        let there = &measurement.server.as_ref().expect("it reported").workers[0];
        // What the quota keeps from one end, other programs may keep from the other.
        if there.cpu_wait_share().is_none_or(|share| share >= 0.1) {
            println!("skipped, because the other end waited for processors, too: {}", verdict.text);
        } else {
            assert_eq!(verdict.limit, expected, "{pattern}: {verdict:#?}");
        }
        let host = measurement.client.host.as_ref().expect("Linux counts");
        assert!(!host.cpus.is_empty() && host.process_peak_bytes > Some(0), "{host:?}");
        assert!(host.protocols.contains_key("Tcp.OutSegs"), "{host:?}");
    }
}
