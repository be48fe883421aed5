//! The paths of a multipath test at its client: which interfaces reach the server, a socket on each, and what
//! happens to them while the test runs. One thread keeps them; nothing here is on the way of a datagram.
//!
//! A path is an interface. It comes up as a lane when the server has answered on the very socket that the lane will
//! use, and goes down when its link, its address or its route is gone.

mod keeper;
mod open;
mod radio;
mod stamps;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pathscope_core::Tick;
use pathscope_core::id::{Lane, Token};
use pathscope_flow::Group;
use pathscope_modes::multipath::{
    MultipathInterval, MultipathPlan, MultipathReport, PathFacts, Transition,
};
use pathscope_os::Waker;

use crate::error::RunError;
use crate::mail::Mailbox;

use radio::Radio;

pub(crate) use keeper::start;
pub(crate) use stamps::StampsRow;

/// Transitions that are told one by one.
const TOLD: usize = 1_000;

/// What is to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub server: SocketAddr,
    pub token: Token,
    pub group: Group,
    pub plan: MultipathPlan,
    pub mailbox: Mailbox,
}

/// The keeper of the paths, as its session sees it.
#[derive(Clone, Debug)]
pub(crate) struct PathsRemote {
    log: Arc<Mutex<Log>>,
    waker: Waker,
    is_stopped: Arc<AtomicBool>,
}

/// What happened to the paths so far.
#[derive(Debug, Default)]
struct Log {
    /// By lane.
    facts: Vec<PathFacts>,
    /// By lane, as far as there are any.
    radios: Vec<Radio>,
    transitions: Vec<Happening>,
    omitted: u64,
}

/// Something that happened to a path.
#[derive(Clone, Debug)]
struct Happening {
    at: Tick,
    lane: Option<Lane>,
    interface: String,
    what: &'static str,
    why: String,
}

impl Log {
    fn add(&mut self, happening: Happening) {
        if self.transitions.len() < TOLD {
            self.transitions.push(happening);
        } else {
            self.omitted += 1;
        }
    }

    fn facts_of(&mut self, lane: Lane) -> &mut PathFacts {
        if self.facts.len() <= lane.index() {
            self.facts.resize_with(lane.index() + 1, PathFacts::default);
        }
        &mut self.facts[lane.index()]
    }
}

impl PathsRemote {
    /// Nothing more is kept.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        self.waker.wake();
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

/// Why there is no path at all.
fn no_path(server: SocketAddr, reasons: &[String]) -> RunError {
    RunError::NoPath { server, why: reasons.join("; ") }
}
