//! Linux: `TCP_INFO`, which has grown at its end with the kernel's versions.
//!
//! Read as bytes with the offsets of `include/uapi/linux/tcp.h`: `libc::tcp_info` stops where the
//! structure stood in 2.6, and what the kernel did not fill must be absent rather than zero.

use std::os::fd::{AsFd, AsRawFd};

use pathscope_core::record::TcpFacts;
use pathscope_core::tcp_look::TcpLook;

use crate::Socket;

/// Room for everything this reads; the kernel fills what it has of it.
pub(crate) const INFO_BYTES: usize = 248;
pub(crate) const STATE_CLOSED: u8 = 7;

pub fn tcp_facts(socket: &Socket) -> Option<TcpFacts> {
    let mut info = [0_u8; INFO_BYTES];
    let filled = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    Some(facts(&info[..filled.min(INFO_BYTES)]))
}

pub fn tcp_look(socket: &Socket) -> Option<TcpLook> {
    let mut info = [0_u8; INFO_BYTES];
    let filled = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    look(&info[..filled.min(INFO_BYTES)])
}

/// Segments that came out of order on a connection, ever.
pub(crate) fn out_of_order(socket: impl AsFd) -> Option<u32> {
    const OUT_OF_ORDER: usize = 224;
    let mut info = [0_u8; INFO_BYTES];
    let filled = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    number::<4>(&info[..filled.min(INFO_BYTES)], OUT_OF_ORDER).map(u32::from_ne_bytes)
}

fn facts(info: &[u8]) -> TcpFacts {
    let four = |offset: usize| number::<4>(info, offset).map(u32::from_ne_bytes).map(u64::from);
    let eight = |offset: usize| number::<8>(info, offset).map(u64::from_ne_bytes);
    let two = |offset: usize| number::<2>(info, offset).map(u16::from_ne_bytes).map(u64::from);
    let nanoseconds = |microseconds: u64| microseconds.saturating_mul(1_000);
    let segment_bytes = four(16);
    let rtt_ns = four(68).filter(|&rtt| rtt > 0).map(nanoseconds);
    // One that was closed by both ends knows what it measured, and one that was taken back has forgotten all of it.
    let knows = rtt_ns.is_some() || info.first().is_some_and(|&state| state != STATE_CLOSED);
    TcpFacts {
        rtt_ns,
        min_rtt_ns: four(148).filter(|&rtt| knows && rtt < u64::from(u32::MAX)).map(nanoseconds),
        retransmits: four(100),
        retransmitted_bytes: eight(208),
        timeout_episodes: two(242),
        congestion_window_bytes: four(80)
            .zip(segment_bytes)
            .map(|(window, segment)| window * segment),
        delivery_rate_bps: eight(160).filter(|&rate| rate > 0).map(|rate| rate.saturating_mul(8)),
        busy_ns: eight(168).map(nanoseconds),
        receive_window_limited_ns: eight(176).map(nanoseconds),
        send_buffer_limited_ns: eight(184).map(nanoseconds),
        segment_bytes,
    }
}

fn look(info: &[u8]) -> Option<TcpLook> {
    let two = |offset: usize| number::<2>(info, offset).map(u16::from_ne_bytes).map(u64::from);
    let four = |offset: usize| number::<4>(info, offset).map(u32::from_ne_bytes).map(u64::from);
    let nanoseconds = |offset: usize| four(offset).map(|it| it.saturating_mul(1_000));
    if *info.first()? == STATE_CLOSED {
        return None;
    }
    Some(TcpLook {
        congestion_window_bytes: four(80).zip(four(16)).map(|(window, segment)| window * segment),
        peer_window_bytes: four(228),
        path_mtu_bytes: four(60),
        rtt_ns: nanoseconds(68).filter(|&rtt| rtt > 0),
        rtt_variation_ns: nanoseconds(72),
        retransmission_timeout_ns: nanoseconds(8),
        reordering_segments: four(88),
        reorderings: four(220),
        retransmits: four(100),
        duplicates: four(216),
        timeouts: two(240),
        ..TcpLook::default()
    })
}

pub(crate) fn number<const BYTES: usize>(info: &[u8], offset: usize) -> Option<[u8; BYTES]> {
    info.get(offset..)?.first_chunk().copied()
}

/// Reads a socket option into plain numbers; returns how many bytes the kernel filled.
pub(crate) fn option<T: Number>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    room: &mut [T],
) -> Option<usize> {
    let mut length = size_of_val(room) as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, hence open; the kernel writes at most `length` bytes, which
    // is what the slice has; any bytes are a valid value of a `Number`.
    let status = unsafe {
        libc::getsockopt(descriptor, level, name, room.as_mut_ptr().cast(), &raw mut length)
    };
    (status == 0).then_some(length as usize)
}

/// Numbers of which every pattern of bits is one.
pub(crate) trait Number {}
impl Number for u8 {}
impl Number for u32 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_does_not_fill_is_absent() {
        let mut info = [0_u8; INFO_BYTES];
        info[0] = 1;
        info[16..20].copy_from_slice(&1_448_u32.to_ne_bytes());
        info[68..72].copy_from_slice(&250_u32.to_ne_bytes());
        info[80..84].copy_from_slice(&10_u32.to_ne_bytes());
        info[148..152].copy_from_slice(&200_u32.to_ne_bytes());
        info[168..176].copy_from_slice(&7_u64.to_ne_bytes());
        info[208..216].copy_from_slice(&2_896_u64.to_ne_bytes());
        info[242..244].copy_from_slice(&3_u16.to_ne_bytes());

        let whole = facts(&info);
        assert_eq!((whole.rtt_ns, whole.min_rtt_ns), (Some(250_000), Some(200_000)));
        assert_eq!(whole.congestion_window_bytes, Some(14_480));
        assert_eq!(whole.busy_ns, Some(7_000));
        assert_eq!((whole.retransmitted_bytes, whole.timeout_episodes), (Some(2_896), Some(3)));
        assert_eq!(facts(&info[..232]).timeout_episodes, None);

        info[0] = STATE_CLOSED;
        assert_eq!(facts(&info).min_rtt_ns, Some(200_000));
        info[68..72].fill(0);
        assert_eq!(facts(&info).min_rtt_ns, None);
        info[0] = 1;
        info[68..72].copy_from_slice(&250_u32.to_ne_bytes());

        let old = facts(&info[..104]);
        assert_eq!((old.rtt_ns, old.retransmits), (Some(250_000), Some(0)));
        assert_eq!((old.min_rtt_ns, old.busy_ns), (None, None));
        assert_eq!(facts(&info[..170]).busy_ns, None);
        assert_eq!(facts(&[]).segment_bytes, None);
    }

    #[test]
    fn a_look_tells_what_the_kernel_filled() {
        let mut info = [0_u8; INFO_BYTES];
        info[0] = 1;
        let four =
            [(8, 204_000_u32), (16, 1_000), (68, 250), (72, 30), (80, 10), (88, 3), (100, 7)];
        for (offset, value) in
            four.into_iter().chain([(216, 2), (220, 1), (60, 1_500), (228, 65_536)])
        {
            info[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        }
        info[240..242].copy_from_slice(&4_u16.to_ne_bytes());
        let whole = TcpLook {
            congestion_window_bytes: Some(10_000),
            peer_window_bytes: Some(65_536),
            path_mtu_bytes: Some(1_500),
            rtt_ns: Some(250_000),
            rtt_variation_ns: Some(30_000),
            retransmission_timeout_ns: Some(204_000_000),
            reordering_segments: Some(3),
            reorderings: Some(1),
            retransmits: Some(7),
            duplicates: Some(2),
            timeouts: Some(4),
            ..TcpLook::default()
        };
        assert_eq!(look(&info), Some(whole));
        assert_eq!(look(&info[..232]), Some(TcpLook { timeouts: None, ..whole }));
        let old = TcpLook {
            timeouts: None,
            duplicates: None,
            reorderings: None,
            peer_window_bytes: None,
            ..whole
        };
        assert_eq!(look(&info[..216]), Some(old));
        info[0] = STATE_CLOSED;
        assert_eq!((look(&info), look(&[])), (None, None));
    }

    #[test]
    fn the_offsets_are_those_of_the_kernel_s_header() {
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_snd_mss), 16);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_rto), 8);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_rtt), 68);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_rttvar), 72);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_reordering), 88);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_snd_cwnd), 80);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans), 100);
    }
}
