//! What is permitted and not made use of is taken back: a room that may be imported, a library that may be named, a
//! dependency that no source names.

use crate::rooms::{Nature, ROOMS, Room};
use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "permissions";

/// The table of rooms permits what manifests name, and nothing beside it.
pub fn used_by_manifests(tree: &Tree) -> Vec<Violation> {
    let rooms = ROOMS.iter().filter_map(|room| {
        let manifest = tree.file(&format!("{}/Cargo.toml", room.folder()))?;
        Some((room, dependencies(manifest)))
    });
    let unused = rooms.flat_map(|(room, named)| {
        let is_named = |name: &str| named.iter().any(|(_, own)| *own == name);
        let rooms = imports(room).iter().map(|name| format!("pathscope-{name}"));
        let permitted = rooms.chain(libraries(room).iter().map(|name| (*name).to_owned()));
        let unused = permitted.filter(|name| !is_named(name)).collect::<Vec<_>>();
        unused.into_iter().map(|name| {
            let text = format!("`{}` may name `{name}`, and its manifest does not", room.name);
            Violation::new("xtask/src/rooms.rs", 1, RULE, text)
        })
    });
    unused.collect()
}

/// A room that may import everything is at the top, and is permitted no single room.
fn imports(room: &Room) -> &'static [&'static str] {
    if room.imports_in_words() == "everything" { &[] } else { room.may_import }
}

fn libraries(room: &Room) -> &'static [&'static str] {
    match room.nature {
        Nature::Pure { libraries } => libraries,
        Nature::Platform | Nature::Ordinary => &[],
    }
}

/// A manifest names what sources of its crate name.
pub fn used_by_sources(tree: &Tree) -> Vec<Violation> {
    tree.manifests().flat_map(|manifest| unnamed(tree, manifest)).collect()
}

fn unnamed(tree: &Tree, manifest: &TextFile) -> Vec<Violation> {
    let folder = manifest.path.trim_end_matches("Cargo.toml");
    let sources = tree.rust().filter(|file| file.path.starts_with(folder));
    let words: Vec<_> = sources.flat_map(|file| source::tokens(&file.code)).collect();
    let is_named = |name: &str| words.iter().any(|word| word.text == name.replace('-', "_"));
    let unnamed = dependencies(manifest).into_iter().filter(|(_, name)| !is_named(name));
    unnamed
        .map(|(line, name)| {
            let text = format!("no source names `{name}`");
            Violation::new(&manifest.path, line, RULE, text)
        })
        .collect()
}

/// What a manifest depends on, for tests too, with its line.
fn dependencies(manifest: &TextFile) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (line, text) in manifest.lines() {
        if text.starts_with('[') {
            inside = text.ends_with("dependencies]");
        } else if let Some((name, _)) = text.split_once(['.', ' ', '=']).filter(|_| inside) {
            found.extend((!name.starts_with('#')).then_some((line, name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    const MANIFEST: &str = "[package]\nname = \"x\"\n\n[dependencies]\narrayvec.workspace = true\n# Why.\n\
                            pathscope-core = { workspace = true }\n\n[dev-dependencies]\nthiserror.workspace = true\n";

    fn unused(manifest: &str) -> Vec<String> {
        let found = used_by_manifests(&Tree::of(&[("crates/flow/Cargo.toml", manifest)]));
        found.into_iter().map(|violation| violation.text).collect()
    }

    #[test]
    fn what_may_be_named_is_named() {
        assert_eq!(unused(MANIFEST), [""; 0]);
        let without = |line: &str| unused(&MANIFEST.replace(line, ""));
        assert_eq!(
            without("arrayvec.workspace = true\n"),
            ["`flow` may name `arrayvec`, and its manifest does not"]
        );
        assert_eq!(without("pathscope-core = { workspace = true }\n").len(), 1);
    }

    #[test]
    fn a_room_that_may_import_everything_need_not() {
        assert_eq!(places(used_by_manifests, &[("crates/cli/Cargo.toml", "")]), []);
    }

    #[test]
    fn what_a_manifest_names_is_named_by_a_source() {
        let found = |source: &str, path: &str| -> Vec<usize> {
            let files = [("crates/flow/Cargo.toml", MANIFEST), (path, source)];
            places(used_by_sources, &files).into_iter().map(|(_, line)| line).collect()
        };
        let source = "use arrayvec::A;\nuse pathscope_core::B;\n// thiserror\n";
        assert_eq!(found(source, "crates/flow/src/lib.rs"), [10]);
        assert_eq!(found(source, "crates/run/src/lib.rs"), [5, 7, 10]);
    }
}
