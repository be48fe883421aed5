//! The steps of the check, in their order: what fails fast comes first.

use std::path::Path;

use anyhow::Result;

use super::outcome::Outcome;
use super::{machine, suite};
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
}

/// All of them.
pub const STEPS: &[Step] = &[
    Step { name: "machine", purpose: "what the tests need is installed", run: machine::provide },
    Step { name: "format", purpose: "sources are laid out by rustfmt", run: format },
    Step {
        name: "tidy",
        purpose: "sources keep the rules that no compiler checks",
        run: tidy_rules,
    },
    Step { name: "purity", purpose: "pure rooms leave the world alone", run: pure_rooms },
    Step { name: "clippy", purpose: "no lint fires in any target", run: clippy },
    Step {
        name: "other",
        purpose: "platform rooms build where no system is supported",
        run: other,
    },
    Step {
        name: "schema",
        purpose: "the committed schema is what the types say",
        run: schema_drift,
    },
    Step {
        name: "figures",
        purpose: "the page of all figures is what the modes say",
        run: figures_drift,
    },
    Step {
        name: "settings",
        purpose: "the page of all settings is what the plans say",
        run: settings_drift,
    },
    Step {
        name: "findings",
        purpose: "the page of all checks and caveats is what the rooms say",
        run: findings_drift,
    },
    Step {
        name: "toys",
        purpose: "a new mode and a new view are a folder and its lines each",
        run: added_toys,
    },
    Step { name: "doc", purpose: "the documentation builds without a warning", run: doc },
    Step { name: "tests", purpose: "all tests, those in the documentation too", run: suite::run },
    Step {
        name: "attack",
        purpose: "changed recordings of sessions break neither end, in 30 s of them",
        run: mutations,
    },
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
    Ok(Outcome::of(attack::mutations_for_the_check(root)?))
}

fn run_cargo(root: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Result<Outcome> {
    let mut command = cargo::cargo(root);
    command.args(arguments).envs(settings.iter().copied());
    println!("{}", cargo::words(&command));
    Ok(Outcome::of(cargo::succeeds(&mut command)?))
}
