//! The wish to stop: from a signal, or from whoever runs us. Heard by every session.

use std::sync::{Arc, Mutex, PoisonError};

use pathscope_os::signals;
use pathscope_os::wake::Waker;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::error::RunError;
use crate::mail::{Mailbox, Word};

/// A wish to stop that anyone may utter and every session hears. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    reason: Option<&'static str>,
    /// Whether a signal ends the process.
    ends_at_once: bool,
    listeners: Vec<Mailbox>,
    wakers: Vec<Waker>,
}

impl Stop {
    /// Stops everything that listens, now or later.
    pub fn request(&self, reason: &'static str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reason = Some(reason);
        for listener in &state.listeners {
            listener.post(Word::Stop(reason));
        }
        state.wakers.iter().for_each(Waker::wake);
    }

    /// Why to stop, if somebody wishes it.
    pub fn reason(&self) -> Option<&'static str> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).reason
    }

    /// Tells `listener` of a wish, uttered already or to come, for as long as it is there.
    pub(crate) fn tell(&self, listener: &Mailbox) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that runs for years must not remember every session it had.
        state.listeners.retain(Mailbox::is_read);
        if let Some(reason) = state.reason {
            listener.post(Word::Stop(reason));
        }
        state.listeners.push(listener.clone());
    }

    /// Wakes a thread that looks at [`reason`](Self::reason) when it is awake.
    pub(crate) fn wake(&self, waker: &Waker) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.reason.is_some() {
            waker.wake();
        }
        state.wakers.push(waker.clone());
    }

    /// All is measured and saved, and perhaps a reader is waited for: from now on a signal does what it does to any
    /// process.
    pub fn end_at_once(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ends_at_once = true;
    }

    /// Utters the wish when the user presses Ctrl-C or a supervisor asks for it.
    ///
    /// The first signal ends the run in good order: what was measured is saved and shown. A second one
    /// is told again, and whoever waits for the other end waits no more. After [`end_at_once`](Self::end_at_once) it ends
    /// the process.
    pub fn on_signals(&self) -> Result<(), RunError> {
        // Whoever started us with a signal ignored (nohup, a shell's background) does not want it heard.
        let heard =
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !signals::is_ignored(signal));
        let mut signals = Signals::new(heard)
            .map_err(|source| RunError::System { what: "cannot listen for signals", source })?;
        let stop = self.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in &mut signals {
                    if stop.state.lock().unwrap_or_else(PoisonError::into_inner).ends_at_once {
                        // Of these three signals it does not return.
                        let _ = emulate_default_handler(signal);
                    }
                    stop.request(match signal {
                        SIGINT => "interrupted by the user",
                        SIGTERM => "terminated by a signal",
                        _ => "its terminal went away",
                    });
                }
            })
            .map_err(|source| RunError::System { what: "cannot start a thread", source })?;
        Ok(())
    }
}
