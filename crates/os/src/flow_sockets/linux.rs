//! Linux: groups of UDP sockets that share a port, and the one of each that hears strangers.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use socket2::SockRef;

use super::FlowOpener;
use crate::OsError;
use crate::sockets::{Settings, Socket, apply_common, udp_socket};

/// Has all that comes to a listener's group, and is no connected socket's, go to its first: the listener, which was there when there was no
/// other. Where it is bound.
pub fn guard(listener: &Socket) -> io::Result<SocketAddr> {
    // "Return 0": the place in the group.
    let mut first = [libc::sock_filter { code: RETURN, jt: 0, jf: 0, k: 0 }];
    let filter = libc::sock_fprog { len: first.len() as u16, filter: first.as_mut_ptr() };
    let length = size_of::<libc::sock_fprog>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `filter`, and the one instruction that it names, both of which outlive the call; it
    // checks the instruction, and keeps a copy.
    let outcome = unsafe {
        libc::setsockopt(
            listener.0.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_REUSEPORT_CBPF,
            (&raw const filter).cast(),
            length,
        )
    };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    listener.local_addr()
}

/// The one instruction: a constant is returned.
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

pub fn open(
    opener: &mut FlowOpener,
    (local, remote): (SocketAddr, SocketAddr),
    settings: &Settings,
) -> Result<Socket, OsError> {
    let failed = |source| OsError::Connect { protocol: "UDP", address: remote, source };
    let guarded = opener.guarded.map(|at| beside(at, &mut opener.ahead, (local, remote)));
    let socket = match guarded {
        Some(Ok(Some(socket))) => socket,
        // Whatever hinders it may not hinder this.
        _ => at(local, remote).map_err(failed)?,
    };
    apply_common(&socket, settings)?;
    Ok(socket)
}

/// Connects the socket that was bound ahead, once the next is bound. None where the way there begins at another address of this machine
/// than the one that was called.
fn beside(
    listener: SocketAddr,
    ahead: &mut Option<Socket>,
    (local, remote): (SocketAddr, SocketAddr),
) -> io::Result<Option<Socket>> {
    let socket = match ahead.take() {
        Some(socket) => socket,
        None => bind_in_group(listener)?,
    };
    *ahead = Some(bind_in_group(listener)?);
    let connecting = SockRef::from(&socket);
    connecting.connect(&remote.into())?;
    // One that is connected is no more looked for by those that are to join the group.
    connecting.set_reuse_port(false)?;
    Ok((socket.local_addr()? == local).then_some(socket))
}

/// A socket that has the listener's port, in its group.
fn bind_in_group(listener: SocketAddr) -> io::Result<Socket> {
    let socket = udp_socket(listener)?;
    socket.set_reuse_port(true)?;
    // With `SO_REUSEADDR` it would be compared with all others. Where the newest is in no group, it has to be.
    let is_bound = socket.bind(&listener.into()).is_ok();
    socket.set_reuse_address(true)?;
    if !is_bound {
        socket.bind(&listener.into())?;
    }
    Ok(socket.into())
}

/// A socket that is bound at the address that was called. Until it is connected, what strangers send there comes to it.
fn at(local: SocketAddr, remote: SocketAddr) -> io::Result<Socket> {
    let open = |is_of_many: bool| -> io::Result<Socket> {
        let socket = udp_socket(local)?;
        // As above; but it takes 2 KiB more of each but the last, which is made a group that the next one leaves as it connects.
        socket.set_reuse_address(!is_of_many)?;
        socket.set_reuse_port(is_of_many)?;
        socket.bind(&local.into())?;
        socket.connect(&remote.into())?;
        socket.set_reuse_address(true)?;
        // One that is in no group stays out of any: those that are bound next would make one with it, without the listener's filter, and
        // hear strangers in its place.
        Ok(socket.into())
    };
    open(true).or_else(|_| open(false))
}
