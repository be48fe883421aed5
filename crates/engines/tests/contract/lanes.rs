//! Lanes that join a flow and leave it while it runs: the flow is told, and the others go on.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_engines::LaneChange;
use pathscope_flow::{
    Batch, ClockNeed, Consumed, Event, Machine, Phase, RecvMeta, RecvWant, SendWant, Shared,
    Totals, Transport, Want,
};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{everywhere, pair, start, terms};

/// Sends one datagram on each lane that comes up, and is done when it has come back on these and a lane has gone.
#[derive(Debug)]
struct Greeter {
    /// Lanes that have come up and have not been sent on.
    fresh: Vec<Lane>,
    came: Vec<Lane>,
    left: Vec<Lane>,
    wanted: [Lane; 2],
    started: bool,
}

/// Nothing in common.
struct Nothing;

impl Shared for Nothing {
    type Report = ();

    fn report(&mut self, _: Tick) {}
}

impl Machine for Greeter {
    type Shared = Nothing;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FlowId(0)
    }

    fn want(&mut self, _: &mut Nothing, _: Tick) -> Want {
        if !self.started || self.phase().is_over() {
            return Want::NOTHING;
        }
        let waiting = Want { recv: RecvWant::Any, ..Want::NOTHING };
        match self.fresh.first() {
            Some(&send_lane) => {
                let send = SendWant::Datagrams { stride: 8, max: 1 };
                Want { send, send_lane, ..waiting }
            }
            None => waiting,
        }
    }

    fn fill(&mut self, _: &mut Nothing, lane: Lane, batch: &mut Batch<'_>, _: Tick) {
        if let Some(datagram) = batch.datagram(8) {
            datagram.fill(lane.0);
        }
    }

    fn sent(&mut self, _: &mut Nothing, lane: Lane, _: usize, _: Tick) {
        self.fresh.retain(|&fresh| fresh != lane);
    }

    fn received(
        &mut self,
        _: &mut Nothing,
        lane: Lane,
        bytes: &[u8],
        _: RecvMeta,
        _: Tick,
    ) -> Consumed {
        assert_eq!(bytes, [lane.0; 8], "what was sent on a lane comes on its socket");
        self.came.push(lane);
        Consumed(bytes.len())
    }

    fn event(&mut self, _: &mut Nothing, event: Event, _: Tick) {
        match event {
            Event::Start => self.started = true,
            Event::LaneUp(lane) => {
                assert!(self.started, "the start comes first");
                self.fresh.push(lane);
            }
            Event::LaneDown(lane) => self.left.push(lane),
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        let has_come = |lane| self.came.contains(lane);
        let is_done = self.wanted.iter().all(has_come) && !self.left.is_empty();
        if is_done { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: 0, received: self.came.len() as u64 }
    }
}

/// One end of a pair whose other end sends everything back.
fn echoed() -> Socket {
    let (near, far) = pair(Transport::Datagram, &Settings::default());
    std::thread::spawn(move || {
        let socket = far.into_udp_socket();
        let mut buffer = [0; 64];
        while let Ok(len) = socket.recv(&mut buffer) {
            let _ = socket.send(&buffer[..len]);
        }
    });
    near
}

#[test]
fn lanes_join_in_any_order_and_are_replaced_and_leave() {
    everywhere(|engine, wait| {
        let greeter = Greeter {
            fresh: Vec::new(),
            came: Vec::new(),
            left: Vec::new(),
            wanted: [Lane(0), Lane(2)],
            started: false,
        };
        let flows = vec![(greeter, Vec::new())];
        let running = start(engine, terms(wait, Transport::Datagram), flows, Nothing);
        let change = |lane, socket| {
            running.remote.change_lane(LaneChange { flow: FlowId(0), lane: Lane(lane), socket });
        };
        change(2, Some(echoed()));
        change(0, Some(echoed()));
        change(2, None);
        change(2, Some(echoed()));
        let finished = running.finish();
        let (greeter, sockets) = &finished.flows[0];
        assert_eq!(
            (greeter.left.as_slice(), sockets.len()),
            (&[Lane(2)][..], 2),
            "{engine} {wait:?}"
        );
        assert_eq!(finished.lane_drops, [[0, 0, 0]], "{engine} {wait:?}");
        // On the lane that was replaced it came twice, unless the first was lost with the first socket.
        assert!((2..=3).contains(&greeter.came.len()), "{engine} {wait:?}: {:?}", greeter.came);
    });
}
