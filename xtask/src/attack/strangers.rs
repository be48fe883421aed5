//! The hostile program: what it can do.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::Arguments;
use super::case::Case;
use super::run::Attack;
use super::stage::Stage;
use crate::cargo;
use crate::console::say;
use crate::ends::End;

/// The hostile program.
pub struct Strangers {
    program: PathBuf,
}

/// What a client made of a hostile server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClientFigures {
    /// The case's name.
    pub name: String,
    /// What the server did.
    pub purpose: String,
    /// The client's words.
    pub command: String,
    /// How long it ran.
    pub seconds: f64,
    /// How it ended.
    pub exit_code: Option<i32>,
    /// The most memory that it had resident.
    pub resident_bytes: u64,
    /// Bounds that were broken, as sentences.
    pub broken: Vec<String>,
}

impl ClientFigures {
    /// A row, and what was broken.
    pub fn tell(&self) -> Result<()> {
        let code = self.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let memory = pathscope_core::quantity::bytes(self.resident_bytes);
        let verdict = if self.broken.is_empty() { "held" } else { "BROKEN" };
        say(format_args!(
            "{:<26} client: {:>6.1} s, exit code {code:>4}, {memory:>9}  {verdict}",
            self.name, self.seconds
        ))?;
        self.broken.iter().try_for_each(|sentence| say(format_args!("    {sentence}")))
    }
}

impl Strangers {
    /// Builds it.
    pub fn build(root: &Path, debug: bool) -> Result<Self> {
        if debug {
            cargo::build_programs(root)?;
        } else {
            let mut build = cargo::cargo(root);
            build.args(["build", "--quiet", "--release", "--package", "pathscope-attack"]);
            ensure!(cargo::succeeds(&mut build)?, "build pathscope-attack");
        }
        let profile = if debug { "debug" } else { "release" };
        Ok(Self { program: root.join("target").join(profile).join("pathscope-attack") })
    }

    /// All that it can do.
    pub fn cases(&self) -> Result<Vec<Case>> {
        let mut command = std::process::Command::new(&self.program);
        let output = command.arg("cases").output().context("run pathscope-attack")?;
        serde_json::from_slice(&output.stdout).context("read the cases of pathscope-attack")
    }

    /// Starts one.
    pub fn start(
        &self,
        stage: &Stage,
        case: &Case,
        server: SocketAddr,
        seconds: u64,
    ) -> Result<Attack> {
        let mut command = stage.hostile(&self.program);
        command.args(["case", &case.name, "--server", &server.to_string()]);
        command.args(["--base", Stage::strangers_base(case.over_ipv6)]);
        command.args(["--for", &seconds.to_string()]);
        Ok(Attack { end: End::start(command)?, output: None })
    }

    /// Starts a caller that greets twice a second from the honest machine.
    pub fn greet(&self, stage: &Stage, server: SocketAddr, seconds: u64) -> Result<Greetings> {
        let mut command = stage.honest(&self.program);
        command.args(["greet", "--server", &server.to_string()]);
        command.args(["--base", &stage.honest_base(server.is_ipv6())?.to_string()]);
        command.args(["--for", &seconds.to_string()]);
        Ok(Greetings { end: End::start(command)?, seconds })
    }

    /// A server against its client, from beginning to end.
    pub fn against_client(&self, case: &Case, pathscope: &Path) -> Result<ClientFigures> {
        let mut command = std::process::Command::new(&self.program);
        command.args(["client", &case.name, "--binary"]).arg(pathscope);
        let output = End::start(command)?.output(Duration::from_secs(300))?;
        serde_json::from_str(&output).with_context(|| format!("read what it says: {output}"))
    }

    /// Mutations at both ends: what it tells, and whether all was in order.
    pub fn mutate(
        &self,
        pathscope: &Path,
        lasts: Duration,
        arguments: &Arguments,
    ) -> Result<(String, bool)> {
        let mut command = std::process::Command::new(&self.program);
        command.args(["mutate", "--for", &lasts.as_secs().to_string(), "--binary"]).arg(pathscope);
        if arguments.debug {
            // Beside a binary that is not optimised, on a machine that may have other work: seen with three compilers, 5.2 s once in
            // 2,303 greetings.
            command.args(["--patience-ms", "20000"]);
        }
        if let Some(seed) = arguments.seed {
            command.args(["--seed", &seed.to_string()]);
        }
        let mut end = End::start(command)?;
        let output = end.output(lasts + Duration::from_secs(120))?;
        let told: Value = serde_json::from_str(&output)
            .with_context(|| format!("read what the mutations say: {output}"))?;
        let broken = told["broken"].as_array().map_or(0, Vec::len);
        let mut text = told["summary"].as_str().unwrap_or("no summary").to_owned();
        for sentence in told["broken"].as_array().into_iter().flatten() {
            text = format!("{text}\n    {}", sentence.as_str().unwrap_or_default());
        }
        Ok((text, broken == 0))
    }
}

/// A caller that greets.
pub struct Greetings {
    end: End,
    seconds: u64,
}

impl Greetings {
    /// How long each answer took; None of one that had none within 5 s.
    pub fn milliseconds(mut self) -> Result<Vec<Option<u64>>> {
        let output = self.end.output(Duration::from_secs(self.seconds + 30))?;
        Ok(output.lines().map(|line| line.parse().ok()).collect())
    }
}
