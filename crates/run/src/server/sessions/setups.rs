//! Tests of datagrams whose flows bear no token: each is known by nothing but the address that it comes from, and so the flows of
//! one test of an address are awaited at a time. Addresses of a network that was allowed count as one: a client whose flows come from
//! another address than its words, as behind some translators, has its place there. Not here: flows that say for which seat they are
//! (`sessions`), nor connections that say whose they are (`gathering`).

#[cfg(test)]
mod tests;

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

/// Where an address is of: the widest network that was allowed and has it, or itself alone. This machine's own is of no network that has
/// others': what is sent to who calls from here has no cap, and nobody elsewhere is to have it.
fn place_of(allowed: &[Network], address: IpAddr) -> Network {
    let address = address.to_canonical();
    let own_bits = match address {
        _ if !address.is_loopback() => 0,
        IpAddr::V4(_) => 8,
        IpAddr::V6(_) => 128,
    };
    let of = allowed.iter().filter(|it| it.contains(address) && it.bits() >= own_bits);
    let widest = of.min_by_key(|network| network.bits());
    widest.copied().unwrap_or_else(|| Network::of(address, u8::MAX))
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

    fn place_of(&self, address: IpAddr) -> Network {
        place_of(&self.settings.allow, address)
    }

    /// Ends tests that keep others of their address waiting, and says when to look again.
    pub fn keep_turns(&self, now: Tick) -> Option<Tick> {
        let setups = &mut lock(&self.state).setups;
        setups.expire(now);
        setups.next_deadline()
    }
}
