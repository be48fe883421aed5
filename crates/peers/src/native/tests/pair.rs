//! A client and a server, a connection between them that can be cut, silenced or spoilt at any byte,
//! and flows that do what they are told. Time is counted, never waited for.

mod path;

use std::collections::{BTreeMap, VecDeque};

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Token};
use pathscope_core::record::Substitution;
use pathscope_flow::{Credentials, Dialogue, Event, Group, Input, Output, Phase, Resumed, Totals};
use pathscope_modes::groups::Test;
use pathscope_modes::registry::{EndInterval, EndReport};

pub(super) use path::Pair;

use crate::PeerError;
use crate::native::{Client, Server};

/// From a byte's sending to its arrival.
const ONE_WAY_NS: u64 = 1_000_000;
/// How long the flows of a test run here, whatever its plan says.
pub(super) const RUN_NS: u64 = 3_000_000_000;

/// A dialogue about tests.
pub(super) trait AnyDialogue:
    Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>
{
}

impl AnyDialogue for Client {}
impl AnyDialogue for Server {}

/// What a dialogue asked of its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    Open(Token, Vec<Substitution>),
    /// What is prepared next runs at the client already.
    Resumes(Resumed),
    Prepare(Token),
    Ready,
    Start,
    Stop,
    PeerLost,
    Total(FlowId, u64),
    Interval(u64),
    Report(u64),
    TestOver,
    Reconnect,
    Rejoin(Credentials),
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
    /// A byte is another one.
    Flip(u8),
    /// What was said from there on, so many bytes of it, comes twice.
    Twice(usize),
}

/// What is on the way.
#[derive(Clone, Debug)]
struct Packet {
    at: Tick,
    /// On which connection.
    connection: u64,
    /// Nothing: its end.
    bytes: Option<Vec<u8>>,
}

/// One end with its flows.
pub(super) struct End<D: AnyDialogue> {
    pub dialogue: D,
    pub seen: Vec<Seen>,
    pub ended: Option<(Tick, Result<(), PeerError>)>,
    /// How many bytes it has said.
    pub said: usize,
    pub fault: Option<(usize, Fault)>,
    /// Whether its flows end when their time has come.
    pub flows_end: bool,
    /// So long after it is ready those are that it starts with.
    pub others_after_ns: Option<u64>,
    /// What is on the way from it.
    on_the_way: VecDeque<Packet>,
    /// Which connection it speaks on and hears, if any.
    pub connection: Option<u64>,
    /// Of a connection that has come: what becomes of it.
    verdict: Option<Result<(), Vec<u8>>>,
    groups: Vec<Group>,
    steps: BTreeMap<Tick, Step>,
    /// Whether its flows run.
    pub is_running: bool,
    /// Since when it waits for another connection.
    reconnects: Option<Tick>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    MayStart,
    Interval(u64),
    Over,
}

impl<D: AnyDialogue> End<D> {
    fn new(dialogue: D) -> Self {
        Self {
            dialogue,
            seen: Vec::new(),
            ended: None,
            said: 0,
            fault: None,
            flows_end: true,
            others_after_ns: None,
            on_the_way: VecDeque::new(),
            connection: Some(0),
            verdict: None,
            groups: Vec::new(),
            steps: BTreeMap::new(),
            is_running: false,
            reconnects: None,
        }
    }

    /// Carries out what the dialogue asks for.
    pub fn settle(&mut self, now: Tick) {
        while let Some(output) = self.dialogue.output() {
            assert!(self.ended.is_none(), "something follows the end");
            self.carry_out(output, now);
        }
    }

    fn carry_out(&mut self, output: Output<D>, now: Tick) {
        match output {
            Output::Send(bytes) => self.say(bytes, now),
            Output::Open { credentials, plan, substitutions } => {
                self.seen.push(Seen::Open(credentials.token, substitutions));
                self.attach(&plan, now);
            }
            Output::Prepare { credentials, resumed, plan } => {
                self.seen.extend(resumed.map(Seen::Resumes));
                self.seen.push(Seen::Prepare(credentials.token));
                self.dialogue.input(Input::Prepared(vec![substitution()]), now);
                self.attach(&plan, now);
            }
            Output::Ready => {
                self.seen.push(Seen::Ready);
                let others = self.others_after_ns.map(|after| now.plus_nanos(after));
                self.steps.extend(others.map(|at| (at, Step::MayStart)));
            }
            Output::Start => self.start(now),
            Output::Reconnect => {
                self.seen.push(Seen::Reconnect);
                self.hang_up(now);
                self.reconnects = Some(now);
            }
            Output::TakeOver => self.verdict = Some(Ok(())),
            Output::TurnAway(bytes) => self.verdict = Some(Err(bytes)),
            Output::Rejoin(credentials) => {
                self.seen.push(Seen::Rejoin(credentials));
                self.attach_all(now);
            }
            Output::Resumed => self.seen.push(Seen::Resumed),
            Output::Tell { flow: Some(flow), event: Event::PeerTotal(total), .. } => {
                self.seen.push(Seen::Total(flow, total));
            }
            Output::Tell { event: Event::PeerLost, .. } => self.seen.push(Seen::PeerLost),
            Output::Tell { event, .. } => {
                assert_eq!(event, Event::Stop);
                self.seen.push(Seen::Stop);
                if self.flows_end {
                    self.over(now);
                }
            }
            // Word for whoever writes it down; `strangers` has its tests.
            Output::SessionLost | Output::PeerEnded { .. } => {}
            Output::SendTo(..) | Output::Dismiss(_) | Output::Recount => {
                panic!("one client takes part")
            }
            Output::PeerInterval(interval) => self.seen.push(Seen::Interval(interval.index)),
            Output::PeerReport(report) => self.seen.push(Seen::Report(report.elapsed_ns)),
            Output::TestOver => self.seen.push(Seen::TestOver),
            Output::End(outcome) => {
                self.hang_up(now);
                self.ended = Some((now, outcome));
            }
        }
    }

    fn say(&mut self, bytes: Vec<u8>, now: Tick) {
        if let Some(connection) = self.connection {
            self.said += bytes.len();
            let at = now.plus_nanos(ONE_WAY_NS);
            self.on_the_way.push_back(Packet { at, connection, bytes: Some(bytes) });
        }
    }

    fn hang_up(&mut self, now: Tick) {
        if let Some(connection) = self.connection.take() {
            let at = now.plus_nanos(ONE_WAY_NS);
            self.on_the_way.push_back(Packet { at, connection, bytes: None });
        }
    }

    /// What has come on a connection that this end hears.
    fn hear(&mut self, packet: &Packet, chunks: &[usize], next: &mut usize, now: Tick) {
        if self.connection != Some(packet.connection) || self.ended.is_some() {
            return;
        }
        if let Some(bytes) = &packet.bytes {
            feed(self, (packet.connection, bytes), (chunks, next), now);
        } else {
            self.dialogue.input(Input::ControlClosed, now);
            self.settle(now);
        }
    }

    /// Whatever it had to say has gone with it.
    pub fn kill(&mut self, now: Tick) {
        (self.connection, self.is_running) = (None, false);
        self.ended.get_or_insert((now, Ok(())));
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
        let report = Box::new(EndReport { elapsed_ns: RUN_NS, ..EndReport::default() });
        self.dialogue.input(Input::Over(report), now);
    }

    fn step(&mut self, now: Tick) {
        match self.steps.remove(&now) {
            Some(Step::Interval(index)) => {
                let interval = Box::new(EndInterval { index, ..EndInterval::default() });
                self.dialogue.input(Input::Interval(interval), now);
            }
            Some(Step::MayStart) => self.dialogue.input(Input::MayStart, now),
            Some(Step::Over) => self.over(now),
            None => {}
        }
    }

    fn next_event(&self) -> Option<Tick> {
        let arrival = self.on_the_way.front().map(|packet| packet.at);
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

    /// What its lanes were to present each time that they came in anew.
    pub fn rejoins(&self) -> Vec<Credentials> {
        let of = |seen: &Seen| match seen {
            Seen::Rejoin(credentials) => Some(*credentials),
            _ => None,
        };
        self.seen.iter().filter_map(of).collect()
    }
}

/// What the server of these tests runs otherwise than asked.
pub(super) fn substitution() -> Substitution {
    let [what, asked, ran, why] = ["engine", "auto", "plain", "one flow"].map(str::to_owned);
    Substitution { what, asked, ran, why }
}

fn feed<D: AnyDialogue>(
    to: &mut End<D>,
    (connection, bytes): (u64, &[u8]),
    (chunks, next): (&[usize], &mut usize),
    now: Tick,
) {
    let mut rest = bytes;
    while !rest.is_empty() && to.connection == Some(connection) && to.ended.is_none() {
        let wish = if chunks.is_empty() { rest.len() } else { chunks[*next % chunks.len()] };
        *next += 1;
        let (chunk, after) = rest.split_at(wish.clamp(1, rest.len()));
        to.dialogue.input(Input::Received(chunk), now);
        to.settle(now);
        rest = after;
    }
}
