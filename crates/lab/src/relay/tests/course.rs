//! Two hosts' cables and a relay between them, with our own packet sockets in the hosts' place.

use std::time::Duration;

use pathscope_core::Tick;
use pathscope_os::clock;
use pathscope_os::namespaces::Network;
use pathscope_os::packets::{Batch, MOST_AT_ONCE, PacketSocket, Scope};
use pathscope_os::readiness::{Interest, Poller};

use crate::kernel::{End, Kernel, Settings, apply};
use crate::link::{Conditions, Order, Seed, Way};
use crate::relay::{Relay, RelayAccount, TimedOrder, Wire};
use crate::topology::Mac;

/// What cables carry: more than some tests let their link carry.
const MTU: u32 = 1_500;
/// The longest frame.
pub const FRAME_BYTES: usize = MTU as usize + 14;
const BUFFER: usize = 8 << 20;
/// How long anything may take on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// A relayed link under test.
pub struct Course {
    pub relay: Relay,
    /// Where frames are put in and come out.
    pub ends: [PacketSocket; 2],
    /// The network of the relay's ports, `p0` and `p1`.
    pub wires: Kernel,
    _networks: Vec<Network>,
}

/// A link that nobody relays yet.
pub struct Unrelayed {
    pub wire: Wire,
    pub ends: [PacketSocket; 2],
    wires: Kernel,
    networks: Vec<Network>,
}

/// A link with these conditions from the first end to the second, and back; none where this user may not
/// have one.
pub fn course(words: [&str; 2], frame_bytes: usize) -> Option<Course> {
    let Unrelayed { wire, ends, wires, networks } = unrelayed(words, frame_bytes)?;
    let relay = Relay::start(vec![wire]).expect("it has all it needs");
    Some(Course { relay, ends, wires, _networks: networks })
}

/// The same before there is a relay.
pub fn unrelayed(words: [&str; 2], frame_bytes: usize) -> Option<Unrelayed> {
    let open = |name| {
        let network =
            Network::create().map_err(|error| println!("skipped, because we {error}")).ok()?;
        apply(&network, name, Settings::default()).expect("it is ours");
        let kernel = Kernel::of(&network, name).expect("we may talk to a network that is ours");
        Some((network, kernel))
    };
    let (wires, mut wires_kernel) = open("wires")?;
    let mut networks = Vec::new();
    let mut parts = Vec::new();
    for (number, port) in [(0, "p0"), (1, "p1")] {
        let (network, mut kernel) = open("end")?;
        let end = |name, last| End { name, mac: Mac([2, 0, 0, 0, number, last]), mtu: MTU };
        kernel.create_veth(end("eth0", 1), end(port, 2), &wires).expect("the names are free");
        kernel.set_up("eth0", true).expect("it is there");
        wires_kernel.set_up(port, true).expect("it is there");
        let socket = |network: &Network, kernel: &mut Kernel, name| {
            let index = kernel.link(name).expect("it is there").index;
            let open = || PacketSocket::open(index, Scope::Incoming, BUFFER).expect("we may");
            network.run(open).expect("we made it")
        };
        let near = socket(&network, &mut kernel, "eth0");
        parts.push((near, socket(&wires, &mut wires_kernel, port)));
        networks.push(network);
    }
    networks.push(wires);
    let (ends, ports): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let wire = Wire {
        name: "a:b".to_owned(),
        nodes: ["a", "b"].map(str::to_owned),
        ports: ports.try_into().expect("a link has two ends"),
        conditions: words.map(conditions),
        seeds: [Way::Forth, Way::Back].map(|way| Seed { lab: 1, link: 0, way }),
        frame_bytes,
    };
    let ends = ends.try_into().expect("a link has two ends");
    Some(Unrelayed { wire, ends, wires: wires_kernel, networks })
}

/// The conditions of these words.
pub fn conditions(words: &str) -> Conditions {
    let Order::Change(change) = order(words) else { panic!("{words} are no conditions") };
    Conditions::default().after(&change).expect("a link can be like that")
}

/// The order of these words.
pub fn order(words: &str) -> Order {
    Order::from_words(words.split(' ')).expect("valid words")
}

/// An order to both directions.
pub fn at(at: Tick, words: &str) -> TimedOrder {
    TimedOrder { wire: 0, way: None, order: order(words), at }
}

/// Frames of these lengths that no protocol is known for, each with its number.
pub fn frames(lengths: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    let frame = |(number, length): (u32, usize)| {
        let mut frame = vec![2; 12];
        frame.extend([0x88, 0xb5]);
        frame.extend(number.to_be_bytes());
        frame.resize(length, number as u8);
        frame
    };
    (0..).zip(lengths).map(frame).collect()
}

impl Course {
    /// Sends frames from one end.
    pub fn offer(&self, end: usize, frames: &[Vec<u8>]) {
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let mut rest = frames.as_slice();
        while !rest.is_empty() {
            let sent = self.ends[end].send(rest).expect("a cable takes all");
            assert!(sent > 0, "the cable has no room");
            rest = &rest[sent..];
        }
    }

    /// Takes this many frames at one end, in the order in which they come, each with its stamp.
    pub fn take(&self, end: usize, count: usize) -> Vec<(Tick, Vec<u8>)> {
        let poller = Poller::new().expect("a poller");
        poller.add(&self.ends[end], 0, Interest::INPUT).expect("it has a descriptor");
        let (mut batch, mut ready) = (Batch::new(MOST_AT_ONCE, FRAME_BYTES), Vec::new());
        let mut taken = Vec::new();
        while taken.len() < count {
            poller.wait(&mut ready, Some(PATIENCE)).expect("a wait");
            assert!(!ready.is_empty(), "{} of {count} came within ten seconds", taken.len());
            self.ends[end].receive(&mut batch).expect("it is up");
            taken.extend(batch.frames().map(|frame| (frame.arrival, frame.bytes.to_vec())));
        }
        taken
    }

    /// Takes frames that have to be these.
    pub fn expect(&self, end: usize, frames: &[Vec<u8>]) {
        let taken = self.take(end, frames.len());
        let taken: Vec<_> = taken.into_iter().map(|(_, frame)| frame).collect();
        assert!(taken == frames, "other frames came, or in another order");
    }

    /// Waits until the account is like that.
    pub fn until(&self, is_so: impl Fn(&RelayAccount) -> bool) -> RelayAccount {
        let begin = clock::now();
        loop {
            let account = self.relay.account().expect("it runs");
            if is_so(&account) {
                return account;
            }
            let waited = clock::now().nanos_since(begin);
            assert!(
                u128::from(waited) < PATIENCE.as_nanos(),
                "not within ten seconds: {account:?}"
            );
        }
    }

    /// The account, once so many frames came to the two directions and none is on its way.
    pub fn settled(&self, offered: [u64; 2]) -> RelayAccount {
        self.until(|account| {
            let link = &account.links[0];
            let totals = [&link.forward.truth.total, &link.backward.truth.total];
            totals.map(|total| total.offered.frames) == offered
                && totals.iter().all(|total| total.in_flight().frames == 0)
        })
    }
}
