//! Sessions whose connections bear no token, as long as some of them have not come: the thread that listens knows of each what
//! tells that it is of the same client, and leaves it in the session's inbox. Which flow's it becomes is the session's affair.

use std::any::Any;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpStream};

use pathscope_peers::joining::Identity;
use pathscope_peers::registry::PeerKind;

use crate::messages::door::Door;
use crate::messages::inbox::{Inbox, SessionMessage};

/// Of which kind of client, and of which one.
pub(super) type Client = (PeerKind, Identity);

/// Other addresses from which clients take part in sessions, at the most, while those are there. More than may take part in one are heard, and told so.
const MOST_TAKING_PART: usize = 64;

/// Sessions that await connections.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    sessions: HashMap<Client, Awaiting>,
    /// Clients that take part in a session which another has begun, with that one.
    taking_part: HashMap<Client, Client>,
}

#[derive(Debug)]
struct Awaiting {
    inbox: Inbox,
    door: Door,
    /// So many have not come yet, never none.
    missing: u64,
    at_once: u64,
    /// Whether it began with a connection for words: whoever comes from there is of it as long as it is there.
    is_led: bool,
    /// Its flows of datagrams that have begun by themselves, by both ends' addresses, and in which order.
    flows: HashMap<Ends, u32>,
    /// Whether it was told that some are left out.
    has_told_left_out: bool,
}

impl Awaiting {
    /// Whether it began with a connection for words, and is there.
    fn is_led(&self) -> bool {
        self.is_led && self.inbox.is_read()
    }
}

/// The other end's address, and this one's.
pub(super) type Ends = (SocketAddr, SocketAddr);

/// Whose a datagram is that says nothing.
#[derive(Debug)]
pub(super) enum Caller {
    /// It begins a flow of the session that reads this, as the so many-th.
    Begins(Inbox, u32),
    /// It is of one that has begun so.
    Known(Inbox, u32),
    /// It is of its session's client, and of none of its flows: more than it may have, or too late for its test. Whether that is new.
    LeftOut(bool),
    /// Nobody awaits it.
    Stranger,
}

impl Gathering {
    /// A session begins that is of so many connections.
    /// At once it has no more than `at_once`: while as many are on their way to it, each is one too many.
    pub fn begin(
        &mut self,
        client: Client,
        (inbox, door): (Inbox, Door),
        (connections, at_once): (u64, u64),
    ) {
        // Who has gone before all had come is forgotten with the next that begins: no more stay than there were sessions.
        self.sessions.retain(|_, awaiting| awaiting.inbox.is_read());
        self.forget_those_of_no_session();
        if connections > 0 {
            let awaiting = Awaiting {
                inbox,
                door,
                missing: connections,
                at_once,
                is_led: false,
                flows: HashMap::new(),
                has_told_left_out: false,
            };
            self.sessions.insert(client, awaiting);
        }
    }

    /// The same of one that began with a connection for words.
    pub fn lead(&mut self, client: Client, (inbox, door): (Inbox, Door), at_once: u64) {
        self.begin(client, (inbox, door), (u64::MAX, at_once));
        self.sessions.entry(client).and_modify(|awaiting| awaiting.is_led = true);
    }

    /// Whether this client has a session that began so.
    pub fn is_led(&self, client: Client) -> bool {
        self.sessions.get(&self.leader_of(client)).is_some_and(Awaiting::is_led)
    }

    /// The client whose session of this kind began so, where all clients of the kind take part in one.
    pub fn leader(&self, kind: PeerKind) -> Option<Client> {
        let led = self.sessions.iter().find(|(client, it)| client.0 == kind && it.is_led());
        led.map(|(client, _)| *client)
    }

    /// One more client takes part in the session of that one, and is heard on this connection, with its place at the server. The
    /// connection comes back where it is too late for that.
    pub fn participate(
        &mut self,
        (client, leader): (Client, Client),
        stream: TcpStream,
        place: Box<dyn Any + Send>,
    ) -> Option<TcpStream> {
        let is_another = client != leader && !self.taking_part.contains_key(&client);
        if is_another && self.taking_part.len() >= MOST_TAKING_PART {
            self.forget_those_of_no_session();
        }
        let Some(awaiting) = self.sessions.get(&leader) else { return Some(stream) };
        let is_full = is_another && self.taking_part.len() >= MOST_TAKING_PART;
        let is_crowded = awaiting.door.on_the_way() >= awaiting.at_once;
        if is_full || is_crowded || !awaiting.door.enter() {
            return Some(stream);
        }
        let word = SessionMessage::Participates { stream, place };
        // It has ended since it was looked for.
        if let Some(SessionMessage::Participates { stream, .. }) = awaiting.inbox.hand(word) {
            return Some(stream);
        }
        if client != leader {
            self.taking_part.insert(client, leader);
        }
        None
    }

    /// Who took part in a session that is over takes part in none.
    fn forget_those_of_no_session(&mut self) {
        let sessions = &self.sessions;
        let is_there = |leader: &Client| sessions.get(leader).is_some_and(|it| it.inbox.is_read());
        self.taking_part.retain(|_, leader| is_there(leader));
    }

    /// By whom the session began that this client has.
    fn leader_of(&self, client: Client) -> Client {
        self.taking_part.get(&client).copied().unwrap_or(client)
    }

    /// A datagram of this client has come, between these ends.
    pub fn call(&mut self, client: Client, ends: Ends) -> Caller {
        let leader = self.leader_of(client);
        let awaiting = self.sessions.get_mut(&leader);
        let hears = |it: &&mut Awaiting| it.inbox.is_read() && it.door.is_for_datagrams();
        let Some(awaiting) = awaiting.filter(hears) else { return Caller::Stranger };
        if let Some(&place) = awaiting.flows.get(&ends) {
            return Caller::Known(awaiting.inbox.clone(), place);
        }
        let has_room = awaiting.door.on_the_way() < awaiting.at_once;
        if !(has_room && awaiting.door.enter()) {
            return Caller::LeftOut(!std::mem::replace(&mut awaiting.has_told_left_out, true));
        }
        let place = awaiting.flows.len() as u32;
        awaiting.flows.insert(ends, place);
        Caller::Begins(awaiting.inbox.clone(), place)
    }

    /// A connection of this client has come, which is answered so: its session is told. Both come back where there is none that
    /// awaits it.
    pub fn join(
        &mut self,
        client: Client,
        stream: TcpStream,
        answer: Vec<u8>,
    ) -> Option<(TcpStream, Vec<u8>)> {
        let client = self.leader_of(client);
        let awaiting = self.sessions.get_mut(&client);
        let Some(awaiting) = awaiting.filter(|it| it.inbox.is_read()) else {
            return Some((stream, answer));
        };
        if awaiting.door.on_the_way() >= awaiting.at_once {
            // It is closed: they would take more descriptors from everybody else than the session itself may.
            return None;
        }
        if !awaiting.door.enter() {
            // It comes too late for a test that has words of its own: that is no other test's.
            return Some((stream, answer)).filter(|_| !awaiting.is_led);
        }
        let word = SessionMessage::Joined { stream, answer };
        if let Some(SessionMessage::Joined { stream, answer }) = awaiting.inbox.hand(word) {
            return Some((stream, answer));
        }
        awaiting.missing -= 1;
        if awaiting.missing == 0 {
            self.sessions.remove(&client);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use pathscope_os::Waker;
    use pathscope_peers::joining::Cookie;

    use super::*;

    fn client(letter: u8) -> Client {
        (PeerKind::OWN, Identity::Cookie(Cookie([letter; Cookie::BYTES])))
    }

    /// One more connection of this client comes; whether it is nobody's.
    fn comes_back(gathering: &mut Gathering, client: Client, listener: &TcpListener) -> bool {
        let address = listener.local_addr().expect("bound");
        let stream = TcpStream::connect(address).expect("it listens");
        gathering.join(client, stream, Vec::new()).is_some()
    }

    #[test]
    fn each_connection_is_its_client_s_session_s_until_all_have_come() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let inbox = || Inbox::new(Waker::new().expect("a waker"));
        let ((one, of_one), (other, of_other)) = (inbox(), inbox());
        assert!(comes_back(&mut gathering, client(b'a'), &listener), "nobody waits yet");
        gathering.begin(client(b'a'), (one, Door::default()), (2, 9));
        gathering.begin(client(b'b'), (other, Door::default()), (1, 9));
        for letter in *b"aba" {
            assert!(!comes_back(&mut gathering, client(letter), &listener));
        }
        assert_eq!(of_one.take_all().count(), 2);
        assert_eq!(of_other.take_all().count(), 1);
        for letter in *b"ab" {
            let back = comes_back(&mut gathering, client(letter), &listener);
            assert!(back, "all have come: this one begins another session");
        }
    }

    #[test]
    fn a_session_that_is_gone_awaits_nobody_and_is_forgotten() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        gathering.begin(client(b'a'), (inbox.clone(), Door::default()), (9, 9));
        drop(reader);
        assert!(comes_back(&mut gathering, client(b'a'), &listener));
        gathering.begin(client(b'b'), (inbox, Door::default()), (0, 9));
        assert!(gathering.sessions.is_empty());
    }

    #[test]
    fn a_session_that_has_closed_its_door_gets_nobody() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, _reader) = Inbox::new(Waker::new().expect("a waker"));
        let door = Door::default();
        gathering.begin(client(b'a'), (inbox, door.clone()), (u64::MAX, 9));
        assert!(!comes_back(&mut gathering, client(b'a'), &listener));
        assert!(door.close(1));
        assert!(comes_back(&mut gathering, client(b'a'), &listener));
    }

    #[test]
    fn no_more_are_on_their_way_to_a_session_than_it_may_have() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        let door = Door::default();
        gathering.begin(client(b'a'), (inbox, door.clone()), (u64::MAX, 2));
        for _ in 0..5 {
            assert!(!comes_back(&mut gathering, client(b'a'), &listener));
        }
        assert_eq!(reader.take_all().count(), 2, "the others were closed");
        door.hear(2);
        assert!(!comes_back(&mut gathering, client(b'a'), &listener));
        assert_eq!(reader.take_all().count(), 1);
        assert!(door.close(3), "who was closed is awaited by nobody");
    }

    #[test]
    fn a_session_that_began_with_words_keeps_its_client_for_itself_as_long_as_it_is_there() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        let door = Door::default();
        assert!(!gathering.is_led(client(b'a')));
        gathering.lead(client(b'a'), (inbox, door.clone()), 9);
        assert!(gathering.is_led(client(b'a')) && !gathering.is_led(client(b'b')));
        assert!(!comes_back(&mut gathering, client(b'a'), &listener));
        assert_eq!(reader.take_all().count(), 1);
        assert!(door.close(1));
        assert!(!comes_back(&mut gathering, client(b'a'), &listener), "it is closed");
        assert_eq!(reader.take_all().count(), 0);
        drop(reader);
        assert!(!gathering.is_led(client(b'a')));
        assert!(comes_back(&mut gathering, client(b'a'), &listener));
    }

    #[test]
    fn who_takes_part_in_the_session_of_another_is_of_it_with_all_that_comes_from_there() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        let door = Door::default();
        let [first, second, other] = [b'a', b'b', b'c'].map(client);
        let participate = |gathering: &mut Gathering, who| {
            let address = listener.local_addr().expect("bound");
            let stream = TcpStream::connect(address).expect("it listens");
            gathering.participate((who, first), stream, Box::new(())).is_none()
        };
        assert_eq!(gathering.leader(PeerKind::OWN), None);
        assert!(!participate(&mut gathering, second), "there is none");
        gathering.lead(first, (inbox, door.clone()), 9);
        assert_eq!(gathering.leader(PeerKind::OWN), Some(first));
        assert_eq!(gathering.leader(PeerKind::Ntttcp), None, "another kind's");
        // One of the same address may take part as well.
        assert!([first, second].into_iter().all(|who| participate(&mut gathering, who)));
        assert!(gathering.is_led(second) && !gathering.is_led(other));
        assert!(!comes_back(&mut gathering, second, &listener), "it is a flow's of the session");
        assert!(comes_back(&mut gathering, other, &listener), "it takes no part");
        assert_eq!(reader.take_all().count(), 3);
        door.hear(3);
        assert!(door.close(3));
        assert!(!participate(&mut gathering, other), "it is too late");
        drop(reader);
        assert!(!gathering.is_led(second) && gathering.leader(PeerKind::OWN).is_none());
        let (inbox, _reader) = Inbox::new(Waker::new().expect("a waker"));
        gathering.lead(second, (inbox, Door::default()), 9);
        assert_eq!(gathering.leader(PeerKind::OWN), Some(second));
        assert!(gathering.taking_part.is_empty(), "nobody takes part in what is over");
    }

    #[test]
    fn no_more_addresses_are_known_to_take_part_than_may_whoever_calls() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        gathering.lead(client(0), (inbox, Door::default()), u64::MAX);
        let mut participate = |letter| {
            let address = listener.local_addr().expect("bound");
            let stream = TcpStream::connect(address).expect("it listens");
            gathering.participate((client(letter), client(0)), stream, Box::new(())).is_none()
        };
        let most = MOST_TAKING_PART as u8;
        assert!((0..=most).all(&mut participate));
        assert!(!participate(most + 1) && participate(most), "who is known may come again");
        assert_eq!(reader.take_all().count(), MOST_TAKING_PART + 2);
    }

    /// Between this port of a client's and ours.
    fn ends(port: u16) -> Ends {
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        (at(port), at(5_001))
    }

    fn place(caller: &Caller) -> (char, u32) {
        match caller {
            Caller::Begins(_, place) => ('b', *place),
            Caller::Known(_, place) => ('k', *place),
            Caller::LeftOut(is_new) => ('l', u32::from(*is_new)),
            Caller::Stranger => ('s', 0),
        }
    }

    #[test]
    fn a_datagram_begins_a_flow_of_a_session_that_says_so_and_is_known_from_then_on() {
        let mut gathering = Gathering::default();
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        let door = Door::default();
        let call = |gathering: &mut Gathering, letter, port| {
            place(&gathering.call(client(letter), ends(port)))
        };
        assert_eq!(call(&mut gathering, b'a', 7), ('s', 0), "nobody is there");
        gathering.lead(client(b'a'), (inbox, door.clone()), 3);
        assert_eq!(call(&mut gathering, b'a', 7), ('s', 0), "it has not said that it begins");
        door.open_for_datagrams();
        let places = [7, 8, 7].map(|port| call(&mut gathering, b'a', port));
        assert_eq!(places, [('b', 0), ('b', 1), ('k', 0)]);
        assert_eq!(call(&mut gathering, b'b', 7), ('s', 0), "another client");
        // No more are on their way to it than it may have.
        let places = [9, 10, 10].map(|port| call(&mut gathering, b'a', port));
        assert_eq!(places, [('b', 2), ('l', 1), ('l', 0)]);
        door.hear(3);
        assert!(door.close(3));
        let places = [11, 9].map(|port| call(&mut gathering, b'a', port));
        assert_eq!(
            places,
            [('l', 0), ('k', 2)],
            "it is too late for a flow, and not for one that is there"
        );
        drop(reader);
        assert_eq!(call(&mut gathering, b'a', 9), ('s', 0), "the session is over");
    }
}
