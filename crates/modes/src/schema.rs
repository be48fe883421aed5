//! Which schema a document follows, and how one is read that names it at its head.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which schema a document follows.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SchemaId {
    /// That of a run is always `pathscope-document`.
    pub name: String,
    /// Rises with each change that an old reader would misread.
    pub version: u32,
}

/// Why a text is no document of the schema that it should follow.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// Not JSON, or not of this shape.
    #[error("not {what}: {why}")]
    Malformed {
        /// What it should be: `a comparison of results`.
        what: &'static str,
        /// What the parser says.
        why: serde_json::Error,
    },
    /// Written by a later version.
    #[error(
        "this result has schema version {found}, and this pathscope reads up to {most}; use a newer one"
    )]
    TooNew {
        /// The version found.
        found: u32,
        /// The latest that this program knows.
        most: u32,
    },
}

/// As much of any document as tells which it is.
#[derive(Deserialize)]
struct Head {
    schema: SchemaId,
}

impl SchemaId {
    /// The schema that a document names at its head.
    pub(crate) fn of(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Head>(text).map(|head| head.schema)
    }

    /// Whether a text is a document of the schema of this name, as far as its head tells; whatever else it is, it is not.
    pub fn is_named(text: &str, name: &str) -> bool {
        Self::of(unmarked(text)).is_ok_and(|schema| schema.name == name)
    }

    /// Reads `what`, a document of a version up to `most`.
    pub fn read<T: DeserializeOwned>(
        text: &str,
        what: &'static str,
        most: u32,
    ) -> Result<T, SchemaError> {
        let malformed = |why| SchemaError::Malformed { what, why };
        let text = unmarked(text);
        let found = Self::of(text).map_err(malformed)?.version;
        if found > most {
            return Err(SchemaError::TooNew { found, most });
        }
        serde_json::from_str(text).map_err(malformed)
    }
}

/// Without the mark that editors of other systems put before text, which is none of it.
pub(crate) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
