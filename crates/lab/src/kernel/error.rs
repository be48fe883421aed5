//! Why the kernel did not build what it was asked. Fragments that read after "failed to build the lab: ".

use std::io;

use pathscope_os::OsError;

/// Something the kernel did not do.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// A request about an interface, address, route or neighbour.
    #[error("cannot {what} in network {network}: {source}{}", said(.kernel.as_deref()))]
    Refused {
        /// What was being done, as a verb and its object.
        what: String,
        /// The network's name.
        network: String,
        /// What the kernel said besides its error number.
        kernel: Option<String>,
        /// The error number.
        source: io::Error,
    },
    /// A setting below `/proc/sys`.
    #[error("cannot set {path} to {value} in network {network}: {source}")]
    Setting {
        /// The file.
        path: String,
        /// What was written.
        value: &'static str,
        /// The network's name.
        network: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is no business of one network.
    #[error(transparent)]
    Os(#[from] OsError),
}

fn said(kernel: Option<&str>) -> String {
    kernel.map_or_else(String::new, |text| format!(" ({text})"))
}

const NEED_RIGHT: &str = "run it as root, or in a user namespace of our own";
const EPERM: i32 = 1;
const EEXIST: i32 = 17;
pub(super) const ENODEV: i32 = 19;
pub(super) const EINVAL: i32 = 22;
const EOPNOTSUPP: i32 = 95;
const ENETUNREACH: i32 = 101;
const EHOSTUNREACH: i32 = 113;

impl KernelError {
    /// What the user can do about it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Refused { source, .. } => remedy(source.raw_os_error()?),
            Self::Setting { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some(NEED_RIGHT)
                }
                io::ErrorKind::NotFound => Some("use a kernel that has this setting"),
                _ => None,
            },
            Self::Os(error) => error.remedy(),
        }
    }
}

fn remedy(errno: i32) -> Option<&'static str> {
    match errno {
        EPERM => Some(NEED_RIGHT),
        EEXIST => Some("give it a name or address that no other has there"),
        ENODEV => Some("create the interface first"),
        EOPNOTSUPP => {
            Some("load the kernel's modules (modprobe veth bridge), or use a kernel that has them")
        }
        ENETUNREACH | EHOSTUNREACH => Some(
            "give the interface an address from which the gateway can be reached, and set it up",
        ),
        _ => None,
    }
}
