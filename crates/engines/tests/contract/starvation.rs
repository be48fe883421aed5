//! A flow that can always send still hears what comes: sending never waits for room here.

use std::io::IoSlice;

use pathscope_engines::{Blocking, Command, Kernel, Notice, SystemCalls, Trouble};
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
