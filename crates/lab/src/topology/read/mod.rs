//! A topology from TOML.
//!
//! Every key is looked at by hand and not by a derive, so that all faults are told at once, each with
//! its line, and so that the order of the file is kept: addresses are given out by it.

mod links;

use toml::de::DeTable;

pub(super) use self::links::explained;
use super::network::Kind;
use super::stated::{StatedNode, StatedRoute, Topology};
use crate::description::{self, Document, Entry, named, quoted};

const KEYS: [&str; 8] =
    ["name", "seed", "isolated", "hosts", "routers", "switches", "links", EXPERIMENTS];
/// What is done on a network stands in the same file, and is read by whoever does it.
const EXPERIMENTS: &str = "experiments";

impl Topology {
    /// Reads what a file says. `source_name` is what faults are told of, as a rule the file's path;
    /// all that is wrong with the text is told by [`network`](Self::network).
    ///
    /// ```toml
    /// name = "two routers"         # what it is called; else as the file is
    /// seed = 7                     # what all chances are drawn from, for runs that repeat
    /// isolated = false             # true: nodes need not reach each other
    /// hosts = ["h1", "h2"]         # names alone, or a table as below
    /// switches.s1.subnet = "10.9.0.0/24"
    ///
    /// [routers.r1.routes]          # in place of computed ones
    /// "10.9.0.0/24" = "r2"         # by a neighbour's name or address
    /// default = "r2"
    ///
    /// [routers.r2]
    ///
    /// [links]
    /// "h1:r1" = {}                 # a plain wire
    /// "r2:s1" = {}
    /// "h2:s1" = {}
    /// "r1:r2" = { rate = "40Mbit", delay = "10ms", queue = "67p" }
    ///
    /// [links."r1:r2#spare"]        # a second one: anything behind the #
    /// mtu = 9000                   # bytes, 1500 if not said
    /// subnet = ["10.8.0.0/24", "fd00:8::/64"]
    /// addresses = { r1 = "10.8.0.7" }
    /// loss = "1%"                  # both directions
    /// forward.delay = "5ms"        # from r1 to r2 alone
    /// backward.delay = "50ms"
    /// ```
    ///
    /// The words of conditions are those of [`Change`](crate::link::Change).
    pub fn read(source_name: &str, text: &str) -> Self {
        // A path may be longer than a title; what is not stated is called after its end.
        let file = source_name.rsplit('/').next().unwrap_or(source_name);
        let mut topology = Self::named(file.trim_end_matches(".toml"));
        source_name.clone_into(&mut topology.source_name);
        let (mut document, table) = Document::read(text, "a topology");
        if let Some(table) = table {
            top_level(&mut document, &table, &mut topology);
        }
        topology.faults = document.into_faults();
        topology
    }
}

fn top_level(document: &mut Document, table: &DeTable, topology: &mut Topology) {
    for entry in description::entries(table) {
        match entry.key {
            "name" => {
                if let Some(name) = document.text(&entry, "") {
                    topology.name = name.text;
                }
            }
            "seed" => topology.seed = document.whole_number(&entry, ""),
            "isolated" => topology.isolated = document.truth(&entry, "").unwrap_or(false),
            "hosts" => nodes(document, &entry, Kind::Host, topology),
            "routers" => nodes(document, &entry, Kind::Router, topology),
            "switches" => nodes(document, &entry, Kind::Switch, topology),
            "links" => {
                for link in document.table(&entry, "") {
                    topology.links.extend(links::link(document, &link));
                }
            }
            EXPERIMENTS => {}
            _ => document.unknown_key(&entry, "", &KEYS),
        }
    }
}

/// A list of names, or a table where a node has more to say.
fn nodes(document: &mut Document, entry: &Entry, kind: Kind, topology: &mut Topology) {
    if entry.is_array() {
        let names = document.texts(entry, "");
        topology.nodes.extend(names.into_iter().map(|name| StatedNode::new(name, kind)));
        return;
    }
    if !entry.is_table() {
        document.wrong_kind(entry, "", "a list of names or a table");
    }
    for entry in entry.table() {
        let node = node(document, &entry, kind);
        topology.nodes.push(node);
    }
}

fn node(document: &mut Document, entry: &Entry, kind: Kind) -> StatedNode {
    let subject = named(&kind.to_string(), entry.key);
    let mut node = StatedNode::new(document.said_key(entry), kind);
    for word in document.table(entry, &subject) {
        match (word.key, kind) {
            ("subnet", Kind::Switch) => node.subnets = document.texts(&word, &subject),
            ("routes", Kind::Host | Kind::Router) => {
                node.routes = routes(document, &word, &subject);
            }
            (key, Kind::Switch) if links::CONDITIONS.contains(&key) => {
                let text =
                    format!("a switch does nothing to frames; say {} of a link of it", quoted(key));
                document.fault(word.at, &subject, text);
            }
            (_, Kind::Switch) => document.unknown_key(&word, &subject, &["subnet"]),
            (_, Kind::Host | Kind::Router) => {
                document.unknown_key(&word, &subject, &["routes"]);
            }
        }
    }
    node
}

fn routes(document: &mut Document, entry: &Entry, subject: &str) -> Vec<StatedRoute> {
    let mut routes = Vec::new();
    for route in document.table(entry, subject) {
        if let Some(via) = document.text(&route, subject) {
            routes.push(StatedRoute { destination: document.said_key(&route), via });
        }
    }
    routes
}
