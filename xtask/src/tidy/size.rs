//! A source that grew beyond what one reads at a sitting is two sources, or says in its first lines why it is one.

use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "size";
/// Longer ones give a reason.
const MOST_LINES: usize = 400;
/// Longer ones are divided, whatever speaks for them.
const MOST_OF_ALL: usize = 600;
/// How a reason begins, in what a source says of itself first.
const REASON: &str = "//! In one file";

/// No source is longer than that, or it says why; and none says so that is not.
pub fn files_fit(tree: &Tree) -> Vec<Violation> {
    let said = |file: &TextFile| Some(Violation::new(&file.path, 1, RULE, fault(file)?));
    tree.rust().filter_map(said).collect()
}

fn fault(file: &TextFile) -> Option<String> {
    let lines = file.text.lines().count();
    let mut first = file.text.lines().take_while(|line| line.starts_with("//!"));
    let has_reason = first.any(|line| line.starts_with(REASON));
    match (lines > MOST_OF_ALL, lines > MOST_LINES, has_reason) {
        (true, ..) => Some(format!("{lines} lines, more than {MOST_OF_ALL}: divide it")),
        (_, true, false) => Some(format!(
            "{lines} lines, more than {MOST_LINES}: divide it, or say why not in a line `{REASON}: …`"
        )),
        (_, false, true) => Some(format!("it has {lines} lines and needs no `{REASON}`")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sources_need_a_reason_and_short_ones_none() {
        let faults = |lines: usize, first: &str| {
            let text = format!("{first}{}", "x\n".repeat(lines - first.lines().count()));
            let tree = Tree::of(&[("a.rs", &text), ("c.md", &"x\n".repeat(1_000))]);
            files_fit(&tree).into_iter().map(|violation| violation.text).collect::<Vec<_>>()
        };
        let reason = "//! A table.\n//! In one file: it is read as one.\n";
        assert!(faults(400, "").is_empty() && faults(401, reason).is_empty());
        assert!(faults(600, reason).is_empty() && faults(601, reason)[0].contains("divide it"));
        assert!(faults(401, "//! A table.\n")[0].contains("divide it, or say why not"));
        assert!(faults(400, reason)[0].contains("needs no"));
    }
}
