//! What the simulated world is like: links, buffers, how much each operation moves, clocks.

use std::ops::{Index, IndexMut};

use pathscope_core::Tick;
use pathscope_core::id::Role;
use pathscope_core::quantity::BitRate;

/// One thing for each end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ends<T> {
    /// The client's.
    pub client: T,
    /// The server's.
    pub server: T,
}

impl<T: Clone> Ends<T> {
    /// The same for both.
    pub fn both(value: T) -> Self {
        Self { client: value.clone(), server: value }
    }
}

impl<T> Index<Role> for Ends<T> {
    type Output = T;

    fn index(&self, role: Role) -> &T {
        match role {
            Role::Client => &self.client,
            Role::Server => &self.server,
        }
    }
}

impl<T> IndexMut<Role> for Ends<T> {
    fn index_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }
}

/// One direction of a lane, with the socket buffers at its two ends.
///
/// Only payload takes time on it: there are no headers, no acknowledgements and no congestion control.
/// Flows do not share it: each lane has a link of its own in each direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Link {
    /// From the last bit sent to the last bit received.
    pub one_way_ns: u64,
    /// How fast bits are put on it; `None`: at once.
    pub rate: Option<BitRate>,
    /// At a rate, the bytes of a stream that travel together.
    pub segment_bytes: usize,
    /// What the sending socket holds until it is on the link.
    pub send_buffer_bytes: usize,
    /// What the receiving socket holds until it is taken. A stream stalls when it is full; a datagram
    /// that finds it full is dropped and counted there.
    pub receive_buffer_bytes: usize,
}

impl Link {
    /// A link of this delay, of any rate, between sockets of 256 KiB.
    pub const fn new(one_way_ns: u64) -> Self {
        Self {
            one_way_ns,
            rate: None,
            segment_bytes: 1_448,
            send_buffer_bytes: 256 << 10,
            receive_buffer_bytes: 256 << 10,
        }
    }

    /// The same link at this rate.
    #[must_use]
    pub const fn at_rate(mut self, rate: BitRate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// The same link between sockets of these sizes.
    #[must_use]
    pub const fn with_buffers(mut self, send_bytes: usize, receive_bytes: usize) -> Self {
        self.send_buffer_bytes = send_bytes;
        self.receive_buffer_bytes = receive_bytes;
        self
    }
}

/// How much each operation moves at most: bytes of a stream, or datagrams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Chunks {
    /// All that is there and fits.
    All,
    /// So many; 0 counts as 1.
    Fixed(usize),
    /// From 1 to `max`, all equally likely, the same sequence for the same seed.
    Random {
        /// Decides the sequence.
        seed: u64,
        /// The most.
        max: usize,
    },
}

/// Sends that the system has for a while, as engines have them that complete operations: what came of one is told later.
/// Some are interrupted, and some find no room.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flights {
    /// Decides the sequence of what happens to them.
    pub seed: u64,
    /// The longest: each takes any time up to it, all equally likely.
    pub most_ns: u64,
}

/// The simulated world. [`Conditions::over`] is a plain one; change what a test is about.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// What each end sends over, on every lane that has no links of its own.
    pub links: Ends<Link>,
    /// How much a socket takes at once.
    pub writes: Chunks,
    /// How much a receive brings at once.
    pub reads: Chunks,
    /// Whether a receive takes all that has come, as multishot receives do, also where the machine is shown less: the
    /// sender has room again.
    pub reads_overshoot: bool,
    /// How long the system has a send before it is told what came of it; `None`: that is told at once.
    pub flights: Option<Flights>,
    /// Whether `RecvMeta::stamp` tells when the bytes arrived.
    pub kernel_stamps: bool,
    /// With stamps: how long after each send the kernel hands the datagram to the device, and tells of it.
    pub handover_ns: u64,
    /// How much later than asked a timer fires.
    pub timers_late_ns: u64,
    /// What each end's clock shows when the simulation begins. They differ, so that a machine that
    /// compares ticks of two hosts is found out.
    pub clock_origins: Ends<Tick>,
    /// When each end is told to start, after the simulation begins. What arrives earlier waits.
    pub starts_ns: Ends<u64>,
    /// Steps after which a run is given up: a machine that spins without time passing ends there.
    pub max_steps: u64,
}

impl Conditions {
    /// The same link both ways, whole chunks, exact timers, both ends started at once.
    pub const fn over(link: Link) -> Self {
        Self {
            links: Ends { client: link, server: link },
            writes: Chunks::All,
            reads: Chunks::All,
            reads_overshoot: false,
            flights: None,
            kernel_stamps: false,
            handover_ns: 0,
            timers_late_ns: 0,
            clock_origins: Ends {
                client: Tick::from_nanos(1_000_000_000),
                server: Tick::from_nanos(7_000_000_000_000),
            },
            starts_ns: Ends { client: 0, server: 0 },
            max_steps: 10_000_000,
        }
    }
}
