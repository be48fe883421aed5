//! Entering a node: what a program that is about to start on it does first.

use std::ffi::OsString;

use pathscope_os::namespaces::{self, Network};

use super::{
    LAB_VARIABLE, NODE_VARIABLE, NodePlace, REGISTRY_VARIABLE, Registry, RunningLab,
    RunningLabError, TOKEN_VARIABLE, leftovers::has_ended,
};

/// Moves this process to a node of a lab: its network, the node's name as that of the host, and a
/// `/etc/hosts` that knows all nodes. Returns what a program started from here should find in its
/// environment. To be called while the process has one thread.
pub fn enter(
    registry: &Registry,
    running: &RunningLab,
    node: &str,
) -> Result<[(&'static str, OsString); 4], RunningLabError> {
    let place = running.nodes.iter().find(|place| place.name == node).ok_or_else(|| {
        RunningLabError::NoSuchNode {
            lab: running.name.clone(),
            node: node.to_owned(),
            there: running
                .nodes
                .iter()
                .map(|node| node.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }
    })?;
    let root = std::path::absolute(registry.root())
        .map_err(RunningLabError::file("find", registry.root()))?;
    let network = network_of(registry, running, place)?;
    network.enter()?;
    namespaces::separate_mounts()?;
    namespaces::rename_host(node)?;
    namespaces::cover_file(&registry.hosts(&running.name), "/etc/hosts".as_ref())?;
    // Where it is refused, programs see the devices outside in /sys, and measure all the same.
    let _ = namespaces::mount_sysfs();
    Ok([
        (LAB_VARIABLE, running.name.clone().into()),
        (NODE_VARIABLE, node.to_owned().into()),
        (TOKEN_VARIABLE, running.token.clone().into()),
        (REGISTRY_VARIABLE, root.into()),
    ])
}

/// The node's network, as its keeper holds it.
fn network_of(
    registry: &Registry,
    running: &RunningLab,
    place: &NodePlace,
) -> Result<Network, RunningLabError> {
    let keeper = running.keeper;
    let gone = |trouble: &str| RunningLabError::Keeper {
        lab: running.name.clone(),
        keeper,
        trouble: trouble.to_owned(),
    };
    let open = || {
        if running.in_user_namespace {
            namespaces::enter_user_namespace(keeper)?;
        }
        Network::held_by(keeper, place.descriptor)
    };
    let network = open().map_err(|error| {
        // What the system says of a process that is not there, or is only not yet buried, would have
        // people look for the cause. One that is ending has closed the lab's lock, maybe before the rest.
        let lives = !has_ended(keeper) && registry.is_held(&running.name);
        if lives { error.into() } else { gone("is gone") }
    })?;
    if !place.is(network.identity()?) {
        return Err(gone("is gone, and another process has its number"));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn a_keeper_that_is_gone_is_said_to_be_gone() {
        // The kernel's limit for numbers of processes is 2^22.
        let keeper = 1 << 30;
        let topology = Topology::named("t").hosts(["a", "b"]).link("a", "b");
        let place = NodePlace { name: "a".to_owned(), descriptor: 3, device: 1, inode: 1 };
        for in_user_namespace in [false, true] {
            let running = RunningLab {
                name: "t".to_owned(),
                token: String::new(),
                keeper,
                in_user_namespace,
                nodes: vec![place.clone()],
                network: topology.network().expect("a topology"),
                seed: 0,
                shaper: crate::running::Shaper::Relay,
            };
            let registry = Registry::at("/nowhere/at/all");
            let error =
                network_of(&registry, &running, &place).expect_err("nobody holds it").to_string();
            assert!(error.contains("is gone; 'pathscope lab down t' clears"), "{error}");
        }
    }
}
