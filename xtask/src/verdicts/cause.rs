//! What holds a transfer back here, how it is brought about, and the verdict that it must give: stated before anything runs.

use anyhow::{Context as _, Result};
use pathscope_core::record::Limit;

use super::cell::{Cell, End};

/// A cause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    SenderProcessor,
    ReceiverProcessor,
    Window,
    SendBuffer,
    Rate,
    BurstDelay,
    SenderStill,
    ReceiverStill,
    Path,
    Loss,
    Reordering,
    Queue,
    OthersAtSender,
    OthersAtReceiver,
}

/// One line of the table of causes.
#[derive(Debug)]
pub struct Line {
    pub cause: Cause,
    pub name: &'static str,
    /// The verdict where the cause is true. Where it is not, the link is the narrowest thing there is.
    pub expected: Limit,
    pub how: &'static str,
}

impl Line {
    /// That of this name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let names = || CAUSES.iter().map(|line| line.name).collect::<Vec<_>>().join(", ");
        let found = CAUSES.iter().find(|line| line.name == name);
        found.with_context(|| format!("find the cause `{name}`; there are: {}", names()))
    }
}

/// The verdict where a cause costs nothing: every cell's link is the narrowest thing that is left.
pub const EXPECTED_ELSE: Limit = Limit::Network;

/// All causes.
pub static CAUSES: [Line; 14] = [
    Line {
        cause: Cause::SenderProcessor,
        name: "sender-cpu",
        expected: Limit::SenderCpu,
        how: "a control group leaves the sender's process a third of the processor time that it uses without; sends of 256 B",
    },
    Line {
        cause: Cause::ReceiverProcessor,
        name: "receiver-cpu",
        expected: Limit::ReceiverCpu,
        how: "a control group leaves the receiver's process a third of the processor time that it uses without; receptions of 256 B at most",
    },
    Line {
        cause: Cause::Window,
        name: "window",
        expected: Limit::ReceiveWindow,
        how: "the receiver's buffers (`tcp_rmem`) hold a quarter of what a round trip brings, or what is least",
    },
    Line {
        cause: Cause::SendBuffer,
        name: "send-buffer",
        expected: Limit::SendBuffer,
        how: "the sender's buffers (`tcp_wmem`) hold a quarter of what a round trip carries, or what is least",
    },
    Line {
        cause: Cause::Rate,
        name: "rate",
        expected: Limit::ConfiguredRate,
        how: "`--total-rate` of half the link's",
    },
    Line {
        cause: Cause::BurstDelay,
        name: "burst-delay",
        expected: Limit::ConfiguredPauses,
        how: "`--burst-delay 100ms` after bursts of what the link carries in 30 ms",
    },
    Line {
        cause: Cause::SenderStill,
        name: "sender-stopped",
        expected: Limit::SenderStopped,
        how: "the sender's process is stopped for 0.9 s of every 1.5 s",
    },
    Line {
        cause: Cause::ReceiverStill,
        name: "receiver-stopped",
        expected: Limit::ReceiverStopped,
        how: "the receiver's process is stopped for 0.9 s of every 1.5 s",
    },
    Line {
        cause: Cause::Path,
        name: "path",
        expected: Limit::Network,
        how: "the link's rate; without it, twice that",
    },
    Line {
        cause: Cause::Loss,
        name: "loss",
        expected: Limit::Network,
        how: "the link loses 1 % of what is sent",
    },
    Line {
        cause: Cause::Reordering,
        name: "reordering",
        expected: Limit::Network,
        how: "the link lets one frame in fifty be overtaken by ten others",
    },
    Line {
        cause: Cause::Queue,
        name: "queue",
        expected: Limit::Network,
        how: "the link's queue holds 5 packets",
    },
    Line {
        cause: Cause::OthersAtSender,
        name: "others-at-sender",
        expected: Limit::SenderCpu,
        how: "three programs that go before others keep busy the processor that the sender's thread is bound to; sends of 256 B",
    },
    Line {
        cause: Cause::OthersAtReceiver,
        name: "others-at-receiver",
        expected: Limit::ReceiverCpu,
        how: "three programs that go before others keep busy the processor that the receiver's thread is bound to; receptions of 256 B at most",
    },
];

/// How one run is set. What is absent is as it is without a cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Of the link, in Mbit/s.
    pub megabits: u32,
    /// What else the link does to what the sender sends, in the words of `lab set`.
    pub link: Option<&'static str>,
    /// More words of the client.
    pub words: Vec<String>,
    /// The buffers of a node's sockets: which setting, and its most.
    pub buffers: Option<(End, &'static str, u64)>,
    /// A share of a processor that an end's process may use.
    pub quota: Option<(End, f64)>,
    /// An end whose process is stopped again and again.
    pub stopped: Option<End>,
    /// An end on whose thread's processor other programs run.
    pub others: Option<End>,
}

/// Of what a round trip carries, what a small buffer holds.
const SMALL: f64 = 0.25;
/// No smaller: two segments, with what kernels add to them.
const LEAST_BUFFER: u64 = 8_192;
/// Of what a process uses, what a quota leaves it.
const LEFT: f64 = 0.33;

impl Cause {
    /// Whether it is a share of what a process uses without it, so that this has to be known first.
    pub const fn needs_use(self) -> Option<Which> {
        match self {
            Self::SenderProcessor => Some(Which::Sender),
            Self::ReceiverProcessor => Some(Which::Receiver),
            _ => None,
        }
    }

    /// Whether it is brought about far away, too: what it costs there is a matter of round trips.
    pub const fn is_of_round_trips(self) -> bool {
        matches!(self, Self::Window | Self::SendBuffer | Self::Path | Self::Loss)
    }

    /// A run without the cause.
    pub fn removed(self, cell: &Cell) -> Setting {
        let megabits = if self == Self::Path { 2 * cell.megabits } else { cell.megabits };
        let words = match self {
            // Bound with and without the others.
            Self::OthersAtSender | Self::OthersAtReceiver => {
                ["--cpu", "0", "--server-cpu", "1", "--buffer", "256"].map(str::to_owned).to_vec()
            }
            // Sends of many bytes cost next to nothing.
            Self::SenderProcessor | Self::ReceiverProcessor => {
                ["--buffer", "256"].map(str::to_owned).to_vec()
            }
            _ => Vec::new(),
        };
        Setting { megabits, words, ..Setting::default() }
    }

    /// A run with it. `used`: the share of a processor that the process uses without, where it has to be known.
    pub fn brought_about(self, cell: &Cell, used: f64) -> Setting {
        let mut setting = self.removed(cell);
        let (sender, receiver) = (cell.sender(), cell.receiver());
        let each = cell.bytes_on_the_way() / u64::from(cell.connections);
        // Kernels count as much again for themselves.
        let small = ((each as f64 * SMALL) as u64 * 2).max(LEAST_BUFFER);
        let bytes = |milliseconds: u64| {
            u64::from(cell.megabits) * 125 * milliseconds / u64::from(cell.connections)
        };
        match self {
            Self::SenderProcessor => setting.quota = Some((sender, used * LEFT)),
            Self::ReceiverProcessor => setting.quota = Some((receiver, used * LEFT)),
            Self::Window => setting.buffers = Some((receiver, "tcp_rmem", small)),
            Self::SendBuffer => setting.buffers = Some((sender, "tcp_wmem", small)),
            Self::Rate => {
                let half = format!("{}Mbit", cell.megabits / 2);
                setting.words = vec!["--total-rate".to_owned(), half];
            }
            Self::BurstDelay => {
                let burst = bytes(30).to_string();
                let words = ["--burst-count", "1", "--burst-delay", "100ms", "--buffer", &burst];
                setting.words = words.map(str::to_owned).to_vec();
            }
            Self::SenderStill => setting.stopped = Some(sender),
            Self::ReceiverStill => setting.stopped = Some(receiver),
            Self::Path => setting.megabits = cell.megabits,
            Self::Loss => setting.link = Some("loss=1%"),
            Self::Reordering => setting.link = Some("reorder=2%x10"),
            Self::Queue => setting.link = Some("queue=5p"),
            Self::OthersAtSender => setting.others = Some(sender),
            Self::OthersAtReceiver => setting.others = Some(receiver),
        }
        setting
    }
}

/// One of the two ends of what is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Which {
    Sender,
    Receiver,
}

impl Which {
    pub fn end(self, cell: &Cell) -> End {
        match self {
            Self::Sender => cell.sender(),
            Self::Receiver => cell.receiver(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_changes_something_and_has_one_line() {
        for (index, line) in CAUSES.iter().enumerate() {
            assert!(CAUSES[..index].iter().all(|other| other.cause != line.cause));
            for cell in Cell::all(true, index) {
                let with = line.cause.brought_about(&cell, 0.1);
                assert_ne!(with, line.cause.removed(&cell), "{} {cell}", line.name);
            }
        }
    }
}
