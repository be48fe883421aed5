//! Labs through the binary, each in a registry of its own, so that labs of tests that run beside each
//! other never meet. Here is what these tests share; a test that may not have namespaces says so.

mod bad_words;
mod calibration;
mod captures;
mod changes;
mod claims;
mod crowd;
mod datagrams;
mod delays;
mod disturbed;
mod ends;
mod experiments;
mod fast_open;
mod find_rate;
mod fragments;
mod goodput;
mod interfaces;
mod kernel_shaped;
mod leftovers;
mod listen_queue;
mod media;
mod multipath;
mod multipath_faults;
mod multipath_server;
mod multipath_truth;
mod portfolio;
mod ports;
mod presence;
mod rates;
mod retransmits;
mod scale;
mod second_interface;
mod standstill;
mod threads;
mod tools_crowd;
mod truth;
mod verdicts;
mod withheld;
mod without_root;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use pathscope_lab::harness::{Lab, Plan, UpError};
use pathscope_lab::link::{Counts, FlowCounts, Order, Tally};
use pathscope_lab::relay::{DirectionAccount, RelayAccount};
use pathscope_lab::running::{Registry, SetOrder, Shaper, TOKEN_VARIABLE};
use pathscope_lab::topology::{Network, Topology};
use pathscope_modes::document::{Document, Measurement};
use pathscope_os::{clock, namespaces};
use tempfile::TempDir;

use crate::common::{Ran, Running, pathscope};

const BINARY: &str = env!("CARGO_BIN_EXE_pathscope");

/// Where servers listen: each node has all ports for itself.
const PORT: u16 = pathscope_peers::registry::DEFAULT_PORT;

/// Two hosts and one link that does nothing but take its time.
const PAIR: &str =
    "name = \"pair\"\nhosts = [\"a\", \"b\"]\n[links]\n\"a:b\" = { delay = \"1ms\" }\n";

/// A lab that is up, and the folder it is written down in.
struct Stand {
    lab: Lab,
    folder: Folder,
}

/// A registry, and room for files.
struct Folder {
    folder: TempDir,
    registry: Registry,
}

impl Folder {
    /// None where labs are refused, which is said.
    fn new() -> Option<Self> {
        if let Err(refusal) = labs_are_allowed() {
            println!("skipped, because {refusal}");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let registry = Registry::at(folder.path().join("lab"));
        Some(Self { folder, registry })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The labs that are written down.
    fn names(&self) -> Vec<String> {
        self.registry.names().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A file with this text.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a folder of ours");
        path.to_str().expect("plain").to_owned()
    }

    /// `pathscope lab` with these words.
    fn command(&self, words: &[&str]) -> Command {
        let root = self.registry.root().to_str().expect("plain");
        pathscope(&[&["lab", "--registry", root], words].concat())
    }

    fn run(&self, words: &[&str]) -> Ran {
        Running::start(self.command(words)).finish()
    }

    fn up(&self, text: &str) -> Lab {
        self.up_by(text, Shaper::Relay).unwrap_or_else(|error| panic!("{error}"))
    }

    fn up_by(&self, text: &str, shaper: Shaper) -> Result<Lab, UpError> {
        let network = network(text);
        let (binary, name) = (BINARY.as_ref(), network.name());
        let plan = Plan {
            binary,
            registry: &self.registry,
            name,
            network: &network,
            seed: Some(7),
            shaper,
        };
        Lab::up(&plan)
    }
}

impl Drop for Folder {
    /// A test that failed leaves no lab behind.
    fn drop(&mut self) {
        for name in self.registry.names().unwrap_or_default() {
            // What cannot be taken down is not what the test is about.
            let _ = self.command(&["down", &name]).output();
        }
    }
}

impl Stand {
    /// None where labs are refused, which is said.
    fn up(text: &str) -> Option<Self> {
        let folder = Folder::new()?;
        Some(Self { lab: folder.up(text), folder })
    }

    /// A program on a node.
    fn start(&self, node: &str, words: &[&str]) -> Running {
        let mut command = self.lab.command(node, words[0]);
        command
            .args(&words[1..])
            .env("COLUMNS", "80")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        Running::start(command)
    }

    /// The binary on a node.
    fn pathscope(&self, node: &str, words: &[&str]) -> Running {
        self.start(node, &[&[BINARY], words].concat())
    }

    /// A server on a node, that listens, and does for all callers what it does for those of its own machine.
    fn server(&self, node: &str) -> Running {
        let allowed = ["--allow-spin", "--allow-pinning", "--allow-congestion"];
        let mut server = self.pathscope(node, &[&["server"], &allowed[..]].concat());
        server.await_stderr("listening on");
        server
    }

    /// The IPv4 address of an interface.
    fn address(&self, node: &str, interface: &str) -> String {
        let words = ["ip", "-4", "-o", "address", "show", "dev", interface];
        let listed = self.start(node, &words).finish().exits(0).stdout;
        let address = listed.split_whitespace().skip_while(|word| *word != "inet").nth(1);
        address.and_then(|it| it.split('/').next()).expect("it has one").to_owned()
    }

    fn account(&self) -> RelayAccount {
        self.lab.account().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The account once nothing is on its way: two in a row are the same.
    ///
    /// The relay answers before it takes what waits at its ports, so what waited at the first answer is
    /// in the second.
    fn settled(&self) -> RelayAccount {
        let mut last = self.account();
        wait_until("the relay's account stands still", || {
            let before = std::mem::replace(&mut last, self.account());
            let on_its_way = |it: &DirectionAccount| it.truth.total.in_flight() != Tally::default();
            // Asking wakes the relay, so its turns go on.
            before.links == last.links && !directions(&last).any(on_its_way)
        });
        last
    }

    /// Until one flow of this protocol between these ports, where 0 is any, has brought so many frames since then from
    /// there to the other end of the only link.
    ///
    /// Unlike a row of the client's it needs nothing that the ends say to each other, so a test may damage all that is
    /// on its way after it, as long as the control connection has nothing there.
    fn await_frames(&self, since: &RelayAccount, from: &str, flow: (u8, [u16; 2]), frames: u64) {
        let (protocol, ports) = flow;
        wait_until("so many frames went over the link", || {
            let account = self.account().since(since);
            let link = account.links.first().expect("a link");
            let direction = if from == "a" { &link.forward } else { &link.backward };
            let mut flows = direction.truth.flows.iter();
            flows.any(|it| is_flow(it, protocol, ports) && it.counts.delivered.frames >= frames)
        });
    }

    fn set(&self, orders: &[(&str, u64)], link: &str, from: Option<&str>) {
        let order = |(words, after_ms): &(&str, u64)| SetOrder {
            link: link.to_owned(),
            from: from.map(str::to_owned),
            order: words.parse::<Order>().expect(words),
            after_ns: after_ms * 1_000_000,
        };
        let set = self.lab.set(orders.iter().map(order).collect());
        set.unwrap_or_else(|error| panic!("{error}"));
    }
}

fn network(text: &str) -> Network {
    Topology::read("test.toml", text).network().unwrap_or_else(|faults| panic!("{faults}"))
}

fn directions(account: &RelayAccount) -> impl Iterator<Item = &DirectionAccount> {
    account.links.iter().flat_map(|link| [&link.forward, &link.backward])
}

/// The one flow of this protocol between these ports, where 0 is any.
fn only_flow(direction: &DirectionAccount, protocol: u8, ports: [u16; 2]) -> Counts {
    let is_it = |row: &&FlowCounts| is_flow(row, protocol, ports);
    let rows: Vec<_> = direction.truth.flows.iter().filter(is_it).collect();
    assert_eq!(rows.len(), 1, "one flow of {protocol} {ports:?}: {:?}", direction.truth.flows);
    rows[0].counts
}

fn is_flow(row: &FlowCounts, wanted: u8, ports: [u16; 2]) -> bool {
    use pathscope_lab::link::{Flow, Ports};
    let matches = |wanted, found| wanted == 0 || wanted == found;
    match row.flow {
        Flow::Ip { protocol, ports: Ports::Pair { source, destination }, .. } => {
            protocol == wanted && matches(ports[0], source) && matches(ports[1], destination)
        }
        _ => false,
    }
}

const UDP: u8 = 17;
const TCP: u8 = 6;

fn only(document: &Document) -> &Measurement {
    assert_eq!(document.measurements.len(), 1);
    &document.measurements[0]
}

/// Until something holds that nobody tells us of; not for ever.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = clock::now().plus_nanos(90_000_000_000);
    while !holds() {
        assert!(clock::now() < end, "it never was so that {what}");
        std::thread::yield_now();
    }
}

/// Processes whose environment has the token of a lab.
fn processes_with(token: &str) -> Vec<u32> {
    let word = format!("{TOKEN_VARIABLE}={token}");
    let carries = |process: &u32| {
        fs::read(format!("/proc/{process}/environ"))
            .is_ok_and(|found| found.split(|&byte| byte == 0).any(|it| it == word.as_bytes()))
    };
    processes().filter(carries).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("proc(5)").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether this user may have namespaces at all; why not.
fn labs_are_allowed() -> Result<(), String> {
    if is_root() {
        return namespaces::Network::create().map(drop).map_err(|error| format!("we {error}"));
    }
    let words = ["--user", "--map-root-user", "--net", "true"];
    match Command::new("unshare").args(words).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "user namespaces are refused: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(error) => Err(format!("unshare does not start: {error}")),
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}
