//! What tests on scripted clocks have in common: two sockets, and a worker that runs one flow of pings or echoes to its end.

use std::net::UdpSocket;
use std::sync::mpsc::channel;

use pathscope_core::id::Role;
use pathscope_engines::{EngineKind, Inbox, Notice, Outbox, SystemCalls, Terms, Worker, registry};
use pathscope_flow::Machine;
use pathscope_modes::latency::{LatencyPlan, LatencyShared, LatencyTally};

/// Two sockets that are connected with each other.
pub fn loopback() -> (UdpSocket, UdpSocket) {
    let here = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let there = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    here.connect(there.local_addr().expect("bound")).expect("loopback");
    there.connect(here.local_addr().expect("bound")).expect("loopback");
    (here, there)
}

/// Runs one end until its flow is over or nobody is left who could tell it anything. The flow, and what it counted.
pub fn work<M, S>(
    (plan, role): (&LatencyPlan, Role),
    (flow, socket): (M, UdpSocket),
    inbox: Inbox,
    (engine, terms): (EngineKind, Terms),
    calls: S,
) -> (M, LatencyTally)
where
    M: Machine<Shared = LatencyShared>,
    S: SystemCalls,
{
    let (sender, reports) = channel();
    let worker = Worker {
        flows: vec![(flow, vec![socket.into()])],
        shared: LatencyShared::new(plan, role),
        terms,
        inbox,
        outbox: Outbox::into_sink(move |notice| {
            if let Notice::Report { report, .. } = notice {
                sender.send(report).expect("it is read below");
            }
        }),
        made: None,
        succession: None,
    };
    let finished = registry::run(engine, worker, calls).expect("the engine runs");
    let mut tally = LatencyTally::for_plan(plan, role);
    reports.try_iter().for_each(|report| tally.merge(&report));
    let (flow, _) = finished.flows.into_iter().next().expect("the only one");
    (flow, tally)
}
