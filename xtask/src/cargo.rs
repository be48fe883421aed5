//! Calls to cargo and other programs, from the root of the workspace.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// Cargo, the same that runs this task.
pub fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// What cargo knows of the workspace's packages and what they depend on, on this platform.
pub fn metadata(root: &Path) -> Result<Value> {
    let mut command = cargo(root);
    command.args(["metadata", "--format-version=1", "--filter-platform", &host_target()?]);
    let output = command.stderr(Stdio::inherit()).output().context("run cargo metadata")?;
    if !output.status.success() {
        bail!("read what cargo metadata says: it ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("read what cargo metadata says")
}

/// The target triple of this machine: `x86_64-unknown-linux-gnu`.
pub fn host_target() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("run rustc -vV")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("find the host's target in what rustc -vV says")
}

/// Builds all programs of the workspace, and nothing anew that its tests have built: for a part of it, other features of what it
/// depends on would hold.
pub fn build_programs(root: &Path) -> Result<()> {
    let mut build = cargo(root);
    build.args(["build", "--workspace", "--bins", "--tests", "--quiet"]);
    ensure!(succeeds(&mut build)?, "build what the tests run: {}", words(&build));
    Ok(())
}

/// Whether the command could be run and succeeded. Its output goes where ours goes.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.status().with_context(|| format!("run {}", words(command)))?;
    Ok(status.success())
}

/// The command as one would type it.
pub fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
