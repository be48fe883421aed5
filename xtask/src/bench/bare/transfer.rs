//! Bytes moved by the bare loop, a thread for each direction of each connection. Its command is `bare`'s.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;
use socket2::SockRef;

use super::checked::{self, Table};
use super::{PAGE, Transfer, lost, now};
use crate::console::say;

/// How much longer than its time a loop goes on where the other end has not closed.
const MARGIN: Duration = Duration::from_secs(2);

/// A thread for each direction of each connection, and all of them at work at the same time: none sends before all are connected, and
/// what comes counts for so long from the first byte of any.
pub(super) fn move_bytes(
    transfer: &Transfer,
    sends: bool,
    receives: bool,
    open: impl Fn() -> Result<TcpStream>,
) -> Result<()> {
    let mut streams = Vec::with_capacity(transfer.connections);
    for _ in 0..transfer.connections {
        let stream = open()?;
        SockRef::from(&stream)
            .set_tcp_congestion(transfer.congestion.as_bytes())
            .with_context(|| format!("set congestion control {}", transfer.congestion))?;
        streams.push(stream);
    }
    let window = Arc::new(Window::of(Duration::from_secs(transfer.seconds)));
    let (bytes, checked) = (transfer.write_bytes, transfer.checked);
    let mut incoming = Vec::new();
    if receives {
        for stream in &streams {
            let (stream, window) =
                (stream.try_clone().context("share a socket")?, Arc::clone(&window));
            incoming.push(thread::spawn(move || receive(stream, bytes, checked, &window)));
        }
    }
    let mut outgoing = Vec::new();
    if sends {
        let all = Arc::new(Barrier::new(streams.len()));
        for stream in streams {
            let all = Arc::clone(&all);
            let until = transfer.seconds;
            outgoing.push(thread::spawn(move || {
                all.wait();
                if checked {
                    send_checked(stream, bytes, until)
                } else {
                    send(stream, bytes, until)
                }
            }));
        }
    }
    let mut received = Vec::with_capacity(incoming.len());
    for receiver in incoming {
        received.push(receiver.join().map_err(|_| lost())??);
    }
    outgoing.into_iter().try_for_each(|sender| sender.join().map_err(|_| lost())?)?;
    say(json!({ "receive_bps": window.rate_bps(&received), "fairness": fairness(&received) }))
}

/// The time in which what comes counts, the same for all connections: from the first byte of any. Each in its own time would count
/// what the others leave room for, and of very many all have a short one.
struct Window {
    from: OnceLock<Instant>,
    length: Duration,
}

impl Window {
    const fn of(length: Duration) -> Self {
        Self { from: OnceLock::new(), length }
    }

    /// A byte has come now. Whether it counts: the first only says when.
    fn is_open(&self, now: Instant) -> bool {
        now.duration_since(*self.from.get_or_init(|| now)) <= self.length
    }

    /// What all connections received a second, in bits.
    fn rate_bps(&self, received: &[u64]) -> f64 {
        let bytes: u64 = received.iter().sum();
        bytes as f64 * 8.0 / self.length.as_secs_f64()
    }
}

/// How evenly connections received: Jain's index.
fn fairness(received: &[u64]) -> f64 {
    let sum: f64 = received.iter().map(|&bytes| bytes as f64).sum();
    let squares: f64 = received.iter().map(|&bytes| (bytes as f64).powi(2)).sum();
    if squares > 0.0 { sum * sum / (received.len() as f64 * squares) } else { 0.0 }
}

fn send(mut stream: TcpStream, write_bytes: usize, seconds: u64) -> Result<()> {
    let buffer = vec![0x5a; write_bytes + PAGE];
    // From the same place in a page as the kernel copies to, or a little ahead of it.
    let start = (buffer.as_ptr().align_offset(PAGE) + PAGE - 64) % PAGE;
    let buffer = &buffer[start..start + write_bytes];
    keep_sending(seconds, || stream.write_all(buffer))
}

fn send_checked(mut stream: TcpStream, write_bytes: usize, seconds: u64) -> Result<()> {
    let table = Table::new(PAGE - 64);
    let mut position = 0;
    keep_sending(seconds, || {
        position += table.write(&mut stream, position, write_bytes)? as u64;
        Ok(())
    })
}

/// Sends until whoever receives has had its time and closes, or is far beyond it.
fn keep_sending(seconds: u64, mut send: impl FnMut() -> io::Result<()>) -> Result<()> {
    let end = now() + Duration::from_secs(seconds) + MARGIN;
    while now() < end {
        match send() {
            Ok(()) => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) =>
            {
                break;
            }
            Err(error) => return Err(error).context("send"),
        }
    }
    Ok(())
}

/// Receives while what comes counts, and closes. How many bytes did.
fn receive(
    mut stream: TcpStream,
    read_bytes: usize,
    checked: bool,
    window: &Window,
) -> Result<u64> {
    let mut buffer = vec![0; read_bytes + 2 * PAGE];
    let base = buffer.as_ptr().align_offset(PAGE);
    let table = checked.then(|| Table::new(0));
    // Whoever has no turn within the time is told so by the end of it.
    stream.set_read_timeout(Some(window.length + MARGIN)).context("set up a socket")?;
    let (mut bytes, mut counted) = (0_u64, 0);
    loop {
        let start = base + (bytes as usize + PAGE - 32) % PAGE;
        let room = &mut buffer[start..start + read_bytes];
        let came = match checked::read(&mut stream, room, bytes, table.as_ref()) {
            Ok(came) => came as u64,
            Err(error) if is_end(&error) => break,
            Err(error) => return Err(error).context("receive"),
        };
        if came == 0 || !window.is_open(now()) {
            break;
        }
        bytes += came;
        counted += came;
    }
    // It may be closed already.
    let _ = stream.shutdown(Shutdown::Both);
    Ok(counted)
}

/// Whether the other end has had its time and closed, or nothing came in all of ours.
fn is_end(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    kind.is_some_and(|kind| {
        matches!(
            kind,
            ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::WouldBlock
                | ErrorKind::TimedOut
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_count_in_one_time_from_the_first_byte_of_any() {
        let window = Window::of(Duration::from_secs(4));
        let start = now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(window.is_open(at(3)) && window.is_open(at(7)) && !window.is_open(at(8)));
        assert!((window.rate_bps(&[1_000, 1_000]) - 4_000.0).abs() < 1e-6);
        assert!(window.rate_bps(&[]).abs() < 1e-6);
    }

    #[test]
    fn fairness_is_one_of_equals_and_a_share_of_one_alone() {
        assert!((fairness(&[5, 5, 5, 5]) - 1.0).abs() < 1e-9);
        assert!((fairness(&[5, 0, 0, 0]) - 0.25).abs() < 1e-9);
        assert!(fairness(&[]).abs() < 1e-9);
    }
}
