//! The modules of all crates and what each imports, tests apart: by `use` and by paths in place, an item that is handed on
//! by `pub use` counted as its own module's. Read as text, not compiled: what a macro writes is not seen, its text is.

use std::collections::{BTreeMap, BTreeSet};

use crate::rooms;
use crate::source::{self, NamedPath};
use crate::tree::{TextFile, Tree};

/// One module that is a file.
#[derive(Debug)]
struct Module<'tree> {
    file: &'tree TextFile,
    /// Its code without tests.
    code: String,
    /// What its `use` makes known, by name.
    known: BTreeMap<String, String>,
}

/// What one module imports of another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Import {
    /// The module that imports: `modes::media::plan`.
    pub from: String,
    /// The module that what it imports is of.
    pub module: String,
    /// What it names of it, where it is not the module itself: `LIMIT`, `Plan::Media`.
    pub item: Option<String>,
    /// The file of the module that imports.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
}

/// The modules of all crates by their paths, the crate's first: `modes::media::plan`.
#[derive(Debug)]
pub struct Modules<'tree> {
    by_path: BTreeMap<String, Module<'tree>>,
}

/// Rooms are known to each other by this and their name.
const PREFIX: &str = "pathscope_";

/// Stands for a module inside a file in the path of what it names.
const INLINE: &str = "::{inline}";

/// How often an item is handed on at the most; more is a circle of `pub use`.
const MOST_HANDS: usize = 16;

impl<'tree> Modules<'tree> {
    /// Those of a tree, tests apart.
    pub fn of(tree: &'tree Tree) -> Self {
        let files = tree.rust().filter_map(|file| Some((module_path(&file.path)?, file)));
        let mut by_path: BTreeMap<_, _> =
            files.map(|(path, file)| (path, Module::of(file))).collect();
        let tests: BTreeSet<String> = by_path
            .iter()
            .flat_map(|(path, module)| {
                let names = source::test_modules(&module.file.code);
                names.into_iter().map(move |name| format!("{path}::{name}"))
            })
            .collect();
        by_path.retain(|path, _| !ancestors(path).any(|above| tests.contains(above)));
        Self { by_path }
    }

    /// Whether a module is a folder.
    pub fn is_folder(&self, path: &str) -> bool {
        self.by_path.get(path).is_some_and(|module| module.file.path.ends_with("/mod.rs"))
    }

    /// The modules right below one.
    pub fn children<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.by_path.keys().map(String::as_str).filter(move |path| parent(path) == Some(folder))
    }

    /// All that they import of each other.
    pub fn imports(&self) -> BTreeSet<Import> {
        self.by_path.iter().flat_map(|(path, module)| self.imports_of(path, module)).collect()
    }

    fn imports_of(&self, from: &str, importer: &Module<'_>) -> Vec<Import> {
        let depths = source::inline_modules(&importer.code);
        let is_known = |part: &str| is_root(part) || importer.known.contains_key(part);
        let in_place = source::paths(&importer.code, is_known);
        let used = source::uses(&importer.code).into_iter().filter(|named| {
            let first = named.path.split("::").next().unwrap_or_default();
            !is_root(first)
        });
        let named = in_place.into_iter().chain(used);
        let found = named.filter_map(|NamedPath { path, line, .. }| {
            let depth = depths.get(line - 1).copied().unwrap_or(0);
            let (module, item) = self.resolve(&inside_of(from, depth), &path, MOST_HANDS)?;
            let (from, file) = (from.to_owned(), importer.file.path.clone());
            let module = module.split(INLINE).next()?.to_owned();
            Some(Import { from, module, item, path: file, line })
        });
        found.filter(|import| import.module != from).collect()
    }

    /// The module that a path means as it is named in `from`, and the item of it; none: of no room.
    fn resolve(&self, from: &str, path: &str, hands: usize) -> Option<(String, Option<String>)> {
        let mut parts = path.split("::").peekable();
        let crate_name = from.split("::").next().unwrap_or(from);
        let mut at = match *parts.peek()? {
            "crate" => parts.next().map(|_| crate_name.to_owned())?,
            "self" | "super" => from.to_owned(),
            name if name.starts_with(PREFIX) => {
                parts.next().map(|name| name[PREFIX.len()..].to_owned())?
            }
            name if self.known(from, name).is_some() || self.holds(from, name) => from.to_owned(),
            _ => return None,
        };
        while let Some(part) = parts.next() {
            let child = format!("{at}::{part}");
            match part {
                "self" => {}
                "super" => at.truncate(parent(&at)?.len()),
                _ if self.by_path.contains_key(&child) => at = child,
                _ => {
                    let rest: Vec<&str> = [part].into_iter().chain(parts).collect();
                    let handed_on = self.known(&at, part).filter(|_| hands > 0);
                    let followed = handed_on.and_then(|path| {
                        let path = [&[path], &rest[1..]].concat().join("::");
                        self.resolve(&at, &path, hands - 1)
                    });
                    return followed.or_else(|| Some((at, Some(rest.join("::")))));
                }
            }
        }
        Some((at, None))
    }

    fn holds(&self, module: &str, name: &str) -> bool {
        self.by_path.contains_key(&format!("{module}::{name}"))
    }

    /// What a name means in a module by its `use`.
    fn known(&self, module: &str, name: &str) -> Option<&str> {
        self.by_path.get(module)?.known.get(name).map(String::as_str)
    }
}

impl<'tree> Module<'tree> {
    fn of(file: &'tree TextFile) -> Self {
        let code = source::without_tests(&file.code);
        let depths = source::inline_modules(&code);
        let used = source::uses(&code)
            .into_iter()
            .filter(|named| depths[named.line - 1] == 0 && named.name != "*");
        let known = used.map(|named| (named.name, named.path)).collect();
        Self { file, code, known }
    }
}

fn is_root(part: &str) -> bool {
    matches!(part, "crate" | "self" | "super") || part.starts_with(PREFIX)
}

/// A module so many levels inside a file's: what `super` means there counts from it.
fn inside_of(module: &str, depth: usize) -> String {
    format!("{module}{}", INLINE.repeat(depth))
}

/// The path of the module that a file is: `modes::media` of `crates/modes/src/media/mod.rs`. None for tests and examples.
pub fn module_path(file: &str) -> Option<String> {
    let name = rooms::folder_name(file)?;
    let (_, inside) = file.split_once("/src/").filter(|(folder, _)| folder.ends_with(name))?;
    let inside = inside.strip_suffix(".rs")?;
    let inside = match inside.rsplit_once('/') {
        Some((folder, "mod")) => folder,
        None if matches!(inside, "lib" | "main") => "",
        _ => inside,
    };
    let parts = [name].into_iter().chain(inside.split('/')).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("::"))
}

/// The module that one stands in.
pub fn parent(module: &str) -> Option<&str> {
    module.rsplit_once("::").map(|(parent, _)| parent)
}

/// A module, that which it stands in, and so on up to the crate.
pub fn ancestors(module: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(module), |module| parent(module))
}

/// Whether a module is another one or stands somewhere below it.
pub fn is_within(module: &str, folder: &str) -> bool {
    ancestors(module).any(|above| above == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(files);
        let imports = Modules::of(&tree).imports().into_iter();
        let told = imports.map(|Import { from, module, item, line, .. }| {
            let item = item.map_or_else(String::new, |item| format!("[{item}]"));
            format!("{from}:{line} {module}{item}")
        });
        told.collect()
    }

    const PLAN: (&str, &str) = ("crates/modes/src/media/plan.rs", "pub struct Plan;");

    #[test]
    fn a_file_is_a_module() {
        for (file, module) in [
            ("crates/modes/src/lib.rs", Some("modes")),
            ("xtask/src/main.rs", Some("xtask")),
            ("crates/modes/src/media/mod.rs", Some("modes::media")),
            ("crates/modes/src/media/plan.rs", Some("modes::media::plan")),
            ("crates/modes/tests/document.rs", None),
            ("xtask/toys/mode/src/plan.rs", None),
        ] {
            assert_eq!(module_path(file).as_deref(), module, "{file}");
        }
    }

    #[test]
    fn paths_are_followed_to_the_module_of_their_item() {
        let media = ("crates/modes/src/media/mod.rs", "mod plan;\npub use plan::Plan as Media;");
        let registry = "use crate::media::{self, Media};\nuse std::fs;\n\
                        fn f() { crate::media::plan::g(media::plan::h(Media::NEW, fs::open())) }";
        let run = "use pathscope_modes::media::Media;\nuse pathscope_core::Tick;\n";
        assert_eq!(
            imports(&[
                PLAN,
                media,
                ("crates/modes/src/registry.rs", registry),
                ("crates/run/src/lib.rs", run),
            ]),
            [
                "modes::media:2 modes::media::plan[Plan]",
                "modes::registry:1 modes::media",
                "modes::registry:1 modes::media::plan[Plan]",
                "modes::registry:3 modes::media::plan[Plan::NEW]",
                "modes::registry:3 modes::media::plan[g]",
                "modes::registry:3 modes::media::plan[h]",
                "run:2 core[Tick]",
                "run:1 modes::media::plan[Plan]",
            ]
        );
    }

    #[test]
    fn paths_go_up_and_in_modules_inside_a_file_from_there() {
        let text = "use super::{limits::LEAST, super::end::End};\nmod token {\n    use super::Token;\n    \
                    use super::super::limits;\n}\n";
        assert_eq!(
            imports(&[
                ("crates/modes/src/media/message.rs", text),
                ("crates/modes/src/media/limits.rs", ""),
                ("crates/modes/src/end.rs", ""),
            ]),
            [
                "modes::media::message:1 modes::end[End]",
                "modes::media::message:4 modes::media::limits",
                "modes::media::message:1 modes::media::limits[LEAST]",
            ]
        );
    }

    #[test]
    fn tests_import_nothing() {
        let text = "#[cfg(test)]\nmod checks;\n#[cfg(test)]\nuse crate::media::plan;\n";
        assert_eq!(
            imports(&[
                PLAN,
                ("crates/modes/src/end.rs", text),
                ("crates/modes/src/end/checks.rs", "use crate::media::plan;"),
                ("crates/modes/src/end/checks/more.rs", "use crate::media::plan;"),
            ]),
            [""; 0]
        );
    }

    #[test]
    fn what_is_handed_on_in_a_circle_ends_somewhere() {
        let one = ("crates/core/src/one.rs", "pub use super::two::X;");
        let two = ("crates/core/src/two.rs", "pub use super::one::X;");
        assert_eq!(imports(&[one, two]).len(), 2);
    }
}
