//! Pings that say their number, of a length that the client alone knows, and what goes ahead of them.

use super::*;
use crate::conventions::{Conventions, Pings, StreamEnd};
use crate::latency::numbered::tests::PINGS;

const CONVENTIONS: Conventions =
    Conventions { end: StreamEnd::Closed, pings: Pings::Numbered(PINGS), ..Conventions::OWN };
/// What a server is told that knows of no length: what it takes at once.
const AT_ONCE: Bytes = Bytes(256);

fn shared(plan: &LatencyPlan, role: Role) -> LatencyShared {
    LatencyShared { end: StreamEnd::Closed, ..LatencyShared::new(plan, role) }
}

fn client(plan: &LatencyPlan) -> PingFlow {
    PingFlow::new(plan, session(), FLOW).following(CONVENTIONS)
}

fn numbered(plan: &LatencyPlan, conditions: Conditions) -> Latency {
    let at_server = LatencyPlan { size_bytes: AT_ONCE, ..plan.clone() };
    let mut sim =
        Sim::new(conditions, shared(plan, Role::Client), shared(&at_server, Role::Server));
    let server = EchoFlow::new(&at_server, session(), FLOW).following(CONVENTIONS);
    sim.connect(client(plan), server, Transport::Stream);
    sim
}

fn of_size(bytes: u64, plan: LatencyPlan) -> LatencyPlan {
    LatencyPlan { size_bytes: Bytes(bytes), ..plan }
}

#[test]
fn pings_of_any_length_come_back_and_the_one_ahead_of_them_is_none() {
    for bytes in [4, 5, 64, 255, 256, 257, 100_000] {
        let plan = of_size(bytes, closed(Protocol::Tcp, 300));
        let sim = numbered(&plan, link());
        let (client, server, outcome) = run(sim);
        assert_eq!((client.sent, client.received, client.lost), (300, 300, 0), "{outcome}");
        assert_eq!((client.error, server.error), (None, None));
        let rtt = client.rtt.expect("round trips");
        assert_eq!((rtt.min_ns, rtt.count), (Some(500_000), 300), "{bytes}");
    }
}

#[test]
fn each_end_has_sent_as_many_bytes_as_it_says() {
    let plan = of_size(64, closed(Protocol::Tcp, 10));
    let mut sim = numbered(&plan, link());
    assert!(sim.run(LATE).is_over());
    let entered = |from| sim.traffic(FLOW, pathscope_core::id::Lane::ONLY, from).entered;
    assert_eq!([Role::Client, Role::Server].map(entered), [11 * 64; 2]);
    let [client, server] = [sim.client(FLOW).totals(), sim.server(FLOW).totals()];
    assert_eq!((client.sent, client.received), (640, 640), "pings alone");
    assert_eq!((server.sent, server.received), (704, 704), "it tells nothing apart");
}

#[test]
fn a_schedule_begins_when_the_first_message_is_back() {
    let plan = of_size(4, open(Protocol::Tcp, 100_000, Period::from_secs(1)));
    let (client, ..) = run(numbered(&plan, link()));
    assert_eq!((client.sent, client.received), (10_000, 10_000));
    let (rtt, lag) = (client.rtt.expect("round trips"), client.send_lag.expect("it is open"));
    assert_eq!((rtt.max_ns, lag.max_ns), (Some(500_000), Some(0)));
}

#[test]
fn several_are_on_their_way_and_each_is_told_by_its_place() {
    let plan = LatencyPlan { outstanding: 8, ..of_size(6, closed(Protocol::Tcp, 1_000)) };
    let (client, ..) = run(numbered(&plan, link()));
    assert_eq!((client.sent, client.received), (1_000, 1_000));
}

#[test]
fn a_byte_that_comes_back_wrong_is_found() {
    // Of the opening, of a number, of the filler; on the way there and back.
    for (offset, said) in [(2, "first message"), (64 + 1, "ping 0"), (5 * 64 + 40, "ping 4")] {
        for from in [Role::Client, Role::Server] {
            let mut sim = numbered(&of_size(64, closed(Protocol::Tcp, 100)), link());
            sim.edit(FLOW, from, Edit::Xor { offset, mask: 1 });
            sim.run(LATE);
            let error = sim.client(FLOW).error().expect("it came back wrong");
            assert_eq!(error.kind, FlowErrorKind::Data, "{}", error.text);
            assert!(error.text.contains(said), "{}", error.text);
        }
    }
}

#[test]
fn an_end_that_is_stopped_before_the_first_message_is_back_has_sent_no_ping() {
    let mut sim = numbered(&of_size(64, closed(Protocol::Tcp, 100)), link());
    sim.at(Tick::from_nanos(300_000), Action::Stop { role: Role::Client });
    let (client, server, outcome) = run(sim);
    assert_eq!((client.sent, client.error, server.error), (0, None, None), "{outcome}");
}

/// A server that echoes messages of its own length alone, as lagscope's does: what the client says of it, if it fails.
fn of_another_length(client_bytes: u64, server_bytes: u64) -> Option<String> {
    let plan = of_size(client_bytes, closed(Protocol::Tcp, 20));
    let at_server = of_size(server_bytes, plan.clone());
    let mut sim = Sim::new(link(), shared(&plan, Role::Client), shared(&at_server, Role::Server));
    let server = Units::new(server_bytes as usize);
    sim.connect(client(&plan), server, Transport::Stream);
    let outcome = sim.run(LATE);
    assert!(outcome.at < Tick::from_nanos(6_000_000_000), "nobody waits for ever: {outcome}");
    sim.client(FLOW).error().map(|error| error.text)
}

#[test]
fn ends_whose_messages_differ_in_length_are_told_apart_by_a_deadline() {
    for (client, server, said) in [
        (4, 64, "nothing came back of the first message, of 4 B, within 5 s"),
        (6, 4, "of the first message, of 6 B, 4 B came back"),
        (100, 64, "of the first message, of 100 B, 64 B came back"),
    ] {
        let text = of_another_length(client, server).expect("it can only fail");
        assert!(text.contains(said) && text.contains(&format!("-z{client}")), "{text}");
    }
    for (client, server) in [(4, 4), (64, 4), (64, 64)] {
        assert_eq!(of_another_length(client, server), None, "{client} {server}");
    }
}

/// Echoes whole messages of one length.
struct Units {
    buffer: Vec<u8>,
    filled: usize,
    gone: usize,
    is_over: bool,
}

impl Units {
    fn new(length: usize) -> Self {
        Self { buffer: vec![0; length], filled: 0, gone: 0, is_over: false }
    }
}

impl Machine for Units {
    type Shared = LatencyShared;

    const CLOCK: pathscope_flow::ClockNeed = pathscope_flow::ClockNeed::EveryOperation;

    fn id(&self) -> FlowId {
        FLOW
    }

    fn want(&mut self, _: &mut LatencyShared, _: Tick) -> pathscope_flow::Want {
        use pathscope_flow::{RecvWant, SendWant, Want};
        let is_whole = self.filled == self.buffer.len();
        match (self.is_over, is_whole) {
            (true, _) => Want::NOTHING,
            (_, true) => Want {
                send: SendWant::Stream { max: self.buffer.len() - self.gone },
                ..Want::NOTHING
            },
            _ => Want { recv: RecvWant::Any, ..Want::NOTHING },
        }
    }

    fn gather<'data>(
        &'data self,
        _: &'data LatencyShared,
        _: pathscope_core::id::Lane,
        gather: &mut pathscope_flow::Gather<'data>,
    ) {
        gather.borrow(&self.buffer[self.gone..]);
    }

    fn sent(&mut self, _: &mut LatencyShared, _: pathscope_core::id::Lane, amount: usize, _: Tick) {
        self.gone += amount;
        if self.gone == self.buffer.len() {
            (self.filled, self.gone) = (0, 0);
        }
    }

    fn received(
        &mut self,
        _: &mut LatencyShared,
        _: pathscope_core::id::Lane,
        bytes: &[u8],
        _: pathscope_flow::RecvMeta,
        _: Tick,
    ) -> pathscope_flow::Consumed {
        let taken = bytes.len().min(self.buffer.len() - self.filled);
        self.buffer[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
        self.filled += taken;
        pathscope_flow::Consumed(taken)
    }

    fn event(&mut self, _: &mut LatencyShared, event: pathscope_flow::Event, _: Tick) {
        use pathscope_flow::Event;
        self.is_over |= matches!(event, Event::PeerClosed(_) | Event::Reset { .. });
    }

    fn phase(&self) -> Phase {
        if self.is_over { Phase::Done } else { Phase::Running }
    }

    fn totals(&self) -> pathscope_flow::Totals {
        pathscope_flow::Totals::default()
    }
}
