//! Tests of `turns`: what is told by a thread that can wait for nothing any more.

use std::fs::File;
use std::sync::mpsc::channel;

use pathscope_core::id::FlowId;

use super::*;

/// A worker that only waits.
struct Waiting(Sender<Option<String>>);

impl Turns for Waiting {
    fn turn(&mut self, _events: &[Event], _lent: &mut HashMap<LentSize, Lent>) -> Option<Tick> {
        Some(Tick::NEVER)
    }

    fn over(self: Box<Self>, why: Option<EngineError>) -> Sockets {
        self.0.send(why.map(|why| why.to_string())).expect("the test hears it");
        Vec::new()
    }
}

/// One that has a fault beside that.
struct Faulty;

impl Turns for Faulty {
    fn turn(&mut self, _events: &[Event], _lent: &mut HashMap<LentSize, Lent>) -> Option<Tick> {
        None
    }

    fn over(self: Box<Self>, _why: Option<EngineError>) -> Sockets {
        panic!("a fault");
    }
}

/// A worker that is to begin, and tells whether it could not.
fn beginning(key: u64, told: &Sender<Option<String>>) -> Word {
    let told = told.clone();
    let open = move |_: &Arc<OwnedFd>, sockets: Result<Vec<Socket>, EngineError>| {
        told.send(sockets.err().map(|why| why.to_string())).expect("the test hears it");
        None
    };
    Word::Begin(Beginning { key, handed: 0, here: Vec::new(), open: Box::new(open) })
}

#[test]
fn each_that_runs_or_is_to_begin_is_told_that_nothing_can_be_waited_for() {
    let ((sender, receiver), (ready, _)) = (channel(), channel());
    let own = Loop { wakers: Wakers::new().expect("a waker"), receiver, ready };
    // Nothing that could be waited with.
    let nothing = File::open("/dev/null").expect("it is there");
    let mut sharing = Sharing::new(own, Arc::new(nothing.into()), None);
    let (told, hears) = channel();
    let running: [Box<dyn Turns>; 3] =
        [Box::new(Faulty), Box::new(Waiting(told.clone())), Box::new(Waiting(told.clone()))];
    for (key, turns) in (1..).zip(running) {
        sharing.workers.insert(key, Held { turns, deadline: Tick::NEVER });
    }
    let (asked, answered) = channel();
    let ask = move |kept: &[(FlowId, Socket)]| asked.send(kept.len()).expect("the test hears it");
    sender.send(beginning(4, &told)).expect("it is there");
    sender.send(Word::Ask { key: 2, ask: Box::new(ask) }).expect("it is there");
    sender.send(beginning(5, &told)).expect("it is there");
    drop((sender, told));
    sharing.run();
    let why = "cannot wait for sockets: EINVAL";
    assert_eq!(hears.iter().collect::<Vec<_>>(), vec![Some(why.to_owned()); 4]);
    assert_eq!(answered.recv(), Ok(0));
}
