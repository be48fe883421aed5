//! The JSON Schema of the document that a run ends with: generated from its type.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::committed::{Arguments, Committed};

const SCHEMA: Committed = Committed { path: "schema/pathscope-document.json", task: "schema" };

/// Writes the schema, or answers whether the committed one is current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    SCHEMA.run(root, &text()?, arguments)
}

fn text() -> Result<String> {
    let schema = pathscope_modes::document::schema();
    let mut text = serde_json::to_string_pretty(&schema).context("write the schema")?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_the_same_each_time() {
        let text = text().expect("types have a schema");
        assert_eq!(text, super::text().expect("types have a schema"));
        assert!(text.ends_with("}\n"), "{text}");
    }
}
