//! `pathscope lab show`: what a topology describes, or what a lab that is up did.

use std::fs;
use std::io::{self, Write};

use pathscope_core::error::Failure;
use pathscope_core::quantity;
use pathscope_lab::harness;
use pathscope_lab::picture;
use pathscope_lab::relay::{DirectionAccount, RelayAccount, Shortcoming};
use pathscope_lab::standing::Registry;
use pathscope_lab::topology::Network;

use super::args::ShowArgs;
use crate::Trouble;

/// Shows a topology, and of a lab that is up what its links did.
pub fn show(registry: &Registry, args: &ShowArgs) -> Result<(), Trouble> {
    let (network, account) = match &args.file {
        Some(file) => (super::read(file)?, None),
        None => {
            let standing = super::find(registry, &args.which)?;
            let account =
                harness::account(registry, &standing).map_err(|error| super::trouble(&error))?;
            (standing.network, Some(account))
        }
    };
    if let Some(path) = &args.svg {
        fs::write(path, picture::svg(&network)).map_err(|error| {
            Trouble::new(Failure::Output, format!("cannot write {}: {error}", path.display()))
        })?;
    }
    let text = if args.json {
        json(&network, account.as_ref())?
    } else {
        let counts = account.as_ref().map_or_else(String::new, counts);
        format!("{}{counts}", picture::text(&network))
    };
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble::new(Failure::Output, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

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

/// What each direction did to packets, a row each.
fn counts(account: &RelayAccount) -> String {
    let mut text = String::from(
        "\npackets so far\n  from     to        offered delivered  dropped     lost    cut   dup  \
         corr  reord\n",
    );
    for link in &account.links {
        for direction in [&link.forward, &link.backward] {
            text.push_str(&row(direction));
        }
    }
    text.push_str(&punctuality(account));
    for shortcoming in account.shortcomings() {
        text.push_str(&sentence(&shortcoming));
    }
    text
}

fn row(direction: &DirectionAccount) -> String {
    let counts = &direction.truth.total;
    format!(
        "  {:<8} {:<8} {:>8} {:>9} {:>8} {:>8} {:>6} {:>5} {:>5} {:>6}{}\n",
        direction.from,
        direction.to,
        counts.offered.frames,
        counts.delivered.frames,
        counts.dropped.frames,
        counts.lost.frames,
        counts.cut.frames,
        counts.duplicated.frames,
        counts.corrupted.frames,
        counts.reordered.frames,
        if direction.is_cut { "  is cut" } else { "" },
    )
}

fn punctuality(account: &RelayAccount) -> String {
    let links = account.links.iter();
    let directions = links.flat_map(|link| [&link.forward, &link.backward]);
    let worst = directions.filter_map(DirectionAccount::lateness_p99_ns).max();
    let worst = worst.map_or_else(
        || "too few packets to say how punctual it is".to_owned(),
        |worst| format!("99 % of packets at most {} late", quantity::duration_ns(worst)),
    );
    let means = match (account.has_priority, account.keeps_awake) {
        (true, true) => "real-time priority, processors kept awake",
        (true, false) => "real-time priority",
        (false, true) => "ordinary priority, processors kept awake",
        (false, false) => "ordinary priority",
    };
    format!("relay: {worst}; {means}\n")
}

fn sentence(shortcoming: &Shortcoming) -> String {
    match shortcoming {
        Shortcoming::Lost { direction: [from, to], frames } => format!(
            "INVALID: from {from} to {to} the relay lost {frames} packets that no condition lost\n"
        ),
        Shortcoming::Late { direction: [from, to], p99_ns } => format!(
            "INVALID: from {from} to {to} one packet in a hundred was {} late or more\n",
            quantity::duration_ns(*p99_ns)
        ),
    }
}
