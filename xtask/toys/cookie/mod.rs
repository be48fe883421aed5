//! A peer that was added as people are told to add one: a folder and its lines. Its clients come to the port that all kinds share,
//! where each of their connections says the same 37 bytes and is answered by two; there is no control connection. The letters of
//! a cookie are a name. Its loads are the same words over and over.

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_modes::conventions::Conventions;
use pathscope_modes::groups::Test;
use pathscope_modes::pattern::{Block, Payload};

use crate::Refusal;
use crate::attach::{Answer, Answered, HearNothing, NoClaim, NoDatagrams, Seat};
use crate::dialogue::ServerSettings;
use crate::in_band::{self, InBand};
use crate::joining::{Cookie, Identity, Joining};
use crate::operator::NoWords;
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer, Purpose, Sight};

/// What stands around the name in a cookie.
const BEFORE: &[u8; 12] = b"toy cookie: ";
const BEHIND: &[u8; 9] = b" is mine\0";
/// What a connection is answered that has its place.
const ANSWER: &[u8; 2] = b"ok";
/// What loads are made of, whichever connection they are on: as long as a prime, so that no buffer holds it a whole number of times.
const DATA: Payload = Payload::Block(Block::new(b"What toys send, over and over!!"));

/// Clients that are known by a cookie.
#[derive(Debug)]
pub enum CookieToy {}

impl Peer for CookieToy {
    const NAME: &'static str = "cookie toy";
    const PORT: u16 = 5290;
    const CONTROL: Control = Control::InBand;
    const KNOWN_BY: KnownBy = KnownBy::Nothing;
    const LISTENER: Listener = Listener::Shared;
    const CONVENTIONS: Conventions = Conventions { payload: DATA, ..in_band::CONVENTIONS };
    const TELLS: Tells = Tells::NOTHING;
    const FIRST_BYTES: usize = Cookie::BYTES;

    type Client = InBand;
    type StreamAttaching = Answered;
    type DatagramAttaching = NoDatagrams;
    type Words = NoWords;
    type Greeting = Token;
    type Server = InBand;
    type StreamClaim = NoClaim;
    type DatagramClaim = NoClaim;
    type Challenger = HearNothing;

    fn carries(test: &Test) -> Result<(), Refusal> {
        if in_band::names_flows(test) && in_band::connections_of(test) > 1 {
            return Err(Refusal::new("unable", "it does not tell connections apart"));
        }
        in_band::carries(test)
    }

    fn client(end: ClientEnd, _: Tick) -> InBand {
        let name = end.entropy.first_chunk().copied().unwrap_or_default();
        InBand::client(Self::NAME, Token(name), Some(cookie_of(name)))
    }

    fn attach_stream(_: Seat, _: Option<Token>, cookie: Option<Cookie>) -> Answered {
        let opening = cookie.map(|Cookie(cookie)| cookie.to_vec());
        Answered::new(opening.unwrap_or_default(), Answer::Bytes(ANSWER, "6f 6b"))
    }

    fn receive(said: &[u8]) -> Sight<Purpose<Token, NoClaim>> {
        let seen = said.len().min(BEFORE.len());
        if said[..seen] != BEFORE[..seen] {
            return Sight::Other;
        }
        let Some(cookie) = said.first_chunk() else { return Sight::More(Cookie::BYTES) };
        match name_of(cookie) {
            Some(name) => Sight::Known(Purpose::Join(Joining {
                greeting: Token(name),
                identity: Identity::Cookie(Cookie(*cookie)),
                answer: ANSWER.to_vec(),
            })),
            None => {
                Sight::Unreadable("a client of the cookie toy with another's cookie".to_owned())
            }
        }
    }

    fn server(settings: ServerSettings, name: Token, _: [u8; 16], _: Tick) -> InBand {
        InBand::server(Self::NAME, name, &settings)
    }

    fn refused(_: Token, _: &Refusal) -> Vec<u8> {
        Vec::new()
    }

    fn challenger(_: [u8; 16]) -> HearNothing {
        HearNothing
    }
}

fn cookie_of(name: [u8; 16]) -> Cookie {
    let mut cookie = [0; Cookie::BYTES];
    let bytes = BEFORE.iter().chain(&name).chain(BEHIND);
    cookie.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    Cookie(cookie)
}

fn name_of(cookie: &[u8; Cookie::BYTES]) -> Option<[u8; 16]> {
    let name = cookie[BEFORE.len()..].first_chunk().copied()?;
    (cookie_of(name) == Cookie(*cookie)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_known_when_it_is_whole_and_no_byte_beyond_is_asked_for() {
        let Cookie(cookie) = cookie_of([7; 16]);
        for came in 0..cookie.len() {
            assert_eq!(CookieToy::receive(&cookie[..came]), Sight::More(37), "{came}");
        }
        let Sight::Known(Purpose::Join(joining)) = CookieToy::receive(&cookie) else {
            panic!("it is whole");
        };
        assert_eq!(joining.greeting, Token([7; 16]));
        let mut other = cookie;
        other[36] = b'?';
        assert!(matches!(CookieToy::receive(&other), Sight::Unreadable(_)));
        assert_eq!(CookieToy::receive(b"toy cake"), Sight::Other);
    }
}
