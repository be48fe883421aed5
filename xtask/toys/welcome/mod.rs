//! A peer that was added as people are told to add one: a folder and its lines. Its server has a listener of its own and speaks first
//! there: 37 bytes, before a client has said a word. Nothing else is said: whose a connection is tells where it comes from.

use std::net::SocketAddr;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_modes::conventions::Conventions;
use pathscope_modes::groups::Test;

use crate::Refusal;
use crate::attach::{Answer, Answered, HearNothing, NoClaim, NoDatagrams, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::joining::{Cookie, Identity, Joining};
use crate::operator::NoWords;
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer};

/// What a server says first.
const WELCOME: &[u8; 37] = b"welcome: 0123456789abcdef0123456789a\0";
/// What its data are made with, at both ends alike.
const DATA: Token = Token(*b"a toy's own data");

/// Servers that speak first.
#[derive(Debug)]
pub enum WelcomeToy {}

impl Peer for WelcomeToy {
    const NAME: &'static str = "welcome toy";
    const PORT: u16 = 5291;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Arrival;
    const LISTENER: Listener = Listener::Own;
    const CONVENTIONS: Conventions = in_band::CONVENTIONS;
    const TELLS: Tells = Tells::NOTHING;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = NoWords;
    type Greeting = ();
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        in_band::carries(test)
    }

    fn client(_: ClientEnd, _: Tick) -> InBand {
        InBand::client(Self::NAME, DATA, None)
    }

    fn attach_stream(_: Seat, _: Option<Token>, _: Option<Cookie>) -> Answered {
        Answered::new(Vec::new(), Answer::Bytes(WELCOME, "77 65 6c 63 6f 6d 65"))
    }

    fn accepted(from: SocketAddr) -> Option<Joining<()>> {
        let identity = Identity::Address(from.ip());
        Some(Joining { greeting: (), identity, answer: WELCOME.to_vec() })
    }

    fn server(settings: ServerSettings, (): (), _: [u8; 16], _: Tick) -> InBand {
        InBand::server(Self::NAME, DATA, &settings)
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}
