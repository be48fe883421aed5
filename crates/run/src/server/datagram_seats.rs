//! Datagrams that ask a server for the seat of a flow. Not here: the flow's own socket, which is opened as the seat is given.

use std::net::SocketAddr;

use pathscope_core::network::Network;
use pathscope_os::clock;
use pathscope_os::datagrams::{self, Datagram};
use pathscope_peers::attach::{ClaimSeat, DatagramHeard, HearDatagrams, SeatRefusal};

use super::listening::Listening;
use super::sessions::Called;
use super::{Serving, TURN};

impl Serving<'_> {
    /// Datagrams that ask for a seat. Whoever asks must echo a value that only its address was told.
    pub(super) fn attach_datagrams(&self, listening: &Listening) {
        let socket = &listening.datagrams;
        let mut buffer = [0; 256];
        for _ in 0..TURN {
            let Ok(Some(datagram)) = datagrams::receive(socket, &mut buffer) else { return };
            let said = &buffer[..datagram.len];
            let answer = match self.challenger.hear(datagram.remote, said, clock::now()) {
                DatagramHeard::Nothing => continue,
                DatagramHeard::Answer(answer) => answer,
                DatagramHeard::Joins(answer) => {
                    if let Some(promised) = listening.promised(&datagram) {
                        let Datagram { remote, local, .. } = datagram;
                        // What is lost is asked for again, by clients that do.
                        let tell = || drop(datagrams::send(socket, &answer, remote, local));
                        let called = self.sessions.take_call(promised, tell);
                        if let Called::Elsewhere(place) = called {
                            self.tell_elsewhere(remote, place);
                        }
                    }
                    continue;
                }
                DatagramHeard::Claimed(claim) => {
                    let promised = listening.promised(&datagram).ok_or(SeatRefusal::NoRoom);
                    let attach = |promised| self.sessions.attach_datagrams(&claim, promised);
                    claim.reply(promised.and_then(attach))
                }
            };
            // A lost answer is asked for again.
            let _ = datagrams::send(socket, &answer, datagram.remote, datagram.local);
        }
    }

    /// A stream may be of a test that is awaited from elsewhere: nothing but its address could say so.
    fn tell_elsewhere(&self, from: SocketAddr, place: Network) {
        let ip = from.ip().to_canonical();
        let line = format!(
            "asks for a stream over UDP and is not answered, since a test is awaited from {place} and none from {ip}: a client whose \
             streams come from another address than its control connection is served where --allow names a network of both"
        );
        self.log.on_stranger(from, &line);
    }
}
