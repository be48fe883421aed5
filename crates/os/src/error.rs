//! Why the machine did not do what it was asked. Fragments that read after "failed to measure: ".

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::error::Failure;

/// Something the machine did not do.
#[derive(Debug, thiserror::Error)]
pub enum OsError {
    /// This system has no such thing, or we have not learned to use it.
    #[error("{what} is not possible on this system: {why}")]
    Unsupported {
        /// What was asked.
        what: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// A name has no address.
    #[error("cannot find the address of {host}: {source}")]
    Resolve {
        /// The name as typed.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A socket could not listen.
    #[error("cannot listen on {protocol} {address}: {source}")]
    Listen {
        /// `TCP` or `UDP`.
        protocol: &'static str,
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A connection was refused or failed.
    #[error("cannot connect to {protocol} {address}: {source}")]
    Connect {
        /// `TCP` or `UDP`.
        protocol: &'static str,
        /// The other end.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// An address or port of this end could not be used.
    #[error("cannot use {address} at this end: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// An interface could not be used.
    #[error("cannot use interface '{name}': {source}")]
    Interface {
        /// Its name as typed.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A connection was not answered in time.
    #[error("TCP {address} did not answer within {} ms", .waited.as_millis())]
    ConnectTimeout {
        /// The other end.
        address: SocketAddr,
        /// How long it was given.
        waited: Duration,
    },
    /// The wait for a connection was called off.
    #[error("the connection to {address} was called off")]
    Cancelled {
        /// The other end.
        address: SocketAddr,
    },
    /// The kernel has no congestion control of this name.
    #[error("congestion control '{name}' is not available; this kernel has {available}")]
    CongestionControl {
        /// The name as typed.
        name: String,
        /// Those it has.
        available: String,
    },
    /// The thread may not run on this processor.
    #[error("cannot run on processor {cpu}; this process may use {allowed}")]
    Processor {
        /// The number asked for.
        cpu: u32,
        /// Those that are allowed.
        allowed: String,
    },
    /// The kernel refused something for want of a feature, a permission or room.
    #[error("cannot {what}: {source}; it takes {takes}")]
    Refused {
        /// What was being done, as a verb and its object.
        what: &'static str,
        /// What the kernel wants for it.
        takes: &'static str,
        /// How to come by that.
        remedy: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Any other call.
    #[error("cannot {what}: {source}")]
    Call {
        /// What was being done, as a verb and its object.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl OsError {
    /// Turns the system's error into ours, for `map_err`.
    pub(crate) fn call<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Call { what, source: source.into() }
    }

    /// What kind of trouble it is, for the exit code.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Connect { source, .. } if is_out_of_files(source) || is_out_of_ports(source) => {
                Failure::Unsupported
            }
            Self::Resolve { .. } | Self::Connect { .. } | Self::ConnectTimeout { .. } => {
                Failure::Peer
            }
            Self::Cancelled { .. } => Failure::Interrupted,
            Self::Unsupported { .. }
            | Self::Listen { .. }
            | Self::Bind { .. }
            | Self::Interface { .. }
            | Self::CongestionControl { .. }
            | Self::Processor { .. }
            | Self::Refused { .. }
            | Self::Call { .. } => Failure::Unsupported,
        }
    }

    /// What the user can do about it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Listen { source, .. } => listen_remedy(source.kind()),
            Self::Connect { source, .. } if source.kind() == io::ErrorKind::ConnectionRefused => {
                Some(
                    "start the server at the other end ('pathscope server', or the program that --peer names), or name its port with --port",
                )
            }
            Self::Connect { source, .. } if is_out_of_ports(source) => Some(
                "every port that this machine may use towards it is taken, by connections that are open or \
                 that it closed within the last minute (TIME_WAIT): wait a minute, ask for fewer \
                 connections, or widen net.ipv4.ip_local_port_range",
            ),
            Self::Bind { source, .. } => bind_remedy(source.kind()),
            Self::Interface { source, .. } => interface_remedy(source),
            Self::ConnectTimeout { .. } => {
                Some("see whether a firewall between the ends lets the port through")
            }
            Self::CongestionControl { .. } => {
                Some("load its module (modprobe tcp_NAME) or choose one that is there")
            }
            Self::Refused { remedy, .. } => Some(remedy),
            Self::Call { source, .. } | Self::Connect { source, .. } => files_remedy(source),
            _ => None,
        }
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn files_remedy(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error() {
        Some(libc::EMFILE) => {
            Some("raise the limit of open files (ulimit -n) or ask for fewer connections")
        }
        Some(libc::ENFILE) => Some(
            "all programs together have as many files open as this system allows: end some, or raise fs.file-max",
        ),
        _ => None,
    }
}

/// What connecting says when the range of ports is used up; the address itself is then the machine's own.
fn is_out_of_ports(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
}

fn bind_remedy(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::AddrInUse => {
            Some("another socket has this port: give a wider range with --source-port [low,high]")
        }
        io::ErrorKind::AddrNotAvailable => Some("no interface of this machine has this address"),
        io::ErrorKind::PermissionDenied => Some("ports below 1024 need privileges"),
        _ => None,
    }
}

/// Before Linux 5.7 only the privileged may bind a socket to an interface.
fn interface_remedy(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Some(
            "this system lets only the privileged bind a socket to an interface (CAP_NET_RAW): give the \
             interface's address with --bind, where routes send packets from it by that interface",
        ),
        io::ErrorKind::NotFound => Some(LIST_INTERFACES),
        _ if error.raw_os_error() == Some(libc::ENODEV) => Some(LIST_INTERFACES),
        _ => None,
    }
}

const LIST_INTERFACES: &str = "'ip link' lists those that there are";

fn listen_remedy(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::AddrInUse => {
            Some("another program uses this port: end it, or choose another with --port")
        }
        io::ErrorKind::AddrNotAvailable => Some("no interface of this machine has this address"),
        io::ErrorKind::PermissionDenied => {
            Some("ports below 1024 need privileges: choose another with --port")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_descriptors_and_a_system_without_files_have_a_remedy_each() {
        let remedy = |errno| {
            let source = io::Error::from_raw_os_error(errno);
            OsError::Call { what: "open a socket", source }.remedy().unwrap_or_default()
        };
        assert!(remedy(libc::EMFILE).contains("ulimit -n"));
        assert!(remedy(libc::ENFILE).contains("fs.file-max"));
        assert_eq!(remedy(libc::ENOMEM), "");
    }
}
