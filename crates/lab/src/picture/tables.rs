//! A network as text: its links, its interfaces, its routes. At most 80 columns where names allow.

use std::fmt::Write as _;

use super::words::{words, wrapped};
use crate::link::Conditions;
use crate::topology::{Kind, Link, Network, Node, Passage, Route};

const WIDTH: usize = 80;

/// Three tables, each with a line of headings. Conditions are written as they would be typed; a
/// direction is named by the node it leads to.
pub fn text(network: &Network) -> String {
    let seed = network.seed().map_or_else(String::new, |seed| format!(", seed {seed}"));
    let mut text = format!("{}: {}{seed}\n\n", network.name(), summary(network));
    let links = network.links().iter().flat_map(|link| link_rows(network, link));
    table(&mut text, &["link", "subnet", "to", "conditions"], &links.collect::<Vec<_>>());
    text.push('\n');
    let interfaces = network.nodes().iter().flat_map(interface_rows);
    let headings = ["node", "interface", "address", "mac", "mtu"];
    table(&mut text, &headings, &interfaces.collect::<Vec<_>>());
    let routes: Vec<Vec<String>> = network.nodes().iter().flat_map(route_rows).collect();
    if !routes.is_empty() {
        text.push('\n');
        table(&mut text, &["node", "destination", "gateway", "interface", "metric"], &routes);
    }
    text
}

/// How many there are of each kind.
pub fn summary(network: &Network) -> String {
    let of_kind = |kind| network.nodes().iter().filter(|node| node.kind == kind).count();
    let relayed = network.links().iter().filter(|link| link.passage != Passage::Plain).count();
    let counted = [
        (of_kind(Kind::Host), "host", "hosts"),
        (of_kind(Kind::Router), "router", "routers"),
        (of_kind(Kind::Switch), "switch", "switches"),
        (network.links().len() - relayed, "wire", "wires"),
        (relayed, "relayed link", "relayed links"),
    ];
    let some = counted.iter().filter(|(count, ..)| *count > 0);
    let words = some.map(|(count, one, more)| {
        let word = if *count == 1 { one } else { more };
        format!("{count} {word}")
    });
    words.collect::<Vec<_>>().join(", ")
}

fn link_rows(network: &Network, link: &Link) -> Vec<Vec<String>> {
    let subnets = &network.domains()[link.domain].subnets;
    let subnets = subnets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let names = link.ends.map(|end| network.nodes()[end.node].name.clone());
    let row = |to: &str, conditions: String| {
        vec![link.name.clone(), subnets.clone(), to.to_owned(), conditions]
    };
    match link.passage {
        Passage::Plain => vec![row("both", "wire".to_owned())],
        Passage::Relayed { forward, backward } if forward == backward => {
            vec![row("both", conditions(&forward))]
        }
        Passage::Relayed { forward, backward } => {
            let mut back = row(&names[0], conditions(&backward));
            back[..2].fill(String::new());
            vec![row(&names[1], conditions(&forward)), back]
        }
    }
}

/// Those that do something, as they would be typed.
pub fn conditions(conditions: &Conditions) -> String {
    let words = words(conditions).into_iter().map(|(key, value)| format!("{key}={value}"));
    match words.collect::<Vec<_>>().join(" ") {
        nothing if nothing.is_empty() => "nothing".to_owned(),
        words => words,
    }
}

fn interface_rows(node: &Node) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for interface in &node.interfaces {
        let mut addresses = interface.addresses.iter().map(ToString::to_string);
        let port = || if node.kind == Kind::Switch { "port" } else { "none" }.to_owned();
        rows.push(vec![
            node.name.clone(),
            interface.name.clone(),
            addresses.next().unwrap_or_else(port),
            interface.mac.to_string(),
            interface.mtu.to_string(),
        ]);
        let further = |address| vec![String::new(), String::new(), address];
        rows.extend(addresses.map(further));
    }
    without_repetition(rows)
}

fn route_rows(node: &Node) -> Vec<Vec<String>> {
    let row = |route: &Route| {
        let destination = route.destination;
        let interface = node.interfaces.get(route.interface);
        vec![
            node.name.clone(),
            if destination.is_everything() { "default".into() } else { destination.to_string() },
            route.gateway.to_string(),
            interface.map_or_else(String::new, |interface| interface.name.clone()),
            route.metric.to_string(),
        ]
    };
    without_repetition(node.routes.iter().map(row).collect())
}

/// The first column is said once.
fn without_repetition(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    for row in rows.iter_mut().skip(1) {
        row[0].clear();
    }
    rows
}

/// Adds a table: columns two blanks apart; what is too long in the last one goes on below itself, so
/// that a line has at most 80 columns where the others allow.
pub fn table(text: &mut String, headings: &[&str], rows: &[Vec<String>]) {
    let headings: Vec<String> = headings.iter().map(ToString::to_string).collect();
    let all = || std::iter::once(&headings).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let last = headings.len() - 1;
    let indent: usize = widths[..last].iter().map(|width| width + 2).sum();
    let room = WIDTH.saturating_sub(indent).max(20);
    for row in all() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate().take(last) {
            let _ = write!(line, "{cell:<0$}  ", widths[column]);
        }
        let words = row.get(last).map_or("", String::as_str).split(' ').map(str::to_owned);
        let lines = wrapped(&words.collect::<Vec<_>>(), " ", room);
        line.push_str(lines.first().map_or("", String::as_str));
        let _ = writeln!(text, "{}", line.trim_end());
        for line in lines.iter().skip(1) {
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
    }
}
