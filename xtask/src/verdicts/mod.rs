//! Whether verdicts are right: known causes brought about on a lab, one after the other, in cells of congestion control, rate, delay
//! and connections; and in the same minute the same without the cause.
//!
//! A cause is true where goodput without it is higher by a fifth. Which verdict it must give then, and which else, stands in a
//! table ([`cause`]) before anything is measured. `undetermined` is not right, and what is sure must not be wrong.

mod cause;
mod cell;
mod others;
mod outcome;
mod publish;
mod quota;
mod stage;
mod tally;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use pathscope_core::quantity::ratio;
use pathscope_os::sockets;

use crate::console::say;
use cause::{CAUSES, Line};
use cell::Cell;
use outcome::Outcome;
use stage::Stage;
use tally::Tally;

/// Which causes, and in how many cells.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Only these causes: `window`, `loss`
    #[arg(long, value_name = "CAUSE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Every cell there is, and not only so few that every two values meet
    #[arg(long)]
    pub full: bool,
    /// Only the cells far away, of 580 ms there and back
    #[arg(long, conflicts_with = "full")]
    pub far: bool,
    /// Write docs/verdicts.md, which takes all causes and cells
    #[arg(long, conflicts_with_all = ["only", "far"])]
    pub publish: bool,
    /// What the link's chances are drawn from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write each cell, with the documents of its runs, to a file in this folder
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// Measure nothing: judge what is kept in this folder again, by the rules as they are now
    #[arg(long, value_name = "FOLDER", conflicts_with = "keep")]
    pub again: Option<PathBuf>,
    /// The binary that measures
    #[arg(long, default_value = "target/release/pathscope")]
    pub pathscope: PathBuf,
}

/// What came of a grid.
#[derive(Debug, Default)]
pub struct Grid {
    pub outcomes: Vec<Outcome>,
    /// Causes that could not be brought about, and why.
    pub skipped: Vec<(&'static Line, String)>,
    /// Cells that could not be measured, and why.
    pub unmeasured: Vec<String>,
}

/// Measures, prints a row for each cell and each cause, and answers whether enough verdicts were right and none sure and wrong.
pub fn run(root: &Path, arguments: &Arguments) -> Result<bool> {
    let lines: Vec<&'static Line> = if arguments.only.is_empty() {
        CAUSES.iter().collect()
    } else {
        arguments.only.iter().map(|name| Line::named(name)).collect::<Result<_>>()?
    };
    let pathscope = root.join(&arguments.pathscope);
    let grid = match &arguments.again {
        Some(folder) => kept(folder, &lines)?,
        None => measure(&pathscope, &lines, arguments)?,
    };
    tell(&grid, &lines)?;
    if arguments.publish {
        publish::write(root, &pathscope, &grid, arguments)?;
    }
    Ok(grid.unmeasured.is_empty()
        && Tally::of(&grid.outcomes).holds()
        && without(&grid.outcomes).sure_and_wrong == 0)
}

fn measure(pathscope: &Path, lines: &[&'static Line], arguments: &Arguments) -> Result<Grid> {
    ensure!(
        pathscope.is_file(),
        "find {}: build it with `cargo build --release --package pathscope`, or name it with --pathscope",
        pathscope.display()
    );
    let stage = Stage::up(pathscope, arguments.seed)?;
    let controls = sockets::congestion_controls();
    let mut grid = Grid::default();
    for (number, &line) in lines.iter().enumerate() {
        if let Some(why) = stage.lacks(line.cause) {
            say(format!("{}: skipped, because {why}", line.name))?;
            grid.skipped.push((line, why));
            continue;
        }
        let mut cells = if arguments.far { Vec::new() } else { Cell::all(arguments.full, number) };
        cells.extend(
            line.cause.is_of_round_trips().then(|| Cell::far(number)).into_iter().flatten(),
        );
        for (index, cell) in cells.into_iter().enumerate() {
            if !controls
                .as_ref()
                .is_none_or(|it| it.split_whitespace().any(|it| it == cell.control))
            {
                say(format!(
                    "{}, {cell}: skipped, because this kernel has it not at hand",
                    line.name
                ))?;
                continue;
            }
            // Whoever comes first finds another machine than who comes second.
            let is_reversed = (number + index / 2) % 2 == 1;
            let measured = || {
                stage::await_rest();
                let outcome = outcome::measure(&stage, line, &cell, is_reversed);
                outcome.with_context(|| format!("measure {}, {cell}", line.name))
            };
            let mut outcome = measured();
            let again = match &outcome {
                Ok(outcome) => outcome.spoilt.clone(),
                Err(error) => Some(format!("{error:#}")),
            };
            if let Some(why) = again {
                say(format!("once more, because {why}: {}, {cell}", line.name))?;
                outcome = measured();
            }
            // One cell costs no other: a grid takes an hour.
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(error) => {
                    say(format!("failed to {error:#}"))?;
                    grid.unmeasured.push(format!("{}, {cell}: {error:#}", line.name));
                    continue;
                }
            };
            say(outcome.words())?;
            if let Some(folder) = &arguments.keep {
                keep(folder, index, &outcome)?;
            }
            grid.outcomes.push(outcome);
        }
    }
    Ok(grid)
}

fn keep(folder: &Path, index: usize, outcome: &Outcome) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    let path = folder.join(format!("{}-{index:02}.json", outcome.cause));
    let text = serde_json::to_string_pretty(outcome).context("keep a cell")?;
    fs::write(&path, text).with_context(|| format!("write {}", path.display()))
}

/// What is kept in a folder, judged again.
fn kept(folder: &Path, lines: &[&'static Line]) -> Result<Grid> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.context("read a folder")?.path());
    }
    paths.sort();
    let mut outcomes = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let mut outcome: Outcome =
            serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        if lines.iter().any(|line| line.name == outcome.cause) {
            outcome.judge_again().with_context(|| format!("judge {}", path.display()))?;
            say(outcome.words())?;
            outcomes.push(outcome);
        }
    }
    Ok(Grid { outcomes, ..Grid::default() })
}

fn tell(grid: &Grid, lines: &[&'static Line]) -> Result<()> {
    say(format!(
        "\n{:20} {:>5} {:>5} {:>6} {:>5} {:>10} {:>6}  said",
        "cause", "cells", "true", "right", "sure", "sure+wrong", "spoilt"
    ))?;
    let row = |name: &str, tally: &Tally| {
        format!(
            "{name:20} {:5} {:5} {:6} {:5} {:10} {:6}  {}",
            tally.cells,
            tally.caused,
            tally.right,
            tally.sure,
            tally.sure_and_wrong,
            tally.spoilt,
            tally.said_in_words()
        )
    };
    for line in lines {
        let of_line = grid.outcomes.iter().filter(|outcome| outcome.cause == line.name);
        say(row(line.name, &Tally::of(of_line)))?;
    }
    let all = Tally::of(&grid.outcomes);
    say(row("all", &all))?;
    for outcome in grid.outcomes.iter().filter(|it| it.spoilt.is_none() && !it.is_right()) {
        say(format!("\n{}\n  {}", outcome.words(), outcome.evidence()))?;
    }
    say(format!("\nright: {} of {} cells", ratio(all.right_share()), all.cells))?;
    let without = without(&grid.outcomes);
    say(format!(
        "with the cause removed: {} of {} said network; sure and wrong: {}",
        without.right, without.cells, without.sure_and_wrong
    ))
}

/// The runs with the cause removed, of which the link is the narrowest thing.
pub fn without(outcomes: &[Outcome]) -> Tally {
    let mut tally = Tally::default();
    for outcome in outcomes.iter().filter(|outcome| outcome.spoilt.is_none()) {
        let is_right = outcome.said_without() == cause::EXPECTED_ELSE;
        tally.cells += 1;
        tally.right += usize::from(is_right);
        tally.sure += usize::from(outcome.is_sure_without());
        tally.sure_and_wrong += usize::from(outcome.is_sure_without() && !is_right);
        *tally.said.entry(outcome::name(outcome.said_without())).or_default() += 1;
    }
    tally
}
