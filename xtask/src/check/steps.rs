//! The steps of the check, in their order: what fails fast comes first.

use std::path::Path;

use anyhow::Result;

use super::outcome::Outcome;
use super::{features, machine, suite};
use crate::rooms::{Nature, ROOMS};
use crate::tree::Tree;
use crate::{
    attack, cargo, committed, figures, findings, purity, schema, settings, tidy, toys, violation,
};

/// One step.
pub struct Step {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What it makes sure of.
    pub purpose: &'static str,
    /// Does it.
    pub run: fn(&Path) -> Result<Outcome>,
    /// Whether it is left out unless it is asked for: what it needs is large.
    pub is_long: bool,
}

impl Step {
    const fn new(
        name: &'static str,
        purpose: &'static str,
        run: fn(&Path) -> Result<Outcome>,
    ) -> Self {
        Self { name, purpose, run, is_long: false }
    }
}

/// All of them.
pub const STEPS: &[Step] = &[
    Step::new("machine", "what the tests need is installed", machine::provide),
    Step {
        is_long: true,
        ..Step::new("programs", "what opens files of samples is installed", machine::provide_large)
    },
    Step::new("format", "sources are laid out by rustfmt", format),
    Step::new("tidy", "sources keep the rules that no compiler checks", tidy_rules),
    Step::new("purity", "pure rooms leave the world alone", pure_rooms),
    Step::new(
        "features",
        "these tasks are built of what the tests are built of",
        features::are_those_of_tests,
    ),
    Step::new("clippy", "no lint fires in any target", clippy),
    Step::new("other", "platform rooms build where no system is supported", other),
    Step::new("schema", "the committed schema is what the types say", schema_drift),
    Step::new("figures", "the page of all figures is what the modes say", figures_drift),
    Step::new("settings", "the page of all settings is what the plans say", settings_drift),
    Step::new(
        "findings",
        "the page of all checks and caveats is what the rooms say",
        findings_drift,
    ),
    Step::new("toys", "a new mode, view, peer or engine is a folder and its lines", added_toys),
    Step::new("doc", "the documentation builds without a warning", doc),
    Step::new("tests", "all tests, those in the documentation too", suite::run),
    Step::new(
        "attack",
        "changed recordings of sessions break neither end, in 30 s of them",
        mutations,
    ),
    Step::new("sessions", "500 clients at once of one server are all served", sessions),
];

fn format(root: &Path) -> Result<Outcome> {
    run_cargo(root, &["fmt", "--all", "--check"], &[])
}

fn tidy_rules(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(violation::report(&tidy::violations(&Tree::read(root)?))))
}

fn pure_rooms(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(violation::report(&purity::violations(root)?)))
}

fn clippy(root: &Path) -> Result<Outcome> {
    run_cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
}

/// An arm that nobody builds rots, so it is built; in a folder of its own, since another flag builds
/// everything anew.
fn other(root: &Path) -> Result<Outcome> {
    let platform = ROOMS.iter().filter(|room| matches!(room.nature, Nature::Platform));
    let existing = platform.filter(|room| root.join(room.folder()).join("Cargo.toml").is_file());
    let packages: Vec<String> =
        existing.flat_map(|room| ["--package".to_owned(), room.package()]).collect();
    if packages.is_empty() {
        return Ok(Outcome::Skipped("no room calls the system yet".to_owned()));
    }
    let mut arguments = vec!["check", "--target-dir", "target/other"];
    arguments.extend(packages.iter().map(String::as_str));
    run_cargo(root, &arguments, &[("RUSTFLAGS", "--cfg pathscope_other")])
}

fn schema_drift(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(schema::run(root, committed::Arguments { check: true })?))
}

fn figures_drift(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(figures::run(root, committed::Arguments { check: true })?))
}

fn settings_drift(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(settings::run(root, committed::Arguments { check: true })?))
}

fn findings_drift(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(findings::run(root, committed::Arguments { check: true })?))
}

fn added_toys(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(toys::run(root)?))
}

fn doc(root: &Path) -> Result<Outcome> {
    run_cargo(root, &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])
}

fn mutations(root: &Path) -> Result<Outcome> {
    let (told, in_order) = attack::mutations_for_the_check(root)?;
    Ok(if in_order { Outcome::Passed } else { Outcome::failed(&format!("hold: {told}")) })
}

fn sessions(root: &Path) -> Result<Outcome> {
    Ok(Outcome::of(crate::sessions::for_the_check(root)?))
}

fn run_cargo(root: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Result<Outcome> {
    let mut command = cargo::cargo(root);
    command.args(arguments).envs(settings.iter().copied());
    println!("{}", cargo::words(&command));
    Ok(Outcome::of(cargo::succeeds(&mut command)?))
}
