//! Linux: `UDP_SEGMENT`, `UDP_GRO`, `IP_MTU` and `recvmmsg`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

use super::{Arrived, MOST};
use crate::Socket;
use crate::tcp_facts::option;

/// Room for one control message of one number, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 32]);

/// Header of UDP.
const UDP_HEADER: u32 = 8;

pub fn cut(socket: &Socket, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, bytes)
}

pub fn join(socket: &Socket) -> io::Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, 1)
}

pub fn keep_whole(socket: &Socket) -> io::Result<()> {
    if is_six(socket)? {
        set(socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO)
    } else {
        set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)
    }
}

pub fn longest_payload(socket: &Socket) -> Option<u32> {
    let (level, name, header) = if is_six(socket).ok()? {
        (libc::IPPROTO_IPV6, libc::IPV6_MTU, 40)
    } else {
        (libc::IPPROTO_IP, libc::IP_MTU, 20)
    };
    let mut mtu = [0_u32];
    let filled = option(socket, level, name, &mut mtu)?;
    (filled == size_of_val(&mtu)).then(|| mtu[0].saturating_sub(header + UDP_HEADER))
}

fn is_six(socket: &Socket) -> io::Result<bool> {
    Ok(socket.local_addr()?.is_ipv6())
}

fn set(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, hence open; pointer and length are of one `c_int`.
    let status =
        unsafe { libc::setsockopt(descriptor, level, name, (&raw const value).cast(), length) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub fn receive(
    socket: &Socket,
    room: &mut [u8],
    slot_bytes: usize,
    arrived: &mut [Arrived; MOST],
    waits: bool,
) -> io::Result<usize> {
    let mut controls = [const { MaybeUninit::<Control>::uninit() }; MOST];
    let mut slices = [const { MaybeUninit::<libc::iovec>::uninit() }; MOST];
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MOST];
    let mut slots = 0;
    for (index, slot) in room.chunks_exact_mut(slot_bytes.max(1)).take(MOST).enumerate() {
        let slice = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() };
        // SAFETY: numbers and null pointers: all zero is a valid message header.
        let mut message: libc::mmsghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_hdr.msg_iov = slices[index].write(slice);
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_control = controls[index].as_mut_ptr().cast();
        message.msg_hdr.msg_controllen = size_of::<Control>() as _;
        messages[index].write(message);
        slots += 1;
    }
    let flags = if waits { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
    // SAFETY: the descriptor is borrowed, hence open; the first `slots` headers are initialised, and point to memory of
    // the lengths beside them, which nothing else uses during the call and which outlives it.
    let status = unsafe {
        libc::recvmmsg(
            socket.as_fd().as_raw_fd(),
            messages.as_mut_ptr().cast(),
            slots,
            flags as _,
            std::ptr::null_mut(),
        )
    };
    let filled = usize::try_from(status).map_err(|_| io::Error::last_os_error())?;
    for (message, arrived) in messages.iter().zip(arrived.iter_mut()).take(filled) {
        // SAFETY: the kernel fills the first ones of those that were initialised above.
        let message = unsafe { message.assume_init_ref() };
        let len = message.msg_len as usize;
        *arrived = Arrived { len, stride: joined(&message.msg_hdr).unwrap_or(len) };
    }
    Ok(filled)
}

/// The length of each of those that were joined.
fn joined(message: &libc::msghdr) -> Option<usize> {
    // SAFETY: the message is as the kernel left it, with its control buffer alive.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: where not null, it points to a whole header in the control buffer, which is aligned.
    let kind = unsafe { header.as_ref() }.map(|header| (header.cmsg_level, header.cmsg_type))?;
    if kind != (libc::SOL_UDP, libc::UDP_GRO) {
        return None;
    }
    // SAFETY: as above; the data follows the header.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: a control message of this kind holds one number; it need not be aligned.
    let stride = unsafe { data.cast::<libc::c_int>().read_unaligned() };
    usize::try_from(stride).ok().filter(|&stride| stride > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::{self, Settings};

    fn pair() -> (Socket, Socket) {
        let any = "127.0.0.1:0".parse().expect("an address");
        let first = sockets::bind_udp(any).expect("loopback").local_addr().expect("bound");
        let receiver = Settings { local: Some(first), ..Settings::default() };
        let second = sockets::bind_udp(any).expect("loopback").local_addr().expect("bound");
        let sender = Settings { local: Some(second), ..Settings::default() };
        let receiver = sockets::connect_udp(second, &receiver).expect("loopback");
        (sockets::connect_udp(first, &sender).expect("loopback"), receiver)
    }

    /// All that waits in a socket, each datagram by itself.
    fn drain(socket: &Socket, slot_bytes: usize) -> Vec<Vec<u8>> {
        let mut room = vec![0; 4 << 16];
        let mut arrived = [Arrived::default(); MOST];
        let mut all = Vec::new();
        while let Ok(filled) = receive(socket, &mut room, slot_bytes, &mut arrived, false) {
            for (slot, arrived) in room.chunks(slot_bytes).zip(&arrived[..filled]) {
                all.extend(slot[..arrived.len].chunks(arrived.stride.max(1)).map(<[u8]>::to_vec));
            }
        }
        all
    }

    #[test]
    fn several_come_with_one_call_each_in_its_slot() {
        let (sender, receiver) = pair();
        for len in [5_usize, 100, 1, 300] {
            let datagram = vec![len as u8; len];
            rustix::net::send(&sender, &datagram, rustix::net::SendFlags::empty()).expect("room");
        }
        let lengths: Vec<usize> = drain(&receiver, 128).iter().map(Vec::len).collect();
        assert_eq!(lengths, [5, 100, 1, 128], "the last is longer than a slot");
    }

    #[test]
    fn what_is_cut_and_joined_is_what_was_sent() {
        let (sender, receiver) = pair();
        if let Err(error) = cut(&sender, 1_000).and_then(|()| join(&receiver)) {
            eprintln!("skipped, because this kernel neither cuts nor joins datagrams: {error}");
            return;
        }
        let bytes: Vec<u8> = (0..10_500).map(|index| (index % 251) as u8).collect();
        rustix::net::send(&sender, &bytes, rustix::net::SendFlags::empty()).expect("room");
        let came = drain(&receiver, 1 << 16);
        assert_eq!(came.iter().map(Vec::len).collect::<Vec<_>>()[9..], [1_000, 500]);
        assert_eq!(came.concat(), bytes);
    }

    #[test]
    fn what_loopback_takes_whole_is_its_mtu_less_the_headers() {
        let (sender, _receiver) = pair();
        let name = "/sys/class/net/lo/mtu";
        let Ok(mtu) = std::fs::read_to_string(name) else {
            eprintln!("skipped, because {name} is not there");
            return;
        };
        let mtu: u32 = mtu.trim().parse().expect("a number");
        // A header of IP states no more than 16 bits of length.
        assert_eq!(longest_payload(&sender), Some(mtu.min(65_535) - 28));
        keep_whole(&sender).expect("every kernel can");
    }
}
