//! Connections that sessions part with, and what becomes of them on the thread that listens: whoever was told why it has no part in a test is let
//! go in good order (`farewell`), and whoever came as a session ended begins another, or is told that there is none. Not here: which
//! connections those are (`session/driver/participants`).

use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;

use pathscope_os::clock;
use pathscope_peers::Refusal;
use pathscope_peers::registry::PeerKind;

use super::Serving;
use super::latecomers::{self, Latecomer};
use crate::session::driver::Parting;
use crate::threads::lock;

/// One of them.
#[derive(Debug)]
pub(super) struct Parted {
    /// Of a client of this kind.
    pub kind: PeerKind,
    pub connection: Parting,
}

/// Those that the thread that listens has not seen yet.
#[derive(Debug, Default)]
pub(super) struct AllParted(Mutex<Vec<Parted>>);

impl AllParted {
    /// A session parts with one more.
    pub fn add(&self, parted: Parted) {
        lock(&self.0).push(parted);
    }

    fn take(&self) -> Vec<Parted> {
        std::mem::take(&mut lock(&self.0))
    }
}

/// Why a server that ends serves nobody.
pub(super) fn stopping() -> Refusal {
    Refusal::new("stopping", "it is about to stop")
}

impl Serving<'_> {
    /// Does what there is to be done about those that sessions have parted with.
    pub(super) fn receive_parted(&mut self) {
        for Parted { kind, connection } in self.sessions.parted.take() {
            match connection {
                Parting::Told(stream) => self.let_go(stream),
                Parting::Unheard(stream) => {
                    // Of one that is gone nobody knows any more where it was.
                    if let Ok(from) = stream.peer_addr() {
                        self.hear_for_words(kind, stream, from);
                    }
                }
            }
        }
    }

    /// A connection for words has come of a client of this kind.
    pub(super) fn hear_for_words(&mut self, kind: PeerKind, stream: TcpStream, from: SocketAddr) {
        if let Some(joining) = kind.accepted_for_words(from) {
            let until = clock::now() + latecomers::PATIENCE;
            self.lead(Latecomer { joining, stream, from, until });
        }
    }

    /// Nobody is served any more: whoever waits to be heard is told so.
    pub(super) fn part_with_all(&mut self) {
        self.is_ending = true;
        self.receive_parted();
        self.lead_latecomers();
    }
}
