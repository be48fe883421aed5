//! A run of several servers that start at one instant: what each of them came to, as a document of one server has it, and figures over
//! all. Not here: how they are made to start together, which is the client's affair.
//!
//! What can be added up is: payload, counts, and rates where all ran at the same time. Nothing is an average of percentiles.

#[cfg(test)]
mod tests;

use pathscope_core::presentation::{Figure, Row, Value};
use pathscope_core::quantity::{duration_ns, ratio};
use pathscope_core::record::{Caveat, Check, Host, InterfaceFacts, PeerFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, Measurement, Outcome, OutcomeState};
use crate::end::Hosts;
use crate::finding::TestCaveat;
use crate::load::RateSums;
use crate::registry::Summary;

/// Rates are added up where all servers ran for this share at least of the time in which any did.
const LEAST_SHARED: f64 = 0.9;

/// One of several servers, and what it came to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ServerResult {
    /// As it was named, by one name or several.
    pub target: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Its machine; absent where it was never reached.
    pub host: Option<Host>,
    /// Who that was, by the protocol that it spoke; absent where it was never reached.
    pub peer: Option<PeerFacts>,
    /// The interface of the client that leads there.
    pub client_interface: Option<InterfaceFacts>,
    /// What was measured, in order; as in the document of a run of one server.
    pub measurements: Vec<Measurement>,
    /// What to mind in all of it.
    pub caveats: Vec<Caveat>,
}

/// What several servers came to together.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Together {
    /// The figures that there are over all of them, where a measurement has those of one server. What cannot be added up is absent.
    pub summary: Summary,
    /// What there is of several servers alone.
    pub servers: SeveralServers,
    /// What had to hold.
    pub checks: Vec<Check>,
    /// What to mind.
    pub caveats: Vec<Caveat>,
}

/// What there is of several servers alone.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct SeveralServers {
    /// From the first start of a server's flows at the client to the last.
    pub start_spread_ns: Option<u64>,
    /// The time in which all of them ran: from the last start to the first end, by the client's clock.
    pub shared_ns: Option<u64>,
    /// From the first start to the last end.
    pub whole_ns: Option<u64>,
    /// From client to servers.
    pub up: Option<Shares>,
    /// From servers to client.
    pub down: Option<Shares>,
}

/// How servers shared what was carried one way.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Shares {
    /// Jain's index over the servers' rates, 1 where all are equal; absent where they did not run at the same time.
    pub fairness: Option<f64>,
}

/// When all ran, by the client's clock, in time since the begin of the document.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// The first and the last start.
    starts_ns: [u64; 2],
    /// The first and the last end.
    ends_ns: [u64; 2],
}

impl Times {
    fn of(measurements: &[&Measurement]) -> Option<Self> {
        let starts = || measurements.iter().map(|it| it.start_ns);
        let ends =
            || measurements.iter().map(|it| it.start_ns.saturating_add(it.client.elapsed_ns));
        Some(Self {
            starts_ns: [starts().min()?, starts().max()?],
            ends_ns: [ends().min()?, ends().max()?],
        })
    }

    const fn shared_ns(&self) -> u64 {
        self.ends_ns[0].saturating_sub(self.starts_ns[1])
    }

    const fn whole_ns(&self) -> u64 {
        self.ends_ns[1].saturating_sub(self.starts_ns[0])
    }

    /// Of the time in which any ran, that in which all did.
    fn shared(&self) -> f64 {
        let whole_ns = self.whole_ns();
        if whole_ns == 0 { 0.0 } else { self.shared_ns() as f64 / whole_ns as f64 }
    }
}

impl Together {
    /// Of these servers, once they have ended; none where nothing was measured with any.
    fn of(servers: &[ServerResult]) -> Option<Self> {
        let measured: Vec<&Measurement> =
            servers.iter().filter_map(|server| server.measurements.first()).collect();
        let first = measured.first()?;
        let mut caveats = Vec::new();
        let lacking: Vec<&str> =
            servers.iter().filter(|it| !it.is_whole()).map(|it| it.target.as_str()).collect();
        if !lacking.is_empty() {
            let text = format!(
                "what {} came to is not known in full: there are no figures over all servers",
                lacking.join(" and ")
            );
            caveats.push(Caveat::new(TestCaveat::ServerMissing, text));
            return Some(Self { caveats, ..Self::default() });
        }
        let times = Times::of(&measured)?;
        let is_shared = times.shared() >= LEAST_SHARED;
        if !is_shared {
            let text = format!(
                "all servers ran together for {} of the {} in which any did, which is {}: their rates are of different times and not added up",
                duration_ns(times.shared_ns()),
                duration_ns(times.whole_ns()),
                ratio(times.shared()),
            );
            caveats.push(Caveat::new(TestCaveat::ServersApart, text));
        }
        let summaries: Vec<&Summary> = measured.iter().map(|it| &it.summary).collect();
        let plan = &first.test.plan;
        let shares = |way: usize| {
            let rates = summaries.iter().map(|it| plan.beside_others_of(it).goodput_bps[way]);
            let rates: Vec<f64> = rates.collect::<Option<_>>()?;
            let mut sums = RateSums::default();
            rates.into_iter().for_each(|rate| sums.record(rate));
            Some(Shares { fairness: sums.fairness().filter(|_| is_shared) })
        };
        Some(Self {
            summary: plan.together_of(&summaries, is_shared),
            servers: SeveralServers {
                start_spread_ns: Some(times.starts_ns[1] - times.starts_ns[0]),
                shared_ns: Some(times.shared_ns()),
                whole_ns: Some(times.whole_ns()),
                up: shares(0),
                down: shares(1),
            },
            checks: Vec::new(),
            caveats,
        })
    }
}

impl ServerResult {
    fn of(document: Document) -> Self {
        let Hosts { client, server, peer } = document.hosts;
        Self {
            target: document.target.unwrap_or_default(),
            outcome: document.outcome,
            host: server,
            peer,
            client_interface: client.network.interface,
            measurements: document.measurements,
            caveats: document.caveats,
        }
    }

    /// Whether it came to its end, and both ends have reported.
    fn is_whole(&self) -> bool {
        let has_reported = |it: &Measurement| it.server.is_some();
        self.outcome.state == OutcomeState::Complete
            && !self.measurements.is_empty()
            && self.measurements.iter().all(has_reported)
    }
}

impl Document {
    /// A document of a run of several servers, of what each of them came to.
    #[must_use]
    pub fn with_servers(mut self, parts: Vec<Self>) -> Self {
        let mut interfaces = parts.iter().map(|part| &part.hosts.client.network.interface);
        let first = interfaces.next().cloned().flatten();
        let is_one = interfaces.all(|other| *other == first);
        self.hosts.client.network.interface = first.filter(|_| is_one);
        let is_over = parts.iter().all(|part| part.outcome.state != OutcomeState::CutOff);
        self.servers = parts.into_iter().map(ServerResult::of).collect();
        self.together = if is_over { Together::of(&self.servers).map(Box::new) } else { None };
        self
    }

    /// Each server's part as a document of its own, in order; of a run of one server, the document itself.
    pub fn of_each_server(&self) -> Vec<Self> {
        if self.servers.is_empty() {
            return vec![self.clone()];
        }
        let part = |server: &ServerResult| {
            let mut client = self.hosts.client.clone();
            client.network.interface.clone_from(&server.client_interface);
            let hosts = Hosts { client, server: server.host.clone(), peer: server.peer.clone() };
            Self {
                schema: self.schema.clone(),
                tool: self.tool.clone(),
                command: self.command.clone(),
                kind: self.kind.clone(),
                target: Some(server.target.clone()),
                started_at: self.started_at.clone(),
                duration_ns: self.duration_ns,
                outcome: server.outcome.clone(),
                hosts,
                measurements: server.measurements.clone(),
                caveats: server.caveats.clone(),
                ..Self::default()
            }
        };
        self.servers.iter().map(part).collect()
    }

    /// All measurements, of whichever server.
    pub fn all_measurements(&self) -> impl Iterator<Item = &Measurement> {
        let of_servers = self.servers.iter().flat_map(|server| &server.measurements);
        self.measurements.iter().chain(of_servers)
    }
}

/// What all of them are called where each has a name.
pub const ALL: &str = "all servers";

/// What a measurement of one of several servers, or of all, is called.
pub fn named(measurement: &Measurement, server: Option<&str>) -> String {
    format!("{} · {}", measurement.name, server.unwrap_or("?"))
}

/// A live row of a run of several servers says of which it is: behind the time.
pub fn name_row(row: &mut Row, server: &str) {
    if !row.cells.is_empty() {
        row.cells.insert(1, Figure::new("server", Value::Text(server.to_owned())));
    }
}

/// The rows of all servers in one interval, added up: what cannot be is absent. None where they do not have the same cells.
pub fn sum_of_rows(rows: &[Row]) -> Option<Row> {
    let (first, others) = rows.split_first()?;
    let labels = |row: &Row| row.cells.iter().map(|cell| cell.label.clone()).collect::<Vec<_>>();
    if first.cells.is_empty() || others.iter().any(|row| labels(row) != labels(first)) {
        return None;
    }
    let cell = |(place, cell): (usize, &Figure)| {
        let values = others.iter().map(|row| &row.cells[place].value);
        let value = match place {
            0 => cell.value.clone(),
            1 => Value::Text("all".to_owned()),
            _ => values.fold(cell.value.clone(), |sum, value| plus(&sum, value)),
        };
        Figure { value, ..cell.clone() }
    };
    let cells = first.cells.iter().enumerate().map(cell).collect();
    Some(Row { section: first.section.clone(), cells })
}

/// The sum of two of a kind that can be added up.
fn plus(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::BitRate(one), Value::BitRate(other)) => Value::BitRate(one + other),
        (Value::Frequency(one), Value::Frequency(other)) => Value::Frequency(one + other),
        (Value::Bytes(one), Value::Bytes(other)) => Value::Bytes(one.saturating_add(*other)),
        (Value::Count(one), Value::Count(other)) => Value::Count(one.saturating_add(*other)),
        _ => Value::Absent,
    }
}
