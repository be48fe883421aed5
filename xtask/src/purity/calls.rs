//! What the sources of pure rooms name, their tests included: time is passed in there, too.

use crate::rooms::Room;
use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "purity";

/// Parts of the standard library that reach the world.
const WORLDLY: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::IsTerminal",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::UNIX_EPOCH",
];

/// Of those, what is a value and reaches nothing.
const VALUES: &[&str] = &[
    "std::net::AddrParseError",
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
    "std::net::SocketAddrV4",
    "std::net::SocketAddrV6",
];

/// Modules that hold both: named as a whole, the rule could not see which is used.
const MIXED: &[&str] = &["std::io::*", "std::time", "std::time::*", "std::time::self"];

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln"];

/// Every worldly name in a pure room.
pub fn violations(tree: &Tree) -> Vec<Violation> {
    let pure = tree.rust().filter(|file| Room::of_path(&file.path).is_some_and(Room::is_pure));
    pure.flat_map(|file| worldly_paths(file).chain(printing(file)).collect::<Vec<_>>()).collect()
}

fn worldly_paths(file: &TextFile) -> impl Iterator<Item = Violation> {
    let paths = source::paths(&file.code, |root| root == "std").into_iter();
    paths.filter(|named| is_worldly(&named.path)).map(|named| {
        let text = format!("a pure room names `{}`", named.path);
        Violation::new(&file.path, named.line, RULE, text)
    })
}

fn is_worldly(path: &str) -> bool {
    let is_in = |list: &[&str]| list.iter().any(|entry| starts_with_path(path, entry));
    MIXED.contains(&path) || (is_in(WORLDLY) && !is_in(VALUES))
}

fn starts_with_path(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn printing(file: &TextFile) -> impl Iterator<Item = Violation> {
    let tokens = source::tokens(&file.code);
    let calls: Vec<_> = tokens
        .windows(2)
        .filter(|pair| PRINTING.contains(&pair[0].text.as_str()) && pair[1].text == "!")
        .map(|pair| pair[0].clone())
        .collect();
    calls.into_iter().map(|call| {
        let text = format!("a pure room prints: `{}!`", call.text);
        Violation::new(&file.path, call.line, RULE, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let found = violations(&Tree::of(&[(path, text)]));
        found.into_iter().map(|violation| violation.line).collect()
    }

    const WORLDLY_TEXT: &str = "use std::{fs, net::{SocketAddr, TcpStream}};\n\
        use std::net::IpAddr;\nfn f() { std::thread::spawn(g); }\nuse std::time::Duration;\n\
        use std::time::*;\nfn h() { println!(\"x\") }\n// std::fs\nfn std_fs() {}\nuse std::net;\n";

    #[test]
    fn what_reaches_the_world_is_reported() {
        assert_eq!(lines("crates/peers/src/x.rs", WORLDLY_TEXT), [1, 1, 3, 5, 9, 6]);
    }

    #[test]
    fn other_rooms_may_reach_the_world() {
        assert!(lines("crates/engines/src/x.rs", WORLDLY_TEXT).is_empty());
    }
}
