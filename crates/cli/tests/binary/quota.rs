//! A processor that is there for a tenth of the time, by a control group, at either end: named as what holds a
//! transfer back. And a machine that has little of everything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pathscope_core::record::{Check, Limit};

use crate::common::{Running, Server, pathscope, run};

/// Control groups of ours, gone when dropped: one, or one for each controller.
struct Quota(Vec<PathBuf>);

impl Quota {
    /// A tenth of one processor, and where asked for 32 MiB of memory; or why there can be none. `name` is of
    /// one test.
    fn tenth(name: &str, with_memory: bool) -> Result<Self, String> {
        let name = format!("pathscope-test-{name}-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let mut quota = Self(Vec::new());
        // The first version keeps a folder for each controller.
        if root.join("cpu").is_dir() {
            quota.limit(
                root.join("cpu").join(&name),
                &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")],
            )?;
            if with_memory {
                let folder = root.join("memory").join(&name);
                quota.limit(folder, &[("memory.limit_in_bytes", MEMORY)])?;
            }
        } else if with_memory {
            quota
                .limit(root.join(&name), &[("cpu.max", "10000 100000"), ("memory.max", MEMORY)])?;
        } else {
            quota.limit(root.join(&name), &[("cpu.max", "10000 100000")])?;
        }
        Ok(quota)
    }

    fn limit(&mut self, folder: PathBuf, limits: &[(&str, &str)]) -> Result<(), String> {
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        self.0.push(folder);
        let Some(folder) = self.0.last() else { return Ok(()) };
        for (file, value) in limits {
            let path = folder.join(file);
            fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// The program, in the groups from its beginning.
    fn wrap(&self, program: &Command) -> Command {
        let enter: Vec<String> = self
            .0
            .iter()
            .map(|folder| format!("echo $$ > {}/cgroup.procs", folder.display()))
            .collect();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{} && exec \"$0\" \"$@\"", enter.join(" && "))]);
        command.arg(program.get_program()).args(program.get_args());
        command
    }

    /// What a file of one of the groups says.
    fn read(&self, file: &str) -> Option<u64> {
        let mut texts =
            self.0.iter().filter_map(|folder| fs::read_to_string(folder.join(file)).ok());
        texts.next()?.trim().parse().ok()
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Empty, since what ran in it has been waited for; where it is not, the machine keeps a folder.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// 32 MiB.
const MEMORY: &str = "33554432";

#[test]
fn one_connection_is_measured_right_within_a_tenth_of_a_processor_and_32_mib() {
    let quota = match Quota::tenth("small", true) {
        Ok(quota) => quota,
        Err(refusal) => return println!("skipped, because there is no quota: {refusal}"),
    };
    let server = Server::start();
    for pattern in ["push", "pull"] {
        let host = server.host();
        let words = ["goodput", &host, "-c", "1", "-t", "3s", "--pattern", pattern, "--json"];
        // With probes beside it, as a user has it; killed for want of memory, it has no exit code.
        let ran = Running::start(quota.wrap(&pathscope(&words))).finish().exits(0);
        let document = ran.document();
        let measurement = &document.measurements[0];
        assert!(measurement.checks.iter().all(Check::has_held), "{:?}", measurement.checks);
        let summary = measurement.summary.goodput.as_ref().expect("it is goodput");
        let way = [summary.up, summary.down].into_iter().flatten().next().expect("one way");
        // The figure is that of the bytes and the time, whoever had no processor meanwhile.
        let goodput = way.goodput_bps.expect("it moved");
        let all = way.received_bytes.expect("both reported") as f64 * 8e9 / way.window_ns as f64;
        assert!(goodput > 0.0 && goodput <= all * 1.000_001, "{goodput} of {all}");
        assert_eq!(way.sent_bytes, way.received_bytes);
        let cpu_ns: u64 =
            measurement.client.workers.iter().map(|worker| worker.user_ns + worker.system_ns).sum();
        let share = cpu_ns as f64 / measurement.client.elapsed_ns as f64;
        assert!(share <= 0.15, "{pattern}: the quota is kept: {share}");
        let peak = measurement.client.host.as_ref().and_then(|host| host.process_peak_bytes);
        assert!(peak.is_some_and(|peak| peak <= 32 << 20), "{peak:?}");
    }
    // The most that both runs had, the kernel's buffers among it.
    let most = quota.read("memory.max_usage_in_bytes").or_else(|| quota.read("memory.peak"));
    assert!(most.is_none_or(|most| most <= 32 << 20), "{most:?}");
}

#[test]
fn a_quota_at_the_server_s_end_is_named_there() {
    let quota = match Quota::tenth("server", false) {
        Ok(quota) => quota,
        Err(refusal) => return println!("skipped, because there is no quota: {refusal}"),
    };
    let server = Server::start_by(|command| quota.wrap(&command));
    let host = server.host();
    let words =
        ["goodput", &host, "-c", "1", "-t", "3s", "--no-probe", "--wait", "sleep", "--json"];
    let document = run(&words).exits(0).document();
    drop(server);
    let measurement = &document.measurements[0];
    if measurement.client.workers[0].cpu_wait_share().is_none_or(|share| share >= 0.1) {
        return println!("skipped, because the client's end waited for processors, too");
    }
    let verdict = measurement.verdict.as_ref().expect("both ends reported");
    assert_eq!(verdict.limit, Limit::ReceiverCpu, "{verdict:#?}");
}

#[test]
fn a_quota_of_processor_time_is_named_at_the_end_that_has_it() {
    let quota = match Quota::tenth("client", false) {
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
