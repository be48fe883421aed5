//! From what was stated to a network that cannot be invalid.
//!
//! Stages, each on what the one before found right: the structure (names, ends, conditions),
//! addresses, routes, reach. A stage tells all faults it finds; the next begins only where there were none, since
//! what follows from a fault would hide it.

mod addresses;
mod domains;
mod reach;
mod routes;
mod structure;

use super::network::Network;
use super::stated::Topology;
use crate::description::{Fault, Faults};

pub use structure::{LONGEST_NAME, MOST_LINKS, MOST_NODES};

impl Topology {
    /// The network that was stated, or all that is wrong with it.
    pub fn network(&self) -> Result<Network, Faults> {
        let mut found = self.faults.clone();
        let network = network(self, &mut found);
        Faults::of(&self.source_name, found).map_or(Ok(network), Err)
    }
}

/// The network as far as it was made; complete if nothing was found.
fn network(stated: &Topology, found: &mut Vec<Fault>) -> Network {
    let mut network = structure::build(stated, found);
    if found.is_empty() {
        addresses::give(stated, &mut network, found);
    }
    if found.is_empty() {
        routes::give(stated, &mut network, found);
    }
    if found.is_empty() && !stated.isolated {
        reach::check(stated, &network, found);
    }
    network
}
