//! Back-pressure: a machine is told of each send that the kernel refused, with the time before that call, and of the one
//! that it took.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_engines::{Blocking, Kernel, SystemCalls, Trouble};
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Gather, Machine, Phase, RecvMeta, SendWant, Totals,
    Transport, Want,
};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{everywhere, pair, start_on, terms};
use crate::toys::Bench;

/// Sends one byte, and notes when it was refused and when it was taken.
#[derive(Debug)]
struct Persistent {
    datagrams: bool,
    started: bool,
    refused: Vec<Tick>,
    taken: Option<Tick>,
}

impl Machine for Persistent {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        let send = match (self.started && self.taken.is_none(), self.datagrams) {
            (false, _) => SendWant::Nothing,
            (true, true) => SendWant::Datagrams { stride: 1, max: 1 },
            (true, false) => SendWant::Stream { max: 1 },
        };
        Want { send, ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        gather.copy(b"!");
    }

    fn fill(&mut self, _: &mut Bench, _: Lane, batch: &mut Batch<'_>, _: Tick) {
        if let Some(datagram) = batch.datagram(1) {
            datagram.copy_from_slice(b"!");
        }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, at: Tick) {
        self.taken = Some(at);
    }

    fn refused(&mut self, _: &mut Bench, _: Lane, at: Tick) {
        self.refused.push(at);
    }

    fn received(&mut self, _: &mut Bench, _: Lane, _: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        Consumed(0)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        self.started |= event == Event::Start;
    }

    fn phase(&self) -> Phase {
        if self.taken.is_some() { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}

/// Refuses the first sends, and notes when it was asked.
#[derive(Clone, Debug)]
struct Full {
    trouble: Trouble,
    times: usize,
    now: Tick,
    asked: Arc<Mutex<Vec<Tick>>>,
}

impl Full {
    fn ask(&mut self) -> Result<(), Trouble> {
        let mut asked = self.asked.lock().expect("one thread at a time");
        asked.push(self.now);
        if asked.len() <= self.times { Err(self.trouble) } else { Ok(()) }
    }
}

impl SystemCalls for Full {
    fn now(&mut self) -> Tick {
        self.now = self.now.plus_nanos(50);
        self.now
    }

    fn send(
        &mut self,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        assert_eq!(blocking, Blocking::Never, "a send that is timed does not sleep");
        self.ask()?;
        Kernel.send(socket, slices, blocking)
    }

    fn send_datagrams(
        &mut self,
        socket: &Socket,
        bytes: &[u8],
        stride: usize,
        blocking: Blocking,
    ) -> Result<usize, Trouble> {
        self.ask()?;
        Kernel.send_datagrams(socket, bytes, stride, blocking)
    }
}

/// No room in the queue of the device; Linux.
const ENOBUFS: i32 = 105;

#[test]
fn each_refusal_is_told_with_the_time_before_its_call() {
    everywhere(|engine, wait| {
        for transport in [Transport::Stream, Transport::Datagram] {
            for trouble in [Trouble::Blocked, Trouble::Failed(ENOBUFS)] {
                let (here, _there) = pair(transport, &Settings::default());
                let asked = Arc::default();
                let calls = Full { trouble, times: 3, now: Tick::ZERO, asked: Arc::clone(&asked) };
                let datagrams = transport == Transport::Datagram;
                let machine =
                    Persistent { datagrams, started: false, refused: Vec::new(), taken: None };
                let terms = terms(wait, transport);
                let flows = vec![(machine, vec![here])];
                let finished = start_on(engine, terms, flows, Bench::new(), calls).finish();
                let Persistent { mut refused, taken, .. } =
                    finished.flows.into_iter().next().expect("one").0;
                refused.extend(taken);
                let asked = asked.lock().expect("one thread at a time");
                assert_eq!((&refused, refused.len()), (&*asked, 4), "{engine} {wait} {trouble:?}");
            }
        }
    });
}
