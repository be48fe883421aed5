//! Who is answered that need not prove where it is: this machine, who is on a network that one of its links is of, and who is of a network
//! that was allowed. Anybody else could have its answers sent to a third.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::network::Network;
use pathscope_os::routes;

use super::log_limit::ServerLog;

/// Networks come and go with their links: they are looked at so often.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Of those who are not answered one is told of in so long: scanners are many, and a client that comes after them would stay unnamed.
const TELL_EVERY: Duration = Duration::from_secs(3_600);

/// Those that are answered.
#[derive(Debug)]
pub(super) struct Near {
    allowed: Vec<Network>,
    on_links: Vec<Network>,
    look_at: Tick,
    /// From when on it is told how others are answered, too.
    tell_at: Tick,
}

impl Near {
    /// These networks, and those on the same link, as they are whenever somebody asks.
    pub fn new(allowed: &[Network]) -> Self {
        Self {
            allowed: allowed.to_vec(),
            on_links: Vec::new(),
            look_at: Tick::ZERO,
            tell_at: Tick::ZERO,
        }
    }

    /// Whether this address is answered.
    pub fn holds(&mut self, address: IpAddr, now: Tick) -> bool {
        if address.to_canonical().is_loopback() {
            return true;
        }
        if now >= self.look_at {
            self.look_at = now + LOOK_EVERY;
            // Where the system tells nothing, what was allowed is.
            let interfaces = routes::interfaces().unwrap_or_default();
            self.on_links = interfaces.into_iter().flat_map(|it| it.networks).collect();
        }
        // A network of all addresses is on no link.
        let mut on_links = self.on_links.iter().filter(|network| network.bits() > 0);
        on_links.any(|network| network.contains(address))
            || self.allowed.iter().any(|network| network.contains(address))
    }

    /// Whether one who is not answered now is told of.
    fn is_told(&mut self, now: Tick) -> bool {
        let is_told = now >= self.tell_at;
        if is_told {
            self.tell_at = now + TELL_EVERY;
        }
        is_told
    }

    /// The first in an hour of those who are not answered is told of, with what would have it answered.
    pub fn tell_how(&mut self, remote: SocketAddr, now: Tick, log: ServerLog<'_>) {
        if self.is_told(now) {
            let ip = remote.ip().to_canonical();
            let line = format!(
                "not answered, since it is on no network of this machine's links, and anybody could pretend to be it: --allow {ip} \
                 answers it, --allow with a network all of that (in words of ctsTraffic and MultipathLatencyAnalyzer -allow:{ip}). \
                 Others like it are not told of for an hour"
            );
            log.on_unanswered(remote, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pathscope_os::clock;

    use super::*;
    use crate::server::log_limit::LogLimit;

    #[test]
    fn the_first_who_is_not_answered_is_told_of_with_the_words_also_where_nothing_else_is() {
        let warned = Mutex::new(Vec::new());
        let warn = |line: &str| warned.lock().expect("nobody panics with it").push(line.to_owned());
        let log = ServerLog { say: &|_| {}, warn: Some(&warn), log_limit: &LogLimit::default() };
        let mut near = Near::new(&[]);
        for remote in ["203.0.113.9:5", "203.0.113.10:5"] {
            near.tell_how(remote.parse().expect("an address"), Tick::ZERO, log);
        }
        let warned = warned.into_inner().expect("nobody panics with it");
        let [line] = warned.as_slice() else { panic!("{warned:?}") };
        assert!(line.starts_with("203.0.113.9:5: not answered"), "{line}");
        for words in ["--allow 203.0.113.9 ", " -allow:203.0.113.9)"] {
            assert!(line.contains(words), "{words}: {line}");
        }
    }

    #[test]
    fn this_machine_is_near_and_a_stranger_where_it_is_allowed() {
        let stranger: IpAddr = "203.0.113.9".parse().expect("an address");
        let mut near = Near::new(&[]);
        for own in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(near.holds(own.parse().expect("an address"), Tick::ZERO), "{own}");
        }
        let now = clock::now();
        let is_here = |address| {
            let interfaces = routes::interfaces().unwrap_or_default();
            interfaces.iter().flat_map(|it| &it.networks).any(|it| it.contains(address))
        };
        assert_eq!(near.holds(stranger, now), is_here(stranger));
        for address in routes::interfaces().unwrap_or_default().iter().flat_map(|it| &it.addresses)
        {
            assert!(near.holds(*address, now), "{address} is on a link of its own");
        }
        let mut near = Near::new(&["203.0.113.0/28".parse().expect("a network")]);
        assert!(near.holds(stranger, now));
    }

    #[test]
    fn one_of_those_who_are_not_answered_is_told_of_in_an_hour() {
        let mut near = Near::new(&[]);
        let start = Tick::from_nanos(9_000_000_000);
        let told = [0, 1, 3_599, 3_600, 7_199, 9_000];
        let told = told.map(|seconds| near.is_told(start + Duration::from_secs(seconds)));
        assert_eq!(told, [true, false, false, true, false, true]);
    }
}
