//! What a test puts on a path, for whoever knows the path and says what must come of it.
//!
//! Not here: what comes of it (that is measured), and headers below UDP and TCP (those are the path's).

use pathscope_flow::Transport;

/// What a test's load puts on a path, each way; nothing where it sends too little to be felt, as pings do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offered {
    /// From the client.
    pub up: Option<Load>,
    /// From the server.
    pub down: Option<Load>,
}

impl Offered {
    /// The same load from those who send.
    pub(crate) fn by(load: Load, is_up: bool, is_down: bool) -> Self {
        Self { up: is_up.then(|| load.clone()), down: is_down.then_some(load) }
    }
}

/// Load of one way.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// TCP connections, each of which takes what it gets.
    Streams {
        /// How many at once.
        connections: u32,
        /// The most that each may send, in bits of payload a second.
        rate_bps: Option<f64>,
    },
    /// UDP, which is sent whether it arrives or not.
    Datagrams {
        /// How many flows.
        flows: u32,
        /// Bits of payload a second of all flows together; absent: as fast as they go.
        rate_bps: Option<f64>,
        /// Payload of each.
        payload_bytes: u64,
    },
}

/// What a ping weighs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PingSizes {
    /// What carries it.
    pub transport: Transport,
    /// Payload there.
    pub request_bytes: u64,
    /// Payload back.
    pub reply_bytes: u64,
}
