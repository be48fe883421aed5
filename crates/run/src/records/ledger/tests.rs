//! What is written down of connections, and what those that send are seen to wait for: over real sockets of this machine.

use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;

use pathscope_os::sockets::Socket;

use super::*;

/// A worker that has these flows.
struct Has(Vec<(FlowId, Socket)>);

impl Sockets for Has {
    fn of(&self, flow: FlowId) -> Option<&Socket> {
        self.0.iter().find(|(has, _)| *has == flow).map(|(_, socket)| socket)
    }

    fn lost_bytes(&self, _: FlowId) -> u64 {
        0
    }

    fn each(&self, visit: &mut dyn FnMut(FlowId, &Socket) -> ControlFlow<()>) {
        let _ = self.0.iter().try_for_each(|(flow, socket)| visit(*flow, socket));
    }
}

#[test]
fn a_look_counts_once_every_worker_has_looked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("it is bound");
    let ledger = Ledger::default();
    let begin = |flow: u32| {
        let socket = Socket::from(TcpStream::connect(address).expect("it listens"));
        ledger.begin(FlowId(flow), [None; 2], Arrival::default());
        ledger.watch(FlowId(flow));
        (FlowId(flow), socket)
    };
    assert!(!ledger.ask(Tick::ZERO), "nobody is there to look");
    let [one, two, three] = [0, 1, 2].map(begin);
    let workers = [Has(vec![one, three]), Has(vec![two])];
    // Nobody asked.
    workers.iter().for_each(|worker| ledger.look(worker));
    assert_eq!(ledger.take_seen().all(), 0);
    assert!(ledger.ask(Tick::ZERO));
    ledger.look(&workers[0]);
    ledger.look(&workers[0]);
    // One that begins meanwhile is not waited for.
    let last = Has(vec![begin(3)]);
    assert_eq!(lock(&ledger.0).seen.all(), 0);
    ledger.look(&workers[1]);
    ledger.look(&last);
    assert_eq!(ledger.take_seen().all(), 3);
    // Who has sent all is not looked at, nor is one whose worker is lost.
    ledger.sent_all(FlowId(0));
    ledger.lose(&(2..9));
    assert!(ledger.ask(Tick::ZERO));
    workers.iter().for_each(|worker| ledger.look(worker));
    assert_eq!(ledger.take_seen().all(), 1);
}

#[test]
fn those_that_are_expected_are_known_like_those_that_follow_others_and_take_little() {
    let ends = |port: u16| [Some(([10, 0, 0, 1], port).into()), Some(([10, 0, 0, 2], 9).into())];
    let ledger = Ledger::default();
    ledger.expect(FlowId(5), 2);
    let remotes = |flow| {
        let end = ConnectionEnd { flow: FlowId(flow), ..ConnectionEnd::default() };
        let facts = ledger.depart(end, (|| None, || None), true).expect("it was asked for");
        [facts.local, facts.remote]
    };
    for flow in [4, 5, 6, 7] {
        ledger.begin(FlowId(flow), ends(flow as u16), Arrival::default());
    }
    // One that begins anew is where it began last.
    ledger.begin(FlowId(6), ends(60), Arrival::default());
    assert_eq!(lock(&ledger.0).begun.len(), 2);
    for (flow, port) in [(4, 4), (5, 5), (6, 60), (7, 7)] {
        let known = [format!("10.0.0.1:{port}"), "10.0.0.2:9".to_owned()].map(Some);
        assert_eq!(remotes(flow), known);
        assert_eq!(remotes(flow), [None, None], "it is forgotten");
    }
}

#[test]
fn each_report_tells_anew_how_connections_stand() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("it is bound");
    let socket = Socket::from(TcpStream::connect(address).expect("it listens"));
    let ledger = Ledger::default();
    ledger.begin(FlowId(7), [None; 2], Arrival::default());
    ledger.watch(FlowId(7));
    assert_eq!(ledger.tcp_looks(), []);
    ledger.look_at_tcp(&Has(vec![(FlowId(7), socket)]));
    let flows = || ledger.tcp_looks().iter().map(|look| look.flow).collect::<Vec<_>>();
    assert_eq!((flows(), flows()), (vec![FlowId(7)], Vec::new()));
}
