//! Very many connections, flows or streams at the same time: how fast they are made, what each takes of memory, and whether all carry
//! what they are to, one as fast as another.
//!
//! No comparison: the bounds are counts, a rate and amounts of memory. Both ends are on one node of a lab, whose loopback has ports for all.

mod kind;
mod sample;
mod stand;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use pathscope_core::quantity;
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::running::{Registry, Shaper};
use pathscope_lab::topology::Topology;
use serde::Serialize;
use serde_json::Value;

pub use self::kind::Kind;
use self::kind::{Bounds, Carried};
use self::sample::Sample;
use self::stand::{LOOK_EVERY, PORT, Server, resident_bytes, slab_bytes};
use super::conditions::Conditions;
use crate::console::say;
use crate::ends::{End, now};
use crate::folder;

const TOPOLOGY: &str = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

/// What the document may take.
const MOST_DOCUMENT_BYTES: u64 = 5_000_000;
/// After which the run is given up.
const RUN_PATIENCE: Duration = Duration::from_secs(900);

/// What one run came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scale {
    kind: Kind,
    /// Connections, flows or streams that were asked for.
    flows: u64,
    /// Those that came to their planned end at both ends, where that is told of each.
    completed: Option<u64>,
    /// What all of them carried.
    carried: Vec<Carried>,
    /// Sockets that both ends had at the same time at the most, without those that are no flow's.
    held_sockets: u64,
    /// From the first to the last.
    ramp_ns: u64,
    /// How many there were, each time it was looked.
    ramp: Vec<(u64, u64)>,
    /// From the start of the client to its end.
    wall_ns: u64,
    /// What the client had resident at the most for each.
    client_bytes: u64,
    /// What the server had, beyond what it had before.
    server_bytes: u64,
    /// What the kernel had more than before when all were there, for each: of both ends.
    kernel_bytes: u64,
    /// How long the document is.
    document_bytes: u64,
    /// Jain's index over flows, the lower one where there are two ways; absent where there is none.
    fairness: Option<f64>,
    /// The 50th and the 99th percentile of round trips, of pings.
    round_trips_ns: Option<[u64; 2]>,
    /// What the kernel says of the first ones.
    sample: Sample,
    /// Whether all that the test checks is as it must be.
    passed: bool,
}

/// Makes so many, has each carry what it is to, and prints what that came to.
pub fn run(conditions: &Conditions, kind: Kind, flows: u64) -> Result<Scale> {
    say(format_args!("\n{}: {} {}", kind.name(), quantity::count(flows), kind.in_words()))?;
    let network = Topology::read("scale", TOPOLOGY).network();
    let network = network.map_err(anyhow::Error::msg).context("read the topology")?;
    let folder = folder::temporary()?;
    let plan = Plan {
        binary: &conditions.pathscope,
        registry: &Registry::at(folder.path()),
        name: "scale",
        network: &network,
        seed: Some(1),
        shaper: Shaper::Relay,
    };
    let lab = Lab::up(&plan).context("put a lab up")?;
    let server = Server::start(&lab, &conditions.pathscope)?;
    let (idle_bytes, slab_before) = (server.resident_bytes()?, slab_bytes()?);
    let mut client = lab.command("a", "setpriv");
    client.args(["--pdeathsig", "KILL"]).arg(&conditions.pathscope);
    client.args(kind.words(&format!("127.0.0.1:{PORT}"), flows, &conditions.congestion));
    let begun = now();
    let mut client = End::start(client)?;
    let (mut scale, mut slab_most) = (Scale { kind, flows, ..Scale::default() }, slab_before);
    let (mut before, mut client_most) = (begun.elapsed(), 0);
    let document = loop {
        if let Some(output) = client.output_if_ended(LOOK_EVERY) {
            break output;
        }
        ensure!(begun.elapsed() < RUN_PATIENCE, "make them: the client does not end");
        // Of a client that is about to end nothing is read any more.
        client_most = resident_bytes(client.id()).unwrap_or(0).max(client_most);
        let (at, sockets) = (begun.elapsed(), server.sockets(kind)?);
        if sockets == 0 {
            before = at;
        }
        if sockets > scale.held_sockets {
            scale.held_sockets = sockets;
            scale.ramp_ns = nanoseconds(at.saturating_sub(before));
            scale.ramp.push((scale.ramp_ns, sockets / 2));
            slab_most = slab_bytes()?.max(slab_most);
        }
    };
    scale.wall_ns = nanoseconds(begun.elapsed());
    let of_each = |bytes: u64| bytes / flows.max(1);
    scale.client_bytes = of_each(client_most);
    scale.server_bytes = of_each(server.resident_bytes()?.saturating_sub(idle_bytes));
    scale.kernel_bytes = of_each(slab_most.saturating_sub(slab_before));
    scale.document_bytes = document.len() as u64;
    scale.read(&document)?;
    say(scale.rows())?;
    Ok(scale)
}

impl Scale {
    /// Takes what the document says.
    fn read(&mut self, document: &str) -> Result<()> {
        let document: Value = serde_json::from_str(document).context("read the run's document")?;
        let measurement = document.pointer("/measurements/0");
        let measurement = measurement.context("find a measurement in the run's document")?;
        let checks = measurement["checks"].as_array();
        let checks = checks.context("find checks in the run's document")?;
        let summary = &measurement["summary"];
        self.completed = self.kind.completed(self.flows, summary);
        self.carried = self.kind.carried(self.flows, summary);
        self.fairness = self.kind.fairness(summary);
        self.round_trips_ns = round_trips_ns(summary);
        self.sample = Sample::of(&document);
        self.passed = !checks.is_empty() && checks.iter().all(|check| check["passed"] == true);
        Ok(())
    }

    fn per_second(&self) -> f64 {
        self.flows as f64 * 1e9 / self.ramp_ns.max(1) as f64
    }

    /// From the first until this share of all was there, as it was looked.
    fn ramp_to_ns(&self, share: f64) -> Option<u64> {
        let wanted = self.flows as f64 * share;
        self.ramp.iter().find(|(_, there)| *there as f64 >= wanted).map(|&(at_ns, _)| at_ns)
    }

    fn ramp_in_words(&self) -> String {
        let part = |share| {
            let at_ns = self.ramp_to_ns(share);
            at_ns.map_or_else(|| "never".to_owned(), quantity::duration_ns)
        };
        format!("a quarter within {}, half within {}", part(0.25), part(0.5))
    }

    fn is_within(&self) -> bool {
        let Bounds { least_a_second, most_bytes, least_fairness } = self.kind.bounds();
        let has_completed = self.completed == Some(self.flows);
        let is_fair = |least| self.fairness.is_some_and(|fairness| fairness >= least);
        self.passed
            && (has_completed || !self.kind.tells_completed())
            && !self.carried.is_empty()
            && self.carried.iter().all(|it| it.came == it.wanted)
            && self.held_sockets >= 2 * self.flows
            && self.document_bytes <= MOST_DOCUMENT_BYTES
            && least_fairness.is_none_or(is_fair)
            && least_a_second.is_none_or(|least| self.per_second() >= least)
            && most_bytes.is_none_or(|most| self.client_bytes.max(self.server_bytes) <= most)
    }

    fn rows(&self) -> String {
        let [made, over] = [self.ramp_ns, self.wall_ns].map(quantity::duration_ns);
        let mut all = vec![
            format!(
                "held {} sockets of both ends, {}checks {}; {}",
                quantity::count(self.held_sockets),
                self.completed.map_or_else(String::new, |completed| {
                    format!("completed {}, ", quantity::count(completed))
                }),
                if self.passed { "passed" } else { "failed" },
                self.carried_in_words(),
            ),
            format!(
                "made within {made} ({:.0} a second; {}), all over after {over}",
                self.per_second(),
                self.ramp_in_words()
            ),
            format!(
                "of each, client {} B, server {} B, kernel {} B for both ends; document {}",
                self.client_bytes,
                self.server_bytes,
                self.kernel_bytes,
                quantity::bytes(self.document_bytes),
            ),
        ];
        all.extend(self.fairness.map(|fairness| format!("fairness {fairness:.3}")));
        all.extend(self.round_trips_ns.map(|times| {
            let [median, high] = times.map(quantity::duration_ns);
            format!("round trips: p50 {median}, p99 {high}")
        }));
        all.extend(self.sample.in_words());
        all.push(self.bounds_in_words());
        all.join("\n")
    }

    fn carried_in_words(&self) -> String {
        let part = |it: &Carried| {
            let [came, wanted] = [it.came, it.wanted].map(quantity::count);
            format!("{came} of {wanted} {}", it.what)
        };
        self.carried.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    /// Whether all is as it is to be, and what that is.
    fn bounds_in_words(&self) -> String {
        let Bounds { least_a_second, most_bytes, least_fairness } = self.kind.bounds();
        let bounds = [
            Some("all counts".to_owned()),
            least_a_second.map(|least| format!("{least:.0} a second")),
            most_bytes.map(|most| format!("{most} B")),
            least_fairness.map(|least| format!("fairness {least}")),
            Some(quantity::bytes(MOST_DOCUMENT_BYTES)),
        ];
        let bounds = bounds.into_iter().flatten().collect::<Vec<_>>().join(", ");
        format!("{} within {bounds}", if self.is_within() { "all" } else { "not all" })
    }
}

/// The 50th and the 99th percentile, where pings are what is measured and enough of them came.
fn round_trips_ns(summary: &Value) -> Option<[u64; 2]> {
    let percentiles = summary.pointer("/latency/rtt/percentiles")?.as_array()?;
    let of = |percent: f64| {
        let found = percentiles.iter().find(|it| it["percent"].as_f64() == Some(percent));
        found?["value_ns"].as_u64()
    };
    Some([of(50.0)?, of(99.0)?])
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn carried(came: [u64; 2], wanted: u64) -> Vec<Carried> {
        came.map(|came| Carried { what: "pings", wanted, came }).to_vec()
    }

    #[test]
    fn one_that_is_missing_or_too_large_is_not_within() {
        let good = Scale {
            flows: 1_000_000,
            completed: Some(1_000_000),
            carried: carried([640_000_000; 2], 640_000_000),
            held_sockets: 2_000_000,
            ramp_ns: 50_000_000_000,
            client_bytes: 600,
            document_bytes: 1,
            fairness: Some(0.99),
            passed: true,
            ..Scale::default()
        };
        assert!(good.is_within());
        for bad in [
            Scale { completed: Some(999_999), ..good.clone() },
            Scale { completed: None, ..good.clone() },
            Scale { held_sockets: 1_999_999, ..good.clone() },
            Scale { ramp_ns: 50_000_000_001, ..good.clone() },
            Scale { server_bytes: 601, ..good.clone() },
            Scale { document_bytes: 5_000_001, ..good.clone() },
            Scale { passed: false, ..good.clone() },
            Scale { fairness: Some(0.989), ..good.clone() },
            Scale { fairness: None, ..good.clone() },
            Scale { carried: carried([640_000_000, 639_999_936], 640_000_000), ..good.clone() },
            Scale { carried: Vec::new(), ..good.clone() },
        ] {
            assert!(!bad.is_within(), "{bad:?}");
        }
    }

    #[test]
    fn pings_are_held_to_their_counts_and_neither_to_a_rate_nor_to_memory() {
        let pings = Scale {
            kind: Kind::PingsOverUdp,
            flows: 100_000,
            carried: carried([500_000; 2], 500_000),
            held_sockets: 200_000,
            ramp_ns: 11_000_000_000,
            client_bytes: 3_700,
            passed: true,
            ..Scale::default()
        };
        assert!(pings.is_within());
        assert!(pings.rows().ends_with("all within all counts, 4.768 MiB"), "{}", pings.rows());
        let lost = Scale { carried: carried([500_000, 499_999], 500_000), ..pings.clone() };
        let fewer = Scale { held_sockets: 199_999, ..pings };
        assert!(!lost.is_within() && !fewer.is_within());
    }

    #[test]
    fn a_ramp_has_parts() {
        let ramp = vec![(0, 1), (100, 24), (200, 25), (300, 60), (400, 100)];
        let scale = Scale { flows: 100, ramp, ..Scale::default() };
        assert_eq!([0.25, 0.5, 1.0].map(|it| scale.ramp_to_ns(it)), [200, 300, 400].map(Some));
        assert_eq!(Scale { flows: 101, ..scale }.ramp_to_ns(1.0), None);
    }

    #[test]
    fn the_document_says_who_came_to_its_end_and_what_was_checked() {
        let read = |kind, checks: Value| {
            let percentile = |percent: f64, ns: u64| json!({ "percent": percent, "value_ns": ns });
            let rtt = json!({ "percentiles": [percentile(50.0, 7), percentile(99.0, 9)] });
            let summary = json!({ "goodput": { "completed": 7 }, "latency": { "rtt": rtt } });
            let document = json!({ "measurements": [{ "summary": summary, "checks": checks }] });
            let mut scale = Scale { kind, ..Scale::default() };
            scale.read(&document.to_string()).map(|()| scale).ok()
        };
        let passed = |checks| read(Kind::Requests, checks).map(|it| (it.completed, it.passed));
        let check = |passed: Option<bool>| json!({ "passed": passed });
        assert_eq!(passed(json!([check(Some(true))])), Some((Some(7), true)));
        assert_eq!(passed(json!([check(Some(true)), check(None)])), Some((Some(7), false)));
        assert_eq!(passed(json!([])), Some((Some(7), false)));
        let pings = read(Kind::PingsOverTcp, json!([])).expect("it is read");
        assert_eq!((pings.completed, pings.round_trips_ns), (None, Some([7, 9])));
        assert!(Scale::default().read("{}").is_err());
    }
}
