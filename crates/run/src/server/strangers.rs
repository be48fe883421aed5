//! What a person at the server is told of those who are turned away: a scanner of ports knocks a thousand
//! times a second, and its lines would bury the others.

use std::net::SocketAddr;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::quantity::count;

/// Lines in any one period.
const MOST_LINES: u32 = 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Tells of some, and of the others their number.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// When the period that runs began.
    since: Tick,
    told: u32,
    untold: u64,
}

impl Strangers {
    /// Somebody was turned away.
    pub fn turned_away(
        &mut self,
        now: Tick,
        from: SocketAddr,
        why: &str,
        say: &(dyn Fn(&str) + Sync),
    ) {
        self.tell(now, say);
        if self.told < MOST_LINES {
            self.told += 1;
            say(&format!("{from}: turned away, since {why}"));
        } else {
            self.untold += 1;
        }
    }

    /// Tells of those that were not told of, once the period is over. True where that is still to come.
    pub fn tell(&mut self, now: Tick, say: &(dyn Fn(&str) + Sync)) -> bool {
        if now.since(self.since) >= PERIOD {
            self.tell_rest(say);
            (self.since, self.told) = (now, 0);
        }
        self.untold > 0
    }

    /// Tells of those that were not told of.
    pub fn tell_rest(&mut self, say: &(dyn Fn(&str) + Sync)) {
        if self.untold > 0 {
            say(&format!("{} more were turned away", count(self.untold)));
            self.untold = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_thousand_knocks_a_second_are_eleven_lines() {
        let lines = Mutex::new(Vec::new());
        let say = |line: &str| lines.lock().expect("nobody panicked").push(line.to_owned());
        let mut strangers = Strangers::default();
        let from = "192.0.2.1:9".parse().expect("an address");
        let milliseconds = |time: u64| Tick::from_nanos(5_000_000_000 + time * 1_000_000);
        for time in 0..2_000 {
            strangers.turned_away(milliseconds(time), from, "it is no client", &say);
        }
        assert!(strangers.tell(milliseconds(1_999), &say));
        assert!(!strangers.tell(milliseconds(2_000), &say));
        strangers.tell_rest(&say);
        let lines = lines.into_inner().expect("nobody panicked");
        assert_eq!(lines.len(), 22, "{lines:?}");
        assert_eq!(lines[0], "192.0.2.1:9: turned away, since it is no client");
        assert_eq!([&lines[10], &lines[21]], ["990 more were turned away"; 2]);
    }
}
