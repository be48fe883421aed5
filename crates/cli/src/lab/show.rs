//! `pathscope lab show`: what a topology describes, or what a lab that is up does and did.

use pathscope_core::quantity::named;
use std::fs;
use std::io::{self, Write};

use pathscope_core::error::Failure;
use pathscope_lab::harness;
use pathscope_lab::picture;
use pathscope_lab::relay::RelayAccount;
use pathscope_lab::running::{Registry, RunningLab, Shaper};
use pathscope_lab::topology::Network;

use super::args::ShowArgs;
use super::counts;
use crate::{Trouble, files, terminal};

/// Shows a topology, or a lab that is up.
pub fn show(registry: &Registry, args: &ShowArgs) -> Result<(), Trouble> {
    if let Some(path) = &args.svg {
        super::refuse_standard_output("show --svg", path)?;
    }
    if args.file.is_some() {
        let typed = [("--lab", args.which.lab.is_some()), ("--verbose", args.verbose)];
        if let Some((option, _)) = typed.into_iter().find(|&(_, is_typed)| is_typed) {
            return Err(Trouble::usage(format!(
                "{option} has no effect beside FILE: it is for a lab that is up; leave one of them out"
            )));
        }
    }
    if args.json && args.verbose {
        let text = "--verbose has no effect with --json, which holds everything; leave it out";
        return Err(Trouble::usage(text));
    }
    if let Some(file) = &args.file {
        files::must_keep(&[file], &[("--svg", args.svg.as_deref())])?;
    }
    let (network, text) = if let Some(file) = &args.file {
        let network = super::read(file)?;
        let text = if args.json { json(&network, None)? } else { picture::text(&network) };
        (network, text)
    } else {
        let running = super::find(registry, &args.which)?;
        let account =
            harness::account(registry, &running).map_err(|error| super::trouble(&error))?;
        let text = if args.json {
            json(&running.network, Some(&account))?
        } else {
            lab(&running, &account, args.verbose)
        };
        (running.network, text)
    };
    if let Some(path) = &args.svg {
        fs::write(path, picture::svg(&network)).map_err(|error| {
            Trouble::new(Failure::Output, format!("cannot write {}: {error}", named(path)))
        })?;
    }
    // JSON is UTF-8, whatever the reader's locale is.
    let text = if args.json { text } else { terminal::shown(&text).into_owned() };
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble::new(Failure::Output, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// What people look for in a lab that is up comes first: its links as they are now, and what they did.
/// Addresses and routes follow where they are asked for.
fn lab(running: &RunningLab, account: &RelayAccount, verbose: bool) -> String {
    let network = &running.network;
    let mut text = format!(
        "{}: {}\nup, {}, keeper process {}\n",
        running.name,
        picture::summary(network),
        super::shaping(running),
        running.keeper
    );
    text.push_str(&match running.shaper {
        Shaper::Relay => counts::text(account),
        Shaper::Tc => NO_LEDGER.to_owned(),
    });
    if verbose {
        text.push_str("\nas it was put up\n\n");
        text.push_str(&picture::text(network));
    }
    text
}

/// What tc leaves unsaid.
const NO_LEDGER: &str =
    "tc keeps no ledger; what a node sent and dropped: pathscope lab exec NODE -- tc -s qdisc\n";

fn json(network: &Network, account: Option<&RelayAccount>) -> Result<String, Trouble> {
    let mut value = serde_json::json!({ "network": network });
    if let Some(account) = account {
        value["relay"] = serde_json::json!(account);
        value["shortcomings"] = serde_json::json!(account.shortcomings());
    }
    serde_json::to_string_pretty(&value)
        .map(|text| text + "\n")
        .map_err(|error| Trouble::new(Failure::Internal, error.to_string()))
}
