//! How the descriptors and threads of a server are shared out: to tests, to connections that wait, and to all that calls from
//! one address. What of it is taken is counted in `sessions`.

use pathscope_peers::limits::Limits;

use crate::workers::placement::{FURTHER_WORKERS_PER_CPU, files_of_tests};

/// Of all files, the tenths for connections that have not said yet what they are for: what they and tests leave stays free whatever
/// strangers do.
const TENTHS_OF_GUESTS: u64 = 1;

/// Connections that wait, of a server that has few files: those of guests, of clients that are refused and of connections that
/// come too soon.
const LEAST_WAITING: u64 = 16;

/// Clients that are refused at a time, and have not closed their connections: so many, or a quarter of those that wait.
const REFUSED_MOST: u64 = 64;

/// Connections of tests whose connections follow one another, at a time, that nobody has taken yet: so many, or a quarter of those that wait.
const FOLLOWERS_MOST: u64 = 64;

/// How many connections may wait at a server that may open so many files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Waiting {
    pub guests: usize,
    pub refused: usize,
    pub followers: usize,
}

impl Waiting {
    pub fn of(files: u64) -> Self {
        let all = (files / 10 * TENTHS_OF_GUESTS).max(LEAST_WAITING);
        let [refused, followers] = [REFUSED_MOST, FOLLOWERS_MOST].map(|most| most.min(all / 4));
        Self {
            guests: (all - refused - followers) as usize,
            refused: refused as usize,
            followers: followers as usize,
        }
    }
}

/// Threads that tests of strangers may have by default beside their further workers: with those, and nine of its own, a server
/// has 65 on two processors.
const TEST_THREADS: u64 = 48;

/// How many threads the tests of clients on other machines may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    /// All of them; 0: any number; absent: 48, and four for each processor.
    pub all: Option<u64>,
    /// Those from one address; 0: any number; absent: half of all.
    pub address: Option<u64>,
}

impl Threads {
    /// The limits, with these among them, of a server that may use so many processors.
    pub(super) fn among(self, limits: Limits, cpus: usize) -> Limits {
        let usual = TEST_THREADS + (FURTHER_WORKERS_PER_CPU * cpus) as u64;
        let threads = limit(self.all, Some(usual));
        let threads_per_address = limit(self.address, threads.map(|most| most.div_ceil(2)));
        Limits { threads, threads_per_address, ..limits }
    }
}

/// How many descriptors the tests of strangers may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Descriptors {
    /// Of one session; 0: any number; absent: half of those for tests.
    pub session: Option<u64>,
    /// Of all sessions from one address; 0: any number; absent: half of those for tests.
    pub address: Option<u64>,
}

impl Descriptors {
    /// The limits, with these among them, of a server that may open so many files.
    pub(super) fn among(self, limits: Limits, files: u64) -> Limits {
        let half = Some(files_of_tests(files) / 2);
        let [descriptors, descriptors_per_address] =
            [self.session, self.address].map(|asked| limit(asked, half));
        Limits { descriptors, descriptors_per_address, ..limits }
    }
}

/// The limit that was asked for, or else the usual one; 0: none.
fn limit(asked: Option<u64>, usual: Option<u64>) -> Option<u64> {
    asked.or(usual).filter(|&most| most > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_have_at_most_four_fifths_of_the_descriptors() {
        for files in [160, 256, 1_024, 4_096, 20_000, 1_000_000] {
            let Waiting { guests, refused, followers } = Waiting::of(files);
            let waiting = (guests + refused + followers) as u64;
            let all = files_of_tests(files) + waiting;
            assert!(all * 10 <= files * 8, "{all} of {files}");
            assert!(guests >= 8 && refused >= 4 && followers >= 4, "{files}: {guests}");
        }
        assert_eq!(Waiting::of(20_000), Waiting { guests: 1_872, refused: 64, followers: 64 });
    }

    #[test]
    fn threads_follow_from_processors_unless_they_are_said() {
        let of = |all, address, cpus| {
            let limits = Threads { all, address }.among(Limits::default(), cpus);
            (limits.threads, limits.threads_per_address)
        };
        assert_eq!(of(None, None, 1), (Some(52), Some(26)));
        assert_eq!(of(None, None, 2), (Some(56), Some(28)));
        assert_eq!(of(None, None, 16), (Some(112), Some(56)));
        assert_eq!(of(Some(12), None, 2), (Some(12), Some(6)));
        assert_eq!(of(Some(12), Some(0), 2), (Some(12), None));
        assert_eq!(of(Some(0), None, 2), (None, None));
        assert_eq!(of(Some(0), Some(3), 2), (None, Some(3)));
    }
}
