//! The simulator itself: two sets of machines, the lanes between them, and the loop that moves time.

use std::collections::BTreeMap;

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Lane, Role};

use super::end::End;
use super::outcome::{Ended, Outcome, Traffic};
use super::pipe::Pipe;
use super::script::{Action, Edit, Fate, Passing};
use super::site::{AnySite, Site};
use super::world::{EndKey, Happening, PipeKey, World};
use super::{Conditions, Ends, Link};
use crate::{Event, Machine, Transport};

/// Clients of type `A` and servers of type `B`, connected flow by flow.
///
/// What names a flow or a lane that was never connected is a mistake in the test and panics.
#[derive(Debug)]
pub struct Sim<A: Machine, B: Machine> {
    clients: Vec<End<A>>,
    servers: Vec<End<B>>,
    client_shared: A::Shared,
    server_shared: B::Shared,
    /// By flow and lane; each direction is named after its sender.
    wires: Vec<Vec<Ends<Pipe>>>,
    world: World,
    before_operation: BTreeMap<u64, Vec<Action>>,
    steps: u64,
    broken: Option<Ended>,
}

/// Setting the scene.
impl<A: Machine, B: Machine> Sim<A, B> {
    /// A world without flows.
    pub fn new(conditions: Conditions, client_shared: A::Shared, server_shared: B::Shared) -> Self {
        Self {
            clients: Vec::new(),
            servers: Vec::new(),
            client_shared,
            server_shared,
            wires: Vec::new(),
            world: World::new(conditions),
            before_operation: BTreeMap::new(),
            steps: 0,
            broken: None,
        }
    }

    /// One more flow of one lane. Flows are numbered in this order, from 0; so should the machines be.
    pub fn connect(&mut self, client: A, server: B, transport: Transport) -> FlowId {
        let links = self.world.conditions.links;
        self.connect_lanes(client, server, transport, &[links])
    }

    /// One more flow, with a lane for each of `lanes`.
    pub fn connect_lanes(
        &mut self,
        client: A,
        server: B,
        transport: Transport,
        lanes: &[Ends<Link>],
    ) -> FlowId {
        let flow = FlowId(self.wires.len() as u32);
        self.wires.push(lanes.iter().map(|links| Pipe::pair(transport, *links)).collect());
        self.clients.push(End::new(client, lanes.len()));
        self.servers.push(End::new(server, lanes.len()));
        self.world.add_flow();
        for role in [Role::Client, Role::Server] {
            let at = self.world.now.plus_nanos(self.world.conditions.starts_ns[role]);
            let end = EndKey { flow, role };
            self.world.at(at, Happening::Tell { end, event: Event::Start });
        }
        flow
    }

    /// From now on, a machine that has sent all it will is reported to its other half so much later:
    /// `Event::PeerTotal`, as a dialogue does over its own connection.
    pub fn tell_totals(&mut self, after_ns: u64) {
        self.world.totals_after_ns = Some(after_ns);
    }

    /// Asks `fate` for each datagram that enters a link.
    pub fn datagrams(&mut self, fate: impl FnMut(&mut Passing<'_>) -> Fate + 'static) {
        self.world.fates = Some(Box::new(fate));
    }

    /// Shows `tamper` each piece of a stream that enters a link, in the pieces that happen to travel.
    pub fn segments(&mut self, tamper: impl FnMut(&mut Passing<'_>) + 'static) {
        self.world.tampering = Some(Box::new(tamper));
    }

    /// Changes what one end sends on the first lane of a stream, whatever pieces it travels in.
    pub fn edit(&mut self, flow: FlowId, from: Role, edit: Edit) {
        self.pipe(PipeKey { flow, lane: Lane::ONLY, from }).edit(edit);
    }

    /// Does something at a time, since the simulation began, before any machine runs at that time.
    pub fn at(&mut self, at: Tick, action: Action) {
        self.world.at(at, Happening::Script(action));
    }

    /// Does something once so many operations have been done. A run of `n` operations has the points
    /// `0..n`: a test that goes through them all leaves out no moment.
    pub fn before_operation(&mut self, operation: u64, action: Action) {
        self.before_operation.entry(operation).or_default().push(action);
    }
}

/// Running.
impl<A: Machine, B: Machine> Sim<A, B> {
    /// Runs until every machine is over, or `until` of the simulation's time has come, or nothing will
    /// happen any more.
    pub fn run(&mut self, until: Tick) -> Outcome {
        let ended = loop {
            if let Some(ended) = self.advance(until) {
                break ended;
            }
        };
        self.outcome(ended)
    }

    fn advance(&mut self, until: Tick) -> Option<Ended> {
        if self.broken.is_some() {
            return self.broken;
        }
        if self.world.alive == 0 {
            return Some(Ended::Over);
        }
        if self.steps >= self.world.conditions.max_steps {
            return Some(Ended::TooManySteps);
        }
        self.steps += 1;
        if let Some(actions) = self.before_operation.remove(&self.world.operations) {
            actions.into_iter().for_each(|action| self.act(action));
            return None;
        }
        // Whatever happens at one time has happened before a machine looks: what arrives together is
        // received together.
        if self.world.next_at() == Some(self.world.now) {
            return self.pass_time(until);
        }
        match self.world.next_ready() {
            Some(end) => self.turn(end),
            None => self.pass_time(until),
        }
    }

    fn turn(&mut self, end: EndKey) -> Option<Ended> {
        match self.at_end(end, |site| site.step()) {
            Ok(true) => self.world.make_ready(end),
            Ok(false) => {}
            Err(breach) => {
                let EndKey { flow, role } = end;
                self.broken = Some(Ended::Broken { flow, role, breach });
            }
        }
        self.broken
    }

    fn pass_time(&mut self, until: Tick) -> Option<Ended> {
        let Some(next) = self.world.next_at() else { return Some(Ended::Stuck) };
        if next > until {
            self.world.now = self.world.now.max(until);
            return Some(Ended::TimeUp);
        }
        if let Some((at, happening)) = self.world.take_next() {
            self.happen(at, happening);
        }
        None
    }

    fn happen(&mut self, at: Tick, happening: Happening) {
        if let Happening::Wake(end) = happening
            && !self.at_end(end, |site| site.awaits(at))
        {
            // A timer that no longer counts must not move time: a run would end later for it.
            return;
        }
        self.world.now = at;
        match happening {
            Happening::Arrive { pipe: key, parcel } => {
                let answer_ns = self.pipe(key.reverse()).transit().answer_ns();
                let (pipe, world) = self.pipe_and_world(key);
                pipe.arrive(parcel, key, answer_ns, world);
            }
            Happening::Credit { pipe: key, bytes } => {
                let (pipe, world) = self.pipe_and_world(key);
                pipe.credit(bytes, key, world);
            }
            Happening::LinkFree(key) => {
                let (pipe, world) = self.pipe_and_world(key);
                pipe.link_free(key, world);
            }
            Happening::Break { end, lane, errno } => {
                self.at_end(end, |site| site.break_lane(lane, errno));
            }
            Happening::Tell { end, event } => self.at_end(end, |site| site.tell(event)),
            Happening::Weigh(EndKey { flow: asking, role }) => {
                let flows = (0..self.wires.len()).map(|flow| FlowId(flow as u32));
                for flow in flows.filter(|flow| *flow != asking) {
                    self.at_end(EndKey { flow, role }, |site| site.tell(Event::Weighing));
                }
            }
            Happening::Wake(end) => self.at_end(end, |site| site.disarm()),
            Happening::Land(end) => self.world.make_ready(end),
            Happening::Resume => {}
            Happening::Script(action) => self.act(action),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Reset { flow, errno } => self.reset(flow, errno),
            Action::Kill { flow, role } => self.at_end(EndKey { flow, role }, |site| site.kill()),
            Action::Cut { flow, from } => {
                self.wires[flow.0 as usize].iter_mut().for_each(|lane| {
                    lane[from].transit().cut = true;
                    lane[from.peer()].silence();
                });
            }
            Action::Stall { flow, from, for_ns } => {
                let until = self.world.now.plus_nanos(for_ns);
                let lanes = &mut self.wires[flow.0 as usize];
                lanes.iter_mut().for_each(|lane| lane[from].transit().hold(until));
            }
            Action::Pause { role, for_ns } => self.world.pause(role, for_ns),
            Action::Stop { role } => {
                for flow in (0..self.wires.len()).map(|flow| FlowId(flow as u32)) {
                    self.at_end(EndKey { flow, role }, |site| site.tell(Event::Stop));
                }
            }
            Action::Tell { flow, role, event } => {
                self.at_end(EndKey { flow, role }, |site| site.tell(event));
            }
        }
    }

    fn reset(&mut self, flow: FlowId, errno: i32) {
        for lane in 0..self.wires[flow.0 as usize].len() {
            for role in [Role::Client, Role::Server] {
                let end = EndKey { flow, role };
                self.at_end(end, |site| site.break_lane(Lane(lane as u8), errno));
            }
        }
    }

    fn outcome(&mut self, ended: Ended) -> Outcome {
        let flows = (0..self.wires.len()).map(|flow| FlowId(flow as u32));
        let ends =
            flows.flat_map(|flow| [Role::Client, Role::Server].map(|role| EndKey { flow, role }));
        Outcome {
            ended,
            at: self.world.now,
            operations: self.world.operations,
            waiting: ends.filter_map(|end| self.at_end(end, |site| site.waiting())).collect(),
        }
    }
}

/// Looking.
impl<A: Machine, B: Machine> Sim<A, B> {
    /// A client.
    pub fn client(&self, flow: FlowId) -> &A {
        &self.clients[flow.0 as usize].machine
    }

    /// A server.
    pub fn server(&self, flow: FlowId) -> &B {
        &self.servers[flow.0 as usize].machine
    }

    /// What the clients have in common; mutable, since a report takes what it tells.
    pub fn client_shared(&mut self) -> &mut A::Shared {
        &mut self.client_shared
    }

    /// What the servers have in common; mutable, since a report takes what it tells.
    pub fn server_shared(&mut self) -> &mut B::Shared {
        &mut self.server_shared
    }

    /// What both have in common, for the end of a test.
    pub fn into_shared(self) -> (A::Shared, B::Shared) {
        (self.client_shared, self.server_shared)
    }

    /// What the clock of one end shows.
    pub fn clock(&self, role: Role) -> Tick {
        self.world.clock(role)
    }

    /// When a machine was over or its process died, since the simulation began.
    pub fn over_at(&mut self, flow: FlowId, role: Role) -> Option<Tick> {
        self.at_end(EndKey { flow, role }, |site| site.over_at())
    }

    /// The truth about what one end sent on a lane.
    pub fn traffic(&self, flow: FlowId, lane: Lane, from: Role) -> Traffic {
        self.wires[flow.0 as usize][lane.index()][from].traffic()
    }
}

/// Where things are.
impl<A: Machine, B: Machine> Sim<A, B> {
    fn pipe(&mut self, key: PipeKey) -> &mut Pipe {
        self.pipe_and_world(key).0
    }

    fn pipe_and_world(&mut self, key: PipeKey) -> (&mut Pipe, &mut World) {
        let pipe = &mut self.wires[key.flow.0 as usize][key.lane.index()][key.from];
        (pipe, &mut self.world)
    }

    fn at_end<R>(&mut self, key: EndKey, act: impl FnOnce(&mut dyn AnySite) -> R) -> R {
        let flow = key.flow.0 as usize;
        let (lanes, world) = (&mut self.wires[flow][..], &mut self.world);
        match key.role {
            Role::Client => {
                let (end, shared) = (&mut self.clients[flow], &mut self.client_shared);
                act(&mut Site { key, end, shared, lanes, world })
            }
            Role::Server => {
                let (end, shared) = (&mut self.servers[flow], &mut self.server_shared);
                act(&mut Site { key, end, shared, lanes, world })
            }
        }
    }
}
