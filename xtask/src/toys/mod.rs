//! That adding a view is what people are told it is: to a copy of the tree a toy is added, a folder and its lines, and the
//! copy is built and run. What a toy may not import is refused there, too.

mod toy;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::tidy;
use crate::tree::Tree;
use crate::{cargo, violation};
use toy::{Line, Toy};

/// The view: it lists all that a result is made of.
const VIEW: Toy = Toy {
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
};

/// What a view may not import, and the rule that refuses it.
const FORBIDDEN: [(&str, &str); 3] = [
    ("use pathscope_modes::registry::Plan;\n", "imports"),
    ("use crate::text::Text;\n", "kinds"),
    ("use crate::registry::Format;\n", "circles"),
];

/// Stored results of all modes, which the view is shown: it has heard of none.
const RESULTS: &str = "crates/cli/tests/fixtures/2";

/// What the toy view calls the parts of results: each of them is in some of those.
const PARTS: [&str; 9] =
    ["section", "figure", "table", "row", "series", "distribution", "check", "verdict", "caveat"];

/// Adds the toys to a copy below `target`, and answers whether they are all that they need to be.
pub fn run(root: &Path) -> Result<bool> {
    let copy = root.join("target/toys/tree");
    copy_tree(root, &copy)?;
    let before = Tree::read(&copy)?;
    let known = tidy::violations(&before);
    VIEW.add(&copy)?;
    let program = build(&copy, &root.join("target/toys/target"))?;
    let after = Tree::read(&copy)?;
    let mut faults = VIEW.differences(&before, &after)?;
    let mut new = tidy::violations(&after);
    new.retain(|violation| !known.contains(violation));
    violation::report(&new);
    faults.extend((!new.is_empty()).then(|| "a toy breaks rules of tidy".to_owned()));
    faults.extend(faults_of_view(&copy, &program)?);
    faults.extend(not_refused(&copy)?);
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(faults.is_empty())
}

/// Copies what git knows of, and what it would be told of, and nothing that was built.
fn copy_tree(root: &Path, copy: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let listed = git.output().context("run git ls-files")?;
    if !listed.status.success() {
        bail!("list the files of the repository: git ls-files ended with {}", listed.status);
    }
    if copy.exists() {
        fs::remove_dir_all(copy).with_context(|| format!("clear {}", copy.display()))?;
    }
    let paths = String::from_utf8(listed.stdout).context("read what git ls-files says")?;
    // One that is listed and gone was taken away and not committed yet.
    let there = paths.split_terminator('\0').filter(|path| root.join(path).is_file());
    for path in there {
        let to = copy.join(path);
        let folder = to.parent().context("find the folder of a file")?;
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        fs::copy(root.join(path), &to).with_context(|| format!("write {}", to.display()))?;
    }
    Ok(())
}

/// Builds the program of the copy, as quickly as can be, and answers where it is.
fn build(copy: &Path, target: &Path) -> Result<PathBuf> {
    let mut command = cargo::cargo(copy);
    command.args(["build", "--locked", "--package", "pathscope", "--bin", "pathscope"]);
    command.arg("--target-dir").arg(target);
    command.envs([
        ("CARGO_PROFILE_DEV_DEBUG", "none"),
        ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
        ("CARGO_INCREMENTAL", "0"),
    ]);
    println!("{}", cargo::words(&command));
    if !cargo::succeeds(&mut command)? {
        bail!("build a copy with the toys");
    }
    Ok(target.join("debug/pathscope"))
}

/// What the toy view does not show of stored results.
fn faults_of_view(copy: &Path, program: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(copy.join(RESULTS)).with_context(|| format!("list {RESULTS}"))? {
        let path = entry.with_context(|| format!("list {RESULTS}"))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let [own, other] = [shown(program, &path, "toy")?, shown(program, &path, "md")?];
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

fn shown(program: &Path, result: &Path, form: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.args(["show", "--format", form]).arg(result);
    let output = command.output().with_context(|| format!("run {}", cargo::words(&command)))?;
    if !output.status.success() {
        bail!("show {} as {form}: {}", result.display(), String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("read what a view says")
}

/// The imports that no rule refuses in a toy.
fn not_refused(copy: &Path) -> Result<Vec<String>> {
    let path = format!("{}/mod.rs", VIEW.folder);
    let text = fs::read_to_string(copy.join(&path)).with_context(|| format!("read {path}"))?;
    let mut faults = Vec::new();
    for (import, rule) in FORBIDDEN {
        fs::write(copy.join(&path), format!("{text}{import}"))
            .with_context(|| format!("write {path}"))?;
        let found = tidy::violations(&Tree::read(copy)?);
        if !found.iter().any(|violation| violation.path == path && violation.rule == rule) {
            faults.push(format!("no rule `{rule}` refuses in {path}: {import}"));
        }
    }
    fs::write(copy.join(&path), text).with_context(|| format!("write {path}"))?;
    Ok(faults)
}
