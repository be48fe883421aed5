//! How fast a link sends, and what may wait meanwhile: `40Mbit`, `67p`, `100KB`.

use std::fmt;
use std::str::FromStr;

use pathscope_core::quantity::{BitRate, Bytes};

use super::words::{self, WordError};

/// How fast frames are sent. In words a rate as `40Mbit`, or `none`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rate {
    /// As fast as frames come: sending one takes no time, and none ever waits.
    #[default]
    Unlimited,
    /// Bits a second, of frames with their Ethernet header and without preamble, check sequence and
    /// gap, as tc counts.
    Limited(BitRate),
}

impl FromStr for Rate {
    type Err = WordError;

    fn from_str(typed: &str) -> Result<Self, WordError> {
        if typed == "none" { Ok(Self::Unlimited) } else { Ok(Self::Limited(typed.parse()?)) }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unlimited => formatter.write_str("none"),
            Self::Limited(rate) => formatter.write_str(&words::bit_rate(rate)),
        }
    }
}

/// The bound of a queue that drops at its tail. In words `67p` for frames, `100KB` for bytes.
///
/// It counts what waits, and **not** the frame being sent. So of a burst that finds an idle link
/// with a queue of 67 packets, one frame is sent at once, 67 wait, and the 69th is the first to be
/// dropped. A frame that arrives in the very nanosecond in which a transmission ends finds the next
/// one begun. In bytes, a frame may wait if with it there are no more than the bound; one that is
/// larger than the bound passes only where it finds the link idle.
///
/// How that compares: tbf keeps a packet in its queue until there are tokens for all of it, so its
/// `limit` (bytes) also holds the packet that this link is already sending. netem's `limit`
/// (packets) counts all that it holds, those on their way through the delay included, which here
/// never take room in the queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queue {
    /// So many frames.
    Packets(u32),
    /// So many bytes of frames with their Ethernet header.
    Bytes(u64),
}

impl Default for Queue {
    /// What Linux gives an interface and what netem takes by itself.
    fn default() -> Self {
        Self::Packets(1000)
    }
}

const EXAMPLE: &str = "67p for packets or 100KB for bytes";

impl FromStr for Queue {
    type Err = WordError;

    fn from_str(typed: &str) -> Result<Self, WordError> {
        let text = typed.trim();
        let unknown = || WordError::unknown(typed, "the size of a queue", EXAMPLE);
        for unit in ["packets", "packet", "p"] {
            if let Some(number) = text.strip_suffix(unit) {
                let frames = number.trim_end().parse();
                return frames.map(Self::Packets).map_err(|_| unknown());
            }
        }
        // A bare number would be bytes, and nobody who types 67 means 67 bytes.
        if text.ends_with(|last: char| last.is_ascii_digit()) {
            return Err(unknown());
        }
        Ok(Self::Bytes(text.parse::<Bytes>()?.0))
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(frames) => write!(formatter, "{frames}p"),
            // A word holds no blank.
            Self::Bytes(bytes) => formatter.write_str(&Bytes(bytes).to_string().replace(' ', "")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_read_and_written() {
        for (typed, queue, shown) in [
            ("67p", Queue::Packets(67), "67p"),
            ("67packets", Queue::Packets(67), "67p"),
            ("1 packet", Queue::Packets(1), "1p"),
            ("100KB", Queue::Bytes(100_000), "100000B"),
            ("64KiB", Queue::Bytes(65_536), "64KiB"),
            ("1500B", Queue::Bytes(1500), "1500B"),
        ] {
            assert_eq!(typed.parse(), Ok(queue), "{typed}");
            assert_eq!(queue.to_string(), shown);
            assert_eq!(shown.parse(), Ok(queue));
        }
    }

    #[test]
    fn a_queue_without_a_unit_is_refused() {
        for (typed, words) in [
            ("67", "67p for packets or 100KB for bytes"),
            ("p", "is not the size of a queue"),
            ("-1p", "is not the size of a queue"),
            ("5000000000p", "is not the size of a queue"),
            ("3parsec", "is not a unit of bytes"),
            ("", "is not a number"),
        ] {
            let error = typed.parse::<Queue>().expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
        }
    }

    #[test]
    fn rates_are_read_and_written() {
        assert_eq!("40Mbit".parse(), Ok(Rate::Limited(BitRate(40_000_000))));
        assert_eq!(Rate::Limited(BitRate(40_000_001)).to_string(), "40000001bit");
        assert_eq!("none".parse(), Ok(Rate::Unlimited));
        assert_eq!(Rate::Unlimited.to_string(), "none");
        assert!("40".parse::<Rate>().is_err());
    }
}
