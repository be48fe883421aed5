//! The packets of an interface, written to a file in the classic pcap format with nanosecond stamps
//! (draft-ietf-opsawg-pcap), which tcpdump and Wireshark read.
//!
//! Stamps are the kernel's own: files of two interfaces of one machine can be compared to the nanosecond. What passes is taken
//! in handfuls and not packet by packet, since each time we wake up takes a processor from what is looked at.
//!
//! Not here: reading such files, and choosing packets.

use std::io::{self, Write};
use std::time::Duration;

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
/// How long packets may wait for us where the kernel keeps at least so many bytes of them, and where it keeps fewer.
const PAUSE: Duration = Duration::from_millis(10);
const ROOM: usize = 8 << 20;
const SHORT_PAUSE: Duration = Duration::from_millis(1);

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
    /// Packets that are in the file, whole.
    pub packets: u64,
    /// Bytes of the file with them; what is behind those is a part of a packet.
    pub bytes: u64,
    /// Packets that the kernel dropped because we were too slow.
    pub missed: u64,
}

/// Why a capture ended early. What was written before stays.
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
    let mut pending = Pending::default();
    header(bounds.snap, &mut pending);
    pending.write(&mut captured, output)?;
    let poller = Poller::new()?;
    let alarm = Alarm::new()?;
    poller.add(socket, 0, Interest::INPUT)?;
    poller.add(stop, 1, Interest::INPUT)?;
    poller.add(&alarm, 2, Interest::INPUT)?;
    alarm.set(bounds.until.unwrap_or(Tick::NEVER))?;
    let calm = Poller::new()?;
    calm.add(stop, 1, Interest::INPUT)?;
    calm.add(&alarm, 2, Interest::INPUT)?;
    let pause = if socket.buffer() >= ROOM { PAUSE } else { SHORT_PAUSE };
    let most = bounds.packets.unwrap_or(u64::MAX);
    let mut batch = Batch::new(MOST_AT_ONCE, FRAME_BYTES);
    let mut ready = Vec::new();
    let is_over = || stop.is_raised() || bounds.until.is_some_and(|until| clock::now() >= until);
    while captured.packets < most {
        poller.wait(&mut ready, None)?;
        // What came before the end belongs to it, so look once more, then end.
        let is_last = is_over();
        let mut last = 0;
        while socket.receive(&mut batch).is_ok_and(|taken| taken > 0) {
            last = batch.frames().len();
            fill(&mut pending, &batch, bounds.snap, most - captured.packets);
            pending.write(&mut captured, output)?;
            if captured.packets >= most {
                break;
            }
        }
        if is_last {
            break;
        }
        // A full batch was maybe not the last one.
        if last < MOST_AT_ONCE && captured.packets < most {
            calm.wait(&mut ready, Some(pause))?;
        }
    }
    captured.missed = socket.dropped().unwrap_or(0);
    Ok(captured)
}

/// What is to be written, as bytes and where its records end in them: a system that takes only a part has
/// maybe taken some of them whole. The storage is used again.
#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Pending {
    /// Writes all, and counts what is whole in the file, also where that is not all.
    fn write(
        &mut self,
        captured: &mut Captured,
        output: &mut impl Write,
    ) -> Result<(), CaptureError> {
        let mut written = 0;
        let mut failure = None;
        while failure.is_none() && written < self.bytes.len() {
            match output.write(&self.bytes[written..]) {
                Ok(0) => failure = Some(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => failure = Some(error),
            }
        }
        let whole = self.ends.partition_point(|&end| end <= written);
        // The file's header is no packet.
        captured.packets += whole as u64 - u64::from(captured.bytes == 0 && whole > 0);
        captured.bytes += whole.checked_sub(1).map_or(0, |last| self.ends[last] as u64);
        self.bytes.clear();
        self.ends.clear();
        failure.map_or(Ok(()), |source| Err(CaptureError::Output { source, captured: *captured }))
    }
}

fn header(snap: u32, pending: &mut Pending) {
    pending.bytes.extend(MAGIC.to_le_bytes());
    pending.bytes.extend(VERSION.iter().flat_map(|part| part.to_le_bytes()));
    // Two reserved words, then what is kept of each packet.
    pending.bytes.extend([0, 0, snap, ETHERNET].iter().flat_map(|word| word.to_le_bytes()));
    pending.ends.push(pending.bytes.len());
}

/// Puts together the records of a batch, at most so many.
fn fill(pending: &mut Pending, batch: &Batch, snap: u32, most: u64) {
    let (wall_ns, now) = (clock::wall_unix_ns(), clock::now());
    for frame in batch.frames().take(usize::try_from(most).unwrap_or(usize::MAX)) {
        let computed = || wall_ns.saturating_sub(now.nanos_since(frame.arrival));
        let stamp_ns = frame.stamp_unix_ns.unwrap_or_else(computed);
        let kept = frame.bytes.len().min(snap as usize);
        // The format's seconds end in 2106.
        let words = [
            (stamp_ns / 1_000_000_000) as u32,
            (stamp_ns % 1_000_000_000) as u32,
            kept as u32,
            frame.len as u32,
        ];
        pending.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        pending.bytes.extend(&frame.bytes[..kept]);
        pending.ends.push(pending.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with so much room, which takes a few bytes at a time.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(7).min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_packets_that_are_whole_in_the_file_count() {
        for (room, packets, bytes) in
            [(0, 0, 0), (23, 0, 0), (24, 0, 24), (33, 0, 24), (34, 1, 34), (63, 3, 54)]
        {
            let (mut disk, mut captured) = (Disk(room), Captured::default());
            let mut pending = Pending::default();
            header(60, &mut pending);
            let result = pending.write(&mut captured, &mut disk).and_then(|()| {
                for end in [10, 20, 30, 40] {
                    pending.bytes.extend([0; 10]);
                    pending.ends.push(end);
                }
                pending.write(&mut captured, &mut disk)
            });
            let Err(CaptureError::Output { captured: told, .. }) = result else {
                panic!("{room} bytes are too few: {result:?}")
            };
            assert_eq!((told.packets, told.bytes), (packets, bytes), "{room} bytes");
        }
    }
}
