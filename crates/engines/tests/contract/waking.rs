//! A worker is awake in time: whatever the period of its timers, however it waits, and whatever it waits for besides.
//!
//! On a scripted clock, where each call takes its time and a sleep ends as late as the kernel may let it.

use std::io::IoSlice;
use std::time::Duration;

use pathscope_core::{Tick, Wait};
use pathscope_engines::{Blocking, EngineKind, SystemCalls, Terms, Trouble, plain};
use pathscope_flow::{ClockNeed, Machine, Transport};
use pathscope_os::Socket;
use pathscope_os::sockets::Settings;

use crate::harness::{Flows, everywhere, pair, start_on, start_with, terms};
use crate::split::Duplex;
use crate::toys::{Bench, Clockwork};

/// What it takes to wake up.
const WAKING_NS: u64 = 50_000;
/// What a call takes.
const CALL_NS: u64 = 20_000;
/// What looks at the clock take, and a turn that one of them ends.
const LOOKS_NS: u64 = 5_000;
/// Less than this is slept in one go.
const LAST_SLEEP_NS: u64 = 16_000_000;

/// Periods around whatever could be a limit: of calls that sleep, of reports, of what is slept in one go.
const PERIODS_US: [u64; 16] = [
    1_000, 5_000, 15_000, 16_000, 20_000, 50_000, 59_000, 60_000, 60_120, 60_200, 61_000, 62_000,
    111_000, 200_000, 1_000_000, 5_000_000,
];
/// Timers of each run.
const TIMES: u64 = 5;

/// A kernel in which nothing ever moves, and a sleep ends as late as it may.
#[derive(Clone, Debug, Default)]
struct Sleepy {
    now_ns: u64,
    /// The longest that a call sleeps that moves bytes.
    longest_ns: u64,
}

impl Sleepy {
    /// For a machine with this need of the clock: the timeouts of its sockets, rounded up to a scheduler's tick.
    fn of(clock: ClockNeed) -> Self {
        let longest_ns = match clock {
            ClockNeed::EveryOperation => 60_000_000,
            ClockNeed::EveryTurn => 20_000_000,
        };
        Self { longest_ns, ..Self::default() }
    }

    fn move_nothing(&mut self, blocking: Blocking) -> Trouble {
        self.now_ns += match blocking {
            Blocking::Never => CALL_NS,
            Blocking::UntilTimeout => self.longest_ns + WAKING_NS,
        };
        Trouble::Blocked
    }
}

impl SystemCalls for Sleepy {
    fn now(&mut self) -> Tick {
        self.now_ns += 30;
        Tick::from_nanos(self.now_ns)
    }

    fn send(&mut self, _: &Socket, _: &[IoSlice<'_>], how: Blocking) -> Result<usize, Trouble> {
        Err(self.move_nothing(how))
    }

    fn receive(&mut self, _: &Socket, _: &mut [u8], how: Blocking) -> Result<usize, Trouble> {
        Err(self.move_nothing(how))
    }

    fn wait<R>(
        &mut self,
        timeout: Option<Duration>,
        call: impl FnOnce(Option<Duration>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        let length = timeout.expect("there is always a timer").as_nanos() as u64;
        self.now_ns += match length {
            0 => CALL_NS,
            // The kernel adds a thousandth.
            length => length + length / 1_000 + WAKING_NS,
        };
        call(Some(Duration::ZERO))
    }
}

/// How late a worker may wake up that waits like this: by what its last sleep costs, and by no call that came before it;
/// one that spins by the calls of the turn in which its time comes.
fn most_ns(wait: Wait) -> u64 {
    let costs_ns = match wait {
        Wait::Sleep => WAKING_NS + LAST_SLEEP_NS / 1_000,
        _ => 3 * CALL_NS,
    };
    costs_ns + LOOKS_NS
}

/// What else a flow waits for.
const BESIDES: [(Transport, bool, bool); 6] = [
    (Transport::Stream, false, false),
    (Transport::Stream, true, false),
    (Transport::Stream, false, true),
    (Transport::Stream, true, true),
    (Transport::Datagram, false, false),
    (Transport::Datagram, true, false),
];

/// Runs `test` over everything that a worker waits for, as it waits by `wait`.
fn over_all(wait: Wait, mut test: impl FnMut(Terms, Clockwork)) {
    for period_us in PERIODS_US {
        // Who spins does the same at each, and for long.
        if wait == Wait::Spin && period_us > 1_000 {
            continue;
        }
        for (transport, listens, sends) in BESIDES {
            for report_every in [Duration::ZERO, Duration::from_secs(1)] {
                let mut clock = Clockwork::new(0, period_us * 1_000, TIMES);
                (clock.listens, clock.sends) = (listens, sends);
                let begin = Tick::from_nanos(period_us * 1_000 + 1);
                let terms = terms(wait, transport);
                test(Terms { start: Tick::ZERO, begin, report_every, ..terms }, clock);
            }
        }
    }
}

fn is_punctual<const ONCE_A_TURN: bool>(clock: &Clockwork<ONCE_A_TURN>, terms: Terms, who: &str) {
    let who = format!("{who} {terms:?} {clock:?}");
    let latest = clock.lateness_ns.iter().max().copied();
    assert!(clock.woken == TIMES && clock.early == 0, "{who}");
    assert!(latest < Some(most_ns(terms.wait)), "{latest:?} ns late: {who}");
    let started_late = clock.started.nanos_since(terms.begin);
    assert!(clock.started >= terms.begin && started_late < most_ns(terms.wait), "{who}");
}

fn run<M>(engine: EngineKind, terms: Terms, clock: M) -> M
where
    M: Machine<Shared = Bench> + 'static,
{
    let (here, _there) = pair(terms.transport, &Settings::default());
    let flows: Flows<M> = vec![(clock, vec![here])];
    let running = start_on(engine, terms, flows, Bench::new(), Sleepy::of(M::CLOCK));
    running.finish().flows.remove(0).0
}

#[test]
fn a_worker_is_awake_in_time_at_every_period_however_it_waits_and_for_whatever() {
    everywhere(|engine, wait| {
        over_all(wait, |terms, clock| {
            is_punctual(&run(engine, terms, clock), terms, engine.name());
        });
        over_all(wait, |terms, clock| {
            is_punctual(&run(engine, terms, clock.once_a_turn()), terms, engine.name());
        });
    });
}

#[test]
fn each_half_of_a_flow_is_awake_in_time() {
    for wait in [Wait::Spin, Wait::Sleep, Wait::Hybrid] {
        over_all(wait, |terms, clock| {
            if terms.transport == Transport::Datagram {
                return;
            }
            let mut sender = Clockwork::new(0, clock.period_ns, clock.times);
            sender.sends = clock.sends;
            let receiver = Clockwork { sends: false, ..clock };
            let (sender, receiver) = (sender.once_a_turn(), receiver.once_a_turn());
            let (here, _there) = pair(terms.transport, &Settings::default());
            let flows = vec![(Duplex { sender, receiver }, vec![here])];
            let calls = Sleepy::of(ClockNeed::EveryTurn);
            let running =
                start_with(terms, flows, Bench::new(), |worker| plain::run_split(worker, calls));
            let Duplex { sender, receiver } = running.finish().flows.remove(0).0;
            is_punctual(&sender, terms, "the sending half");
            is_punctual(&receiver, terms, "the receiving half");
        });
    }
}
