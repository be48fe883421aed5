//! Sockets on their way to the threads that hold them: handed over so many with one call, of which their session hears together. Of very
//! many connections each would wake two threads otherwise. When they have to be on their way is told by whoever makes or accepts them.

use std::net::SocketAddr;

use pathscope_core::id::FlowId;
use pathscope_flow::GroupId;
use pathscope_os::sockets::Socket;

use crate::holders::Holders;
use crate::messages::attendance::Arrival;
use crate::messages::inbox::{HeldFirst, HeldSocket, Inbox, SessionMessage};

/// So many are handed over at once, however many more there are: a call takes as many.
const AT_ONCE: usize = 64;

/// Those of one group that are on their way.
#[derive(Debug)]
pub(crate) struct Handing {
    group: GroupId,
    holders: Holders,
    inbox: Inbox,
    sockets: Vec<(u32, Socket)>,
    told: Vec<(FlowId, HeldSocket, Arrival)>,
}

impl Handing {
    /// To these holders, of which this session hears.
    pub fn new(group: GroupId, holders: Holders, inbox: Inbox) -> Self {
        Self { group, holders, inbox, sockets: Vec::new(), told: Vec::new() }
    }

    /// One more, between these addresses.
    pub fn add(
        &mut self,
        flow: FlowId,
        socket: Socket,
        addresses: [Option<SocketAddr>; 2],
        arrival: Arrival,
    ) {
        // Streams have no room to be told.
        let first = |socket: &Socket| Box::new(HeldFirst { facts: socket.facts(), room: None });
        let first = (flow == self.holders.first()).then(|| first(&socket));
        self.told.push((flow, HeldSocket { addresses, first }, arrival));
        self.sockets.push((flow.0, socket));
        if self.sockets.len() >= AT_ONCE {
            self.go();
        }
    }

    /// All that there are go.
    pub fn go(&mut self) {
        if self.sockets.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.told);
        let given = self.holders.give(std::mem::take(&mut self.sockets));
        self.inbox.post(match given {
            Ok(_) => SessionMessage::AttachedTogether { group: self.group, all },
            Err(error) => SessionMessage::AttachFailed(error),
        });
    }
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use pathscope_os::Waker;

    use super::*;

    #[test]
    fn those_that_go_together_are_held_when_their_session_hears_of_them() {
        let waker = Waker::new().expect("a waker");
        // Flows in two tables, of which the first that comes is not the first of its group.
        let Ok(holders) = Holders::start(&[3..5, 5..300], None, &waker) else {
            return println!("skipped, because this system has no tables for threads");
        };
        let (inbox, reader) = Inbox::new(waker);
        let mut handing = Handing::new(GroupId(0), holders.clone(), inbox);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("it is bound");
        let connect = || Socket::from(TcpStream::connect(address).expect("it listens"));
        let mut told = Vec::new();
        let mut hear = || {
            let mut held = holders.ask(|flow, socket| socket.local_addr().ok().map(|_| flow.0));
            while let Some(word) = reader.take() {
                let SessionMessage::AttachedTogether { all, .. } = word else {
                    panic!("another word: {word:?}")
                };
                told.extend(all.iter().map(|(flow, held, _)| (flow.0, held.first.is_some())));
            }
            let mut flows: Vec<u32> = told.iter().map(|(flow, _)| *flow).collect();
            flows.sort_unstable();
            held.sort_unstable();
            assert_eq!(held, flows, "what is held is told, and nothing else");
            told.iter().filter(|(_, has_facts)| *has_facts).count()
        };
        for flow in [4, 6, 3, 5] {
            handing.add(FlowId(flow), connect(), [None; 2], Arrival::default());
        }
        assert_eq!(hear(), 0, "none has gone");
        handing.go();
        assert_eq!(hear(), 1, "how the first of the group is set");
        handing.go();
        for flow in 7..7 + AT_ONCE as u32 {
            handing.add(FlowId(flow), connect(), [None; 2], Arrival::default());
        }
        // As many as go at once do not wait for others.
        assert_eq!(hear(), 1);
    }
}
