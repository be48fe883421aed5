//! The server of a run on its node, and what the kernel says of its node and of processes. Not what a run comes to.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use pathscope_lab::harness::Lab;

use super::Kind;
use crate::ends::{now, pause};

/// Where it listens, on loopback of its node.
pub const PORT: u16 = 5_210;
/// From one look to the next.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server. Ends with the value.
pub struct Server(Child);

impl Server {
    pub fn start(lab: &Lab, pathscope: &Path) -> Result<Self> {
        let mut command: Command = lab.command("a", "setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(pathscope);
        // Whoever is told of each connection remembers it for that.
        command.args(["server", "--quiet", "--listen", "127.0.0.1", "--port", &PORT.to_string()]);
        // All that a stranger is held to: this one client is to have everything.
        for limit in ["connections", "descriptors", "descriptors-per-address", "memory"] {
            command.args([&format!("--limit-{limit}"), "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Self(command.spawn().context("start the server")?);
        let start = now();
        while !server.listens() {
            let ended = server.0.try_wait().context("look after the server")?;
            ensure!(ended.is_none(), "start the server: it has ended");
            ensure!(start.elapsed() < PATIENCE, "start the server: it does not listen");
            pause(LOOK_EVERY);
        }
        Ok(server)
    }

    /// Before there are connections, of which the kernel would list each.
    fn listens(&self) -> bool {
        let path = format!("/proc/{}/net/tcp", self.0.id());
        let end = format!(":{PORT:04X}");
        fs::read_to_string(path).unwrap_or_default().lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1));
            local.ends_with(&end) && state == Some("0A")
        })
    }

    /// Sockets of flows of this kind that are in use on its node, those of both ends.
    pub fn sockets(&self, kind: Kind) -> Result<u64> {
        let path = format!("/proc/{}/net/sockstat", self.0.id());
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let (name, others) = kind.sockets();
        let all = in_use(&text, name).with_context(|| format!("find sockets in {path}"))?;
        Ok(all.saturating_sub(others))
    }

    pub fn resident_bytes(&self) -> Result<u64> {
        resident_bytes(self.0.id()).context("see what the server has resident")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The number behind this name in `sockstat`; listeners are among them.
fn in_use(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The most that a process had resident.
pub fn resident_bytes(process: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmHWM:")
}

/// What the kernel has of small blocks, sockets among them.
pub fn slab_bytes() -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("read /proc/meminfo")?;
    kibibytes(&text, "Slab:").context("find Slab in /proc/meminfo")
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        let text = "sockets: used 9\nTCP: inuse 2000004 orphan 0 tw 3 alloc 7 mem 1\nUDP: inuse 12 mem 0\nUDPLITE: inuse 0\n";
        let found = ["TCP: inuse ", "UDP: inuse ", "RAW: inuse "].map(|name| in_use(text, name));
        assert_eq!(found, [Some(2_000_004), Some(12), None]);
        assert_eq!(kibibytes("MemFree: 1 kB\nSlab:   12 kB\n", "Slab:"), Some(12_288));
    }
}
