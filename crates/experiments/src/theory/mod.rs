//! What the links between nodes promise of figures: round trips, rates, losses and how long a full queue takes.
//!
//! - **A round trip** takes each link's delay and the time that it takes to send the frame, there and back. What nodes need
//!   themselves is not in it.
//! - **Streams** share each link so that nobody can get more without somebody getting less who has no more (max-min fairness:
//!   Bertsekas and Gallager, *Data Networks*, 2nd edition, section 6.5.2), each connection counting as one. What single ones get
//!   depends on their congestion control and round trips; what they get together where all cross one full link does not.
//! - **Datagrams** lose at each link what is offered above its rate, everybody in proportion: its queue drops at its tail.
//! - **A full queue** holds a round trip up for as long as the link needs to send what waits in it.
//!
//! Where none of this decides, such as streams over a link that loses at random, or beside datagrams that leave them no room,
//! there is no promise.

mod rates;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use pathscope_flow::Transport;
use pathscope_lab::link::{Conditions, Loss, Queue, Rate, Reordering};
use pathscope_lab::topology::{Hop, Network, Node};
use pathscope_modes::offered::{Load, Offered, PingSizes};

/// Ethernet's header, which the rates of links count.
const ETHERNET_BYTES: u64 = 14;
/// That of IPv4, and how much longer that of IPv6 is.
const IPV4_BYTES: u64 = 20;
const IPV6_MORE_BYTES: u64 = 20;
/// UDP's, and ICMP's for an echo.
const UDP_BYTES: u64 = 8;
/// TCP's with its stamps (RFC 7323), which Linux sends with every segment.
const TCP_BYTES: u64 = 32;

/// What a program puts on the path between its nodes, and what its pings weigh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transmission {
    /// Whether that is known: not of a program that said nothing.
    pub is_known: bool,
    /// Its load.
    pub offered: Offered,
    /// Its pings, where it is made of them.
    pub ping: Option<PingSizes>,
    /// Those beside its load.
    pub probe: Option<PingSizes>,
}

/// Of many round trips.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Which {
    /// The least.
    Least,
    /// Their mean.
    Mean,
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Way {
    /// From the client.
    Up,
    /// From the server.
    Down,
}

/// Programs that are under way at the same time, and what comes of them.
#[derive(Debug)]
pub struct Promises<'network> {
    network: &'network Network,
    flows: Vec<Flow>,
    /// Which directions of links are full, so that their queues are; absent where that is not known.
    full: BTreeMap<Hop, bool>,
}

/// Load of one run, one way.
#[derive(Debug)]
struct Flow {
    run: usize,
    way: Way,
    hops: Vec<Hop>,
    load: Load,
    payload_bytes: u64,
    /// Of the payload with all headers.
    frame_bytes: u64,
    /// Whether that is more than fits into one packet.
    is_in_fragments: bool,
    /// Bits of payload a second that arrive; absent where nothing decides.
    arrives_bps: Option<f64>,
}

impl<'network> Promises<'network> {
    /// Of runs between these nodes. One whose nodes have no way between them adds nothing.
    pub fn new(network: &'network Network, runs: &[(&str, &str, &Transmission)]) -> Self {
        let mut flows = Vec::new();
        for (run, &(from, to, transmission)) in runs.iter().enumerate() {
            let offered = &transmission.offered;
            let up = offered.up.clone().zip(network.way(from, to));
            let down = offered.down.clone().zip(network.way_back(from, to));
            for (way, found) in [(Way::Up, up), (Way::Down, down)] {
                let Some((load, hops)) = found else { continue };
                let ip_bytes = ip_bytes(network, to);
                let packet = network.largest_packet(&hops).map_or(1_500, u64::from);
                flows.push(Flow::new(run, way, (hops, packet, ip_bytes), load));
            }
        }
        let mut promises = Self { network, flows, full: BTreeMap::new() };
        promises.share_out();
        promises
    }

    /// Payload that arrives, in bits a second, of one run and way.
    pub fn rate_bps(&self, run: usize, way: Way) -> Option<f64> {
        self.flow(run, way)?.arrives_bps
    }

    /// Of the datagrams of one run and way, the share that does not arrive.
    pub fn lost_share(&self, run: usize, way: Way) -> Option<f64> {
        let flow = self.flow(run, way)?;
        let Load::Datagrams { rate_bps: Some(offered), .. } = flow.load else { return None };
        Some(1.0 - (flow.arrives_bps? / offered).min(1.0))
    }

    /// Connections of one run and way.
    pub fn connections(&self, run: usize, way: Way) -> Option<u32> {
        match self.flow(run, way)?.load {
            Load::Streams { connections, .. } => Some(connections),
            Load::Datagrams { flows, .. } => Some(flows),
        }
    }

    /// A round trip of pings of these sizes from one node to another while nothing waits, in nanoseconds: the mean of many, or
    /// the least. Absent where delays differ by chance and the mean was asked for.
    pub fn idle_rtt_ns(&self, from: &str, to: &str, sizes: PingSizes, which: Which) -> Option<f64> {
        let ip_bytes = ip_bytes(self.network, to);
        let one_way = |hops: Vec<Hop>, payload_bytes: u64| {
            let frame_bytes = payload_bytes + headers(sizes.transport) + ip_bytes + ETHERNET_BYTES;
            let times = hops.iter().filter_map(|&hop| self.network.conditions(hop)).map(|it| {
                let is_steady = it.jitter.0 == 0 && it.reordering == Reordering::default();
                let delay = match which {
                    Which::Least => it.delay.0.saturating_sub(it.jitter.0),
                    Which::Mean => it.delay.0,
                };
                (is_steady || which == Which::Least)
                    .then(|| delay as f64 + sending_ns(it.rate, frame_bytes))
            });
            times.sum::<Option<f64>>()
        };
        let there = one_way(self.network.way(from, to)?, sizes.request_bytes)?;
        Some(there + one_way(self.network.way_back(from, to)?, sizes.reply_bytes)?)
    }

    /// By how much a round trip between these nodes is longer at the most than an idle one, in nanoseconds: the queues of all
    /// links on its way that are full. Absent where it is not known whether they are.
    pub fn full_queues_ns(&self, from: &str, to: &str) -> Option<f64> {
        let mut hops = self.network.way(from, to)?;
        hops.extend(self.network.way_back(from, to)?);
        let mut sum = 0.0;
        for hop in hops {
            let loads = self.flows.iter().filter(|flow| flow.hops.contains(&hop));
            let Some(frame_bytes) = loads.map(|flow| flow.frame_bytes).max() else { continue };
            if self.rate_of(hop).is_some() && *self.full.get(&hop)? {
                sum += self.network.conditions(hop).map_or(0.0, |it| drain_ns(it, frame_bytes));
            }
        }
        Some(sum)
    }

    fn flow(&self, run: usize, way: Way) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.run == run && flow.way == way)
    }

    fn rate_of(&self, hop: Hop) -> Option<f64> {
        match self.network.conditions(hop)?.rate {
            Rate::Unlimited => None,
            Rate::Limited(rate) => Some(rate.0 as f64),
        }
    }

    /// Whether a link treats all frames alike, so that a stream fills it.
    fn is_clean(&self, flow: &Flow) -> bool {
        let conditions = flow.hops.iter().filter_map(|&hop| self.network.conditions(hop));
        conditions.into_iter().all(|it| {
            let without = Conditions {
                rate: it.rate,
                delay: it.delay,
                queue: it.queue,
                ..Conditions::default()
            };
            *it == without
        })
    }
}

/// The least that any round trip between two nodes takes, in nanoseconds: the delays there and back.
pub fn least_rtt_ns(network: &Network, from: &str, to: &str) -> Option<f64> {
    let hops = network.way(from, to)?.into_iter().chain(network.way_back(from, to)?);
    let delays = hops.filter_map(|hop| network.conditions(hop));
    Some(delays.map(|it| it.delay.0.saturating_sub(it.jitter.0) as f64).sum())
}

/// The most that any load gets through, in bits a second, whichever way it goes; absent where a way has no limit.
pub fn most_rate_bps(network: &Network, from: &str, to: &str) -> Option<f64> {
    let narrowest = |hops: Vec<Hop>| {
        let rates = hops.into_iter().filter_map(|hop| match network.conditions(hop)?.rate {
            Rate::Unlimited => None,
            Rate::Limited(rate) => Some(rate.0 as f64),
        });
        rates.reduce(f64::min)
    };
    let there = narrowest(network.way(from, to)?)?;
    Some(there.max(narrowest(network.way_back(from, to)?)?))
}

impl Flow {
    fn new(
        run: usize,
        way: Way,
        (hops, packet, ip_bytes): (Vec<Hop>, u64, u64),
        load: Load,
    ) -> Self {
        let (payload_bytes, packet_bytes) = match load {
            Load::Streams { .. } => (packet.saturating_sub(ip_bytes + TCP_BYTES).max(1), packet),
            Load::Datagrams { payload_bytes, .. } => {
                (payload_bytes.max(1), payload_bytes + ip_bytes + UDP_BYTES)
            }
        };
        let is_in_fragments = packet_bytes > packet;
        let frame_bytes = packet_bytes + ETHERNET_BYTES;
        Self {
            run,
            way,
            hops,
            load,
            payload_bytes,
            frame_bytes,
            is_in_fragments,
            arrives_bps: None,
        }
    }

    /// What it would send if all of it arrived, in bits of frames a second; nothing where it takes what it gets.
    fn wants_bps(&self) -> Option<f64> {
        let payload_bps = match self.load {
            Load::Streams { rate_bps, connections } => {
                rate_bps.map(|rate| rate * f64::from(connections))
            }
            Load::Datagrams { rate_bps, .. } => rate_bps,
        };
        payload_bps.map(|rate| rate * self.frames_for_payload())
    }

    fn is_stream(&self) -> bool {
        matches!(self.load, Load::Streams { .. })
    }

    /// Whether what it does to others can be said: not of datagrams as fast as they go, or of those in fragments.
    fn is_clear(&self) -> bool {
        self.is_stream() || self.wants_bps().is_some() && !self.is_in_fragments
    }

    /// Bits of frames for each bit of payload.
    fn frames_for_payload(&self) -> f64 {
        self.frame_bytes as f64 / self.payload_bytes as f64
    }
}

/// What stands between the header of IP and the payload.
const fn headers(transport: Transport) -> u64 {
    match transport {
        Transport::Stream => TCP_BYTES,
        Transport::Datagram => UDP_BYTES,
    }
}

/// The header of IP, of the family in which a node is called.
fn ip_bytes(network: &Network, called: &str) -> u64 {
    let address = network.node(called).and_then(Node::first_address);
    IPV4_BYTES + if address.is_some_and(|it| it.is_ipv6()) { IPV6_MORE_BYTES } else { 0 }
}

fn sending_ns(rate: Rate, frame_bytes: u64) -> f64 {
    match rate {
        Rate::Unlimited => 0.0,
        Rate::Limited(rate) => frame_bytes as f64 * 8e9 / rate.0 as f64,
    }
}

/// How long a link needs for what is ahead of a frame that just finds room in its full queue: one less than may wait, and the one
/// that is sent.
fn drain_ns(conditions: &Conditions, frame_bytes: u64) -> f64 {
    let ahead = match conditions.queue {
        Queue::Packets(frames) => u64::from(frames) * frame_bytes,
        Queue::Bytes(bytes) => bytes,
    };
    sending_ns(conditions.rate, ahead)
}

/// Of many frames, the share that is lost.
fn mean_loss(loss: Loss) -> f64 {
    match loss {
        Loss::None => 0.0,
        Loss::Random(chance) => chance.share(),
        Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            let (to_bad, to_good) = (to_bad.share(), to_good.share());
            let bad = if to_bad + to_good > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
            bad * loss_bad.share() + (1.0 - bad) * loss_good.share()
        }
    }
}
