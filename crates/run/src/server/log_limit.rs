//! What a person at the server is told of what strangers do: a scanner of ports knocks a thousand times a second, and a
//! client may end a thousand connections in as much. Their lines would bury the others and fill a disk.
//!
//! One count holds for all such lines, whoever writes them; of those that are left out their number is told.

use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::{Period, count};
use pathscope_os::wake::Waker;

use crate::threads::lock;

/// Lines in any one period: the connections and the sessions of several tests.
const MOST_LINES: u32 = 100;
/// And where more is asked for: the rows of status of several tests.
const MOST_LINES_VERBOSE: u32 = 1_000;
const PERIOD: Period = Period::from_secs(10);

/// Holds back the lines that strangers cause, where there are too many.
#[derive(Debug, Default)]
pub struct LogLimit {
    is_verbose: bool,
    state: Mutex<State>,
    /// Whom to wake when something is left out, so that its number is told.
    teller: OnceLock<Waker>,
}

#[derive(Debug, Default)]
struct State {
    /// When the period that runs began.
    since: Tick,
    told: u32,
    untold: u64,
}

impl State {
    /// Begins another period where the last is over. How many lines that left out.
    fn begin(&mut self, now: Tick) -> u64 {
        if now.since(self.since) < PERIOD.duration() {
            return 0;
        }
        (self.since, self.told) = (now, 0);
        std::mem::take(&mut self.untold)
    }
}

impl LogLimit {
    /// For as much talk as usual, or for more.
    pub fn new(is_verbose: bool) -> Self {
        Self { is_verbose, ..Self::default() }
    }

    const fn most(&self) -> u32 {
        if self.is_verbose { MOST_LINES_VERBOSE } else { MOST_LINES }
    }

    /// From now on this is woken when something is left out.
    pub(super) fn wake(&self, teller: Waker) {
        // A server has one listening thread, and this is its own.
        let _ = self.teller.set(teller);
    }

    /// A stranger has caused this line: it is said, or counted.
    pub fn say(&self, now: Tick, line: &str, say: &mut dyn FnMut(&str)) {
        let mut state = lock(&self.state);
        let rest = state.begin(now);
        let is_told = state.told < self.most();
        if is_told {
            state.told += 1;
        } else {
            state.untold += 1;
        }
        let is_first_untold = state.untold == 1;
        drop(state);
        self.tell_number(rest, say);
        if is_told {
            say(line);
        } else if is_first_untold {
            self.teller.get().into_iter().for_each(Waker::wake);
        }
    }

    /// Tells how many lines were left out, once their period is over. When to come back, where it is not.
    pub(super) fn tell(&self, now: Tick, say: &mut dyn FnMut(&str)) -> Option<Tick> {
        let mut state = lock(&self.state);
        let rest = state.begin(now);
        let due = (state.untold > 0).then(|| state.since.plus_nanos(PERIOD.0));
        drop(state);
        self.tell_number(rest, say);
        due
    }

    /// Nothing follows: tells how many lines were left out since that was told.
    pub fn tell_rest(&self, say: &mut dyn FnMut(&str)) {
        let rest = std::mem::take(&mut lock(&self.state).untold);
        self.tell_number(rest, say);
    }

    fn tell_number(&self, lines: u64, say: &mut dyn FnMut(&str)) {
        if lines > 0 {
            let most = count(self.most().into());
            let lines = count(lines);
            say(&format!(
                "{lines} more lines on clients and strangers were left out: at most {most} are written in {PERIOD}"
            ));
        }
    }
}

/// Where the server's own words and those on strangers go.
#[derive(Clone, Copy)]
pub(super) struct ServerLog<'server> {
    pub say: &'server (dyn Fn(&str) + Sync),
    /// The same for what has to be known all the same, where `say` says nothing.
    pub warn: Option<&'server (dyn Fn(&str) + Sync)>,
    pub log_limit: &'server LogLimit,
}

impl ServerLog<'_> {
    /// A word of the server's own.
    pub fn own(&self, line: &str) {
        (self.say)(line);
    }

    /// A line that a stranger from there has caused.
    pub fn on_stranger(&self, from: SocketAddr, line: &str) {
        let line = format!("{from}: {line}");
        self.log_limit.say(pathscope_os::clock::now(), &line, &mut |line| (self.say)(line));
    }

    /// A line that a stranger from there has caused, by which whoever runs the server has something to do.
    pub fn on_unanswered(&self, from: SocketAddr, line: &str) {
        self.on_stranger(from, line);
        self.warn.iter().for_each(|warn| warn(&format!("{from}: {line}")));
    }

    /// Tells what is due of what was left out. When to come back.
    pub fn keep_up(&self, now: Tick) -> Option<Duration> {
        let due = self.log_limit.tell(now, &mut |line| (self.say)(line));
        due.map(|due| due.since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At so many milliseconds.
    fn at(milliseconds: u64) -> Tick {
        Tick::from_nanos(50_000_000_000 + milliseconds * 1_000_000)
    }

    #[test]
    fn a_thousand_lines_a_second_are_a_hundred_and_one_in_ten() {
        let log_limit = LogLimit::new(false);
        let mut lines = Vec::new();
        let mut say = |line: &str| lines.push(line.to_owned());
        for time in 0..20_000 {
            log_limit.say(at(time), &format!("line {time}"), &mut say);
        }
        assert_eq!(log_limit.tell(at(19_999), &mut say), Some(at(20_000)));
        assert_eq!(log_limit.tell(at(20_000), &mut say), None);
        log_limit.tell_rest(&mut say);
        assert_eq!(lines.len(), 202, "{lines:?}");
        assert_eq!([&lines[0], &lines[99], &lines[101]], ["line 0", "line 99", "line 10000"]);
        let left_out = "9,900 more lines on clients and strangers were left out: at most 100 are written in 10 s";
        assert_eq!([&lines[100], &lines[201]], [left_out; 2]);
    }

    #[test]
    fn who_tells_the_number_is_woken_once() {
        let (log_limit, waker) = (LogLimit::new(false), Waker::new().expect("a waker"));
        log_limit.wake(waker.clone());
        let mut lines = 0;
        for _ in 0..MOST_LINES {
            log_limit.say(at(0), "told", &mut |_| lines += 1);
        }
        assert!(!waker.is_raised(), "nothing is left out");
        log_limit.say(at(0), "untold", &mut |_| lines += 1);
        assert!(waker.is_raised());
        waker.drain();
        log_limit.say(at(0), "untold", &mut |_| lines += 1);
        assert!(!waker.is_raised(), "it knows");
        assert_eq!(lines, MOST_LINES);
    }

    #[test]
    fn a_period_in_which_little_is_said_leaves_nothing_out() {
        let log_limit = LogLimit::new(false);
        let mut lines = Vec::new();
        for second in 0..60 {
            log_limit.say(at(1_000 * second), "a line", &mut |line| lines.push(line.to_owned()));
        }
        assert_eq!(lines, vec!["a line"; 60]);
    }
}
