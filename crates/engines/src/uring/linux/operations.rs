//! What an operation is for the ring, and what it is where it is a call.

use std::os::fd::RawFd;

use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::Fd;
use pathscope_os::Socket;

use super::flights::{Flight, Stage};
use super::message::Message;
use super::rooms::{GROUP, Rooms};
use crate::completion::{Way, Work};
use crate::{Blocking, SystemCalls, Trouble};

/// A send that finds no room says so, and does not wait: its flow may change its mind meanwhile.
const SENDING: i32 = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
/// `IORING_RECVSEND_POLL_FIRST`: the socket is empty as far as is known, and the kernel is not to look before it waits.
const WAIT_FIRST: u16 = 1;

/// How an operation receives.
#[derive(Clone, Copy, Debug)]
pub enum Receives {
    /// Once, of a socket that was emptied or not, as far as is known.
    Once { was_emptied: bool },
    /// Whenever something comes, until it is recalled or there is no room.
    On,
}

/// Says when a descriptor is what is asked.
pub fn poll(descriptor: RawFd, what: i16) -> Entry {
    opcode::PollAdd::new(Fd(descriptor), what as u32).build()
}

/// What the ring is given for an operation, of what the flight and its header hold; nothing where it knows none such. Where it receives: at
/// most so many bytes, and how.
pub fn entry(
    flight: &Flight,
    message: &mut Option<Box<Message>>,
    (room_bytes, receives): (usize, Receives),
) -> Option<Entry> {
    let descriptor = Fd(flight.descriptor);
    let entry = match (&flight.submission.work, flight.stage) {
        (_, Stage::Polled) => {
            let receives = flight.submission.ticket.way == Way::Receive;
            poll(flight.descriptor, if receives { libc::POLLIN } else { libc::POLLOUT })
        }
        (Work::SendStream { bytes, more_follows, .. }, _) => {
            let slices = bytes.slices();
            let flags = if *more_follows { SENDING | libc::MSG_MORE } else { SENDING };
            if let [slice] = &slices[..] {
                send(descriptor, slice, flags)
            } else {
                let header = message.get_or_insert_with(Message::new).sending(&slices);
                opcode::SendMsg::new(descriptor, header).flags(flags as u32).build()
            }
        }
        (Work::SendDatagrams { buffer, len, .. }, _) => {
            send(descriptor, &buffer[..buffer.len().min(*len)], SENDING)
        }
        (Work::Receive { stamp, .. }, _) => {
            let how = match receives {
                Receives::Once { was_emptied: true } => WAIT_FIRST,
                Receives::Once { .. } => 0,
                // As many bytes as its room has, each time.
                Receives::On => return Some(opcode::RecvMulti::new(descriptor, GROUP).build()),
            };
            let entry = if stamp.is_some() {
                let header = message.get_or_insert_with(Message::new).receiving(room_bytes);
                opcode::RecvMsg::new(descriptor, header).ioprio(how).buf_group(GROUP).build()
            } else {
                let most = u32::try_from(room_bytes).unwrap_or(u32::MAX);
                let receive = opcode::Recv::new(descriptor, std::ptr::null_mut(), most);
                receive.ioprio(how).buf_group(GROUP).build()
            };
            entry.flags(Flags::BUFFER_SELECT)
        }
        (Work::ReceiveSeveral { .. } | Work::AwaitRoom, _) => return None,
    };
    Some(entry)
}

fn send(descriptor: Fd, bytes: &[u8], flags: i32) -> Entry {
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    opcode::Send::new(descriptor, bytes.as_ptr(), len).flags(flags).build()
}

/// Does it by a call that does not wait. What receives gets a room, unless nothing came.
pub fn call<S: SystemCalls>(
    work: &mut Work,
    (socket, rooms): (&Socket, &mut Rooms),
    calls: &mut S,
) -> Result<usize, Trouble> {
    let how = Blocking::Never;
    match work {
        Work::SendStream { bytes, more_follows: true, .. } => {
            calls.send_more(socket, &bytes.slices(), how)
        }
        Work::SendStream { bytes, .. } => calls.send(socket, &bytes.slices(), how),
        Work::SendDatagrams { buffer, len, stride, as_one: true } => {
            calls.send_cut(socket, &buffer[..*len], how).map(|()| len.div_ceil(*stride))
        }
        Work::SendDatagrams { buffer, len, stride, .. } => {
            calls.send_datagrams(socket, &buffer[..*len], *stride, how)
        }
        Work::Receive { buffer, stamp, .. } => into_room((buffer, rooms), |room| match stamp {
            None => calls.receive(socket, room, how),
            Some(stamp) => {
                let (received, came) = calls.receive_stamped(socket, room, how)?;
                *stamp = came;
                Ok(received)
            }
        }),
        Work::ReceiveSeveral { buffer, stride, arrived } => {
            let stride = *stride;
            into_room((buffer, rooms), |room| {
                calls.receive_datagrams(socket, (room, stride), arrived, how)
            })
        }
        Work::AwaitRoom => Ok(0),
    }
}

fn into_room(
    (buffer, rooms): (&mut Box<[u8]>, &mut Rooms),
    receive: impl FnOnce(&mut [u8]) -> Result<usize, Trouble>,
) -> Result<usize, Trouble> {
    let mut room = rooms.lend();
    let room_bytes = rooms.room_bytes().min(room.len());
    let outcome = receive(&mut room[..room_bytes]);
    if outcome.is_ok() {
        *buffer = room;
    } else {
        rooms.take_back(room);
    }
    outcome
}
