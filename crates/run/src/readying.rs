//! What sockets of datagrams have before their flows run: room for what waits to be received, and whether what they send leaves whole. What a
//! plan asks of sockets of either kind is `connect/settings`'.

use pathscope_core::id::Role;
use pathscope_flow::{Group, Transport};
use pathscope_modes::mode::{DatagramSockets, Mode};
use pathscope_os::batches;
use pathscope_os::sockets::Socket;

use crate::error::RunError;

/// Room for datagrams that wait while an end stands still, of all flows of a group. The kernel charges some 800
/// bytes for a small one: 20,000 of them, two seconds at 10,000 a second.
const DATAGRAM_ROOM: usize = 16 << 20;
/// Of each flow at least so much: about what systems give without being asked.
const LEAST_DATAGRAM_ROOM: usize = 256 << 10;

/// Room that was asked for, and that was granted.
pub(crate) type Room = (u64, u64);

/// How the sockets of a group are made ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readying {
    wanted: DatagramSockets,
    /// Whether it is told what of the room was granted: not where nobody but this end asked for it.
    tells_room: bool,
}

impl Readying {
    /// Those of a group at this end; none where there is nothing to do.
    pub fn of(plan: &dyn Mode, role: Role, group: Group) -> Option<Self> {
        if let Some(wanted) = plan.datagram_sockets(role) {
            return Some(Self { wanted, tells_room: true });
        }
        let asked = plan.asks().sockets.and_then(|sockets| sockets.receive_buffer_bytes);
        if group.transport == Transport::Stream || asked.is_some() {
            return None;
        }
        let each = (DATAGRAM_ROOM / group.flows.max(1) as usize).max(LEAST_DATAGRAM_ROOM);
        let wanted =
            DatagramSockets { room_bytes: Some(each as u64), ..DatagramSockets::default() };
        Some(Self { wanted, tells_room: false })
    }

    /// The same of a socket of one lane of a flow that roams.
    pub fn of_lane(group: Group) -> Self {
        let bytes = DATAGRAM_ROOM / usize::from(group.lanes.max(1));
        let wanted =
            DatagramSockets { room_bytes: Some(bytes as u64), ..DatagramSockets::default() };
        Self { wanted, tells_room: false }
    }

    /// Makes one ready, or says what of the plan it cannot carry. The room that it has.
    pub fn ready(&self, socket: &Socket) -> Result<Option<Room>, RunError> {
        let Self { wanted, tells_room } = self;
        if wanted.keep_whole {
            // Where the system cannot, it cuts them in pieces, which is told by nobody.
            let _ = batches::keep_whole(socket);
        }
        if let Some(datagram) = wanted.longest_bytes
            && let Some(longest) = batches::longest_payload(socket).map(u64::from)
            && longest < datagram
        {
            return Err(RunError::Unsupported(format!(
                "datagrams of {datagram} bytes are longer than the path from here takes whole; ask for at most \
                 --datagram {longest}, or for --may-fragment"
            )));
        }
        let Some(wanted) = wanted.room_bytes else { return Ok(None) };
        // What the system does not grant is told, or shows as drops, which are.
        let _ = socket.enlarge_receive_buffer(usize::try_from(wanted).unwrap_or(usize::MAX));
        if !tells_room {
            return Ok(None);
        }
        // It counts its own overhead in, as much again.
        Ok(socket.receive_buffer_bytes().map(|granted| (wanted, granted as u64 / 2)))
    }
}

/// The least that was granted of both.
pub(crate) fn least(one: Option<Room>, other: Option<Room>) -> Option<Room> {
    one.into_iter().chain(other).min_by_key(|&(_, granted)| granted)
}
