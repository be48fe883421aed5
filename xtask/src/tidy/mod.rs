//! Rules about sources that no compiler checks. Each takes the files and answers what is broken; a
//! file for each theme, one line here for each rule, and a test beside each.

mod circles;
mod imports;
mod kinds;
mod links;
mod lints;
mod locks;
mod manifests;
mod maps;
mod permissions;
mod size;
mod text;
mod unsafe_code;

use crate::tree::Tree;
use crate::violation::Violation;

/// What a rule is: files in, what is broken out.
type Rule = fn(&Tree) -> Vec<Violation>;

/// Every rule.
const RULES: &[Rule] = &[
    circles::none_beside,
    imports::named_in_code,
    imports::named_in_manifests,
    kinds::known_to_their_registry,
    links::resolve,
    lints::exceptions_have_reasons,
    lints::nothing_unfinished,
    lints::platforms_are_files,
    locks::none_where_bytes_move,
    manifests::inherit_from_workspace,
    maps::list_every_room,
    maps::name_places_that_are_there,
    permissions::used_by_manifests,
    permissions::used_by_sources,
    size::files_fit,
    text::ends_and_blanks,
    text::no_machine_paths,
    text::sources_open_with_their_purpose,
    text::tests_stand_with_their_module,
    unsafe_code::explained,
    unsafe_code::only_where_the_system_is_called,
];

/// All that is broken, in the order of the files.
pub fn violations(tree: &Tree) -> Vec<Violation> {
    let mut found: Vec<Violation> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    found.sort();
    found
}

/// What a test of a rule asserts: where it found what, without the words.
#[cfg(test)]
fn places(rule: Rule, files: &[(&str, &str)]) -> Vec<(String, usize)> {
    let found = rule(&Tree::of(files));
    found.into_iter().map(|violation| (violation.path, violation.line)).collect()
}

/// The same for one file that is a source of `core`.
#[cfg(test)]
fn lines(rule: Rule, text: &str) -> Vec<usize> {
    let found = places(rule, &[("crates/core/src/x.rs", text)]);
    found.into_iter().map(|(_, line)| line).collect()
}
