//! Very many connections at the same time: how fast they are made, what each takes of memory, and whether all carry their requests, one as
//! fast as another.
//!
//! No comparison: the bounds are a rate and amounts of memory. Both ends are on one node of a lab, whose loopback has ports for all.

mod sample;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use pathscope_core::quantity;
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::running::{Registry, Shaper};
use pathscope_lab::topology::Topology;
use serde::Serialize;
use serde_json::Value;

use self::sample::Sample;
use super::conditions::Conditions;
use crate::console::say;
use crate::ends::{End, now, pause};
use crate::folder;

/// What `--case` calls it.
pub const NAME: &str = "scale";

const TOPOLOGY: &str = "hosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = {}\n";

const PORT: u16 = 5_210;
/// Requests of each connection, and as many replies.
const REQUESTS: u64 = 10;
/// Bytes of either.
const REQUEST_BYTES: u64 = 64;
/// What an end may take for each connection.
const MOST_OURS_BYTES: u64 = 600;
/// So many are to be made in a second at the least.
const LEAST_A_SECOND: f64 = 20_000.0;
/// Jain's index over what connections carried a second, the lower one of both ways: each carries as many requests as any other.
const LEAST_FAIRNESS: f64 = 0.99;
/// What the document may take.
const MOST_DOCUMENT_BYTES: u64 = 5_000_000;
/// Sockets beside those of connections: the server's listener, and both ends of what is said.
const OTHER_SOCKETS: u64 = 3;
/// From one look to the next.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);
/// After which the run is given up.
const RUN_PATIENCE: Duration = Duration::from_secs(900);

/// What one run came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scale {
    /// Connections that were asked for.
    connections: u64,
    /// Those that came to their planned end at both ends.
    completed: u64,
    /// Sockets that both ends had at the same time at the most, without the one for words.
    held_sockets: u64,
    /// From the first connection to the last.
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
    /// Bytes that came and were verified, of requests and of replies.
    received_bytes: [u64; 2],
    /// Jain's index over connections, the lower one of both ways; absent where there is none.
    fairness: Option<f64>,
    /// What the kernel says of the first ones.
    sample: Sample,
    /// Whether all that the test checks is as it must be.
    passed: bool,
}

/// Makes so many connections, has each carry its requests, and prints what that came to.
pub fn run(conditions: &Conditions, connections: u64) -> Result<Scale> {
    say(format_args!(
        "\n{NAME}: {} connections at a time, {REQUESTS} requests of {REQUEST_BYTES} bytes and as many replies on each",
        quantity::count(connections)
    ))?;
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
    let (idle_bytes, slab_bytes) = (server.resident_bytes()?, slab_bytes()?);
    let mut client = lab.command("a", "setpriv");
    client.args(["--pdeathsig", "KILL"]).arg(&conditions.pathscope);
    let transfer = (2 * REQUESTS * REQUEST_BYTES).to_string();
    let (connections_word, request) = (connections.to_string(), REQUEST_BYTES.to_string());
    client.args(["goodput", &format!("127.0.0.1:{PORT}"), "--connections", &connections_word]);
    client.args(["--pattern", "pushpull", "--push-bytes", &request, "--pull-bytes", &request]);
    client.args(["--transfer", &transfer, "--no-probe", "--json", "--quiet"]);
    client.args(["--congestion", &conditions.congestion]);
    let begun = now();
    let mut client = End::start(client)?;
    let (mut scale, mut slab_most) = (Scale { connections, ..Scale::default() }, slab_bytes);
    let (mut before, mut client_most) = (begun.elapsed(), 0);
    let document = loop {
        if let Some(output) = client.output_if_ended(LOOK_EVERY) {
            break output;
        }
        ensure!(begun.elapsed() < RUN_PATIENCE, "make them: the client does not end");
        // Of a client that is about to end nothing is read any more.
        client_most = resident_bytes(client.id()).unwrap_or(0).max(client_most);
        let (at, sockets) = (begun.elapsed(), server.sockets()?.saturating_sub(OTHER_SOCKETS));
        if sockets == 0 {
            before = at;
        }
        if sockets > scale.held_sockets {
            scale.held_sockets = sockets;
            scale.ramp_ns = nanoseconds(at.saturating_sub(before));
            scale.ramp.push((scale.ramp_ns, sockets / 2));
            slab_most = self::slab_bytes()?.max(slab_most);
        }
    };
    scale.wall_ns = nanoseconds(begun.elapsed());
    let of_each = |bytes: u64| bytes / connections.max(1);
    scale.client_bytes = of_each(client_most);
    scale.server_bytes = of_each(server.resident_bytes()?.saturating_sub(idle_bytes));
    scale.kernel_bytes = of_each(slab_most.saturating_sub(slab_bytes));
    scale.document_bytes = document.len() as u64;
    scale.read(&document)?;
    say(scale.row())?;
    Ok(scale)
}

impl Scale {
    /// Takes what the document says.
    fn read(&mut self, document: &str) -> Result<()> {
        let document: Value = serde_json::from_str(document).context("read the run's document")?;
        let completed = document.pointer("/measurements/0/summary/goodput/completed");
        let checks = document.pointer("/measurements/0/checks").and_then(Value::as_array);
        self.completed = completed.and_then(Value::as_u64).context("find who came to its end")?;
        let checks = checks.context("find checks in the run's document")?;
        let way = |name: &str| &document["measurements"][0]["summary"]["goodput"][name];
        let ways = ["up", "down"].map(way);
        self.received_bytes = ways.map(|way| way["received_bytes"].as_u64().unwrap_or(0));
        // Where one way has none, the other one says nothing of both.
        let [up, down] = ways.map(|way| way["fairness"].as_f64());
        self.fairness = up.zip(down).map(|(up, down)| up.min(down));
        self.sample = Sample::of(&document);
        self.passed = !checks.is_empty() && checks.iter().all(|check| check["passed"] == true);
        Ok(())
    }

    fn per_second(&self) -> f64 {
        self.connections as f64 * 1e9 / self.ramp_ns.max(1) as f64
    }

    /// From the first connection until this share of all was there, as it was looked.
    fn ramp_to_ns(&self, share: f64) -> Option<u64> {
        let wanted = self.connections as f64 * share;
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
        self.passed
            && self.completed == self.connections
            && self.received_bytes == [self.connections * REQUESTS * REQUEST_BYTES; 2]
            && self.fairness.is_some_and(|fairness| fairness >= LEAST_FAIRNESS)
            && self.held_sockets >= 2 * self.connections
            && self.per_second() >= LEAST_A_SECOND
            && self.client_bytes.max(self.server_bytes) <= MOST_OURS_BYTES
            && self.document_bytes <= MOST_DOCUMENT_BYTES
    }

    fn row(&self) -> String {
        let fairness = self.fairness.map_or_else(|| "unknown".to_owned(), |it| format!("{it:.3}"));
        let [made, over] = [self.ramp_ns, self.wall_ns].map(quantity::duration_ns);
        let [requests, replies] = self.received_bytes.map(quantity::bytes);
        [
            format!(
                "held {} of both ends, completed {}, checks {}; {requests} of requests and {replies} of replies verified; fairness {fairness}",
                quantity::count(self.held_sockets),
                quantity::count(self.completed),
                if self.passed { "passed" } else { "failed" },
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
            self.sample.in_words(),
            format!(
                "{} within {LEAST_A_SECOND:.0} a second, {MOST_OURS_BYTES} B, fairness {LEAST_FAIRNESS}, {}",
                if self.is_within() { "all" } else { "not all" },
                quantity::bytes(MOST_DOCUMENT_BYTES),
            ),
        ]
        .join("\n")
    }
}

/// The server. Ends with the value.
struct Server(Child);

impl Server {
    fn start(lab: &Lab, pathscope: &Path) -> Result<Self> {
        let mut command: Command = lab.command("a", "setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(pathscope);
        // Whoever is told of each connection remembers it for that.
        command.args(["server", "--quiet", "--listen", "127.0.0.1", "--port", &PORT.to_string()]);
        // All that a stranger is held to: this one client is to have everything.
        for limit in ["connections", "descriptors", "descriptors-per-address", "memory"] {
            command.args([&format!("--limit-{limit}"), "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Self(command.spawn().context("start the server")?);
        let start = now();
        while !server.listens() {
            let ended = server.0.try_wait().context("look after the server")?;
            ensure!(ended.is_none(), "start the server: it has ended");
            ensure!(start.elapsed() < PATIENCE, "start the server: it does not listen");
            pause(LOOK_EVERY);
        }
        Ok(server)
    }

    /// Before there are connections, of which the kernel would list each.
    fn listens(&self) -> bool {
        let path = format!("/proc/{}/net/tcp", self.0.id());
        let end = format!(":{PORT:04X}");
        fs::read_to_string(path).unwrap_or_default().lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1));
            local.ends_with(&end) && state == Some("0A")
        })
    }

    /// TCP sockets of its node that are in use.
    fn sockets(&self) -> Result<u64> {
        let path = format!("/proc/{}/net/sockstat", self.0.id());
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        in_use(&text).with_context(|| format!("find sockets in {path}"))
    }

    fn resident_bytes(&self) -> Result<u64> {
        resident_bytes(self.0.id()).context("see what the server has resident")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `TCP: inuse N` of `sockstat`; listeners are among them.
fn in_use(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP: inuse "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The most that a process had resident.
fn resident_bytes(process: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmHWM:")
}

/// What the kernel has of small blocks, sockets among them.
fn slab_bytes() -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("read /proc/meminfo")?;
    kibibytes(&text, "Slab:").context("find Slab in /proc/meminfo")
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        let text =
            "sockets: used 9\nTCP: inuse 2000004 orphan 0 tw 3 alloc 7 mem 1\nUDP: inuse 1\n";
        assert_eq!((in_use(text), in_use("UDP: inuse 1\n")), (Some(2_000_004), None));
        assert_eq!(kibibytes("MemFree: 1 kB\nSlab:   12 kB\n", "Slab:"), Some(12_288));
    }

    #[test]
    fn one_that_is_missing_or_too_large_is_not_within() {
        let good = Scale {
            connections: 1_000_000,
            completed: 1_000_000,
            held_sockets: 2_000_000,
            ramp_ns: 50_000_000_000,
            client_bytes: 600,
            document_bytes: 1,
            received_bytes: [640_000_000; 2],
            fairness: Some(0.99),
            passed: true,
            ..Scale::default()
        };
        assert!(good.is_within());
        for bad in [
            Scale { completed: 999_999, ..good.clone() },
            Scale { held_sockets: 1_999_999, ..good.clone() },
            Scale { ramp_ns: 50_000_000_001, ..good.clone() },
            Scale { server_bytes: 601, ..good.clone() },
            Scale { document_bytes: 5_000_001, ..good.clone() },
            Scale { passed: false, ..good.clone() },
            Scale { fairness: Some(0.989), ..good.clone() },
            Scale { fairness: None, ..good.clone() },
            Scale { received_bytes: [640_000_000, 639_999_936], ..good.clone() },
        ] {
            assert!(!bad.is_within(), "{bad:?}");
        }
    }

    #[test]
    fn a_ramp_has_parts() {
        let ramp = vec![(0, 1), (100, 24), (200, 25), (300, 60), (400, 100)];
        let scale = Scale { connections: 100, ramp, ..Scale::default() };
        assert_eq!([0.25, 0.5, 1.0].map(|it| scale.ramp_to_ns(it)), [200, 300, 400].map(Some));
        assert_eq!(Scale { connections: 101, ..scale }.ramp_to_ns(1.0), None);
    }

    #[test]
    fn the_document_says_who_came_to_its_end_and_what_was_checked() {
        let said = |checks: &str| {
            format!(
                "{{\"measurements\": [{{\"summary\": {{\"goodput\": {{\"completed\": 7, \"up\": {{\"received_bytes\": 5, \"fairness\": 0.75}}, \
                 \"down\": {{\"received_bytes\": 6, \"fairness\": 0.5}}}}}}, \"checks\": [{checks}]}}]}}"
            )
        };
        let read = |checks: &str| {
            let mut scale = Scale::default();
            scale.read(&said(checks)).map(|()| scale).ok()
        };
        let passed = |checks: &str| read(checks).map(|scale| (scale.completed, scale.passed));
        assert_eq!(passed("{\"passed\": true}"), Some((7, true)));
        assert_eq!(passed("{\"passed\": true}, {\"passed\": null}"), Some((7, false)));
        assert_eq!(passed(""), Some((7, false)));
        let scale = read("").expect("it is read");
        assert_eq!((scale.received_bytes, scale.fairness), ([5, 6], Some(0.5)));
        assert!(Scale::default().read("{}").is_err());
    }
}
