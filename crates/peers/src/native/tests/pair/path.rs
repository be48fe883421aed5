//! The connections between both ends, one after the other: what is said on them, and what goes wrong on the way.

use pathscope_core::Tick;
use pathscope_core::record::Host;
use pathscope_flow::{Dialogue as _, Input};
use pathscope_modes::groups::Test;

use super::{AnyDialogue, End, Fault, ONE_WAY_NS, Packet};
use crate::dialogue::{ClientDialogue as _, ServerDialogue as _, ServerSettings};
use crate::limits::Limits;
use crate::native::{
    Client, Greeting, Opening, Return, Server, VERSIONS, VersionRange, turned_away,
};

/// Whatever goes wrong, both ends are done by then: idle, stop and report deadlines in a row.
const HANGS_NS: u64 = 200_000_000_000;

/// Both ends and the connections between them.
pub(in crate::native::tests) struct Pair {
    pub client: End<Client>,
    pub server: End<Server>,
    pub now: Tick,
    /// Lengths in which bytes arrive, over and over; empty: as they were sent.
    pub chunks: Vec<usize>,
    /// How long it takes until a server is there again; `None`: there is none.
    pub back_after_ns: Option<u64>,
    /// Whether that is the server of before, which never went away.
    pub is_same_server: bool,
    /// Whether a client is told at once that nobody listens.
    pub refuses: bool,
    /// What goes wrong on the way on the next connection: from the client, from the server.
    pub next_faults: [Option<(usize, Fault)>; 2],
    /// What the next server grants.
    pub limits: Limits,
    /// How many connections there have been.
    pub connections: u64,
    /// What has come of an opening.
    opening: Option<Vec<u8>>,
    arrived: [usize; 2],
    next_chunk: usize,
}

impl Pair {
    /// A client with these tests to propose, and a server.
    pub fn new(tests: &[Test]) -> Self {
        Self::with_limits(tests, Limits::default())
    }

    /// The same, at a server with these limits.
    pub fn with_limits(tests: &[Test], limits: Limits) -> Self {
        Self::speaking(VERSIONS, tests, limits)
    }

    /// The same, with a client that speaks these versions.
    pub fn speaking(versions: VersionRange, tests: &[Test], limits: Limits) -> Self {
        let now = Tick::from_nanos(77);
        let mut client = Client::speaking(versions, Host::default(), true, now);
        for test in tests {
            client.propose(test.clone(), now);
        }
        client.finish(now);
        let mut client = End::new(client);
        client.settle(now);
        let opening = client.on_the_way.front().and_then(|packet| packet.bytes.as_ref());
        let opening = Opening::decode(opening.expect("a client begins with its opening"));
        let Ok(Opening::Control(greeting)) = opening else { panic!("{opening:?}") };
        Self {
            client,
            server: End::new(server(limits, greeting, 5, now)),
            now,
            chunks: Vec::new(),
            back_after_ns: None,
            is_same_server: false,
            refuses: false,
            next_faults: [None, None],
            limits: Limits::default(),
            connections: 1,
            opening: Some(Vec::new()),
            arrived: [0; 2],
            next_chunk: 0,
        }
    }

    /// The server speaks version 1 alone, and looks at no checksum.
    pub fn make_server_old(&mut self) {
        let versions = VersionRange { least: 1, most: 1 };
        let greeting = Greeting { versions, hello: None };
        self.server.dialogue = server(self.limits, greeting, 5, self.now);
    }

    /// The client's next connection.
    fn reconnect(&mut self) {
        if !self.is_same_server {
            // Another server, which knows nothing of the one before.
            self.server.kill(self.now);
        }
        let connection = self.connections;
        self.connections += 1;
        self.client.reconnects = None;
        self.client.on_the_way.retain(|packet| packet.bytes.is_none());
        self.client.connection = Some(connection);
        [self.client.fault, self.server.fault] = std::mem::take(&mut self.next_faults);
        (self.arrived, self.opening) = ([0; 2], Some(Vec::new()));
        self.client.dialogue.input(Input::Reconnected, self.now);
        self.client.settle(self.now);
    }

    /// What the client says on a connection whose opening is not complete. Returns what is behind it.
    fn open(&mut self, connection: u64, bytes: &[u8]) -> Vec<u8> {
        let Some(said) = &mut self.opening else { return bytes.to_vec() };
        said.extend_from_slice(bytes);
        let length = Opening::length(said);
        if said.len() < length {
            return Vec::new();
        }
        let rest = said.split_off(length);
        let opening = self.opening.take().unwrap_or_default();
        match Opening::decode(&opening) {
            Ok(Opening::Control(greeting)) => self.greeted(connection, greeting),
            Ok(Opening::Return(back)) => self.returned(connection, back),
            // Somebody else's, or none of ours: it is closed.
            Ok(Opening::Data(_) | Opening::CheckedData(..)) | Err(_) => {
                self.answer(connection, None);
                if self.server.connection == Some(connection) {
                    self.server.connection = None;
                    self.server.dialogue.input(Input::ControlClosed, self.now);
                }
                return Vec::new();
            }
        }
        rest
    }

    fn greeted(&mut self, connection: u64, greeting: Greeting) {
        if connection > 0 {
            let fault = self.server.fault.take();
            let dialogue = server(self.limits, greeting, 5 + connection as u8, self.now);
            self.server = End { fault, connection: Some(connection), ..End::new(dialogue) };
        }
    }

    fn returned(&mut self, connection: u64, back: Return) {
        let Return { session, attempt, received } = back;
        let is_there =
            self.server.ended.is_none() && self.server.dialogue.session() == Some(session);
        let verdict = if is_there {
            let before = self.server.connection;
            self.server.connection = None;
            self.server.dialogue.input(Input::Returned { attempt, received }, self.now);
            // What is said from here on is said on the connection that has come.
            while self.server.verdict.is_none() {
                let output = self.server.dialogue.output().expect("it decides");
                self.server.carry_out(output, self.now);
            }
            let verdict = self.server.verdict.take().expect("it has decided");
            self.server.connection = if verdict.is_ok() { Some(connection) } else { before };
            verdict
        } else {
            Err(turned_away())
        };
        if let Err(bytes) = verdict {
            self.answer(connection, Some(bytes));
            self.answer(connection, None);
        }
        self.server.settle(self.now);
    }

    /// Whoever accepts connections says this.
    fn answer(&mut self, connection: u64, bytes: Option<Vec<u8>>) {
        let at = self.now.plus_nanos(ONE_WAY_NS);
        self.server.on_the_way.push_back(Packet { at, connection, bytes });
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
        let since = self.client.reconnects.filter(|_| self.client.ended.is_none());
        if since.is_some() && std::mem::take(&mut self.refuses) {
            self.client.dialogue.input(Input::Unreached, self.now);
            return true;
        }
        let back = since.zip(self.back_after_ns).map(|(since, after)| since.plus_nanos(after));
        let events = [self.client.next_event(), self.server.next_event(), back];
        let Some(next) = events.into_iter().flatten().min() else { return true };
        self.now = self.now.max(next);
        if back.is_some_and(|back| self.now >= back) {
            self.reconnect();
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
        while let Some(mut packet) = arrival(&mut self.client, self.now) {
            let (connection, is_latest) =
                (packet.connection, packet.connection + 1 == self.connections);
            let mut is_cut = false;
            if let (Some(bytes), true) = (packet.bytes.take(), is_latest) {
                let (bytes, cut) = spoil(&mut self.client.fault, &mut self.arrived[0], bytes);
                is_cut = cut;
                packet.bytes = Some(self.open(connection, &bytes));
            } else if is_latest {
                // Closed before it said all of its opening.
                self.opening = None;
            }
            self.server.hear(&packet, &self.chunks, &mut self.next_chunk, self.now);
            if is_cut {
                self.cut(connection);
            }
        }
    }

    fn deliver_to_client(&mut self) {
        while let Some(mut packet) = arrival(&mut self.server, self.now) {
            let connection = packet.connection;
            let mut is_cut = false;
            if let (Some(bytes), true) = (packet.bytes.as_mut(), connection + 1 == self.connections)
            {
                let said = std::mem::take(bytes);
                (*bytes, is_cut) = spoil(&mut self.server.fault, &mut self.arrived[1], said);
            }
            self.client.hear(&packet, &self.chunks, &mut self.next_chunk, self.now);
            if is_cut {
                self.cut(connection);
            }
        }
    }

    /// The connection breaks, and both ends hear of it.
    fn cut(&mut self, connection: u64) {
        for queue in [&mut self.client.on_the_way, &mut self.server.on_the_way] {
            queue.retain(|packet| packet.connection != connection);
            queue.push_back(Packet { at: self.now.plus_nanos(1), connection, bytes: None });
        }
        if connection + 1 == self.connections {
            self.opening = None;
        }
    }
}

fn server(limits: Limits, greeting: Greeting, entropy: u8, now: Tick) -> Server {
    let settings = ServerSettings {
        rate: None,
        is_of_several: false,
        identity: None,
        host: Host::default(),
        limits,
        congestion_controls: Vec::new(),
        wants_ends: true,
        stated: None,
    };
    Server::new(settings, greeting, Ok(()), [entropy; 16], now)
}

fn expire<D: AnyDialogue>(end: &mut End<D>, now: Tick) {
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

fn arrival<D: AnyDialogue>(from: &mut End<D>, now: Tick) -> Option<Packet> {
    let has_come = from.on_the_way.front().is_some_and(|packet| packet.at <= now);
    has_come.then(|| from.on_the_way.pop_front()).flatten()
}

/// What of `bytes` comes through, and whether the connection breaks.
fn spoil(
    slot: &mut Option<(usize, Fault)>,
    arrived: &mut usize,
    mut bytes: Vec<u8>,
) -> (Vec<u8>, bool) {
    let before = *arrived;
    *arrived += bytes.len();
    match slot {
        Some((after, fault)) if before + bytes.len() > *after => {
            let place = after.saturating_sub(before);
            match fault {
                Fault::Cut => (bytes[..place].to_vec(), true),
                Fault::Mute => (bytes[..place].to_vec(), false),
                Fault::Garbage(garbage) => ([&bytes[..place], garbage].concat(), false),
                Fault::Flip(mask) => {
                    bytes[place] ^= *mask;
                    *slot = None;
                    (bytes, false)
                }
                Fault::Twice(count) => {
                    let again = bytes[place..].iter().copied().take(*count).collect::<Vec<_>>();
                    bytes.splice(place..place, again);
                    *slot = None;
                    (bytes, false)
                }
            }
        }
        _ => (bytes, false),
    }
}
