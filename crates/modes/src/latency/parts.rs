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

use pathscope_core::Tick;
use pathscope_core::record::StampFacts;
use pathscope_core::stats::{Distribution, LatencyFigures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The times of one datagram that comes to an end, and of the one that this end sends. [`Tick::NEVER`]: not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub sent: Tick,
    pub handed_over: Tick,
    pub came: Tick,
    pub received: Tick,
}

impl Passage {
    pub const NONE: Self = Self {
        sent: Tick::NEVER,
        handed_over: Tick::NEVER,
        came: Tick::NEVER,
        received: Tick::NEVER,
    };
}

/// All that is known of one ping at its end. Eight times, four of each end's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trip {
    pub client: Passage,
    pub server: Passage,
}

/// How many parts there are.
pub(super) const PARTS: usize = 6;

impl Trip {
    pub const NONE: Self = Self { client: Passage::NONE, server: Passage::NONE };

    /// The parts in the order of [`PartsReport`]; `None` where the times cannot be: one end's clock went backwards.
    pub fn parts(&self) -> Option<[u64; PARTS]> {
        let from = |earlier: Tick, later: Tick| later.as_nanos().checked_sub(earlier.as_nanos());
        let Self { client, server } = self;
        let away = from(client.handed_over, client.came)?;
        let there = from(server.came, server.handed_over)?;
        Some([
            from(client.sent, client.handed_over)?,
            away.checked_sub(there)?,
            from(server.came, server.received)?,
            from(server.received, server.sent)?,
            from(server.sent, server.handed_over)?,
            from(client.came, client.received)?,
        ])
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

impl PartsReport {
    /// Of these parts, in the order of [`Trip::parts`].
    pub(super) fn of(parts: [Distribution; PARTS], implausible: u64) -> Self {
        let [client_send, wire, server_receive, server_residence, server_send, client_receive] =
            parts;
        Self {
            pings: client_send.count,
            implausible,
            client_send,
            wire,
            server_receive,
            server_residence,
            server_send,
            client_receive,
        }
    }
}

impl PartsSummary {
    /// Of a report in which so many pings were measured.
    pub(super) fn of(
        report: &PartsReport,
        measured: u64,
        figures: impl Fn(&Distribution) -> LatencyFigures,
    ) -> Self {
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
            ..Self::default()
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
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn trip(times: [u64; 8]) -> Trip {
        let [sent, handed_over, came, received, server @ ..] = times.map(Tick::from_nanos);
        let client = Passage { sent, handed_over, came, received };
        let [came, received, sent, handed_over] = server;
        Trip { client, server: Passage { sent, handed_over, came, received } }
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
}
