//! Calls that are short, interrupted or failing: no byte is lost or doubled.

use std::io::IoSlice;
use std::time::Duration;

use pathscope_core::Wait;
use pathscope_engines::{Blocking, EngineKind, Kernel, SystemCalls, Trouble};
use pathscope_flow::Transport;
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;
use proptest::prelude::*;

use crate::harness::{everywhere, pair, start_on, terms};
use crate::toys::{Bench, Bite, Echo, Ping, Stream};

/// What happens to one call.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    None,
    /// It moves at most so many bytes.
    Short(usize),
    /// A signal comes first.
    Interrupted,
    /// It says that nothing can move, though it could.
    Blocked,
    /// It says that the system has no room.
    NoRoom,
}

/// The kernel, with one fault a call, in turn for each kind of call: were they counted together, a
/// script could meet every send with the same fault for ever.
#[derive(Clone, Debug)]
pub struct Faulty {
    script: Vec<Fault>,
    sends: usize,
    receives: usize,
    waits: usize,
}

const ENOBUFS: i32 = 105;

impl Faulty {
    pub fn new(script: Vec<Fault>) -> Self {
        Self { script, sends: 0, receives: 0, waits: 0 }
    }

    /// At most how many bytes this call may move.
    fn next(script: &[Fault], calls: &mut usize) -> Result<usize, Trouble> {
        *calls += 1;
        match script[*calls % script.len()] {
            Fault::None => Ok(usize::MAX),
            Fault::Short(most) => Ok(most),
            Fault::Interrupted => Err(Trouble::Interrupted),
            Fault::Blocked => Err(Trouble::Blocked),
            Fault::NoRoom => Err(Trouble::Failed(ENOBUFS)),
        }
    }
}

impl SystemCalls for Faulty {
    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let most = Self::next(&self.script, &mut self.sends)?;
        let total: usize = slices.iter().map(|slice| slice.len()).sum();
        if most >= total {
            return Kernel.send(socket, slices, blocking);
        }
        let short: Vec<u8> =
            slices.iter().flat_map(|slice| slice.iter().copied()).take(most).collect();
        Kernel.send(socket, &[IoSlice::new(&short)], blocking)
    }

    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        Self::next(&self.script, &mut self.sends)?;
        Kernel.send_datagrams(socket, bytes, stride, blocking)
    }

    fn receive(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        let most = Self::next(&self.script, &mut self.receives)?.min(room.len());
        Kernel.receive(socket, &mut room[..most], blocking)
    }

    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        match Self::next(&self.script, &mut self.waits) {
            Err(Trouble::Interrupted) => Err(Trouble::Interrupted),
            _ => call(timeout),
        }
    }
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let fault = prop_oneof![
        2 => Just(Fault::None),
        4 => (1_usize..20_000).prop_map(Fault::Short),
        1 => Just(Fault::Interrupted),
        1 => Just(Fault::Blocked),
        1 => Just(Fault::NoRoom),
    ];
    // The first lets something move in each round, so that every script comes to an end.
    proptest::collection::vec(fault, 1..12).prop_map(|mut script| {
        script.push(Fault::None);
        script
    })
}

fn duplex(engine: EngineKind, wait: Wait, script: &[Fault], bite: Bite) {
    let (here, there) = pair(Transport::Stream, &Settings::default());
    let terms = terms(wait, Transport::Stream);
    let one = Stream { bite, ..Stream::new(1, 200_003, 150_001) };
    let other = Stream { bite, ..Stream::new(1, 150_001, 200_003) };
    let calls = Faulty::new(script.to_vec());
    let one = start_on(engine, terms, vec![(one, vec![here])], Bench::new(), calls.clone());
    let other = start_on(engine, terms, vec![(other, vec![there])], Bench::new(), calls);
    for running in [one, other] {
        let finished = running.finish();
        let flow = &finished.flows[0].0;
        assert!(flow.is_right(), "{engine} {wait} {script:?} {flow:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_byte_is_lost_or_doubled(script in faults(), unit in 1_usize..5_000) {
        everywhere(|engine, wait| duplex(engine, wait, &script, Bite::Units(unit)));
    }
}

#[test]
fn datagrams_survive_interruptions_and_want_of_room() {
    let script = vec![Fault::Interrupted, Fault::None, Fault::NoRoom, Fault::Blocked, Fault::None];
    everywhere(|engine, wait| {
        let (here, there) = pair(Transport::Datagram, &Settings::default());
        let terms = terms(wait, Transport::Datagram);
        let calls = Faulty::new(script.clone());
        let echo = vec![(Echo::new(0, true), vec![there])];
        let echo = start_on(engine, terms, echo, Bench::new(), calls.clone());
        let ping = vec![(Ping::new(0, 300, 4, true), vec![here])];
        let ping = start_on(engine, terms, ping, Bench::new(), calls);
        let ping = &ping.finish().flows[0].0;
        assert_eq!((ping.answered, ping.wrong), (300, 0), "{engine} {wait}");
        echo.remote.tell(None, pathscope_flow::Event::Stop);
        echo.finish();
    });
}

/// Fails one call for good.
#[derive(Clone, Debug)]
struct Broken {
    calls: usize,
    at: usize,
    errno: i32,
}

impl Broken {
    fn next(&mut self) -> Result<(), Trouble> {
        self.calls += 1;
        if self.calls >= self.at { Err(Trouble::Failed(self.errno)) } else { Ok(()) }
    }
}

impl SystemCalls for Broken {
    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.next()?;
        Kernel.send(socket, slices, blocking)
    }

    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.next()?;
        Kernel.send_datagrams(socket, bytes, stride, blocking)
    }

    fn receive(
        &mut self,
        socket: &Socket,
        room: &mut [u8],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.next()?;
        Kernel.receive(socket, room, blocking)
    }
}

#[test]
fn an_error_at_any_call_ends_the_flow_and_nothing_else() {
    const ERRORS: [i32; 4] = [104, 32, 111, 110];
    everywhere(|engine, wait| {
        for (at, errno) in (1..=12).zip(ERRORS.into_iter().cycle()) {
            let (here, _there) = pair(Transport::Stream, &Settings::default());
            let terms = terms(wait, Transport::Stream);
            let flow = vec![(Stream::new(0, u64::MAX, u64::MAX), vec![here])];
            let calls = Broken { calls: 0, at, errno };
            let finished = start_on(engine, terms, flow, Bench::new(), calls).finish();
            assert_eq!(finished.flows[0].0.errno, Some(errno), "{engine} {wait} call {at}");
        }
    });
}
