//! A source that grew beyond what one reads at a sitting is two sources, or an exception with a reason.

use crate::tree::Tree;
use crate::violation::Violation;

const RULE: &str = "size";
const MOST_LINES: usize = 600;

/// Sources that may be longer, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// No source is longer than that, but for the exceptions; and they are.
pub fn files_fit(tree: &Tree) -> Vec<Violation> {
    judge(tree, EXCEPTIONS)
}

fn judge(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Violation> {
    let is_long = |path: &str| {
        tree.file(path).map(|file| file.text.lines().count()).filter(|lines| *lines > MOST_LINES)
    };
    let too_long = tree.rust().filter_map(|file| Some((file.path.as_str(), is_long(&file.path)?)));
    let unexcused = too_long
        .filter(|(path, _)| exceptions.iter().all(|(excused, _)| excused != path))
        .map(|(path, lines)| (path, format!("{lines} lines, more than {MOST_LINES}: divide it")));
    let idle = exceptions
        .iter()
        .filter(|(path, reason)| is_long(path).is_none() || reason.is_empty())
        .map(|(path, _)| (*path, "needs no exception, or gives no reason for it".to_owned()));
    unexcused.chain(idle).map(|(path, text)| Violation::new(path, 1, RULE, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sources_need_an_exception_and_short_ones_none() {
        let long = "x\n".repeat(MOST_LINES + 1);
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", "x\n"), ("c.md", &long)]);
        let paths = |exceptions: &[(&str, &str)]| -> Vec<String> {
            judge(&tree, exceptions).into_iter().map(|violation| violation.path).collect()
        };
        assert_eq!(paths(&[]), ["a.rs"]);
        assert!(paths(&[("a.rs", "one flat table")]).is_empty());
        assert_eq!(paths(&[("a.rs", "")]), ["a.rs"]);
        assert_eq!(paths(&[("a.rs", "one flat table"), ("b.rs", "none")]), ["b.rs"]);
    }
}
