//! Reading what interfaces have counted at the ends of relayed links, while nothing passes them.

use super::{Held, KeeperError};
use crate::kernel::{Kernel, Statistics};
use crate::relay::Counters;
use crate::topology::End;

/// How often the relay is asked once interfaces were read: what an interface has counted may wait in front of the relay's
/// socket, which is looked at after the first of these questions and before the last.
const QUESTIONS: usize = 3;

/// What the interfaces of nodes say, and what the relay says before and after.
pub(super) fn counters(held: &Held) -> Result<Counters, KeeperError> {
    let before = held.relay.totals()?;
    let links = held.relayed.iter().map(|&link| {
        let name = held.running.network.links()[link].name.clone();
        Ok((name, of_link(held, link)?))
    });
    let links: Vec<_> = links.collect::<Result<_, KeeperError>>()?;
    let mut after = held.relay.totals()?;
    for _ in 1..QUESTIONS {
        after = held.relay.totals()?;
    }
    Ok(Counters::read(&before, links, &after))
}

fn of_link(held: &Held, link: usize) -> Result<[Statistics; 2], KeeperError> {
    let network = &held.running.network;
    let of_end = |end: End| {
        let node = &network.nodes()[end.node];
        let mut kernel = Kernel::of(&held.namespaces[end.node], &*node.name)?;
        Ok::<_, KeeperError>(kernel.link(&node.interfaces[end.interface].name)?.statistics)
    };
    let [first, second] = network.links()[link].ends;
    Ok([of_end(first)?, of_end(second)?])
}
