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

use std::collections::BTreeMap;

use pathscope_flow::Transport;
use pathscope_lab::link::{Conditions, Loss, Queue, Rate};
use pathscope_lab::topology::{Hop, Network};
use pathscope_modes::offered::{Load, Offered, PingSizes};

/// Ethernet's header, which the rates of links count.
const ETHERNET_BYTES: u64 = 14;
/// Headers of IPv4 and UDP (or, as long, of IPv4 and ICMP's echo).
const DATAGRAM_HEADERS_BYTES: u64 = 28;
/// Headers of IPv4 and TCP with its stamps (RFC 7323), which Linux sends with every segment.
const STREAM_HEADERS_BYTES: u64 = 52;
/// So close to its rate, a link counts as full.
const FULL: f64 = 0.999;
/// Rounds in which rates of datagrams settle along their ways: more than a way has links.
const ROUNDS: usize = 64;

/// What a program puts on the path between its nodes, and what its pings weigh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transmission {
    /// Its load.
    pub offered: Offered,
    /// Its pings, where it is made of them.
    pub ping: Option<PingSizes>,
    /// Those beside its load.
    pub probe: Option<PingSizes>,
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
    /// How much of its rate each direction of a link has to carry; above 1 where datagrams are dropped.
    used: BTreeMap<Hop, f64>,
}

/// Load of one run, one way.
#[derive(Debug)]
struct Flow {
    run: usize,
    way: Way,
    hops: Vec<Hop>,
    load: Load,
    payload_bytes: u64,
    frame_bytes: u64,
    /// Bits of payload a second that arrive; absent where nothing decides.
    arrives_bps: Option<f64>,
}

impl<'network> Promises<'network> {
    /// Of runs between these nodes. One whose nodes have no way between them adds nothing.
    pub fn new(network: &'network Network, runs: &[(&str, &str, &Transmission)]) -> Self {
        let mut flows = Vec::new();
        for (run, &(from, to, transmission)) in runs.iter().enumerate() {
            let loads = [
                (Way::Up, from, to, &transmission.offered.up),
                (Way::Down, to, from, &transmission.offered.down),
            ];
            for (way, from, to, load) in loads {
                let Some((load, hops)) = load.clone().zip(network.way(from, to)) else { continue };
                let (payload_bytes, frame_bytes) = sizes(network, &hops, &load);
                flows.push(Flow {
                    run,
                    way,
                    hops,
                    load,
                    payload_bytes,
                    frame_bytes,
                    arrives_bps: None,
                });
            }
        }
        let mut promises = Self { network, flows, used: BTreeMap::new() };
        promises.share_streams();
        promises.drop_datagrams();
        promises.mark_used();
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
            Load::Datagrams { .. } => Some(1),
        }
    }

    /// A round trip of pings of these sizes from one node to another while nothing waits, in nanoseconds.
    pub fn idle_rtt_ns(&self, from: &str, to: &str, sizes: PingSizes) -> Option<f64> {
        let there =
            self.one_way_ns(&self.network.way(from, to)?, sizes.transport, sizes.request_bytes);
        let back =
            self.one_way_ns(&self.network.way(to, from)?, sizes.transport, sizes.reply_bytes);
        Some(there + back)
    }

    /// By how much a round trip between these nodes is longer at the most than an idle one, in nanoseconds: the queues of all
    /// links that are full on its way. Absent where a load's share is not known.
    pub fn full_queues_ns(&self, from: &str, to: &str) -> Option<f64> {
        let mut hops = self.network.way(from, to)?;
        hops.extend(self.network.way(to, from)?);
        let crosses = |flow: &Flow, hop: &Hop| flow.hops.contains(hop);
        let mut sum = 0.0;
        for hop in &hops {
            let mut loads = self.flows.iter().filter(|flow| crosses(flow, hop)).peekable();
            if loads.peek().is_none() {
                continue;
            }
            let is_full = match self.used.get(hop) {
                Some(used) => *used >= FULL,
                None if self
                    .network
                    .conditions(*hop)
                    .is_none_or(|it| it.rate == Rate::Unlimited) =>
                {
                    false
                }
                None => return None,
            };
            if is_full {
                let frame_bytes = loads.map(|flow| flow.frame_bytes).max().unwrap_or(0);
                sum += self.network.conditions(*hop).map_or(0.0, |it| drain_ns(it, frame_bytes));
            }
        }
        Some(sum)
    }

    fn flow(&self, run: usize, way: Way) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.run == run && flow.way == way)
    }

    fn one_way_ns(&self, hops: &[Hop], transport: Transport, payload_bytes: u64) -> f64 {
        let frame_bytes = payload_bytes + headers(transport) + ETHERNET_BYTES;
        let time = |conditions: &Conditions| {
            conditions.delay.0 as f64 + sending_ns(conditions.rate, frame_bytes)
        };
        hops.iter().filter_map(|&hop| self.network.conditions(hop)).map(time).sum()
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

    fn streams(&self) -> Vec<usize> {
        let is_stream = |&index: &usize| matches!(self.flows[index].load, Load::Streams { .. });
        (0..self.flows.len()).filter(is_stream).collect()
    }

    /// Progressive filling: all streams grow alike until a link is full; those that cross it have their share then.
    fn share_streams(&mut self) {
        let mut open = self.streams();
        let datagrams: Vec<Hop> = self
            .flows
            .iter()
            .filter(|flow| matches!(flow.load, Load::Datagrams { .. }))
            .flat_map(|flow| flow.hops.clone())
            .filter(|&hop| self.rate_of(hop).is_some())
            .collect();
        // Nothing is promised to a stream that shares a link with datagrams, which do not give way, or that loses at random.
        let has_promise = |index: &usize| {
            let flow = &self.flows[*index];
            self.is_clean(flow) && !flow.hops.iter().any(|hop| datagrams.contains(hop))
        };
        let unclear: Vec<usize> =
            open.iter().copied().filter(|index| !has_promise(index)).collect();
        let clouded: Vec<Hop> =
            unclear.iter().flat_map(|&index| self.flows[index].hops.clone()).collect();
        open.retain(|index| {
            !unclear.contains(index)
                && !self.flows[*index]
                    .hops
                    .iter()
                    .any(|hop| clouded.contains(hop) && self.rate_of(*hop).is_some())
        });
        let mut granted: BTreeMap<usize, f64> = BTreeMap::new();
        while !open.is_empty() {
            let Some((level, full)) = self.next_level(&open, &granted) else { return };
            let (done, rest): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|&&index| full.reaches(&self.flows[index], index));
            for index in done {
                let connections = connections(&self.flows[index].load);
                granted.insert(index, level * connections);
            }
            // Every level ends at least one.
            if rest.len() == open.len() {
                return;
            }
            open = rest;
        }
        for (index, frames_bps) in granted {
            let flow = &mut self.flows[index];
            flow.arrives_bps =
                Some(frames_bps * flow.payload_bytes as f64 / flow.frame_bytes as f64);
        }
    }

    /// The lowest level, in bits of frames a second and connection, at which a link is full or a stream has all that it wants.
    fn next_level(&self, open: &[usize], granted: &BTreeMap<usize, f64>) -> Option<(f64, Limit)> {
        let mut lowest: Option<(f64, Limit)> = None;
        let mut consider = |level: f64, limit: Limit| {
            if lowest.as_ref().is_none_or(|(least, _)| level < *least) {
                lowest = Some((level, limit));
            }
        };
        for &index in open {
            let flow = &self.flows[index];
            for &hop in &flow.hops {
                let Some(rate) = self.rate_of(hop) else { continue };
                let crossing = |&&other: &&usize| self.flows[other].hops.contains(&hop);
                let taken: f64 =
                    granted.iter().filter(|(other, _)| crossing(other)).map(|(_, rate)| rate).sum();
                let sharers: f64 =
                    open.iter().filter(crossing).map(|&it| connections(&self.flows[it].load)).sum();
                consider((rate - taken).max(0.0) / sharers, Limit::Link(hop));
            }
            if let Load::Streams { rate_bps: Some(wanted), .. } = flow.load {
                consider(
                    wanted * flow.frame_bytes as f64 / flow.payload_bytes as f64,
                    Limit::Own(index),
                );
            }
        }
        lowest
    }

    /// What is offered to each link above its rate is dropped there, everybody's in proportion.
    fn drop_datagrams(&mut self) {
        let is_datagrams = |flow: &Flow| match flow.load {
            Load::Datagrams { rate_bps, payload_bytes } => {
                rate_bps.map(|rate| (rate, payload_bytes))
            }
            Load::Streams { .. } => None,
        };
        let offered: BTreeMap<usize, f64> = self
            .flows
            .iter()
            .enumerate()
            .filter_map(|(index, flow)| {
                let (rate, payload_bytes) = is_datagrams(flow)?;
                Some((index, rate * flow.frame_bytes as f64 / payload_bytes.max(1) as f64))
            })
            .collect();
        // What passes each link, of what is offered to it.
        let mut passes: BTreeMap<Hop, f64> = BTreeMap::new();
        for _ in 0..ROUNDS {
            let mut arriving: BTreeMap<Hop, f64> = BTreeMap::new();
            for (&index, &rate) in &offered {
                let mut rate = rate;
                for &hop in &self.flows[index].hops {
                    *arriving.entry(hop).or_default() += rate;
                    rate *= passes.get(&hop).copied().unwrap_or(1.0) * self.kept(hop);
                }
            }
            let next = arriving.iter().filter_map(|(&hop, &arriving)| {
                Some((hop, (self.rate_of(hop)? / arriving).min(1.0)))
            });
            passes = next.collect();
        }
        let streams: Vec<Hop> =
            self.streams().iter().flat_map(|&index| self.flows[index].hops.clone()).collect();
        for (&index, &rate) in &offered {
            let flow = &self.flows[index];
            let beside_streams =
                flow.hops.iter().any(|hop| streams.contains(hop) && self.rate_of(*hop).is_some());
            let share: f64 = flow
                .hops
                .iter()
                .map(|hop| passes.get(hop).copied().unwrap_or(1.0) * self.kept(*hop))
                .product();
            let flow = &mut self.flows[index];
            let arrives = rate * share * flow.payload_bytes as f64 / flow.frame_bytes as f64;
            flow.arrives_bps = (!beside_streams).then_some(arrives);
        }
    }

    /// Of what a link sends, the share that is not lost at random.
    fn kept(&self, hop: Hop) -> f64 {
        1.0 - self.network.conditions(hop).map_or(0.0, |conditions| mean_loss(conditions.loss))
    }

    /// How full each link is, where all that crosses it is known.
    fn mark_used(&mut self) {
        let mut used: BTreeMap<Hop, Option<f64>> = BTreeMap::new();
        for flow in &self.flows {
            let mut rate = match (&flow.load, flow.arrives_bps) {
                (Load::Streams { .. }, arrives) => arrives,
                // What is offered, and not what is left of it.
                (Load::Datagrams { rate_bps, .. }, Some(_)) => *rate_bps,
                (Load::Datagrams { .. }, None) => None,
            };
            for &hop in &flow.hops {
                let Some(link) = self.rate_of(hop) else { continue };
                let frames = rate.map(|rate| {
                    rate * flow.frame_bytes as f64 / flow.payload_bytes.max(1) as f64 / link
                });
                let sum = used.entry(hop).or_insert(Some(0.0));
                *sum = sum.zip(frames).map(|(sum, more)| sum + more);
                rate = rate.map(|rate| {
                    rate.min(link * flow.payload_bytes as f64 / flow.frame_bytes as f64)
                });
            }
        }
        self.used = used.into_iter().filter_map(|(hop, used)| Some((hop, used?))).collect();
    }
}

/// What ends the growth of streams.
enum Limit {
    Link(Hop),
    Own(usize),
}

impl Limit {
    fn reaches(&self, flow: &Flow, index: usize) -> bool {
        match self {
            Self::Link(hop) => flow.hops.contains(hop),
            Self::Own(own) => *own == index,
        }
    }
}

fn connections(load: &Load) -> f64 {
    match load {
        Load::Streams { connections, .. } => f64::from((*connections).max(1)),
        Load::Datagrams { .. } => 1.0,
    }
}

/// Payload and frame of what fills a way.
fn sizes(network: &Network, hops: &[Hop], load: &Load) -> (u64, u64) {
    let packet = network.largest_packet(hops).map_or(1_500, u64::from);
    match load {
        Load::Streams { .. } => {
            (packet.saturating_sub(STREAM_HEADERS_BYTES).max(1), packet + ETHERNET_BYTES)
        }
        Load::Datagrams { payload_bytes, .. } => {
            (*payload_bytes, payload_bytes + DATAGRAM_HEADERS_BYTES + ETHERNET_BYTES)
        }
    }
}

const fn headers(transport: Transport) -> u64 {
    match transport {
        Transport::Stream => STREAM_HEADERS_BYTES,
        Transport::Datagram => DATAGRAM_HEADERS_BYTES,
    }
}

fn sending_ns(rate: Rate, frame_bytes: u64) -> f64 {
    match rate {
        Rate::Unlimited => 0.0,
        Rate::Limited(rate) => frame_bytes as f64 * 8e9 / rate.0 as f64,
    }
}

/// How long a link needs for what waits in its full queue, and for the rest of the frame that it sends.
fn drain_ns(conditions: &Conditions, frame_bytes: u64) -> f64 {
    let waiting = match conditions.queue {
        Queue::Packets(frames) => u64::from(frames) * frame_bytes,
        Queue::Bytes(bytes) => bytes,
    };
    sending_ns(conditions.rate, waiting + frame_bytes)
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

#[cfg(test)]
mod tests {
    use pathscope_lab::topology::Topology;

    use super::*;

    const PORTFOLIO: &str = include_str!("../../../labs/portfolio.toml");

    fn network(text: &str) -> Network {
        Topology::read("t.toml", text).network().expect("a topology")
    }

    fn up(load: Load) -> Transmission {
        Transmission { offered: Offered { up: Some(load), down: None }, ..Transmission::default() }
    }

    fn streams(connections: u32) -> Transmission {
        up(Load::Streams { connections, rate_bps: None })
    }

    fn datagrams(rate_bps: f64) -> Transmission {
        up(Load::Datagrams { rate_bps: Some(rate_bps), payload_bytes: 1_470 })
    }

    const PING: PingSizes =
        PingSizes { transport: Transport::Datagram, request_bytes: 56, reply_bytes: 56 };

    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a promise");
        assert!((found - expected).abs() <= expected.abs() * 1e-3, "{found} is not {expected}");
    }

    /// Of the portfolio's links: 30 Mbit/s of frames of 1514 bytes with 1448 of payload.
    const L2: f64 = 30e6 * 1448.0 / 1514.0;
    const L3: f64 = 20e6 * 1448.0 / 1514.0;
    /// What waits in full queues, and the frame that is sent: 101 at 30 Mbit/s, 34 at 20 Mbit/s.
    const FULL_L2_NS: f64 = 101.0 * 1514.0 * 8e9 / 30e6;
    const FULL_L3_NS: f64 = 34.0 * 1514.0 * 8e9 / 20e6;

    #[test]
    fn round_trips_are_delays_and_transmissions() {
        let network = network(PORTFOLIO);
        let promises = Promises::new(&network, &[]);
        let ping = |from, to| promises.idle_rtt_ns(from, to, PING);
        // 98 bytes take 19.6 µs at 40 Mbit/s, 26.1 at 30 and 39.2 at 20.
        near(ping("r1", "r2"), 20e6 + 2.0 * 19_600.0);
        near(ping("h1", "h4"), 60e6 + 2.0 * (19_600.0 + 26_133.0));
        near(ping("h1", "h9"), 80e6 + 2.0 * (19_600.0 + 26_133.0 + 39_200.0));
        near(ping("h9", "h7"), 60e6 + 2.0 * (26_133.0 + 39_200.0));
        assert_eq!(ping("h1", "nobody"), None);
        let waiting = promises.full_queues_ns("h1", "h4");
        assert_eq!(waiting, Some(0.0), "nothing is sent");
    }

    #[test]
    fn the_five_experiments_have_the_promises_of_their_course() {
        let network = network(PORTFOLIO);
        let one = streams(1);
        let alone = Promises::new(&network, &[("h1", "h9", &one)]);
        near(alone.rate_bps(0, Way::Up), L3);
        assert_eq!(alone.rate_bps(0, Way::Down), None);
        near(alone.full_queues_ns("h1", "h9"), FULL_L3_NS);

        let two = Promises::new(&network, &[("h1", "h4", &one), ("h2", "h5", &one)]);
        near(two.rate_bps(0, Way::Up), L2 / 2.0);
        near(two.full_queues_ns("h2", "h5"), FULL_L2_NS);

        // They share L2; L3 has room.
        let crossing = Promises::new(&network, &[("h1", "h4", &one), ("h7", "h9", &one)]);
        near(crossing.rate_bps(0, Way::Up), L2 / 2.0);
        near(crossing.rate_bps(1, Way::Up), L2 / 2.0);
        near(crossing.full_queues_ns("h7", "h9"), FULL_L2_NS);

        let apart = Promises::new(&network, &[("h1", "h4", &one), ("h8", "h9", &one)]);
        near(apart.rate_bps(0, Way::Up), L2);
        near(apart.rate_bps(1, Way::Up), L3);
        near(apart.full_queues_ns("h1", "h4"), FULL_L2_NS);
        near(apart.full_queues_ns("h8", "h9"), FULL_L3_NS);

        let (pair, one) = (streams(2), streams(1));
        let parallel =
            Promises::new(&network, &[("h1", "h4", &pair), ("h2", "h5", &one), ("h3", "h6", &one)]);
        near(parallel.rate_bps(0, Way::Up), L2 / 2.0);
        near(parallel.rate_bps(2, Way::Up), L2 / 4.0);
        assert_eq!(parallel.connections(0, Way::Up), Some(2));
    }

    #[test]
    fn who_is_held_back_elsewhere_leaves_room_to_others() {
        let network = network(PORTFOLIO);
        let one = streams(1);
        let many = streams(3);
        // Three to h9 get 20 of L2's 30 Mbit/s at the most; one to h4 gets a fourth of it as long as that is more than 10.
        let promises = Promises::new(&network, &[("h1", "h9", &many), ("h2", "h5", &one)]);
        near(promises.rate_bps(0, Way::Up), L3);
        near(promises.rate_bps(1, Way::Up), L2 - L3);
        // A stream that is held back by its own rate takes no more.
        let slow = up(Load::Streams { connections: 1, rate_bps: Some(1e6) });
        let promises = Promises::new(&network, &[("h1", "h4", &slow), ("h2", "h5", &one)]);
        near(promises.rate_bps(0, Way::Up), 1e6);
        near(promises.rate_bps(1, Way::Up), L2 - 1e6);
        near(promises.full_queues_ns("h1", "h4"), FULL_L2_NS);
        let alone = Promises::new(&network, &[("h1", "h4", &slow)]);
        assert_eq!(alone.full_queues_ns("h1", "h4"), Some(0.0));
    }

    #[test]
    fn datagrams_lose_what_a_link_cannot_carry() {
        let network = network(PORTFOLIO);
        let ninety = datagrams(90.0 * 1_048_576.0);
        let promises = Promises::new(&network, &[("h1", "h4", &ninety)]);
        // 30 Mbit/s of frames of 1512 bytes with 1470 of payload.
        let arrives = 30e6 * 1470.0 / 1512.0;
        near(promises.rate_bps(0, Way::Up), arrives);
        near(promises.lost_share(0, Way::Up), 1.0 - arrives / (90.0 * 1_048_576.0));
        // Full at L1 as well as at L2.
        let waiting = 68.0 * 1512.0 * 8e9 / 40e6 + 101.0 * 1512.0 * 8e9 / 30e6;
        near(promises.full_queues_ns("h1", "h4"), waiting);
        let slow = datagrams(25.0 * 1_048_576.0);
        let promises = Promises::new(&network, &[("h1", "h4", &slow)]);
        near(promises.rate_bps(0, Way::Up), 25.0 * 1_048_576.0);
        assert_eq!(promises.lost_share(0, Way::Up), Some(0.0));
        // Two at one link, each in proportion to what it offers.
        let (one, other) = (datagrams(30e6), datagrams(10e6));
        let promises = Promises::new(&network, &[("r2", "r3", &one), ("h7", "h8", &other)]);
        near(promises.rate_bps(0, Way::Up), arrives * 0.75);
        near(promises.rate_bps(1, Way::Up), arrives * 0.25);
    }

    #[test]
    fn nothing_is_promised_where_nothing_decides() {
        let base = "hosts = ['a', 'b']\n[links]\n'a:b' = ";
        let lossy = network(&format!("{base}{{ rate = '20Mbit', loss = '1%' }}"));
        let (stream, load) = (streams(1), datagrams(10e6));
        let promises = Promises::new(&lossy, &[("a", "b", &stream)]);
        assert_eq!(promises.rate_bps(0, Way::Up), None);
        assert_eq!(promises.full_queues_ns("a", "b"), None);
        let promises = Promises::new(&lossy, &[("a", "b", &load)]);
        near(promises.lost_share(0, Way::Up), 0.01);
        // What goes the other way is alone on its link.
        let clean = network(&format!("{base}{{ rate = '20Mbit' }}"));
        let promises = Promises::new(&clean, &[("a", "b", &stream), ("a", "b", &load)]);
        assert_eq!((promises.rate_bps(0, Way::Up), promises.rate_bps(1, Way::Up)), (None, None));
        let promises = Promises::new(&clean, &[("a", "b", &stream), ("b", "a", &load)]);
        near(promises.rate_bps(0, Way::Up), L3);
        near(promises.rate_bps(1, Way::Up), 10e6);
        let plain = network(&format!("{base}{{}}"));
        let promises = Promises::new(&plain, &[("a", "b", &stream)]);
        assert_eq!(promises.rate_bps(0, Way::Up), None);
        assert_eq!(promises.full_queues_ns("a", "b"), Some(0.0));
        let unpaced = up(Load::Datagrams { rate_bps: None, payload_bytes: 1_470 });
        let promises = Promises::new(&clean, &[("a", "b", &unpaced)]);
        assert_eq!(promises.lost_share(0, Way::Up), None);
    }

    #[test]
    fn losses_in_bursts_have_the_mean_of_their_chances() {
        let bursts = "burst:1%,30%".parse().expect("words of a loss");
        near(Some(mean_loss(bursts)), 0.01 / 0.31);
        assert!(mean_loss(Loss::None).abs() < f64::EPSILON);
    }
}
