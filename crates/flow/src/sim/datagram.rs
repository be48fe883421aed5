//! One direction of datagrams between two sockets: each on its own, each with its own fate.

use std::collections::VecDeque;

use pathscope_core::Tick;

use super::Link;
use super::outcome::Traffic;
use super::script::{Fate, Passing};
use super::transit::{Listener, Transit};
use super::world::{Happening, Parcel, PipeKey, World};

#[derive(Debug)]
pub(super) struct DatagramPipe {
    pub(super) transit: Transit,
    pub(super) listener: Listener,
    pub(super) traffic: Traffic,
    unsent: VecDeque<Vec<u8>>,
    unsent_bytes: usize,
    unread: VecDeque<Arrived>,
    unread_bytes: usize,
    refused: bool,
}

#[derive(Debug)]
struct Arrived {
    bytes: Vec<u8>,
    at: Tick,
}

/// Datagrams that one receive brings, one after the other: all of one length but for a shorter last one.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) bytes: Vec<u8>,
    pub(super) stride: usize,
    pub(super) at: Tick,
}

/// At the sender.
impl DatagramPipe {
    pub(super) fn new(link: Link) -> Self {
        Self {
            transit: Transit::new(link),
            listener: Listener::Open,
            traffic: Traffic::default(),
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            unread: VecDeque::new(),
            unread_bytes: 0,
            refused: false,
        }
    }

    /// Whether the sending socket can take a datagram of `len` bytes now.
    pub(super) fn has_room(&self, len: usize) -> bool {
        self.unsent_bytes + len <= self.transit.link.send_buffer_bytes
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        self.unsent_bytes
    }

    pub(super) fn write(&mut self, datagram: &[u8]) {
        self.unsent_bytes += datagram.len();
        self.unsent.push_back(datagram.to_vec());
    }

    /// The sending socket is gone, with what it held.
    pub(super) fn stop_sending(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
    }

    /// Puts on the link what it can take.
    pub(super) fn transmit(&mut self, key: PipeKey, world: &mut World) {
        while self.transit.is_free(world.now)
            && let Some(datagram) = self.unsent.pop_front()
        {
            self.unsent_bytes -= datagram.len();
            self.enter_link(datagram, key, world);
            world.make_ready(key.sender());
        }
        if !self.unsent.is_empty() {
            self.transit.await_freedom(key, world);
        }
    }

    fn enter_link(&mut self, mut datagram: Vec<u8>, key: PipeKey, world: &mut World) {
        let position = self.traffic.entered;
        self.traffic.entered += 1;
        let arrival = self.transit.carry(datagram.len(), world.now);
        let fate = fate(&mut datagram, position, key, world);
        let emit = |datagram: Vec<u8>, later_ns: u64, world: &mut World| {
            let parcel = Parcel::Payload(datagram);
            world.at(arrival.plus_nanos(later_ns), Happening::Arrive { pipe: key, parcel });
        };
        match fate {
            _ if self.transit.cut => self.traffic.lost += 1,
            Fate::Lose => self.traffic.lost += 1,
            Fate::Deliver => emit(datagram, 0, world),
            Fate::Delay { by_ns } => emit(datagram, by_ns, world),
            Fate::Duplicate { after_ns } => {
                self.traffic.duplicated += 1;
                emit(datagram.clone(), 0, world);
                emit(datagram, after_ns, world);
            }
        }
    }
}

fn fate(datagram: &mut Vec<u8>, position: u64, key: PipeKey, world: &mut World) -> Fate {
    let PipeKey { flow, lane, from } = key;
    let at = world.now;
    world.fates.as_mut().map_or(Fate::Deliver, |decide| {
        decide(&mut Passing { flow, lane, from, position, at, bytes: datagram })
    })
}

/// At the receiver.
impl DatagramPipe {
    pub(super) fn arrive(&mut self, bytes: Vec<u8>, at: Tick) {
        if self.unread_bytes + bytes.len() > self.transit.link.receive_buffer_bytes {
            self.traffic.overflowed += 1;
        } else {
            self.unread_bytes += bytes.len();
            self.unread.push_back(Arrived { bytes, at });
        }
    }

    pub(super) fn unread_bytes(&self) -> usize {
        self.unread_bytes
    }

    /// Whether there is something to show. What was refused is shown again after something else has
    /// happened: a datagram does not become more by waiting.
    pub(super) fn is_readable(&self) -> bool {
        !self.refused && !self.unread.is_empty()
    }

    /// The first datagrams, at least one, at most `portion` of them and `limit` bytes; with
    /// `one_stamp`, only those that came at the same time.
    pub(super) fn present(&self, limit: usize, portion: usize, one_stamp: bool) -> Option<Bundle> {
        let first = self.unread.front()?;
        let (stride, at) = (first.bytes.len(), first.at);
        let mut bytes = Vec::new();
        for datagram in self.unread.iter().take(portion) {
            let len = datagram.bytes.len();
            let is_full = !bytes.is_empty() && bytes.len() + len > limit;
            if len > stride || is_full || (one_stamp && datagram.at != at) {
                break;
            }
            bytes.extend_from_slice(&datagram.bytes);
            if len < stride || len == 0 {
                break;
            }
        }
        Some(Bundle { bytes, stride, at })
    }

    /// The machine has consumed the first datagrams of what it was shown, `consumed` bytes in all. A
    /// datagram without bytes is shown alone, and has been taken when it was shown.
    pub(super) fn consume(&mut self, presented: usize, mut consumed: usize) {
        self.refused = presented > 0 && consumed == 0;
        if presented == 0 {
            self.unread.pop_front();
        }
        while consumed > 0
            && let Some(datagram) = self.unread.pop_front()
        {
            consumed = consumed.saturating_sub(datagram.bytes.len());
            self.unread_bytes -= datagram.bytes.len();
        }
    }

    /// Something else has happened: the machine may want what it refused.
    pub(super) fn reconsider(&mut self) {
        self.refused = false;
    }

    /// The receiving socket is gone, with what it held.
    pub(super) fn stop_receiving(&mut self, listener: Listener) {
        self.unread.clear();
        self.unread_bytes = 0;
        self.listener = listener;
    }
}
