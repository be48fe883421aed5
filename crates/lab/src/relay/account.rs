//! What a relay did to every frame, and whether it kept up.

use serde::{Deserialize, Serialize};

use crate::link::{Conditions, Truth};

/// The 99th percentile of lateness up to which a run counts. Ten times what one link at 100 Mbit/s
/// shows on a quiet machine, and still small beside the delays that labs have.
pub const MOST_LATENESS_NS: u64 = 1_000_000;

/// Of all relayed links of a lab.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RelayAccount {
    /// In the order of the topology.
    pub links: Vec<LinkAccount>,
    /// Whether the thread runs before ordinary ones.
    pub has_priority: bool,
    /// Whether it may keep processors from dozing off.
    pub keeps_awake: bool,
}

/// Of one link.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkAccount {
    /// Its name.
    pub name: String,
    /// From its first end to its second.
    pub forward: DirectionAccount,
    /// From its second end to its first.
    pub backward: DirectionAccount,
}

/// Of one direction.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DirectionAccount {
    /// The node where it begins.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// What it does to frames now.
    pub conditions: Conditions,
    /// Whether it is cut.
    pub is_cut: bool,
    /// What became of every frame.
    pub truth: Truth,
    /// Frames that the kernel dropped before the relay took them.
    pub missed: u64,
    /// Frames that were longer than the link carries.
    pub too_long: u64,
}

/// Why what was measured on a lab was the lab.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcoming {
    /// Frames were lost that no condition lost.
    Lost {
        /// Where, as `from` to `to`.
        direction: [String; 2],
        /// So many.
        frames: u64,
    },
    /// Frames were handed over too late.
    Late {
        /// Where, as `from` to `to`.
        direction: [String; 2],
        /// One in a hundred by at least this much.
        p99_ns: u64,
    },
}

impl RelayAccount {
    /// What makes measurements of this time invalid; nothing where the relay kept up.
    pub fn shortcomings(&self) -> Vec<Shortcoming> {
        let directions = self.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        directions.flat_map(DirectionAccount::shortcomings).collect()
    }

    /// What happened since `earlier`, an account of the same relay.
    pub fn since(&self, earlier: &Self) -> Self {
        let links = self.links.iter().zip(&earlier.links);
        Self { links: links.map(|(now, then)| now.since(then)).collect(), ..self.clone() }
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&LinkAccount> {
        self.links.iter().find(|link| link.name == name)
    }
}

impl LinkAccount {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            name: self.name.clone(),
            forward: self.forward.since(&earlier.forward),
            backward: self.backward.since(&earlier.backward),
        }
    }
}

impl DirectionAccount {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            truth: self.truth.since(&earlier.truth),
            missed: self.missed.saturating_sub(earlier.missed),
            too_long: self.too_long.saturating_sub(earlier.too_long),
            ..self.clone()
        }
    }

    fn shortcomings(&self) -> Vec<Shortcoming> {
        let direction = || [self.from.clone(), self.to.clone()];
        let lost = self.truth.total.overrun.frames + self.missed + self.too_long;
        let p99_ns = self.lateness_p99_ns();
        let lost = (lost > 0).then(|| Shortcoming::Lost { direction: direction(), frames: lost });
        let late = p99_ns.filter(|p99_ns| *p99_ns > MOST_LATENESS_NS);
        let late = late.map(|p99_ns| Shortcoming::Late { direction: direction(), p99_ns });
        lost.into_iter().chain(late).collect()
    }

    /// How late one frame in a hundred was at least; nothing below 100 frames.
    pub fn lateness_p99_ns(&self) -> Option<u64> {
        let histogram = self.truth.lateness.histogram();
        histogram.value_at_quantile(0.99).filter(|_| histogram.count() >= 100)
    }
}
