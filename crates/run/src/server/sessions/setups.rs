//! Tests of datagrams whose flows bear no token: each is known by nothing but the address that it comes from, and so the flows of
//! one test of an address are awaited at a time. Addresses of a network that was allowed count as one: a client whose flows come from
//! another address than its words, as behind some translators, has its place there. Not here: flows that say for which seat they are (`sessions`), nor connections that say whose
//! they are (`gathering`).

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::id::Token;
use pathscope_core::network::Network;
use pathscope_os::clock;

use super::Sessions;
use crate::messages::inbox::{Inbox, SessionMessage};
use crate::promised::Promised;
use crate::threads::lock;

/// A test of which no flow has come for so long is ended where another of its address waits: who is silent costs others no more.
const SILENCE: Duration = Duration::from_secs(2);

/// What it has in all beside, for each of its flows. They come one after another, each once the one before was answered, so that many of
/// them take as many round trips: this is more than one around the earth. Without an end of its own, who lets one flow come before each
/// silence is over would keep others waiting for minutes.
const EACH: Duration = Duration::from_millis(250);

/// What a test is told that was silent.
const SILENT: &str =
    "none of its UDP flows came for 2 s, and another test of its address waits for its turn";

/// What a test is told that took longer in all.
const TOO_LONG: &str = "its UDP flows took longer to come than 2 s and 250 ms for each of them, and another test of its \
                        address waits for its turn";

/// Whose flows are awaited, and who is next, by where they come from.
#[derive(Debug, Default)]
pub(super) struct Setups {
    of: HashMap<Network, VecDeque<Setup>>,
}

/// What came of a datagram that asks for a seat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::server) enum Called {
    /// It is of a test, or comes where none awaits anything more.
    Heard,
    /// No test is awaited from there, and one is from this network: whose flows do not come from where its words do.
    Elsewhere(Network),
}

/// A test whose flows are to come.
#[derive(Debug)]
struct Setup {
    /// Names the test.
    token: Token,
    inbox: Inbox,
    /// So many of its flows have not come.
    missing: u32,
    /// Where the others are.
    came: Vec<SocketAddr>,
    /// Whether it was told that somebody else asks, while nothing of it had come.
    has_told: bool,
    /// When it has had its turn for long enough, whatever comes.
    until: Tick,
    /// Since when nothing of it has come, from the begin of its turn on.
    since: Tick,
}

impl Setups {
    /// A test of so many flows, from there, is to be set up. Whether it is its turn: else it is told when it is.
    pub fn enter(
        &mut self,
        place: Network,
        token: Token,
        (inbox, flows): (Inbox, u32),
        now: Tick,
    ) -> bool {
        let queue = self.of.entry(place).or_default();
        let is_first = queue.is_empty();
        let (missing, came, has_told) = (flows, Vec::new(), false);
        let mut setup = Setup { token, inbox, missing, came, has_told, until: now, since: now };
        setup.count_from(now);
        queue.push_back(setup);
        is_first
    }

    /// Nobody is awaited for this test any more.
    pub fn leave(&mut self, place: Network, token: Token, now: Tick) {
        let Some(queue) = self.of.get_mut(&place) else { return };
        let had_turn = queue.front().is_some_and(|first| first.token == token);
        queue.retain(|setup| setup.token != token);
        match queue.front_mut() {
            None => drop(self.of.remove(&place)),
            Some(next) if had_turn => next.begin(now),
            Some(_) => {}
        }
    }

    /// A datagram asks for a seat that came from there to here. Where there is one, it is told so, and its test hears of it, the first time. In
    /// this order: a client takes what comes first for the answer, and what a test sends must not be that.
    pub fn join(
        &mut self,
        place: Network,
        promised: Promised,
        tell: impl FnOnce(),
        now: Tick,
    ) -> Called {
        let remote = promised.remote;
        let queue = self.of.get_mut(&place);
        let Some(setup) = queue.and_then(VecDeque::front_mut) else { return self.unknown() };
        // Once the last has come, the test begins: what is repeated then gets no answer.
        if setup.missing == 0 {
            return Called::Heard;
        }
        tell();
        if setup.came.contains(&remote) {
            return Called::Heard;
        }
        setup.missing -= 1;
        setup.since = now;
        setup.came.push(remote);
        setup.inbox.post(SessionMessage::Called(promised));
        Called::Heard
    }

    /// What came of one from where nobody is awaited: told once of each test that it may be of.
    fn unknown(&mut self) -> Called {
        let may_be_its = |(place, queue): (&Network, &mut VecDeque<Setup>)| {
            let first = queue.front_mut().filter(|first| first.came.is_empty())?;
            (!std::mem::replace(&mut first.has_told, true)).then_some(*place)
        };
        self.of.iter_mut().find_map(may_be_its).map_or(Called::Heard, Called::Elsewhere)
    }

    /// When a test has had its turn for so long that others are not to wait for it.
    pub fn next_deadline(&self) -> Option<Tick> {
        let crowded = self.of.values().filter(|queue| queue.len() > 1);
        crowded.filter_map(|queue| Some(queue.front()?.ends_at())).min()
    }

    /// Ends those that have.
    pub fn expire(&mut self, now: Tick) {
        for queue in self.of.values_mut().filter(|queue| queue.len() > 1) {
            if queue.front().is_some_and(|first| now >= first.ends_at())
                && let Some(late) = queue.pop_front()
            {
                let why = if now >= late.until { TOO_LONG } else { SILENT };
                late.inbox.post(SessionMessage::Stop(why));
                queue.iter_mut().take(1).for_each(|next| next.begin(now));
            }
        }
    }
}

impl Setup {
    /// It has its turn.
    fn begin(&mut self, now: Tick) {
        self.count_from(now);
        self.inbox.post(SessionMessage::MayAttach);
    }

    /// What it has of time begins.
    fn count_from(&mut self, now: Tick) {
        self.since = now;
        self.until = now + SILENCE + EACH.saturating_mul(self.missing);
    }

    /// When others need not wait for it any longer.
    fn ends_at(&self) -> Tick {
        self.until.min(self.since + SILENCE)
    }
}

impl Sessions {
    /// Datagram flows of this test are awaited that say nothing of it: they come from this address. Whether it is its turn.
    pub fn set_up(&self, address: IpAddr, token: Token, awaits: (Inbox, u32)) -> bool {
        let place = self.place_of(address);
        let is_its_turn = lock(&self.state).setups.enter(place, token, awaits, clock::now());
        // Who has its turn may not keep it for ever from now on.
        self.listener.wake();
        is_its_turn
    }

    /// They are no longer.
    pub fn is_set_up(&self, address: IpAddr, token: Token) {
        lock(&self.state).setups.leave(self.place_of(address), token, clock::now());
    }

    /// A datagram flow calls that says nothing of its test. It is told where it has a place.
    pub fn take_call(&self, promised: Promised, tell: impl FnOnce()) -> Called {
        let place = self.place_of(promised.remote.ip());
        lock(&self.state).setups.join(place, promised, tell, clock::now())
    }

    /// Where an address is of: the widest network that was allowed and has it, or itself alone.
    fn place_of(&self, address: IpAddr) -> Network {
        let allowed = self.settings.allow.iter().filter(|network| network.contains(address));
        let widest = allowed.min_by_key(|network| network.bits());
        widest.copied().unwrap_or_else(|| Network::of(address, u8::MAX))
    }

    /// Ends tests that keep others of their address waiting, and says when to look again.
    pub fn keep_turns(&self, now: Tick) -> Option<Tick> {
        let setups = &mut lock(&self.state).setups;
        setups.expire(now);
        setups.next_deadline()
    }
}

#[cfg(test)]
mod tests {
    use pathscope_os::Waker;

    use super::*;
    use crate::messages::inbox::InboxReader;
    use crate::promised::Beside;

    const LOCAL: &str = "192.0.2.9:5201";

    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(9_000_000_000 + milliseconds * 1_000_000)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn place(text: &str) -> Network {
        text.parse().expect("a network")
    }

    fn enter(setups: &mut Setups, name: u8, flows: u32, ms: u64) -> (bool, InboxReader) {
        let (inbox, reader) = Inbox::new(Waker::new().expect("a waker"));
        (setups.enter(place("192.0.2.1"), Token([name; 16]), (inbox, flows), at(ms)), reader)
    }

    /// A datagram comes from this port; whether it is told so.
    fn comes(setups: &mut Setups, port: u16, ms: u64) -> bool {
        let (local, mut remote) = (address(LOCAL), address("192.0.2.1:1"));
        remote.set_port(port);
        let mut is_told = false;
        let promised = Promised { local, remote, beside: Beside::default() };
        setups.join(place("192.0.2.1"), promised, || is_told = true, at(ms));
        is_told
    }

    fn heard(reader: &InboxReader) -> Vec<String> {
        let word = |message| match message {
            SessionMessage::Called(promised) => promised.remote.port().to_string(),
            SessionMessage::MayAttach => "turn".to_owned(),
            SessionMessage::Stop(_) => "stop".to_owned(),
            other => panic!("{other:?}"),
        };
        reader.take_all().map(word).collect()
    }

    #[test]
    fn flows_are_the_test_s_whose_turn_it_is_each_once_and_no_more_than_it_has() {
        let mut setups = Setups::default();
        let ((is_first, one), (is_second, other)) =
            (enter(&mut setups, 1, 2, 0), enter(&mut setups, 2, 1, 1));
        assert!(is_first && !is_second);
        let answers = |setups: &mut Setups, from: &str, session: &InboxReader| {
            let mut is_told = false;
            let (local, remote) = (address(LOCAL), address(from));
            setups.join(
                Network::of(remote.ip(), u8::MAX),
                Promised { local, remote, beside: Beside::default() },
                || {
                    is_told = true;
                    let heard = heard(session);
                    assert!(heard.is_empty(), "it is told before its test hears of it: {heard:?}");
                },
                at(2),
            );
            is_told
        };
        let mut told = Vec::new();
        for port in [7, 7, 8, 9, 8] {
            let is_told = answers(&mut setups, &format!("192.0.2.1:{port}"), &one);
            told.push((is_told, heard(&one).concat()));
        }
        let told: Vec<(bool, &str)> =
            told.iter().map(|(is, heard)| (*is, heard.as_str())).collect();
        assert_eq!(told, [(true, "7"), (true, ""), (true, "8"), (false, ""), (false, "")]);
        assert!(!answers(&mut setups, "192.0.2.2:7", &one), "nobody waits for those");
        assert!(heard(&other).is_empty());
        setups.leave(place("192.0.2.1"), Token([1; 16]), at(5));
        assert_eq!(heard(&other), ["turn"]);
        assert!(answers(&mut setups, "192.0.2.1:9", &other));
        assert_eq!(heard(&other), ["9"]);
        setups.leave(place("192.0.2.1"), Token([2; 16]), at(6));
        assert!(setups.of.is_empty() && !answers(&mut setups, "192.0.2.1:9", &other));
    }

    #[test]
    fn of_who_asks_where_nobody_is_awaited_is_told_once_for_each_test_that_it_may_be_of() {
        let mut setups = Setups::default();
        let from = |setups: &mut Setups| {
            let (local, remote) = (address(LOCAL), address("203.0.113.7:9"));
            let promised = Promised { local, remote, beside: Beside::default() };
            setups.join(place("203.0.113.7"), promised, || panic!("nobody is awaited there"), at(1))
        };
        assert_eq!(from(&mut setups), Called::Heard, "no test is set up at all");
        let (_, one) = enter(&mut setups, 1, 2, 0);
        let (_, _other) = enter(&mut setups, 2, 2, 0);
        assert_eq!(from(&mut setups), Called::Elsewhere(place("192.0.2.1")));
        assert_eq!(from(&mut setups), Called::Heard);
        // Whose flows come from where its words do is none of those.
        setups.leave(place("192.0.2.1"), Token([1; 16]), at(2));
        assert!(comes(&mut setups, 7, 3) && heard(&one).is_empty());
        assert_eq!(from(&mut setups), Called::Heard);
    }

    #[test]
    fn who_is_slow_costs_others_two_seconds_and_nobody_where_none_waits() {
        let mut setups = Setups::default();
        let (_, slow) = enter(&mut setups, 1, 1, 0);
        assert_eq!(setups.next_deadline(), None);
        setups.expire(at(60_000));
        assert!(heard(&slow).is_empty(), "nobody waits");
        let (_, next) = enter(&mut setups, 2, 1, 60_000);
        let (_, last) = enter(&mut setups, 3, 1, 60_000);
        assert!(setups.next_deadline().is_some_and(|at_once| at_once <= at(60_000)));
        setups.expire(at(60_000));
        assert_eq!(
            (heard(&slow), heard(&next)),
            (vec!["stop".to_owned()], vec!["turn".to_owned()])
        );
        assert_eq!(setups.next_deadline(), Some(at(62_000)));
        setups.expire(at(61_999));
        assert!(heard(&last).is_empty());
        // One that leaves before its turn takes it from nobody.
        setups.leave(place("192.0.2.1"), Token([3; 16]), at(61_999));
        assert!(setups.next_deadline().is_none() && heard(&next).is_empty());
    }

    #[test]
    fn who_has_many_flows_and_a_long_way_has_time_for_each_and_not_for_ever() {
        // A round trip for each of 128: 128 flows of 30 ms take 3.84 s.
        let mut setups = Setups::default();
        let (_, far) = enter(&mut setups, 1, 128, 0);
        let (_, next) = enter(&mut setups, 2, 1, 0);
        for flow in 1..=128 {
            setups.expire(at(u64::from(flow) * 30));
            assert!(comes(&mut setups, flow, u64::from(flow) * 30), "flow {flow}");
        }
        assert_eq!(
            (heard(&far).len(), heard(&next).len()),
            (128, 0),
            "all came, and none was stopped"
        );
        setups.leave(place("192.0.2.1"), Token([1; 16]), at(3_841));
        assert_eq!(heard(&next), ["turn"]);

        // Who lets one come before each silence is over: 2 s and 250 ms for each of its eight, as it is no faster.
        let mut setups = Setups::default();
        let (_, slow) = enter(&mut setups, 1, 8, 0);
        let (_, next) = enter(&mut setups, 2, 1, 0);
        for (flow, ms) in [(1, 1_900), (2, 3_800)] {
            setups.expire(at(ms));
            assert!(comes(&mut setups, flow, ms), "flow {flow}");
        }
        assert_eq!(setups.next_deadline(), Some(at(4_000)));
        assert_eq!(
            (heard(&slow), heard(&next)),
            (vec!["1".to_owned(), "2".to_owned()], Vec::new())
        );
        setups.expire(at(4_000));
        assert_eq!(
            (heard(&slow), heard(&next)),
            (vec!["stop".to_owned()], vec!["turn".to_owned()])
        );
    }
}
