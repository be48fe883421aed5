//! What people read of the tree is what the tree and the table for machines say: the tables of rooms, and the places that the
//! map names.

use crate::rooms::{self, Room};
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "maps";
const MAPS: [&str; 2] = ["crates/README.md", "ARCHITECTURE.md"];

/// One row of a map.
struct Row<'text> {
    line: usize,
    room: &'text str,
    imports: &'text str,
}

/// Each room stands in each map with what it may import, and each row is a room.
pub fn list_every_room(tree: &Tree) -> Vec<Violation> {
    MAPS.iter().flat_map(|path| compare(tree, path)).collect()
}

/// Whatever the map names as a place, `run/session/driver` or `peers/limits.rs`, is there: as a file, a module or a folder, with `src`
/// on the way or without.
pub fn name_places_that_are_there(tree: &Tree) -> Vec<Violation> {
    let there: Vec<String> =
        tree.files.iter().map(|file| format!("/{}", file.path.replace("/src/", "/"))).collect();
    let is_there = |place: &str| {
        let place = place.replace("/src/", "/");
        let (file, source, folder) =
            (format!("/{place}"), format!("/{place}.rs"), format!("/{place}/"));
        there.iter().any(|it| it.ends_with(&file) || it.ends_with(&source) || it.contains(&folder))
    };
    let map = tree.file(MAPS[1]);
    let words = map.into_iter().flat_map(TextFile::lines).flat_map(|(line, text)| {
        text.split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| is_place(word))
            .map(move |word| (line, word))
    });
    let gone = words.filter(|(_, word)| !is_there(word));
    gone.map(|(line, word)| {
        Violation::new(MAPS[1], line, RULE, format!("there is no `{word}` in the tree"))
    })
    .collect()
}

/// Whether these words between ticks are a place: parts with `/` between them, each a name of a file, a module or a folder.
fn is_place(words: &str) -> bool {
    let is_of_names = |letter: char| letter.is_ascii_lowercase() || "/_.".contains(letter);
    words.contains('/') && !words.starts_with('/') && words.chars().all(is_of_names)
}

fn compare(tree: &Tree, path: &str) -> Vec<Violation> {
    let Some(map) = tree.file(path) else {
        return vec![Violation::new(path, 1, RULE, "is missing: the map of rooms stands there")];
    };
    let rows = rows(map);
    let existing: Vec<&str> =
        tree.manifests().filter_map(|manifest| rooms::folder_name(&manifest.path)).collect();
    let missing = existing
        .iter()
        .filter(|name| rows.iter().all(|row| row.room != **name))
        .map(|name| (1, format!("room `{name}` has no row in the table")));
    let wrong = rows.iter().filter_map(|row| Some((row.line, fault(row, &existing)?)));
    missing.chain(wrong).map(|(line, text)| Violation::new(path, line, RULE, text)).collect()
}

fn fault(row: &Row<'_>, existing: &[&str]) -> Option<String> {
    if !existing.contains(&row.room) {
        return Some(format!("there is no room `{}`", row.room));
    }
    let imports = Room::named(row.room)?.imports_in_words();
    (row.imports != imports).then(|| format!("`{}` may import: {imports}", row.room))
}

/// The rows of every table whose first head is `room` and whose last is what it may import.
fn rows(map: &TextFile) -> Vec<Row<'_>> {
    let mut inside = false;
    let mut rows = Vec::new();
    for (line, text) in map.lines() {
        let cells: Vec<&str> = text.trim().trim_matches('|').split('|').map(str::trim).collect();
        match cells.as_slice() {
            _ if !text.starts_with('|') => inside = false,
            ["room", ..] => inside = true,
            [rule, ..] if rule.starts_with('-') => {}
            [room, .., imports] if inside => rows.push(Row { line, room: name(room), imports }),
            _ => {}
        }
    }
    rows
}

/// The name in a cell: plain, as code, or as the text of a link.
fn name(cell: &str) -> &str {
    cell.split(']').next().unwrap_or(cell).trim_matches(['[', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    const CORE: (&str, &str) = ("crates/core/Cargo.toml", "");
    const FLOW: (&str, &str) = ("crates/flow/Cargo.toml", "");

    fn found(table: &str, rooms: &[(&str, &str)]) -> Vec<(String, usize)> {
        let mut files = vec![("crates/README.md", table), ("ARCHITECTURE.md", table)];
        files.extend(rooms);
        places(list_every_room, &files).into_iter().filter(|(path, _)| path == MAPS[0]).collect()
    }

    const TABLE: &str = "# Rooms\n\n| room | what | may import |\n|---|---|---|\n\
                         | [`core`](core) | words | nothing of ours |\n";

    #[test]
    fn a_map_that_equals_the_tree_is_good() {
        assert_eq!(found(TABLE, &[CORE]), []);
    }

    #[test]
    fn a_room_without_a_row_is_reported() {
        assert_eq!(found(TABLE, &[CORE, FLOW]), [(MAPS[0].to_owned(), 1)]);
    }

    #[test]
    fn a_row_without_a_room_is_reported() {
        assert_eq!(found(TABLE, &[]), [(MAPS[0].to_owned(), 5)]);
    }

    #[test]
    fn a_row_that_allows_other_imports_is_reported() {
        let table = TABLE.replace("nothing of ours", "flow");
        assert_eq!(found(&table, &[CORE]), [(MAPS[0].to_owned(), 5)]);
    }

    #[test]
    fn a_place_that_is_gone_is_reported() {
        let text = "In `core/tick`, `core/stats`,\n`stats/sums.rs` and `xtask/src/main.rs`;\n`core/tock`, not `a/B`, `/dev`.\n";
        let files = [
            ("ARCHITECTURE.md", text),
            ("crates/core/src/tick.rs", ""),
            ("crates/core/src/stats/sums.rs", ""),
            ("xtask/src/main.rs", ""),
        ];
        assert_eq!(places(name_places_that_are_there, &files), [(MAPS[1].to_owned(), 3)]);
    }

    #[test]
    fn a_map_that_is_missing_is_reported() {
        let expected = MAPS.map(|path| (path.to_owned(), 1));
        assert_eq!(places(list_every_room, &[CORE]), expected);
    }
}
