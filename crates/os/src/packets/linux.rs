//! Linux: `AF_PACKET` sockets with `recvmmsg`, `sendmmsg` and `SO_TIMESTAMPNS`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use pathscope_core::Tick;
use rustix::net::sockopt;
use socket2::{Domain, Protocol, Type};

use super::{Batch, MOST_AT_ONCE, Scope, Taken};
use crate::errno::is_no_room;
use crate::{OsError, clock};

/// A stamp that seems older than this comes of a wall clock that was set in between.
const OLDEST_NS: u64 = 10_000_000_000;

#[derive(Debug)]
pub struct PacketSocket {
    handle: OwnedFd,
    buffer: usize,
    /// The kernel's count begins anew each time it is read.
    dropped: AtomicU64,
}

impl AsFd for super::PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.handle.as_fd()
    }
}

/// Room for one stamp and its header, aligned as the kernel wants it.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; 64]);

impl PacketSocket {
    pub fn open(interface: u32, scope: Scope, buffer: usize) -> Result<Self, OsError> {
        // Of no protocol, so that nothing arrives before the socket is bound.
        let socket = socket2::Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(0)))
            .map_err(open_refusal)?;
        let failed = OsError::call("set up a packet socket");
        let handle = OwnedFd::from(socket);
        set_up(&handle, scope, buffer)
            .and_then(|()| bind(&handle, interface))
            .and_then(|()| Ok(sockopt::socket_recv_buffer_size(&handle)?))
            .map(|buffer| Self { handle, buffer, dropped: AtomicU64::new(0) })
            .map_err(failed)
    }

    pub fn buffer(&self) -> usize {
        self.buffer
    }

    pub fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        let mut controls = [Control([0; 64]); MOST_AT_ONCE];
        let mut slices = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MOST_AT_ONCE];
        let mut messages = [empty_message(); MOST_AT_ONCE];
        let rooms = batch.room.chunks_exact_mut(batch.frame_room);
        let parts = messages.iter_mut().zip(&mut slices).zip(&mut controls);
        let mut count = 0;
        for (((message, slice), control), room) in parts.zip(rooms) {
            *slice = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            message.msg_hdr.msg_iov = slice;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = control.0.len() as _;
            count += 1;
        }
        // MSG_TRUNC has the kernel tell a frame's whole length.
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: the descriptor is ours, hence open; the first `count` messages point to a slice of
        // the batch and to a control buffer each, of the lengths beside them, which nothing else uses
        // during the call.
        let status = unsafe {
            libc::recvmmsg(
                self.handle.as_raw_fd(),
                messages.as_mut_ptr(),
                count,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        let Ok(taken) = usize::try_from(status) else { return nothing(io::Error::last_os_error()) };
        let clocks = Clocks::read();
        batch.taken.extend(messages[..taken].iter().map(|message| {
            let stamp_unix_ns = stamp_ns(&message.msg_hdr);
            let arrival = clocks.arrival(stamp_unix_ns);
            Taken { len: message.msg_len as usize, arrival, stamp_unix_ns }
        }));
        Ok(taken)
    }

    pub fn send(&self, frames: &[&[u8]]) -> io::Result<usize> {
        let mut slices = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MOST_AT_ONCE];
        let mut messages = [empty_message(); MOST_AT_ONCE];
        let mut count = 0;
        for ((message, slice), frame) in messages.iter_mut().zip(&mut slices).zip(frames) {
            *slice =
                libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            message.msg_hdr.msg_iov = slice;
            message.msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        // SAFETY: the descriptor is ours, hence open; the first `count` messages point to a slice each
        // of the frame's length, and a send only reads them.
        let status = unsafe {
            libc::sendmmsg(
                self.handle.as_raw_fd(),
                messages.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT as _,
            )
        };
        usize::try_from(status).or_else(|_| {
            let error = io::Error::last_os_error();
            let is_later = matches!(error.raw_os_error(), Some(errno) if is_no_room(errno));
            if is_later || error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
        })
    }

    pub fn dropped(&self) -> io::Result<u64> {
        let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut len = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the descriptor is ours, hence open; pointer and length are of one structure of plain
        // numbers, which the call fills.
        let status = unsafe {
            libc::getsockopt(
                self.handle.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut len,
            )
        };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        let news = u64::from(counts.tp_drops);
        Ok(self.dropped.fetch_add(news, Ordering::Relaxed) + news)
    }
}

fn open_refusal(source: io::Error) -> OsError {
    const WHAT: &str = "open a packet socket";
    match source.kind() {
        io::ErrorKind::PermissionDenied => OsError::Refused {
            what: WHAT,
            takes: "the capability CAP_NET_RAW in the user namespace of this network",
            remedy: "run it as root, or in a network of our own",
            source,
        },
        _ if source.raw_os_error() == Some(libc::EAFNOSUPPORT) => OsError::Refused {
            what: WHAT,
            takes: "a kernel with CONFIG_PACKET",
            remedy: "load its module (modprobe af_packet), or use another kernel",
            source,
        },
        _ => OsError::Call { what: WHAT, source },
    }
}

fn set_up(handle: &OwnedFd, scope: Scope, buffer: usize) -> io::Result<()> {
    // Beyond the system's limit where we are root of the machine, else up to it.
    if sockopt::set_socket_recv_buffer_size_force(handle, buffer).is_err() {
        sockopt::set_socket_recv_buffer_size(handle, buffer)?;
    }
    set_flag(handle, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
    if scope == Scope::Incoming {
        set_flag(handle, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING)?;
    }
    set_flag(handle, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS)
}

fn set_flag(handle: &OwnedFd, level: libc::c_int, name: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is borrowed, hence open; pointer and length are of one `c_int`.
    let status = unsafe {
        libc::setsockopt(
            handle.as_raw_fd(),
            level,
            name,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn bind(handle: &OwnedFd, interface: u32) -> io::Result<()> {
    let sll_ifindex = i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?;
    // Index 0 would be all interfaces at once.
    if sll_ifindex == 0 {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as _,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the descriptor is borrowed, hence open; pointer and length are of one address.
    let status = unsafe {
        libc::bind(
            handle.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What an error of a receive means: mostly that nothing waits, or that the interface went down.
fn nothing(error: io::Error) -> io::Result<usize> {
    match error.raw_os_error() {
        Some(libc::EINTR | libc::ENETDOWN) => Ok(0),
        Some(errno) if is_no_room(errno) => Ok(0),
        _ => Err(error),
    }
}

/// Both clocks at one time: the kernel stamps frames by the wall clock, we count by the other.
struct Clocks {
    now: Tick,
    wall_ns: u64,
}

impl Clocks {
    fn read() -> Self {
        Self { wall_ns: clock::wall_unix_ns(), now: clock::now() }
    }

    /// The tick of a stamp: never later than now, and now where there is none.
    fn arrival(&self, stamp_ns: Option<u64>) -> Tick {
        let age_ns = stamp_ns.map_or(0, |stamp| self.wall_ns.saturating_sub(stamp));
        let age_ns = if age_ns > OLDEST_NS { 0 } else { age_ns };
        Tick::from_nanos(self.now.as_nanos().saturating_sub(age_ns))
    }
}

fn stamp_ns(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the message is as `recvmmsg` left it, with its control buffer alive.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: where not null, it points to a whole header in the control buffer, which is aligned.
    let kind = unsafe { header.as_ref() }.map(|header| (header.cmsg_level, header.cmsg_type))?;
    if kind != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: as above; the data follows the header.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: a control message of this kind holds this structure; it need not be aligned.
    let stamp = unsafe { data.cast::<libc::timespec>().read_unaligned() };
    let seconds = u64::try_from(stamp.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(stamp.tv_nsec).ok()?)
}

fn empty_message() -> libc::mmsghdr {
    // SAFETY: numbers and null pointers: all zero is a valid message header.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_becomes_a_tick_that_is_not_later_than_now() {
        let clocks = Clocks { now: Tick::from_nanos(5_000), wall_ns: 90_000_000_000 };
        assert_eq!(clocks.arrival(Some(89_999_999_000)), Tick::from_nanos(4_000));
        // The wall clock was set back, or forth, after the stamp.
        assert_eq!(clocks.arrival(Some(90_000_000_001)), clocks.now);
        assert_eq!(clocks.arrival(Some(0)), clocks.now);
        assert_eq!(clocks.arrival(None), clocks.now);
    }
}
