//! The wish to stop: from a signal, or from whoever runs us. Heard by every session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use pathscope_core::quantity::duration_ns;
use pathscope_os::signals;
use pathscope_os::wake::Waker;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::error::RunError;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::threads::{self, lock};

/// What a signal does is told before it is done; it is done so much later at the most, where nobody takes what is told.
const SAID_WITHIN: Duration = Duration::from_millis(500);

/// A wish to stop that anyone may utter and every session hears. Cheap to clone.
#[derive(Clone, Default)]
pub struct Stop {
    state: Arc<Mutex<State>>,
}

/// What is done now, so that whoever wishes it to stop can be told at once what that takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Stage {
    /// No flow runs: a server is looked for, or a test is being set up.
    #[default]
    Before,
    /// Flows run. Told to stop, both ends finish and report, for so long at most.
    Running { most: Duration },
    /// All that will be measured is.
    Saving,
    /// A server serves, and says itself what a stop takes.
    Serving,
    /// Programs run on a lab's nodes.
    Experimenting { last_words: Duration },
}

impl Stage {
    /// What is told to who has just wished it to stop, for the first time or again.
    fn line(self, reason: &str, is_again: bool) -> Option<String> {
        const AGAIN: &str = "a second Ctrl-C (or signal) waits for nobody";
        Some(match (self, is_again) {
            (Self::Before, _) => {
                format!("{reason}: no flow runs, so nothing is waited for; it ends at once")
            }
            (Self::Running { most }, false) => {
                let most = duration_ns(most.as_nanos() as u64);
                format!(
                    "{reason}: the flows finish and the server's report is awaited, for {most} at most; {AGAIN}"
                )
            }
            (Self::Running { .. }, true) => {
                format!(
                    "{reason} again: the server is not waited for; what was measured here is the result"
                )
            }
            (Self::Saving, _) => format!("{reason}: the result is being saved, and then it ends"),
            (Self::Serving, true) => format!("{reason} again: no client is waited for"),
            (Self::Serving, false) => return None,
            (Self::Experimenting { last_words }, _) => {
                let most = duration_ns(last_words.as_nanos() as u64);
                format!(
                    "{reason}: programs on nodes are told to end, within {most}; then the lab is taken down"
                )
            }
        })
    }
}

#[derive(Default)]
struct State {
    reason: Option<&'static str>,
    stage: Stage,
    /// Whether a signal ends the process.
    ends_at_once: bool,
    /// Who is to be told, by the number of its [`Hearing`].
    hearers: BTreeMap<u64, Box<dyn Fn(&'static str) + Send>>,
    next_hearer: u64,
}

/// Somebody hears of a wish for as long as this value is there. What an inbox or a waker holds, a descriptor among it,
/// goes with it: a server that runs for years must not remember every session it had.
#[must_use = "nobody hears of anything once it is dropped"]
pub(crate) struct Hearing {
    stop: Stop,
    number: u64,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        let hearer = lock(&self.stop.state).hearers.remove(&self.number);
        // Closed when nobody holds the lock.
        drop(hearer);
    }
}

impl Stop {
    /// Stops everything that listens, now or later.
    pub fn request(&self, reason: &'static str) {
        let mut state = lock(&self.state);
        state.reason = Some(reason);
        state.hearers.values().for_each(|tell| tell(reason));
    }

    /// What is done from now on.
    pub(crate) fn at(&self, stage: Stage) {
        lock(&self.state).stage = stage;
    }

    /// From now on programs run on a lab's nodes, which are given so long to end.
    pub fn experiments(&self, last_words: Duration) {
        self.at(Stage::Experimenting { last_words });
    }

    /// A signal came: `tell` hears what is told of that, and then the wish is uttered. Whoever it ends may be gone at once.
    fn heard(&self, reason: &'static str, tell: impl FnOnce(String)) {
        let (stage, is_again) = {
            let state = lock(&self.state);
            (state.stage, state.reason.is_some())
        };
        if let Some(line) = stage.line(reason, is_again) {
            tell(line);
        }
        self.request(reason);
    }

    /// Why to stop, if somebody wishes it.
    pub fn reason(&self) -> Option<&'static str> {
        lock(&self.state).reason
    }

    /// Tells `listener` of a wish, uttered already or to come.
    pub(crate) fn tell(&self, listener: &Inbox) -> Hearing {
        let inbox = listener.clone();
        self.hear(move |reason| inbox.post(SessionMessage::Stop(reason)))
    }

    /// Wakes a thread that looks at [`reason`](Self::reason) when it is awake.
    pub(crate) fn wake(&self, waker: &Waker) -> Hearing {
        let waker = waker.clone();
        self.hear(move |_| waker.wake())
    }

    fn hear(&self, tell: impl Fn(&'static str) + Send + 'static) -> Hearing {
        let mut state = lock(&self.state);
        if let Some(reason) = state.reason {
            tell(reason);
        }
        let number = state.next_hearer;
        state.next_hearer += 1;
        state.hearers.insert(number, Box::new(tell));
        Hearing { stop: self.clone(), number }
    }

    /// All is measured and saved, and perhaps a reader is waited for: from now on a signal does what it does to any
    /// process.
    pub fn end_at_once(&self) {
        lock(&self.state).ends_at_once = true;
    }

    /// Utters the wish when the user presses Ctrl-C or a supervisor asks for it.
    ///
    /// The first signal ends the run in good order: what was measured is saved and shown. A second one
    /// is told again, and whoever waits for the other end waits no more. After [`end_at_once`](Self::end_at_once) it ends
    /// the process. `tell` hears at once what is awaited now, for how long, and what a second one does.
    pub fn on_signals(&self, tell: impl Fn(&str) + Clone + Send + 'static) -> Result<(), RunError> {
        // Whoever started us with a signal ignored (nohup, a shell's background) does not want it heard.
        let heard =
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !signals::is_ignored(signal));
        let mut signals =
            Signals::new(heard).map_err(RunError::system("cannot listen for signals"))?;
        let stop = self.clone();
        let hear = move || {
            for signal in &mut signals {
                if lock(&stop.state).ends_at_once {
                    // Of these three signals it does not return.
                    let _ = emulate_default_handler(signal);
                }
                let reason = match signal {
                    SIGINT => "interrupted by the user",
                    SIGTERM => "terminated by a signal",
                    _ => "its terminal went away",
                };
                let tell = tell.clone();
                stop.heard(reason, |line| {
                    // On a thread of its own: where nobody reads what is said, the next signal is heard all the same.
                    // Without one it is not said, and everything else goes on.
                    let (said, is_said) = mpsc::channel();
                    let talk = move || {
                        tell(&line);
                        let _ = said.send(());
                    };
                    if threads::spawn("talk", talk).is_ok() {
                        let _ = is_said.recv_timeout(SAID_WITHIN);
                    }
                });
            }
        };
        threads::spawn("signals", hear).map(drop)
    }
}

/// Does this whenever somebody asks with `SIGUSR1` how it goes.
pub fn on_question(answer: impl Fn() + Send + 'static) -> Result<(), RunError> {
    if signals::is_ignored(SIGUSR1) {
        return Ok(());
    }
    let signals = Signals::new([SIGUSR1]);
    let mut signals = signals.map_err(RunError::system("cannot listen for signals"))?;
    threads::spawn("questions", move || signals.forever().for_each(|_| answer())).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wishes_it_to_stop_is_told_what_that_takes_at_each_stage() {
        let stop = Stop::default();
        let said = |stage| {
            stop.at(stage);
            let (before, mut line) = (stop.reason(), None);
            stop.heard("interrupted by the user", |told| {
                assert_eq!(stop.reason(), before, "what ends at once ends after that");
                line = Some(told);
            });
            // The next stage begins with nobody having wished anything.
            let mut state = lock(&stop.state);
            if stage == Stage::Before {
                state.reason = None;
            }
            line.unwrap_or_default()
        };
        assert!(said(Stage::Before).ends_with("it ends at once"));
        let running = Stage::Running { most: Duration::from_secs(16) };
        let first = said(running);
        assert!(first.contains("report is awaited, for 16 s at most"), "{first}");
        assert!(first.contains("a second Ctrl-C"), "{first}");
        assert!(said(running).contains("again: the server is not waited for"));
        assert!(said(Stage::Saving).contains("the result is being saved"));
        assert!(said(Stage::Serving).contains("no client is waited for"));
        assert_eq!(stop.reason(), Some("interrupted by the user"));
    }

    #[test]
    fn who_is_gone_is_remembered_by_nobody() {
        let (stop, waker) = (Stop::default(), Waker::new().expect("a waker"));
        let (inbox, reader) = Inbox::new(waker.clone());
        let hearings = (stop.tell(&inbox), stop.wake(&waker));
        let (gone, of_gone) = Inbox::new(Waker::new().expect("a waker"));
        drop((stop.tell(&gone), stop.wake(&waker)));
        assert_eq!(lock(&stop.state).hearers.len(), 2);
        stop.request("a test");
        assert!(matches!(reader.take(), Some(SessionMessage::Stop("a test"))));
        assert!(of_gone.take().is_none() && waker.is_raised());
        drop(hearings);
        assert_eq!(lock(&stop.state).hearers.len(), 0);
        // Who comes later hears of it, too.
        let _late = stop.tell(&inbox);
        assert!(matches!(reader.take(), Some(SessionMessage::Stop("a test"))));
    }
}
