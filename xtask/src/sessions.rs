//! Very many clients of one server at the same time, each with a session of its own and a ping a second: whether all of them are served,
//! how long their pings take, and what each session takes of the server.
//!
//! No comparison: the bounds are a round trip and an amount of memory. The clients are `pathscope-attack sessions`, which shares no code with
//! ours. Both ends may use all processors.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use pathscope_core::quantity;
use serde::Serialize;
use serde_json::Value;

use crate::cargo;
use crate::console::say;
use crate::ends::{now, pause};

/// What `--case` calls it.
pub const NAME: &str = "sessions";

/// Over what pings go.
const PROTOCOLS: [&str; 2] = ["tcp", "udp"];

/// Where the server listens: no other program has ports there.
const ADDRESS: &str = "127.77.22.1";
/// Before the first address that clients come from.
const BASE: &str = "127.78.0.0";

/// The 99th percentile of round trips.
const MOST_P99_NS: u64 = 2_000_000;
/// What the server may have resident for each session.
const MOST_BYTES: u64 = 32 << 10;
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);
/// From one look to the next.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The programs.
pub struct Programs {
    /// The one that is measured.
    pub pathscope: PathBuf,
    /// Whose clients they are.
    pub clients: PathBuf,
}

/// What one run came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sessions {
    /// Clients.
    asked: u64,
    /// Over what they ping.
    protocol: String,
    /// Those whose test ran.
    opened: u64,
    /// Those that ended in good order.
    left: u64,
    /// Those that were turned away or broke.
    lost: u64,
    /// Their pings.
    sent: u64,
    answered: u64,
    /// Pings that were due while the one before was not answered yet.
    put_off: u64,
    /// From the first client to the last whose test ran.
    ramp_ns: u64,
    /// Round trips, of those that were sent when all were there.
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    max_ns: u64,
    /// How much later than they were due the clients sent 99 of 100 of their pings at the most.
    late_p99_ns: u64,
    /// What the server had resident when all were there, beyond what it had before the first, for each.
    session_bytes: u64,
    threads: u64,
    /// Open in the table that all its threads share.
    descriptors: u64,
    /// Of one processor, while all were there.
    cpu_share: f64,
}

/// Runs so many clients of each protocol for so long, and prints what that came to.
pub fn run(root: &Path, pathscope: &Path, count: u64, seconds: u32) -> Result<Vec<Sessions>> {
    let mut build = cargo::cargo(root);
    build.args(["build", "--quiet", "--release", "--package", "pathscope-attack"]);
    ensure!(cargo::succeeds(&mut build)?, "build pathscope-attack");
    let clients = root.join("target/release/pathscope-attack");
    let programs = Programs { pathscope: pathscope.to_owned(), clients };
    say(format_args!(
        "\n{NAME}: {} clients at a time, each with a session and a ping a second, for {seconds} s",
        quantity::count(count)
    ))?;
    let mut all = Vec::new();
    for protocol in PROTOCOLS {
        let sessions = once(&programs, protocol, (count, seconds))?;
        say(sessions.row())?;
        all.push(sessions);
    }
    Ok(all)
}

/// The step of the check: some hundreds of clients by what the tests have built, counts alone.
pub fn for_the_check(root: &Path) -> Result<bool> {
    cargo::build_programs(root)?;
    let program = |name: &str| root.join("target/debug").join(name);
    let programs =
        Programs { pathscope: program("pathscope"), clients: program("pathscope-attack") };
    let mut are_whole = true;
    for protocol in PROTOCOLS {
        let sessions = once(&programs, protocol, (500, 3))?;
        say(sessions.row())?;
        are_whole &= sessions.is_whole();
    }
    Ok(are_whole)
}

/// Runs so many clients for so many seconds.
fn once(programs: &Programs, protocol: &str, (count, seconds): (u64, u32)) -> Result<Sessions> {
    let server = Server::start(&programs.pathscope)?;
    let idle_bytes = server.resident_bytes()?;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(&programs.clients);
    command.args(["sessions", "--server", &server.address, "--base", BASE]);
    command.args(["--count", &count.to_string(), "--protocol", protocol]);
    command.args(["--for", &seconds.to_string()]);
    let mut clients = Clients::start(command)?;
    clients.next().context("hear that all are there")?;
    let (begun, used) = (now(), server.cpu_ticks()?);
    pause(Duration::from_secs(u64::from(seconds)).mul_f64(0.9));
    let resident_bytes = server.resident_bytes()?;
    let ticks = server.cpu_ticks()?.saturating_sub(used);
    let cpu_share = ticks as f64 / f64::from(TICKS_A_SECOND) / begun.elapsed().as_secs_f64();
    let mut sessions = Sessions {
        asked: count,
        protocol: protocol.to_owned(),
        session_bytes: resident_bytes.saturating_sub(idle_bytes) / count.max(1),
        threads: server.status("Threads:")?,
        descriptors: server.descriptors(),
        cpu_share,
        ..Sessions::default()
    };
    sessions.read(&clients.next().context("hear what came of them")?);
    Ok(sessions)
}

/// What `/proc` counts processor time in.
const TICKS_A_SECOND: u32 = 100;

impl Sessions {
    /// Takes what the clients tell.
    fn read(&mut self, told: &Value) {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        self.opened = number(&told["opened"]);
        self.left = number(&told["left"]);
        self.lost = number(&told["refused"]) + number(&told["broken"]);
        self.sent = number(&told["sent"]);
        self.answered = number(&told["answered"]);
        self.put_off = number(&told["put_off"]);
        self.ramp_ns = number(&told["ramp_ns"]);
        let of = &told["round_trip_ns"];
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.max_ns] =
            ["p50", "p90", "p99", "p999", "max"].map(|name| number(&of[name]));
        self.late_p99_ns = number(&told["late_ns"]["p99"]);
    }

    /// Whether all were served, and all that they asked was answered.
    fn is_whole(&self) -> bool {
        let Self { asked, opened, left, lost, sent, answered, .. } = self;
        opened == asked && left == asked && *lost == 0 && *sent > 0 && sent == answered
    }

    fn is_within(&self) -> bool {
        self.is_whole() && self.p99_ns <= MOST_P99_NS && self.session_bytes <= MOST_BYTES
    }

    fn row(&self) -> String {
        let of = |nanoseconds: u64| quantity::duration_ns(nanoseconds);
        format!(
            "{}: {} opened within {}, {} lost, {} left in good order; pings {}, answered {}, put off {}; round trips p50 {}, p90 {}, \
             p99 {}, p99.9 {}, max {} (sent late: p99 {}); of each the server has {}; it has {} threads, {} descriptors in their common \
             table, and used {:.2} processors: {} within {} and {} B",
            self.protocol,
            quantity::count(self.opened),
            of(self.ramp_ns),
            self.lost,
            quantity::count(self.left),
            quantity::count(self.sent),
            quantity::count(self.answered),
            self.put_off,
            of(self.p50_ns),
            of(self.p90_ns),
            of(self.p99_ns),
            of(self.p999_ns),
            of(self.max_ns),
            of(self.late_p99_ns),
            quantity::bytes(self.session_bytes),
            self.threads,
            quantity::count(self.descriptors),
            self.cpu_share,
            if self.is_within() { "all" } else { "not all" },
            of(MOST_P99_NS),
            MOST_BYTES,
        )
    }
}

/// The clients. End with the value.
struct Clients {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Clients {
    fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("start the clients")?;
        let stdout = child.stdout.take().context("hear the clients")?;
        Ok(Self { child, lines: BufReader::new(stdout) })
    }

    /// The next that they tell. They end by themselves, whatever the server does.
    fn next(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).context("hear the clients")?;
        serde_json::from_str(&line).with_context(|| format!("read what they say: {line}"))
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server. Ends with the value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(pathscope: &Path) -> Result<Self> {
        let free = TcpListener::bind((ADDRESS, 0)).and_then(|listener| listener.local_addr());
        let port = free.context("find a free port")?.port();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(pathscope);
        command.args(["server", "--quiet", "--listen", ADDRESS, "--port", &port.to_string()]);
        // All that strangers are held to: these are to be served, however many they are.
        for limit in [
            "sessions",
            "sessions-per-address",
            "descriptors",
            "descriptors-per-address",
            "memory",
            "memory-per-address",
        ] {
            command.args([&format!("--limit-{limit}"), "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("start the server")?;
        let mut server = Self { child, address: format!("{ADDRESS}:{port}") };
        let start = now();
        while !is_listening(port) {
            let ended = server.child.try_wait().context("look after the server")?;
            ensure!(ended.is_none(), "start the server: it has ended");
            ensure!(start.elapsed() < PATIENCE, "start the server: it does not listen");
            pause(LOOK_EVERY);
        }
        Ok(server)
    }

    /// A number of its `/proc/PID/status`.
    fn status(&self, name: &str) -> Result<u64> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("find {name} in {path}"))
    }

    fn resident_bytes(&self) -> Result<u64> {
        Ok(self.status("VmRSS:")? << 10)
    }

    fn descriptors(&self) -> u64 {
        let folder = format!("/proc/{}/fd", self.child.id());
        fs::read_dir(folder).map_or(0, |all| all.count() as u64)
    }

    /// Its own processor time.
    fn cpu_ticks(&self) -> Result<u64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11));
        let both: Option<u64> =
            fields.and_then(|it| it.take(2).map(|it| it.parse::<u64>().ok()).sum());
        both.with_context(|| format!("find processor time in {path}"))
    }
}

/// Whether somebody listens there, by asking the kernel: a connection would be a client.
fn is_listening(port: u16) -> bool {
    let end = format!(":{port:04X}");
    let text = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    text.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1));
        local.ends_with(&end) && state == Some("0A")
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Sessions {
        let mut sessions = Sessions { asked: 10, session_bytes: 32 << 10, ..Sessions::default() };
        sessions.read(&serde_json::json!({
            "opened": 10, "left": 10, "refused": 0, "broken": 0, "sent": 50, "answered": 50,
            "put_off": 1, "ramp_ns": 7, "late_ns": { "p99": 3 },
            "round_trip_ns": { "p50": 1, "p90": 2, "p99": 2_000_000, "p999": 4, "max": 5 },
        }));
        sessions
    }

    #[test]
    fn what_clients_tell_is_read_and_held_to_its_bounds() {
        let good = good();
        assert!(good.is_whole() && good.is_within());
        assert_eq!((good.p50_ns, good.max_ns, good.late_p99_ns, good.ramp_ns), (1, 5, 3, 7));
        for bad in [
            Sessions { opened: 9, ..good.clone() },
            Sessions { left: 9, ..good.clone() },
            Sessions { lost: 1, ..good.clone() },
            Sessions { answered: 49, ..good.clone() },
            Sessions { sent: 0, answered: 0, ..good.clone() },
        ] {
            assert!(!bad.is_whole() && !bad.is_within(), "{bad:?}");
        }
        for bad in [
            Sessions { p99_ns: 2_000_001, ..good.clone() },
            Sessions { session_bytes: (32 << 10) + 1, ..good.clone() },
        ] {
            assert!(bad.is_whole() && !bad.is_within(), "{bad:?}");
        }
    }
}
