//! The commands that people and CI run, as `cargo xtask …`: the same ones for both.
//!
//! Not part of the instrument: nothing here is shipped. `check` is all that CI runs; the others are
//! its steps and what a release needs. What a room may import, call or depend on stands in one table,
//! [`rooms`]; the rules that hold the sources to it are in [`tidy`] and [`purity`].

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a task's output is what it is run for")]

mod attack;
mod bench;
mod cargo;
mod check;
mod committed;
mod console;
mod dist;
mod ends;
mod figures;
mod findings;
mod folder;
mod lines;
mod machine;
mod modules;
mod purity;
mod rooms;
mod schema;
mod sessions;
mod settings;
mod source;
mod tidy;
mod toys;
mod tree;
mod verdicts;
mod violation;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Tasks of the pathscope workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// All that CI runs: formatting, lints, rules, schema, documentation, tests
    Check(check::Arguments),
    /// Rules about sources that no compiler checks
    Tidy,
    /// That a view is a folder and its line: a toy, added to a copy of the tree, built and run
    Toys,
    /// That the pure rooms are pure: their dependencies and what they call
    Purity,
    /// How many lines of code each room has, tests and comments apart
    Lines(lines::Arguments),
    /// Write the JSON Schema of the document that a run ends with
    Schema(committed::Arguments),
    /// Write the page of all checks and caveats
    Findings(committed::Arguments),
    /// Write the page of all figures of all modes
    Figures(committed::Arguments),
    /// Write the page of all settings of all modes
    Settings(committed::Arguments),
    /// Build the static release binary and prove that it is static
    Dist(dist::Arguments),
    /// Compare our speed with a bare loop's and other tools', in alternating pairs over loopback
    Bench(bench::Arguments),
    /// Set strangers who mean harm upon a server, and a server upon its client, and hold both to their bounds
    Attack(attack::Arguments),
    /// Bring known causes about on a lab, and hold what verdicts say to what they do to goodput
    Verdicts(verdicts::Arguments),
    /// One end of a bare loop, for `bench`
    #[command(hide = true)]
    BareLoop {
        #[command(subcommand)]
        end: bench::Loop,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            console::complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Whether the task found everything in order.
fn run(task: &Task) -> Result<bool> {
    let root = workspace_root();
    match task {
        Task::Check(arguments) => check::run(&root, arguments),
        Task::Tidy => Ok(violation::report(&tidy::violations(&tree::Tree::read(&root)?))),
        Task::Toys => toys::run(&root),
        Task::Purity => Ok(violation::report(&purity::violations(&root)?)),
        Task::Lines(arguments) => lines::run(&root, arguments).map(|()| true),
        Task::Schema(arguments) => schema::run(&root, *arguments),
        Task::Findings(arguments) => findings::run(&root, *arguments),
        Task::Figures(arguments) => figures::run(&root, *arguments),
        Task::Settings(arguments) => settings::run(&root, *arguments),
        Task::Dist(arguments) => dist::run(&root, arguments).map(|()| true),
        Task::Bench(arguments) => bench::run(&root, arguments),
        Task::Attack(arguments) => attack::run(&root, arguments),
        Task::Verdicts(arguments) => verdicts::run(&root, arguments),
        Task::BareLoop { end } => bench::play(end).map(|()| true),
    }
}

/// Where the workspace is: this crate's folder stands in its root.
fn workspace_root() -> PathBuf {
    // Cargo tells the folder when it runs us; without it, where we were built is the best guess.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or(own.clone(), PathBuf::from)
}
