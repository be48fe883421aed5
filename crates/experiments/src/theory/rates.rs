//! Who gets how much of which link: streams that share, datagrams that are dropped, and the queues that are full of them.

use std::collections::{BTreeMap, BTreeSet};

use pathscope_lab::topology::Hop;
use pathscope_modes::offered::Load;

use super::{Flow, Promises, mean_loss};

/// So close to its rate, a link counts as full of streams.
const FULL: f64 = 0.999;
/// More than its rate, and not by rounding.
const ABOVE: f64 = 1.000_001;
/// Rounds in which rates of datagrams settle along their ways: more than a way has links.
const ROUNDS: usize = 64;

impl Promises<'_> {
    /// Gives every flow its share, where one can be told, and marks the links that are full.
    pub(super) fn share_out(&mut self) {
        let clouded = self.clouded();
        let is_open = |index: &usize| !clouded.contains(index);
        let (streams, datagrams): (Vec<usize>, Vec<usize>) =
            (0..self.flows.len()).filter(is_open).partition(|&index| self.flows[index].is_stream());
        let arriving = self.drop_datagrams(&datagrams);
        self.share_streams(streams);
        self.mark_full(&clouded, &arriving);
    }

    /// The links of a rate on a flow's way.
    fn rated<'flow>(&'flow self, flow: &'flow Flow) -> impl Iterator<Item = (Hop, f64)> + 'flow {
        flow.hops.iter().filter_map(|&hop| Some((hop, self.rate_of(hop)?)))
    }

    /// The flows of which nothing can be told: those that cannot say what they send, streams that lose at random or share a link
    /// with datagrams, which do not give way, and whoever shares a link with one of these.
    fn clouded(&self) -> BTreeSet<usize> {
        let meet =
            |one: &Flow, other: &Flow| self.rated(one).any(|(hop, _)| other.hops.contains(&hop));
        let all = || self.flows.iter().enumerate();
        let is_unclear = |flow: &Flow| {
            let meets_another_kind =
                all().any(|(_, other)| other.is_stream() != flow.is_stream() && meet(flow, other));
            !flow.is_clear() || flow.is_stream() && !self.is_clean(flow) || meets_another_kind
        };
        let mut clouded: BTreeSet<usize> =
            all().filter(|(_, flow)| is_unclear(flow)).map(|(index, _)| index).collect();
        loop {
            let spread: Vec<usize> = all()
                .filter(|(index, _)| !clouded.contains(index))
                .filter(|(_, flow)| clouded.iter().any(|&other| meet(flow, &self.flows[other])))
                .map(|(index, _)| index)
                .collect();
            if spread.is_empty() {
                return clouded;
            }
            clouded.extend(spread);
        }
    }

    /// Progressive filling: all streams grow alike until a link is full, or one has all that it wants; those that are
    /// concerned have their share then.
    fn share_streams(&mut self, mut open: Vec<usize>) {
        let mut granted: BTreeMap<usize, f64> = BTreeMap::new();
        while !open.is_empty() {
            // What crosses no link of a rate has no limit, and so no promise.
            let Some((level, limit)) = self.next_level(&open, &granted) else { break };
            let (done, rest): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|&&index| limit.reaches(&self.flows[index], index));
            for index in done {
                granted.insert(index, level * self.flows[index].connections());
            }
            open = rest;
        }
        for (index, frames_bps) in granted {
            let flow = &mut self.flows[index];
            flow.arrives_bps = Some(frames_bps / flow.frames_for_payload());
        }
    }

    /// The lowest level, in bits of frames a second and connection, at which a link is full or a stream has all that it wants.
    fn next_level(&self, open: &[usize], granted: &BTreeMap<usize, f64>) -> Option<(f64, Limit)> {
        let mut levels: Vec<(f64, Limit)> = Vec::new();
        for &index in open {
            let flow = &self.flows[index];
            for (hop, rate) in self.rated(flow) {
                let crosses = |other: &usize| self.flows[*other].hops.contains(&hop);
                let taken: f64 =
                    granted.iter().filter(|(other, _)| crosses(other)).map(|(_, rate)| rate).sum();
                let sharers = open.iter().filter(|&other| crosses(other));
                let sharers: f64 = sharers.map(|&other| self.flows[other].connections()).sum();
                levels.push(((rate - taken).max(0.0) / sharers, Limit::Link(hop)));
            }
            let wanted = flow.wants_bps().map(|wanted| wanted / flow.connections());
            levels.extend(wanted.map(|wanted| (wanted, Limit::Own(index))));
        }
        levels.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// What is offered to a link above its rate is dropped there, everybody's in proportion. What comes to each link.
    fn drop_datagrams(&mut self, datagrams: &[usize]) -> BTreeMap<Hop, f64> {
        let wanted = |&index: &usize| Some((index, self.flows[index].wants_bps()?));
        let offered: Vec<(usize, f64)> = datagrams.iter().filter_map(wanted).collect();
        // Of what is offered to each link, the share that passes it.
        let mut passes: BTreeMap<Hop, f64> = BTreeMap::new();
        let mut arriving: BTreeMap<Hop, f64> = BTreeMap::new();
        for _ in 0..ROUNDS {
            arriving.clear();
            for &(index, mut rate) in &offered {
                for &hop in &self.flows[index].hops {
                    *arriving.entry(hop).or_default() += rate;
                    rate *= self.passes(&passes, hop);
                }
            }
            let rated = arriving.iter().filter_map(|(&hop, &arriving)| {
                Some((hop, (self.rate_of(hop)? / arriving).min(1.0)))
            });
            passes = rated.collect();
        }
        for (index, rate) in offered {
            let hops = self.flows[index].hops.iter();
            let share: f64 = hops.map(|&hop| self.passes(&passes, hop)).product();
            let flow = &mut self.flows[index];
            flow.arrives_bps = Some(rate * share / flow.frames_for_payload());
        }
        arriving
    }

    /// Of what comes to a link, the share that comes out of it.
    fn passes(&self, passes: &BTreeMap<Hop, f64>, hop: Hop) -> f64 {
        let lost = self.network.conditions(hop).map_or(0.0, |it| mean_loss(it.loss));
        passes.get(&hop).copied().unwrap_or(1.0) * (1.0 - lost)
    }

    /// Which links are full, of those where all that crosses them is known. `arriving`: what datagrams bring.
    fn mark_full(&mut self, clouded: &BTreeSet<usize>, arriving: &BTreeMap<Hop, f64>) {
        let mut full = BTreeMap::new();
        let hops: BTreeSet<Hop> = self.flows.iter().flat_map(|flow| flow.hops.clone()).collect();
        for hop in hops {
            let Some(rate) = self.rate_of(hop) else { continue };
            let crossing: Vec<usize> = (0..self.flows.len())
                .filter(|&index| self.flows[index].hops.contains(&hop))
                .collect();
            if crossing.iter().any(|index| clouded.contains(index)) {
                continue;
            }
            let is_full = if let Some(&arriving) = arriving.get(&hop) {
                arriving > rate * ABOVE
            } else {
                let arrives = crossing.iter().map(|&index| self.flows[index].frames_bps());
                // What an equally slow link has spaced out already finds this one idle.
                arrives.sum::<f64>() >= rate * FULL
                    && self.most_that_comes(hop, &crossing) > rate * ABOVE
            };
            full.insert(hop, is_full);
        }
        self.full = full;
    }

    /// The most that streams can bring to a link at once: no more than the slowest link before it lets through of all that
    /// cross that one.
    fn most_that_comes(&self, hop: Hop, crossing: &[usize]) -> f64 {
        let mut most = 0.0;
        let mut gates: BTreeMap<Hop, f64> = BTreeMap::new();
        for &index in crossing {
            let flow = &self.flows[index];
            let before = self.rated(flow).take_while(|(other, _)| *other != hop);
            match before.min_by(|one, other| one.1.total_cmp(&other.1)) {
                Some((gate, rate)) => drop(gates.insert(gate, rate)),
                None => most += flow.wants_bps().unwrap_or(f64::INFINITY),
            }
        }
        most + gates.values().sum::<f64>()
    }
}

impl Flow {
    /// What arrives, in bits of frames a second.
    fn frames_bps(&self) -> f64 {
        self.arrives_bps.unwrap_or(0.0) * self.frames_for_payload()
    }

    fn connections(&self) -> f64 {
        match self.load {
            Load::Streams { connections, .. } => f64::from(connections.max(1)),
            Load::Datagrams { .. } => 1.0,
        }
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
