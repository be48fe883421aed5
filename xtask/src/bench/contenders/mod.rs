//! Who is compared: each a file that knows one tool's command line and output, and a line here.

mod bare;
mod ctstraffic;
mod earlier;
mod iperf3;
mod lagscope;
mod neper;
mod netperf;
mod pathscope;
mod qperf;
mod recording;
mod sockperf;
mod uring;

use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

use super::case::{Case, Measure, Protocol};
use super::conditions::Conditions;
use super::outputs::{Outputs, Role};
use crate::check;

/// Everybody.
pub const ALL: &[Contender] = &[
    pathscope::PATHSCOPE,
    recording::RECORDING,
    earlier::EARLIER,
    uring::URING,
    bare::BARE,
    bare::CHECKED,
    iperf3::IPERF3,
    iperf3::SERVED_BY_IPERF3,
    iperf3::ASKED_BY_IPERF3,
    sockperf::SOCKPERF,
    qperf::QPERF,
    neper::TCP_STREAM,
    neper::TCP_RR,
    neper::UDP_RR,
    neper::TCP_CRR,
    netperf::NETPERF,
    lagscope::LAGSCOPE,
    lagscope::SERVED_BY_LAGSCOPE,
    lagscope::ASKED_BY_LAGSCOPE,
    ctstraffic::CTSTRAFFIC,
];

/// One tool: how to run its two ends, and where its figure stands.
#[derive(Debug)]
pub struct Contender {
    /// What `--against` calls it.
    pub name: &'static str,
    /// What is run.
    pub program: Program,
    /// The best figure it tells for a case under these conditions; none: it cannot be compared there.
    pub measure: fn(&Case, &Conditions) -> Option<Measure>,
    /// The server's command line.
    pub server: fn(&Setting<'_>) -> Vec<String>,
    /// Whether the server ends with the test; else it is killed.
    pub server_ends: fn(&Case) -> bool,
    /// Whether its server waits on TCP for word of a test, whatever carries the test.
    pub controls_by_tcp: bool,
    /// Whether a run takes as long as it is told; of one that moves an amount, processor time a gigabyte is not told.
    pub is_timed: bool,
    /// The client's command line.
    pub client: fn(&Setting<'_>) -> Vec<String>,
    /// The figure of the setting's measure, from what both ends said.
    pub figure: fn(&Setting<'_>, &Outputs) -> Result<f64>,
}

/// One run as a contender must set it up.
#[derive(Clone, Debug)]
pub struct Setting<'run> {
    /// What is compared.
    pub case: Case,
    /// In which figure.
    pub measure: Measure,
    /// What all runs have in common.
    pub conditions: &'run Conditions,
    /// A port to listen on; the one after it is free as well.
    pub port: u16,
}

impl Contender {
    /// What its server listens on before it is ready.
    pub fn control_protocol(&self, case: &Case) -> Protocol {
        match case {
            Case::Latency { protocol: Protocol::Udp, .. } | Case::Datagrams { .. }
                if !self.controls_by_tcp =>
            {
                Protocol::Udp
            }
            _ => Protocol::Tcp,
        }
    }
}

/// What is run at the two ends.
#[derive(Debug)]
pub enum Program {
    /// The binary that is measured.
    Pathscope,
    /// The build that it is held against.
    Earlier,
    /// This program.
    Ourselves,
    /// One program found on `PATH` that plays both ends.
    Installed(&'static str),
    /// The binary that is measured at one end, and at the other a program found on `PATH`.
    Beside {
        /// The program.
        name: &'static str,
        /// The end that it is.
        role: Role,
    },
    /// Two programs found on `PATH`.
    InstalledPair {
        /// The server.
        server: &'static str,
        /// The client.
        client: &'static str,
    },
}

impl Program {
    /// Whether it is the binary that is measured, in one way of running it or another.
    pub const fn is_pathscope(&self) -> bool {
        matches!(self, Self::Pathscope | Self::Earlier | Self::Beside { .. })
    }

    /// Whether it is on this machine.
    pub fn is_there(&self, conditions: &Conditions) -> bool {
        match self {
            Self::Pathscope => conditions.pathscope.is_file(),
            Self::Earlier => conditions.earlier.as_ref().is_some_and(|path| path.is_file()),
            Self::Ourselves => true,
            Self::Installed(name) => check::find_program(name).is_some(),
            Self::Beside { name, .. } => {
                conditions.pathscope.is_file() && check::find_program(name).is_some()
            }
            Self::InstalledPair { server, client } => {
                [server, client].into_iter().all(|name| check::find_program(name).is_some())
            }
        }
    }

    /// What to start for one end.
    pub fn path(&self, role: Role, setting: &Setting<'_>) -> Result<String> {
        let name = match self {
            Self::Pathscope => return Ok(setting.conditions.pathscope.display().to_string()),
            Self::Beside { role: other, .. } if role != *other => {
                return Ok(setting.conditions.pathscope.display().to_string());
            }
            Self::Earlier => {
                let earlier = setting.conditions.earlier.as_ref();
                let path = earlier.context("know the earlier build: name it with --earlier")?;
                return Ok(path.display().to_string());
            }
            Self::Ourselves => {
                let own = std::env::current_exe().context("find this program")?;
                return Ok(own.display().to_string());
            }
            Self::Installed(name) | Self::Beside { name, .. } => name,
            Self::InstalledPair { server, .. } if role == Role::Server => server,
            Self::InstalledPair { client, .. } => client,
        };
        let path = check::find_program(name).with_context(|| format!("find {name}"))?;
        Ok(path.display().to_string())
    }
}

/// The contender of this name.
pub fn named(name: &str) -> Result<&'static Contender> {
    ALL.iter().find(|contender| contender.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|contender| contender.name).collect();
        anyhow!("find a contender `{name}`; there are: {}", names.join(", "))
    })
}

/// A command line typed as one text; no word of ours holds a blank.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The number at a place (RFC 6901) of a JSON text.
fn number_at(text: &str, place: &str) -> Result<f64> {
    let json: Value = serde_json::from_str(text).context("read JSON")?;
    let number = json.pointer(place).and_then(Value::as_f64);
    number.with_context(|| format!("find a number at {place}"))
}

/// The number that follows `mark` in a text, blanks and `=` skipped.
fn number_after(text: &str, mark: &str) -> Result<f64> {
    let rest = text.split_once(mark).with_context(|| format!("find `{mark}`"))?.1;
    let rest = rest.trim_start_matches([' ', '\t', '=']);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().with_context(|| format!("read the number after `{mark}`"))
}

/// Where both ends wait in the kernel.
fn sleeps(case: &Case) -> bool {
    matches!(case, Case::Latency { wait: super::case::Wait::Sleep, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_where_tools_print_them() {
        let sockperf = "sockperf: ---> percentile 50.000 =   16.641\nsockperf: ---> <MIN>";
        assert_eq!(number_after(sockperf, "percentile 50.000").ok(), Some(16.641));
        let qperf = "tcp_lat:\n    latency  =  10262 ns\n";
        assert_eq!(number_after(qperf, "latency").ok(), Some(10_262.0));
        assert!(number_after("nothing", "latency").is_err());
        assert_eq!(number_at(r#"{"a":{"b":[1,2.5]}}"#, "/a/b/1").ok(), Some(2.5));
        assert!(number_at("{}", "/a").is_err());
    }

    #[test]
    fn every_contender_has_a_name_of_its_own() {
        for (index, contender) in ALL.iter().enumerate() {
            assert!(ALL[..index].iter().all(|other| other.name != contender.name));
            assert_eq!(named(contender.name).expect("listed").name, contender.name);
        }
    }
}
