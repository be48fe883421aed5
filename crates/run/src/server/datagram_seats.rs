//! Datagrams that ask a server for the seat of a flow. Not here: the flow's own socket, which is opened as the seat is given.

use pathscope_os::clock;
use pathscope_os::datagrams::{self, Datagram};
use pathscope_peers::attach::{ClaimSeat, DatagramHeard, HearDatagrams, SeatRefusal};

use super::listening::Listening;
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
                        self.sessions.take_call(promised, tell);
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
}
