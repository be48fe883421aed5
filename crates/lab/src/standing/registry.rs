//! Where labs are written down while they stand: a folder for each, with its description, the socket on
//! which its keeper listens, and the names of its nodes for programs on them.

use std::fmt;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pathscope_os::namespaces::Identity;
use pathscope_os::random;
use serde::{Deserialize, Serialize};

use super::StandingError;
use crate::topology::Network;

/// The folder that holds a folder for each lab of this user.
#[derive(Clone, Debug)]
pub struct Registry {
    root: PathBuf,
}

/// What has to be known to use a lab.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// Drawn at random when it was built: programs on its nodes carry it.
    pub token: String,
    /// The process that holds it.
    pub keeper: u32,
    /// Whether its namespaces belong to a user namespace of the keeper's.
    pub in_user_namespace: bool,
    /// Where each node is, in the order of the topology.
    pub nodes: Vec<NodePlace>,
    /// What it looks like.
    pub network: Network,
    /// What its links' chances are drawn from.
    pub seed: u64,
    /// Who applies the links' conditions.
    pub shaper: Shaper,
}

/// Who applies the conditions of a lab's links.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shaper {
    /// Our own relay, which counts what it does to every packet.
    #[default]
    Relay,
    /// The kernel's queueing disciplines.
    Tc,
}

impl fmt::Display for Shaper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Relay => "relay",
            Self::Tc => "tc",
        })
    }
}

/// Where a node is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NodePlace {
    /// Its name.
    pub name: String,
    /// The keeper's descriptor of its namespace.
    pub descriptor: i32,
    /// The namespace's device and inode, unique while it lives.
    pub device: u64,
    /// See `device`.
    pub inode: u64,
}

impl NodePlace {
    /// Whether this namespace is the node's.
    pub fn is(&self, identity: Identity) -> bool {
        (self.device, self.inode) == (identity.device, identity.inode)
    }
}

const DESCRIPTION: &str = "lab.json";
const CONTROL: &str = "control";
const HOSTS: &str = "hosts";

impl Registry {
    /// This user's: below `/run` for root, below `XDG_RUNTIME_DIR` for others that have one, else below
    /// `/tmp`.
    pub fn of_user() -> Self {
        let user = rustix::process::geteuid();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let base = if user.is_root() {
            PathBuf::from("/run/pathscope")
        } else if let Some(runtime) = runtime.filter(|path| path.is_absolute()) {
            runtime.join("pathscope")
        } else {
            PathBuf::from(format!("/tmp/pathscope-{}", user.as_raw()))
        };
        Self { root: base.join("lab") }
    }

    /// One in a folder of its own.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A new folder for a lab; fails where there is one of that name.
    pub fn claim(&self, name: &str) -> Result<(), StandingError> {
        let private = |recursive| {
            let mut builder = fs::DirBuilder::new();
            builder.mode(0o700).recursive(recursive);
            builder
        };
        private(true).create(&self.root).map_err(StandingError::file("create", &self.root))?;
        self.check_private()?;
        let folder = self.folder(name);
        private(false).create(&folder).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => StandingError::NameInUse { name: name.to_owned() },
            _ => StandingError::File { what: "create", path: folder, source },
        })
    }

    /// Who could write here could have us run their keeper: the folder must be ours alone.
    fn check_private(&self) -> Result<(), StandingError> {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(&self.root).map_err(StandingError::file("look at", &self.root))?;
        let user = rustix::process::geteuid();
        if found.uid() == user.as_raw() && found.permissions().mode() & 0o022 == 0 {
            return Ok(());
        }
        let source = std::io::Error::other("others may write there; remove it");
        Err(StandingError::File { what: "use", path: self.root.clone(), source })
    }

    /// Names of the labs that are written down, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The lab of this name, or the only one.
    pub fn find(&self, name: Option<&str>) -> Result<Standing, StandingError> {
        let names = self.names();
        let there = || format!("those that are up are {}", names.join(", "));
        match (name, names.as_slice()) {
            (_, []) => Err(StandingError::NoLab),
            (Some(name), _) if names.iter().any(|known| known == name) => self.read(name),
            (Some(name), _) => {
                Err(StandingError::NoSuchLab { name: name.to_owned(), there: there() })
            }
            (None, [only]) => self.read(only),
            (None, _) => Err(StandingError::WhichLab {
                there: format!("{} labs are up: {}", names.len(), names.join(", ")),
            }),
        }
    }

    /// What is written down of a lab.
    pub fn read(&self, name: &str) -> Result<Standing, StandingError> {
        let path = self.folder(name).join(DESCRIPTION);
        let text = fs::read(&path).map_err(StandingError::file("read", &path))?;
        serde_json::from_slice(&text)
            .map_err(|error| StandingError::file("understand", &path)(error.into()))
    }

    /// Writes a lab down: from now on it is found.
    pub fn write(&self, standing: &Standing) -> Result<(), StandingError> {
        let folder = self.folder(&standing.name);
        let hosts = hosts(&standing.network);
        let path = folder.join(HOSTS);
        fs::write(&path, hosts).map_err(StandingError::file("write", &path))?;
        let path = folder.join(DESCRIPTION);
        let beside = folder.join("lab.json.new");
        let text = serde_json::to_vec_pretty(standing)
            .map_err(|error| StandingError::file("write", &path)(error.into()))?;
        fs::write(&beside, text).map_err(StandingError::file("write", &beside))?;
        fs::rename(&beside, &path).map_err(StandingError::file("write", &path))
    }

    /// Forgets a lab.
    pub fn remove(&self, name: &str) -> Result<(), StandingError> {
        let folder = self.folder(name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StandingError::file("remove", folder)(error))
            }
            _ => Ok(()),
        }
    }

    /// Where the lab's keeper listens.
    pub fn control(&self, name: &str) -> PathBuf {
        self.folder(name).join(CONTROL)
    }

    /// A file like `/etc/hosts` with the lab's nodes.
    pub fn hosts(&self, name: &str) -> PathBuf {
        self.folder(name).join(HOSTS)
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// Names of nodes with all their addresses, the first of each first.
fn hosts(network: &Network) -> String {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost\n");
    for node in network.nodes() {
        for interface in &node.interfaces {
            for address in &interface.addresses {
                text.extend([&address.address.to_string(), " ", &node.name, "\n"]);
            }
        }
    }
    text
}

/// A token that no other lab has.
pub fn fresh_token() -> Result<String, StandingError> {
    Ok(format!("{:032x}", u128::from_be_bytes(random::bytes()?)))
}
