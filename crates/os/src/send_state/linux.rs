//! Linux: `TCP_INFO` up to what 4.19 says, and `poll`, which tells of room as a blocked send does.

use pathscope_core::sending::SendState;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Socket;
use crate::tcp_facts::{INFO_BYTES, STATE_CLOSED, number, option};

pub fn send_state(socket: &Socket) -> Option<SendState> {
    let mut info = [0_u8; INFO_BYTES];
    let filled = option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    let state = state(&info[..filled.min(INFO_BYTES)])?;
    Some(SendState { has_room: has_room(socket), ..state })
}

/// All but whether there is room.
fn state(info: &[u8]) -> Option<SendState> {
    let four = |offset: usize| number::<4>(info, offset).map(u32::from_ne_bytes).map(u64::from);
    let eight = |offset: usize| number::<8>(info, offset).map(u64::from_ne_bytes);
    if *info.first()? == STATE_CLOSED {
        return None;
    }
    let outstanding = four(24)?;
    let (selectively_acknowledged, lost, sent_again) = (four(28)?, four(32)?, four(36)?);
    let acknowledged_bytes = eight(120)?;
    // What was sent again is in the first and in the second.
    let once_bytes = eight(200)?.saturating_sub(eight(208)?);
    Some(SendState {
        unsent_bytes: four(144)?,
        outstanding_bytes: once_bytes.saturating_sub(acknowledged_bytes),
        acknowledged_bytes,
        outstanding_segments: outstanding,
        in_flight_segments: (outstanding + sent_again)
            .saturating_sub(selectively_acknowledged + lost),
        congestion_window_segments: four(80)?,
        peer_window_bytes: four(228),
        segment_bytes: four(16)?,
        busy_ns: eight(168)?.saturating_mul(1_000),
        delivered_bytes_per_s: eight(160).filter(|&rate| rate > 0),
        min_rtt_ns: four(148).filter(|&rtt| rtt < u64::from(u32::MAX)).map(|rtt| rtt * 1_000),
        has_room: false,
    })
}

/// Whether a send would be taken now. A failure is an error of the socket, and no send waits on that.
fn has_room(socket: &Socket) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut watched = [PollFd::new(socket, PollFlags::OUT)];
    !poll(&mut watched, Some(&now)).is_ok_and(|ready| ready == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_does_not_say_is_no_state() {
        let mut info = [0_u8; INFO_BYTES];
        info[0] = 1;
        let four = [(16, 1_448_u32), (24, 12), (28, 3), (32, 2), (36, 1), (80, 10), (144, 77)];
        for (offset, value) in four {
            info[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        }
        for (offset, value) in [(120, 1_000_u64), (160, 70), (200, 9_000), (208, 500)] {
            info[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        }
        let whole = state(&info).expect("all of it");
        assert_eq!((whole.unsent_bytes, whole.outstanding_bytes), (77, 7_500));
        assert_eq!((whole.outstanding_segments, whole.in_flight_segments), (12, 8));
        assert_eq!(whole.delivered_bytes_per_s, Some(70));
        assert_eq!(state(&info[..228]).expect("but the window").peer_window_bytes, None);
        assert_eq!(state(&info[..200]), None);
        info[0] = STATE_CLOSED;
        assert_eq!(state(&info), None);
    }

    #[test]
    fn the_offsets_are_those_of_the_kernel_s_header() {
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_unacked), 24);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_sacked), 28);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_lost), 32);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_retrans), 36);
    }
}
