//! What the tests need of the machine beyond Rust, and how it gets there on a fresh Debian.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::outcome::Outcome;
use crate::cargo;

/// A program that tests call, and the package that holds it.
type Program = (&'static str, &'static str);

/// Those of all tests.
const NEEDED: &[Program] = &[
    ("chromium", "chromium"),
    ("ip", "iproute2"),
    ("iperf3", "iperf3"),
    ("kill", "procps"),
    ("nft", "nftables"),
    ("ping", "iputils-ping"),
    ("python3", "python3-venv"),
    ("taskset", "util-linux"),
];

/// Where programs are looked for, beyond `PATH`: a user's often lacks these.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// What opens files of samples, in a Python of its own, by its folder from the root of the workspace: tests look there.
const ANALYSIS: &str = "target/analysis";
/// What that Python has, and what it imports of it.
const ANALYSIS_PACKAGES: Packages = Packages { names: &["duckdb==2.0.1"], modules: "duckdb" };

/// More programs that tests call, and more packages of that Python: so large that they are asked for.
const LARGE: &[Program] = &[("soffice", "libreoffice-calc")];
const LARGE_PACKAGES: Packages = Packages {
    names: &["pandas==3.1.1", "matplotlib==3.11.2", "pyarrow==26.0.1"],
    modules: "pandas, matplotlib, pyarrow",
};

/// Packages of Python.
struct Packages {
    names: &'static [&'static str],
    modules: &'static str,
}

/// Installs what is missing, or says what to install.
pub fn provide(root: &Path) -> Result<Outcome> {
    provide_both(root, NEEDED, &ANALYSIS_PACKAGES)
}

/// The same of what is large.
pub fn provide_large(root: &Path) -> Result<Outcome> {
    provide_both(root, LARGE, &LARGE_PACKAGES)
}

fn provide_both(root: &Path, programs: &[Program], packages: &Packages) -> Result<Outcome> {
    match provide_programs(programs)? {
        Outcome::Passed => provide_analysis(root, packages),
        other => Ok(other),
    }
}

/// A Python with what opens files of samples. Where none can be had, the tests that need it say so.
fn provide_analysis(root: &Path, packages: &Packages) -> Result<Outcome> {
    let folder = root.join(ANALYSIS);
    let python = folder.join("bin/python");
    let is_there = || {
        Command::new(&python)
            .args(["-c", &format!("import {}", packages.modules)])
            .output()
            .is_ok_and(|it| it.status.success())
    };
    if is_there() {
        println!("all there: {}", packages.names.join(", "));
        return Ok(Outcome::Passed);
    }
    println!("installing {} in {ANALYSIS}", packages.names.join(" "));
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(packages.names);
    for command in [&mut venv, &mut install] {
        if !cargo::succeeds(command)? {
            let why = format!("{} does not run here", cargo::words(command));
            return Ok(Outcome::Skipped(why));
        }
    }
    if is_there() {
        Ok(Outcome::Passed)
    } else {
        bail!("import {} after installing it", packages.modules)
    }
}

fn provide_programs(programs: &[Program]) -> Result<Outcome> {
    let missing = missing_packages(programs);
    if missing.is_empty() {
        let names: Vec<&str> = programs.iter().map(|(program, _)| *program).collect();
        println!("all there: {}", names.join(", "));
        return Ok(Outcome::Passed);
    }
    let packages = missing.join(" ");
    if !is_root() || find_program("apt-get").is_none() {
        let why =
            format!("{packages} cannot be installed from here; run: apt-get install {packages}");
        return Ok(Outcome::Skipped(why));
    }
    install(&missing)?;
    match missing_packages(programs) {
        still if still.is_empty() => Ok(Outcome::Passed),
        still => bail!("find the programs of {} after installing them", still.join(" ")),
    }
}

fn missing_packages(programs: &[Program]) -> Vec<&'static str> {
    let missing = programs.iter().filter(|(program, _)| find_program(program).is_none());
    missing.map(|(_, package)| *package).collect()
}

fn install(packages: &[&str]) -> Result<()> {
    println!("installing {} with apt-get", packages.join(" "));
    let mut update = apt_get();
    let mut install = apt_get();
    update.arg("update");
    install.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    for command in [&mut update, &mut install] {
        if !cargo::succeeds(command)? {
            bail!("run {}", cargo::words(command));
        }
    }
    Ok(())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.arg("--quiet").env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Whether this process may install: who owns its entry in `/proc` is who it runs as.
#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|entry| entry.uid() == 0)
}

/// Where there is no `apt-get`, nobody is asked.
#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Where a program is, if it is.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}
