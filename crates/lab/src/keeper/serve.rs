//! The keeper at its door: signals, its standard input, and questions about the lab.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use pathscope_os::clock;
use pathscope_os::readiness::{Interest, Poller};
use pathscope_os::{OsError, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::build::{SIDES, WIRES, port_name};
use super::counters::counters;
use super::{Held, KeeperError, STAY};
use crate::kernel::Kernel;
use crate::link::Way;
use crate::relay::{RelayAccount, TimedOrder};
use crate::running::{Answer, GOING, Request, SetOrder, Shaper, end_programs, forget, reply};

/// Where signals come in, and the end of whoever started the keeper. Open before the lab is built, so that
/// none ends the keeper out of order.
pub(super) struct Door {
    signals: UnixStream,
    /// Whether one came: each is read once.
    signalled: Cell<bool>,
    orphaned: Waker,
}

impl Door {
    pub fn open() -> Result<Self, KeeperError> {
        let failed = |source| KeeperError::Stream { what: "handling of signals", source };
        let (signals, bell) = UnixStream::pair().map_err(failed)?;
        signals.set_nonblocking(true).map_err(failed)?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let bell = bell.try_clone().map_err(failed)?;
            signal_hook::low_level::pipe::register(signal, bell).map_err(failed)?;
        }
        Ok(Self { signals, signalled: Cell::new(false), orphaned: Waker::new()? })
    }

    /// From now on the end of the input without [`STAY`] counts as a call. Starts a thread.
    pub fn watch(&self, input: impl BufRead + Send + 'static) -> Result<(), KeeperError> {
        let orphaned = self.orphaned.clone();
        let work = move || {
            let stays = input.lines().map_while(Result::ok).any(|line| line == STAY);
            if !stays {
                orphaned.wake();
            }
        };
        let failed = |source| KeeperError::Stream { what: "thread", source };
        thread::Builder::new().name("input".to_owned()).spawn(work).map(drop).map_err(failed)
    }

    /// Whether the keeper is to end.
    pub fn is_called(&self) -> bool {
        let mut read = [0; 16];
        if (&self.signals).read(&mut read).is_ok_and(|count| count > 0) {
            self.signalled.set(true);
        }
        self.signalled.get() || self.orphaned.is_raised()
    }

    /// The same, after this time or once it is so; at once where the system cannot wait.
    pub fn is_called_within(&self, time: Duration) -> bool {
        let wait = || {
            let poller = Poller::new()?;
            poller.add(&self.signals, SIGNALS, Interest::INPUT)?;
            poller.add(&self.orphaned, ORPHANED, Interest::INPUT)?;
            poller.wait(&mut Vec::new(), Some(time))
        };
        let waited: Result<(), OsError> = wait();
        drop(waited);
        self.is_called()
    }
}

const SIGNALS: u64 = 0;
const LISTENER: u64 = 1;
const ORPHANED: u64 = 2;
const RELAY: u64 = 3;

/// Answers until it is told to end; then ends the programs on the nodes, and forgets the lab.
pub(super) fn serve(held: &Held, listener: &UnixListener, door: &Door) -> Result<(), KeeperError> {
    let failed = |source| KeeperError::Stream { what: "socket", source };
    listener.set_nonblocking(true).map_err(failed)?;
    let poller = Poller::new()?;
    poller.add(&door.signals, SIGNALS, Interest::INPUT)?;
    poller.add(listener, LISTENER, Interest::INPUT)?;
    poller.add(&door.orphaned, ORPHANED, Interest::INPUT)?;
    poller.add(held.relay.ended(), RELAY, Interest::INPUT)?;
    let mut ready = Vec::new();
    loop {
        // One that came while the lab was built was read then, and wakes nobody.
        let patience = door.signalled.get().then_some(Duration::ZERO);
        poller.wait(&mut ready, patience)?;
        // A lab whose links carry nothing is none: whoever asks is told that its keeper is gone.
        if door.is_called() || held.relay.ended().is_raised() {
            return take_down(held, listener);
        }
        while let Ok((stream, _)) = listener.accept() {
            if attend(held, listener, &stream) {
                return Ok(());
            }
        }
    }
}

/// Answers one question; true where it was to end.
fn attend(held: &Held, listener: &UnixListener, stream: &UnixStream) -> bool {
    let mut ends = false;
    // A client that went away has only harmed itself.
    let _ = stream.set_nonblocking(false);
    let _ = reply(stream, |request| match request {
        Request::Set(orders) => set(held, &orders),
        Request::Account => answer_account(held),
        Request::Counters => answer_counters(held),
        Request::Stays => Answer::Done,
        Request::Down => {
            ends = true;
            // Forgotten before the answer, so that whoever hears it may use the name again.
            match take_down(held, listener) {
                Ok(()) => Answer::Done,
                Err(error) => Answer::Refused(error.to_string()),
            }
        }
    });
    ends
}

fn answer_account(held: &Held) -> Answer {
    match account(held) {
        Ok(account) => Answer::Account(Box::new(account)),
        Err(error) => Answer::Refused(error.to_string()),
    }
}

fn answer_counters(held: &Held) -> Answer {
    match counters(held) {
        Ok(counters) => Answer::Counters(Box::new(counters)),
        Err(error) => Answer::Refused(error.to_string()),
    }
}

/// Ends the programs on the nodes, and forgets the lab. Whoever asks meanwhile is answered: a program that is told to end
/// asks, for its result, whether the lab kept up.
fn take_down(held: &Held, listener: &UnixListener) -> Result<(), KeeperError> {
    let ended = Waker::new()?;
    let left = thread::scope(|scope| {
        let end = || {
            let _last = Last(&ended);
            end_programs(&held.running, true)
        };
        let ending = thread::Builder::new().name("ending".to_owned()).spawn_scoped(scope, end);
        let Ok(ending) = ending else { return Ok(end_programs(&held.running, true)) };
        // Programs are ended all the same where nobody can be answered.
        let answered = answer_until(held, listener, &ended);
        let left = ending.join();
        drop(answered);
        left.map_err(|_| KeeperError::Stream {
            what: "thread that ends programs",
            source: std::io::Error::other("it broke off by a fault of pathscope"),
        })
    })?;
    Ok(forget(&held.hold, &held.running, left)?)
}

/// Raised when whoever has it is over, also by a panic.
struct Last<'waker>(&'waker Waker);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        self.0.wake();
    }
}

/// Answers while a lab is being taken down.
fn answer_until(held: &Held, listener: &UnixListener, ended: &Waker) -> Result<(), KeeperError> {
    let poller = Poller::new()?;
    poller.add(listener, LISTENER, Interest::INPUT)?;
    poller.add(ended, RELAY, Interest::INPUT)?;
    let mut ready = Vec::new();
    while !ended.is_raised() {
        poller.wait(&mut ready, None)?;
        while let Ok((stream, _)) = listener.accept() {
            let _ = stream.set_nonblocking(false);
            // One that went away has only harmed itself.
            let _ = reply(&stream, |request| match request {
                Request::Account => answer_account(held),
                Request::Counters => answer_counters(held),
                Request::Set(_) | Request::Stays => Answer::Refused(GOING.to_owned()),
                // It waits for the end of this process.
                Request::Down => Answer::Done,
            });
        }
    }
    Ok(())
}

/// What the relay says, and what the interfaces at its ports say behind its back.
fn account(held: &Held) -> Result<RelayAccount, KeeperError> {
    let mut account = held.relay.account()?;
    if held.relayed.is_empty() {
        return Ok(account);
    }
    let links = Kernel::of(&held.wires, WIRES)?.links()?;
    let statistics: HashMap<_, _> =
        links.iter().map(|link| (link.name.as_str(), link.statistics)).collect();
    for (wire, &index) in held.relayed.iter().enumerate() {
        let names = SIDES.map(|side| port_name(index, side));
        let [first, second] = names.map(|name| statistics.get(name.as_str()).copied());
        if let (Some(first), Some(second)) = (first, second) {
            account.see(wire, [first, second]);
        }
    }
    Ok(account)
}

fn set(held: &Held, orders: &[SetOrder]) -> Answer {
    if held.running.shaper == Shaper::Tc {
        return Answer::Refused(SHAPED_BY_TC.to_owned());
    }
    let now = clock::now();
    let mut timed = Vec::new();
    for order in orders {
        let at = now.plus_nanos(order.after_ns);
        match place(held, order) {
            Ok((wire, way)) => timed.push(TimedOrder { wire, way, order: order.order, at }),
            Err(why) => return Answer::Refused(why),
        }
    }
    match held.relay.obey(timed) {
        Ok(()) => Answer::Done,
        Err(error) => Answer::Refused(error.to_string()),
    }
}

const SHAPED_BY_TC: &str = "this lab is shaped by tc, which 'lab set' does not change; put it up with --shaper relay, \
                            or change it by 'pathscope lab exec NODE -- tc qdisc change ...'";

/// Which relayed link is meant, and which of its directions.
fn place(held: &Held, order: &SetOrder) -> Result<(usize, Option<Way>), String> {
    let network = &held.running.network;
    let links = network.links();
    let found = network.link_by_ends(&order.link).map(|(index, _)| index);
    let wire = held.relayed.iter().position(|&index| Some(index) == found);
    let Some(wire) = wire else {
        let why = if found.is_some() {
            "is a plain wire, which cannot be changed; give it a condition in the topology, such as \
             delay = \"0ms\" or rate = \"10Gbit\", and it is relayed"
        } else {
            "is not in this lab"
        };
        let relayed = held.relayed.iter().map(|&index| links[index].name.as_str());
        let known = relayed.collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none" } else { &known };
        return Err(format!("link {} {why}; relayed links are: {known}", order.link));
    };
    let Some(from) = &order.from else { return Ok((wire, None)) };
    let ends = links[held.relayed[wire]].ends;
    let nodes = network.nodes();
    match ends.iter().position(|end| nodes[end.node].name == *from) {
        Some(0) => Ok((wire, Some(Way::Forth))),
        Some(_) => Ok((wire, Some(Way::Back))),
        None => Err(format!("link {} does not begin at {from}", order.link)),
    }
}
