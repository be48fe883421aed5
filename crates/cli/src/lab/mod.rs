//! `pathscope lab`: networks of known truth, from the command line.

mod args;
mod capture;
mod counts;
mod on_node;
pub mod presence;
mod run;
mod set;
mod show;
mod verify;

use pathscope_core::quantity::named;
use std::fs;
use std::io::{self, BufReader};
use std::path::Path;

use pathscope_core::error::Failure;
use pathscope_lab::harness::{Lab, Plan, UpError};
use pathscope_lab::keeper;
use pathscope_lab::picture;
use pathscope_lab::running::{self, Down, Registry, RunningLab, RunningLabError};
use pathscope_lab::topology::{Network, Passage, Topology};

pub use self::args::LabArgs;
use self::args::{DownArgs, LabCommand, UpArgs};

pub use self::run::verdict;
pub use self::verify::verdict as calibration_verdict;
use crate::{Trouble, terminal};

/// Does what the words say.
pub fn lab(args: LabArgs) -> Result<(), Trouble> {
    let registry = args.registry.map_or_else(Registry::of_user, Registry::at);
    match args.command {
        LabCommand::Up(args) => up(&registry, &args),
        LabCommand::Exec(args) => on_node::exec(&registry, &args),
        LabCommand::Shell(args) => on_node::shell(&registry, &args),
        LabCommand::Show(args) => show::show(&registry, &args),
        LabCommand::Set(args) => set::set(&registry, &args),
        LabCommand::Capture(args) => capture::capture(&registry, &args),
        LabCommand::Run(args) => run::run(&registry, &args),
        LabCommand::Verify(args) => verify::verify(&registry, &args),
        LabCommand::Down(args) => down(&registry, &args),
        LabCommand::Keep => keep(),
    }
}

fn up(registry: &Registry, args: &UpArgs) -> Result<(), Trouble> {
    if args.seed.is_some() && args.shaper == args::ShaperChoice::Tc {
        let text = "--seed has no effect with --shaper tc: the kernel draws its losses by itself; leave one of them out";
        return Err(Trouble::usage(text));
    }
    let network = read(&args.file)?;
    let binary = std::env::current_exe()
        .map_err(|error| Trouble::new(Failure::Internal, format!("where am I? {error}")))?;
    let name = &args.lab.clone().unwrap_or_else(|| usual_name(&network));
    check_name(name)?;
    let (network, shaper) = (&network, args.shaper.into());
    let plan = Plan { binary: &binary, registry, name, network, seed: args.seed, shaper };
    let running = Lab::up(&plan).and_then(Lab::stay).map_err(|error| not_up(name, &error))?;
    terminal::say(&format!(
        "lab {name} is up: {}; {}\ntry: pathscope lab exec {} -- ip address",
        picture::summary(&running.network),
        shaping(&running),
        running.nodes.first().map_or("NODE", |node| node.name.as_str()),
    ));
    Ok(())
}

/// Who applies the conditions of a lab's links, and what their chances are drawn from, where any link has conditions.
fn shaping(running: &RunningLab) -> String {
    let mut links = running.network.links().iter();
    if links.all(|link| link.passage == Passage::Plain) {
        return "no link is shaped".to_owned();
    }
    format!("shaped by {}, seed {}", running.shaper, running.seed)
}

/// What a lab is called where nobody says: a title may have blanks, a name that people type has none.
fn usual_name(network: &Network) -> String {
    network.name().split_whitespace().collect::<Vec<_>>().join("-")
}

/// A lab's name is that of a folder and part of what people type.
fn check_name(name: &str) -> Result<(), Trouble> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(is_fine)
        && !name.starts_with(['.', '-'])
    {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "'{name}' cannot be a lab's name: 1 to 40 letters, digits, '-', '_' and '.', not a '.' or '-' \
         at first; name it with --lab, or in the topology"
    )))
}

fn not_up(name: &str, error: &UpError) -> Trouble {
    match error {
        UpError::RunningLab(error) => trouble(error),
        _ => Trouble::new(Failure::Unsupported, format!("lab {name} is not up: {error}")),
    }
}

fn down(registry: &Registry, args: &DownArgs) -> Result<(), Trouble> {
    let given = args.lab.as_deref().or(args.name.as_deref());
    let known = registry.names().map_err(|error| trouble(&error))?;
    // A file names its lab; what is up by the name that was typed comes first.
    let name = match given {
        Some(given) if !known.iter().any(|known| known == given) && is_file(given) => {
            Some(usual_name(&read(given.as_ref())?))
        }
        given => given.map(str::to_owned),
    };
    let name = registry.find_name(name.as_deref()).map_err(|error| trouble(&error))?;
    let down = running::down(registry, &name).map_err(|error| trouble(&error))?;
    terminal::say(&match down {
        Down::ByKeeper => format!("lab {name} is down"),
        Down::Lingers => format!(
            "lab {name} is down and its name is free; the kernel is still clearing up after its keeper"
        ),
        Down::Cleared => {
            format!("lab {name} had lost its keeper; what was left of it is cleared")
        }
        Down::Forgotten => format!(
            "lab {name} had lost its keeper and has no description that can be read; its name is free, \
             and programs that may be left on its nodes run on"
        ),
    });
    Ok(())
}

fn is_file(typed: &str) -> bool {
    let path = Path::new(typed);
    path.extension().is_some_and(|extension| extension == "toml")
        || typed.contains('/')
        || path.is_file()
}

fn keep() -> Result<(), Trouble> {
    keeper::keep(BufReader::new(io::stdin()), io::stdout())
        .map_err(|error| Trouble::new(Failure::Unsupported, error.to_string()))
}

/// `-` is no file here: standard output has something else on it, or cannot be cut to whole packets.
fn refuse_standard_output(what: &str, path: &Path) -> Result<(), Trouble> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "'lab {what}' does not write to standard output; name a file, or ./- for one of that name"
    )))
}

/// A topology from its file.
fn read(file: &Path) -> Result<Network, Trouble> {
    let text = fs::read_to_string(file)
        .map_err(|error| Trouble::usage(format!("cannot read {}: {error}", named(file))))?;
    Topology::read(&named(file), &text).network().map_err(Trouble::usage)
}

/// The lab that is meant.
fn find(registry: &Registry, which: &args::WhichArgs) -> Result<RunningLab, Trouble> {
    registry.find(which.lab.as_deref()).map_err(|error| trouble(&error))
}

fn trouble(error: &RunningLabError) -> Trouble {
    let failure = match error {
        RunningLabError::NoSuchLab { .. }
        | RunningLabError::WhichLab { .. }
        | RunningLabError::NoLab
        | RunningLabError::NameInUse { .. }
        | RunningLabError::Unfinished { .. }
        | RunningLabError::BeingBuilt { .. }
        | RunningLabError::NoSuchNode { .. }
        | RunningLabError::Refused(_) => Failure::Usage,
        RunningLabError::Keeper { .. }
        | RunningLabError::Stubborn { .. }
        | RunningLabError::File { .. }
        | RunningLabError::Os(_) => Failure::Unsupported,
    };
    Trouble::new(failure, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_with_blanks_makes_a_name_without() {
        let text = "name = ' two  hosts'\nhosts = ['a', 'b']\nlinks.'a:b' = {}";
        let network = Topology::read("x.toml", text).network().expect("a topology");
        assert_eq!(usual_name(&network), "two-hosts");
        assert!(check_name(&usual_name(&network)).is_ok());
    }

    #[test]
    fn names_that_are_paths_or_options_are_refused() {
        for name in ["", "..", "a/b", "--lab", "a b", "é", &"a".repeat(41)] {
            let trouble = check_name(name).expect_err(name);
            assert!(trouble.text.contains("cannot be a lab's name"), "{}", trouble.text);
        }
        assert!(check_name(&"a".repeat(40)).is_ok());
    }
}
