//! What strangers can make a server spend, and a server its client: attacks by a program that shares no code with ours,
//! what the attacked process held meanwhile, and what an honest client measured beside it.
//!
//! Each case has a server of its own, in a namespace, with an honest machine and a hostile one beside it. Nothing
//! here speaks the protocol: `crates/attack` does, in processes of its own.

mod case;
mod figures;
mod honest;
mod judgement;
mod publish;
mod run;
mod samples;
mod stage;
mod strangers;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::console::say;
use case::Case;
use figures::Figures;
use stage::Stage;
use strangers::Strangers;

/// Which attacks, and how long.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Run only these cases; `client` stands for all of a server against its client, `mutation` for changed recordings
    #[arg(long, value_name = "CASE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each attack lasts, instead of its own time: `30s`, `5m`, `1h`
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    pub lasts: Option<Duration>,
    /// What mutations are drawn from; else drawn
    #[arg(long)]
    pub seed: Option<u64>,
    /// Write the tables of docs/robustness.md, which takes all cases
    #[arg(long, conflicts_with = "only")]
    pub publish: bool,
    /// The binary that is attacked
    #[arg(long, default_value = "target/release/pathscope")]
    pub pathscope: PathBuf,
    /// Use the hostile program as the tests' profile builds it
    #[arg(long, hide = true)]
    pub debug: bool,
}

/// What a run without `--for` gives to mutations.
const MUTATIONS_LAST: Duration = Duration::from_secs(30);

/// Runs them, prints a row for each, and answers whether all bounds held.
pub fn run(root: &Path, arguments: &Arguments) -> Result<bool> {
    let pathscope = root.join(&arguments.pathscope);
    ensure!(
        pathscope.is_file(),
        "find {}: build it with `cargo build --release --package pathscope`, or name it with --pathscope",
        pathscope.display()
    );
    let strangers = Strangers::build(root, arguments.debug)?;
    let all = strangers.cases()?;
    let is_wanted =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    for name in &arguments.only {
        if !all.iter().any(|case| case.is_named(name)) && name != "mutation" {
            let names: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
            bail!("find the case `{name}`; there are: {}, client, mutation", names.join(", "));
        }
    }
    let chosen: Vec<&Case> = all
        .iter()
        .filter(|case| is_wanted(&case.name) || case.against_client && is_wanted("client"))
        .collect();
    let mut held = true;
    let servers: Vec<&Case> = chosen.iter().copied().filter(|case| !case.against_client).collect();
    let mut figures = Vec::new();
    if !servers.is_empty() {
        let stage = Stage::up(&pathscope)?;
        say(figures::head())?;
        for case in servers {
            let figure = attack(&stage, &strangers, case, arguments.lasts)
                .with_context(|| format!("carry out {}", case.name))?;
            figure.tell()?;
            held &= figure.broken.is_empty();
            figures.push(figure);
        }
    }
    let mut clients = Vec::new();
    for case in chosen.into_iter().filter(|case| case.against_client) {
        let told = strangers.against_client(case, &pathscope)?;
        told.tell()?;
        held &= told.broken.is_empty();
        clients.push(told);
    }
    if is_wanted("mutation") {
        let lasts = arguments.lasts.unwrap_or(MUTATIONS_LAST);
        let (told, in_order) = strangers.mutate(&pathscope, lasts, arguments)?;
        say(&told)?;
        held &= in_order;
        if arguments.publish {
            publish::write(root, &pathscope, &figures, &clients, &told)?;
        }
    }
    Ok(held)
}

/// One attack on one server of its own.
fn attack(
    stage: &Stage,
    strangers: &Strangers,
    case: &Case,
    lasts: Option<Duration>,
) -> Result<Figures> {
    let seconds = lasts.map_or(case.seconds, |lasts| lasts.as_secs().max(1));
    let mut server = stage.server(case)?;
    let address = stage.address(case.over_ipv6)?;
    let alone = honest::Client::start(stage, address, honest::ALONE_SECONDS)?.finish()?;
    let before = server.settled_sample()?;
    let honest = honest::Client::start(stage, address, seconds + 2)?;
    let greetings = strangers.greet(stage, address, seconds + 2)?;
    let mut attack = strangers.start(stage, case, address, seconds)?;
    let lasts = Duration::from_secs(seconds);
    let (observed, transfers) = thread::scope(|scope| {
        let transfers = || honest::Transfers::make(stage, address, lasts);
        let transfers = case.for_others.then(|| scope.spawn(transfers));
        let observed = server.watch(&mut attack, lasts + Duration::from_secs(60));
        (observed, transfers.map(thread::ScopedJoinHandle::join))
    });
    let observed = observed?;
    let transfers = transfers.map(|made| made.unwrap_or_else(|_| bail!("make transfers")));
    let transfers = transfers.transpose()?;
    let told = attack.told()?;
    let greetings = greetings.milliseconds()?;
    let beside = honest.finish();
    let given_back = server.given_back(&before)?;
    let mut figures = Figures {
        case: case.clone(),
        alone,
        beside: beside.map_err(|error| format!("{error:#}")),
        observed,
        greetings,
        given_back,
        told,
        transfers,
        broken: Vec::new(),
    };
    figures.broken = judgement::broken(&figures);
    if let Err(error) = server.is_in_order() {
        figures.broken.push(format!("{error:#}; its log ended with: {}", server.end_of_log()));
    }
    Ok(figures)
}

/// The step of the check: mutations of recorded sessions, by the binary that the tests have built. What they came to, and
/// whether all held.
pub fn mutations_for_the_check(root: &Path) -> Result<(String, bool)> {
    let arguments = Arguments {
        only: vec!["mutation".to_owned()],
        lasts: Some(MUTATIONS_LAST),
        seed: None,
        publish: false,
        pathscope: PathBuf::from("target/debug/pathscope"),
        debug: true,
    };
    let strangers = Strangers::build(root, arguments.debug)?;
    let (told, in_order) =
        strangers.mutate(&root.join(&arguments.pathscope), MUTATIONS_LAST, &arguments)?;
    say(&told)?;
    Ok((told, in_order))
}

/// `30s`, `5m`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let unit = text.chars().last().unwrap_or_default();
    let factor = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return Err("say a number and a unit: 30s, 5m, 1h".to_owned()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| "say a number and a unit")?;
    match number.checked_mul(factor) {
        Some(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
        _ => Err("say something from 1s to 24h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_bounded() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3_600)));
        for bad in ["", "s", "30", "0s", "25h", "-1s", "1µ"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
