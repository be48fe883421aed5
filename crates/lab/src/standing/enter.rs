//! Entering a node: what a program that is about to start on it does first.

use pathscope_os::namespaces::{self, Network};

use super::{LAB_VARIABLE, NODE_VARIABLE, Registry, Standing, StandingError, TOKEN_VARIABLE};

/// Moves this process to a node of a lab: its network, the node's name as that of the host, and a
/// `/etc/hosts` that knows all nodes. Returns what a program started from here should find in its
/// environment. To be called while the process has one thread.
pub fn enter(
    registry: &Registry,
    standing: &Standing,
    node: &str,
) -> Result<[(&'static str, String); 3], StandingError> {
    let place = standing.nodes.iter().find(|place| place.name == node).ok_or_else(|| {
        StandingError::NoSuchNode {
            lab: standing.name.clone(),
            node: node.to_owned(),
            there: standing
                .nodes
                .iter()
                .map(|node| node.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }
    })?;
    if standing.in_user_namespace {
        namespaces::enter_user_namespace(standing.keeper)?;
    }
    let network = Network::held_by(standing.keeper, place.descriptor)?;
    if !place.is(network.identity()?) {
        return Err(StandingError::Keeper {
            lab: standing.name.clone(),
            keeper: standing.keeper,
            trouble: "is gone, and another process has its number".to_owned(),
        });
    }
    network.enter()?;
    namespaces::separate_mounts()?;
    namespaces::rename_host(node)?;
    namespaces::cover_file(&registry.hosts(&standing.name), "/etc/hosts".as_ref())?;
    // Where it is refused, programs see the devices outside in /sys, and measure all the same.
    let _ = namespaces::mount_sysfs();
    Ok([
        (LAB_VARIABLE, standing.name.clone()),
        (NODE_VARIABLE, node.to_owned()),
        (TOKEN_VARIABLE, standing.token.clone()),
    ])
}
