//! What a client makes of what comes back: which ping an echo is of, whether it is right, what it says of the path.
//! When the next ping leaves is said in `mod.rs`.

use pathscope_core::Tick;
use pathscope_core::record::FlowErrorKind;

use super::PingFlow;
use crate::latency::LatencyShared;
use crate::latency::datagram::{Header, Kind, Note};
use crate::latency::parts::Trip;
use crate::latency::sample::{Outcome, Sample};
use crate::latency::tally::Time;
use crate::latency::variation::Transits;
use crate::latency::window::{Arrival, Departure, Unanswered};

impl PingFlow {
    /// The echo of a ping came, whole and right; with the server's stamps, where it carries them.
    fn answered(
        &mut self,
        shared: &mut LatencyShared,
        sequence: u64,
        server: Option<(Tick, Tick)>,
        now: Tick,
    ) -> Measured {
        let (departure, extent) = match self.window.arrived(sequence, self.next) {
            Arrival::First { departure, extent, is_mended } => {
                shared.tally.mended += u64::from(is_mended);
                (departure, extent)
            }
            Arrival::Duplicate => {
                shared.tally.counts.duplicates += 1;
                return Measured::No;
            }
            Arrival::Late => {
                shared.tally.counts.late += 1;
                return Measured::No;
            }
            Arrival::Unknown => {
                shared.tally.counts.foreign += 1;
                return Measured::No;
            }
        };
        let Departure { due, from, sent, .. } = departure;
        let counts = &mut shared.tally.counts;
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
        let rtt = now.nanos_since(from);
        self.longest_ns = self.longest_ns.max(rtt);
        let is_warm_up = self.is_warm_up(due, shared);
        if let Some(samples) = &mut shared.samples {
            let (flow, received) = (self.flow, now);
            let outcome = if is_warm_up { Outcome::WarmUp } else { Outcome::Answered };
            samples.push(Sample { flow, sequence, due, from, sent, received, server, outcome });
        }
        if is_warm_up {
            shared.tally.counts.warm_up += 1;
            return Measured::No;
        }
        let tally = &mut shared.tally;
        tally.record(Time::RoundTrip, rtt);
        tally.linear.iter_mut().for_each(|linear| linear.record(rtt));
        tally.record(Time::SinceScheduled, now.nanos_since(due));
        tally.record(Time::Service, now.nanos_since(sent));
        if let Some((received, echoed)) = server {
            tally.record(Time::ServerResidence, echoed.nanos_since(received));
        }
        let one_way_ns =
            server.map(|(received, echoed)| (difference(received, from), difference(now, echoed)));
        if let (Some(delays), Some(tally)) = (one_way_ns, &mut tally.one_way) {
            tally.record(delays);
        }
        let transits = Transits { round_trip_ns: rtt as i64, one_way_ns };
        if let Some(variation) = &mut tally.variation {
            self.last.arrived(sequence, transits, variation);
        }
        Measured::Yes
    }

    /// A ping will have no answer that counts.
    pub(super) fn tell_unanswered(&self, shared: &mut LatencyShared, unanswered: Unanswered) {
        let Departure { sequence, due, from, sent } = unanswered.departure;
        if let Some(samples) = &mut shared.samples {
            let (flow, received) = (self.flow, Tick::NEVER);
            let outcome = if unanswered.is_damaged { Outcome::Corrupt } else { Outcome::Lost };
            let server = None;
            samples.push(Sample { flow, sequence, due, from, sent, received, server, outcome });
        }
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
        let Some(header) = Header::read(bytes).filter(|header| self.is_echo(header)) else {
            shared.tally.counts.foreign += 1;
            return;
        };
        if header.kind == Kind::DamagedEcho || !self.is_intact(&header, bytes, now) {
            self.corrupt(shared, header.sequence);
            return;
        }
        let server = (header.server_received, header.server_sent);
        let measured = self.answered(shared, header.sequence, Some(server), now);
        let Some(trips) = &mut self.trips else { return };
        let note = Note::read(bytes);
        let times = (stamp, now);
        let this = (measured == Measured::Yes)
            .then(|| trips.answered(header.sequence, times, server, note.came))
            .flatten();
        let earlier = note.handed_over.and_then(|(sequence, at)| trips.told(sequence, at));
        this.iter().chain(&earlier).for_each(|trip| whole(shared, trip));
    }

    /// An echo came with other bytes than were sent, or says that its ping did. It tells nothing of time.
    fn corrupt(&mut self, shared: &mut LatencyShared, sequence: u64) {
        shared.tally.counts.corrupt_datagrams += 1;
        shared.tally.damaged += u64::from(self.window.damaged(sequence));
    }

    /// The kernel handed ping `sequence` to the device.
    pub(super) fn handed_over(&mut self, shared: &mut LatencyShared, sequence: u64, at: Tick) {
        let trip = self.trips.as_mut().and_then(|trips| trips.handed_over(sequence, at));
        trip.iter().for_each(|trip| whole(shared, trip));
    }

    fn is_echo(&self, header: &Header) -> bool {
        header.kind != Kind::Ping
            && header.token == self.token
            && u32::from(header.flow) == self.flow.0 & 0xffff
    }

    fn is_intact(&self, header: &Header, bytes: &[u8], now: Tick) -> bool {
        bytes.len() == self.sizes.echo
            && header.is_of_server(now)
            && self.window.sent_at(header.sequence).is_none_or(|sent| sent == header.sent)
            && self.content.is_echo(header.sequence, self.sizes.header, &bytes[self.sizes.header..])
    }

    pub(super) fn stream(&mut self, shared: &mut LatencyShared, bytes: &[u8], now: Tick) {
        if !self.content.continues(self.echoed_bytes, bytes) {
            self.corrupt(shared, self.settled);
            self.fail(
                FlowErrorKind::Data,
                format!("the echo of ping {} is not what was sent", self.settled),
            );
            return;
        }
        self.echoed_bytes += bytes.len() as u64;
        let whole = self.echoed_bytes / self.sizes.echo as u64;
        if whole > self.next {
            self.fail(
                FlowErrorKind::Protocol,
                "the other end sent more echoes than there were pings".to_owned(),
            );
            return;
        }
        while self.settled < whole {
            let _ = self.answered(shared, self.settled, None, now);
            self.settled += 1;
        }
    }
}

/// Whether an echo has a place in the figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Measured {
    Yes,
    No,
}

/// Every stamp of a ping came.
fn whole(shared: &mut LatencyShared, trip: &Trip) {
    if let Some(parts) = &mut shared.tally.parts {
        parts.record(trip);
    }
}

/// From `earlier` to `later`, which may be of another clock.
fn difference(later: Tick, earlier: Tick) -> i64 {
    later.as_nanos().wrapping_sub(earlier.as_nanos()) as i64
}
