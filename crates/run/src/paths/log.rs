//! What happened to the paths of a test, and the hand that its session holds on their monitor. It keeps nothing itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::WirelessFacts;
use pathscope_flow::Credentials;
use pathscope_modes::multipath::{MultipathInterval, MultipathReport, PathFacts, Transition};
use pathscope_os::{Waker, clock};

use super::radio::Radio;

/// Transitions that are told one by one.
const TOLD: usize = 1_000;

/// The monitor of the paths, as its session sees it.
#[derive(Clone, Debug)]
pub(crate) struct PathsRemote {
    log: Arc<Mutex<Log>>,
    waker: Waker,
    word: Arc<MonitorMessage>,
}

/// What the session tells the monitor of its paths.
#[derive(Debug, Default)]
pub(super) struct MonitorMessage {
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
pub(super) struct Log {
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
pub(super) struct Happening {
    pub at: Tick,
    pub lane: Option<Lane>,
    pub interface: String,
    pub what: &'static str,
    pub why: String,
}

impl Log {
    pub fn add(&mut self, happening: Happening) {
        if self.transitions.len() < TOLD {
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
    pub(super) fn new(log: Arc<Mutex<Log>>, waker: Waker, word: Arc<MonitorMessage>) -> Self {
        Self { log, waker, word }
    }

    /// Nothing more is kept.
    pub fn stop(&self) {
        self.word.is_stopped.store(true, Ordering::Release);
        self.waker.wake();
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

    /// The server answered on these lanes, which had come up while the test ran.
    pub fn note_used(&self, used: &[(Lane, Tick)]) {
        let mut log = self.log();
        for &(lane, at) in used {
            let interface = log.facts_of(lane).interface.clone();
            let why = "the server has answered on it".to_owned();
            log.add(Happening { at, lane: Some(lane), interface, what: "used", why });
        }
        // Told at the end, and belong where they happened.
        log.transitions.sort_by_key(|happening| happening.at);
    }

    /// Adds what the paths' radios say now to what was counted in an interval that has just ended.
    pub fn tell_interval(&self, interval: &mut MultipathInterval) {
        for (path, radio) in interval.paths.iter_mut().zip(&self.log().radios) {
            path.wireless = radio.now().cloned();
        }
    }

    /// Adds what is known of the paths to what was counted on them.
    pub fn tell(&self, report: &mut MultipathReport, start: Tick) {
        let log = self.log();
        for (path, facts) in report.paths.iter_mut().zip(&log.facts) {
            path.facts = facts.clone();
        }
        for (path, radio) in report.paths.iter_mut().zip(&log.radios) {
            path.wireless = radio.report();
        }
        report.resumptions = log.resumptions;
        report.transitions_omitted = log.omitted;
        report.transitions = log
            .transitions
            .iter()
            .map(|happening| Transition {
                at_ns: happening.at.nanos_since(start),
                path: happening.lane.map(|lane| lane.0),
                interface: happening.interface.clone(),
                what: happening.what.to_owned(),
                why: happening.why.clone(),
            })
            .collect();
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_modes::multipath::{PathInterval, PathReport};

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
        let interval = || {
            let paths = vec![PathInterval::default(); 2];
            let mut interval = MultipathInterval { paths, ..MultipathInterval::default() };
            remote.tell_interval(&mut interval);
            let [wire, radio] = <[_; 2]>::try_from(interval.paths).expect("two paths");
            (wire.wireless, radio.wireless)
        };
        assert_eq!(interval(), (None, None));
        says(0, None, 10);
        says(1, Some(on(36, -50)), 10);
        assert_eq!(interval(), (None, Some(on(36, -50))));
        says(1, Some(on(44, -71)), 20);
        assert_eq!(interval(), (None, Some(on(44, -71))));
        // It is gone, and its last word is not told as if it were there.
        says(1, None, 30);
        assert_eq!(interval(), (None, None));

        let paths = vec![PathReport::default(); 2];
        let mut report = MultipathReport { paths, ..MultipathReport::default() };
        remote.tell(&mut report, Tick::from_nanos(5));
        assert_eq!(report.paths[0].wireless, None);
        let wireless = report.paths[1].wireless.as_ref().expect("it was told");
        assert_eq!((wireless.readings, wireless.signal_min_dbm), (2, Some(-71)));
        let [change] = &report.transitions[..] else { panic!("{:?}", report.transitions) };
        let told = (change.at_ns, change.path, change.interface.as_str(), change.what.as_str());
        assert_eq!(told, (15, Some(1), "wlan0", "channel"));
    }
}
