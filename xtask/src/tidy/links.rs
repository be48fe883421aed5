//! Links between documents lead somewhere. Those to the network are not followed.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "links";

/// Every link to a file of the repository resolves.
pub fn resolve(tree: &Tree) -> Vec<Violation> {
    let documents = tree.files.iter().filter(|file| file.has_extension("md"));
    documents.flat_map(|document| dead_links(tree, document)).collect()
}

fn dead_links(tree: &Tree, document: &TextFile) -> Vec<Violation> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (line, text) in document.lines() {
        if text.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block {
            continue;
        }
        for target in targets(text).filter(|target| is_local(target)) {
            let path = joined(&document.path, target);
            if !path.as_ref().is_some_and(|path| tree.holds(path)) {
                let text = format!("the link to `{target}` leads nowhere");
                found.push(Violation::new(&document.path, line, RULE, text));
            }
        }
    }
    found
}

/// What the links of a line point to, fragments left out.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split('`').step_by(2);
    // The text of a link may itself be code, so its closing bracket may begin a piece of prose.
    prose
        .flat_map(|piece| piece.split("](").skip(1))
        .filter_map(|rest| rest.split([')', ' ', '#']).next())
}

fn is_local(target: &str) -> bool {
    !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
}

/// The path of `target` as seen from `document`; none if it leaves the repository.
fn joined(document: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => parts.pop().map(drop)?,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::places;

    fn found(text: &str) -> Vec<usize> {
        let files = [("docs/a.md", text), ("docs/b.md", ""), ("README.md", "")];
        places(resolve, &files).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn links_that_resolve_are_good() {
        assert!(found("[b](b.md) [`b`](./b.md#part) [r](../README.md) [d](../docs/)").is_empty());
        assert!(found("[web](https://example.org/x.md) [here](#part) `[c](c.md)`").is_empty());
        assert!(found("```\n[c](c.md)\n```").is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_reported() {
        assert_eq!(found("[b](b.md)\n[c](c.md)"), [2]);
        assert_eq!(found("[out](../../README.md)"), [1]);
        assert_eq!(found("[`c`](c.md)"), [1]);
    }
}
