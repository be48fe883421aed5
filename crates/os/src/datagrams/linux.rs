//! Linux: `IP_PKTINFO` and `IPV6_RECVPKTINFO` control messages.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

use super::Datagram;
use crate::Socket;
use crate::errno::{is_no_room, is_unreachable};

/// Room for one control message of either family, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Has each datagram tell the local address it came to.
pub(crate) fn tell_local_address(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    let (level, name) = match address {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    };
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is borrowed, hence open; pointer and length are of one `c_int`.
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub fn receive(listener: &Socket, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
    let mut control = Control([0; 64]);
    let mut storage = socket2::SockAddrStorage::zeroed();
    let mut slice = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut message = empty_message();
    message.msg_name = (&raw mut storage).cast();
    message.msg_namelen = storage.size_of();
    message.msg_iov = &raw mut slice;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: the descriptor is borrowed, hence open; name, buffer and control message point to memory
    // of the lengths beside them, which nothing else uses during the call.
    let status = unsafe {
        libc::recvmsg(listener.as_fd().as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT)
    };
    let Ok(len) = usize::try_from(status) else { return no_datagram(io::Error::last_os_error()) };
    // SAFETY: the kernel wrote an address of this length into the storage.
    let remote = unsafe { socket2::SockAddr::new(storage, message.msg_namelen) };
    let Some(remote) = remote.as_socket() else { return Ok(None) };
    let truncated = message.msg_flags & libc::MSG_TRUNC != 0;
    Ok(Some(Datagram { len, truncated, remote, local: local_address(&message) }))
}

/// What an error of a receive means: mostly that nothing waits.
fn no_datagram(error: io::Error) -> io::Result<Option<Datagram>> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(None),
        Some(errno) if is_no_room(errno) || is_unreachable(errno) => Ok(None),
        _ => Err(error),
    }
}

fn local_address(message: &libc::msghdr) -> Option<IpAddr> {
    // SAFETY: the message is as `recvmsg` left it, with its control buffer alive.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: where not null, it points to a whole header in the control buffer, which is aligned.
    let kind = unsafe { header.as_ref() }.map(|header| (header.cmsg_level, header.cmsg_type))?;
    // SAFETY: as above; the data follows the header.
    let data = unsafe { libc::CMSG_DATA(header) };
    match kind {
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
            // SAFETY: a control message of this kind holds this structure; it need not be aligned.
            let info = unsafe { data.cast::<libc::in_pktinfo>().read_unaligned() };
            Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into())
        }
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
            // SAFETY: as above.
            let info = unsafe { data.cast::<libc::in6_pktinfo>().read_unaligned() };
            Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into())
        }
        _ => None,
    }
}

pub fn send(
    listener: &Socket,
    bytes: &[u8],
    remote: SocketAddr,
    local: Option<IpAddr>,
) -> io::Result<()> {
    let name = socket2::SockAddr::from(remote);
    let mut control = Control([0; 64]);
    let mut slice =
        libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut message = empty_message();
    message.msg_name = name.as_ptr().cast_mut().cast();
    message.msg_namelen = name.len();
    message.msg_iov = &raw mut slice;
    message.msg_iovlen = 1;
    if let Some(local) = local {
        say_from(local, &mut message, &mut control);
    }
    // SAFETY: the descriptor is borrowed, hence open; name, bytes and control message are of the
    // lengths beside them, and a send only reads them.
    let status = unsafe {
        libc::sendmsg(
            listener.as_fd().as_raw_fd(),
            &raw const message,
            libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
        )
    };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Adds the control message that names the address to send from.
fn say_from(local: IpAddr, message: &mut libc::msghdr, control: &mut Control) {
    match local {
        IpAddr::V4(address) => {
            let spec_dst = libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) };
            let any = libc::in_addr { s_addr: 0 };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: spec_dst, ipi_addr: any };
            add_control(message, control, (libc::IPPROTO_IP, libc::IP_PKTINFO), info);
        }
        IpAddr::V6(address) => {
            let ipi6_addr = libc::in6_addr { s6_addr: address.octets() };
            let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
            add_control(message, control, (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO), info);
        }
    }
}

fn add_control<T>(
    message: &mut libc::msghdr,
    control: &mut Control,
    (level, kind): (libc::c_int, libc::c_int),
    data: T,
) {
    const { assert!(size_of::<T>() <= 32, "header and data fit in the control buffer") };
    let length = size_of::<T>() as libc::c_uint;
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: pure arithmetic on a length.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(length) } as _;
    // SAFETY: the control buffer has room for a header, so this points to its begin.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: pure arithmetic on a length.
    let cmsg_len = unsafe { libc::CMSG_LEN(length) } as _;
    // SAFETY: the header is aligned and lies in the control buffer.
    unsafe { header.write(libc::cmsghdr { cmsg_len, cmsg_level: level, cmsg_type: kind }) };
    // SAFETY: as above; the data follows the header.
    let place = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: the buffer has room for header and data, as asserted; the write need not be aligned.
    unsafe { place.cast::<T>().write_unaligned(data) };
}

fn empty_message() -> libc::msghdr {
    // SAFETY: numbers and null pointers: all zero is a valid message header.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
