//! What a client makes of what comes back: which ping an echo is of, whether it is right, what it says of the path.
//! When the next ping leaves is said in `mod.rs`.

use pathscope_core::Tick;
use pathscope_core::id::Lane;
use pathscope_core::record::FlowErrorKind;
use pathscope_flow::Machine;

use super::PingFlow;
use crate::arrivals::difference;
use crate::latency::content::Content;
use crate::latency::datagram::{Header, Kind, Note};
use crate::latency::sample::{Outcome, Sample};
use crate::latency::tally::Time;
use crate::latency::window::{Arrival, Departure, Unanswered};
use crate::latency::{LatencyShared, variation};

impl PingFlow {
    /// The echo of a ping came, whole and right; with the server's stamps, where it carries them. Whether it has a place in the
    /// figures.
    fn answered(
        &mut self,
        shared: &mut LatencyShared,
        sequence: u64,
        server: Option<(Tick, Tick)>,
        now: Tick,
    ) -> bool {
        let counts = &mut shared.tally.counts;
        let arrival = self.window.arrived(sequence, self.next);
        let Arrival::First { departure, extent, is_mended } = arrival else {
            *match arrival {
                Arrival::Duplicate => &mut counts.duplicates,
                Arrival::Late => &mut counts.late,
                _ => &mut counts.foreign,
            } += 1;
            return false;
        };
        counts.received += 1;
        if let Some(extent) = extent {
            counts.reordered += 1;
            counts.reordering_extent_sum += extent;
            counts.reordering_extent_max = counts.reordering_extent_max.max(extent);
        }
        if let Some((_, echoed)) = server {
            counts.reordered_return += u64::from(echoed < self.last_echoed);
            self.last_echoed = self.last_echoed.max(echoed);
        }
        shared.tally.mended += u64::from(is_mended);
        let Departure { due, from, sent, .. } = departure;
        let rtt = now.nanos_since(from);
        self.longest_ns = self.longest_ns.max(rtt);
        let is_warm_up = self.is_warm_up(due, shared);
        let outcome = if is_warm_up { Outcome::WarmUp } else { Outcome::Answered };
        self.tell(shared, departure, (now, server), outcome);
        let tally = &mut shared.tally;
        if is_warm_up {
            tally.counts.warm_up += 1;
            return false;
        }
        tally.record(Time::RoundTrip, rtt);
        tally.linear.iter_mut().for_each(|linear| linear.record(rtt));
        tally.record(Time::SinceScheduled, now.nanos_since(due));
        tally.record(Time::Service, now.nanos_since(sent));
        let mut transits_ns = [rtt as i64, 0, 0];
        if let Some((received, echoed)) = server {
            tally.record(Time::ServerResidence, echoed.nanos_since(received));
            let one_way_ns = [difference(received, from), difference(now, echoed)];
            tally.record_one_way(one_way_ns);
            transits_ns[1..].copy_from_slice(&one_way_ns);
        }
        variation::arrived(&mut self.last, sequence, transits_ns, &mut tally.variation);
        true
    }

    /// What became of a ping, to whoever wants it one by one.
    fn tell(
        &self,
        shared: &mut LatencyShared,
        Departure { sequence, due, from, sent }: Departure,
        (received, server): (Tick, Option<(Tick, Tick)>),
        outcome: Outcome,
    ) {
        let Some(samples) = &mut shared.samples else { return };
        let flow = self.id();
        samples.push(Sample { flow, sequence, due, from, sent, received, server, outcome });
    }

    /// A ping will have no answer that counts.
    pub(super) fn tell_unanswered(&self, shared: &mut LatencyShared, unanswered: Unanswered) {
        let (departure, outcome) = unanswered;
        self.tell(shared, departure, (Tick::NEVER, None), outcome);
    }

    /// Nothing is awaited any more: what has no answer now has none.
    pub(super) fn tell_rest(&mut self, shared: &mut LatencyShared) {
        if !std::mem::replace(&mut self.is_told, true) && shared.samples.is_some() {
            let rest = self.window.unanswered(self.next);
            rest.for_each(|unanswered| self.tell_unanswered(shared, unanswered));
        }
    }

    /// A datagram came; by the kernel, at `stamp`.
    pub(super) fn datagram(
        &mut self,
        shared: &mut LatencyShared,
        bytes: &[u8],
        stamp: Option<Tick>,
        now: Tick,
    ) {
        let is_echo = |header: &Header| header.kind != Kind::Ping;
        let Some(header) = self.content.tag.read(bytes).whole().filter(is_echo) else {
            shared.tally.counts.foreign += 1;
            return;
        };
        if header.kind == Kind::DamagedEcho || !self.is_intact(&header, bytes, now) {
            self.corrupt(shared, header.sequence);
            return;
        }
        let server = (header.server_received, header.server_sent);
        let is_measured = self.answered(shared, header.sequence, Some(server), now);
        let Some(trips) = &mut self.trips else { return };
        let note = Note::read(bytes);
        let times = (stamp, now);
        let this = is_measured
            .then(|| trips.answered(header.sequence, times, server, note.came))
            .flatten();
        let earlier = note.handed_over.and_then(|(sequence, at)| trips.told(sequence, at));
        this.iter().chain(&earlier).for_each(|trip| shared.tally.record_parts(trip));
    }

    /// An echo came with other bytes than were sent, or says that its ping did. It tells nothing of time.
    fn corrupt(&mut self, shared: &mut LatencyShared, sequence: u64) {
        shared.tally.counts.corrupt_datagrams += 1;
        shared.tally.damaged += u64::from(self.window.damaged(sequence));
    }

    /// The kernel handed ping `sequence` to the device.
    pub(super) fn handed_over(&mut self, shared: &mut LatencyShared, sequence: u64, at: Tick) {
        let trip = self.trips.as_mut().and_then(|trips| trips.handed_over(sequence, at));
        trip.iter().for_each(|trip| shared.tally.record_parts(trip));
    }

    fn is_intact(&mut self, header: &Header, bytes: &[u8], now: Tick) -> bool {
        let Content { echo, header: filler, .. } = self.content;
        bytes.len() == echo
            && header.lane == Lane::ONLY
            && header.is_plausible(now)
            && self.window.sent_at(header.sequence).is_none_or(|sent| sent == header.sent)
            && self.content.is_echo(header.sequence, filler, &bytes[filler..])
    }

    pub(super) fn stream(&mut self, shared: &mut LatencyShared, bytes: &[u8], now: Tick) {
        if !self.content.continues(self.echoed_bytes, bytes) {
            self.corrupt(shared, self.settled);
            let text = format!("the echo of ping {} is not what was sent", self.settled);
            self.fail(FlowErrorKind::Data, text, None);
            return;
        }
        self.echoed_bytes += bytes.len() as u64;
        let whole = self.echoed_bytes / self.content.echo as u64;
        if whole > self.next {
            let text = "the other end sent more echoes than there were pings";
            self.fail(FlowErrorKind::Protocol, text, None);
            return;
        }
        while self.settled < whole {
            let _ = self.answered(shared, self.settled, None, now);
            self.settled += 1;
        }
    }
}
