//! A client and a server, a connection between them that can be cut, silenced or spoilt at any byte,
//! and flows that do what they are told. Time is counted, never waited for.

use std::collections::{BTreeMap, VecDeque};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Token};
use pathscope_core::record::{Host, Substitution};
use pathscope_flow::{Dialogue, Event, Group, Input, Output, Phase, Totals};
use pathscope_modes::registry::{EndInterval, EndReport, Test};

use crate::PeerError;
use crate::limits::Limits;
use crate::native::{Client, OPENING_BYTES, Opening, Server, ServerSettings, VERSIONS};

/// From a byte's sending to its arrival.
const ONE_WAY_NS: u64 = 1_000_000;
/// How long the flows of a test run here, whatever its plan says.
pub(super) const RUN_NS: u64 = 3_000_000_000;
/// Whatever goes wrong, both ends are done by then: idle, stop and report deadlines in a row.
const HANGS_NS: u64 = 200_000_000_000;

/// A dialogue about tests.
pub(super) trait Talk:
    Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>
{
}

impl Talk for Client {}
impl Talk for Server {}

/// What a dialogue asked of its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    Open(Token, Vec<Substitution>),
    Prepare(Token),
    Start,
    Stop,
    Total(FlowId, u64),
    Interval(u64),
    Report(u64),
    TestOver,
    Reconnect,
    Rejoin,
    Resumed,
}

/// What goes wrong on the way from one end to the other, after so many bytes.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The connection breaks.
    Cut,
    /// Nothing arrives any more.
    Mute,
    /// This comes instead of what was said.
    Garbage(Vec<u8>),
}

/// One end with its flows.
pub(super) struct End<D: Talk> {
    pub dialogue: D,
    pub seen: Vec<Seen>,
    pub ended: Option<(Tick, Result<(), PeerError>)>,
    /// How many bytes it has said.
    pub said: usize,
    pub fault: Option<(usize, Fault)>,
    /// Whether its flows end when their time has come.
    pub flows_end: bool,
    /// What is on the way from it.
    on_the_way: VecDeque<(Tick, Vec<u8>)>,
    groups: Vec<Group>,
    steps: BTreeMap<Tick, Step>,
    /// Whether its flows run.
    pub is_running: bool,
    /// Since when it waits for another connection.
    reconnects: Option<Tick>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Interval(u64),
    Over,
}

impl<D: Talk> End<D> {
    fn new(dialogue: D) -> Self {
        Self {
            dialogue,
            seen: Vec::new(),
            ended: None,
            said: 0,
            fault: None,
            flows_end: true,
            on_the_way: VecDeque::new(),
            groups: Vec::new(),
            steps: BTreeMap::new(),
            is_running: false,
            reconnects: None,
        }
    }

    /// Carries out what the dialogue asks for.
    fn settle(&mut self, now: Tick) {
        while let Some(output) = self.dialogue.output() {
            assert!(self.ended.is_none(), "something follows the end");
            self.carry_out(output, now);
        }
    }

    fn carry_out(&mut self, output: Output<D>, now: Tick) {
        match output {
            Output::Send(bytes) => self.say(bytes, now),
            Output::Open { token, plan, substitutions } => {
                self.seen.push(Seen::Open(token, substitutions));
                self.attach(&plan, now);
            }
            Output::Prepare { token, plan } => {
                self.seen.push(Seen::Prepare(token));
                self.dialogue.input(Input::Prepared(vec![substitution()]), now);
                self.attach(&plan, now);
            }
            Output::Start => self.start(now),
            Output::Reconnect => {
                self.seen.push(Seen::Reconnect);
                self.reconnects = Some(now);
            }
            Output::Rejoin => {
                self.seen.push(Seen::Rejoin);
                self.attach_all(now);
            }
            Output::Resumed => self.seen.push(Seen::Resumed),
            Output::Tell { flow: Some(flow), event: Event::PeerTotal(total), .. } => {
                self.seen.push(Seen::Total(flow, total));
            }
            Output::Tell { event, .. } => {
                assert_eq!(event, Event::Stop);
                self.seen.push(Seen::Stop);
                if self.flows_end {
                    self.over(now);
                }
            }
            // Word for whoever writes it down; `strangers` has its tests.
            Output::PeerEnded { .. } => {}
            Output::PeerInterval(interval) => self.seen.push(Seen::Interval(interval.index)),
            Output::PeerReport(report) => self.seen.push(Seen::Report(report.elapsed_ns)),
            Output::TestOver => self.seen.push(Seen::TestOver),
            Output::End(outcome) => self.ended = Some((now, outcome)),
        }
    }

    fn say(&mut self, bytes: Vec<u8>, now: Tick) {
        self.said += bytes.len();
        self.on_the_way.push_back((now.plus_nanos(ONE_WAY_NS), bytes));
    }

    fn attach(&mut self, plan: &Test, now: Tick) {
        self.groups = plan.groups();
        self.attach_all(now);
    }

    fn attach_all(&mut self, now: Tick) {
        for (group, flow) in self.flows() {
            self.dialogue.input(Input::Attached { group, flow }, now);
        }
    }

    fn flows(&self) -> Vec<(pathscope_flow::GroupId, FlowId)> {
        let of = |group: &Group| {
            let (id, first) = (group.id, group.first.0);
            (first..first + group.flows).map(move |flow| (id, FlowId(flow)))
        };
        self.groups.iter().flat_map(of).collect()
    }

    fn start(&mut self, now: Tick) {
        self.seen.push(Seen::Start);
        self.is_running = true;
        for index in 0..2 {
            let at = now.plus_nanos((index + 1) * 1_000_000_000);
            self.steps.insert(at, Step::Interval(index));
        }
        if self.flows_end {
            self.steps.insert(now.plus_nanos(RUN_NS), Step::Over);
        }
    }

    fn over(&mut self, now: Tick) {
        if !std::mem::take(&mut self.is_running) {
            return;
        }
        self.steps.clear();
        for (group, flow) in self.flows() {
            let totals = Totals { sent: 1_000 + u64::from(flow.0), received: 0 };
            for phase in [Phase::SendingDone, Phase::Done] {
                self.dialogue.input(Input::Phase { group, flow, phase, totals }, now);
            }
        }
        let report = EndReport { elapsed_ns: RUN_NS, ..EndReport::default() };
        self.dialogue.input(Input::Over(report), now);
    }

    fn step(&mut self, now: Tick) {
        match self.steps.remove(&now) {
            Some(Step::Interval(index)) => {
                let interval = EndInterval { index, ..EndInterval::default() };
                self.dialogue.input(Input::Interval(interval), now);
            }
            Some(Step::Over) => self.over(now),
            None => {}
        }
    }

    fn next_event(&self) -> Option<Tick> {
        let arrival = self.on_the_way.front().map(|&(at, _)| at);
        let step = self.steps.first_key_value().map(|(&at, _)| at);
        let own = [self.dialogue.deadline(), step].into_iter().flatten().min();
        [arrival, own.filter(|_| self.ended.is_none())].into_iter().flatten().min()
    }

    pub fn outcome(&self) -> &Result<(), PeerError> {
        &self.ended.as_ref().expect("the run is over").1
    }

    pub fn sentence(&self) -> String {
        self.outcome().as_ref().expect_err("it failed").to_string()
    }

    pub fn count(&self, seen: &Seen) -> usize {
        self.seen.iter().filter(|other| *other == seen).count()
    }
}

/// What the server of these tests runs otherwise than asked.
pub(super) fn substitution() -> Substitution {
    let [what, asked, ran, why] = ["engine", "auto", "plain", "one flow"].map(str::to_owned);
    Substitution { what, asked, ran, why }
}

/// Both ends and the connection between them.
pub(super) struct Pair {
    pub client: End<Client>,
    pub server: End<Server>,
    pub now: Tick,
    /// Lengths in which bytes arrive, over and over; empty: as they were sent.
    pub chunks: Vec<usize>,
    /// How long it takes until another server is there; `None`: there is none.
    pub back_after_ns: Option<u64>,
    /// What goes wrong on the way from the next server.
    pub next_fault: Option<(usize, Fault)>,
    /// What the next server grants.
    pub limits: Limits,
    arrived: [usize; 2],
    is_cut: bool,
    told_closed: [bool; 2],
    next_chunk: usize,
}

impl Pair {
    /// A client with these tests to propose, and a server.
    pub fn new(tests: &[Test]) -> Self {
        Self::with_limits(tests, Limits::default())
    }

    /// The same, at a server with these limits.
    pub fn with_limits(tests: &[Test], limits: Limits) -> Self {
        let now = Tick::from_nanos(77);
        let mut client = Client::asking(Host::default(), true, now);
        for test in tests {
            client.propose(test.clone(), now);
        }
        client.finish(now);
        let settings = ServerSettings { host: Host::default(), limits, wants_ends: true };
        let server = Server::new(settings, VERSIONS, Ok(()), [5; 16], now);
        let mut pair = Self {
            client: End::new(client),
            server: End::new(server),
            now,
            chunks: Vec::new(),
            back_after_ns: None,
            next_fault: None,
            limits: Limits::default(),
            arrived: [0; 2],
            is_cut: false,
            told_closed: [false; 2],
            next_chunk: 0,
        };
        pair.drop_opening();
        pair
    }

    /// Another server, which knows nothing of the one before, and a connection to it.
    fn renew(&mut self) {
        self.client.reconnects = None;
        self.client.on_the_way.clear();
        let settings =
            ServerSettings { host: Host::default(), limits: self.limits, wants_ends: true };
        self.server = End::new(Server::new(settings, VERSIONS, Ok(()), [6; 16], self.now));
        self.server.fault = self.next_fault.take();
        (self.arrived, self.is_cut, self.told_closed) = ([0; 2], false, [false; 2]);
        self.client.dialogue.input(Input::Reconnected, self.now);
        self.drop_opening();
    }

    /// The opening is read by whoever accepts connections, before there is a dialogue.
    fn drop_opening(&mut self) {
        let Some(Output::Send(opening)) = self.client.dialogue.output() else {
            panic!("a client begins with its opening")
        };
        let opening = opening.first_chunk::<OPENING_BYTES>().expect("its length");
        assert_eq!(Opening::decode(opening), Ok(Opening::Control(VERSIONS)));
    }

    /// Goes on until both ends are done.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// Goes on until this holds.
    pub fn run_until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            assert!(self.step(), "it ended before that held");
        }
    }

    /// The next thing that happens, if anything is left to.
    pub fn step(&mut self) -> bool {
        self.client.settle(self.now);
        self.server.settle(self.now);
        if self.client.ended.is_some() && self.server.ended.is_some() {
            return false;
        }
        self.tell_closed();
        let since = self.client.reconnects.filter(|_| self.client.ended.is_none());
        let back = since.zip(self.back_after_ns).map(|(since, after)| since.plus_nanos(after));
        let events = [self.client.next_event(), self.server.next_event(), back];
        let Some(next) = events.into_iter().flatten().min() else { return true };
        self.now = self.now.max(next);
        if back.is_some_and(|back| self.now >= back) {
            self.renew();
        }
        assert!(
            self.now.as_nanos() < HANGS_NS,
            "an end hangs: {:?} {:?}",
            self.client.seen,
            self.server.seen
        );
        self.deliver_to_server();
        self.deliver_to_client();
        expire(&mut self.client, self.now);
        expire(&mut self.server, self.now);
        true
    }

    fn deliver_to_server(&mut self) {
        while let Some(bytes) = arrival(&mut self.client, self.now) {
            let (bytes, cut) = spoil(self.client.fault.as_ref(), self.arrived[0], bytes);
            self.arrived[0] += bytes.len();
            self.is_cut |= cut;
            feed(&mut self.server, &bytes, &self.chunks, &mut self.next_chunk, self.now);
        }
    }

    fn deliver_to_client(&mut self) {
        while let Some(bytes) = arrival(&mut self.server, self.now) {
            let (bytes, cut) = spoil(self.server.fault.as_ref(), self.arrived[1], bytes);
            self.arrived[1] += bytes.len();
            self.is_cut |= cut;
            feed(&mut self.client, &bytes, &self.chunks, &mut self.next_chunk, self.now);
        }
    }

    /// An end whose dialogue is over closes; the other hears of it after all that was said before.
    fn tell_closed(&mut self) {
        let client_gone = self.client.ended.is_some() && self.client.on_the_way.is_empty();
        let server_gone = self.server.ended.is_some() && self.server.on_the_way.is_empty();
        if (self.is_cut || server_gone) && !self.told_closed[0] {
            self.told_closed[0] = true;
            self.client.dialogue.input(Input::ControlClosed, self.now);
        }
        if (self.is_cut || client_gone) && !self.told_closed[1] {
            self.told_closed[1] = true;
            self.server.dialogue.input(Input::ControlClosed, self.now);
        }
        self.client.settle(self.now);
        self.server.settle(self.now);
    }
}

fn expire<D: Talk>(end: &mut End<D>, now: Tick) {
    if end.ended.is_some() {
        return;
    }
    end.step(now);
    if end.dialogue.deadline().is_some_and(|deadline| now >= deadline) {
        end.dialogue.input(Input::Deadline, now);
        let later = end.dialogue.deadline().is_none_or(|deadline| now < deadline);
        assert!(later, "a deadline that has come is left standing");
    }
    end.settle(now);
}

fn arrival<D: Talk>(from: &mut End<D>, now: Tick) -> Option<Vec<u8>> {
    let has_come = from.on_the_way.front().is_some_and(|&(at, _)| at <= now);
    has_come.then(|| from.on_the_way.pop_front()).flatten().map(|(_, bytes)| bytes)
}

/// What of `bytes` comes through, and whether the connection breaks.
fn spoil(fault: Option<&(usize, Fault)>, before: usize, bytes: Vec<u8>) -> (Vec<u8>, bool) {
    match fault {
        Some((after, fault)) if before + bytes.len() > *after => {
            let good = &bytes[..after.saturating_sub(before)];
            match fault {
                Fault::Cut => (good.to_vec(), true),
                Fault::Mute => (good.to_vec(), false),
                Fault::Garbage(garbage) => ([good, garbage].concat(), false),
            }
        }
        _ => (bytes, false),
    }
}

fn feed<D: Talk>(to: &mut End<D>, bytes: &[u8], chunks: &[usize], next: &mut usize, now: Tick) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let wish = if chunks.is_empty() { rest.len() } else { chunks[*next % chunks.len()] };
        *next += 1;
        let (chunk, after) = rest.split_at(wish.clamp(1, rest.len()));
        to.dialogue.input(Input::Received(chunk), now);
        to.settle(now);
        rest = after;
    }
}
