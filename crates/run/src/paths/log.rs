//! What happened to the paths of a test, and the hand that its session holds on their monitor. It keeps nothing itself.

use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::WirelessFacts;
use pathscope_flow::Credentials;
use pathscope_modes::paths::{PathFacts, PathsSeen, TRANSITIONS_TOLD, Transition};
use pathscope_os::{Waker, clock};

use super::radio::Radio;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::threads::lock;

/// The monitor of the paths, as its session sees it.
#[derive(Clone, Debug)]
pub(crate) struct PathsRemote {
    /// What the monitor writes, and reads.
    pub log: Arc<Mutex<Log>>,
    /// What wakes it.
    pub waker: Waker,
}

/// What happened to the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ServerIs {
    Gone,
    Back,
}

/// What happened to the paths so far, and what their monitor is told.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Nothing more is to be kept.
    pub is_stopped: bool,
    /// What lanes are to present that come in anew, since the server expects every one; nothing where none is to.
    pub rejoins: Option<Credentials>,
    /// By lane.
    facts: Vec<PathFacts>,
    /// By lane, as far as there are any.
    radios: Vec<Radio>,
    transitions: Vec<(Tick, Transition)>,
    omitted: u64,
    /// Who is told of each at once.
    session: Option<Inbox>,
    /// Whether the server is gone, and how often it was back after that.
    is_gone: bool,
    resumptions: u64,
}

impl Log {
    /// Nothing yet; who is told of what happens.
    pub fn new(session: Inbox) -> Self {
        Self { session: Some(session), ..Self::default() }
    }

    /// Something happened to a path, or to all.
    pub fn add(
        &mut self,
        at: Tick,
        lane: Option<Lane>,
        interface: String,
        (what, why): (&str, String),
    ) {
        if self.transitions.len() >= TRANSITIONS_TOLD {
            self.omitted += 1;
            return;
        }
        let (path, what) = (lane.map(|lane| lane.0), what.to_owned());
        let change = Transition { at_ns: 0, path, interface, what, why };
        if let Some(session) = &self.session {
            let change = Box::new(change.clone());
            session.post(SessionMessage::PathChanged { change, at });
        }
        self.transitions.push((at, change));
    }

    pub fn facts_of(&mut self, lane: Lane) -> &mut PathFacts {
        of_lane(&mut self.facts, lane)
    }

    /// A path's radio says this now; `None`: it says nothing, or is none.
    pub fn radio_says(&mut self, lane: Lane, facts: Option<WirelessFacts>, at: Tick) {
        for change in of_lane(&mut self.radios, lane).says(facts) {
            let interface = self.facts_of(lane).interface.clone();
            self.add(at, Some(lane), interface, (change.what, change.why));
        }
    }
}

impl PathsRemote {
    /// The server expects every lane anew, presenting this.
    pub fn rejoin(&self, credentials: Credentials) {
        lock(&self.log).rejoins = Some(credentials);
        self.waker.wake();
    }

    /// The server is gone, or is back.
    pub fn note_server(&self, is: ServerIs) {
        let (what, why) = match is {
            ServerIs::Gone => ("gone", "the server is gone: it is asked for again"),
            ServerIs::Back => ("back", "the server is back, and counts from here on"),
        };
        let mut log = lock(&self.log);
        let was_gone = std::mem::replace(&mut log.is_gone, is == ServerIs::Gone);
        // On the way back it may be lost again.
        if was_gone == log.is_gone {
            return;
        }
        log.add(clock::now(), None, String::new(), (what, why.to_owned()));
        log.resumptions += u64::from(is == ServerIs::Back);
    }

    /// What the radio of each path says now, by their places.
    pub fn radios(&self) -> Vec<Option<WirelessFacts>> {
        lock(&self.log).radios.iter().map(|radio| radio.now.clone()).collect()
    }

    /// Nothing more is kept. All that is known of the paths; times are told since `start`.
    pub fn stop(&self, start: Tick) -> PathsSeen {
        let mut log = lock(&self.log);
        log.is_stopped = true;
        self.waker.wake();
        let since_start = |(at, transition): &(Tick, Transition)| Transition {
            at_ns: at.nanos_since(start),
            ..transition.clone()
        };
        PathsSeen {
            facts: log.facts.clone(),
            wireless: log.radios.iter().map(|radio| radio.tally.report()).collect(),
            transitions: log.transitions.iter().map(since_start).collect(),
            transitions_omitted: log.omitted,
            resumptions: log.resumptions,
        }
    }
}

/// What a list by lane has for one, which may be the first to ask.
fn of_lane<T: Default>(list: &mut Vec<T>, lane: Lane) -> &mut T {
    if list.len() <= lane.index() {
        list.resize_with(lane.index() + 1, T::default);
    }
    &mut list[lane.index()]
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
        let remote = PathsRemote { log: Arc::clone(&log), waker };
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
