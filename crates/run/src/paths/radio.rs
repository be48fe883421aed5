//! The radios of paths by Wi-Fi: what their drivers say, once a second. Asked by the thread that keeps the paths, since a
//! driver may take its time.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::WirelessFacts;
use pathscope_modes::paths::{WirelessChange, WirelessTally};
use pathscope_os::clock;
use pathscope_os::wireless::Observer;

/// From one reading of a radio to the next.
const EVERY: Duration = Duration::from_secs(1);

/// Reads the radios of this machine, where it tells of them.
#[derive(Debug)]
pub(crate) struct Radios {
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
pub(crate) struct Radio {
    /// As it was over the test.
    pub tally: WirelessTally,
    /// As it is, where the driver says so.
    pub now: Option<WirelessFacts>,
}

impl Radio {
    /// It says this now, or nothing. What has changed.
    pub fn says(&mut self, facts: Option<WirelessFacts>) -> Vec<WirelessChange> {
        let changes = facts.as_ref().map(|facts| self.tally.saw(facts));
        self.now = facts;
        changes.unwrap_or_default()
    }
}
