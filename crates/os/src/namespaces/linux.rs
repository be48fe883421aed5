//! Linux: unshare(2), setns(2), and the files in `/proc` that stand for namespaces.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{fstat, stat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::Identity;
use crate::OsError;

const NO_RIGHT: &str = "root, or a user namespace of our own";
const GET_RIGHT: &str = "run it as root, or allow user namespaces";
const ROOM_REMEDY: &str = "raise the limits in /proc/sys/user";

#[derive(Debug)]
pub struct Network(OwnedFd);

/// For whoever hands it to the kernel or to another process.
impl AsFd for super::Network {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

/// One that was opened by somebody else. That it is a namespace is seen when it is entered.
impl From<OwnedFd> for super::Network {
    fn from(handle: OwnedFd) -> Self {
        Self(Network(handle))
    }
}

impl Network {
    pub fn create() -> Result<Self, OsError> {
        // In a thread of its own, since the one that makes it is in it.
        let thread = std::thread::Builder::new().name("new network".to_owned()).spawn(|| {
            unshare(UnshareFlags::NEWNET).map_err(network_refusal)?;
            Self::current()
        });
        let thread = thread.map_err(OsError::call("start a thread"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    pub fn current() -> Result<Self, OsError> {
        open("/proc/thread-self/ns/net").map_err(OsError::call("open our network namespace"))
    }

    pub fn held_by(process: u32, descriptor: i32) -> Result<Self, OsError> {
        const WHAT: &str = "open a network namespace that another process holds";
        open(format!("/proc/{process}/fd/{descriptor}")).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => OsError::Refused {
                what: WHAT,
                takes: "a process that lives and holds it",
                remedy: "see whether that process has ended, and start it again",
                source,
            },
            io::ErrorKind::PermissionDenied => OsError::Refused {
                what: WHAT,
                takes: "to be the user who started that process, or root",
                remedy: "run it as that user",
                source,
            },
            _ => OsError::Call { what: WHAT, source },
        })
    }

    pub fn identity(&self) -> Result<Identity, OsError> {
        fstat(&self.0).map(identity).map_err(OsError::call("look at a network namespace"))
    }

    pub fn enter(&self) -> Result<(), OsError> {
        const WHAT: &str = "enter a network namespace";
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network)).map_err(
            |errno| match errno {
                Errno::PERM => OsError::Refused {
                    what: WHAT,
                    takes: "root in the user namespace that it belongs to",
                    remedy: "enter that user namespace first, or run it as root",
                    source: errno.into(),
                },
                errno => OsError::call(WHAT)(errno),
            },
        )
    }
}

fn open(path: impl AsRef<Path>) -> io::Result<Network> {
    File::open(path).map(|file| Network(file.into()))
}

fn identity(stat: rustix::fs::Stat) -> Identity {
    Identity { device: stat.st_dev, inode: stat.st_ino }
}

fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    debug_assert!(!flags.contains(UnshareFlags::FILES), "descriptors are shared by all threads");
    // SAFETY: unsound only for a table of descriptors of the thread's own, which nobody here asks for.
    unsafe { unshare_unsafe(flags) }
}

fn network_refusal(errno: Errno) -> OsError {
    let (takes, remedy) = match errno {
        Errno::PERM => (NO_RIGHT, GET_RIGHT),
        Errno::NOSPC => ("room for one more", ROOM_REMEDY),
        _ => ("a kernel with CONFIG_NET_NS", "use another kernel"),
    };
    OsError::Refused { what: "make a network namespace", takes, remedy, source: errno.into() }
}

pub fn become_root() -> Result<(), OsError> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER).map_err(user_refusal)?;
    let write = |path: &str, text: &str| std::fs::write(path, text);
    // A group may be mapped without privilege only where nobody can be dropped from a group by it.
    // The file is missing on kernels that do not ask for it.
    let denied = write("/proc/self/setgroups", "deny");
    denied
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
        .and_then(|()| write("/proc/self/uid_map", &format!("0 {user} 1\n")))
        .and_then(|()| write("/proc/self/gid_map", &format!("0 {group} 1\n")))
        .map_err(|source| OsError::Refused {
            what: "become root of a user namespace",
            takes: "a system that leaves capabilities to user namespaces",
            remedy: "run it as root, or set the sysctl kernel.apparmor_restrict_unprivileged_userns \
                     to 0 if there is one",
            source,
        })
}

fn user_refusal(errno: Errno) -> OsError {
    let (takes, remedy) = match errno {
        Errno::PERM => (
            "a system that allows user namespaces to everybody",
            "run it as root, or set the sysctl kernel.unprivileged_userns_clone to 1 if there is one",
        ),
        Errno::NOSPC | Errno::USERS => ("room for one more", ROOM_REMEDY),
        _ => (
            "a process with one thread, on a kernel with CONFIG_USER_NS",
            "run it as root, or use another kernel",
        ),
    };
    OsError::Refused { what: "make a user namespace", takes, remedy, source: errno.into() }
}

pub fn enter_user_namespace(process: u32) -> Result<bool, OsError> {
    const WHAT: &str = "enter the user namespace of another process";
    let refusal = |source| OsError::Refused {
        what: WHAT,
        takes: "a process that lives and was started by the same user",
        remedy: "see whether it has ended; else run this as the user who started it",
        source,
    };
    let path = format!("/proc/{process}/ns/user");
    let ours = stat("/proc/self/ns/user").map_err(OsError::call("look at our user namespace"))?;
    let theirs = stat(path.as_str()).map_err(|errno| refusal(errno.into()))?;
    if identity(ours) == identity(theirs) {
        return Ok(false);
    }
    let handle = File::open(path).map_err(refusal)?;
    move_into_link_name_space(handle.as_fd(), Some(LinkNameSpaceType::User))
        .map(|()| true)
        .map_err(|errno| refusal(errno.into()))
}

pub fn rename_host(name: &str) -> Result<(), OsError> {
    const WHAT: &str = "have a host name of our own";
    unshare(UnshareFlags::NEWUTS).map_err(no_right(WHAT))?;
    rustix::system::sethostname(name.as_bytes()).map_err(|errno| match errno {
        Errno::INVAL => OsError::Refused {
            what: WHAT,
            takes: "a name of at most 64 bytes",
            remedy: "choose a shorter one",
            source: errno.into(),
        },
        errno => OsError::call(WHAT)(errno),
    })
}

pub fn separate_mounts() -> Result<(), OsError> {
    const WHAT: &str = "have mounts of our own";
    unshare(UnshareFlags::NEWNS).map_err(no_right(WHAT))?;
    // Or what is mounted here would be mounted outside as well.
    let none = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", none).map_err(no_right(WHAT))
}

pub fn cover_file(shown: &Path, path: &Path) -> Result<(), OsError> {
    const WHAT: &str = "show a file in the place of another";
    mount_bind(shown, path).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR => OsError::Refused {
            what: WHAT,
            takes: "two files that exist",
            remedy: "create the one that is missing",
            source: errno.into(),
        },
        errno => no_right(WHAT)(errno),
    })
}

pub fn mount_sysfs() -> Result<(), OsError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("sysfs", "/sys", "sysfs", flags, None::<&std::ffi::CStr>)
        .map_err(no_right("mount a /sys of our own"))
}

fn no_right(what: &'static str) -> impl FnOnce(Errno) -> OsError {
    move |errno| match errno {
        Errno::PERM | Errno::ACCESS => {
            OsError::Refused { what, takes: NO_RIGHT, remedy: GET_RIGHT, source: errno.into() }
        }
        errno => OsError::call(what)(errno),
    }
}
