//! Modules that stand side by side import one another in one direction: a circle of them is one module in several files.
//! What a folder's own file (`mod.rs`, `lib.rs`) has is its children's as well, and makes no circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{self, Import, Modules};
use crate::tree::Tree;
use crate::violation::Violation;

const RULE: &str = "circles";

/// A module imports another one that stands beside it: for itself or for what stands below it.
type Edge<'path> = (&'path str, &'path str);

/// No module reaches itself by way of others beside it.
pub fn none_beside(tree: &Tree) -> Vec<Violation> {
    let imports = Modules::of(tree).imports();
    let mut edges: BTreeMap<Edge<'_>, &Import> = BTreeMap::new();
    for import in &imports {
        if let Some(edge) = between_siblings(&import.from, &import.module) {
            edges.entry(edge).or_insert(import);
        }
    }
    let all: BTreeSet<Edge<'_>> = edges.keys().copied().collect();
    let circles = edges.iter().filter_map(|(edge, import)| {
        let way = way_back(&all, *edge)?;
        let text = format!("`{}` imports `{}`, which imports it: {way}", edge.0, edge.1);
        Some(Violation::new(&import.path, import.line, RULE, text))
    });
    circles.collect()
}

/// The two modules that stand side by side in the folder that is common to both; none where one is the other's folder.
fn between_siblings<'path>(from: &'path str, to: &'path str) -> Option<Edge<'path>> {
    let common = modules::ancestors(from).find(|folder| modules::is_within(to, folder))?;
    let child = |module: &'path str| {
        modules::ancestors(module).find(|above| modules::parent(above) == Some(common))
    };
    Some((child(from)?, child(to)?))
}

/// The shortest way from the end of an edge back to its start, as it is told.
fn way_back(edges: &BTreeSet<Edge<'_>>, (start, end): Edge<'_>) -> Option<String> {
    let mut ways = vec![vec![end]];
    let mut seen = BTreeSet::from([end]);
    while !ways.is_empty() {
        if let Some(way) = ways.iter().find(|way| way.last() == Some(&start)) {
            return Some(way.join(" -> "));
        }
        let mut longer = Vec::new();
        for way in ways {
            let next = edges.iter().filter(|(from, _)| way.last() == Some(from));
            for (_, to) in next.filter(|(_, to)| seen.insert(to)).collect::<Vec<_>>() {
                longer.push([&way[..], &[*to]].concat());
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let found = none_beside(&Tree::of(files));
        found.into_iter().map(|violation| (violation.path, violation.line)).collect()
    }

    const ROOT: (&str, &str) = ("crates/core/src/lib.rs", "mod a; mod b; mod c;\npub use a::f;");
    const A: (&str, &str) = ("crates/core/src/a/mod.rs", "mod deep;\npub use deep::f;");
    const DEEP: (&str, &str) = ("crates/core/src/a/deep.rs", "\nuse crate::b;\npub fn f() {}");
    const B: (&str, &str) = ("crates/core/src/b.rs", "fn g() { super::c::h() }");

    #[test]
    fn a_folder_and_its_own_file_import_each_other() {
        let deep = ("crates/core/src/a/deep.rs", "use super::X;");
        let a = ("crates/core/src/a/mod.rs", "mod deep;\nuse deep::f;\nstruct X;");
        assert_eq!(found(&[ROOT, a, deep]), []);
    }

    #[test]
    fn one_direction_is_no_circle() {
        assert_eq!(found(&[ROOT, A, DEEP, B, ("crates/core/src/c.rs", "")]), []);
    }

    #[test]
    fn a_circle_is_found_through_folders_and_what_is_handed_on() {
        let c = ("crates/core/src/c.rs", "//!\nuse crate::f;");
        let expected = [("a/deep.rs", 2), ("b.rs", 1), ("c.rs", 2)];
        let expected = expected.map(|(path, line)| (format!("crates/core/src/{path}"), line));
        assert_eq!(found(&[ROOT, A, DEEP, B, c]), expected);
    }

    #[test]
    fn children_of_a_folder_are_held_to_it_too() {
        let one = ("crates/core/src/a/one.rs", "use super::two;");
        let two = ("crates/core/src/a/two.rs", "use super::one;");
        assert_eq!(found(&[A, one, two]).len(), 2);
    }
}
