//! Which addresses of the server data connections go to: all that answer, in turns. Names and their addresses are
//! `target`'s.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use pathscope_core::record::Caveat;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::sockets::{self, Settings};
use pathscope_os::{OsError, Waker, clock};

use crate::error::RunError;
use crate::findings::RunCaveat;
use crate::stop::Stop;

/// Key of the waker; addresses have their places.
const WORD: u64 = u64::MAX;

/// Addresses of one server, or of several that know nothing of each other, in turns.
#[derive(Clone, Debug)]
pub(crate) struct Destinations(Vec<SocketAddr>);

impl Destinations {
    /// One address.
    pub fn one(address: SocketAddr) -> Self {
        Self(vec![address])
    }

    /// One of each target, where no session is with one of them alone: the first that these addresses of this end reach, or else the
    /// first of IPv4, or else the first. No other can be tried, since a connection is a flow's to such a server; and by themselves
    /// these serve IPv4, some nothing else.
    pub fn each(targets: &[Vec<SocketAddr>], local: &[IpAddr]) -> Option<Self> {
        let mut all: Vec<SocketAddr> = Vec::new();
        for target in targets {
            let reached =
                target.iter().find(|it| local.iter().any(|own| own.is_ipv4() == it.is_ipv4()));
            let usual = || target.iter().find(|it| it.is_ipv4()).or(target.first());
            let chosen = reached.or_else(usual).filter(|it| !all.contains(it));
            all.extend(chosen);
        }
        (!all.is_empty()).then_some(Self(all))
    }

    /// All of them.
    pub fn into_all(self) -> Vec<SocketAddr> {
        self.0
    }

    /// The same, to be looked at.
    pub fn all(&self) -> &[SocketAddr] {
        &self.0
    }

    /// Where connection `number` goes.
    pub fn of(&self, number: u32) -> SocketAddr {
        self.0[number as usize % self.0.len()]
    }

    /// Those of the families that `local` addresses have; all where there are none.
    pub fn within(mut self, local: &[IpAddr]) -> Result<Self, RunError> {
        let first = self.of(0);
        let is_reached =
            |server: &SocketAddr| local.iter().any(|local| local.is_ipv4() == server.is_ipv4());
        if !local.is_empty() {
            self.0.retain(is_reached);
        }
        if self.0.is_empty() { Err(RunError::NoSuchFamily(first)) } else { Ok(self) }
    }
}

/// An address that did not answer, and why.
pub(crate) type Silent = (SocketAddr, OsError);

/// The addresses of `targets` that answer, and of each other a caveat; `server` does, those in `silent` do not. A
/// target of which none answers is an error.
pub(crate) fn find(
    targets: &[Vec<SocketAddr>],
    server: SocketAddr,
    mut silent: Vec<Silent>,
    (within, stop): (Duration, &Stop),
) -> Result<(Destinations, Vec<Caveat>), RunError> {
    let mut all: Vec<SocketAddr> = Vec::new();
    for &address in targets.iter().flatten() {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    let is_known = |address: &SocketAddr| {
        *address == server || silent.iter().any(|(known, _)| known == address)
    };
    let unknown: Vec<SocketAddr> = all.iter().copied().filter(|it| !is_known(it)).collect();
    silent.extend(try_all(&unknown, within, stop)?);
    let is_silent = |address: &SocketAddr| silent.iter().any(|(other, _)| other == address);
    for target in targets {
        if target.iter().all(is_silent)
            && let Some(place) = silent.iter().position(|(address, _)| target.contains(address))
        {
            return Err(silent.swap_remove(place).1.into());
        }
    }
    all.retain(|address| !is_silent(address));
    let caveats = silent.iter().map(|(_, error)| {
        let text = format!("no connection goes there, since no answer came: {error}");
        Caveat::new(RunCaveat::AddressUnanswered, text)
    });
    Ok((Destinations(all), caveats.collect()))
}

/// Connects to all of these at once, and closes what was connected. Those that did not answer.
fn try_all(
    addresses: &[SocketAddr],
    within: Duration,
    stop: &Stop,
) -> Result<Vec<Silent>, RunError> {
    let (poller, waker) = (Poller::new()?, Waker::new()?);
    poller.add(&waker, WORD, Interest::INPUT)?;
    let _hearing = stop.wake(&waker);
    let deadline = clock::now() + within;
    let mut silent = Vec::new();
    let mut making: Vec<(SocketAddr, TcpStream)> = Vec::new();
    for (key, &address) in (0..).zip(addresses) {
        match sockets::begin_connect_tcp(address, &Settings::default()) {
            Ok(socket) => {
                let stream = socket.into_tcp_stream();
                poller.add(&stream, key, Interest::BOTH)?;
                making.push((address, stream));
            }
            Err(error) => silent.push((address, error)),
        }
    }
    let mut ready = Vec::new();
    while !making.is_empty() {
        let left = deadline.since(clock::now());
        if stop.reason().is_some() {
            return Err(RunError::Interrupted);
        }
        if left.is_zero() {
            break;
        }
        poller.wait(&mut ready, Some(left))?;
        making.retain(|&(address, ref stream)| {
            let failed = match stream.take_error() {
                Ok(None) if stream.peer_addr().is_err() => return true,
                Ok(failed) => failed,
                Err(error) => Some(error),
            };
            let error = failed.map(|source| OsError::Connect { protocol: "TCP", address, source });
            silent.extend(error.map(|error| (address, error)));
            false
        });
    }
    let waited = within;
    let late = making.into_iter().map(|(address, _)| address);
    silent.extend(late.map(|address| (address, OsError::ConnectTimeout { address, waited })));
    Ok(silent)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        (listener, address)
    }

    #[test]
    fn connections_take_turns_and_keep_to_families() {
        let all = Destinations(["10.0.0.1:1", "[::1]:1", "10.0.0.2:1"].map(address).to_vec());
        let four = all.clone().within(&["10.0.0.9".parse().expect("an address")]).expect("two");
        let places: Vec<SocketAddr> = (0..4).map(|number| four.of(number)).collect();
        assert_eq!(places, [0, 2, 0, 2].map(|place| all.0[place]));
        assert_eq!(all.clone().within(&[]).expect("all").0, all.0);
        let six = Destinations::one(address("[::1]:1"));
        let error = six.within(&["10.0.0.9".parse().expect("an address")]).expect_err("no IPv6");
        assert!(error.to_string().contains("--bind"), "{error}");
    }

    #[test]
    fn without_a_session_with_one_server_each_name_has_an_address() {
        let targets = ["[::1]:1 10.0.0.1:1", "10.0.0.2:1", "10.0.0.1:1"]
            .map(|all| all.split(' ').map(address).collect::<Vec<_>>());
        let of = |local: &[&str]| {
            let local: Vec<IpAddr> =
                local.iter().map(|it| it.parse().expect("an address")).collect();
            Destinations::each(&targets, &local).expect("there are some").0
        };
        assert_eq!(of(&[]), ["10.0.0.1:1", "10.0.0.2:1"].map(address));
        assert_eq!(of(&["::1"]), ["[::1]:1", "10.0.0.2:1", "10.0.0.1:1"].map(address));
        let alone = [vec![address("[::1]:1")]];
        assert_eq!(Destinations::each(&alone, &[]).expect("it is one").0, alone[0]);
        assert!(Destinations::each(&[Vec::new()], &[]).is_none());
    }

    #[test]
    fn an_address_that_does_not_answer_is_left_out_and_told() {
        let ((_first, one), (_second, other)) = (listener(), listener());
        let (closed, gone) = listener();
        drop(closed);
        let stop = Stop::default();
        let targets = [vec![one, gone], vec![other, one]];
        let (found, caveats) =
            find(&targets, one, Vec::new(), (WITHIN, &stop)).expect("two of them answer");
        assert_eq!(found.0, [one, other]);
        assert_eq!(caveats.len(), 1);
        assert!(caveats[0].text.contains(&gone.to_string()), "{caveats:?}");
        // A target that was named and is not there at all is no matter of a caveat.
        let targets = [vec![one], vec![gone]];
        let error = find(&targets, one, Vec::new(), (WITHIN, &stop)).expect_err("none answers");
        assert!(error.to_string().contains(&gone.to_string()), "{error}");
    }

    #[test]
    fn a_wish_to_stop_ends_the_search() {
        let stop = Stop::default();
        stop.request("a test");
        let (_listener, one) = listener();
        let found = find(&[vec![one]], address("192.0.2.1:1"), Vec::new(), (WITHIN, &stop));
        assert!(matches!(found, Err(RunError::Interrupted)), "{found:?}");
    }
}
