//! The radios of paths by Wi-Fi: what their drivers say, once a second. Asked by the thread that keeps the paths, since a
//! driver may take its time.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::WirelessFacts;
use pathscope_modes::multipath::{WirelessReport, WirelessTally};
use pathscope_os::clock;
use pathscope_os::wireless::Observer;

use super::{Happening, Log};

/// From one reading of a radio to the next.
const EVERY: Duration = Duration::from_secs(1);

/// Reads the radios of this machine, where it tells of them.
#[derive(Debug)]
pub(super) struct Radios {
    observer: Option<Observer>,
    due: Tick,
}

impl Radios {
    pub fn open() -> Self {
        Self { observer: Observer::open(), due: Tick::ZERO }
    }

    /// How long there is until they are to be read; `None`: never.
    pub fn wait(&self) -> Option<Duration> {
        self.observer.as_ref().map(|_| self.due.since(clock::now()))
    }

    /// What the radios of these interfaces say, where it is time to ask.
    pub fn read(
        &mut self,
        interfaces: impl Iterator<Item = (Lane, Option<u32>)>,
    ) -> Vec<(Lane, Option<WirelessFacts>)> {
        let now = clock::now();
        let Some(observer) = self.observer.as_mut().filter(|_| now >= self.due) else {
            return Vec::new();
        };
        self.due = now + EVERY;
        interfaces.map(|(lane, index)| (lane, index.and_then(|it| observer.look(it)))).collect()
    }
}

/// One path's radio.
#[derive(Debug, Default)]
pub(super) struct Radio {
    tally: WirelessTally,
    now: Option<WirelessFacts>,
}

impl Radio {
    /// As it is, where the driver says so.
    pub fn now(&self) -> Option<&WirelessFacts> {
        self.now.as_ref()
    }

    /// As it was over the test.
    pub fn report(&self) -> Option<WirelessReport> {
        self.tally.report()
    }
}

impl Log {
    /// A path's radio says this now; `None`: it says nothing, or is none.
    pub fn radio_says(&mut self, lane: Lane, facts: Option<WirelessFacts>, at: Tick) {
        if self.radios.len() <= lane.index() {
            self.radios.resize_with(lane.index() + 1, Radio::default);
        }
        let radio = &mut self.radios[lane.index()];
        let changes = facts.as_ref().map(|facts| radio.tally.saw(facts));
        radio.now = facts;
        let interface = self.facts_of(lane).interface.clone();
        for change in changes.unwrap_or_default() {
            let (what, why, interface) = (change.what, change.why, interface.clone());
            self.add(Happening { at, lane: Some(lane), interface, what, why });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pathscope_modes::multipath::{
        MultipathInterval, MultipathReport, PathInterval, PathReport,
    };
    use pathscope_os::Waker;

    use super::super::PathsRemote;
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
        let remote = PathsRemote {
            log: Arc::clone(&log),
            waker: Waker::new().expect("a waker"),
            is_stopped: Arc::default(),
        };
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
