//! What a command line of ctsTraffic asks for: values, and what follows from them. How they are typed is in `read`, what they are as
//! words of ours in `translate`.

use pathscope_core::journal::Connection;

use super::grammar::Range;

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which end this is.
    pub role: Role,
    /// The server's port.
    pub port: u16,
    /// What is moved.
    pub traffic: Traffic,
    /// `SO_RCVBUF` of this end, in bytes.
    pub receive_buffer: Option<u64>,
    /// `SO_SNDBUF` of this end, in bytes.
    pub send_buffer: Option<u64>,
    /// Code point of what this end sends.
    pub dscp: Option<u64>,
    /// When the run ends whatever there is left, in milliseconds.
    pub time_limit_ms: Option<u64>,
    /// How long the program stays after its work is done, in milliseconds.
    pub pause_at_end_ms: Option<u64>,
    /// What is said and written.
    pub log: Log,
    /// Options that have no effect here, as they were typed.
    pub idle: Vec<String>,
}

/// Which end.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// `-Target`.
    Client(Client),
    /// `-Listen`.
    Server(Server),
}

/// What is of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Servers, or addresses of one.
    pub targets: Vec<String>,
    /// Addresses of this end; none: whatever the system chooses.
    pub bind: Vec<String>,
    /// Ports of this end.
    pub local_ports: Option<Range>,
    /// Interface of this end, by its number.
    pub interface: Option<u64>,
    /// Connections at once.
    pub connections: u64,
    /// How often each is made; none: for ever.
    pub iterations: Option<u64>,
    /// Connections in the making; none: any number.
    pub throttle: Option<u64>,
}

/// What is of servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Addresses listened on; none: all of this machine.
    pub listen: Vec<String>,
    /// Networks that are sent streams beside those of this machine's links.
    pub allow: Vec<String>,
    /// Connections after which it ends; none: never.
    pub exit_limit: Option<u64>,
}

/// What is moved.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Bytes on connections.
    Tcp(Tcp),
    /// A stream of frames.
    Udp(Udp),
}

/// What is of TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// Who sends when.
    pub pattern: Pattern,
    /// Bytes of a connection.
    pub transfer: Range,
    /// Bytes of a send or receive.
    pub buffer: Range,
    /// What the client sends before it is the server's turn.
    pub push_bytes: u64,
    /// What the server sends before it is the client's turn.
    pub pull_bytes: u64,
    /// Whether every byte is compared.
    pub verifies_data: bool,
    /// How the client ends a connection that went well.
    pub shutdown: Shutdown,
    /// When the other end is asked whether it is there.
    pub keepalive: Keepalive,
    /// What this end sends at the most, in bytes a second.
    pub rate: Option<Rate>,
    /// How many sends there are between two pauses, and how long one is in milliseconds.
    pub burst: Option<(u64, u64)>,
}

/// A limit of what is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Bytes a second.
    pub limit: Range,
    /// Time whose share leaves at once, in milliseconds.
    pub period_ms: u64,
}

/// Who sends when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pattern {
    /// The client sends.
    Push,
    /// The server sends.
    Pull,
    /// In turns.
    PushPull,
    /// Both at once.
    Duplex,
}

/// How a client ends a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shutdown {
    /// By a FIN.
    Graceful,
    /// By a RST.
    Rude,
    /// By either, drawn.
    Random,
}

/// When the other end of a connection is asked whether it is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keepalive {
    /// Never.
    Never,
    /// When the system does where nothing is stated.
    Usual,
    /// After so many milliseconds without a word.
    AfterMs(u64),
}

/// What is of UDP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Udp {
    /// As it is typed, rounded down to whole bytes.
    pub bits_per_second: u64,
    /// Frames a second.
    pub frame_rate: u64,
    /// Seconds.
    pub stream_length: u64,
    /// Seconds.
    pub buffer_depth: u64,
    /// The largest datagram.
    pub datagram_bytes: u64,
}

/// What is said and written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Log {
    /// `-ConsoleVerbosity`.
    pub verbosity: u64,
    /// From one row of status to the next, in milliseconds.
    pub status_update_ms: u64,
    /// `-StatusFilename`.
    pub status: Option<String>,
    /// `-ConnectionFilename`.
    pub connections: Option<String>,
    /// `-ErrorFilename`.
    pub errors: Option<String>,
    /// `-JitterFilename`.
    pub jitter: Option<String>,
    /// `-TcpInfoFilename`.
    pub tcp_info: Option<String>,
}

impl Log {
    /// Whether rows of status are shown.
    pub const fn shows_status(&self) -> bool {
        matches!(self.verbosity, 1 | 2 | 5 | 6)
    }

    /// Whether errors are shown that are no matter of one connection.
    pub const fn shows_errors(&self) -> bool {
        matches!(self.verbosity, 2 | 4 | 5 | 6)
    }

    /// Whether connections are shown as they begin and end.
    pub const fn shows_connections(&self) -> bool {
        matches!(self.verbosity, 3..=6)
    }

    /// Whether steps are shown.
    pub const fn shows_steps(&self) -> bool {
        self.verbosity == 6
    }
}

impl Settings {
    /// Whether a connection ended well before it had moved all that it was to: by the end of the run, and by nobody's fault.
    pub fn cuts(&self, connection: &Connection) -> bool {
        let facts = &connection.facts;
        let moved = facts.sent_bytes.saturating_add(facts.received_bytes);
        let Traffic::Tcp(tcp) = &self.traffic else { return false };
        facts.error.is_none() && moved < tcp.transfer.low
    }

    /// Whether it is a stream of frames.
    pub const fn is_udp(&self) -> bool {
        matches!(self.traffic, Traffic::Udp(_))
    }
}

impl Udp {
    /// Frames of a stream.
    pub const fn frames(&self) -> u64 {
        self.stream_length.saturating_mul(self.frame_rate)
    }

    /// Bytes of a frame, headers of its datagrams included.
    pub fn frame_bytes(&self) -> u64 {
        let all = u128::from(self.bits_per_second / 8) * u128::from(self.stream_length);
        let frames = u128::from(self.frames().max(1));
        u64::try_from(all / frames).unwrap_or(u64::MAX)
    }

    /// Bytes of a stream.
    pub fn total_bytes(&self) -> u64 {
        self.frame_bytes().saturating_mul(self.frames())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guides_stream_has_the_guides_sizes() {
        let stream = Udp {
            bits_per_second: 25_000_000,
            frame_rate: 60,
            stream_length: 60,
            buffer_depth: 1,
            datagram_bytes: 1_400,
        };
        assert_eq!((stream.frames(), stream.frame_bytes()), (3_600, 52_083));
        assert_eq!(stream.total_bytes(), 187_498_800);
        let huge = Udp { bits_per_second: u64::MAX, frame_rate: u64::MAX, ..stream };
        assert_eq!((huge.frames(), huge.frame_bytes()), (u64::MAX, 7));
    }
}
