//! What can go wrong in a run, as sentences with their remedy and their exit code.

use std::io;
use std::net::SocketAddr;

use pathscope_core::error::Failure;
use pathscope_engines::EngineError;
use pathscope_modes::groups::Untold;
use pathscope_os::OsError;
use pathscope_peers::attach::AttachError;
use pathscope_peers::registry::PeerKind;
use pathscope_peers::{PeerError, Refusal};
use thiserror::Error;

/// Why a run, or a part of it, failed.
#[derive(Debug, Error)]
pub enum RunError {
    /// What was asked for cannot mean anything.
    #[error("{0}")]
    Usage(String),
    /// The server's end refused, failed, or is another than it should be.
    #[error("{0}")]
    Peer(String),
    /// This machine does not do what was asked.
    #[error("{0}")]
    Unsupported(String),
    /// A test of groups that no protocol has words for.
    #[error(transparent)]
    Untold(#[from] Untold),
    /// The machine did not do what it was asked.
    #[error("{0}{remedy}", remedy = remedy(.0))]
    Os(#[from] OsError),
    /// The same, with what to do about it where that is not what it is elsewhere.
    #[error("{source}; {advice}")]
    There {
        /// What went wrong.
        source: OsError,
        /// What to do.
        advice: String,
    },
    /// The native protocol ended with an error.
    #[error("{0}")]
    Dialogue(#[from] PeerError),
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
        /// The system's error number, where that was it.
        errno: Option<i32>,
    },
    /// No address of this end goes with one of the server's.
    #[error(
        "none of the --bind addresses is of the family of the server's address {0}; give one that is"
    )]
    NoSuchFamily(SocketAddr),
    /// The server declined a socket of the test, or its UDP port does not answer, though its TCP port does.
    #[error("flow {flow} was not set up: {why}")]
    Refused {
        /// Which flow.
        flow: u32,
        /// What it said, if anything.
        why: AttachError,
    },
    /// An engine that is not there, or could not run.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// A server has no more of what a caller asks for, or does not give one caller more of it.
    #[error("{0}")]
    Limit(Refusal),
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
            | Self::There { source: OsError::Connect { source, .. }, .. }
            | Self::System { source, .. } => source.raw_os_error(),
            Self::Attach { errno, .. } => *errno,
            _ => None,
        }
    }

    /// It happened at a port of its own that a kind of peer has, which another option chooses.
    pub(crate) fn at_port_of(self, peer: PeerKind) -> Self {
        /// What chooses the port of all kinds.
        const PORT: &str = "--port";
        let Self::Os(source) = self else { return self };
        match source.remedy().filter(|remedy| remedy.contains(PORT)) {
            Some(remedy) => {
                let advice = remedy.replace(PORT, &format!("--{peer}-port"));
                Self::There { advice, source }
            }
            None => Self::Os(source),
        }
    }

    /// Nobody listens there, though the same machine takes connections at `answers`; and what that means, where the kind of peer knows.
    pub(crate) fn beside(self, answers: Option<SocketAddr>, why: Option<&str>) -> Self {
        match (self, answers.zip(why)) {
            (Self::Os(source), Some((answers, why))) if is_refused(&source) => {
                Self::There { advice: format!("{answers} answers, so that {why}"), source }
            }
            (error, _) => error,
        }
    }

    /// Nobody listens there, which may have a reason of the kind's own.
    pub(crate) fn unheard(self, why: Option<&str>) -> Self {
        match (self, why) {
            (Self::Os(source), Some(why)) if is_refused(&source) => {
                let advice = source.remedy().map_or_else(String::new, |it| format!("{it}; "));
                Self::There { advice: format!("{advice}{why}"), source }
            }
            (error, _) => error,
        }
    }

    /// Whether this end was told to stop, and that is all.
    pub(crate) const fn is_own_stop(&self) -> bool {
        matches!(self, Self::Dialogue(PeerError::Stopped { by_this_end: true, .. }))
    }

    /// What kind of trouble it is.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Usage(_) | Self::NoSuchFamily(_) | Self::Untold(_) => Failure::Usage,
            Self::Os(error) | Self::There { source: error, .. } => error.failure(),
            Self::Dialogue(error) => error.failure(),
            Self::Peer(_) | Self::LeftEarly | Self::Attach { .. } | Self::Refused { .. } => {
                Failure::Peer
            }
            Self::Engine(error) => error.failure(),
            Self::Unsupported(_) | Self::Limit(_) | Self::System { .. } => Failure::Unsupported,
            Self::Interrupted => Failure::Interrupted,
        }
    }
}

/// Whether a connection that does not block has nothing for now, and takes nothing.
pub(crate) fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Whether nobody listens where a connection was to go.
fn is_refused(error: &OsError) -> bool {
    match error {
        OsError::Connect { source, .. } => source.kind() == io::ErrorKind::ConnectionRefused,
        _ => false,
    }
}

fn remedy(error: &OsError) -> String {
    error.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"))
}
