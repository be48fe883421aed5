//! The JSON Schemas of the documents that a run, experiments and a calibration end with: generated from their types.

use std::path::Path;

use anyhow::{Context as _, Result};
use schemars::Schema;

use crate::committed::{Arguments, Committed};

/// What generates a schema.
type Generate = fn() -> Schema;

/// The schemas, each with the file that holds it.
const SCHEMAS: [(&str, Generate); 4] = [
    ("schema/pathscope-document.json", pathscope_modes::document::schema),
    ("schema/pathscope-experiments.json", pathscope_experiments::document::schema),
    ("schema/pathscope-calibration.json", pathscope_calibration::document::schema),
    ("schema/pathscope-comparison.json", pathscope_modes::compared::schema),
];

/// Writes the schemas, or answers whether the committed ones are current.
pub fn run(root: &Path, arguments: Arguments) -> Result<bool> {
    let mut are_current = true;
    for (path, schema) in SCHEMAS {
        let committed = Committed { path, task: "schema" };
        are_current &= committed.run(root, &text(&schema())?, arguments)?;
    }
    Ok(are_current)
}

fn text(schema: &Schema) -> Result<String> {
    let mut text = serde_json::to_string_pretty(schema).context("write a schema")?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_the_same_each_time() {
        for (path, schema) in SCHEMAS {
            let text = text(&schema()).expect("types have a schema");
            assert_eq!(text, super::text(&schema()).expect("types have a schema"), "{path}");
            assert!(text.ends_with("}\n"), "{text}");
        }
    }
}
