//! What happened to the paths of a test, and the hand that its session holds on their monitor. It keeps nothing itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::WirelessFacts;
use pathscope_flow::Credentials;
use pathscope_modes::paths::{PathFacts, PathsSeen, TRANSITIONS_TOLD, Transition};
use pathscope_os::{Waker, clock};

use super::radio::Radio;

/// The monitor of the paths, as its session sees it.
#[derive(Clone, Debug)]
pub(crate) struct PathsRemote {
    log: Arc<Mutex<Log>>,
    waker: Waker,
    word: Arc<MonitorMessage>,
}

/// What the session tells the monitor of its paths.
#[derive(Debug, Default)]
pub(crate) struct MonitorMessage {
    /// Nothing more is kept.
    pub is_stopped: AtomicBool,
    /// The server expects every lane anew, presenting this.
    rejoins: Mutex<Option<Credentials>>,
}

impl MonitorMessage {
    /// What lanes are to present that come in anew; nothing where none is to.
    pub fn rejoins(&self) -> MutexGuard<'_, Option<Credentials>> {
        self.rejoins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What happened to the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ServerIs {
    Gone,
    Back,
}

/// What happened to the paths so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// By lane.
    facts: Vec<PathFacts>,
    /// By lane, as far as there are any.
    radios: Vec<Radio>,
    transitions: Vec<Happening>,
    omitted: u64,
    /// Whether the server is gone, and how often it was back after that.
    is_gone: bool,
    resumptions: u64,
}

/// Something that happened to a path.
#[derive(Clone, Debug)]
pub(crate) struct Happening {
    pub at: Tick,
    pub lane: Option<Lane>,
    pub interface: String,
    pub what: &'static str,
    pub why: String,
}

impl Log {
    pub fn add(&mut self, happening: Happening) {
        if self.transitions.len() < TRANSITIONS_TOLD {
            self.transitions.push(happening);
        } else {
            self.omitted += 1;
        }
    }

    pub fn facts_of(&mut self, lane: Lane) -> &mut PathFacts {
        if self.facts.len() <= lane.index() {
            self.facts.resize_with(lane.index() + 1, PathFacts::default);
        }
        &mut self.facts[lane.index()]
    }

    /// A path's radio says this now; `None`: it says nothing, or is none.
    pub fn radio_says(&mut self, lane: Lane, facts: Option<WirelessFacts>, at: Tick) {
        if self.radios.len() <= lane.index() {
            self.radios.resize_with(lane.index() + 1, Radio::default);
        }
        let changes = self.radios[lane.index()].says(facts);
        let interface = self.facts_of(lane).interface.clone();
        for change in changes {
            let (what, why, interface) = (change.what, change.why, interface.clone());
            self.add(Happening { at, lane: Some(lane), interface, what, why });
        }
    }
}

impl PathsRemote {
    /// For a monitor that writes this log, is woken so, and is told so.
    pub(crate) fn new(log: Arc<Mutex<Log>>, waker: Waker, word: Arc<MonitorMessage>) -> Self {
        Self { log, waker, word }
    }

    /// The server expects every lane anew, presenting this.
    pub fn rejoin(&self, credentials: Credentials) {
        *self.word.rejoins() = Some(credentials);
        self.waker.wake();
    }

    /// The server is gone, or is back.
    pub fn note_server(&self, is: ServerIs) {
        let (what, why) = match is {
            ServerIs::Gone => ("gone", "the server is gone: it is asked for again"),
            ServerIs::Back => ("back", "the server is back, and counts from here on"),
        };
        let mut log = self.log();
        let was_gone = std::mem::replace(&mut log.is_gone, is == ServerIs::Gone);
        // On the way back it may be lost again.
        if was_gone == log.is_gone {
            return;
        }
        let (at, interface, why) = (clock::now(), String::new(), why.to_owned());
        log.add(Happening { at, lane: None, interface, what, why });
        log.resumptions += u64::from(is == ServerIs::Back);
    }

    /// What the radio of each path says now, by their places.
    pub fn radios(&self) -> Vec<Option<WirelessFacts>> {
        self.log().radios.iter().map(|radio| radio.now().cloned()).collect()
    }

    /// Nothing more is kept. All that is known of the paths; times are told since `start`.
    pub fn stop(&self, start: Tick) -> PathsSeen {
        self.word.is_stopped.store(true, Ordering::Release);
        self.waker.wake();
        let log = self.log();
        let transition = |happening: &Happening| Transition {
            at_ns: happening.at.nanos_since(start),
            path: happening.lane.map(|lane| lane.0),
            interface: happening.interface.clone(),
            what: happening.what.to_owned(),
            why: happening.why.clone(),
        };
        PathsSeen {
            facts: log.facts.clone(),
            wireless: log.radios.iter().map(Radio::report).collect(),
            transitions: log.transitions.iter().map(transition).collect(),
            transitions_omitted: log.omitted,
            resumptions: log.resumptions,
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(channel: u32, signal_dbm: i32) -> WirelessFacts {
        WirelessFacts {
            frequency_mhz: Some(5_000 + 5 * channel),
            band: Some("5 GHz".to_owned()),
            channel: Some(channel),
            signal_dbm: Some(signal_dbm),
            ..WirelessFacts::default()
        }
    }

    #[test]
    fn readings_go_into_intervals_and_changes_among_the_transitions() {
        let log = Arc::new(Mutex::new(Log::default()));
        let waker = Waker::new().expect("a waker");
        let remote = PathsRemote::new(Arc::clone(&log), waker, Arc::default());
        let says = |lane, facts, at| {
            let mut log = log.lock().expect("nobody panicked");
            log.facts_of(Lane(lane)).interface = ["eth0", "wlan0"][usize::from(lane)].to_owned();
            log.radio_says(Lane(lane), facts, Tick::from_nanos(at));
        };
        assert_eq!(remote.radios(), []);
        says(0, None, 10);
        says(1, Some(on(36, -50)), 10);
        assert_eq!(remote.radios(), [None, Some(on(36, -50))]);
        says(1, Some(on(44, -71)), 20);
        assert_eq!(remote.radios(), [None, Some(on(44, -71))]);
        // It is gone, and its last word is not told as if it were there.
        says(1, None, 30);
        assert_eq!(remote.radios(), [None, None]);

        let seen = remote.stop(Tick::from_nanos(5));
        let [None, Some(wireless)] = &seen.wireless[..] else { panic!("{:?}", seen.wireless) };
        assert_eq!((wireless.readings, wireless.signal_min_dbm), (2, Some(-71)));
        let [change] = &seen.transitions[..] else { panic!("{:?}", seen.transitions) };
        let told = (change.at_ns, change.path, change.interface.as_str(), change.what.as_str());
        assert_eq!(told, (15, Some(1), "wlan0", "channel"));
    }
}
