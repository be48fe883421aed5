//! Why a dialogue failed, as a sentence with the end that is to blame and the moment it happened.

use std::fmt;

use pathscope_core::error::Failure;
use pathscope_core::id::Role;
use pathscope_core::quantity::Period;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a dialogue ended before its time.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum PeerError {
    /// The control connection was closed or broke.
    #[error("the {} closed the connection {moment}{}", name(*.who), because(.reason.as_deref()))]
    Closed {
        /// Which end closed it.
        who: Role,
        /// When.
        moment: Moment,
        /// What it said before, if anything.
        reason: Option<String>,
    },
    /// What it said is not what came: a checksum does not hold, or a number is not the next.
    #[error("what the {} said {moment} was damaged on the way: {what}", name(*.who))]
    Damaged {
        /// Which end said it.
        who: Role,
        /// When.
        moment: Moment,
        /// How that was found.
        what: String,
    },
    /// What came has no checksum, and makes no sense.
    #[error("what the {} said {moment} cannot be read: {what}", name(*.who))]
    Unreadable {
        /// Which end said it.
        who: Role,
        /// When.
        moment: Moment,
        /// What was expected and what came.
        what: String,
    },
    /// The session was lost while its test ran, and could not be made anew.
    #[error("{lost}; it was asked for again, {}", outcome_of_last(.lost, .last))]
    NotResumed {
        /// Why it was lost.
        lost: Box<PeerError>,
        /// What became of the last try.
        last: Box<PeerError>,
    },
    /// Nothing came, not even an answer to a ping.
    #[error("the {} was lost {moment}: nothing heard from it for {silence}", name(*.who))]
    Silent {
        /// Which end fell silent.
        who: Role,
        /// When.
        moment: Moment,
        /// For how long.
        silence: Period,
    },
    /// It lives, but did not do in time what it had to.
    #[error("the {} did not {what} within {limit}", name(*.who))]
    Late {
        /// Which end was late.
        who: Role,
        /// What it had to do.
        what: &'static str,
        /// In what time.
        limit: Period,
    },
    /// The same of one that this end can do nothing about, with what a person can.
    #[error("the {} did not {what} within {limit}; {advice}", name(*.who))]
    Overdue {
        /// Which end was late.
        who: Role,
        /// What it had to do.
        what: &'static str,
        /// In what time.
        limit: Period,
        /// What to look at, or to do.
        advice: &'static str,
    },
    /// It takes a connection, and says nothing to a greeting: it may be a program that waits for something else.
    #[error(
        "the server did not answer the greeting of a pathscope client within {limit}; a simpleperf server would not either (--peer simpleperf)"
    )]
    Ungreeted {
        /// In what time.
        limit: Period,
    },
    /// The flows of this end did not end when they had to.
    #[error("the flows of this end did not end within {limit} {since}")]
    Unfinished {
        /// In what time.
        limit: Period,
        /// Of what.
        since: &'static str,
    },
    /// The server declined.
    #[error("refused by the server: {0}")]
    Refused(Refusal),
    /// The client proposed one test after the other that the server refused.
    #[error(
        "the client proposed {most} tests that were refused and none that began; a session takes no more, and \
         another one may be asked for"
    )]
    RefusedTooOften {
        /// How many a session takes.
        most: u32,
    },
    /// One end stopped before anything was measured.
    #[error("the {} stopped {moment}: {reason}", name(*.who))]
    Stopped {
        /// Which end stopped.
        who: Role,
        /// Whether that is the end this error comes up at.
        by_this_end: bool,
        /// When.
        moment: Moment,
        /// Why.
        reason: String,
    },
    /// It said what it must not.
    #[error("the {} broke the protocol {moment}: {what}", name(*.who))]
    Breach {
        /// Which end is to blame.
        who: Role,
        /// When.
        moment: Moment,
        /// What was expected and what came.
        what: String,
    },
    /// Something else answers there.
    #[error("what answers there is no pathscope server: {who}")]
    Foreign {
        /// What it is, and how it is spoken to.
        who: String,
    },
    /// The server understood another test than the one that was proposed.
    #[error(
        "the server understood another test than was asked for, so its version does not know all of \
         its settings; upgrade the server, or leave out what it does not know"
    )]
    OtherTest,
    /// What is to be said is longer than a message may be.
    #[error("the message '{message}' would be {bytes} bytes long; at most {most} can be sent")]
    TooLong {
        /// Which message.
        message: &'static str,
        /// Its length.
        bytes: usize,
        /// The most.
        most: usize,
    },
}

/// What became of the last try, unless that is what was said already.
fn outcome_of_last(lost: &PeerError, last: &PeerError) -> String {
    let (lost, last) = (lost.to_string(), last.to_string());
    if lost == last { "in vain".to_owned() } else { format!("and {last}") }
}

impl PeerError {
    /// What the other end is told before this end closes; nothing where it knows, or is gone.
    pub(crate) fn farewell(&self) -> Option<String> {
        match self {
            Self::Closed { .. }
            | Self::Silent { .. }
            // Whoever said it has to say it again, and not to end.
            | Self::Damaged { .. }
            | Self::Refused(_)
            | Self::Foreign { .. }
            | Self::NotResumed { .. } => None,
            Self::Stopped { by_this_end, reason, .. } => by_this_end.then(|| reason.clone()),
            // Who reads this is no other program.
            Self::Ungreeted { limit } => Some(format!(
                "the server did not answer the greeting of a pathscope client within {limit}"
            )),
            _ => Some(self.to_string()),
        }
    }

    /// Whether the control connection is lost by it, and nothing else.
    pub(crate) const fn is_loss(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Silent { .. } | Self::Damaged { .. })
    }

    /// What kind of trouble it is.
    pub const fn failure(&self) -> Failure {
        match self {
            Self::Stopped { by_this_end: true, .. } => Failure::Interrupted,
            Self::TooLong { .. } => Failure::Internal,
            _ => Failure::Peer,
        }
    }
}

/// Where in the dialogue something happened. Reads after "the server closed the connection".
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Moment {
    /// Hello is said, welcome is not.
    Greeting,
    /// No test is proposed.
    BetweenTests,
    /// A test is proposed, its answer is not there.
    Agreeing,
    /// Connections and datagram flows are being set up.
    Attaching,
    /// All are set up; the server has not said that it started.
    Starting,
    /// Flows run at one end at least.
    Running,
    /// Both reports are said, the end of the test is not.
    Ending,
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Greeting => "before the two had greeted each other",
            Self::BetweenTests => "between tests",
            Self::Agreeing => "while a test was being agreed on",
            Self::Attaching => "while the test's flows were being set up",
            Self::Starting => "before the test had started",
            Self::Running => "while the test ran",
            Self::Ending => "before it had told the end of the test",
        })
    }
}

/// Why a server declines, with the remedy. Goes on the wire.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Refusal {
    /// A stable name: `version`, `sessions`, `duration`.
    pub code: String,
    /// A fragment of a sentence.
    pub sentence: String,
    /// What to do about it, if something comes to mind.
    #[serde(default)]
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal of this code and sentence.
    pub fn new(code: &str, sentence: impl Into<String>) -> Self {
        Self { code: code.to_owned(), sentence: sentence.into(), hint: None }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)?;
        self.hint.iter().try_for_each(|hint| write!(formatter, "; {hint}"))
    }
}

const fn name(role: Role) -> &'static str {
    match role {
        Role::Client => "client",
        Role::Server => "server",
    }
}

fn because(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(", having said: {reason}"))
}
