//! Where an attack takes place: whom it goes against, from which addresses and for how long; and what came of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clock;
use crate::wire::Version;

/// Where an attack takes place.
#[derive(Debug)]
pub struct Ground {
    /// Whom it goes against.
    pub server: SocketAddr,
    /// Before the first address that it may come from; addresses are counted up from there.
    pub base: IpAddr,
    /// When it is over.
    pub until: Instant,
    /// Whose frames are spoken where a case does not say.
    pub version: Version,
    facts: Mutex<Facts>,
}

#[derive(Debug, Default)]
struct Facts {
    counts: BTreeMap<String, u64>,
    broken: Vec<String>,
}

impl Ground {
    /// A ground on which nothing has happened.
    pub fn new(server: SocketAddr, base: IpAddr, lasts: Duration, version: Version) -> Self {
        let until = clock::now() + lasts;
        Self { server, base, until, version, facts: Mutex::default() }
    }

    /// The address of this number, from 0.
    pub fn address(&self, index: u32) -> IpAddr {
        match self.base {
            IpAddr::V4(base) => IpAddr::V4((u32::from(base) + index + 1).into()),
            IpAddr::V6(base) => IpAddr::V6((u128::from(base) + u128::from(index) + 1).into()),
        }
    }

    /// Whether time is left.
    pub fn goes_on(&self) -> bool {
        clock::now() < self.until
    }

    /// Counts something that happened.
    pub fn count(&self, what: &str) {
        self.add(what, 1);
    }

    /// Counts something that happened so often.
    pub fn add(&self, what: &str, times: u64) {
        let mut facts = self.facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *facts.counts.entry(what.to_owned()).or_default() += times;
    }

    /// How often it happened so far.
    pub fn counted(&self, what: &str) -> u64 {
        let facts = self.facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        facts.counts.get(what).copied().unwrap_or_default()
    }

    /// A bound that the attack itself saw broken, as a sentence; each is told once.
    pub fn broken(&self, sentence: String) {
        let mut facts = self.facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !facts.broken.contains(&sentence) && facts.broken.len() < 20 {
            facts.broken.push(sentence);
        }
    }

    /// No more than so many of something may be held at once.
    pub fn holds_at_most(&self, allowed: u64, what: &str, held: u64) {
        if held > allowed {
            self.broken(format!("{held} {what} were held at once, more than {allowed}"));
        }
    }

    /// What came of it.
    pub fn told(&self) -> Value {
        let facts = self.facts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        json!({ "counts": facts.counts, "broken": facts.broken })
    }
}
