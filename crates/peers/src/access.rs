//! From whom a test takes sockets: from whoever proves to be of its session, or, in version 1, from where that is.

use std::net::{IpAddr, SocketAddr};

use pathscope_core::id::Token;
use pathscope_modes::groups::Test;

use crate::attach::ClaimSeat;

/// Whose sockets a test takes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Access {
    /// Those that prove to be of the session of this name, from wherever they come.
    Proven(Token),
    /// In version 1, which knows no proof, those from the addresses that the session told: that of its control connection, and
    /// those that its plan binds connections to.
    From(Vec<Place>),
    /// Those from anywhere: of a test of version 1 whose lanes come and go, nobody knows where they come from.
    Anywhere,
}

/// An address, and the link that it is on where it means nothing without it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    address: IpAddr,
    link: u32,
}

impl Place {
    fn of(from: SocketAddr) -> Self {
        let link = match from {
            SocketAddr::V6(from) if from.ip().is_unicast_link_local() => from.scope_id(),
            _ => 0,
        };
        Self { address: from.ip().to_canonical(), link }
    }
}

impl Access {
    /// Of a test of the session of this name (version 1 has none) whose control connection comes from there.
    pub fn new(session: Option<Token>, from: SocketAddr, test: &Test) -> Self {
        // Lanes that roam come from any address.
        let Some(sockets) = test.plan.asks().sockets else {
            return session.map_or(Self::Anywhere, Self::Proven);
        };
        let bound = sockets.bind.iter().map(|&address| {
            let mut bound = from;
            bound.set_ip(address);
            // A link-local one is of the link that the server is reached by.
            Place::of(bound)
        });
        let told = || Self::From([Place::of(from)].into_iter().chain(bound).collect());
        session.map_or_else(told, Self::Proven)
    }

    /// Whether a socket is taken that claims this, from there.
    pub fn takes(&self, claim: &impl ClaimSeat, from: SocketAddr) -> bool {
        match self {
            Self::Proven(session) => claim.proves(*session),
            _ => self.takes_from(from),
        }
    }

    fn takes_from(&self, from: SocketAddr) -> bool {
        match self {
            Self::Proven(_) => false,
            Self::From(places) => places.contains(&Place::of(from)),
            Self::Anywhere => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::{FlowId, Lane};
    use pathscope_core::quantity::Frequency;
    use pathscope_flow::GroupId;
    use pathscope_modes::latency::LatencyPlan;

    use super::*;
    use crate::attach::Seat;
    use crate::native::{Proof, StreamClaim, fixtures, proof_of};

    const SESSION: Token = Token([9; 16]);
    const SEAT: Seat =
        Seat { token: Token([1; 16]), group: GroupId(0), flow: FlowId(2), lane: Lane(1) };

    /// Whether a connection for this seat is taken that says this.
    fn takes(access: &Access, seat: Seat, proof: Option<Proof>, from: SocketAddr) -> bool {
        access.takes(&StreamClaim::new(seat, proof), from)
    }

    fn from(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    /// Pings whose sockets are bound to these addresses.
    fn bound_to(addresses: &[&str]) -> Test {
        let mut plan = LatencyPlan::probe(Frequency(100));
        plan.sockets.bind = addresses.iter().map(|text| text.parse().expect(text)).collect();
        Test { plan: plan.into(), ..fixtures::load(1) }
    }

    #[test]
    fn in_version_2_a_connection_is_taken_that_knows_the_name_wherever_it_comes_from() {
        let home = from("192.0.2.1:4000");
        for test in [fixtures::load(1), fixtures::paths()] {
            let access = Access::new(Some(SESSION), home, &test);
            let good = Some(proof_of(SEAT, SESSION));
            assert!(takes(&access, SEAT, good, from("198.51.100.7:1")));
            let other = Some(proof_of(SEAT, Token([8; 16])));
            for proof in [None, Some(Proof::default()), other] {
                assert!(!takes(&access, SEAT, proof, home), "{proof:?}");
            }
            // What was read on the way of one socket is no proof for another.
            for seat in [
                Seat { token: Token([2; 16]), ..SEAT },
                Seat { group: GroupId(1), ..SEAT },
                Seat { flow: FlowId(3), ..SEAT },
                Seat { lane: Lane(0), ..SEAT },
            ] {
                assert!(!takes(&access, seat, good, home), "{seat:?}");
            }
        }
    }

    #[test]
    fn in_version_1_a_socket_is_taken_from_where_its_session_is_and_said_to_be() {
        let cases = [
            ("192.0.2.1:4000", &[][..], "192.0.2.1:9", true),
            ("192.0.2.1:4000", &[][..], "192.0.2.2:4000", false),
            ("192.0.2.1:4000", &[][..], "[::ffff:192.0.2.1]:9", true),
            ("[::ffff:192.0.2.1]:4000", &[][..], "192.0.2.1:9", true),
            ("192.0.2.1:4000", &["192.0.2.3", "2001:db8::3"][..], "192.0.2.3:9", true),
            ("192.0.2.1:4000", &["192.0.2.3", "2001:db8::3"][..], "[2001:db8::3]:9", true),
            ("192.0.2.1:4000", &["192.0.2.3", "2001:db8::3"][..], "192.0.2.4:9", false),
            // No more than one address, though a site has many.
            ("[2001:db8::1]:4000", &[][..], "[2001:db8::2]:4000", false),
            // A link-local address is another one on another link.
            ("[fe80::1%2]:4000", &[][..], "[fe80::1%2]:9", true),
            ("[fe80::1%2]:4000", &[][..], "[fe80::1%3]:9", false),
            ("[fe80::1%2]:4000", &["fe80::7"][..], "[fe80::7%2]:9", true),
            ("[fe80::1%2]:4000", &["fe80::7"][..], "[fe80::7%3]:9", false),
        ];
        for (home, bound, comes, is_taken) in cases {
            let access = Access::new(None, from(home), &bound_to(bound));
            let taken = takes(&access, SEAT, None, from(comes));
            assert_eq!(taken, is_taken, "{home}, {bound:?}: {comes}");
        }
    }

    #[test]
    fn in_version_1_lanes_come_from_anywhere() {
        let access = Access::new(None, from("192.0.2.1:4000"), &fixtures::paths());
        assert!(access.takes_from(from("198.51.100.7:1")));
    }
}
