//! Two processes, one at each end, each pinned to its core; their output and their processor time.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde::Serialize;

use super::case::{Case, Measure, Protocol};
use super::conditions::Conditions;
use super::contenders::{Contender, Setting};
use super::outputs::{Outputs, Role};

/// How long a server may take until it listens, and either end to finish after its time.
const PATIENCE: Duration = Duration::from_secs(10);

/// From one look at a process's memory to the next. What is read is a high-water mark, so that only what came in the
/// last of these is missed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What one run came to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Run {
    /// In the unit of the measure.
    pub figure: f64,
    /// Processor time of both ends, the start of the server left out.
    pub cpu_ns: u64,
    /// Of the two, for transfers: nanoseconds of processor for a gigabyte.
    pub cpu_ns_per_gigabyte: Option<f64>,
    /// The most memory that the server had resident.
    pub server_resident_bytes: u64,
    /// The most memory that the client had resident.
    pub client_resident_bytes: u64,
}

/// Runs one contender once.
pub fn run(
    contender: &Contender,
    case: &Case,
    measure: Measure,
    conditions: &Conditions,
) -> Result<Run> {
    let setting = Setting { case: *case, measure, conditions, port: free_port()? };
    let program = |role| contender.program.path(role, &setting);
    let server_words = (contender.server)(&setting);
    let mut server = End::start(conditions.server_core, &program(Role::Server)?, &server_words)?;
    server.wait_until_listening(setting.port, contender.control_protocol(case))?;
    let idle = server.cpu_ns()?;
    let client_words = (contender.client)(&setting);
    let mut client = End::start(conditions.client_core, &program(Role::Client)?, &client_words)?;
    let limit = Duration::from_secs(u64::from(conditions.seconds)) + PATIENCE;
    let client_output = client.finish(limit)?;
    let server_output =
        if (contender.server_ends)(case) { server.finish(PATIENCE)? } else { String::new() };
    let cpu_ns = client.cpu_ns()? + server.cpu_ns()?.saturating_sub(idle);
    let outputs = Outputs { client: client_output, server: server_output };
    let figure = (contender.figure)(&setting, &outputs)
        .with_context(|| format!("read what {} says: {}", contender.name, outputs.excerpt()))?;
    Ok(Run {
        figure,
        cpu_ns,
        cpu_ns_per_gigabyte: cpu_share(measure, figure, cpu_ns, conditions)
            .filter(|_| contender.is_timed),
        server_resident_bytes: server.resident_bytes(),
        client_resident_bytes: client.resident_bytes(),
    })
}

/// From rate and time, since tools do not all tell the amount.
fn cpu_share(measure: Measure, figure: f64, cpu_ns: u64, conditions: &Conditions) -> Option<f64> {
    let gigabytes = figure / 8e9 * f64::from(conditions.seconds);
    (measure == Measure::GoodputBps && gigabytes > 0.0).then(|| cpu_ns as f64 / gigabytes)
}

/// Ports of servers, two for each run: below those that Linux takes for clients, which stay in `TIME_WAIT` by the thousand after a run
/// over many connections. A tool that does not say that it may take such a port could not listen there.
const PORTS: std::ops::Range<u16> = 20_000..28_000;

/// A port that nobody has right now, nor the one after it. No two runs of a process have the same.
pub(super) fn free_port() -> Result<u16> {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let pairs = u32::from(PORTS.end - PORTS.start) / 2;
    let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    for _ in 0..pairs {
        let pair = (std::process::id() + TAKEN.fetch_add(1, Ordering::Relaxed)) % pairs;
        let port = PORTS.start + 2 * pair as u16;
        if is_free(port) && is_free(port + 1) {
            return Ok(port);
        }
    }
    bail!("find two free ports from {} to {}", PORTS.start, PORTS.end)
}

/// One process. Ends with the value.
pub(super) struct End {
    child: Child,
    words: String,
    output: Receiver<String>,
    /// The most memory that it had resident when last looked at.
    resident_bytes: u64,
}

impl End {
    pub fn start(core: usize, program: &str, words: &[String]) -> Result<Self> {
        // Nobody is left behind where this program is killed.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "taskset", "--cpu-list", &core.to_string(), program]);
        command.args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let words = crate::cargo::words(&command);
        let mut child = command.spawn().with_context(|| format!("run {words}"))?;
        let mut stdout = child.stdout.take().with_context(|| format!("read from {words}"))?;
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read before an error is still what it said.
            let _ = stdout.read_to_end(&mut bytes);
            // Nobody listens any more where the run was given up.
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        Ok(Self { child, words, output, resident_bytes: 0 })
    }

    /// By asking the kernel: a connection, even one that says nothing, is what some servers wait for.
    pub fn wait_until_listening(&mut self, port: u16, protocol: Protocol) -> Result<()> {
        let start = now();
        while !is_listening(port, protocol) {
            if let Some(status) = self.child.try_wait().context("look after the server")? {
                bail!("run {}: it ended with {status} before it listened", self.words);
            }
            if start.elapsed() > PATIENCE {
                bail!("run {}: it does not listen on port {port}", self.words);
            }
            pause();
        }
        Ok(())
    }

    /// All its output, when it has ended; it is not yet reaped, so its processor time can be read.
    pub fn finish(&mut self, limit: Duration) -> Result<String> {
        let start = now();
        loop {
            self.resident_bytes();
            match self.output.recv_timeout(LOOK_EVERY) {
                Ok(output) => {
                    let pid = WaitId::Pid(self.pid()?);
                    waitid(pid, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
                        .with_context(|| format!("wait for {}", self.words))?;
                    return Ok(output);
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() < limit => {}
                Err(RecvTimeoutError::Timeout) => {
                    bail!("run {}: it did not end within {} s", self.words, limit.as_secs())
                }
                Err(RecvTimeoutError::Disconnected) => bail!("read from {}", self.words),
            }
        }
    }

    /// The most memory it had resident so far; of a process that has ended, when last looked at.
    pub fn resident_bytes(&mut self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let now = status.ok().and_then(|status| resident_bytes(&status));
        self.resident_bytes = now.unwrap_or(0).max(self.resident_bytes);
        self.resident_bytes
    }

    fn pid(&self) -> Result<Pid> {
        let number = i32::try_from(self.child.id()).ok();
        number.and_then(Pid::from_raw).with_context(|| format!("name the process {}", self.words))
    }

    /// Processor time of the process, its threads and the children it has waited for. Counted in ticks of
    /// 10 ms, which is half a percent of a run of two seconds.
    pub fn cpu_ns(&self) -> Result<u64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        cpu_ticks(&stat)
            .map(|ticks| ticks * 10_000_000)
            .with_context(|| format!("find processor time in {path}"))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// utime, stime, cutime and cstime of `/proc/PID/stat`, fields 14 to 17; the name, field 2, may hold
/// blanks and parentheses.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let after_name = stat.rsplit_once(')')?.1;
    let mut fields = after_name.split_whitespace().skip(11).take(4);
    if fields.clone().count() < 4 {
        return None;
    }
    fields.try_fold(0_u64, |sum, field| sum.checked_add(field.parse().ok()?))
}

/// The high-water mark of resident memory of `/proc/PID/status`.
fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

fn is_listening(port: u16, protocol: Protocol) -> bool {
    let (tables, state): (_, &[&str]) = match protocol {
        Protocol::Tcp => (["/proc/net/tcp", "/proc/net/tcp6"], &["0A"]),
        Protocol::Udp => (["/proc/net/udp", "/proc/net/udp6"], &["07"]),
    };
    let end = format!(":{port:04X}");
    tables.iter().any(|table| {
        let text = fs::read_to_string(table).unwrap_or_default();
        text.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields.as_slice(), [_, local, _, own, ..]
                if local.ends_with(&end) && state.contains(own))
        })
    })
}

#[expect(clippy::disallowed_methods, reason = "a limit on waiting, not a measurement")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the kernel offers nothing to wait for here")]
fn pause() {
    thread::sleep(Duration::from_millis(5));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "42 (a) (b c) S 1 42 42 0 -1 4194304 97 0 0 0 3 4 5 6 20 0 1 0 100 200 300";
        assert_eq!(cpu_ticks(stat), Some(18));
        assert_eq!(cpu_ticks("42 (a) S 1"), None);
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn resident_memory_is_read_where_there_is_some() {
        let status = "Name:\ta\nVmPeak:\t  9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 7 kB\n";
        assert_eq!(resident_bytes(status), Some(1_234 * 1_024));
        assert_eq!(resident_bytes("Name:\ta\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn no_two_runs_have_the_same_ports_and_no_client_has_them() {
        let (one, other) = (free_port().expect("some"), free_port().expect("some"));
        assert!(one.abs_diff(other) >= 2, "{one} and {other}");
        assert!(PORTS.contains(&one) && PORTS.contains(&(other + 1)));
    }

    #[test]
    fn a_listening_socket_is_seen() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback is there");
        let port = listener.local_addr().expect("it is bound").port();
        assert!(is_listening(port, Protocol::Tcp));
        assert!(!is_listening(port, Protocol::Udp));
    }
}
