//! What holds for every run of a comparison, and what a reader must know of the machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use pathscope_core::quantity;
use serde::Serialize;

use super::Arguments;
use crate::check;

/// What both sides of every pair have in common.
#[derive(Clone, Debug, Serialize)]
pub struct Conditions {
    /// The binary that is measured.
    pub pathscope: PathBuf,
    /// Its length; with line tables, unless it was built without.
    pub pathscope_bytes: u64,
    /// The build that it is held against, where one is named.
    pub earlier: Option<PathBuf>,
    /// Of each run.
    pub seconds: u32,
    /// Of every TCP connection.
    pub congestion: String,
    /// What a connection has that nobody tells otherwise.
    pub system_congestion: String,
    /// The core that holds the server.
    pub server_core: usize,
    /// The core that holds the client.
    pub client_core: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
}

impl Conditions {
    /// As asked for; an error where this machine cannot keep them.
    pub fn of(root: &Path, arguments: &Arguments) -> Result<Self> {
        for tool in ["taskset", "setpriv"] {
            ensure!(check::find_program(tool).is_some(), "find {tool}: install util-linux");
        }
        ensure!(arguments.pairs > 0 && arguments.seconds > 0, "run at least one pair of a second");
        ensure!(
            arguments.earlier.is_some() || arguments.against.iter().all(|name| name != "earlier"),
            "know the earlier build: name its binary with --earlier"
        );
        let available = read("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let congestion = arguments.congestion.clone();
        ensure!(
            available.split_whitespace().any(|name| name == congestion),
            "use congestion control {congestion}: this kernel has {available}"
        );
        let pathscope = root.join(&arguments.pathscope);
        Ok(Self {
            pathscope_bytes: fs::metadata(&pathscope).map_or(0, |file| file.len()),
            pathscope,
            earlier: arguments.earlier.as_ref().map(|path| root.join(path)),
            seconds: arguments.seconds,
            congestion,
            system_congestion: read("/proc/sys/net/ipv4/tcp_congestion_control"),
            server_core: arguments.server_core,
            client_core: arguments.client_core,
            kernel: read("/proc/sys/kernel/osrelease"),
            processor: processor(),
        })
    }

    /// For the head of a table.
    pub fn in_words(&self) -> String {
        let Self { processor, kernel, congestion, seconds, server_core, client_core, .. } = self;
        format!(
            "{processor}, Linux {kernel}, loopback; server on core {server_core}, client on core \
             {client_core}; {congestion}; {seconds} s a run"
        )
    }

    /// How long the binary is.
    pub fn size_in_words(&self) -> String {
        format!("{} is {} long", self.pathscope.display(), quantity::bytes(self.pathscope_bytes))
    }

    /// Whether a tool that cannot be told its congestion control runs with the same one.
    pub fn system_agrees(&self) -> bool {
        self.congestion == self.system_congestion
    }
}

/// A fact of the kernel's; empty where it does not tell.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn processor() -> String {
    let facts = read("/proc/cpuinfo");
    let model = facts.lines().find_map(|line| line.strip_prefix("model name"));
    model
        .map_or("a processor without a name", |rest| rest.trim_start_matches([' ', '\t', ':']))
        .to_owned()
}
