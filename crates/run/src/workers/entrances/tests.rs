//! Flows that come in, past the session's thread or by it, and what they hear that was said before.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use pathscope_engines::worker_inbox;

use super::*;

fn socket() -> Socket {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("it is bound");
    TcpStream::connect(address).expect("it listens").into()
}

/// A worker's entrance, and which flows came there.
fn entrance(there: u32) -> (Entrance, Receiver<FlowId>) {
    let (sender, came) = channel();
    let take_in = move |flow, _, _| sender.send(flow).expect("somebody looks");
    let (remote, _) = worker_inbox().expect("an inbox");
    let present = Arc::new(AtomicU32::new(there));
    let (take_in, has_left) = (Box::new(take_in), false);
    let entrance = Entrance { take_in, speaks_prefaces: true, has_left, present, remote };
    (entrance, came)
}

fn arrival() -> Arrival {
    Arrival { connect_ns: Some(7), ..Arrival::default() }
}

#[test]
fn a_flow_comes_past_the_session_only_where_that_need_not_hear_of_it() {
    let entrances = Entrances::new(Ledger::default(), false);
    let way_in = entrances.way_in();
    let comes = |number, arrival| way_in.admit(FlowId(number), socket(), arrival).is_ok();
    let (few, came_to_few) = entrance(1);
    let (many, came_to_many) = entrance(2);
    entrances.add(many);
    entrances.add(few);
    assert!(!comes(4, arrival()), "not all workers have started");
    entrances.open(false, None);
    assert!(comes(5, arrival()));
    let named = Arrival { called: Some("it".to_owned()), ..arrival() };
    assert!(!comes(6, named), "its name is told");
    assert_eq!((came_to_few.try_recv(), entrances.present()), (Ok(FlowId(5)), 4));
    assert!(came_to_many.try_recv().is_err());
    assert_eq!(entrances.take_connects().map(|connects| connects.count()), Some(1));
    entrances.close();
    assert!(!comes(7, arrival()), "nobody comes any more");
    assert!(came_to_few.recv().is_err(), "the worker sees that none will come");
    drop(entrances);
    assert!(!comes(8, arrival()), "its session is gone");
}

#[test]
fn a_flow_hears_what_was_said_of_it_before_it_came() {
    let mut ahead = Ahead::default();
    let told = |ahead: &mut Ahead, flow| ahead.came(FlowId(flow)).collect::<Vec<_>>();
    ahead.note(Some(FlowId(3)), Event::PeerFailed);
    ahead.note(Some(FlowId(4)), Event::PeerTotal(9));
    assert_eq!(told(&mut ahead, 3), [Event::PeerFailed]);
    ahead.note(Some(FlowId(3)), Event::PeerFailed);
    assert!(told(&mut ahead, 3).is_empty(), "who has come was told then");
    ahead.note(None, Event::Stop);
    assert_eq!(told(&mut ahead, 4), [Event::Stop, Event::PeerTotal(9)]);
}
