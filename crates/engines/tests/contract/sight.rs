//! Whoever is told something by a worker sees the sockets of its flows, on the worker's thread: those of flows that are not over, and that of
//! the flow which is told of.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::mpsc::channel;

use pathscope_core::id::FlowId;
use pathscope_engines::{
    Blocking, Command, Kernel, Notice, Outbox, Remote, Sockets, SystemCalls, Worker, registry,
    worker_inbox,
};
use pathscope_flow::{Phase, Transport};
use pathscope_os::sockets::Settings;

use crate::harness::{PATIENCE, everywhere, pair, terms};
use crate::toys::{Bench, Stream};

/// What was seen: of the flow that is told of, or of those that are not over.
#[derive(Debug, Eq, PartialEq)]
enum Seen {
    Own(FlowId, Phase, Option<SocketAddr>),
    Open(Vec<(FlowId, SocketAddr)>),
}

fn see(notice: &Notice<u64>, sockets: &dyn Sockets) -> Option<Seen> {
    match *notice {
        Notice::Phase { flow, phase, .. } if phase.is_over() => {
            let own = sockets.of(flow).and_then(|socket| socket.local_addr().ok());
            Some(Seen::Own(flow, phase, own))
        }
        Notice::Look => {
            let mut open = Vec::new();
            sockets.each(&mut |flow, socket| {
                open.extend(socket.local_addr().ok().map(|address| (flow, address)));
                // Two are enough, and the third is not shown.
                if open.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            Some(Seen::Open(open))
        }
        Notice::Phase { .. } | Notice::Flows { .. } | Notice::Report { .. } => None,
    }
}

#[test]
fn who_is_told_sees_the_sockets_of_flows_that_are_not_over() {
    everywhere(|engine, wait| {
        let settings = Settings::default();
        let [one, two, three] = [0, 4, 7].map(|flow| {
            let (here, there) = pair(Transport::Stream, &settings);
            let address = here.local_addr().expect("bound");
            ((Stream::new(flow, 0, 1), vec![here]), (there, (FlowId(flow), address)))
        });
        let peers = [one.1, two.1, three.1];
        let (remote, inbox): (Remote, _) = worker_inbox().expect("an inbox");
        let (tell, told) = channel();
        let outbox = Outbox::beside_sockets(move |notice, sockets| {
            if let Some(seen) = see(&notice, sockets) {
                let _ = tell.send(seen);
            }
        });
        let flows = vec![one.0, two.0, three.0];
        let (shared, terms) = (Bench::new(), terms(wait, Transport::Stream));
        let worker = Worker { flows, shared, terms, inbox, outbox, made: None, succession: None };
        let run = std::thread::spawn(move || registry::run(engine, worker, Kernel));
        let next = || told.recv_timeout(PATIENCE).expect("it is told");
        let [(there, one), (_, two), (_, three)] = &peers;
        remote.send(Command::Look);
        assert_eq!(next(), Seen::Open(vec![*one, *two]), "{engine} {wait}");
        let byte = IoSlice::new(&Bench::from(one.0, 0)[..1]);
        assert_eq!(Kernel.send(there, &[byte], Blocking::Never), Ok(1));
        assert_eq!(next(), Seen::Own(one.0, Phase::Done, Some(one.1)), "{engine} {wait}");
        remote.send(Command::Look);
        assert_eq!(next(), Seen::Open(vec![*two, *three]), "{engine} {wait}");
        remote.send(Command::Abandon);
        let finished = run.join().expect("it did not panic").expect("the engine runs");
        // They come back by value, over or not.
        assert!(finished.flows.iter().all(|(_, sockets)| sockets.len() == 1), "{engine} {wait}");
    });
}
