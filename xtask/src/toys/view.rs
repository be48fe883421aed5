//! The toy view: it lists all that a result is made of, and has heard of no mode.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::toy::{Line, Toy};
use super::{Built, said};

/// What it is.
pub const VIEW: Toy = Toy {
    template: "xtask/toys/view",
    folder: "crates/views/src/toy",
    lines: &[
        Line { path: "crates/views/src/lib.rs", below: "mod text;", text: "mod toy;" },
        Line {
            path: "crates/views/src/registry.rs",
            below: "views! {",
            text: "    /// All that a result is made of, in a list.\n    \
                   Toy = \"toy\" by |_, out| Box::new(crate::toy::Toy::new(out));",
        },
    ],
    tests: &[],
    forbidden: &[
        ("use pathscope_modes::registry::Plan;\n", "imports"),
        ("use crate::text::Text;\n", "kinds"),
        ("use crate::registry::Format;\n", "circles"),
    ],
};

/// Stored results of all modes.
const RESULTS: &str = "crates/cli/tests/fixtures/2";

/// What it calls the parts of results: each of them is in some of those.
const PARTS: [&str; 9] =
    ["section", "figure", "table", "row", "series", "distribution", "check", "verdict", "caveat"];

/// What it does not show of stored results.
pub fn faults(built: &Built) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in
        fs::read_dir(built.copy.join(RESULTS)).with_context(|| format!("list {RESULTS}"))?
    {
        let path = entry.with_context(|| format!("list {RESULTS}"))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let [own, other] = [shown(built, &path, "toy")?, shown(built, &path, "md")?];
        let count = |text: &str, head| text.lines().filter(|line| line.starts_with(head)).count();
        if own.is_empty() || count(&own, "section ") != count(&other, "## ") {
            faults.push(format!("the toy view does not show every section of {}", path.display()));
        }
        seen.extend(
            own.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)),
        );
    }
    let absent = PARTS.iter().filter(|part| !seen.contains(**part));
    faults.extend(absent.map(|part| format!("the toy view shows no {part} of any result")));
    Ok(faults)
}

/// A result in a form.
pub fn shown(built: &Built, result: &Path, form: &str) -> Result<String> {
    let mut command = Command::new(&built.program);
    let (is_shown, text) = said(command.args(["show", "--format", form]).arg(result))?;
    if !is_shown {
        bail!("show {} as {form}: {text}", result.display());
    }
    Ok(text)
}
