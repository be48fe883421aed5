//! Machines that break where an engine does: streams that check every byte, messages that check their
//! order, timers that check the clock.
//!
//! In one file: the machines of one suite, each a few lines.

use std::sync::LazyLock;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane};
use pathscope_flow::{
    Batch, ClockNeed, Close, Consumed, Event, Gather, Machine, Phase, RecvMeta, RecvWant, SendWant,
    Shared, Totals, Want,
};

/// Length of the table of bytes: prime, so that no buffer's length divides it.
const PERIOD: usize = 65_521;

/// What all streams are made of.
static TABLE: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..PERIOD).map(|place| (place * 31 + place / 256 * 7) as u8).collect());

/// What the toys of a worker have in common.
#[derive(Debug)]
pub struct Bench {
    /// Bytes received since the last report.
    received: u64,
}

impl Bench {
    pub fn new() -> Self {
        Self { received: 0 }
    }

    pub fn from(flow: FlowId, position: u64) -> &'static [u8] {
        &TABLE[((position + u64::from(flow.0) * 977) % PERIOD as u64) as usize..]
    }
}

impl Shared for Bench {
    type Report = u64;

    fn report(&mut self, _now: Tick) -> u64 {
        std::mem::take(&mut self.received)
    }
}

/// How much of what it is given a stream takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bite {
    All,
    /// About a half, and all of a little.
    Half,
    /// Whole units only, and nothing of less: at the end whatever is left.
    Units(usize),
}

/// One end of a stream: sends so much, expects so much, and checks every byte.
#[expect(clippy::struct_excessive_bools, reason = "each is something that a test asks of it")]
#[derive(Debug)]
pub struct Stream {
    pub flow: FlowId,
    pub to_send: u64,
    pub to_receive: u64,
    pub most: usize,
    pub recv: RecvWant,
    pub bite: Bite,
    /// How to close when all is sent and received.
    pub close: Option<Close>,
    /// Send nothing, take nothing before the other end's word.
    pub held: bool,
    /// May be told late of what comes once all is sent.
    pub patient: bool,
    /// Says that more follows whether it does or not, as one does that is stopped then.
    pub promises_more: bool,
    pub sent: u64,
    pub received: u64,
    pub wrong_at: Option<u64>,
    pub peer_closed: u32,
    pub errno: Option<i32>,
    pub closed: bool,
    pub stage: Stage,
}

/// What a stream was told of its run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    Waiting,
    Started,
    Stopped,
}

impl Stream {
    pub fn new(flow: u32, to_send: u64, to_receive: u64) -> Self {
        Self {
            flow: FlowId(flow),
            to_send,
            to_receive,
            most: 256 << 10,
            recv: RecvWant::Any,
            bite: Bite::All,
            close: None,
            held: false,
            patient: false,
            promises_more: false,
            sent: 0,
            received: 0,
            wrong_at: None,
            peer_closed: 0,
            errno: None,
            closed: false,
            stage: Stage::Waiting,
        }
    }

    pub fn is_right(&self) -> bool {
        self.wrong_at.is_none() && self.sent == self.to_send && self.received == self.to_receive
    }

    fn bite(&self, offered: usize) -> usize {
        let left = (self.to_receive - self.received) as usize;
        match self.bite {
            Bite::All => offered,
            Bite::Half => offered.div_ceil(2),
            Bite::Units(_) if offered >= left => left,
            Bite::Units(unit) => offered / unit * unit,
        }
    }

    /// Whether this stream's bytes are those of `flow` from `position` on.
    fn check(&mut self, bytes: &[u8]) {
        let mut position = self.received;
        let mut rest = bytes;
        while !rest.is_empty() {
            let expected = Bench::from(self.flow, position);
            let len = rest.len().min(expected.len());
            if rest[..len] != expected[..len] {
                self.wrong_at.get_or_insert(position);
            }
            position += len as u64;
            rest = &rest[len..];
        }
    }
}

impl Machine for Stream {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        assert_ne!(self.stage, Stage::Waiting, "asked before it was started");
        if self.held {
            return Want::NOTHING;
        }
        let left = self.to_send - self.sent;
        let send = match left {
            0 => SendWant::Nothing,
            left => SendWant::Stream { max: self.most.min(left as usize) },
        };
        let is_done = left == 0 && self.received == self.to_receive;
        let close = self.close.filter(|_| is_done || self.stage == Stage::Stopped);
        self.closed |= close.is_some();
        let recv = if self.received == self.to_receive { RecvWant::Nothing } else { self.recv };
        let is_patient = self.patient && left == 0;
        let more_follows = self.promises_more || left > self.most as u64;
        Want { send, more_follows, recv, close, is_patient, ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        let mut position = self.sent;
        loop {
            match gather.lend(Bench::from(self.flow, position)) {
                0 => return,
                taken => position += taken as u64,
            }
        }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, _: Tick) {
        self.sent += amount as u64;
    }

    fn received(
        &mut self,
        bench: &mut Bench,
        _: Lane,
        bytes: &[u8],
        _: RecvMeta,
        _: Tick,
    ) -> Consumed {
        assert!(!self.held, "given bytes that it did not want");
        let taken = self.bite(bytes.len());
        self.check(&bytes[..taken]);
        self.received += taken as u64;
        bench.received += taken as u64;
        Consumed(taken)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        match event {
            Event::Start => self.stage = Stage::Started,
            Event::PeerClosed(_) => self.peer_closed += 1,
            Event::Reset { errno, .. } => self.errno = Some(errno),
            Event::PeerTotal(_) => self.held = false,
            Event::Stop => {
                self.stage = Stage::Stopped;
                (self.to_send, self.to_receive) = (self.sent, self.received);
                self.held = false;
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        let sent = self.stage != Stage::Waiting && self.sent == self.to_send;
        let is_closed = self.close.is_none() || self.closed;
        match (self.errno, sent, self.received == self.to_receive) {
            (Some(_), ..) => Phase::Failed,
            (None, true, true) if is_closed => Phase::Done,
            (None, true, _) => Phase::SendingDone,
            (None, false, _) => Phase::Running,
        }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent, received: self.received }
    }
}

/// Length of a message.
pub const MESSAGE: usize = 64;

/// Sends numbered messages, so many at once unanswered, and expects each back, in order.
#[derive(Debug)]
pub struct Ping {
    pub flow: FlowId,
    pub count: u64,
    pub depth: u64,
    pub sent_bytes: u64,
    pub answered: u64,
    pub wrong: u64,
    pub unreachable: u32,
    /// It is done after so many of those as well.
    pub errors: u32,
    pub least_rtt_ns: u64,
    pub sent_at: Tick,
    pub datagrams: bool,
}

impl Ping {
    pub fn new(flow: u32, count: u64, depth: u64, datagrams: bool) -> Self {
        Self {
            flow: FlowId(flow),
            count,
            depth,
            sent_bytes: 0,
            answered: 0,
            wrong: 0,
            unreachable: 0,
            errors: u32::MAX,
            least_rtt_ns: u64::MAX,
            sent_at: Tick::ZERO,
            datagrams,
        }
    }

    pub fn message(&self, number: u64) -> [u8; MESSAGE] {
        let mut message = [self.flow.0 as u8; MESSAGE];
        message[..8].copy_from_slice(&number.to_le_bytes());
        message
    }
}

impl Machine for Ping {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        let whole = self.sent_bytes / MESSAGE as u64;
        let part = self.sent_bytes % MESSAGE as u64;
        let may_send = part > 0 || (whole < self.count && whole < self.answered + self.depth);
        let send = match (may_send, self.datagrams) {
            (false, _) => SendWant::Nothing,
            (true, true) => SendWant::Datagrams { stride: MESSAGE, max: 1 },
            (true, false) => SendWant::Stream { max: MESSAGE - part as usize },
        };
        let close = (self.answered == self.count).then_some(Close::Graceful);
        Want { send, recv: RecvWant::Any, close, ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        let message = self.message(self.sent_bytes / MESSAGE as u64);
        gather.copy(&message[self.sent_bytes as usize % MESSAGE..]);
    }

    fn fill(&mut self, _: &mut Bench, _: Lane, batch: &mut Batch<'_>, _: Tick) {
        let message = self.message(self.sent_bytes / MESSAGE as u64);
        if let Some(datagram) = batch.datagram(MESSAGE) {
            datagram.copy_from_slice(&message);
        }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, at: Tick) {
        self.sent_bytes += if self.datagrams { MESSAGE as u64 } else { amount as u64 };
        self.sent_at = at;
    }

    fn received(
        &mut self,
        bench: &mut Bench,
        _: Lane,
        bytes: &[u8],
        meta: RecvMeta,
        now: Tick,
    ) -> Consumed {
        assert_eq!(meta.stride.map(usize::from), self.datagrams.then_some(bytes.len()));
        for message in bytes.chunks_exact(MESSAGE) {
            self.wrong += u64::from(message != self.message(self.answered));
            self.answered += 1;
            self.least_rtt_ns = self.least_rtt_ns.min(now.nanos_since(self.sent_at));
            bench.received += MESSAGE as u64;
        }
        Consumed(bytes.len() / MESSAGE * MESSAGE)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        if let Event::Unreachable { .. } = event {
            self.unreachable += 1;
        }
        if event == Event::Stop {
            self.count = self.answered;
        }
    }

    fn phase(&self) -> Phase {
        let is_done = self.answered >= self.count || self.unreachable >= self.errors;
        if is_done { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.sent_bytes, received: self.answered * MESSAGE as u64 }
    }
}

/// Returns each message, one at a time: takes nothing new while it sends.
#[derive(Debug)]
pub struct Echo {
    pub flow: FlowId,
    pub echoed: u64,
    pub longest: usize,
    message: [u8; MESSAGE],
    gone: Option<usize>,
    ended: bool,
    datagrams: bool,
}

impl Echo {
    pub fn new(flow: u32, datagrams: bool) -> Self {
        Self {
            flow: FlowId(flow),
            echoed: 0,
            longest: 0,
            message: [0; MESSAGE],
            gone: None,
            ended: false,
            datagrams,
        }
    }
}

impl Machine for Echo {
    type Shared = Bench;

    const CLOCK: ClockNeed = ClockNeed::EveryTurn;

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        match (self.gone, self.datagrams) {
            (None, _) => Want { recv: RecvWant::Any, ..Want::NOTHING },
            (Some(_), true) => {
                let send = SendWant::Datagrams { stride: MESSAGE, max: 1 };
                Want { send, ..Want::NOTHING }
            }
            (Some(gone), false) => {
                Want { send: SendWant::Stream { max: MESSAGE - gone }, ..Want::NOTHING }
            }
        }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        gather.borrow(&self.message[self.gone.unwrap_or(0)..]);
    }

    fn fill(&mut self, _: &mut Bench, _: Lane, batch: &mut Batch<'_>, _: Tick) {
        if let Some(datagram) = batch.datagram(MESSAGE) {
            datagram.copy_from_slice(&self.message);
        }
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, amount: usize, _: Tick) {
        let gone = if self.datagrams { MESSAGE } else { self.gone.unwrap_or(0) + amount };
        self.gone = (gone < MESSAGE).then_some(gone);
        self.echoed += u64::from(gone == MESSAGE);
    }

    fn received(&mut self, _: &mut Bench, _: Lane, bytes: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        self.longest = self.longest.max(bytes.len());
        let Some(message) = bytes.first_chunk() else { return Consumed(0) };
        self.message = *message;
        self.gone = Some(0);
        Consumed(MESSAGE)
    }

    fn event(&mut self, _: &mut Bench, event: Event, _: Tick) {
        let ends =
            matches!(event, Event::PeerClosed(_) | Event::Reset { .. }) || event == Event::Stop;
        self.ended |= ends;
    }

    fn phase(&self) -> Phase {
        if self.ended { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals { sent: self.echoed, received: self.echoed }
    }
}

/// So late a clockwork begins anew.
const HELD_UP_NS: u64 = 20_000_000;

/// Wakes on a schedule and notes how late it was. Its ticks are its measurement, or read once a turn.
#[derive(Debug)]
pub struct Clockwork<const ONCE_A_TURN: bool = false> {
    pub flow: FlowId,
    pub period_ns: u64,
    pub times: u64,
    pub woken: u64,
    pub early: u64,
    pub lateness_ns: Vec<u64>,
    /// Whether it waits for bytes as well.
    pub listens: bool,
    /// Whether it would send a stream as well.
    pub sends: bool,
    /// When it was due last, or began; where a busy machine kept it from its turn for long, when it had that: it is late once.
    pub last: Tick,
    pub started: Tick,
}

impl Clockwork {
    pub fn new(flow: u32, period_ns: u64, times: u64) -> Self {
        let lateness_ns = Vec::with_capacity(times as usize);
        let flow = FlowId(flow);
        let (woken, early, listens, sends) = (0, 0, false, false);
        let (last, started) = (Tick::ZERO, Tick::ZERO);
        Self { flow, period_ns, times, woken, early, lateness_ns, listens, sends, last, started }
    }

    /// The same where the clock is read once a turn.
    pub fn once_a_turn(self) -> Clockwork<true> {
        let Self {
            flow,
            period_ns,
            times,
            woken,
            early,
            lateness_ns,
            listens,
            sends,
            last,
            started,
        } = self;
        Clockwork {
            flow,
            period_ns,
            times,
            woken,
            early,
            lateness_ns,
            listens,
            sends,
            last,
            started,
        }
    }
}

impl<const ONCE_A_TURN: bool> Clockwork<ONCE_A_TURN> {
    fn due(&self) -> Tick {
        self.last.plus_nanos(self.period_ns)
    }
}

impl<const ONCE_A_TURN: bool> Machine for Clockwork<ONCE_A_TURN> {
    type Shared = Bench;

    const CLOCK: ClockNeed =
        if ONCE_A_TURN { ClockNeed::EveryTurn } else { ClockNeed::EveryOperation };

    fn id(&self) -> FlowId {
        self.flow
    }

    fn want(&mut self, _: &mut Bench, _: Tick) -> Want {
        let recv = if self.listens { RecvWant::Any } else { RecvWant::Nothing };
        let send = if self.sends { SendWant::Stream { max: 1 } } else { SendWant::Nothing };
        Want { send, recv, wake: Some(self.due()), ..Want::NOTHING }
    }

    fn gather<'data>(&'data self, _: &'data Bench, _: Lane, gather: &mut Gather<'data>) {
        gather.copy(b"!");
    }

    fn sent(&mut self, _: &mut Bench, _: Lane, _: usize, _: Tick) {}

    fn received(&mut self, _: &mut Bench, _: Lane, _: &[u8], _: RecvMeta, _: Tick) -> Consumed {
        Consumed(0)
    }

    fn event(&mut self, _: &mut Bench, event: Event, now: Tick) {
        match event {
            Event::Start => (self.started, self.last) = (now, now),
            Event::Wake => {
                self.early += u64::from(now < self.due());
                let lateness_ns = now.nanos_since(self.due());
                self.lateness_ns.push(lateness_ns);
                self.last = if lateness_ns > HELD_UP_NS { now } else { self.due() };
                self.woken += 1;
            }
            _ => {}
        }
    }

    fn phase(&self) -> Phase {
        if self.woken >= self.times { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}
