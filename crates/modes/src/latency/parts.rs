//! Where the time of a round trip goes, by the kernel's stamps at both ends.
//!
//! ```text
//!  client sends ── hands over ══ wire ══> server's kernel ── server receives
//!                                                                  │ residence
//!  client receives ── client's kernel <══ wire ══ hands over ── server sends
//! ```
//!
//! Every part but the wire is a difference of two times at one end; the wire is what is left of both. So the parts of a
//! ping add up to its round trip, and no clock is compared with another.

use std::array;

use pathscope_core::Tick;
use pathscope_core::record::StampFacts;
use pathscope_core::stats::{Distribution, LatencyFigures, LatencyHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that is known of one ping at its end. Eight times, four of each end's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trip {
    pub sent: Tick,
    pub handed_over: Tick,
    pub server_came: Tick,
    pub server_received: Tick,
    pub server_sent: Tick,
    pub server_handed_over: Tick,
    pub came: Tick,
    pub received: Tick,
}

/// How many parts there are.
const PARTS: usize = 6;

impl Trip {
    /// The parts in the order of [`PartsReport`]; `None` where the times cannot be: one end's clock went backwards.
    fn parts(&self) -> Option<[u64; PARTS]> {
        let from = |earlier: Tick, later: Tick| later.as_nanos().checked_sub(earlier.as_nanos());
        let away = from(self.handed_over, self.came)?;
        let there = from(self.server_came, self.server_handed_over)?;
        Some([
            from(self.sent, self.handed_over)?,
            away.checked_sub(there)?,
            from(self.server_came, self.server_received)?,
            from(self.server_received, self.server_sent)?,
            from(self.server_sent, self.server_handed_over)?,
            from(self.came, self.received)?,
        ])
    }
}

/// The parts of those pings of which every stamp came.
#[derive(Debug)]
pub(super) struct PartsTally {
    parts: [Box<LatencyHistogram>; PARTS],
    implausible: u64,
}

impl PartsTally {
    pub fn new() -> Self {
        Self { parts: array::from_fn(|_| Box::default()), implausible: 0 }
    }

    /// Every stamp of this ping came.
    pub fn record(&mut self, trip: &Trip) {
        match trip.parts() {
            Some(parts) => {
                self.parts.iter_mut().zip(parts).for_each(|(part, value)| part.record(value));
            }
            None => self.implausible += 1,
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(sum, part)| sum.merge(part));
        self.implausible += other.implausible;
    }

    pub fn report(&self) -> PartsReport {
        let [client_send, wire, server_receive, server_residence, server_send, client_receive] =
            self.parts.each_ref().map(|part| part.distribution());
        PartsReport {
            pings: client_send.count,
            implausible: self.implausible,
            client_send,
            wire,
            server_receive,
            server_residence,
            server_send,
            client_receive,
        }
    }
}

/// Where the time of round trips went, of the pings of which every stamp came.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PartsReport {
    /// Pings of which every stamp came and is plausible.
    pub pings: u64,
    /// Pings whose stamps cannot be: a wall clock was stepped between them.
    pub implausible: u64,
    /// From where the round trip counts, the client's first attempt to send, to its kernel's handing the ping to the device.
    pub client_send: Distribution,
    /// From the device of one end to the kernel of the other, both ways together.
    pub wire: Distribution,
    /// From the server's kernel to the server.
    pub server_receive: Distribution,
    /// From the server's receipt to its send.
    pub server_residence: Distribution,
    /// From the server's send to its kernel's handing the echo to the device.
    pub server_send: Distribution,
    /// From the client's kernel to the client.
    pub client_receive: Distribution,
}

/// Where the time of round trips went, and how far that can be relied on.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PartsSummary {
    /// Pings of which every stamp came and is plausible.
    pub pings: u64,
    /// Of so many that were answered and measured.
    pub of: u64,
    /// Pings whose stamps cannot be.
    pub implausible: u64,
    /// From where the round trip counts, the client's first attempt to send, to its kernel's handing the ping to the device.
    pub client_send: LatencyFigures,
    /// From the device of one end to the kernel of the other, both ways together.
    pub wire: LatencyFigures,
    /// From the server's kernel to the server.
    pub server_receive: LatencyFigures,
    /// From the server's receipt to its send.
    pub server_residence: LatencyFigures,
    /// From the server's send to its kernel's handing the echo to the device.
    pub server_send: LatencyFigures,
    /// From the client's kernel to the client.
    pub client_receive: LatencyFigures,
    /// The client's stamps.
    pub client: Option<StampFacts>,
    /// The server's; absent where it has not reported.
    pub server: Option<StampFacts>,
}

impl PartsSummary {
    /// Of a report in which so many pings were measured.
    pub(super) fn of(
        report: &PartsReport,
        measured: u64,
        figures: impl Fn(&LatencyHistogram) -> LatencyFigures,
    ) -> Self {
        let figures = |part: &Distribution| figures(&part.histogram());
        Self {
            pings: report.pings,
            of: measured,
            implausible: report.implausible,
            client_send: figures(&report.client_send),
            wire: figures(&report.wire),
            server_receive: figures(&report.server_receive),
            server_residence: figures(&report.server_residence),
            server_send: figures(&report.server_send),
            client_receive: figures(&report.client_receive),
            client: None,
            server: None,
        }
    }

    /// The parts with the names of their figures, in the order in which a ping meets them.
    pub fn named(&self) -> [(&'static str, &LatencyFigures); PARTS] {
        [
            ("client_send", &self.client_send),
            ("wire", &self.wire),
            ("server_receive", &self.server_receive),
            ("server_residence", &self.server_residence),
            ("server_send", &self.server_send),
            ("client_receive", &self.client_receive),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trip(times: [u64; 8]) -> Trip {
        let [sent, handed_over, came, received, server @ ..] = times.map(Tick::from_nanos);
        let [server_came, server_received, server_sent, server_handed_over] = server;
        Trip {
            sent,
            handed_over,
            server_came,
            server_received,
            server_sent,
            server_handed_over,
            came,
            received,
        }
    }

    #[test]
    fn the_parts_add_up_to_the_round_trip_whatever_the_server_s_clock_shows() {
        for ahead in [0, 1 << 40] {
            let server = [200, 230, 240, 245].map(|time| time + ahead);
            let [came, received, sent, handed_over] = server;
            let times = [100, 107, 330, 371, came, received, sent, handed_over];
            let parts = trip(times).parts().expect("plausible");
            assert_eq!(parts, [7, 223 - 45, 30, 10, 5, 41]);
            assert_eq!(parts.iter().sum::<u64>(), 271);
        }
    }

    #[test]
    fn times_that_cannot_be_are_counted_and_not_measured() {
        let mut tally = PartsTally::new();
        for times in [
            // Handed over before it was sent, came after it was received, an echo before its ping, a server that kept
            // it longer than it was away.
            [100, 99, 330, 371, 200, 230, 240, 245],
            [100, 107, 372, 371, 200, 230, 240, 245],
            [100, 107, 330, 371, 200, 230, 229, 245],
            [100, 107, 330, 371, 200, 230, 240, 424],
            [100, 107, 330, 371, u64::MAX, 0, u64::MAX, 0],
        ] {
            tally.record(&trip(times));
        }
        let report = tally.report();
        assert_eq!((report.pings, report.implausible, report.wire.count), (0, 5, 0));
    }
}
