//! Where a server is: `HOST`, `HOST:PORT`, `[IPV6]:PORT` or a bare IPv6 address, and its addresses.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{TryRecvError, channel};

use pathscope_core::quantity::shown;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::{OsError, Waker, address};

use crate::connect::destinations::Destinations;
use crate::error::RunError;
use crate::stop::Stop;
use crate::threads;

/// Which addresses of a name are taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// Those of IPv4.
    Four,
    /// Those of IPv6.
    Six,
}

impl Family {
    /// Those of these, or that there are none.
    pub(crate) fn of(
        self,
        target: &str,
        mut addresses: Vec<SocketAddr>,
    ) -> Result<Vec<SocketAddr>, RunError> {
        addresses.retain(|address| address.is_ipv4() == (self == Self::Four));
        if addresses.is_empty() {
            let (option, family) = match self {
                Self::Four => ("-4", "IPv4"),
                Self::Six => ("-6", "IPv6"),
            };
            let text = format!("{option}: '{}' has no address of {family}", shown(target));
            return Err(RunError::Usage(text));
        }
        Ok(addresses)
    }
}

/// Every address of a server, best first. A resolver may take minutes, and cannot be called off: it has a
/// thread of its own, which nobody waits for once `stop` is wished.
pub(crate) fn resolve(target: &str, port: u16, stop: &Stop) -> Result<Vec<SocketAddr>, RunError> {
    let (host, own_port) = parse(target)?;
    let port = own_port.unwrap_or(port);
    let host = host.to_owned();
    resolve_by(move || address::resolve(&host, port), stop)
}

/// Where connections to these servers will go from these addresses of this end, where no session is with one of them alone: to be shown
/// before. None where a name leads nowhere, of which the run says more.
pub fn destinations(
    targets: &[String],
    local: &[IpAddr],
    (port, family): (u16, Option<Family>),
    stop: &Stop,
) -> Vec<SocketAddr> {
    let all: Result<Vec<_>, RunError> =
        targets.iter().map(|target| addresses(target, (port, family), stop)).collect();
    let all = all.ok().and_then(|all| Destinations::each(&all, local));
    all.map(Destinations::into_all).unwrap_or_default()
}

/// All addresses of a server that are of this family.
pub(crate) fn addresses(
    target: &str,
    (port, family): (u16, Option<Family>),
    stop: &Stop,
) -> Result<Vec<SocketAddr>, RunError> {
    let found = resolve(target, port, stop)?;
    match family {
        Some(family) => family.of(target, found),
        None => Ok(found),
    }
}

fn resolve_by(
    resolver: impl FnOnce() -> Result<Vec<SocketAddr>, OsError> + Send + 'static,
    stop: &Stop,
) -> Result<Vec<SocketAddr>, RunError> {
    const WORD: u64 = 0;
    let (waker, poller) = (Waker::new()?, Poller::new()?);
    poller.add(&waker, WORD, Interest::INPUT)?;
    let _hearing = stop.wake(&waker);
    let (sender, answer) = channel();
    threads::spawn("resolver", move || {
        // Nobody listens any more where the run was ended.
        let _ = sender.send(resolver());
        waker.wake();
    })?;
    let mut ready = Vec::new();
    loop {
        match answer.try_recv() {
            Ok(addresses) => return Ok(addresses?),
            Err(TryRecvError::Disconnected) => {
                let source = std::io::Error::other("it ended without an answer");
                return Err(RunError::system("cannot ask the resolver")(source));
            }
            Err(TryRecvError::Empty) if stop.reason().is_some() => {
                return Err(RunError::Interrupted);
            }
            Err(TryRecvError::Empty) => poller.wait(&mut ready, None)?,
        }
    }
}

/// Whether what was typed names a port, too.
pub fn names_port(target: &str) -> bool {
    parse(target).is_ok_and(|(_, port)| port.is_some())
}

/// Whether what was typed may name a server, and whether the port in it, if there is one, is that of `port_option`; if not,
/// why. Asks no resolver.
pub fn check(target: &str, port_option: Option<u16>) -> Result<(), RunError> {
    match (parse(target)?, port_option) {
        ((_, Some(port)), Some(option)) if port != option => Err(bad_target(
            target,
            &format!("its port is {port}, and --port says {option}; leave one of them out"),
        )),
        _ => Ok(()),
    }
}

fn bad_target(target: &str, why: &str) -> RunError {
    RunError::Usage(format!("'{}' names no server: {why}", shown(target)))
}

/// Host and port of what was typed.
fn parse(target: &str) -> Result<(&str, Option<u16>), RunError> {
    let bad = |why: &str| bad_target(target, why);
    if target.contains(|character: char| character.is_control() || character.is_whitespace()) {
        return Err(bad("no name or address has a blank or a control character in it"));
    }
    if let Some((_, rest)) = target.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err(bad(&format!("it is a URL; give its host alone: {}", shown(host))));
    }
    if target.contains(['/', '@', '?', '#']) {
        return Err(bad("give a name or an address, and nothing before or behind it but :PORT"));
    }
    let port_of = |port: &str| match port.parse() {
        Ok(port @ 1..) => Ok(Some(port)),
        _ => Err(bad("the port is a number from 1 to 65535")),
    };
    let (host, port) = if let Some(rest) = target.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(|| bad("the ']' is missing"))?;
        match rest.strip_prefix(':') {
            Some(port) => (host, port_of(port)?),
            None if rest.is_empty() => (host, None),
            None => return Err(bad("after the ']' comes ':PORT' or nothing")),
        }
    } else if is_six(target) {
        (target, None)
    } else {
        match target.split_once(':') {
            Some((host, port)) => (host, port_of(port)?),
            None => (target, None),
        }
    };
    if host.is_empty() {
        return Err(bad("the host is missing"));
    }
    if host.parse().is_ok_and(|address: Ipv6Addr| address.is_unicast_link_local()) {
        // RFC 4007, section 11: each link has such addresses of its own.
        return Err(bad(&format!(
            "it is an address of one link: say which interface leads there, as {host}%eth0"
        )));
    }
    Ok((host, port))
}

/// Whether this is an address of IPv6, be it that it says which link it is of.
fn is_six(host: &str) -> bool {
    let address = host.split_once('%').map_or(host, |(address, _)| address);
    address.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_that_never_answers_holds_nobody_up() {
        let stop = Stop::default();
        let (asked, is_asked) = channel();
        let (release, released) = channel::<()>();
        let wisher = stop.clone();
        let thread = std::thread::spawn(move || {
            is_asked.recv().expect("the resolver is asked");
            wisher.request("a test");
        });
        let never = move || {
            asked.send(()).expect("somebody waits for it");
            let _ = released.recv();
            Ok(Vec::new())
        };
        assert!(matches!(resolve_by(never, &stop), Err(RunError::Interrupted)));
        drop(release);
        thread.join().expect("no panic");
        let address: SocketAddr = "192.0.2.1:7".parse().expect("an address");
        let found = resolve_by(move || Ok(vec![address]), &Stop::default());
        assert_eq!(found.expect("it answers"), [address]);
    }

    #[test]
    fn a_family_leaves_the_other_out_or_says_that_nothing_is_left() {
        let both: Vec<SocketAddr> = ["192.0.2.1:7", "[2001:db8::1]:7"]
            .map(|address| address.parse().expect("an address"))
            .to_vec();
        assert_eq!(Family::Four.of("h", both.clone()).expect("one is left"), both[..1]);
        assert_eq!(Family::Six.of("h", both.clone()).expect("one is left"), both[1..]);
        let error = Family::Six.of("h", both[..1].to_vec()).expect_err("none is left").to_string();
        assert!(error.contains("-6: 'h' has no address of IPv6"), "{error}");
    }

    #[test]
    fn every_way_to_name_a_server() {
        for (typed, host, port) in [
            ("b", "b", None),
            ("b:7", "b", Some(7)),
            ("10.0.0.2:70", "10.0.0.2", Some(70)),
            ("::1", "::1", None),
            ("[::1]", "::1", None),
            ("fe80::1%eth0", "fe80::1%eth0", None),
            ("fe80::1%2", "fe80::1%2", None),
            ("[fe80::1%eth0]:9", "fe80::1%eth0", Some(9)),
            ("::ffff:10.0.0.2", "::ffff:10.0.0.2", None),
        ] {
            assert_eq!(parse(typed).expect(typed), (host, port));
            assert!(check(typed, None).is_ok() && check(typed, port).is_ok(), "{typed}");
            assert_eq!(check(typed, Some(99)).is_ok(), port.is_none(), "{typed}");
        }
    }

    #[test]
    fn what_names_no_server_is_explained() {
        for (typed, words) in [
            ("", "host is missing"),
            (":7", "host is missing"),
            ("b:", "1 to 65535"),
            ("b:0", "1 to 65535"),
            ("b:99999", "1 to 65535"),
            ("[::1", "']' is missing"),
            ("[::1]7", "':PORT'"),
            ("http://b", "give its host alone: b"),
            ("tcp://b:7/path?x", "give its host alone: b:7"),
            ("b/path", "nothing before or behind"),
            ("me@b", "nothing before or behind"),
            ("b\nc", "'b\\nc' names no server: no name or address has a blank"),
            (" b", "a blank or a control character"),
            ("fe80::1", "say which interface leads there, as fe80::1%eth0"),
            ("[fe80::1]:7", "as fe80::1%eth0"),
            ("\u{1b}[2J", "a blank or a control character"),
        ] {
            let error = parse(typed).expect_err(typed).to_string();
            assert!(error.contains(words), "{typed}: {error}");
            assert!(!error.contains(char::is_control), "{typed:?}: {error:?}");
        }
        let error = check("b:7", Some(8)).expect_err("two ports").to_string();
        assert!(error.contains("its port is 7, and --port says 8"), "{error}");
    }
}
