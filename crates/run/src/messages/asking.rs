//! What a connection in the making is for, how far it is, and what it may come to. Not the connection, which is `connect`'s or a
//! worker's.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::FlowId;
use pathscope_os::{OsError, Socket, clock, fast_open};
use pathscope_peers::attach::{AttachStream, StreamProgress};
use pathscope_peers::registry::StreamAttaching;

use crate::error::RunError;

/// A connection that is not there and taken by then will not be.
pub(crate) const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// So many that are made at once may be more than a queue of a server's machine has room for.
const CROWD: u64 = 64;

/// What the SYN of a connection bears.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Syn {
    /// Nothing, and nobody asked for more.
    Plain,
    /// Nothing, though that was asked for: this system has no cookie of the server's yet, and asks for one.
    WithoutWords,
    /// What the connection says first: it leaves with that.
    WithWords,
}

/// What a connection is for, how far it is, and what it may come to.
#[derive(Debug)]
pub(crate) struct Asking {
    pub flow: FlowId,
    pub attaching: StreamAttaching,
    /// Where it goes.
    pub server: SocketAddr,
    /// When, before its SYN.
    pub begun: Tick,
    /// When it was seen to be established; of one whose SYN bears what it says, when that left.
    pub connected: Option<Tick>,
    /// What its SYN bears.
    pub syn: Syn,
    /// How often it was begun before, and damaged by the path.
    pub times_damaged: u32,
}

impl Asking {
    /// A connection that is begun now.
    pub fn new(
        (flow, attaching): (FlowId, StreamAttaching),
        server: SocketAddr,
        times_damaged: u32,
    ) -> Self {
        let (begun, connected, syn) = (clock::now(), None, Syn::Plain);
        Self { flow, attaching, server, begun, connected, syn, times_damaged }
    }

    /// From before its SYN until this end, woken for it, saw that it was established. Not known where its SYN bears what it says: this
    /// end hears of both by the answer to that.
    pub fn connect_ns(&self) -> Option<u64> {
        self.connected
            .filter(|_| self.syn != Syn::WithWords)
            .map(|connected| connected.nanos_since(self.begun))
    }

    /// Whether the server's system took what it says with its SYN, where that was asked for. Asked once it has its answer.
    pub fn opened_fast(&self, socket: &Socket) -> Option<bool> {
        match self.syn {
            Syn::Plain => None,
            Syn::WithoutWords => Some(false),
            Syn::WithWords => Some(fast_open::was_taken(socket).unwrap_or(false)),
        }
    }

    /// Something of the answer came.
    pub fn heard(&mut self, bytes: &[u8]) -> Result<StreamProgress, RunError> {
        let flow = self.flow.0;
        self.attaching.received(bytes).map_err(|why| RunError::Refused { flow, why })
    }

    /// The other end has closed before its answer was whole.
    pub fn closed(&self) -> Result<StreamProgress, RunError> {
        if self.attaching.closes_when_damaged() {
            return Ok(StreamProgress::Damaged);
        }
        Err(self.broken(&"the server closed the connection without an answer"))
    }

    /// What came of connecting.
    pub fn not_connected(&self, source: io::Error) -> RunError {
        OsError::Connect { protocol: "TCP", address: self.server, source }.into()
    }

    /// Why it was given up: it came damaged, again and again.
    pub fn damaged(&self) -> RunError {
        self.broken(&"the server closed the connection without an answer that can be read")
    }

    /// Why it was given up: it took too long.
    pub fn late(&self) -> RunError {
        if self.connected.is_some() {
            return self.broken(&format!("no answer within {} s", ATTACH_WITHIN.as_secs()));
        }
        OsError::ConnectTimeout { address: self.server, waited: ATTACH_WITHIN }.into()
    }

    /// The same of one of so many that are made at once.
    pub fn late_of(&self, at_once: u64) -> RunError {
        if self.connected.is_none() || at_once < CROWD {
            return self.late();
        }
        self.broken(&format!(
            "no answer within {} s: of connections that come together the server's machine drops those for which its queue has no room \
             (TcpExt.ListenOverflows there), so have fewer made at once (--connect-limit), or raise its net.core.somaxconn and start the \
             server anew where that is below 2,048",
            ATTACH_WITHIN.as_secs()
        ))
    }

    /// Why it was given up: it broke after it was established, or, where its SYN bears what it says, before that.
    pub fn failed(&self, error: io::Error) -> RunError {
        if self.syn == Syn::WithWords && is_of_connecting(&error) {
            return self.not_connected(error);
        }
        let (why, errno) = (error.to_string(), error.raw_os_error());
        RunError::Attach { flow: self.flow.0, why, errno }
    }

    fn broken(&self, why: &impl ToString) -> RunError {
        RunError::Attach { flow: self.flow.0, why: why.to_string(), errno: None }
    }
}

/// Whether this is what becomes of connecting.
fn is_of_connecting(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable | TimedOut)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use pathscope_core::id::{Lane, Token};
    use pathscope_flow::GroupId;
    use pathscope_peers::attach::Seat;
    use pathscope_peers::registry::PeerKind;

    use super::*;

    fn asking() -> Asking {
        let (flow, token) = (FlowId(7), Token([1; 16]));
        let seat = Seat { token, group: GroupId(0), flow, lane: Lane::ONLY };
        let attaching = PeerKind::OWN.attach_stream(seat, None, None);
        Asking::new((flow, attaching), ([127, 0, 0, 1], 9).into(), 0)
    }

    #[test]
    fn of_a_crowd_it_is_said_what_may_have_dropped_one_of_them() {
        let mut asking = asking();
        let told = |asking: &Asking, at_once| asking.late_of(at_once).to_string();
        let unconnected = told(&asking, 1_000);
        assert!(unconnected.starts_with("TCP 127.0.0.1:9 did not answer"), "{unconnected}");
        asking.connected = Some(asking.begun);
        assert_eq!(told(&asking, CROWD - 1), "flow 7 was not set up: no answer within 10 s");
        let crowd = told(&asking, CROWD);
        let parts = ["no answer within 10 s", "--connect-limit", "net.core.somaxconn"];
        assert!(parts.iter().all(|part| crowd.contains(part)), "{crowd}");
    }

    #[test]
    fn connecting_is_not_timed_where_its_end_is_heard_with_the_answer() {
        let mut asking = asking();
        asking.connected = Some(asking.begun.plus_nanos(5));
        for (syn, connect_ns) in
            [(Syn::Plain, Some(5)), (Syn::WithoutWords, Some(5)), (Syn::WithWords, None)]
        {
            asking.syn = syn;
            assert_eq!(asking.connect_ns(), connect_ns, "{syn:?}");
        }
        // And what became of it is told as that of connecting.
        let refused = || io::Error::from_raw_os_error(111);
        assert!(asking.failed(refused()).to_string().starts_with("cannot connect to TCP"));
        asking.syn = Syn::Plain;
        assert!(asking.failed(refused()).to_string().starts_with("flow 7 was not set up"));
    }
}
