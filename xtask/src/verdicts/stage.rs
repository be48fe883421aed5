//! The lab on which causes are brought about: two hosts and a relayed link, a server on one of them, and single runs of a client
//! on the other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::relay::Shortcoming;
use pathscope_lab::running::{Registry, SetOrder, Shaper};
use pathscope_lab::topology::Topology;
use pathscope_modes::document::{Document, Measurement};
use pathscope_os::cpus;
use tempfile::TempDir;

use super::cause::{Cause, Setting};
use super::cell::{Cell, End};
use super::others::{BusyPrograms, Stopped, no_rank};
use super::quota::Quota;
use crate::ends::{self, now, pause};
use crate::folder;

const TOPOLOGY: &str = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { rate = \"20Mbit\" }\n";
const LINK: &str = "a:b";
/// What sockets of a node may have otherwise: least, first, most.
const BUFFERS: [(&str, &str); 2] =
    [("tcp_rmem", "4096 131072 6291456"), ("tcp_wmem", "4096 16384 4194304")];
/// How long a server may take to listen, and a client to end after its time.
const PATIENCE: Duration = Duration::from_secs(20);
/// And beyond that so many times what it lasts: what waits to be sent at its end still has to be, at whatever rate the path leaves.
const DRAINS: u32 = 8;
/// From one look at a client to the next.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long a run sends, at the least, where a process is stopped again and again.
const STOPPED: Duration = Duration::from_millis(4_500);
/// Of a processor, what a hypervisor may take before a run says nothing.
const STOLEN: f64 = 0.1;

/// From which share of all processors on a machine was busy with other things, in a run that needs less than half of two.
const FULL: f64 = 0.9;
/// A machine this busy before anything runs is not at rest, and is waited for.
const AT_REST: f64 = 0.25;
const REST_PATIENCE: Duration = Duration::from_secs(60);

/// The lab, and what stands on it.
pub struct Stage {
    lab: Lab,
    pathscope: PathBuf,
    quotas: Result<Quotas, String>,
    server: Option<Child>,
    /// Gone with the lab.
    folder: TempDir,
}

/// One for each end.
#[derive(Debug)]
struct Quotas {
    client: Quota,
    server: Quota,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub measurement: Box<Measurement>,
    /// The processors of the one machine that both ends run on.
    pub cpus: Option<u32>,
    /// Why it says nothing.
    pub spoilt: Option<String>,
}

impl Ran {
    pub fn goodput_bps(&self) -> Result<f64> {
        let summary = self.measurement.summary.goodput.as_ref().context("measure goodput")?;
        let mut ways = [summary.up, summary.down].into_iter().flatten();
        ways.find_map(|way| way.goodput_bps).context("measure goodput of one way")
    }

    /// Processor time of an end's workers, as a share of one processor.
    pub fn used(&self, end: End) -> f64 {
        let report = match end {
            End::Client => Some(&self.measurement.client),
            End::Server => self.measurement.server.as_ref(),
        };
        let Some(report) = report.filter(|report| report.elapsed_ns > 0) else { return 0.0 };
        let ns: u64 = report.workers.iter().map(|it| it.user_ns + it.system_ns).sum();
        ns as f64 / report.elapsed_ns as f64
    }
}

impl Stage {
    /// Puts it up, with a server.
    pub fn up(pathscope: &Path, seed: u64) -> Result<Self> {
        let network = Topology::read("verdicts", TOPOLOGY).network();
        let network = network.map_err(anyhow::Error::msg).context("read the topology")?;
        let folder = folder::temporary()?;
        let plan = Plan {
            binary: pathscope,
            registry: &Registry::at(folder.path().join("lab")),
            name: "verdicts",
            network: &network,
            seed: Some(seed),
            shaper: Shaper::Relay,
        };
        let lab = Lab::up(&plan).context("put a lab up")?;
        let quotas = Quota::new("client")
            .and_then(|client| Ok(Quotas { client, server: Quota::new("server")? }));
        let mut stage = Self { lab, pathscope: pathscope.to_owned(), quotas, server: None, folder };
        let log = stage.folder.path().join("log");
        stage.server = Some(stage.start_server(&log)?);
        Ok(stage)
    }

    /// What this machine lacks for a cause, if it lacks anything.
    pub fn lacks(&self, cause: Cause) -> Option<String> {
        match cause {
            Cause::SenderProcessor | Cause::ReceiverProcessor => {
                self.quotas.as_ref().err().map(|why| format!("there is no quota: {why}"))
            }
            Cause::OthersAtSender | Cause::OthersAtReceiver => no_rank(),
            _ => None,
        }
    }

    fn command(&self, end: End) -> Command {
        // Nobody is left behind where this program is killed.
        let mut command = self.lab.command(end.node(), "setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(&self.pathscope);
        command
    }

    fn start_server(&self, log: &Path) -> Result<Child> {
        let mut command = self.command(End::Server);
        command.args(["server", "--allow-spin", "--allow-pinning", "--allow-congestion"]);
        if let Ok(quotas) = &self.quotas {
            command = quotas.server.wrap(&command);
        }
        let file = File::create(log).with_context(|| format!("make {}", log.display()))?;
        let errors = file.try_clone().context("share the log")?;
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        let mut child = command.spawn().context("run the server")?;
        let start = now();
        while !fs::read_to_string(log).unwrap_or_default().contains("listening on") {
            if let Some(status) = child.try_wait().context("look after the server")? {
                bail!("start a server: it ended with {status}");
            }
            ensure!(start.elapsed() < PATIENCE, "start a server: it does not listen");
            pause(LOOK_EVERY);
        }
        Ok(child)
    }

    /// One run of a cell, set like this.
    pub fn run(&self, cell: &Cell, setting: &Setting) -> Result<Ran> {
        self.set_link(cell, setting)?;
        self.set_buffers(setting.buffers)?;
        self.set_quota(setting.quota)?;
        let before = self.lab.account().context("ask for the relay's account")?;
        let output = self.measure(cell, setting);
        self.set_quota(None)?;
        let after = self.lab.account().context("ask for the relay's account")?;
        let document: Document =
            serde_json::from_str(&output?).context("read what the client says")?;
        let cpus = document.hosts.client.cpus_online;
        let measurement = document.measurements.into_iter().next().context("measure anything")?;
        let shortcomings = after.since(&before).shortcomings();
        let spoilt = spoilt(&measurement, &shortcomings, setting);
        Ok(Ran { measurement: Box::new(measurement), cpus, spoilt })
    }

    fn set_link(&self, cell: &Cell, setting: &Setting) -> Result<()> {
        let order = |words: &str, from: Option<&str>| -> Result<SetOrder> {
            Ok(SetOrder {
                link: LINK.to_owned(),
                from: from.map(str::to_owned),
                order: words.parse().map_err(anyhow::Error::msg).context("say it to a link")?,
                after_ns: 0,
            })
        };
        let words = format!(
            "rate={}Mbit delay={}ms queue={} loss=none reorder=none",
            setting.megabits,
            cell.delay_ms,
            cell.queue()
        );
        let mut orders = vec![order(&words, None)?];
        if let Some(words) = setting.link {
            orders.push(order(words, Some(cell.sender().node()))?);
        }
        self.lab.set(orders).context("set the link")
    }

    fn set_buffers(&self, small: Option<(End, &str, u64)>) -> Result<()> {
        for end in [End::Client, End::Server] {
            let lines = BUFFERS.map(|(name, usual)| match small {
                Some((there, what, most)) if there == end && what == name => {
                    format!("echo 4096 {most} {most} > /proc/sys/net/ipv4/{name}")
                }
                _ => format!("echo {usual} > /proc/sys/net/ipv4/{name}"),
            });
            let script = lines.join(" && ");
            let mut command = self.lab.command(end.node(), "sh");
            let status = command.args(["-c", &script]).status().context("run sh")?;
            ensure!(status.success(), "set the buffers of {end:?}");
        }
        Ok(())
    }

    fn set_quota(&self, wanted: Option<(End, f64)>) -> Result<()> {
        let Ok(quotas) = &self.quotas else { return Ok(()) };
        for (end, quota) in [(End::Client, &quotas.client), (End::Server, &quotas.server)] {
            let share = wanted.filter(|(wanted, _)| *wanted == end).map(|(_, share)| share);
            quota.limit(share).map_err(anyhow::Error::msg).context("set a quota")?;
        }
        Ok(())
    }

    /// What a client says of one test.
    fn measure(&self, cell: &Cell, setting: &Setting) -> Result<String> {
        let mut command = self.command(End::Client);
        let pattern = if cell.pulls { "pull" } else { "push" };
        let lasts = setting.stopped.map_or(cell.lasts(), |_| cell.lasts().max(STOPPED));
        let words = format!("{}ms", lasts.as_millis());
        command.args(["goodput", End::Server.node(), "-t", &words, "--no-probe", "--json"]);
        command.args(["-c", &cell.connections.to_string(), "--pattern", pattern]);
        command.args(["--congestion", &cell.control]).args(&setting.words);
        if let Ok(quotas) = &self.quotas {
            command = quotas.client.wrap(&command);
        }
        let busy = setting.others.map(|end| BusyPrograms::on(processor_of(end))).transpose()?;
        let mut client = ends::End::start(command)?;
        let process = setting.stopped.map(|end| match end {
            End::Client => client.id(),
            End::Server => self.server.as_ref().map_or(0, Child::id),
        });
        let mut stopped = process.map(Stopped::process).transpose()?;
        let start = now();
        let output = loop {
            if let Some(output) = client.output_if_ended(LOOK_EVERY) {
                break output;
            }
            ensure!(start.elapsed() < DRAINS * lasts + PATIENCE, "measure {cell}: it does not end");
            if let Some(stopped) = &mut stopped {
                stopped.go_on();
            }
        };
        drop(busy);
        Ok(output)
    }
}

/// The processor that an end's thread is bound to where other programs run on it.
const fn processor_of(end: End) -> u32 {
    match end {
        End::Client => 0,
        End::Server => 1,
    }
}

/// Why a run says nothing. A processor that is busy with programs of ours is meant to be; threads that are bound to one need that
/// one, and others any.
fn spoilt(
    measurement: &Measurement,
    shortcomings: &[Shortcoming],
    setting: &Setting,
) -> Option<String> {
    let ours = setting.others.map(processor_of);
    let is_bound = setting.words.iter().any(|word| word == "--cpu");
    let ends = || [Some(&measurement.client), measurement.server.as_ref()].into_iter().flatten();
    let stolen = ends().filter_map(|end| end.host.as_ref()?.most_stolen()).fold(0.0, f64::max);
    if stolen >= STOLEN {
        return Some(format!("a hypervisor took {:.0} % of a processor", 100.0 * stolen));
    }
    let others = ends().filter_map(|end| end.host.as_ref()).filter_map(|host| {
        let cpus = || host.cpus.iter().filter(|cpu| Some(cpu.cpu) != ours).map(|cpu| cpu.busy);
        let mean = || cpus().sum::<f64>() / cpus().count() as f64;
        if is_bound { cpus().reduce(f64::max) } else { (cpus().count() > 0).then(mean) }
    });
    let busy = others.fold(0.0, f64::max);
    if busy >= FULL {
        return Some(format!("other programs kept processors busy, to {:.0} %", 100.0 * busy));
    }
    shortcomings.first().map(|first| match first {
        Shortcoming::Late { p99_ns, .. } => {
            format!("the relay was late: one frame in a hundred by {} µs", p99_ns / 1_000)
        }
        Shortcoming::Lost { frames, .. } => format!("the relay lost {frames} frames by itself"),
    })
}

/// Until other programs leave the machine alone, or for a while.
pub fn await_rest() {
    let start = now();
    while start.elapsed() < REST_PATIENCE {
        let Some(before) = cpus::host() else { return };
        pause(Duration::from_millis(500));
        let busy = cpus::host().and_then(|after| after.busy_share_since(&before));
        if busy.is_none_or(|busy| busy < AT_REST) {
            return;
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // Already gone is as good as ended.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
