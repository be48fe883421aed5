//! A flow that can always send still hears what comes, and first what has come: sending never waits for room here.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};

use pathscope_core::Wait;
use pathscope_core::id::FlowId;
use pathscope_engines::{Blocking, Command, EngineKind, Kernel, Notice, SystemCalls, Trouble};
use pathscope_flow::{Machine as _, Transport};
use pathscope_os::sockets::Settings;
use pathscope_os::{Socket, clock};

use crate::harness::{PATIENCE, everywhere, pair, start_on, terms};
use crate::toys::{Bench, Stream};

/// The kernel with a socket buffer without end: what is sent is taken, and goes nowhere.
#[derive(Clone, Debug)]
struct Bottomless;

impl SystemCalls for Bottomless {
    fn send(&mut self, _: &Socket, slices: &[IoSlice<'_>], _: Blocking) -> Result<usize, Trouble> {
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn send_datagrams(
        &mut self,
        _: &Socket,
        bytes: &[u8],
        stride: usize,
        _: Blocking,
    ) -> Result<usize, Trouble> {
        Ok(bytes.len() / stride)
    }
}

#[test]
fn what_comes_is_taken_also_while_everything_can_be_sent() {
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let bytes = 5_000;
        let flow = Stream::new(0, 1 << 60, bytes);
        let id = flow.id();
        let terms = terms(wait, Transport::Stream);
        let running = start_on(engine, terms, vec![(flow, vec![here])], Bench::new(), Bottomless);
        let reports = || match running.notices.recv_timeout(PATIENCE) {
            Ok(Notice::Report { report, .. }) => Some(report),
            Ok(_) => Some(0),
            Err(_) => None,
        };
        // It has asked for input, found none, and goes on sending.
        assert_eq!(reports(), Some(0), "{engine} {wait}");
        let mut sent = 0;
        while sent < bytes {
            let rest = Bench::from(id, sent);
            let rest = &rest[..rest.len().min((bytes - sent) as usize)];
            let taken = Kernel.send(&there, &[IoSlice::new(rest)], Blocking::Never);
            sent += taken.expect("there is room for so little") as u64;
        }
        let (mut received, deadline) = (0, clock::now() + PATIENCE);
        while received < bytes && clock::now() < deadline {
            received += reports().expect("it runs");
        }
        assert_eq!(received, bytes, "{engine} {wait}");
        running.remote.send(Command::Abandon);
        running.finish();
    });
}

/// Bytes that have come before a flow's first turn, and room without end for what it sends.
#[derive(Clone, Debug)]
struct Waiting {
    id: FlowId,
    received: u64,
    bytes: u64,
    /// What was done, in this order: so many bytes received, or none, where some were sent.
    done: Arc<Mutex<Vec<u64>>>,
}

impl Waiting {
    fn note(&self, received: u64) {
        self.done.lock().expect("one thread at a time").push(received);
    }
}

impl SystemCalls for Waiting {
    fn send(&mut self, _: &Socket, slices: &[IoSlice<'_>], _: Blocking) -> Result<usize, Trouble> {
        self.note(0);
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn receive(&mut self, _: &Socket, room: &mut [u8], _: Blocking) -> Result<usize, Trouble> {
        let mut filled = 0;
        while filled < room.len() && self.received < self.bytes {
            let bytes = Bench::from(self.id, self.received);
            let left = (self.bytes - self.received) as usize;
            let count = bytes.len().min(room.len() - filled).min(left);
            room[filled..filled + count].copy_from_slice(&bytes[..count]);
            filled += count;
            self.received += count as u64;
        }
        if filled == 0 {
            return Err(Trouble::Blocked);
        }
        self.note(filled as u64);
        Ok(filled)
    }
}

#[test]
fn what_has_come_is_received_before_anything_more_is_sent() {
    for engine in [EngineKind::Plain, EngineKind::Epoll] {
        for wait in [Wait::Spin, Wait::Sleep] {
            let (here, _there) = pair(Transport::Stream, &Settings::default());
            let bytes = 500_000;
            let flow = Stream::new(0, 4 << 20, bytes);
            let done = Arc::default();
            let calls = Waiting { id: flow.id(), received: 0, bytes, done: Arc::clone(&done) };
            let terms = terms(wait, Transport::Stream);
            let running = start_on(engine, terms, vec![(flow, vec![here])], Bench::new(), calls);
            assert!(running.finish().flows[0].0.is_right(), "{engine} {wait}");
            let done = done.lock().expect("one thread at a time");
            let sends = done.iter().position(|&received| received == 0).expect("it sends");
            assert_eq!(done[..sends].iter().sum::<u64>(), bytes, "{engine} {wait}");
        }
    }
}
