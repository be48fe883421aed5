//! What the packages of pure rooms depend on: directly only what the table of rooms lists, and by any
//! way nothing that opens sockets or runs tasks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::rooms::{Nature, ROOMS, Room};
use crate::violation::Violation;

const RULE: &str = "purity";

/// Libraries that no pure room may reach by any way.
const WORLDLY: &[&str] = &[
    "async-io",
    "async-std",
    "libc",
    "mio",
    "nix",
    "polling",
    "rustix",
    "signal-hook",
    "smol",
    "socket2",
    "tokio",
];

/// Reached, but not followed: the argument parser asks the terminal how wide it is.
const NOT_FOLLOWED: &[&str] = &["clap"];

/// Every dependency of a pure room that is not allowed, from what cargo knows.
pub fn violations(metadata: &Value) -> Vec<Violation> {
    ROOMS.iter().flat_map(|room| faults(metadata, room)).collect()
}

fn faults(metadata: &Value, room: &Room) -> Vec<Violation> {
    let Nature::Pure { libraries } = room.nature else { return Vec::new() };
    let direct = direct_dependencies(metadata, &room.package());
    let allowed = |name: &String| {
        let own = name.strip_prefix("pathscope-").is_some_and(|own| room.may_import.contains(&own));
        own || libraries.contains(&name.as_str())
    };
    let unlisted = direct.iter().filter(|name| !allowed(name)).map(|name| {
        format!("`{name}` is not among the libraries that xtask/src/rooms.rs lists for it")
    });
    let reached = reached(metadata, &room.package());
    let worldly = reached.iter().filter(|name| WORLDLY.contains(&name.as_str())).map(|name| {
        format!("`{name}` is among what its dependencies depend on, and reaches the world")
    });
    let path = format!("{}/Cargo.toml", room.folder());
    unlisted.chain(worldly).map(|text| Violation::new(&path, 1, RULE, text)).collect()
}

/// The packages that one depends on by any way.
fn reached(metadata: &Value, package: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![package.to_owned()];
    while let Some(next) = waiting.pop() {
        for name in direct_dependencies(metadata, &next) {
            let follow = !NOT_FOLLOWED.contains(&name.as_str());
            if reached.insert(name.clone()) && follow {
                waiting.push(name);
            }
        }
    }
    reached
}

/// The names of what a package depends on for other than its tests and its build.
fn direct_dependencies(metadata: &Value, package: &str) -> Vec<String> {
    let ids = ids_of(metadata, package);
    let nodes = elements(&metadata["resolve"]["nodes"]);
    nodes
        .filter(|node| ids.contains(&node["id"].as_str().unwrap_or_default()))
        .flat_map(|node| elements(&node["deps"]))
        .filter(|dependency| elements(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
        .filter_map(|dependency| name_of(metadata, dependency["pkg"].as_str()?))
        .collect()
}

fn ids_of<'json>(metadata: &'json Value, package: &str) -> Vec<&'json str> {
    elements(&metadata["packages"])
        .filter(|entry| entry["name"] == package)
        .filter_map(|entry| entry["id"].as_str())
        .collect()
}

fn name_of(metadata: &Value, id: &str) -> Option<String> {
    let mut packages = elements(&metadata["packages"]);
    packages.find(|entry| entry["id"] == id)?["name"].as_str().map(str::to_owned)
}

fn elements(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What cargo would say of these packages, each with what it depends on.
    fn metadata(packages: &[(&str, &[&str])]) -> Value {
        let names = packages.iter().flat_map(|(name, needs)| [&[*name][..], needs].concat());
        let names: BTreeSet<&str> = names.collect();
        let normal = |name: &&str| json!({ "pkg": name, "dep_kinds": [{ "kind": null }] });
        let node = |(name, needs): &(&str, &[&str])| {
            let mut needs: Vec<Value> = needs.iter().map(normal).collect();
            needs.push(json!({ "pkg": "proptest", "dep_kinds": [{ "kind": "dev" }] }));
            json!({ "id": name, "deps": needs })
        };
        json!({
            "packages": names.iter().map(|name| json!({ "id": name, "name": name })).collect::<Vec<_>>(),
            "resolve": { "nodes": packages.iter().map(node).collect::<Vec<_>>() },
        })
    }

    fn count(packages: &[(&str, &[&str])]) -> usize {
        violations(&metadata(packages)).len()
    }

    #[test]
    fn listed_dependencies_are_good() {
        assert_eq!(count(&[("pathscope-core", &["serde"]), ("serde", &["serde_core"])]), 0);
        assert_eq!(count(&[("pathscope-flow", &["pathscope-core", "arrayvec"])]), 0);
        assert_eq!(count(&[("pathscope-os", &["libc", "rustix"])]), 0);
    }

    #[test]
    fn unlisted_dependencies_are_reported() {
        assert_eq!(count(&[("pathscope-core", &["regex"])]), 1);
        assert_eq!(count(&[("pathscope-flow", &["pathscope-modes"])]), 1);
    }

    #[test]
    fn worldly_dependencies_are_found_at_any_depth() {
        assert_eq!(count(&[("pathscope-core", &["serde"]), ("serde", &["libc"])]), 1);
        // Unlisted, and worldly.
        assert_eq!(count(&[("pathscope-core", &["tokio"])]), 2);
    }

    #[test]
    fn the_argument_parser_may_ask_the_terminal() {
        assert_eq!(count(&[("pathscope-modes", &["clap"]), ("clap", &["rustix"])]), 0);
        assert_eq!(count(&[("pathscope-core", &["clap"]), ("clap", &["rustix"])]), 1);
    }
}
