//! The paths of an end whose flows roam over several of them: how each was set up, what its radio said, what happened to it.
//! Who keeps them, and how, is `run`'s affair; what a test is of that uses them is its mode's.

mod wireless;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use wireless::{WirelessChange, WirelessReport, WirelessTally};

/// Transitions that are told one by one.
pub const TRANSITIONS_TOLD: usize = 1_000;

/// The binding of a socket that the system does not let be bound to its interface.
pub const BY_ADDRESS: &str = "source address";

/// How a path was set up, as last seen.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PathFacts {
    /// The interface.
    pub interface: String,
    /// What ties the socket to it: `device`, or `source address` where the system refuses that.
    pub binding: Option<String>,
    /// The socket's own address.
    pub local: Option<String>,
    /// What was looked at to see that it does use that interface.
    pub verified: Option<String>,
    /// Why it is not used, where it is not.
    pub trouble: Option<String>,
    /// Times that it came up.
    pub ups: u32,
}

/// Something that happened to a path.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Transition {
    /// When, since the start of the test; 0: before it.
    pub at_ns: u64,
    /// The path's place among the paths; absent: all of them.
    pub path: Option<u8>,
    /// The interface.
    pub interface: String,
    /// `up`, `used`, `down`, `failed`, `route`, `network`, `channel`.
    pub what: String,
    /// A few words why.
    pub why: String,
}

/// All that is known of paths when a test is over.
#[derive(Clone, Debug, Default)]
pub struct PathsSeen {
    /// How each was set up, by its place.
    pub facts: Vec<PathFacts>,
    /// What the radio of each said, by its place, as far as there are any.
    pub wireless: Vec<Option<WirelessReport>>,
    /// What happened, in order.
    pub transitions: Vec<Transition>,
    /// What happened beyond those.
    pub transitions_omitted: u64,
    /// How often the server was gone and had the test again.
    pub resumptions: u64,
}
