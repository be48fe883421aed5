//! That adding a view, a mode, a peer or an engine is what people are told it is: to a copy of the tree toys of each are added, a
//! folder and its lines, and the copy is built and run. What a toy may not import is refused there, too.

mod engine;
mod mode;
mod peer;
mod server;
mod toy;
mod view;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::rooms::ROOMS;
use crate::tidy;
use crate::tree::Tree;
use crate::{cargo, violation};
use toy::Toy;

/// All toys.
const TOYS: [&Toy; 5] = [&view::VIEW, &mode::MODE, &peer::COOKIE, &peer::WELCOME, &engine::ENGINE];

/// The programs of a copy.
struct Built {
    /// Its root.
    copy: PathBuf,
    /// Where its programs are.
    target: PathBuf,
    /// Where everything else is that is built: libraries of others are those of the tree that it is a copy of.
    shared: PathBuf,
    /// `pathscope`.
    program: PathBuf,
    /// These tasks.
    tasks: PathBuf,
}

impl Built {
    /// A command of cargo's in the copy. Its rooms are built as quickly as can be, but for those that are to be as they are for
    /// other tests, since time matters there. Each names the whole workspace: for a part of it, other features would hold, and
    /// rooms be built once more.
    fn cargo(&self, name: &str) -> Result<Command> {
        let mut profile = String::new();
        for room in ROOMS.iter().filter(|room| self.copy.join(room.folder()).is_dir()) {
            let level = u8::from(engine::OPTIMISED.contains(&room.name));
            let package = room.package();
            writeln!(
                profile,
                "[profile.dev.package.{package}]\nopt-level = {level}\ndebug = false"
            )?;
        }
        let file = self.target.with_extension("toml");
        fs::write(&file, profile).with_context(|| format!("write {}", file.display()))?;
        let mut command = cargo::cargo(&self.copy);
        command.args([name, "--workspace", "--locked"]).arg("--target-dir").arg(&self.target);
        command.arg("--config").arg(file);
        // One that is too old to know this builds all libraries anew.
        command.env("CARGO_BUILD_BUILD_DIR", &self.shared).env("CARGO_INCREMENTAL", "0");
        Ok(command)
    }

    /// One of its tasks, told by the variable that cargo would set where its tree is.
    fn task(&self, name: &str) -> Command {
        let mut command = Command::new(&self.tasks);
        command.arg(name).env("CARGO_MANIFEST_DIR", self.copy.join("xtask"));
        command
    }
}

/// Adds the toys to a copy below `target`, and answers whether they are all that they need to be.
pub fn run(root: &Path) -> Result<bool> {
    let copy = root.join("target/toys/tree");
    copy_tree(root, &copy)?;
    let before = Tree::read(&copy)?;
    let known = tidy::violations(&before);
    TOYS.iter().try_for_each(|toy| toy.add(&copy))?;
    let built = build(root, copy)?;
    let after = Tree::read(&built.copy)?;
    let mut faults = toy::differences(&TOYS, &before, &after)?;
    let mut new = tidy::violations(&after);
    new.retain(|violation| !known.contains(violation));
    violation::report(&new);
    faults.extend((!new.is_empty()).then(|| "a toy breaks rules of tidy".to_owned()));
    faults.extend(view::faults(&built)?);
    faults.extend(mode::faults(&built)?);
    faults.extend(peer::faults(&built)?);
    faults.extend(engine::faults(&built)?);
    for toy in TOYS {
        faults.extend(not_refused(&built.copy, toy)?);
    }
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

/// Builds the programs of the copy, and the tests that the toys are held to.
fn build(root: &Path, copy: PathBuf) -> Result<Built> {
    let (target, shared) = (root.join("target/toys/target"), root.join("target"));
    let [program, tasks] = ["pathscope", "xtask"].map(|name| target.join("debug").join(name));
    let built = Built { copy, target, shared, program, tasks };
    let mut command = built.cargo("build")?;
    command.args(["--bins", "--test", engine::TEST, "--test", peer::TEST]);
    println!("{}", cargo::words(&command));
    if !cargo::succeeds(&mut command)? {
        bail!("build a copy with the toys");
    }
    Ok(built)
}

/// The imports that no rule refuses in a toy.
fn not_refused(copy: &Path, toy: &Toy) -> Result<Vec<String>> {
    let path = format!("{}/mod.rs", toy.folder);
    let text = fs::read_to_string(copy.join(&path)).with_context(|| format!("read {path}"))?;
    let mut faults = Vec::new();
    for (import, rule) in toy.forbidden {
        fs::write(copy.join(&path), format!("{text}{import}"))
            .with_context(|| format!("write {path}"))?;
        let found = tidy::violations(&Tree::read(copy)?);
        if !found.iter().any(|violation| violation.path == path && violation.rule == *rule) {
            faults.push(format!("no rule `{rule}` refuses in {path}: {import}"));
        }
    }
    fs::write(copy.join(&path), text).with_context(|| format!("write {path}"))?;
    Ok(faults)
}

/// All that a program wrote, and whether it did what it should.
fn said(command: &mut Command) -> Result<(bool, String)> {
    let output = command.output().with_context(|| format!("run {}", cargo::words(command)))?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}
