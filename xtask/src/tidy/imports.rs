//! Who imports whom: by what code names and by what manifests name, against the one table.
//!
//! Tests are held to it too: a test that needs a room above its own belongs to the room above.

use crate::rooms::{self, Room};
use crate::source;
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "imports";
const PREFIX: &str = "pathscope_";

/// Code names only rooms that its own may import.
pub fn named_in_code(tree: &Tree) -> Vec<Violation> {
    let rooms = tree.rust().filter_map(|file| Some((Room::of_path(&file.path)?, file)));
    rooms.flat_map(|(room, file)| foreign_words(room, file)).collect()
}

fn foreign_words(room: &Room, file: &TextFile) -> Vec<Violation> {
    let tokens = source::tokens(&file.code);
    let named = tokens.iter().filter_map(|token| {
        let name = token.text.strip_prefix(PREFIX)?;
        Room::named(name).map(|_| (token.line, name))
    });
    named
        .filter(|(_, name)| *name != room.name && !room.may_import.contains(name))
        .map(|(line, name)| Violation::new(&file.path, line, RULE, refusal(room, name)))
        .collect()
}

/// Manifests name only rooms that the crate's own may import.
pub fn named_in_manifests(tree: &Tree) -> Vec<Violation> {
    tree.manifests().flat_map(foreign_dependencies).collect()
}

fn foreign_dependencies(manifest: &TextFile) -> Vec<Violation> {
    let Some(room) = Room::of_path(&manifest.path) else {
        let name = rooms::folder_name(&manifest.path).unwrap_or_default();
        let text = format!("room `{name}` is not in the table of xtask/src/rooms.rs");
        return vec![Violation::new(&manifest.path, 1, RULE, text)];
    };
    let dependencies = manifest.lines().filter_map(|(line, text)| {
        let name = text.strip_prefix("pathscope-")?;
        Some((line, name.split(['.', ' ', '=']).next()?))
    });
    dependencies
        .filter(|(_, name)| !room.may_import.contains(name))
        .map(|(line, name)| Violation::new(&manifest.path, line, RULE, refusal(room, name)))
        .collect()
}

fn refusal(room: &Room, import: &str) -> String {
    let allowed = room.imports_in_words();
    format!("`{}` may not import `{import}`; it may import: {allowed}", room.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    #[test]
    fn code_may_name_what_stands_below_it() {
        let good = "use pathscope_core::Tick;\n// pathscope_engines\nfn f() { pathscope_flow(); }";
        assert_eq!(places(named_in_code, &[("crates/modes/src/x.rs", good)]), []);
    }

    #[test]
    fn code_may_not_name_what_stands_beside_or_above_it() {
        let bad = "use pathscope_core::Tick;\nuse pathscope_os as os;\n";
        let found = places(
            named_in_code,
            &[
                ("crates/modes/src/x.rs", bad),
                ("crates/core/src/y.rs", "fn f() -> pathscope_flow::Want { g() }"),
            ],
        );
        let expected = [("crates/modes/src/x.rs", 2), ("crates/core/src/y.rs", 1)];
        assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
    }

    #[test]
    fn manifests_are_held_to_the_same_table() {
        let manifest = "[dependencies]\npathscope-core.workspace = true\n\
                        pathscope-os = { workspace = true }\n";
        let found = places(named_in_manifests, &[("crates/views/Cargo.toml", manifest)]);
        assert_eq!(found, [("crates/views/Cargo.toml".to_owned(), 3)]);
    }

    #[test]
    fn a_room_that_is_not_in_the_table_is_reported() {
        let found = places(named_in_manifests, &[("crates/attic/Cargo.toml", "[package]\n")]);
        assert_eq!(found, [("crates/attic/Cargo.toml".to_owned(), 1)]);
    }
}
