//! Linux: `SO_TIMESTAMPING`. What came in has its stamp beside it; what was handed to the device is told in the
//! socket's error queue, by number and without the datagram itself.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::OnceLock;
use std::time::Duration;

use super::Handover;
use crate::{Socket, clock};

/// Stamps when a datagram comes in, from the network's interrupt on.
const INCOMING: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
/// Stamps when a datagram is handed to the device, with a number and without the bytes.
const OUTGOING: u32 = libc::SOF_TIMESTAMPING_TX_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_ID
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;

/// Room for a stamp and an extended error with its address, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// What the control messages of one receive say.
#[derive(Default)]
struct Told {
    wall_ns: Option<u64>,
    number: Option<u32>,
}

/// For how long datagrams are tried until the kernel stamps. It takes a processor of its own a moment, which on a machine that is
/// busy comes late.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn enable(socket: &Socket) -> io::Result<()> {
    set(socket, INCOMING | OUTGOING)?;
    // Whatever comes of it: where stamps fail to come, the result says so.
    SETTLED.get_or_init(|| settle().ok());
    Ok(())
}

/// Stays, so that the kernel goes on to stamp and no later socket has to wait for it.
static SETTLED: OnceLock<Option<Socket>> = OnceLock::new();

/// The kernel begins to stamp what comes in a moment after the first socket has asked for it: waits for that moment, with
/// datagrams of our own over loopback.
fn settle() -> io::Result<Socket> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let to = receiver.local_addr()?;
    receiver.connect(sender.local_addr()?)?;
    receiver.set_read_timeout(Some(Duration::from_millis(10)))?;
    let receiver = Socket::from(receiver);
    set(&receiver, INCOMING)?;
    let until = clock::now() + PATIENCE;
    while clock::now() < until {
        sender.send_to(&[0], to)?;
        let (_, stamp) = receive(&receiver, &mut [0], true)?;
        if stamp.is_some() {
            break;
        }
        std::thread::yield_now();
    }
    Ok(receiver)
}

pub fn restart(socket: &Socket) -> io::Result<()> {
    // Numbers begin again where they are switched on; stamps of what comes in stay on.
    set(socket, INCOMING)?;
    set(socket, INCOMING | OUTGOING)
}

fn set(socket: &Socket, flags: u32) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed, hence open; pointer and length are of one `u32`.
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub fn receive(
    socket: &Socket,
    room: &mut [u8],
    may_sleep: bool,
) -> io::Result<(usize, Option<u64>)> {
    let flags = if may_sleep { 0 } else { libc::MSG_DONTWAIT };
    let (len, told) = receive_with(socket, room, flags)?;
    Ok((len, told.wall_ns))
}

pub fn handover(socket: &Socket) -> io::Result<Option<Handover>> {
    loop {
        match receive_with(socket, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) {
            Ok((_, Told { wall_ns: Some(wall_ns), number: Some(number) })) => {
                return Ok(Some(Handover { number, wall_ns }));
            }
            // Word of something else.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

fn receive_with(socket: &Socket, room: &mut [u8], flags: libc::c_int) -> io::Result<(usize, Told)> {
    let mut control = MaybeUninit::<Control>::uninit();
    let mut slice = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: numbers and null pointers: all zero is a valid message header.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut slice;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: the descriptor is borrowed, hence open; buffer and control messages point to memory of the lengths
    // beside them, which nothing else uses during the call.
    let status = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, flags) };
    let len = usize::try_from(status).map_err(|_| io::Error::last_os_error())?;
    Ok((len, read(&message)))
}

/// What the control messages say that the kernel has written.
fn read(message: &libc::msghdr) -> Told {
    let mut told = Told::default();
    // SAFETY: the message is as `recvmsg` left it, with its control buffer alive.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: where not null, it points to a whole header in the part of the buffer that the kernel wrote, aligned.
    while let Some(kind) = unsafe { header.as_ref() } {
        // SAFETY: as above; the data follows the header.
        let data = unsafe { libc::CMSG_DATA(header) };
        match (kind.cmsg_level, kind.cmsg_type) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                // SAFETY: a message of this kind begins with this structure, the software stamp; it need not be
                // aligned.
                let stamp = unsafe { data.cast::<libc::timespec>().read_unaligned() };
                let wall_ns = stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64;
                told.wall_ns = (wall_ns > 0).then_some(wall_ns);
            }
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                // SAFETY: a message of this kind begins with this structure; it need not be aligned.
                let error = unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() };
                let is_stamp = error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING;
                told.number = is_stamp.then_some(error.ee_data);
            }
            _ => {}
        }
        // SAFETY: both are of this message, whose control buffer is alive.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    told
}
