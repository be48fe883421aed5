//! What a client does where the session itself is lost, or could not be begun: it begins all anew, where nothing came of
//! it yet or the test outlives that. A connection that is lost while its session lives is `line`'s.

use pathscope_core::Tick;
use pathscope_flow::{Output, Resumed};

use super::{Client, Stage};
use crate::native::active_test::tell_stop;
use crate::native::deadlines;
use crate::native::resumption::Resumption;
use crate::{Moment, PeerError};

/// A greeting that is damaged or cut off is said again so often.
const GREETINGS_MOST: u32 = 4;

impl Client {
    /// Begins all anew where the path has damaged the greeting, or the session is gone before anything came of it.
    pub(super) fn greet_again(&mut self, error: PeerError, now: Tick) -> Result<(), PeerError> {
        let has_begun = self.token.is_some() || self.resumption.is_some();
        let is_lost = match self.stage {
            Stage::Greeting { .. } => {
                error.is_loss() || matches!(error, PeerError::Unreadable { .. })
            }
            Stage::Idle | Stage::Agreeing { .. } => matches!(error, PeerError::NotResumed { .. }),
            _ => false,
        };
        if has_begun || !is_lost || self.versions.most < 2 || self.greetings_lost >= GREETINGS_MOST
        {
            return Err(self.most_telling(error));
        }
        if matches!(error, PeerError::Unreadable { .. }) {
            self.unreadable.get_or_insert_with(|| error.clone());
        }
        self.greetings_lost += 1;
        self.greets_again = Some((error, now.plus_nanos(deadlines::HELLO.0)));
        if let Stage::Agreeing { test, .. } = std::mem::replace(&mut self.stage, Stage::Away) {
            self.tests.push_front(*test);
        }
        self.line.begin_anew();
        self.line.put(Output::Reconnect);
        Ok(())
    }

    /// Has the session made anew where its test outlives it; if not, hands back why the dialogue fails.
    pub(super) fn resume(&mut self, error: PeerError, now: Tick) -> Result<(), PeerError> {
        let is_stopped = matches!(error, PeerError::Stopped { by_this_end: true, .. });
        if let Some(mut resumption) = self.resumption.take() {
            if is_stopped || now >= resumption.until() {
                tell_stop(&mut self.line, &resumption.test().groups());
            }
            if is_stopped {
                return Err(error);
            }
            if !matches!(self.stage, Stage::Away) {
                resumption.failed(error);
            }
            if now >= resumption.until() {
                return Err(resumption.into_loss());
            }
            self.resumption = Some(resumption);
        } else {
            // What ends the session by a word, a deadline or a breach would do so again.
            let is_lost = match &error {
                PeerError::Closed { reason, .. } => reason.is_none(),
                PeerError::NotResumed { .. } => true,
                error => error.is_loss(),
            };
            let (true, Stage::Testing(active), Some(token)) = (is_lost, &self.stage, self.token)
            else {
                return Err(error);
            };
            if !active.outlives_its_session() {
                return Err(error);
            }
            let test = active.test().clone();
            let resumed = Resumed { token, session: self.line.session() };
            self.resumption = Some(Resumption::new(test, resumed, error, now));
            self.line.put(Output::SessionLost);
        }
        self.line.begin_anew();
        self.line.put(Output::Reconnect);
        self.stage = Stage::Away;
        Ok(())
    }

    /// Why the session could not be begun.
    pub(super) fn not_greeted(&mut self) -> PeerError {
        let why = self.greets_again.take().map(|(why, _)| why);
        let why = why.unwrap_or_else(|| self.line.closed(Moment::Greeting));
        self.most_telling(why)
    }

    /// What could not be read before, rather than that a connection was lost after it.
    fn most_telling(&mut self, error: PeerError) -> PeerError {
        self.unreadable.take().filter(|_| error.is_loss()).unwrap_or(error)
    }
}
