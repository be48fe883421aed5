//! A connection that goes ahead: one that follows another, made by the opener and carried through by the worker that will have
//! it, which says what it is for together with the first bytes of its flow. What comes of it the opener is told where it
//! does not become its flow's. For servers that take that, by their welcome.

use std::io;
use std::sync::Arc;

use pathscope_core::Tick;
use pathscope_engines::{Preface, Unheard};
use pathscope_os::Socket;
use pathscope_peers::attach::{AttachStream, StreamProgress};

use crate::error::RunError;
use crate::messages::asking::{ATTACH_WITHIN, Asking};
use crate::messages::replacements::{NotMade, OpenerRemote, Told};
use crate::workers::entrances::WayIn;

/// Counts connections that go ahead: each until it is known what came of it.
#[derive(Debug, Default)]
pub(crate) struct Undecided(Arc<()>);

impl Undecided {
    /// Whether it is known of all.
    pub fn is_none(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Of one more it is not.
    pub fn one(&self) -> Arc<()> {
        Arc::clone(&self.0)
    }
}

/// One of them.
pub(crate) struct GoingAhead {
    asking: Asking,
    opening: Vec<u8>,
    /// What was answered, where that is not its seat.
    judged: Option<Result<StreamProgress, RunError>>,
    opener: OpenerRemote,
    /// Where it is written down how long connecting took.
    way_in: WayIn,
    undecided: Arc<()>,
}

impl GoingAhead {
    pub fn new(
        asking: Asking,
        (opener, way_in): (OpenerRemote, WayIn),
        undecided: Arc<()>,
    ) -> Self {
        let opening = asking.attaching.opening();
        Self { asking, opening, judged: None, opener, way_in, undecided }
    }

    /// What it came to, where it is not its flow's.
    fn outcome(&mut self, why: Unheard) -> Result<StreamProgress, RunError> {
        let asking = &self.asking;
        match why {
            Unheard::Answered => self.judged.take().unwrap_or_else(|| Err(asking.damaged())),
            Unheard::Closed => asking.closed(),
            Unheard::Late => Err(asking.late()),
            Unheard::Failed(errno) => {
                let error = io::Error::from_raw_os_error(errno);
                Err(match asking.connected {
                    Some(_) => asking.failed(error),
                    None => asking.not_connected(error),
                })
            }
        }
    }
}

impl Preface for GoingAhead {
    fn says(&self) -> &[u8] {
        &self.opening
    }

    fn missing_bytes(&self) -> usize {
        self.asking.attaching.missing_bytes()
    }

    fn until(&self) -> Tick {
        self.asking.begun + ATTACH_WITHIN
    }

    fn connected(&mut self, at: Tick) {
        self.asking.connected = Some(at);
    }

    fn heard(&mut self, bytes: &[u8]) -> bool {
        match self.asking.heard(bytes) {
            Ok(StreamProgress::Waiting | StreamProgress::Attached) => true,
            other => {
                self.judged = Some(other);
                false
            }
        }
    }

    fn answered(&mut self, socket: &Socket) {
        self.way_in.answered(&self.asking, socket);
    }

    fn turned_away(mut self: Box<Self>, why: Unheard, _at: Tick) {
        let outcome = self.outcome(why);
        let Self { asking, opener, undecided, .. } = *self;
        // Who is told asks whether anything is undecided.
        drop(undecided);
        opener.tell(Told::NotMade(Box::new(NotMade { asking, outcome })));
    }
}
