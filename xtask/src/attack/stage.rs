//! The network in which attacks take place: a server's machine, an honest one and a hostile one around a switch.
//!
//! The hostile one has all addresses of a prefix of each family, routed to it as a whole, so that strangers can be many.

use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::running::{Registry, Shaper};
use pathscope_lab::topology::{Family, Topology};
use tempfile::TempDir;

use super::case::Case;
use super::run::Attack;
use super::samples::{self, Sample};
use crate::ends::{now, pause};
use crate::folder;

const TOPOLOGY: &str = r#"
hosts = ["server", "honest", "hostile"]
switches.s.subnet = ["10.9.0.0/24", "fd00:9::/64"]
[links]
"server:s" = {}
"honest:s" = {}
"hostile:s" = {}
"#;

/// What the hostile machine has besides its own address.
const HOSTILE_PREFIXES: [&str; 2] = ["10.77.0.0/16", "fd00:77::/64"];
const PORT: u16 = 5_210;
/// From one look at the server to the next.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a server may take to listen, and to become idle after an honest client.
const PATIENCE: Duration = Duration::from_secs(10);
/// Within this a server has given back what an attack took: a session that is away is held for 50 s after silence.
pub const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(70);
/// What may remain: memory that the allocator keeps, and threads and descriptors that are about to go.
pub const MAY_REMAIN: (u64, u64, u64) = (256 << 20, 2, 8);
/// What a server that is short of descriptors has.
const FEW_DESCRIPTORS: &str = "--nofile=256:256";

/// The network.
pub struct Stage {
    lab: Lab,
    folder: TempDir,
    /// The binary that is attacked.
    pub pathscope: PathBuf,
}

impl Stage {
    /// Puts it up.
    pub fn up(pathscope: &Path) -> Result<Self> {
        let network = Topology::read("attack", TOPOLOGY).network();
        let network = network.map_err(anyhow::Error::msg).context("read the topology")?;
        let folder = folder::temporary()?;
        let plan = Plan {
            binary: pathscope,
            registry: &Registry::at(folder.path().join("lab")),
            name: "attack",
            network: &network,
            seed: Some(1),
            shaper: Shaper::Relay,
        };
        let lab = Lab::up(&plan).context("put a lab up")?;
        let stage = Self { lab, folder, pathscope: pathscope.to_owned() };
        stage.route_strangers()?;
        Ok(stage)
    }

    fn route_strangers(&self) -> Result<()> {
        for (family, prefix) in [Family::V4, Family::V6].into_iter().zip(HOSTILE_PREFIXES) {
            let hostile = self.address_of("hostile", family)?.to_string();
            let own: [&[&str]; 1] = [&["route", "add", "local", prefix, "dev", "lo"]];
            for words in own {
                self.ip("hostile", words)?;
            }
            for node in ["server", "honest"] {
                self.ip(node, &["route", "add", prefix, "via", &hostile])?;
            }
        }
        // Of IPv6 a route alone lets nobody bind.
        let setting = "echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind";
        let mut command = self.lab.command("hostile", "sh");
        let status = command.args(["-c", setting]).status().context("run sh")?;
        ensure!(status.success(), "let the hostile machine use all its IPv6 addresses");
        Ok(())
    }

    fn ip(&self, node: &str, words: &[&str]) -> Result<()> {
        let mut command = self.lab.command(node, "ip");
        let status = command.args(words).status().context("run ip: install iproute2")?;
        ensure!(status.success(), "run ip {} on {node}", words.join(" "));
        Ok(())
    }

    fn address_of(&self, node: &str, family: Family) -> Result<IpAddr> {
        let nodes = self.lab.running().network.nodes();
        let found = nodes
            .iter()
            .find(|other| other.name == node)
            .and_then(|node| node.interfaces.first()?.address(family));
        found.with_context(|| format!("find the address of {node}"))
    }

    /// Where servers listen.
    pub fn address(&self, over_ipv6: bool) -> Result<SocketAddr> {
        let family = if over_ipv6 { Family::V6 } else { Family::V4 };
        Ok(SocketAddr::new(self.address_of("server", family)?, PORT))
    }

    /// Before the first address of strangers.
    pub fn strangers_base(over_ipv6: bool) -> &'static str {
        if over_ipv6 { "fd00:77::1:0" } else { "10.77.1.0" }
    }

    /// Before the address of the honest machine.
    pub fn honest_base(&self, over_ipv6: bool) -> Result<IpAddr> {
        let family = if over_ipv6 { Family::V6 } else { Family::V4 };
        Ok(match self.address_of("honest", family)? {
            IpAddr::V4(address) => IpAddr::V4((u32::from(address) - 1).into()),
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) - 1).into()),
        })
    }

    fn command(&self, node: &str, program: &Path) -> Command {
        // Nobody is left behind where this program is killed.
        let mut command = self.lab.command(node, "setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program);
        command
    }

    /// A program on the honest machine.
    pub fn honest(&self, program: &Path) -> Command {
        self.command("honest", program)
    }

    /// A program on the hostile machine.
    pub fn hostile(&self, program: &Path) -> Command {
        self.command("hostile", program)
    }

    /// A server as a case wants it, once it listens.
    pub fn server(&self, case: &Case) -> Result<Server> {
        let mut command = self.lab.command("server", "setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if case.without_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        }
        if case.few_descriptors {
            command.args(["prlimit", FEW_DESCRIPTORS]);
        }
        command.arg(self.program_for(case)?).arg("server");
        if case.for_others {
            command.args(["--accept", "native,iperf3,ntttcp"]);
        }
        let log = self.folder.path().join("log");
        let file = File::create(&log).with_context(|| format!("make {}", log.display()))?;
        let errors = file.try_clone().context("share the log")?;
        let mut child = Server {
            process: command
                .stdout(file)
                .stderr(errors)
                .stdin(std::process::Stdio::null())
                .spawn()
                .context("run the server")?,
            log,
        };
        let start = now();
        while !child.log().contains("limits:") {
            if let Some(status) = child.process.try_wait().context("look after the server")? {
                bail!("start a server: it ended with {status}: {}", child.end_of_log());
            }
            ensure!(start.elapsed() < PATIENCE, "start a server: it does not listen");
            pause(Duration::from_millis(5));
        }
        Ok(child)
    }

    /// The binary, where the server's user may read it.
    fn program_for(&self, case: &Case) -> Result<PathBuf> {
        if !case.without_root {
            return Ok(self.pathscope.clone());
        }
        let copy = self.folder.path().join("pathscope");
        if !copy.is_file() {
            fs::copy(&self.pathscope, &copy).context("copy the binary")?;
        }
        Ok(copy)
    }
}

/// A server that is attacked. Ends with the value.
pub struct Server {
    process: std::process::Child,
    log: PathBuf,
}

/// What was seen while an attack went on.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The most of each; memory is the kernel's own high-water mark.
    pub most: Sample,
    /// What the server may have open.
    pub descriptor_limit: u64,
    /// Processor time of the server, in ticks of 10 ms.
    pub server_ticks: u64,
    /// The same of the attack.
    pub attack_ticks: u64,
    /// How long it went on.
    pub seconds: f64,
    /// What was written to the log.
    pub log_bytes: u64,
}

impl Server {
    fn log(&self) -> String {
        fs::read(&self.log)
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn log_bytes(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    /// Its last words, cut short.
    pub fn end_of_log(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
    }

    /// What it takes once it is idle.
    pub fn settled_sample(&self) -> Result<Sample> {
        let start = now();
        let mut sample = Sample::of(self.process.id())?;
        while start.elapsed() < Duration::from_secs(3) {
            pause(LOOK_EVERY);
            let next = Sample::of(self.process.id())?;
            let is_idle = next.threads == sample.threads && next.descriptors == sample.descriptors;
            sample = next;
            if is_idle && start.elapsed() > LOOK_EVERY * 5 {
                break;
            }
        }
        Ok(sample)
    }

    /// Looks at it until the attack has ended.
    pub fn watch(&mut self, attack: &mut Attack, limit: Duration) -> Result<Observed> {
        let start = now();
        let first = Sample::of(self.process.id())?;
        let log_before = self.log_bytes();
        let mut observed = Observed {
            descriptor_limit: samples::descriptor_limit(self.process.id())?,
            ..Observed::default()
        };
        loop {
            let Ok(sample) = Sample::of(self.process.id()) else {
                // That it has ended is said by who asks whether it is in order.
                break;
            };
            let most = &mut observed.most;
            most.most_resident_bytes = most.most_resident_bytes.max(sample.most_resident_bytes);
            most.threads = most.threads.max(sample.threads);
            most.descriptors = most.descriptors.max(sample.descriptors);
            observed.server_ticks = sample.processor_ticks.saturating_sub(first.processor_ticks);
            observed.attack_ticks =
                attack.processor_ticks().unwrap_or_default().max(observed.attack_ticks);
            observed.seconds = start.elapsed().as_secs_f64();
            if attack.has_ended(LOOK_EVERY) {
                break;
            }
            ensure!(start.elapsed() < limit, "end the attack within {} s", limit.as_secs());
        }
        observed.log_bytes = self.log_bytes().saturating_sub(log_before);
        Ok(observed)
    }

    /// How long it took until it had given back what the attack took; None where it did not in time.
    pub fn given_back(&self, before: &Sample) -> Result<Option<Duration>> {
        let (memory, threads, descriptors) = MAY_REMAIN;
        let start = now();
        while start.elapsed() < GIVEN_BACK_WITHIN {
            let sample = Sample::of(self.process.id())?;
            if sample.resident_bytes <= before.resident_bytes + memory
                && sample.threads <= before.threads + threads
                && sample.descriptors <= before.descriptors + descriptors
            {
                return Ok(Some(start.elapsed()));
            }
            pause(LOOK_EVERY);
        }
        Ok(None)
    }

    /// That it runs, and never panicked.
    pub fn is_in_order(&mut self) -> Result<()> {
        if let Some(status) = self.process.try_wait().context("look after the server")? {
            bail!("outlive the attack: the server ended with {status}");
        }
        ensure!(!self.log().contains("panicked"), "go through the attack without a panic");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
