//! The process that holds a lab: it builds the network, relays its links, answers about it, and takes it
//! down.
//!
//! Nodes are network namespaces that nothing but the keeper's descriptors and the programs on them hold.
//! When the keeper ends, however it ends, the kernel takes the rest down. Not here: finding a keeper
//! that runs (`standing`).

mod build;
mod serve;

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use pathscope_os::namespaces::{self, Network as Namespace};
use pathscope_os::{OsError, random};
use serde::{Deserialize, Serialize};

use crate::kernel::KernelError;
use crate::relay::{Relay, RelayError};
use crate::standing::{NodePlace, Registry, Shaper, Standing, StandingError, fresh_token};
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
pub enum Word {
    /// The lab stands.
    Ready(Box<Standing>),
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
    Standing(#[from] StandingError),
    /// The keeper was told something it does not understand.
    #[error("the keeper cannot read what it is to build: {0}")]
    Brief(#[from] serde_json::Error),
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
    registry: Registry,
    standing: Standing,
    relay: Relay,
    /// The relayed links' places in the topology, in the order of the relay.
    relayed: Vec<usize>,
    /// Kept open: the nodes exist because of these.
    _namespaces: Vec<Namespace>,
    /// Where the relay's packet sockets listen.
    wires: Namespace,
}

/// The keeper's life: reads its [`Brief`], builds, says a [`Word`], serves until it is told to end or
/// whoever started it is gone, and leaves nothing. To be called while the process has one thread.
pub fn keep(
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> Result<(), KeeperError> {
    // A terminal's Ctrl-C is for whoever started us; when they end, so do we. Refused only where we lead a
    // group of processes already, which is as good.
    let _ = rustix::process::setsid();
    let mut input = input;
    let mut line = String::new();
    let stream = |what| move |source| KeeperError::Stream { what, source };
    input.read_line(&mut line).map_err(stream("standard input"))?;
    let brief: Brief = serde_json::from_str(&line)?;
    // Before threads are started: signals that come while it is being built end it in order, too.
    let door = serve::Door::open()?;
    let registry = Registry::at(&brief.registry);
    registry.claim(&brief.name)?;
    let name = brief.name.clone();
    let said = build_and_listen(brief, registry.clone()).and_then(|built| {
        let word = Word::Ready(Box::new(built.0.standing.clone()));
        say(&mut output, &word).map_err(stream("standard output")).map(|()| built)
    });
    match said {
        Ok((held, listener)) => {
            drop(output);
            serve::serve(&held, &listener, &door, input)
        }
        Err(error) => {
            // Whoever started it may be gone; then nobody needs to know.
            let _ = say(&mut output, &Word::Failed(error.to_string()));
            registry.remove(&name)?;
            Err(error)
        }
    }
}

fn say(output: &mut impl Write, word: &Word) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

fn build_and_listen(
    brief: Brief,
    registry: Registry,
) -> Result<(Held, std::os::unix::net::UnixListener), KeeperError> {
    let Brief { name, network, seed, shaper, .. } = brief;
    let in_user_namespace = !rustix::process::geteuid().is_root();
    if in_user_namespace {
        namespaces::become_root()?;
    }
    let seed = match seed.or(network.seed()) {
        Some(seed) => seed,
        None => u64::from_le_bytes(random::bytes()?),
    };
    let token = fresh_token()?;
    let built = build::build(&network, &format!("pathscope:{name}:{token}"), seed, shaper)?;
    let relay = Relay::start(built.wires)?;
    let path = registry.control(&name);
    let listener = std::os::unix::net::UnixListener::bind(&path)
        .map_err(StandingError::file("listen on", &path))?;
    let mut nodes = Vec::new();
    for (node, namespace) in network.nodes().iter().zip(&built.namespaces) {
        let identity = namespace.identity()?;
        nodes.push(NodePlace {
            name: node.name.clone(),
            descriptor: std::os::fd::AsRawFd::as_raw_fd(&std::os::fd::AsFd::as_fd(namespace)),
            device: identity.device,
            inode: identity.inode,
        });
    }
    let standing = Standing {
        name,
        token,
        keeper: std::process::id(),
        in_user_namespace,
        nodes,
        network,
        seed,
        shaper,
    };
    registry.write(&standing)?;
    let held = Held {
        registry,
        standing,
        relay,
        relayed: built.relayed,
        _namespaces: built.namespaces,
        wires: built.wires_namespace,
    };
    Ok((held, listener))
}
