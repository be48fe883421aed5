//! Machines that break the seam are named, with what they did.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};

use super::toys::{Log, Numberer, Pourer, fills_nothing, gathers_nothing, sends_nothing};
use super::{CLIENT, FIRST, FOREVER, SERVER, quarter_millisecond};
use crate::sim::{Breach, Conditions, Ended, Sim};
use crate::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Totals, Transport, Want,
};

/// Wants always the same and consumes what it is told to.
#[derive(Debug)]
struct Rogue {
    want: Want,
    consumes: usize,
    phases: [Phase; 2],
    received: bool,
}

impl Rogue {
    fn wanting(want: Want) -> Self {
        Self { want, consumes: 0, phases: [Phase::Running; 2], received: false }
    }

    fn consuming(consumes: usize) -> Self {
        Self { consumes, ..Self::wanting(Want { recv: RecvWant::Any, ..Want::NOTHING }) }
    }
}

impl Machine for Rogue {
    type Shared = Log;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    sends_nothing!();

    fn id(&self) -> FlowId {
        FIRST
    }

    fn want(&mut self, _log: &mut Log, _now: Tick) -> Want {
        self.want
    }

    fn received(
        &mut self,
        log: &mut Log,
        _lane: Lane,
        bytes: &[u8],
        _meta: RecvMeta,
        _now: Tick,
    ) -> Consumed {
        log.received.push(bytes.len() as u64);
        self.received = true;
        Consumed(self.consumes)
    }

    fn event(&mut self, _log: &mut Log, _event: Event, _now: Tick) {}

    fn phase(&self) -> Phase {
        self.phases[usize::from(self.received)]
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}

const STREAM: SendWant = SendWant::Stream { max: 9 };

/// What a rogue server of a stream is reproached with, against a client that sends ten bytes.
fn breach(server: Rogue) -> Breach {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    sim.connect(Pourer::new(10), server, Transport::Stream);
    broken(&sim.run(FOREVER).ended)
}

fn broken(ended: &Ended) -> Breach {
    match ended {
        Ended::Broken { flow: FIRST, role: SERVER, breach } => *breach,
        other => panic!("the server broke the seam, and the run ended with: {other}"),
    }
}

#[test]
fn a_breach_of_a_stream_is_named() {
    let sends = Want { send: STREAM, ..Want::NOTHING };
    assert_eq!(breach(Rogue::wanting(sends)), Breach::NothingToSend { lane: Lane::ONLY });
    assert_eq!(
        breach(Rogue::consuming(11)),
        Breach::ConsumedTooMuch { consumed: 11, presented: 10 }
    );
    let want = Want { send_lane: Lane(3), ..sends };
    assert_eq!(breach(Rogue::wanting(want)), Breach::NoSuchLane { lane: Lane(3), lanes: 1 });
    let want = Want { close: Some(Close::HalfWrite), ..sends };
    assert_eq!(breach(Rogue::wanting(want)), Breach::SendsThoughClosed { want });
    let want = Want { send: SendWant::Datagrams { stride: 8, max: 1 }, ..Want::NOTHING };
    assert_eq!(breach(Rogue::wanting(want)), Breach::WrongTransport { want });
}

#[test]
fn a_phase_that_goes_back_is_named() {
    let phases = [Phase::SendingDone, Phase::Running];
    let rogue = Rogue { phases, ..Rogue::consuming(10) };
    let went_back = Breach::PhaseWentBack { from: Phase::SendingDone, to: Phase::Running };
    assert_eq!(breach(rogue), went_back);
}

#[test]
fn a_machine_that_is_over_and_goes_on_is_named() {
    let rogue = Rogue { phases: [Phase::Running, Phase::Done], ..Rogue::consuming(10) };
    let want = rogue.want;
    let breach = breach(rogue);
    assert_eq!(breach, Breach::WantsThoughOver { phase: Phase::Done, want });
    assert_eq!(breach.to_string(), "is Done and still wants to send nothing, to receive anything");
}

#[test]
fn half_a_datagram_cannot_be_consumed() {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    sim.connect(Numberer::new(2, 100), Rogue::consuming(150), Transport::Datagram);
    let cut = Breach::CutDatagram { consumed: 150, stride: 100 };
    assert_eq!(broken(&sim.run(FOREVER).ended), cut);
}

#[test]
fn what_is_refused_whole_is_not_shown_over_and_over() {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    sim.connect(Pourer::new(10), Rogue::consuming(0), Transport::Stream);
    let outcome = sim.run(FOREVER);
    assert_eq!(outcome.ended, Ended::Stuck);
    // Once when it came, and once more after the end of the stream was told.
    assert_eq!(sim.server_shared().received, [10, 10]);
}

#[test]
fn a_machine_is_shown_no_more_than_it_takes_though_a_receive_brought_more() {
    for reads_overshoot in [false, true] {
        let conditions = Conditions { reads_overshoot, ..quarter_millisecond() };
        let mut sim = Sim::new(conditions, Log::default(), Log::default());
        let want = Want { recv: RecvWant::UpTo(4), ..Want::NOTHING };
        let rogue = Rogue { want, ..Rogue::consuming(4) };
        sim.connect(Pourer::new(12), rogue, Transport::Stream);
        sim.run(FOREVER);
        assert_eq!(sim.server_shared().received, [4, 4, 4]);
    }
}

#[test]
fn what_a_receive_brought_leaves_its_room_to_the_sender() {
    for (reads_overshoot, came) in [(false, 8), (true, 12)] {
        let mut conditions = Conditions { reads_overshoot, ..quarter_millisecond() };
        conditions.links.client = conditions.links.client.with_buffers(64, 8);
        let mut sim = Sim::new(conditions, Log::default(), Log::default());
        let want = Want { recv: RecvWant::UpTo(4), ..Want::NOTHING };
        sim.connect(Pourer::new(12), Rogue { want, ..Rogue::consuming(0) }, Transport::Stream);
        let outcome = sim.run(FOREVER);
        let receiver = outcome.waiting.iter().find(|waiting| waiting.role != CLIENT);
        assert_eq!(receiver.map(|waiting| waiting.unread_bytes), Some(came));
    }
}

#[test]
fn a_receive_of_datagrams_keeps_to_whole_ones_within_the_limit() {
    let mut sim = Sim::new(quarter_millisecond(), Log::default(), Log::default());
    let want = Want { recv: RecvWant::UpTo(250), ..Want::NOTHING };
    let rogue = Rogue { want, ..Rogue::consuming(200) };
    sim.connect(Numberer::new(4, 100), rogue, Transport::Datagram);
    sim.run(FOREVER);
    assert_eq!(sim.server_shared().received, [200, 200]);
}

#[test]
fn a_machine_that_spins_is_given_up() {
    let mut conditions = quarter_millisecond();
    conditions.max_steps = 1_000;
    let mut sim = Sim::new(conditions, Log::default(), Log::default());
    let spins = Want { wake: Some(Tick::ZERO), ..Want::NOTHING };
    sim.connect(Rogue::wanting(spins), Pourer::new(1), Transport::Stream);
    let outcome = sim.run(FOREVER);
    assert_eq!((outcome.ended, outcome.at), (Ended::TooManySteps, Tick::ZERO));
    assert_eq!(outcome.waiting.first().map(|waiting| waiting.role), Some(CLIENT));
}
