//! The label of a socket's IPv6 packets (RFC 6437). Linux has it leased first, and then stated beside the address that is connected to.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _};

use super::super::Settings;
use super::set_number;
use crate::OsError;
use crate::socket::Socket;

/// Bytes of `struct in6_flowlabel_req` of `linux/in6.h`: an address, a label (big-endian), what is to be done with it, who may have it as
/// well, flags, and times that are the kernel's own where they are 0.
const REQUEST: usize = 32;
const LABEL: usize = 16;
const ACTION: usize = 20;
const SHARE: usize = 21;
const FLAGS: usize = 22;

/// `IPV6_FL_A_GET`, `IPV6_FL_S_ANY` and `IPV6_FL_F_CREATE`: a lease of its own, of a label that others may have as well.
const GET: u8 = 0;
const ANY: u8 = 255;
const CREATE: u16 = 1;

/// Leases the label that is asked for, if any, for what a socket will send to that address.
pub fn lease(socket: &Socket, address: SocketAddr, settings: &Settings) -> Result<(), OsError> {
    let Some(label) = settings.flow_label else { return Ok(()) };
    let SocketAddr::V6(six) = address else {
        return Err(OsError::Refused {
            what: "label packets of IPv4 (--flow-label)",
            takes: "an IPv6 address of the server",
            remedy: "name one, choose it with -6, or leave the label out",
            source: io::Error::from_raw_os_error(libc::EAFNOSUPPORT),
        });
    };
    let mut request = [0; REQUEST];
    request[..LABEL].copy_from_slice(&six.ip().octets());
    request[LABEL..ACTION].copy_from_slice(&label.to_be_bytes());
    (request[ACTION], request[SHARE]) = (GET, ANY);
    request[FLAGS..FLAGS + 2].copy_from_slice(&CREATE.to_ne_bytes());
    let refused = |source| OsError::Refused {
        what: "lease a flow label (IPV6_FLOWLABEL_MGR)",
        takes: "one that no other program has for itself alone; with net.ipv6.flowlabel_state_ranges one below 0x80000",
        remedy: "choose another with --flow-label, or leave it out",
        source,
    };
    manage(socket, &request).map_err(refused)?;
    let (level, name) = (libc::IPPROTO_IPV6, libc::IPV6_FLOWINFO_SEND);
    set_number(&socket.0, level, name, 1).map_err(refused)
}

/// The address to connect to, with the label that was leased.
pub fn labelled(address: SocketAddr, settings: &Settings) -> SocketAddr {
    match (address, settings.flow_label) {
        (SocketAddr::V6(mut six), Some(label)) => {
            six.set_flowinfo(label);
            six.into()
        }
        _ => address,
    }
}

fn manage(socket: &Socket, request: &[u8; REQUEST]) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed, hence open; the kernel reads `optlen` bytes, which is what the request has.
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_IPV6,
            libc::IPV6_FLOWLABEL_MGR,
            request.as_ptr().cast(),
            REQUEST as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
