//! Where labs are written down while they stand: a folder for each, with its description, the socket on
//! which its keeper listens, and the names of its nodes for programs on them.
//!
//! In one file: one folder of labs, from claiming a name to giving it back.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pathscope_os::namespaces::Identity;
use pathscope_os::{clock, random};
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::control::{Answer, Request};
use super::{RunningLabError, control};
use crate::topology::Network;

/// The folder that holds a folder for each lab of this user.
#[derive(Clone, Debug)]
pub struct Registry {
    root: PathBuf,
}

/// What has to be known to use a lab.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunningLab {
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

/// How long a name that is taken may take to become free: a keeper that was told to end gives the
/// programs on its nodes two seconds.
const CLAIM_PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at a lock; the kernel tells nobody when one becomes free.
const LOOK_AGAIN_NS: i64 = 10_000_000;

/// A lab's folder, held. Who has it is alone with a lab of this name: only then may the folder be removed.
#[derive(Debug)]
pub(crate) struct Hold {
    folder: PathBuf,
    lock: File,
}

impl Hold {
    /// Forgets the lab. The name is free from then on, so another's folder of that name stays.
    pub fn remove(&self) -> Result<(), RunningLabError> {
        if !self.is_there() {
            return Ok(());
        }
        fs::remove_dir_all(&self.folder).map_err(RunningLabError::file("remove", &self.folder))
    }

    /// Forgets what is in the folder, and keeps it.
    pub fn empty(&self) -> Result<(), RunningLabError> {
        let failed = || RunningLabError::file("empty", &self.folder);
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = entry.path();
            let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.map_err(failed())?;
        }
        Ok(())
    }

    /// Whether the folder of that name is the one that is held.
    fn is_there(&self) -> bool {
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        match (fs::metadata(&self.folder), self.lock.metadata()) {
            (Ok(there), Ok(ours)) => identity(there) == identity(ours),
            _ => false,
        }
    }
}

/// Who holds a lab's folder.
#[derive(Debug)]
pub(crate) enum Holding {
    /// We do.
    Ours(Hold),
    /// Somebody else, a keeper.
    Others(Watch),
    /// There is none.
    Missing,
}

/// A folder that somebody else holds.
#[derive(Debug)]
pub(crate) struct Watch {
    lock: File,
}

impl Watch {
    /// Waits until nobody holds it, also where it was removed; false where somebody still does after so
    /// long.
    pub fn wait_until_free(&self, patience: Duration) -> bool {
        let end = clock::now().plus_nanos(patience.as_nanos() as u64);
        while flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            if clock::now() >= end {
                return false;
            }
            // Nothing becomes ready when a lock does.
            let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN_NS }));
        }
        // Whoever holds it to remove it does so by opening it anew.
        flock(&self.lock, FlockOperation::Unlock).is_ok()
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

    /// A folder for a lab, held. One that a keeper left when it was killed is taken as it is; where one
    /// holds it, that may be about to end, and is waited for a while. `pause` passes time between looks,
    /// and is true where nobody needs the lab any more: then there is none.
    pub(crate) fn claim(
        &self,
        name: &str,
        mut pause: impl FnMut(Duration) -> bool,
    ) -> Result<Option<Hold>, RunningLabError> {
        let private = |recursive| {
            let mut builder = fs::DirBuilder::new();
            builder.mode(0o700).recursive(recursive);
            builder
        };
        private(true).create(&self.root).map_err(RunningLabError::file("create", &self.root))?;
        self.check_private()?;
        let folder = self.folder(name);
        let end = clock::now().plus_nanos(CLAIM_PATIENCE.as_nanos() as u64);
        loop {
            match private(false).create(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(RunningLabError::file("create", folder)(error));
                }
                _ => {}
            }
            match self.hold(name)? {
                Holding::Ours(hold) => return Ok(Some(hold)),
                // Removed between two calls: then the name is free.
                Holding::Missing => {}
                Holding::Others(_) => {
                    let left = end.nanos_since(clock::now());
                    if left == 0 || control::stays(&self.control(name), Duration::from_nanos(left))
                    {
                        return Err(RunningLabError::NameInUse { name: name.to_owned() });
                    }
                }
            }
            if pause(Duration::from_nanos(LOOK_AGAIN_NS as u64)) {
                return Ok(None);
            }
        }
    }

    /// Holds a lab's folder, if there is one and nobody else holds it. The kernel knows: a keeper holds
    /// its lab's from before it builds until its process ends, however it ends.
    pub(crate) fn hold(&self, name: &str) -> Result<Holding, RunningLabError> {
        let folder = self.folder(name);
        loop {
            let lock = match File::open(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Holding::Missing);
                }
                opened => opened.map_err(RunningLabError::file("open", &folder))?,
            };
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(Holding::Others(Watch { lock })),
                Err(errno) => return Err(RunningLabError::file("lock", folder)(errno.into())),
            }
            let hold = Hold { folder: folder.clone(), lock };
            // It may have been removed, and made anew, between opening and locking.
            if hold.is_there() {
                return Ok(Holding::Ours(hold));
            }
        }
    }

    /// Whether a keeper lives by this name, also one that is only building or ending. Where the folder
    /// cannot be opened, that is not known, and taken to be so.
    pub(crate) fn is_held(&self, name: &str) -> bool {
        match self.hold(name) {
            Ok(Holding::Ours(_) | Holding::Missing) => false,
            Ok(Holding::Others(_)) | Err(_) => true,
        }
    }

    /// Who could write here could have us run their keeper: the folder must be ours alone.
    fn check_private(&self) -> Result<(), RunningLabError> {
        let found =
            fs::metadata(&self.root).map_err(RunningLabError::file("look at", &self.root))?;
        let user = rustix::process::geteuid();
        if found.uid() == user.as_raw() && found.permissions().mode() & 0o022 == 0 {
            return Ok(());
        }
        let source = io::Error::other("others may write there; remove it");
        Err(RunningLabError::File { what: "use", path: self.root.clone(), source })
    }

    /// Names of the labs that are written down or being built, sorted. Only folders are labs.
    pub fn names(&self) -> Result<Vec<String>, RunningLabError> {
        let unread = || RunningLabError::file("read", &self.root);
        let entries = match fs::read_dir(&self.root) {
            // Nobody has put up a lab yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unread())?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unread())?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let (true, Ok(name)) = (is_folder, entry.file_name().into_string()) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The name of the lab that is meant, by its name or as the only one.
    pub fn find_name(&self, name: Option<&str>) -> Result<String, RunningLabError> {
        let names = self.names()?;
        let there = || format!("those that are up are {}", names.join(", "));
        match (name, names.as_slice()) {
            (_, []) => Err(RunningLabError::NoLab),
            (Some(name), _) if names.iter().any(|known| known == name) => Ok(name.to_owned()),
            (Some(name), _) => {
                Err(RunningLabError::NoSuchLab { name: name.to_owned(), there: there() })
            }
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(RunningLabError::WhichLab {
                there: format!("{} labs are up: {}", names.len(), names.join(", ")),
            }),
        }
    }

    /// The lab of this name, or the only one.
    pub fn find(&self, name: Option<&str>) -> Result<RunningLab, RunningLabError> {
        self.read(&self.find_name(name)?)
    }

    /// What is written down of a lab.
    pub fn read(&self, name: &str) -> Result<RunningLab, RunningLabError> {
        let path = self.folder(name).join(DESCRIPTION);
        let text = fs::read(&path).map_err(|source| match source.kind() {
            // Written once it stands.
            io::ErrorKind::NotFound => RunningLabError::Unfinished { name: name.to_owned() },
            _ => RunningLabError::File { what: "read", path: path.clone(), source },
        })?;
        serde_json::from_slice(&text)
            .map_err(|error| RunningLabError::file("understand", &path)(error.into()))
    }

    /// Writes a lab down: from now on it is found.
    pub fn write(&self, running: &RunningLab) -> Result<(), RunningLabError> {
        let folder = self.folder(&running.name);
        let hosts = hosts(&running.network);
        let path = folder.join(HOSTS);
        fs::write(&path, hosts).map_err(RunningLabError::file("write", &path))?;
        let path = folder.join(DESCRIPTION);
        let beside = folder.join("lab.json.new");
        let text = serde_json::to_vec_pretty(running)
            .map_err(|error| RunningLabError::file("write", &path)(error.into()))?;
        fs::write(&beside, text).map_err(RunningLabError::file("write", &beside))?;
        fs::rename(&beside, &path).map_err(RunningLabError::file("write", &path))
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
pub fn fresh_token() -> Result<String, RunningLabError> {
    Ok(format!("{:032x}", u128::from_be_bytes(random::bytes()?)))
}

/// Asks the keeper of a lab.
pub fn ask(
    registry: &Registry,
    running: &RunningLab,
    request: &Request,
) -> Result<Answer, RunningLabError> {
    match control::ask_at(&registry.control(&running.name), request, control::PATIENCE) {
        Ok(Answer::Refused(why)) => Err(RunningLabError::Refused(why)),
        Ok(answer) => Ok(answer),
        Err(trouble) => Err(RunningLabError::Keeper {
            lab: running.name.clone(),
            keeper: running.keeper,
            trouble,
        }),
    }
}
