//! One direction of a lane, stream or datagrams: what both kinds answer to.

use super::datagram::DatagramPipe;
use super::outcome::Traffic;
use super::script::Edit;
use super::stream::StreamPipe;
use super::transit::{Listener, Transit};
use super::world::{Happening, Parcel, PipeKey, World};
use super::{Ends, Link};
use crate::Transport;

/// Linux's `ECONNRESET`: this room does not know the system it runs on.
pub(super) const ECONNRESET: i32 = 104;

#[derive(Debug)]
pub(super) enum Pipe {
    Stream(StreamPipe),
    Datagram(DatagramPipe),
}

impl Pipe {
    /// Both directions of a lane, each named after its sender.
    pub(super) fn pair(transport: Transport, links: Ends<Link>) -> Ends<Self> {
        let Ends { client, server } = links;
        match transport {
            Transport::Stream => Ends {
                client: Self::Stream(StreamPipe::new(client, server.one_way_ns)),
                server: Self::Stream(StreamPipe::new(server, client.one_way_ns)),
            },
            Transport::Datagram => Ends {
                client: Self::Datagram(DatagramPipe::new(client)),
                server: Self::Datagram(DatagramPipe::new(server)),
            },
        }
    }

    pub(super) const fn transport(&self) -> Transport {
        match self {
            Self::Stream(_) => Transport::Stream,
            Self::Datagram(_) => Transport::Datagram,
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        match self {
            Self::Stream(pipe) => pipe.traffic,
            Self::Datagram(pipe) => pipe.traffic,
        }
    }

    pub(super) fn transit(&mut self) -> &mut Transit {
        match self {
            Self::Stream(pipe) => &mut pipe.transit,
            Self::Datagram(pipe) => &mut pipe.transit,
        }
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        match self {
            Self::Stream(pipe) => pipe.unsent_bytes(),
            Self::Datagram(pipe) => pipe.unsent_bytes(),
        }
    }

    pub(super) fn unread_bytes(&self) -> usize {
        match self {
            Self::Stream(pipe) => pipe.unread_bytes(),
            Self::Datagram(pipe) => pipe.unread_bytes(),
        }
    }

    /// Changes a stream on its way. Datagrams have fates instead.
    pub(super) fn edit(&mut self, edit: Edit) {
        if let Self::Stream(pipe) = self {
            pipe.edit(edit);
        }
    }

    pub(super) fn transmit(&mut self, key: PipeKey, world: &mut World) {
        match self {
            Self::Stream(pipe) => pipe.transmit(key, world),
            Self::Datagram(pipe) => pipe.transmit(key, world),
        }
    }

    /// The link can take more.
    pub(super) fn link_free(&mut self, key: PipeKey, world: &mut World) {
        self.transit().freed();
        self.transmit(key, world);
    }

    /// The receiver of a stream has made room.
    pub(super) fn credit(&mut self, bytes: usize, key: PipeKey, world: &mut World) {
        if let Self::Stream(pipe) = self {
            pipe.credit(bytes);
            pipe.transmit(key, world);
        }
    }

    /// A parcel reaches the receiving socket, whose answer takes so long.
    pub(super) fn arrive(
        &mut self,
        parcel: Parcel,
        key: PipeKey,
        answer_ns: Option<u64>,
        world: &mut World,
    ) {
        match (self, parcel) {
            (Self::Stream(pipe), parcel) if pipe.listener == Listener::Open => {
                pipe.arrive(parcel, world.now);
            }
            (Self::Stream(pipe), Parcel::Payload(_)) if pipe.listener == Listener::Dead => {
                let (end, lane) = (key.sender(), key.lane);
                if let Some(answer_ns) = answer_ns {
                    let at = world.now.plus_nanos(answer_ns);
                    world.at(at, Happening::Break { end, lane, errno: ECONNRESET });
                }
            }
            (Self::Datagram(pipe), Parcel::Payload(bytes)) if pipe.listener == Listener::Open => {
                pipe.arrive(bytes, world.now);
            }
            // A socket that is gone without a trace, the farewell of one to another, or a datagram for
            // nobody.
            _ => {}
        }
        world.make_ready(key.receiver());
    }

    pub(super) fn reconsider(&mut self) {
        match self {
            Self::Stream(pipe) => pipe.reconsider(),
            Self::Datagram(pipe) => pipe.reconsider(),
        }
    }

    /// The sender will write no more.
    pub(super) fn finish(&mut self, key: PipeKey, world: &mut World) {
        if let Self::Stream(pipe) = self {
            pipe.finish();
            pipe.transmit(key, world);
        }
    }

    /// The receiver reads no more and waits for the other end to close: a stream goes on and drops what
    /// comes, a datagram socket is simply closed.
    pub(super) fn drain(&mut self, key: PipeKey, world: &mut World) {
        match self {
            Self::Stream(pipe) => pipe.discard(key, world),
            Self::Datagram(pipe) => pipe.stop_receiving(Listener::Deaf),
        }
    }

    /// The sender hears nothing of the receiver any more: the other direction is cut.
    pub(super) fn silence(&mut self) {
        if let Self::Stream(pipe) = self {
            pipe.silence();
        }
    }

    /// The sending socket is gone.
    pub(super) fn stop_sending(&mut self) {
        match self {
            Self::Stream(pipe) => pipe.stop_sending(),
            Self::Datagram(pipe) => pipe.stop_sending(),
        }
    }

    /// The receiving socket is gone.
    pub(super) fn stop_receiving(&mut self, listener: Listener) {
        match self {
            Self::Stream(pipe) => pipe.stop_receiving(listener),
            Self::Datagram(pipe) => pipe.stop_receiving(listener),
        }
    }
}
