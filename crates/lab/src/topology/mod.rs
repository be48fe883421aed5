//! What a network looks like, as data: nodes, links, addresses and routes, stated in a file or in code
//! and judged before anything is built.
//!
//! Pure: no file is opened and no interface is touched. What a link does to packets is in `link`; what
//! the network looks like to people is in `picture`.
//!
//! What is not stated is computed, always in the same way:
//!
//! - Each broadcast domain gets the next free `10.0.N.0/24`, in the order of the file. In it, routers
//!   come first, then hosts, in the order of the file, from `.1`. IPv6 is there where it is stated.
//! - Each node has a route to each subnet, by the fewest routers; of equals, by the link and then the
//!   router that the file names first. Hosts forward nothing. A node whose routes all leave by one
//!   router has a default route instead.
//! - Every node must reach every other, unless the whole topology is `isolated`.

mod network;
mod prefix;
mod read;
mod stated;
mod validate;
mod way;

#[cfg(test)]
mod tests;

pub use crate::description::{Fault, Faults, MOST_FAULTS, Place};
pub use network::{
    Address, Domain, End, Interface, Kind, Link, Mac, Neighbour, Network, Node, Passage, Route,
};
pub use prefix::{Family, Prefix};
pub use stated::Topology;
pub use validate::{LONGEST_NAME, MOST_LINKS, MOST_NODES};
pub use way::Hop;
