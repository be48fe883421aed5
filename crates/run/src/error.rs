//! What can go wrong in a run, as sentences with their remedy and their exit code.

use std::io;
use std::net::SocketAddr;

use pathscope_core::error::Failure;
use pathscope_engines::EngineError;
use pathscope_modes::groups::Untold;
use pathscope_os::OsError;
use pathscope_peers::native::AttachError;
use pathscope_peers::{PeerError, Refusal};
use thiserror::Error;

/// Why a run, or a part of it, failed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The target is no host and port.
    #[error("'{target}' names no server: {why}")]
    BadTarget {
        /// As typed.
        target: String,
        /// What is wrong with it.
        why: String,
    },
    /// A test of groups that no protocol has words for.
    #[error(transparent)]
    Untold(#[from] Untold),
    /// The machine did not do what it was asked.
    #[error("{0}{remedy}", remedy = remedy(.0))]
    Os(#[from] OsError),
    /// The native protocol ended with an error.
    #[error("{0}")]
    Dialogue(#[from] PeerError),
    /// The server ended a test that ran.
    #[error("the server cut the test short: {reason}; what was measured until then is kept")]
    CutShort {
        /// What it said.
        reason: String,
    },
    /// A test of version 1 that is to be taken up again has a session here.
    #[error(
        "a session here has this test still, and proposals of protocol version 1 cannot prove that it is theirs: it ends \
         by itself where its client is gone"
    )]
    StillThere,
    /// A test that is to be taken up again has a session here, and that is not the one that was named.
    #[error(
        "another session here has this test, and only the client that knows the name of that may take the test up"
    )]
    OtherSession,
    /// The server took leave before all tests were run.
    #[error("the server ended the session before all tests were run")]
    LeftEarly,
    /// A connection of the test could not be made or was turned away.
    #[error("flow {flow} was not set up: {why}")]
    Attach {
        /// Which flow.
        flow: u32,
        /// What happened.
        why: String,
    },
    /// No address of this end goes with one of the server's.
    #[error(
        "none of the --bind addresses is of the family of the server's address {server}; give one that is"
    )]
    NoSuchFamily {
        /// The server's.
        server: SocketAddr,
    },
    /// One of the targets is an address of somebody else.
    #[error(
        "{address} leads to another server than {session}, where the session is: the targets of a run are addresses \
         of one server; leave it out, or measure it in a run of its own"
    )]
    OtherServer {
        /// What was named, or found under a name.
        address: SocketAddr,
        /// Where the control connection goes.
        session: SocketAddr,
    },
    /// The server declined a socket of the test, or its UDP port does not answer, though its TCP port does.
    #[error("flow {flow} was not set up: {why}")]
    Refused {
        /// Which flow.
        flow: u32,
        /// What it said, if anything.
        why: AttachError,
    },
    /// No interface can be a path to the server.
    #[error("there is no path to {server}: {why}")]
    NoPath {
        /// The server.
        server: SocketAddr,
        /// Each interface, and why it is none.
        why: String,
    },
    /// A socket of a path that would send by another interface.
    #[error("it would not keep to {interface}: {why}")]
    NotHeld {
        /// The path's interface.
        interface: String,
        /// What was seen.
        why: String,
    },
    /// Datagrams that the path would have to cut in pieces.
    #[error(
        "datagrams of {datagram} bytes are longer than the path from here takes whole; ask for at most --datagram {longest}"
    )]
    DatagramTooLong {
        /// Payload asked for.
        datagram: u64,
        /// The most.
        longest: u64,
    },
    /// An engine that is not there, or could not run.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// An engine of this name is not there.
    #[error("{0}")]
    UnknownEngine(String),
    /// A server has no more of what a caller asks for, or does not give one caller more of it.
    #[error("{0}")]
    Limit(Refusal),
    /// A session has as many threads that spin as one may have.
    #[error(
        "as many threads spin for this session as may for one: half of the server's processors, or none without \
         --allow-spin; ask for --wait sleep"
    )]
    SpinsEnough,
    /// As many threads spin already as there are processors.
    #[error(
        "{cpus} threads spin here already, and it has no more processors; ask for --wait sleep, or try \
         again later"
    )]
    TooManySpin {
        /// Processors that may be used.
        cpus: usize,
    },
    /// The system refused something that is always needed.
    #[error("{what}: {source}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// The system's words.
        source: io::Error,
    },
    /// The user ended the run before the test began.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

impl From<Refusal> for RunError {
    fn from(refusal: Refusal) -> Self {
        Self::Limit(refusal)
    }
}

impl RunError {
    /// The system refused this.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// What a client that is refused for this is told as its stable name.
    pub fn code(&self) -> &str {
        match self {
            Self::Limit(refusal) => &refusal.code,
            _ => "unable",
        }
    }

    /// The system's error number, where it gave one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Os(OsError::Connect { source, .. } | OsError::Call { source, .. })
            | Self::System { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }

    /// What kind of trouble it is.
    pub fn failure(&self) -> Failure {
        match self {
            Self::BadTarget { .. } | Self::NoSuchFamily { .. } | Self::Untold(_) => Failure::Usage,
            Self::Os(error) => error.failure(),
            Self::Dialogue(error) => error.failure(),
            Self::CutShort { .. }
            | Self::LeftEarly
            | Self::StillThere
            | Self::OtherSession
            | Self::Attach { .. }
            | Self::OtherServer { .. }
            | Self::Refused { .. } => Failure::Peer,
            Self::Engine(error) => error.failure(),
            Self::UnknownEngine(_)
            | Self::Limit(_)
            | Self::SpinsEnough
            | Self::TooManySpin { .. }
            | Self::DatagramTooLong { .. }
            | Self::NoPath { .. }
            | Self::NotHeld { .. }
            | Self::System { .. } => Failure::Unsupported,
            Self::Interrupted => Failure::Interrupted,
        }
    }
}

/// Whether a connection that does not block has nothing for now, and takes nothing.
pub(crate) fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn remedy(error: &OsError) -> String {
    error.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"))
}
