//! Whose datagrams were answered, and how many of them: bounded in memory, in what one address gets, and in what is told of them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::{Period, count, counted};
use pathscope_peers::limits::Origin;

/// Clients at once, each path of one counted.
const MOST: usize = 1_024;
/// Of those, from one address (IPv6: one /64).
const MOST_OF_SITE: u32 = 128;
/// What one address gets in a second (IPv6: one /64): 246 Mbit/s of 1,024 bytes.
const MOST_PER_SECOND: u32 = 30_000;
const SECOND: Duration = Duration::from_secs(1);
/// One of whom nothing came for so long is gone: longer than the slowest rate leaves between two groups of datagrams.
const SILENCE: Duration = Duration::from_secs(10);

/// What becomes of a datagram that could be answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    /// It is answered.
    Answer,
    /// It is, and its client is a new one.
    Begins,
    /// Its address has got as many answers in this second as it gets.
    TooMany,
    /// There is no room for another client; whether that was said before.
    Full { is_told: bool },
}

/// All that are there.
#[derive(Debug, Default)]
pub(super) struct Clients {
    there: HashMap<SocketAddr, Client>,
    sources: HashMap<Origin, Source>,
    /// When it is looked next who is silent.
    look_at: Option<Tick>,
    is_full_told: bool,
}

/// One.
#[derive(Debug)]
struct Client {
    since: Tick,
    last: Tick,
    answered: u64,
    too_many: u64,
    unsent: u64,
}

/// An address, or the part of it that a site has.
#[derive(Debug)]
struct Source {
    clients: u32,
    since: Tick,
    in_second: u32,
}

impl Clients {
    /// A datagram came from there that could be answered.
    pub fn heard(&mut self, from: SocketAddr, now: Tick) -> Verdict {
        let begins = !self.there.contains_key(&from);
        if begins && self.there.len() >= MOST {
            return Verdict::Full { is_told: std::mem::replace(&mut self.is_full_told, true) };
        }
        let source = self.sources.entry(Origin::of(from.ip())).or_insert(Source {
            clients: 0,
            since: now,
            in_second: 0,
        });
        if begins && source.clients >= MOST_OF_SITE {
            return Verdict::TooMany;
        }
        source.clients += u32::from(begins);
        if now.since(source.since) >= SECOND {
            (source.since, source.in_second) = (now, 0);
        }
        let is_within = source.in_second < MOST_PER_SECOND;
        source.in_second += u32::from(is_within);
        let new = Client { since: now, last: now, answered: 0, too_many: 0, unsent: 0 };
        let client = self.there.entry(from).or_insert(new);
        client.last = now;
        client.too_many += u64::from(!is_within);
        self.look_at.get_or_insert(now + SILENCE);
        match (is_within, begins) {
            (false, _) => Verdict::TooMany,
            (true, true) => Verdict::Begins,
            (true, false) => Verdict::Answer,
        }
    }

    /// What became of its answer.
    pub fn answered(&mut self, to: SocketAddr, is_sent: bool) {
        if let Some(client) = self.there.get_mut(&to) {
            *if is_sent { &mut client.answered } else { &mut client.unsent } += 1;
        }
    }

    /// When it is to be looked who is silent.
    pub const fn next_look(&self) -> Option<Tick> {
        self.look_at
    }

    /// Those who have been silent for so long that they are gone, each with a line on what it got.
    pub fn leave_silent(&mut self, now: Tick) -> Vec<(SocketAddr, String)> {
        if self.look_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        let gone: Vec<_> =
            self.there.extract_if(|_, client| now.since(client.last) >= SILENCE).collect();
        let earliest = self.there.values().map(|client| client.last).min();
        self.look_at = earliest.map(|last| last + SILENCE);
        self.is_full_told &= self.there.len() >= MOST;
        for (from, _) in &gone {
            let place = Origin::of(from.ip());
            if let Some(source) = self.sources.get_mut(&place) {
                source.clients -= 1;
                if source.clients == 0 {
                    self.sources.remove(&place);
                }
            }
        }
        gone.into_iter().map(|(from, client)| (from, client.line())).collect()
    }

    /// All who are there when the server ends.
    pub fn leave_all(&mut self) -> Vec<String> {
        let all = std::mem::take(self).there;
        all.into_iter().map(|(from, client)| format!("{from}: {}", client.line())).collect()
    }
}

impl Client {
    /// What it got.
    fn line(&self) -> String {
        let over = Period(self.last.nanos_since(self.since));
        let too_many = (self.too_many > 0).then(|| {
            let (more, most) = (count(self.too_many), count(MOST_PER_SECOND.into()));
            format!("{more} more were not, since one address gets {most} a second")
        });
        let unsent = (self.unsent > 0)
            .then(|| format!("the system did not take {} more", count(self.unsent)));
        let echoed = format!("{} echoed in {over}", counted(self.answered, "datagram"));
        [Some(echoed), too_many, unsent].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn at(nanos: u64) -> Tick {
        Tick::from_nanos(7 * S + nanos)
    }

    fn client(typed: &str) -> SocketAddr {
        typed.parse().expect("an address")
    }

    #[test]
    fn who_is_silent_is_gone_and_told_of_once() {
        let mut clients = Clients::default();
        let (one, other) = (client("192.0.2.1:5000"), client("192.0.2.1:5001"));
        assert_eq!(clients.next_look(), None);
        assert_eq!(clients.heard(one, at(0)), Verdict::Begins);
        clients.answered(one, true);
        assert_eq!(clients.heard(one, at(2 * S)), Verdict::Answer);
        clients.answered(one, true);
        assert_eq!(clients.heard(other, at(5 * S)), Verdict::Begins);
        clients.answered(other, false);
        assert!(clients.leave_silent(at(11 * S)).is_empty());
        let gone = clients.leave_silent(at(12 * S));
        assert_eq!(gone, [(one, "2 datagrams echoed in 2 s".to_owned())]);
        assert_eq!(clients.next_look(), Some(at(15 * S)));
        let line = "192.0.2.1:5001: 0 datagrams echoed in 0 s; the system did not take 1 more";
        assert_eq!(clients.leave_all(), [line]);
        assert_eq!(clients.heard(one, at(20 * S)), Verdict::Begins, "it is back");
    }

    #[test]
    fn one_address_gets_so_many_a_second_whatever_its_ports() {
        let mut clients = Clients::default();
        for number in 0..MOST_PER_SECOND {
            let from = client(&format!("[2001:db8::{:x}]:9", number % 7));
            assert_ne!(clients.heard(from, at(number.into())), Verdict::TooMany);
        }
        // Of the same /64, and one of another.
        let (same, another) = (client("[2001:db8::ff]:9"), client("[2001:db8:1::]:9"));
        assert_eq!(clients.heard(same, at(S / 2)), Verdict::TooMany);
        assert_eq!(clients.heard(another, at(S / 2)), Verdict::Begins);
        assert_eq!(clients.heard(same, at(S)), Verdict::Answer);
        let gone = clients.leave_silent(at(20 * S));
        let (_, line) = gone.iter().find(|(from, _)| *from == same).expect("it was there");
        let expected =
            "0 datagrams echoed in 500 ms; 1 more were not, since one address gets 30,000 a second";
        assert_eq!(line, expected);
        assert!(clients.sources.is_empty() && clients.there.is_empty());
    }

    #[test]
    fn one_address_takes_no_more_than_its_places() {
        let mut clients = Clients::default();
        let port = |port: u32| SocketAddr::new(IpAddr::from([192, 0, 2, 1]), port as u16);
        for number in 1..=MOST_OF_SITE {
            assert_eq!(clients.heard(port(number), at(0)), Verdict::Begins);
        }
        assert_eq!(clients.heard(port(MOST_OF_SITE + 1), at(1)), Verdict::TooMany);
        assert_eq!(clients.heard(port(1), at(1)), Verdict::Answer, "it has its place");
        assert_eq!(clients.heard(client("192.0.2.2:9"), at(1)), Verdict::Begins);
    }

    #[test]
    fn neighbours_on_one_link_are_no_site() {
        let mut clients = Clients::default();
        for _ in 0..=MOST_PER_SECOND {
            clients.heard(client("[fe80::1]:9"), at(0));
        }
        assert_eq!(clients.heard(client("[fe80::1]:9"), at(1)), Verdict::TooMany);
        assert_eq!(clients.heard(client("[fe80::2]:9"), at(1)), Verdict::Begins);
    }

    #[test]
    fn memory_does_not_grow_with_those_who_come() {
        let mut clients = Clients::default();
        for number in 0..MOST as u16 {
            let site = (number / MOST_OF_SITE as u16) as u8;
            let from = SocketAddr::new(IpAddr::from([192, 0, 2, 10 + site]), 1 + number);
            assert_eq!(clients.heard(from, at(0)), Verdict::Begins);
        }
        let late = client("192.0.2.2:9");
        assert_eq!(clients.heard(late, at(1)), Verdict::Full { is_told: false });
        assert_eq!(clients.heard(late, at(2)), Verdict::Full { is_told: true });
        assert_eq!(clients.leave_silent(at(10 * S)).len(), MOST);
        assert_eq!(clients.heard(late, at(11 * S)), Verdict::Begins);
    }
}
