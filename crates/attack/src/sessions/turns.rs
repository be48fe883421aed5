//! Many clients on one thread: who has something to hear, whose ping is due, who comes in next and who leaves.
//!
//! Pings are due one after the other at equal distances, so that those of all clients are spread over their period.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::Order;
use super::one::{Flow, One, Stage};
use super::told::Told;
use crate::random::Random;
use crate::{clock, tests_asked_for};

/// How long a client may take to come in, or to leave.
const PATIENCE: Duration = Duration::from_secs(60);

/// For so long after the last ping its answer is awaited.
const STRAGGLERS: Duration = Duration::from_secs(2);

/// From one look after those that are slow to the next.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The longest wait.
const LONGEST: Duration = Duration::from_millis(100);

/// What is heard of at once.
const EVENTS: usize = 256;

/// The key of standard input. Clients have two each: that of the control connection, and the one behind it.
const WORD: u64 = u64::MAX;

/// What all are doing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// They come in.
    Comes,
    /// All are there; those of other processes may not be.
    Waits,
    /// Their pings are measured, until then.
    Measures(Instant),
    /// They leave, since then.
    Leaves(Instant),
}

/// All of them.
struct Crowd<'order> {
    order: &'order Order,
    epoll: OwnedFd,
    test: Value,
    clients: Vec<Option<One>>,
    /// How many have begun.
    begun: u32,
    in_the_making: u32,
    /// How many are told to leave, in the order in which they came.
    sent_off: u32,
    leaving: u32,
    phase: Phase,
    told: Told,
    random: Random,
    begin: Instant,
    /// How many pings were due so far, of all of them.
    dues: u64,
    /// When it was last seen who is slow.
    looked: Instant,
}

/// Has the clients of an order come in, ping and leave; tells it by a line when all are there, and by one at the end.
pub fn run(order: &Order) -> io::Result<()> {
    let mut crowd = Crowd::new(order)?;
    let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
    while crowd.goes_on() {
        let came = crowd.wait(&mut events)?;
        for event in &events[..came] {
            crowd.hear(event.data.u64());
        }
        crowd.ping_those_due();
        crowd.advance();
    }
    println!("{}", crowd.told.whole());
    Ok(())
}

impl<'order> Crowd<'order> {
    fn new(order: &'order Order) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, io::stdin(), EventData::new_u64(WORD), EventFlags::IN)?;
        let now = clock::now();
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let more = serde_json::json!({
            "protocol": if order.is_over_udp { "udp" } else { "tcp" },
            "load_model": { "open": { "period_ns": nanoseconds(order.period) } },
            "wait": "auto",
        });
        let mut test = tests_asked_for::latency(&more);
        test["report_every_ns"] = nanoseconds(order.report_every).into();
        Ok(Self {
            order,
            epoll,
            test,
            clients: (0..order.count).map(|_| None).collect(),
            begun: 0,
            in_the_making: 0,
            sent_off: 0,
            leaving: 0,
            phase: Phase::Comes,
            told: Told::default(),
            random: Random(u64::from(std::process::id()) << 32 | u64::from(order.first)),
            begin: now,
            dues: 0,
            looked: now,
        })
    }

    fn goes_on(&self) -> bool {
        !self.leaves() || self.leaving > 0 || self.sent_off < self.begun
    }

    const fn leaves(&self) -> bool {
        matches!(self.phase, Phase::Leaves(_))
    }

    /// What is ready, by the time at which the next ping is due.
    fn wait(&self, events: &mut [Event; EVENTS]) -> io::Result<usize> {
        let left = clock::left(self.due()).min(LONGEST);
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        // `epoll_wait` counts in milliseconds.
        let mut watched = [PollFd::new(&self.epoll, PollFlags::IN)];
        match poll(&mut watched, Some(&left)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(0),
            Ok(_) => Ok(epoll::wait(&self.epoll, events.as_mut_slice(), Some(&nothing))?),
            Err(error) => Err(error.into()),
        }
    }

    /// When the next ping is due.
    fn due(&self) -> Instant {
        let after = self.order.period.as_nanos() * u128::from(self.dues);
        let after = after / u128::from(self.order.count);
        self.begin + Duration::from_nanos(u64::try_from(after).unwrap_or(u64::MAX))
    }

    fn hear(&mut self, key: u64) {
        if key == WORD {
            return self.hear_word();
        }
        let (client, is_flow) = ((key / 2) as u32, key % 2 == 1);
        let Some(one) = &mut self.clients[client as usize] else { return };
        let before = one.stage;
        let heard = if is_flow {
            one.flow_is_ready()
        } else {
            one.control_is_ready(&self.test, self.order.is_over_udp).map(|()| None)
        };
        let now = one.stage;
        match heard {
            Err(error) => return self.lose(client, &error),
            Ok(Some(answer)) if answer.is_measured => {
                self.told.round_trips_ns.push(answer.took.as_nanos() as u64);
            }
            Ok(_) => {}
        }
        let has_flow = matches!(now, Stage::DialsFlow | Stage::Asks) && before == Stage::Proposes;
        if has_flow && let Err(error) = watch_flow(&self.epoll, one, key + 1) {
            return self.lose(client, &error);
        }
        if now == Stage::Runs && before != Stage::Runs {
            self.in_the_making -= 1;
            self.told.opened += 1;
            self.told.ramp_ns = self.begin.elapsed().as_nanos() as u64;
        }
        if now == Stage::Over {
            self.told.left += 1;
            self.leaving -= 1;
            self.close(client);
        }
    }

    /// Those of all processes are there; or nobody waits for these any more.
    fn hear_word(&mut self) {
        let has_word = matches!(io::stdin().read(&mut [0; 64]), Ok(1..));
        self.phase = match self.phase {
            Phase::Waits if has_word => Phase::Measures(clock::now() + self.order.lasts),
            Phase::Leaves(since) => Phase::Leaves(since),
            _ => Phase::Leaves(clock::now()),
        };
        if !has_word {
            // A pipe that is closed would be ready for ever.
            let _ = epoll::delete(&self.epoll, io::stdin());
        }
    }

    fn ping_those_due(&mut self) {
        let is_measured = matches!(self.phase, Phase::Measures(_));
        let now = clock::now();
        // No more than a round, so that what comes is heard however late it is.
        for _ in 0..self.order.count {
            let due = self.due();
            if due > now {
                return;
            }
            let client = (self.dues % u64::from(self.order.count)) as u32;
            self.dues += 1;
            if self.leaves() {
                continue;
            }
            let Some(one) = &mut self.clients[client as usize] else { continue };
            if one.stage != Stage::Runs {
                continue;
            }
            if one.waits() {
                self.told.put_off += 1;
                continue;
            }
            if is_measured {
                self.told.late_ns.push(due.elapsed().as_nanos() as u64);
            }
            if let Err(error) = one.ping(is_measured) {
                self.lose(client, &error);
            }
        }
    }

    /// What is to be done next, whatever came.
    fn advance(&mut self) {
        match self.phase {
            Phase::Comes if self.begun == self.order.count && self.in_the_making == 0 => {
                println!("{}", self.told.counts());
                self.phase = Phase::Waits;
            }
            Phase::Comes => self.let_in(),
            Phase::Measures(until) if clock::now() >= until => {
                self.phase = Phase::Leaves(until);
            }
            Phase::Leaves(since) => self.send_off(since),
            Phase::Waits | Phase::Measures(_) => {}
        }
        if clock::now() >= self.looked + LOOK_EVERY {
            self.looked = clock::now();
            self.look_after_all();
        }
    }

    fn let_in(&mut self) {
        while self.begun < self.order.count && self.in_the_making < self.order.at_once {
            let client = self.begun;
            (self.begun, self.in_the_making) = (self.begun + 1, self.in_the_making + 1);
            let source = self.order.address(self.order.first + client);
            let nonce = self.random.next().to_be_bytes();
            let begun = One::begin(source, self.order.server, nonce).and_then(|one| {
                watch(&self.epoll, &one.control, u64::from(client) * 2)?;
                Ok(one)
            });
            match begun {
                Ok(one) => self.clients[client as usize] = Some(one),
                Err(error) => {
                    self.in_the_making -= 1;
                    self.told.broken += 1;
                    self.told.note(format!("a client began: {error}"));
                }
            }
        }
    }

    /// The next of them report, where their last ping is answered.
    fn send_off(&mut self, since: Instant) {
        while self.sent_off < self.begun && self.leaving < self.order.at_once {
            let client = self.sent_off;
            let Some(one) = &mut self.clients[client as usize] else {
                self.sent_off += 1;
                continue;
            };
            if one.waits() && clock::now() < since + STRAGGLERS {
                return;
            }
            self.sent_off += 1;
            if one.is_in_the_making() {
                self.lose(client, &io::ErrorKind::Interrupted.into());
                continue;
            }
            self.leaving += 1;
            if let Err(error) = one.report() {
                self.lose(client, &error);
            }
        }
    }

    /// Those that are too slow are given up, and what may have been lost is said again.
    fn look_after_all(&mut self) {
        let now = clock::now();
        for client in 0..self.begun {
            let Some(one) = &mut self.clients[client as usize] else { continue };
            let is_slow = one.stage != Stage::Runs && now > one.since + PATIENCE;
            let asked = if is_slow { Err(io::ErrorKind::TimedOut.into()) } else { one.ask_again() };
            if let Err(error) = asked {
                self.lose(client, &error);
            }
        }
    }

    /// It is turned away, or breaks.
    fn lose(&mut self, client: u32, error: &io::Error) {
        let Some(one) = &self.clients[client as usize] else { return };
        let stage = one.stage;
        if one.is_in_the_making() {
            self.in_the_making -= 1;
        } else if stage != Stage::Runs {
            self.leaving -= 1;
        }
        if error.kind() == io::ErrorKind::PermissionDenied && one.is_in_the_making() {
            self.told.refused += 1;
        } else {
            self.told.broken += 1;
        }
        self.told.note(format!("a client that {stage:?}: {error}"));
        self.close(client);
    }

    fn close(&mut self, client: u32) {
        if let Some(one) = self.clients[client as usize].take() {
            self.told.sent += one.sent;
            self.told.answered += one.answered;
        }
    }
}

fn watch_flow(epoll: &OwnedFd, one: &One, key: u64) -> io::Result<()> {
    match &one.flow {
        Flow::None => Ok(()),
        Flow::Stream(stream) => watch(epoll, stream, key),
        Flow::Datagrams(socket) => watch(epoll, socket, key),
    }
}

/// It is told once of each thing that comes, and all of that is read then.
fn watch(epoll: &OwnedFd, socket: &impl AsFd, key: u64) -> io::Result<()> {
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
    Ok(epoll::add(epoll, socket, EventData::new_u64(key), flags)?)
}
