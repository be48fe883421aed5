//! What a line of iperf3 asks for. Values alone.

use super::units::Unit;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    Help,
    Version,
    Client(Box<Client>),
    Server(Box<Server>),
}

/// What both ends have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Common {
    pub port: u16,
    /// The unit of rates and, without its bits, of amounts; none: what suits each.
    pub format: Option<Unit>,
    /// From one row to the next; 0: there is one of the whole test.
    pub interval_ns: u64,
    pub pid_file: Option<String>,
    /// The processor of this end, and of the other.
    pub affinity: Option<(u32, Option<u32>)>,
    pub bind: Option<String>,
    pub device: Option<String>,
    pub is_verbose: bool,
    pub json: Json,
    pub log_file: Option<String>,
    /// What is written before each line, as `strftime` has it.
    pub timestamps: Option<String>,
    /// 4 or 6.
    pub family: Option<u8>,
    /// What has no effect, each as a sentence.
    pub notes: Vec<String>,
}

/// Whether programs read what comes of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Json {
    #[default]
    No,
    Whole,
    Stream {
        /// Whether the whole document follows at the end.
        is_whole_too: bool,
    },
}

/// Who sends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Way {
    /// The client.
    #[default]
    Push,
    /// The server.
    Pull,
    /// Both, on streams of their own.
    Both,
}

/// When a test is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// After so many seconds; 0: when it is stopped.
    Seconds(u64),
    /// When all streams together have moved so much.
    Bytes(u64),
    /// The same in blocks.
    Blocks(u64),
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is there or not")]
pub(super) struct Client {
    pub host: String,
    pub is_udp: bool,
    pub way: Way,
    /// In each direction.
    pub streams: u32,
    pub extent: Extent,
    pub omit_s: u64,
    pub block_bytes: u64,
    /// Of each stream.
    pub rate_bps: Option<u64>,
    /// The same by its other option, of which the lower counts.
    pub fq_rate_bps: Option<u64>,
    /// Blocks that leave at once.
    pub burst: Option<u64>,
    pub window_bytes: Option<u64>,
    pub congestion: Option<String>,
    pub mss: Option<u64>,
    pub is_no_delay: bool,
    pub tos: u8,
    /// Of IPv6 packets.
    pub flow_label: Option<u64>,
    /// For how long what was sent over TCP may stay unacknowledged.
    pub send_timeout_ms: Option<u64>,
    pub client_port: Option<u16>,
    /// For how long the server may let its connection wait.
    pub connect_ms: Option<u64>,
    /// Whether datagrams must not be cut on their way.
    pub is_whole: bool,
    pub title: Option<String>,
    pub extra_data: Option<String>,
    /// Whether the server is asked for what it prints.
    pub wants_server_output: bool,
    pub common: Common,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Server {
    pub is_daemon: bool,
    pub is_one_off: bool,
    /// For how long nobody comes before a server of one test ends.
    pub idle_s: Option<u64>,
    pub most_seconds: Option<u64>,
    /// Bits a second that a test may move in all, and over how many nanoseconds they are averaged.
    pub most_rate: Option<(u64, u64)>,
    pub common: Common,
}
