//! The bare loop of datagrams: the same batch again and again, taken and counted by length alone; or, where it checks, each with
//! a header of its own, and each byte compared. With offload the kernel cuts and joins them, as it does for the instrument;
//! without, each has a call of its own.

use std::net::UdpSocket;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use pathscope_os::Socket;
use pathscope_os::batches::{self, Arrived, MOST};
use serde_json::json;

use super::super::case::DATAGRAM_BYTES;
use super::checked::{self, HEADER, Table};
use super::now;
use crate::console::say;

/// Datagrams that are handed over as one.
const BATCH: usize = 46;
/// The most that the kernel joins.
const JOINED_BYTES: usize = 1 << 16;
/// Room in the receiving socket, where this process may have so much.
const ROOM_BYTES: usize = 32 << 20;
/// When none have come for so long, none come any more.
const SILENCE: Duration = Duration::from_millis(300);

/// What both ends know.
#[derive(Args, Clone, Debug)]
pub struct Flood {
    #[arg(long)]
    port: u16,
    /// Many are handed over as one
    #[arg(long)]
    offload: bool,
    /// Each byte is compared with what it has to be
    #[arg(long)]
    checked: bool,
    #[arg(long)]
    seconds: u64,
}

/// Plays the sender.
pub fn send(flood: &Flood) -> Result<()> {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).context("bind")?;
    socket.connect(("127.0.0.1", flood.port)).context("connect")?;
    let count = if flood.offload { BATCH } else { 1 };
    let mut batch = vec![0x5a; count * DATAGRAM_BYTES];
    let table = Table::new(0);
    for datagram in batch.chunks_mut(DATAGRAM_BYTES).filter(|_| flood.checked) {
        datagram[HEADER..].copy_from_slice(&table.lap()[..DATAGRAM_BYTES - HEADER]);
    }
    let socket = Socket::from(socket);
    if flood.offload {
        batches::cut(&socket, DATAGRAM_BYTES).context("have datagrams cut")?;
    }
    let socket = socket.into_udp_socket();
    let start = now();
    let (mut at, mut number, limit) = (start, 0, Duration::from_secs(flood.seconds));
    while at - start < limit {
        if flood.checked {
            for datagram in batch.chunks_mut(DATAGRAM_BYTES) {
                checked::head(datagram, number, (at - start).as_nanos() as u64);
                number += 1;
            }
        }
        socket.send(&batch).context("send")?;
        at = now();
    }
    say(json!({ "receive_bps": 0.0 }))
}

/// Plays the receiver: bits a second from the first receive to the last, the first one's bytes left out.
pub fn take(flood: &Flood) -> Result<()> {
    let socket = Socket::from(UdpSocket::bind(("127.0.0.1", flood.port)).context("bind")?);
    // What is not granted is lost, as it is for everybody.
    let _ = socket.enlarge_receive_buffer(ROOM_BYTES);
    if flood.offload {
        batches::join(&socket).context("have datagrams joined")?;
    }
    let mut arrived = [Arrived::default(); MOST];
    let (slot_bytes, slots) = if flood.offload { (JOINED_BYTES, 4) } else { (2_048, MOST) };
    let mut room = vec![0; slot_bytes * slots];
    let (table, mut last_number) = (Table::new(0), 0);
    let mut receive = || -> Result<u64> {
        let filled = batches::receive(&socket, &mut room, slot_bytes, &mut arrived, true)?;
        if flood.checked {
            for (came, slot) in arrived[..filled].iter().zip(room.chunks(slot_bytes)) {
                for datagram in slot[..came.len].chunks(DATAGRAM_BYTES) {
                    last_number = checked::number_of(datagram, &table)?.max(last_number);
                }
            }
        }
        Ok(arrived[..filled].iter().map(|it| it.len as u64).sum())
    };
    receive().context("receive")?;
    socket.set_receive_timeout(Some(SILENCE)).context("set up a socket")?;
    let start = now();
    let (mut last, mut bytes) = (start, 0);
    loop {
        match receive() {
            Ok(more) => (bytes, last) = (bytes + more, now()),
            // It was silent for long enough.
            Err(error) if error.is::<std::io::Error>() => break,
            Err(error) => return Err(error),
        }
    }
    say(json!({ "receive_bps": bytes as f64 * 8.0 / (last - start).as_secs_f64() }))
}
