//! The process that holds a lab: it builds the network, relays its links, answers about it, and takes it
//! down.
//!
//! Nodes are network namespaces that nothing but the keeper's descriptors and the programs on them hold.
//! When the keeper ends, however it ends, the kernel takes the rest down. Not here: finding a keeper
//! that runs (`running`).

mod build;
mod counters;
mod serve;

use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use pathscope_os::namespaces::{self, Network as Namespace};
use pathscope_os::{OsError, random};
use serde::{Deserialize, Serialize};

use self::build::Built;
use crate::kernel::KernelError;
use crate::relay::{Relay, RelayError};
use crate::running::{
    Hold, NodePlace, Registry, RunningLab, RunningLabError, Shaper, clear_for_another, fresh_token,
    mark,
};
use crate::tc::ShapeError;
use crate::topology::Network;

/// What a keeper is told at first, as a line of JSON on its standard input.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Brief {
    /// The folder of the registry that the lab is written down in.
    pub registry: PathBuf,
    /// What the lab is called.
    pub name: String,
    /// What to build.
    pub network: Network,
    /// What the links' chances are drawn from; else drawn at random.
    pub seed: Option<u64>,
    /// Who applies the links' conditions.
    pub shaper: Shaper,
}

/// What a keeper says when it has built the lab, or not, as a line of JSON on its standard output.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeeperMessage {
    /// The lab stands.
    Ready(Box<RunningLab>),
    /// It does not, since a lab has this name.
    NameInUse(String),
    /// It does not, and why. Nothing is left of it.
    Failed(String),
}

/// A line on standard input after which the lab outlives whoever started the keeper.
pub const STAY: &str = "stay";

/// Why a lab was not built.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// The kernel did not do something.
    #[error("{source}{}", remedy(.source.remedy()))]
    Kernel {
        /// What.
        #[from]
        source: KernelError,
    },
    /// The system did not.
    #[error("{source}{}", remedy(.source.remedy()))]
    Os {
        /// What.
        #[from]
        source: OsError,
    },
    /// The relay did not start.
    #[error(transparent)]
    Relay(#[from] RelayError),
    /// The kernel does not shape a link.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The lab could not be written down.
    #[error(transparent)]
    RunningLab(#[from] RunningLabError),
    /// The keeper was told something it does not understand.
    #[error("the keeper cannot read what it is to build: {0}")]
    Brief(#[from] serde_json::Error),
    /// It was told to end, or whoever started it is gone.
    #[error("the keeper was told to end before the lab was up")]
    Interrupted,
    /// Reading or writing.
    #[error("the keeper's {what} failed: {source}")]
    Stream {
        /// Which.
        what: &'static str,
        /// How.
        source: io::Error,
    },
    /// An interface that works on behalf of others changes what is on the wire.
    #[error(
        "interface {interface} of {node} does not let go of {offloads}, which would change the \
             packets that the lab counts"
    )]
    Offloads {
        /// Where.
        node: String,
        /// Which.
        interface: String,
        /// What.
        offloads: String,
    },
}

fn remedy(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

/// A lab that stands, as its keeper holds it.
#[derive(Debug)]
struct Held {
    hold: Hold,
    running: RunningLab,
    relay: Relay,
    /// The relayed links' places in the topology, in the order of the relay.
    relayed: Vec<usize>,
    /// In the order of the nodes. Kept open: these exist because of them.
    namespaces: Vec<Namespace>,
    /// Where the relay's packet sockets listen.
    wires: Namespace,
}

/// The keeper's life: reads its [`Brief`], builds, says a [`KeeperMessage`], serves until it is told to end or
/// whoever started it is gone, and leaves nothing. To be called while the process has one thread.
pub fn keep(
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> Result<(), KeeperError> {
    // A terminal's Ctrl-C is for whoever started us; when they end, so do we. Refused only where we lead a
    // group of processes already, which is as good.
    let _ = rustix::process::setsid();
    let raised = raise(input);
    let (held, listener, door) = match raised {
        Ok(raised) => raised,
        Err(error) => {
            let word = match &error {
                KeeperError::RunningLab(RunningLabError::NameInUse { name }) => {
                    KeeperMessage::NameInUse(name.clone())
                }
                error => KeeperMessage::Failed(error.to_string()),
            };
            // Whoever started it may be gone; then nobody needs to know.
            let _ = say(&mut output, &word);
            // That is an end in order.
            return if matches!(error, KeeperError::Interrupted) { Ok(()) } else { Err(error) };
        }
    };
    if let Err(source) = say(&mut output, &KeeperMessage::Ready(Box::new(held.running.clone()))) {
        held.hold.remove()?;
        return Err(KeeperError::Stream { what: "standard output", source });
    }
    drop(output);
    serve::serve(&held, &listener, &door)
}

/// Reads the brief and builds the lab. Where it fails, nothing is left.
fn raise(
    mut input: impl BufRead + Send + 'static,
) -> Result<(Held, UnixListener, serve::Door), KeeperError> {
    let mut line = String::new();
    let failed = |source| KeeperError::Stream { what: "standard input", source };
    input.read_line(&mut line).map_err(failed)?;
    let brief: Brief = serde_json::from_str(&line)?;
    // Before threads are started: signals that come while it is being built end it in order, too.
    let door = serve::Door::open()?;
    let in_user_namespace = !rustix::process::geteuid().is_root();
    if in_user_namespace {
        namespaces::become_root()?;
    }
    door.watch(input)?;
    let registry = Registry::at(&brief.registry);
    let name = brief.name.clone();
    let pause = |time| door.is_called_within(time);
    let hold = registry.claim(&name, pause)?.ok_or(KeeperError::Interrupted)?;
    let built = clear_for_another(&registry, &name, &hold)
        .map_err(KeeperError::from)
        .and_then(|()| build_and_listen(brief, &registry, &door, in_user_namespace));
    match built {
        Ok((running, built, relay, listener)) => {
            let held = Held {
                hold,
                running,
                relay,
                relayed: built.relayed,
                namespaces: built.namespaces,
                wires: built.wires_namespace,
            };
            Ok((held, listener, door))
        }
        Err(error) => {
            hold.remove()?;
            Err(error)
        }
    }
}

fn say(output: &mut impl Write, word: &KeeperMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

fn build_and_listen(
    brief: Brief,
    registry: &Registry,
    door: &serve::Door,
    in_user_namespace: bool,
) -> Result<(RunningLab, Built, Relay, UnixListener), KeeperError> {
    let Brief { name, network, seed, shaper, .. } = brief;
    let seed = match seed.or(network.seed()) {
        Some(seed) => seed,
        None => u64::from_le_bytes(random::bytes()?),
    };
    let token = fresh_token()?;
    let goes_on = || if door.is_called() { Err(KeeperError::Interrupted) } else { Ok(()) };
    let mut built = build::build(&network, &mark(&name, &token), seed, shaper, &goes_on)?;
    let relay = Relay::start(std::mem::take(&mut built.wires))?;
    let path = registry.control(&name);
    let listener = UnixListener::bind(&path).map_err(RunningLabError::file("listen on", &path))?;
    let mut nodes = Vec::new();
    for (node, namespace) in network.nodes().iter().zip(&built.namespaces) {
        let identity = namespace.identity()?;
        nodes.push(NodePlace {
            name: node.name.clone(),
            descriptor: namespace.as_fd().as_raw_fd(),
            device: identity.device,
            inode: identity.inode,
        });
    }
    let keeper = std::process::id();
    let running =
        RunningLab { name, token, keeper, in_user_namespace, nodes, network, seed, shaper };
    registry.write(&running)?;
    Ok((running, built, relay, listener))
}
