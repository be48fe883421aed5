//! Datagrams that come back: the header that a ping and its echo have in every mode that measures round trips.
//!
//! ```text
//!  0       4     5     6        8         16        24         32                40               48
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//!  | magic |kind |lane | flow   | token   | seq     | sent     | server received | server sent    | filler
//!  +-------+-----+-----+--------+---------+---------+----------+-----------------+----------------+--
//! ```
//!
//! All numbers little-endian. The flow has its lower 16 bits there; see [`Tag`] for those above. `sent` is of the client's clock, the other two stamps of the server's; what comes from a
//! client has zeros there.
//!
//! Not here: what kinds there are and what the filler holds, which stands with the mode that sends them.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};

use crate::codec;
use crate::pattern::SessionKey;

/// Length of the header, and so of the smallest of these datagrams.
pub const HEADER_BYTES: usize = 48;

/// Clocks run differently while one of them is set right: the kernel takes 10 % at the most.
const SLEWED: u64 = 10;

/// What a datagram is, as a mode has it.
pub(crate) trait Kind: Copy + 'static {
    /// First four bytes of every datagram of the mode.
    const MAGIC: u32;
    /// The kinds, in the order of their codes from 1 on.
    const ALL: &'static [Self];

    /// As it stands on the wire.
    fn code(self) -> u8;
}

/// What stands before the filler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header<K> {
    pub kind: K,
    pub lane: Lane,
    pub sequence: u64,
    pub sent: Tick,
    pub server_received: Tick,
    pub server_sent: Tick,
}

impl<K> Header<K> {
    /// Of what a client sends: without stamps of a server.
    pub fn of_client(kind: K, lane: Lane, sequence: u64, sent: Tick) -> Self {
        let (server_received, server_sent) = (Tick::ZERO, Tick::ZERO);
        Self { kind, lane, sequence, sent, server_received, server_sent }
    }

    /// Whether nothing stands where the server's stamps will be.
    pub fn is_unstamped(&self) -> bool {
        self.server_received == Tick::ZERO && self.server_sent == Tick::ZERO
    }

    /// Whether the server's two stamps can be, which is all that their bytes can be compared with: they are in order, and no
    /// further apart than the round trip of a datagram that came back at `now`, by the client's clock, plus a tenth. Of a
    /// round trip that ends before it began nothing is known.
    pub fn is_plausible(&self, now: Tick) -> bool {
        let since = |later: Tick, earlier: Tick| later.as_nanos().checked_sub(earlier.as_nanos());
        let most = since(now, self.sent).map_or(u64::MAX, |rtt| rtt.saturating_add(rtt / SLEWED));
        since(self.server_sent, self.server_received).is_some_and(|residence| residence <= most)
    }
}

/// What was found in bytes that came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Found<K> {
    /// A datagram of this flow, every byte that was looked at as it was sent.
    Whole(Header<K>),
    /// One of this flow that is not as it was sent.
    Corrupt,
    /// Nothing of this flow.
    Foreign,
}

impl<K> Found<K> {
    /// What stands before the filler, where nothing was found wrong.
    pub fn whole(self) -> Option<Header<K>> {
        match self {
            Self::Whole(header) => Some(header),
            Self::Corrupt | Self::Foreign => None,
        }
    }
}

/// Which flow of which session datagrams are of: the lower 16 bits of the flow's number, and a token that is the session's.
///
/// Where a group has more flows than 16 bits tell apart, the upper bits of the number are added to the token.
/// In groups that are no larger they are left out, as they always were.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Tag {
    pub token: u64,
    pub flow: FlowId,
}

/// So many flows the header tells apart by itself.
const TOLD_APART: u32 = 1 << 16;

impl Tag {
    /// Of flow number `flow`, in a group of so many.
    pub fn of(session: SessionKey, flow: FlowId, flows: u32) -> Self {
        let upper = if flows > TOLD_APART { flow.0 / TOLD_APART } else { 0 };
        Self { token: session.token.wrapping_add(upper.into()), flow }
    }

    /// Writes the header to the start of `datagram`, which must have room for it.
    pub fn write<K: Kind>(self, header: &Header<K>, datagram: &mut [u8]) {
        let [low, high] = (self.flow.0 as u16).to_le_bytes();
        let kind_and_flow = u32::from_le_bytes([header.kind.code(), header.lane.0, low, high]);
        let words = [
            codec::word(K::MAGIC, kind_and_flow),
            self.token,
            header.sequence,
            header.sent.as_nanos(),
            header.server_received.as_nanos(),
            header.server_sent.as_nanos(),
        ];
        codec::write(words, datagram);
    }

    /// Reads the header of `datagram`, and looks at nothing that follows it.
    pub fn read<K: Kind>(self, datagram: &[u8]) -> Found<K> {
        let Some([first, token, sequence, times @ ..]) = codec::read::<6>(datagram) else {
            return Found::Foreign;
        };
        let [magic, kind_and_flow] = codec::halves(first);
        let [code, lane, low, high] = kind_and_flow.to_le_bytes();
        let is_of_flow = u16::from_le_bytes([low, high]) == self.flow.0 as u16;
        if magic != K::MAGIC || token != self.token || !is_of_flow {
            return Found::Foreign;
        }
        let Some(&kind) = K::ALL.iter().find(|kind| kind.code() == code) else {
            return Found::Corrupt;
        };
        let [sent, server_received, server_sent] = times.map(Tick::from_nanos);
        let lane = Lane(lane);
        Found::Whole(Header { kind, lane, sequence, sent, server_received, server_sent })
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::Token;
    use proptest::prelude::*;

    use super::*;

    fn are_plausible([server_received, server_sent]: [Tick; 2], sent: Tick, now: Tick) -> bool {
        let header = Header::of_client((), Lane::ONLY, 0, sent);
        Header { server_received, server_sent, ..header }.is_plausible(now)
    }

    proptest! {
        #[test]
        fn stamps_that_cannot_be_are_known(
            residence in 0_u64..1_000,
            rest in 0_u64..1_000,
            bit in 0_u32..64,
        ) {
            let check = |received: u64, echoed: u64| {
                // Sent at 1, and back after what both ways and the server took.
                let now = Tick::from_nanos(1 + residence + rest);
                are_plausible([received, echoed].map(Tick::from_nanos), Tick::from_nanos(1), now)
            };
            let (received, echoed) = (1 << 40, (1 << 40) + residence);
            prop_assert!(check(received, echoed));
            let rtt = residence + rest;
            for (received, echoed) in [(received ^ (1 << bit), echoed), (received, echoed ^ (1 << bit))] {
                let is_near = received <= echoed && echoed - received <= rtt + rtt / 10;
                prop_assert_eq!(check(received, echoed), is_near, "{} {}", received, echoed);
            }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Ping;

    impl Kind for Ping {
        const MAGIC: u32 = 7;
        const ALL: &'static [Self] = &[Self];

        fn code(self) -> u8 {
            1
        }
    }

    fn written(tag: Tag) -> [u8; HEADER_BYTES] {
        let mut datagram = [0; HEADER_BYTES];
        tag.write(&Header::of_client(Ping, Lane::ONLY, 3, Tick::from_nanos(9)), &mut datagram);
        datagram
    }

    fn session(token: u8) -> SessionKey {
        SessionKey::from(Token([token; 16]))
    }

    #[test]
    fn a_million_flows_are_told_apart() {
        let tag = |flow| Tag::of(session(0xff), FlowId(flow), 1_000_000);
        let one = written(tag(5));
        assert!(tag(5).read::<Ping>(&one).whole().is_some());
        for other in [5 + (1 << 16), 5 + (15 << 16), 6] {
            assert_eq!(tag(other).read::<Ping>(&one), Found::Foreign, "{other}");
            assert_eq!(tag(5).read::<Ping>(&written(tag(other))), Found::Foreign, "{other}");
        }
    }

    #[test]
    fn flows_of_groups_that_16_bits_tell_apart_have_the_session_s_token_whatever_their_number() {
        for (flow, flows) in [(5, 1), (65_535, 1 << 16), (70_000, 8), (70_000, 1 << 16)] {
            let Tag { token, .. } = Tag::of(session(3), FlowId(flow), flows);
            assert_eq!(token, session(3).token, "{flow} of {flows}");
        }
        let first = Tag::of(session(3), FlowId(5), 1_000_000);
        assert_eq!(first, Tag::of(session(3), FlowId(5), 1));
    }

    #[test]
    fn a_clock_that_goes_back_and_a_server_without_stamps_are_no_damage() {
        let at = Tick::from_nanos;
        assert!(are_plausible([at(5), at(900)], at(100), at(50)));
        assert!(are_plausible([at(0), at(0)], at(100), at(101)));
        // A clock that is being slewed by 8 %.
        assert!(are_plausible([at(0), at(1_080_000_000)], at(7), at(1_000_000_007)));
    }
}
