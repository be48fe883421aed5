//! What a server can be told. Not how that is typed (`cli`), nor what comes of it.

use std::sync::Arc;

use pathscope_core::journal::Scribes;
use pathscope_core::network::Network;
use pathscope_core::quantity::Period;
use pathscope_core::record::Host;
use pathscope_modes::groups::Test;
use pathscope_peers::limits::{Limits, RateLimit};
use pathscope_peers::registry::PeerKind;

use super::log_limit::LogLimit;
use super::shares::{Descriptors, Threads};
use super::totals::Totals;
use crate::records::journal::Journal;

/// What a server can be told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Addresses to listen on; none: every address of this machine.
    pub listen: Vec<String>,
    /// TCP and UDP port.
    pub port: u16,
    /// What clients may ask for.
    pub limits: Limits,
    /// Those of descriptors, of which the system has a say.
    pub descriptors: Descriptors,
    /// Those of threads, of which its processors have a say.
    pub threads: Threads,
    /// This end, as results describe it.
    pub here: Host,
    /// What is written down while it serves.
    pub journal: Journal,
    /// Data connections to serve before it ends; absent: any number.
    pub exit_after: Option<u64>,
    /// Tests to serve before it ends; absent: any number.
    pub exit_after_tests: Option<u64>,
    /// For how long it has no client before it ends; absent: it waits for ever.
    pub exit_after_idle: Option<Period>,
    /// Shared with whoever else writes lines that strangers cause.
    pub log_limit: Arc<LogLimit>,
    /// What it has served, which whoever runs it may ask for.
    pub totals: Arc<Totals>,
    /// How it says what whoever runs it has to know, where what else it says is not shown.
    pub warn: Option<fn(&str)>,
    /// Whether there is no listener but those that kinds have for themselves.
    pub own_listeners_alone: bool,
    /// Networks whose datagrams are answered like those of networks on the same link, where whoever calls need not prove where it is.
    pub allow: Vec<Network>,
    /// Which kinds of clients are served that have a listener of their own or cannot say what they run, each kind once.
    pub stated: Vec<Stated>,
    /// Who makes what clients of a kind are told that this program prints, where they ask for that; of a kind that has none, nothing is.
    pub scribes: Vec<(PeerKind, Scribes)>,
}

impl Settings {
    /// Who makes what clients of this kind are told that this program prints.
    pub(super) fn scribes_of(&self, kind: &str) -> Option<&Scribes> {
        self.scribes.iter().find(|(of, _)| of.name() == kind).map(|(_, scribes)| scribes)
    }
}

/// How clients of a kind are served.
#[derive(Clone, Debug)]
pub struct Stated {
    /// The kind.
    pub peer: PeerKind,
    /// What they run: over TCP, over UDP, or both. Of a kind whose clients say it, nothing.
    pub tests: Vec<Test>,
    /// Where this kind has a listener of its own: its first port, if not the one that the kind has by itself.
    pub port: Option<u16>,
    /// So many ports that listener has.
    pub ports: u16,
    /// What one of their tests may move in all, if there is a limit.
    pub rate: Option<RateLimit>,
    /// Whether several of them take part in one test.
    pub is_of_several: bool,
}
