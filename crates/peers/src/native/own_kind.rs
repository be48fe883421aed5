//! What our own protocol is as a kind of peer.

use std::iter;

use pathscope_core::Tick;
use pathscope_core::finding::{Finding as _, FindingDefinition};
use pathscope_core::id::Token;
use pathscope_core::record::Tells;
use pathscope_flow::{Dialogue as _, Output, Transport};
use pathscope_modes::conventions::Conventions;

use super::findings::NativeCaveat;
use super::numbered::FRAME_MAGIC;
use super::{
    Attaching, Challenger, Claim, Client, DEFAULT_PORT, Greeting, LONG_OPENING_BYTES, MAGIC,
    Opening, Return, Server, StreamAttaching, StreamClaim, refused, turned_away,
};
use crate::Refusal;
use crate::attach::Seat;
use crate::dialogue::{Returning, ServerSettings};
use crate::inquiry::{Inquiry, Verdict};
use crate::joining::Cookie;
use crate::operator::NoWords;
use crate::peer::{ClientEnd, Control, KnownBy, Listener, Peer, Purpose, Sight};

/// So much of what an opening begins with tells who calls; what follows tells whether it came as it was sent.
const NAME_BYTES: usize = 4;

/// Who calls where something on the way has changed line ends or cut a control character.
const MANGLED: &str =
    "a pathscope client through something that rewrites line ends; it must pass bytes as they are";

/// pathscope itself.
#[derive(Debug)]
pub enum Native {}

impl Peer for Native {
    const NAME: &'static str = "native";
    const PORT: u16 = DEFAULT_PORT;
    const CONTROL: Control = Control::Connection;
    const KNOWN_BY: KnownBy = KnownBy::Seat;
    const LISTENER: Listener = Listener::Shared;
    const CONVENTIONS: Conventions = Conventions::OWN;
    const TELLS: Tells = Tells::EVERYTHING;
    const FIRST_BYTES: usize = LONG_OPENING_BYTES;
    const CAVEATS: &'static [FindingDefinition] = NativeCaveat::ALL;

    type Client = Client;
    type StreamAttaching = StreamAttaching;
    type DatagramAttaching = Attaching;
    type Words = NoWords;
    type Greeting = Greeting;
    type Server = Server;
    type StreamClaim = StreamClaim;
    type DatagramClaim = Claim;
    type Challenger = Challenger;

    fn inquiry(end: ClientEnd, now: Tick) -> Option<Inquiry> {
        let mut client = Self::client(end, now);
        let said = iter::from_fn(|| client.output());
        let said =
            said.filter_map(|it| if let Output::Send(bytes) = it { Some(bytes) } else { None });
        Some(Inquiry {
            transport: Transport::Stream,
            says: said.flatten().collect(),
            in_words: "the begin of a session",
            answer: |_, heard| Verdict::of_begin(heard, &FRAME_MAGIC),
        })
    }

    fn client(ClientEnd { host, wants_ends, .. }: ClientEnd, now: Tick) -> Client {
        Client::asking(host, wants_ends, now)
    }

    fn attach_stream(
        seat: Seat,
        session: Option<Token>,
        _cookie: Option<Cookie>,
    ) -> StreamAttaching {
        StreamAttaching::new(seat, session)
    }

    fn attach_datagrams(
        seat: Seat,
        session: Option<Token>,
        nonce: u64,
        now: Tick,
    ) -> Option<Attaching> {
        Some(Attaching::new(seat, session, nonce, now))
    }

    fn receive(said: &[u8]) -> Sight<Purpose<Greeting, StreamClaim>> {
        let seen = said.len().min(MAGIC.len());
        if said[..seen] != MAGIC[..seen] {
            let has_name = said.starts_with(&MAGIC[..NAME_BYTES]);
            return if has_name { Sight::Unreadable(MANGLED.to_owned()) } else { Sight::Other };
        }
        // The kind tells how long it is, and comes well before the end of the shortest.
        let length = Opening::length(said);
        let Some(opening) = said.get(..length) else { return Sight::More(length) };
        Sight::Known(match Opening::decode(opening) {
            Ok(Opening::Control(greeting)) => Purpose::Session(greeting),
            Ok(Opening::Data(seat)) => Purpose::Seat(StreamClaim::new(seat, None)),
            Ok(Opening::CheckedData(seat, proof)) => {
                Purpose::Seat(StreamClaim::new(seat, Some(proof)))
            }
            Ok(Opening::Return(Return { session, attempt, received })) => {
                let unknown = turned_away();
                Purpose::Return(Returning { session, attempt, received, unknown })
            }
            Err(error) => return Sight::Unreadable(format!("a pathscope client; {error}")),
        })
    }

    fn server(
        settings: ServerSettings,
        greeting: Greeting,
        entropy: [u8; 16],
        now: Tick,
    ) -> Server {
        Server::new(settings, greeting, Ok(()), entropy, now)
    }

    fn refused(greeting: Greeting, refusal: &Refusal) -> Vec<u8> {
        refused(greeting, refusal)
    }

    fn challenger(secret: [u8; 16]) -> Challenger {
        Challenger::new(secret)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::id::{FlowId, Lane};
    use pathscope_flow::GroupId;

    use super::*;
    use crate::native::{HelloCheck, VersionRange, proof_of};

    const SESSION: Token = Token([9; 16]);
    const SEAT: Seat =
        Seat { token: Token([1; 16]), group: GroupId(0), flow: FlowId(2), lane: Lane(1) };

    #[test]
    fn no_byte_is_asked_for_beyond_an_opening_and_each_tells_what_it_is_for() {
        let greeting = Greeting {
            versions: VersionRange { least: 1, most: 2 },
            hello: Some(HelloCheck::of(b"a hello")),
        };
        let proof = proof_of(SEAT, SESSION);
        let back = Return { session: SESSION, attempt: 2, received: 77 };
        let returning =
            Returning { session: SESSION, attempt: 2, received: 77, unknown: turned_away() };
        for (opening, purpose) in [
            (Opening::Control(greeting), Purpose::Session(greeting)),
            (Opening::Data(SEAT), Purpose::Seat(StreamClaim::new(SEAT, None))),
            (Opening::CheckedData(SEAT, proof), Purpose::Seat(StreamClaim::new(SEAT, Some(proof)))),
            (Opening::Return(back), Purpose::Return(returning)),
        ] {
            let said = opening.encode();
            let (mut came, mut asked) = (0, Vec::new());
            let known = loop {
                match Native::receive(&said[..came]) {
                    Sight::More(bytes) => {
                        assert!(bytes > came && bytes <= said.len(), "{opening:?}");
                        came = bytes;
                        asked.push(bytes);
                    }
                    sight => break sight,
                }
            };
            assert_eq!((known, asked.last()), (Sight::Known(purpose), Some(&said.len())));
            assert!(asked.iter().all(|&bytes| bytes <= Native::FIRST_BYTES));
        }
    }
}
