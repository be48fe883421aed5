//! What a published figure was measured on, in words: the machine and the binary.

use std::fs;
use std::path::Path;

use pathscope_core::quantity;

/// The machine, the commit and the binary's length.
pub fn words(root: &Path, pathscope: &Path) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let facts = read("/proc/cpuinfo");
    let model = facts.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model
        .map_or("a processor without a name", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = read("/proc/meminfo");
    let memory = memory.lines().next().unwrap_or_default();
    let memory = memory.trim_start_matches("MemTotal:").trim();
    let mut git = std::process::Command::new("git");
    let commit = git.args(["rev-parse", "--short", "HEAD"]).current_dir(root).output();
    let commit = commit.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    let length = fs::metadata(pathscope).map_or(0, |file| file.len());
    format!(
        "{model}, {processors} processors, {memory}, Linux {}; commit {commit}, a binary of {}.",
        read("/proc/sys/kernel/osrelease"),
        quantity::bytes(length)
    )
}
