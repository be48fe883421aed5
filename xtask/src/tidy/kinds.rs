//! What stands in a folder of its own beside a registry is known to that registry alone: nobody else imports it or matches
//! its variant, but for those to whom the table of rooms makes parts of it public.

use std::collections::BTreeSet;

use crate::modules::{self, Import, Modules};
use crate::rooms::{KINDS, Kind, Public};
use crate::tree::Tree;
use crate::violation::Violation;

const RULE: &str = "kinds";

/// No module names what is another folder's.
pub fn known_to_their_registry(tree: &Tree) -> Vec<Violation> {
    judge(tree, KINDS)
}

/// That a file names a folder: by what, and where.
struct Naming {
    path: String,
    line: usize,
    folder: String,
    what: String,
}

fn judge(tree: &Tree, kinds: &[Kind]) -> Vec<Violation> {
    let modules = Modules::of(tree);
    let imports = modules.imports();
    let mut violations = Vec::new();
    for kind in kinds {
        let (found, idle) = namings(kind, &modules, &imports);
        violations.extend(idle);
        violations.extend(found.into_iter().map(|Naming { path, line, folder, what }| {
            let (name, registry) = (kind.name, kind.registry);
            let text = format!(
                "`{what}` is of the {name} `{folder}`: only its folder and `{registry}` name it"
            );
            Violation::new(&path, line, RULE, text)
        }));
    }
    violations
}

/// All places outside where a folder of a kind is named and may not be, and what is public and not named.
fn namings(
    kind: &Kind,
    modules: &Modules<'_>,
    imports: &BTreeSet<Import>,
) -> (Vec<Naming>, Vec<Violation>) {
    let folders = folders(kind, modules, imports);
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    for import in imports {
        let Some((folder, what)) = named_by(kind, &folders, import) else { continue };
        let public = public(kind).filter(|(to, _)| modules::is_within(&import.from, to));
        let public: BTreeSet<_> = public.collect();
        if let Some(permission) = public.iter().find(|(_, item)| *item == what) {
            used.insert(*permission);
        } else if !public.iter().any(|(_, item)| first_of(item) == what) {
            let (path, line, folder) = (import.path.clone(), import.line, folder.to_owned());
            found.push(Naming { path, line, folder, what });
        }
    }
    let idle = public(kind).filter(|permission| !used.contains(permission)).map(|(to, item)| {
        let text = format!("`{item}` is public to `{to}`, which does not name it: take it out");
        Violation::new("xtask/src/rooms.rs", 1, RULE, text)
    });
    (found, idle.collect())
}

/// What is public of a kind, each with whom it is public to.
fn public(kind: &Kind) -> impl Iterator<Item = (&'static str, &'static str)> {
    kind.public.iter().flat_map(|Public { to, items }| items.iter().map(|item| (*to, *item)))
}

/// The folders of a kind, by their names.
fn folders<'a>(kind: &Kind, modules: &'a Modules<'_>, imports: &BTreeSet<Import>) -> Vec<&'a str> {
    let Some(room) = modules::parent(kind.registry) else { return Vec::new() };
    let listed = |folder: &str| {
        imports.iter().any(|import| {
            import.from == kind.registry && modules::is_within(&import.module, folder)
        })
    };
    let of_kind = modules.children(room).filter(|path| modules.is_folder(path) && listed(path));
    let of_kind = of_kind.filter(|path| {
        kind.holds.is_none_or(|child| modules.children(path).any(|own| own.ends_with(child)))
    });
    let names = of_kind.filter_map(|path| path.rsplit("::").next());
    names.filter(|name| !kind.besides.contains(name)).collect()
}

/// The folder that an import names, and how; none where it may, or names none.
fn named_by<'a>(kind: &Kind, folders: &[&'a str], import: &Import) -> Option<(&'a str, String)> {
    let room = modules::parent(kind.registry)?;
    let is_own = |folder: &str| modules::is_within(&import.from, &format!("{room}::{folder}"));
    let item = import.item.as_deref();
    if import.from == kind.registry || kind.lists.contains(&import.from.as_str()) {
        return None;
    }
    let folder = folders
        .iter()
        .find(|folder| modules::is_within(&import.module, &format!("{room}::{folder}")));
    if let Some(folder) = folder.filter(|folder| !is_own(folder)) {
        let item = item.map_or_else(String::new, |item| format!("::{}", first_of(item)));
        return Some((folder, format!("{folder}{item}")));
    }
    let variant = item.filter(|_| import.module == kind.registry)?.strip_prefix(kind.variants)?;
    let variant = first_of(variant.strip_prefix("::")?);
    let folder = folders.iter().find(|folder| camel_case(folder) == variant)?;
    (!is_own(folder)).then(|| (*folder, format!("{}::{variant}", kind.variants)))
}

fn first_of(item: &str) -> &str {
    item.split("::").next().unwrap_or(item)
}

/// A folder's name as that of a variant: `JsonStream` of `json_stream`.
fn camel_case(name: &str) -> String {
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: Kind = Kind {
        name: "mode",
        registry: "modes::registry",
        lists: &["modes::commands"],
        variants: "Plan",
        holds: Some("plan"),
        besides: &[],
        public: &[],
    };

    /// Two modes, a folder that is none, and their registry.
    const ROOM: [(&str, &str); 7] = [
        ("crates/modes/src/lib.rs", "mod ping_pong; mod media; mod search; mod registry;"),
        ("crates/modes/src/registry.rs", "use crate::{media::Media, ping_pong::Pong, search::S};"),
        ("crates/modes/src/ping_pong/mod.rs", "mod plan;\npub use plan::Pong;"),
        (
            "crates/modes/src/ping_pong/plan.rs",
            "use crate::registry::Plan;\nfn f() { Plan::PingPong }",
        ),
        ("crates/modes/src/media/mod.rs", "mod plan;\npub use plan::{self, Media, Profile};"),
        ("crates/modes/src/media/plan.rs", ""),
        ("crates/modes/src/search/mod.rs", ""),
    ];

    fn found(kind: Kind, files: &[(&str, &str)]) -> Vec<String> {
        let files = [&ROOM, files].concat();
        let found = judge(&Tree::of(&files), &[kind]).into_iter();
        let told = found.map(|Violation { path, line, text, .. }| {
            let name = path.rsplit('/').next().unwrap_or_default();
            format!("{name}:{line} {}", text.split('`').nth(1).unwrap_or(&text))
        });
        told.collect()
    }

    #[test]
    fn a_folder_and_the_registry_name_it() {
        assert_eq!(found(MODE, &[]), [""; 0]);
    }

    #[test]
    fn a_folder_that_the_registry_lists_not_or_that_lacks_what_makes_it_one_is_none() {
        let other = ("crates/modes/src/pattern/plan.rs", "");
        let own = ("crates/modes/src/pattern/mod.rs", "");
        let run = "use pathscope_modes::search::S;\nuse pathscope_modes::pattern::plan::P;";
        assert_eq!(found(MODE, &[own, other, ("crates/run/src/x.rs", run)]), [""; 0]);
    }

    #[test]
    fn who_imports_a_mode_or_matches_its_variant_elsewhere_is_reported() {
        let run = "use pathscope_modes::media::Media;\nuse pathscope_modes::registry::{self, Plan as P};\n\
                   fn f(plan: P) { match plan { P::PingPong(_) => g(), registry::Plan::Media(_) => h() } }\n";
        let beside = "use crate::media::*;\nuse super::plan;";
        assert_eq!(
            found(
                MODE,
                &[("crates/run/src/x.rs", run), ("crates/modes/src/ping_pong/flow.rs", beside)]
            ),
            [
                "flow.rs:1 media::*",
                "x.rs:1 media::Media",
                "x.rs:3 Plan::Media",
                "x.rs:3 Plan::PingPong"
            ]
        );
    }

    #[test]
    fn a_folder_that_is_said_to_be_none_is_none() {
        let run = ("crates/run/src/x.rs", "use pathscope_modes::media::Media;");
        assert_eq!(found(MODE, &[run]), ["x.rs:1 media::Media"]);
        assert_eq!(found(Kind { besides: &["media"], ..MODE }, &[run]), [""; 0]);
    }

    #[test]
    fn tests_name_what_they_like() {
        let run = "#[cfg(test)]\nmod tests {\n    use pathscope_modes::media::Media;\n}\n";
        let test = ("crates/run/tests/x.rs", "use pathscope_modes::media::Media;");
        assert_eq!(found(MODE, &[("crates/run/src/x.rs", run), test]), [""; 0]);
    }

    #[test]
    fn what_is_public_to_a_module_is_named_there_and_nowhere_else() {
        let public = &[Public { to: "modes::search", items: &["media::Media", "Plan::Media"] }];
        let kind = || Kind { public, ..MODE };
        let text =
            "use crate::media::{self, Media};\nfn f() { super::super::registry::Plan::Media }";
        let search = ("crates/modes/src/search/decide.rs", text);
        assert_eq!(found(kind(), &[search]), [""; 0]);
        let more = ("crates/modes/src/search/more.rs", "use crate::media::{Media, Profile};");
        assert_eq!(found(kind(), &[search, more]), ["more.rs:1 media::Profile"]);
        assert_eq!(found(kind(), &[]), ["rooms.rs:1 media::Media", "rooms.rs:1 Plan::Media"]);
    }
}
