//! The packets of an interface, written to a file in the classic pcap format with nanosecond stamps
//! (draft-ietf-opsawg-pcap), which tcpdump and Wireshark read.
//!
//! Not here: reading such files, and choosing packets.

use std::io::{self, Write};

use pathscope_core::Tick;
use pathscope_os::clock;
use pathscope_os::packets::{Batch, MOST_AT_ONCE, PacketSocket};
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::scheduling::Alarm;
use pathscope_os::{OsError, Waker};

/// Says that stamps are in nanoseconds, and in which order its bytes are.
const MAGIC: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const ETHERNET: u32 = 1;
/// Frames are read whole, up to what the longest packet needs.
const FRAME_BYTES: usize = 1 << 16;

/// When a capture ends by itself.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// After so many packets.
    pub packets: Option<u64>,
    /// At this tick.
    pub until: Option<Tick>,
    /// Bytes of each packet that are kept.
    pub snap: u32,
}

/// What a capture came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Captured {
    /// Packets that are in the file.
    pub packets: u64,
    /// Packets that the kernel dropped because we were too slow.
    pub missed: u64,
}

/// Why a capture ended early. What was written before is whole packets, and stays.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file took no more.
    #[error("{source}, when {} packets were written", .captured.packets)]
    Output {
        /// What the system said.
        source: io::Error,
        /// What is in the file.
        captured: Captured,
    },
    /// The socket or the clock.
    #[error(transparent)]
    Os(#[from] OsError),
}

/// Writes the packets that pass a socket until `stop` is raised or a bound is met.
pub fn capture(
    socket: &PacketSocket,
    bounds: Bounds,
    stop: &Waker,
    output: &mut impl Write,
) -> Result<Captured, CaptureError> {
    let mut captured = Captured::default();
    let failed = |source, captured| CaptureError::Output { source, captured };
    header(bounds.snap, output).map_err(|source| failed(source, captured))?;
    let poller = Poller::new()?;
    let alarm = Alarm::new()?;
    poller.add(socket, 0, Interest::INPUT)?;
    poller.add(stop, 1, Interest::INPUT)?;
    poller.add(&alarm, 2, Interest::INPUT)?;
    alarm.set(bounds.until.unwrap_or(Tick::NEVER))?;
    let most = bounds.packets.unwrap_or(u64::MAX);
    let mut batch = Batch::new(MOST_AT_ONCE, FRAME_BYTES);
    let mut ready = Vec::new();
    let is_over = || stop.is_raised() || bounds.until.is_some_and(|until| clock::now() >= until);
    while captured.packets < most {
        poller.wait(&mut ready, None)?;
        // What came before the end belongs to it, so look once more, then end.
        let is_last = is_over();
        while socket.receive(&mut batch).is_ok_and(|taken| taken > 0) {
            write(&batch, bounds.snap, most, &mut captured, output)
                .map_err(|source| failed(source, captured))?;
            if captured.packets >= most {
                break;
            }
        }
        output.flush().map_err(|source| failed(source, captured))?;
        if is_last {
            break;
        }
    }
    captured.missed = socket.dropped().unwrap_or(0);
    Ok(captured)
}

fn header(snap: u32, output: &mut impl Write) -> io::Result<()> {
    output.write_all(&MAGIC.to_le_bytes())?;
    for part in VERSION {
        output.write_all(&part.to_le_bytes())?;
    }
    // Two reserved words, then what is kept of each packet.
    for word in [0, 0, snap, ETHERNET] {
        output.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

fn write(
    batch: &Batch,
    snap: u32,
    most: u64,
    captured: &mut Captured,
    output: &mut impl Write,
) -> io::Result<()> {
    let (wall_ns, now) = (clock::wall_unix_ns(), clock::now());
    for frame in batch.frames() {
        if captured.packets >= most {
            return Ok(());
        }
        let stamp_ns = wall_ns.saturating_sub(now.nanos_since(frame.arrival));
        let kept = frame.bytes.len().min(snap as usize);
        // The format's seconds end in 2106.
        let words = [
            (stamp_ns / 1_000_000_000) as u32,
            (stamp_ns % 1_000_000_000) as u32,
            kept as u32,
            frame.len as u32,
        ];
        let mut record = [0; 16];
        for (place, word) in record.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        output.write_all(&record)?;
        output.write_all(&frame.bytes[..kept])?;
        captured.packets += 1;
    }
    Ok(())
}
