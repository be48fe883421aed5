//! What is sent while more follows: the kernel may keep what fills no segment, and has to send it once nothing follows.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};

use pathscope_engines::{Blocking, Kernel, SystemCalls, Trouble};
use pathscope_flow::Transport;
use pathscope_os::sockets::Settings;
use pathscope_os::{Socket, clock};

use crate::harness::{PATIENCE, everywhere, pair, start_on, terms};
use crate::toys::{Bench, Stream};

/// Bytes of each send.
const MOST: usize = 1_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Call {
    /// More follows.
    More,
    Last,
    Push,
}

/// The kernel, and which of the calls were made that say whether anything follows.
#[derive(Clone, Debug, Default)]
struct Noted(Arc<Mutex<Vec<Call>>>);

impl Noted {
    fn note(&self, call: Call) {
        self.0.lock().expect("one thread at a time").push(call);
    }
}

impl SystemCalls for Noted {
    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.note(Call::Last);
        Kernel.send(socket, slices, blocking)
    }

    fn send_more(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.note(Call::More);
        Kernel.send_more(socket, slices, blocking)
    }

    fn push(&mut self, socket: &Socket) {
        self.note(Call::Push);
        Kernel.push(socket);
    }
}

/// What was called for a stream of three sends or, where some are short, more, all of which come.
fn calls(promises_more: bool) {
    let expected = if promises_more { [Call::More, Call::Push] } else { [Call::More, Call::Last] };
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Stream, &Settings::default());
        let flow = Stream { most: MOST, promises_more, ..Stream::new(0, 3 * MOST as u64, 0) };
        let noted = Noted::default();
        let terms = terms(wait, Transport::Stream);
        let flows = vec![(flow, vec![here])];
        let finished = start_on(engine, terms, flows, Bench::new(), noted.clone()).finish();
        // Its socket is open: nothing but those calls has sent the rest.
        let deadline = clock::now() + PATIENCE;
        while there.held_bytes() < Some(3 * MOST as u64) && clock::now() < deadline {}
        assert_eq!(there.held_bytes(), Some(3 * MOST as u64), "{engine} {wait}");
        let mut calls = noted.0.lock().expect("one thread at a time").clone();
        calls.dedup();
        assert_eq!(calls, expected, "{engine} {wait}");
        drop(finished);
    });
}

#[test]
fn only_what_is_followed_may_be_kept() {
    calls(false);
}

#[test]
fn what_is_kept_leaves_once_nothing_follows() {
    calls(true);
}
