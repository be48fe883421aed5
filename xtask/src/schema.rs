//! The JSON Schema of the document that a run ends with: generated from its type, committed, and held
//! to it, so that a change of the promise is seen in review.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::Schema;

const PATH: &str = "schema/pathscope-document.json";
/// Lines of a difference that are shown; the whole is one `git diff` away.
const LINES_SHOWN: usize = 8;

/// How to treat the committed schema.
#[derive(Args, Clone, Copy, Debug)]
pub struct Arguments {
    /// Write nothing; fail if the committed schema is not what the types say
    #[arg(long)]
    pub check: bool,
}

/// Writes the schema, or answers whether the committed one is current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    let path = root.join(PATH);
    let generated = text()?;
    if arguments.check {
        let committed = fs::read_to_string(&path).unwrap_or_default();
        return Ok(report(&difference(&committed, &generated)));
    }
    let folder = path.parent().context("find the folder of the schema")?;
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    fs::write(&path, generated).with_context(|| format!("write {}", path.display()))?;
    println!("wrote {PATH}");
    Ok(true)
}

/// The schema of the type that is the document.
fn document_schema() -> Schema {
    pathscope_modes::document::schema()
}

fn text() -> Result<String> {
    let mut text = serde_json::to_string_pretty(&document_schema()).context("write the schema")?;
    text.push('\n');
    Ok(text)
}

fn report(difference: &[String]) -> bool {
    if difference.is_empty() {
        return true;
    }
    println!("{PATH} is not what the types say; `cargo xtask schema` writes it anew:");
    difference.iter().for_each(|line| println!("  {line}"));
    false
}

/// The first lines in which two texts differ, those of the first marked `-`, of the second `+`.
fn difference(committed: &str, generated: &str) -> Vec<String> {
    let (committed, generated): (Vec<&str>, Vec<&str>) =
        (committed.lines().collect(), generated.lines().collect());
    let same = committed.iter().zip(&generated).take_while(|(one, other)| one == other).count();
    if same == committed.len() && same == generated.len() {
        return Vec::new();
    }
    let marked = |lines: &[&str], mark: char| -> Vec<String> {
        let shown = lines[same..].iter().take(LINES_SHOWN / 2);
        shown.map(|line| format!("{mark} {line}")).collect()
    };
    let mut difference = vec![format!("from line {}:", same + 1)];
    difference.extend(marked(&committed, '-'));
    difference.extend(marked(&generated, '+'));
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_where_it_begins() {
        assert!(difference("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(
            difference("a\nb\nc\n", "a\nx\nc\n"),
            ["from line 2:", "- b", "- c", "+ x", "+ c"]
        );
        assert_eq!(difference("", "a\n"), ["from line 1:", "+ a"]);
        assert_eq!(difference("a\nb\n", "a\n"), ["from line 2:", "- b"]);
    }

    #[test]
    fn the_schema_is_the_same_each_time() {
        let text = text().expect("types have a schema");
        assert_eq!(text, super::text().expect("types have a schema"));
        assert!(text.ends_with("}\n"), "{text}");
    }
}
