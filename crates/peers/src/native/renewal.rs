//! A control connection that is lost while its session lives: why, for how long another is waited for, how often. What
//! has to be said again is kept in `link`.

use pathscope_core::Tick;
use pathscope_core::quantity::Period;

use super::deadlines;
use crate::PeerError;

/// Connections that are made anew one after the other without a message that comes through: the path lets none through.
const FRUITLESS_MOST: u32 = 16;
/// Connections that are made anew in one session: more than a path that damages one segment in a hundred needs in two
/// hours, and fewer than a client could keep a server busy with.
const ATTEMPTS_MOST: u32 = 4_096;

/// The connection is lost, and another is awaited.
#[derive(Debug)]
pub(super) struct Absence {
    /// Why it was lost: told, should none come.
    lost: PeerError,
    /// What became of the last try.
    last: Option<PeerError>,
    /// Not waited for after this.
    pub until: Tick,
    /// Client: another connection is there, and the server is to have answered on it by then.
    pub asked: Option<Tick>,
}

impl Absence {
    /// It was lost for this reason, and another is waited for until then.
    pub const fn new(lost: PeerError, until: Tick) -> Self {
        Self { lost, last: None, until, asked: None }
    }

    /// A try has failed.
    pub fn failed(&mut self, why: PeerError) {
        self.asked = None;
        self.last = Some(why);
    }

    /// What is told where it is given up.
    pub fn into_loss(self) -> PeerError {
        let lost = Box::new(self.lost);
        match self.last.map(Box::new) {
            Some(last) => PeerError::NotResumed { lost, last },
            None => *lost,
        }
    }

    /// The same, where this is what ended it.
    pub fn into_loss_by(mut self, why: PeerError) -> PeerError {
        self.failed(why);
        self.into_loss()
    }

    /// When to come back.
    pub fn deadline(&self) -> Tick {
        self.asked.map_or(self.until, |asked| asked.min(self.until))
    }
}

/// Bounds how often a connection is made anew.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Attempts so far; at the server, the last that a client has named.
    pub attempts: u32,
    fruitless: u32,
    /// How far both directions had come the last time.
    progress: (u64, u64),
}

impl Patience {
    /// The connection is lost once more; so far have the two directions come. Whether it is to be made anew.
    pub fn bears(&mut self, progress: (u64, u64)) -> bool {
        self.fruitless = if progress == self.progress { self.fruitless + 1 } else { 0 };
        self.progress = progress;
        self.fruitless < FRUITLESS_MOST && self.attempts < ATTEMPTS_MOST
    }

    /// Server: a client comes back, and says how often it has tried. Whether that is new, and not too often.
    pub fn takes(&mut self, attempt: u32) -> bool {
        let takes = attempt > self.attempts && attempt <= ATTEMPTS_MOST;
        if takes {
            self.attempts = attempt;
        }
        takes
    }
}

/// For how long another connection is waited for. A client whose connection was closed finds out at once, or by its own
/// silence, and comes back; one that is silent may still be on the other side of a path that is gone.
pub(super) fn patience(error: &PeerError, is_client: bool) -> Period {
    match error {
        PeerError::Silent { .. } => deadlines::RENEW,
        _ if is_client => deadlines::RENEW,
        _ => deadlines::RETURN,
    }
}
