//! Single datagrams on their paths, from the file of a run, and what follows from them by docs/method/multipath.md.
//!
//! Not here: what a file of stamps cannot tell, which is copies, damage, answers that came too late and which way a datagram was
//! lost.

mod gaps;
mod policies;
mod schedule;

use super::Durations;
pub use gaps::Gaps;
pub use policies::Had;
pub use schedule::Schedule;

/// Nanoseconds of the unit of the file.
const MICROSECOND: f64 = 1_000.0;
/// How much sooner numbers leave that are added to be noticed.
const SOONER: f64 = 3e6;
/// For how long these are lost.
const OUTAGE: f64 = 150e6;

/// What became of each number on each path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stamps {
    /// By rising number.
    rows: Vec<Row>,
    paths: usize,
}

/// Of one number.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    number: u64,
    paths: Vec<Stamp>,
}

/// Of one number on one path: nanoseconds since the start of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stamp {
    sent: Option<f64>,
    received: Option<f64>,
}

impl Stamp {
    /// From the cells of sending, echo and receipt; absent where they contradict one another.
    fn read(cells: &[&str]) -> Option<Self> {
        let moment = |cell: &str| match cell {
            "-1" => Some(None),
            _ => Some(Some(cell.parse::<u64>().ok()? as f64 * MICROSECOND)),
        };
        let [sent, echoed, received] = cells else { return None };
        let (sent, echoed, received) = (moment(sent)?, moment(echoed)?, moment(received)?);
        let is_possible =
            echoed.is_some() == received.is_some() && (sent.is_some() || received.is_none());
        is_possible.then_some(Self { sent, received })
    }
}

impl Row {
    fn sent(&self, path: usize) -> Option<f64> {
        self.paths.get(path)?.sent
    }

    fn received(&self, path: usize) -> Option<f64> {
        self.paths.get(path)?.received
    }

    /// From its own sending to its own answer.
    fn latency(&self, path: usize) -> Option<f64> {
        Some(self.received(path)? - self.sent(path)?)
    }

    fn is_lost(&self, path: usize) -> bool {
        self.sent(path).is_some() && self.received(path).is_none()
    }

    fn first_sent(&self) -> Option<f64> {
        self.paths.iter().filter_map(|stamp| stamp.sent).reduce(f64::min)
    }

    fn last_sent(&self) -> Option<f64> {
        self.paths.iter().filter_map(|stamp| stamp.sent).reduce(f64::max)
    }

    fn first_received(&self) -> Option<f64> {
        self.paths.iter().filter_map(|stamp| stamp.received).reduce(f64::min)
    }

    /// From the first sending on any path to the first answer on any path.
    fn effective(&self) -> Option<f64> {
        Some(self.first_received()? - self.first_sent()?)
    }

    /// Paths that it was sent on.
    fn copies(&self) -> usize {
        self.paths.iter().filter(|stamp| stamp.sent.is_some()).count()
    }

    /// The next path behind the primary that was there.
    fn copy(&self) -> Option<usize> {
        (1..self.paths.len()).find(|path| self.sent(*path).is_some())
    }

    /// Whether the first answer came on this path; absent where two came in the same microsecond, this one among them.
    fn is_first(&self, path: usize) -> Option<bool> {
        let (Some(mine), Some(first)) = (self.received(path), self.first_received()) else {
            return Some(false);
        };
        if mine > first {
            return Some(false);
        }
        let others = (0..self.paths.len()).filter(|other| *other != path);
        let is_as_early = |other| self.received(other).is_some_and(|other| other <= mine);
        (!others.into_iter().any(is_as_early)).then_some(true)
    }

    /// Whether it was answered on this path alone.
    fn is_only(&self, path: usize) -> bool {
        let answers = self.paths.iter().filter(|stamp| stamp.received.is_some()).count();
        answers == 1 && self.received(path).is_some()
    }
}

/// How losses of two paths go together, over the numbers that were sent on both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Together {
    /// Lost on both.
    pub both: f64,
    /// On the first of them alone.
    pub one: f64,
    /// On the second alone.
    pub other: f64,
    /// On none.
    pub neither: f64,
}

impl Together {
    /// How many both would have lost, were their losses independent.
    pub fn expected(&self) -> Option<f64> {
        let all = self.all()?;
        Some((self.one + self.both) / all * (self.other + self.both))
    }

    /// The correlation coefficient of the two losses as numbers that are 0 or 1; absent where one never changes.
    pub fn correlation(&self) -> Option<f64> {
        let all = self.all()?;
        let (one, other) = ((self.one + self.both) / all, (self.other + self.both) / all);
        let covariance = self.both / all - one * other;
        let variances = one * (1.0 - one) * other * (1.0 - other);
        (variances > 0.0).then(|| covariance / variances.sqrt())
    }

    fn all(&self) -> Option<f64> {
        let all = self.both + self.one + self.other + self.neither;
        (all > 0.0).then_some(all)
    }
}

impl Stamps {
    /// Reads a file as `multipath --samples` writes it; absent where it is none. The order of its rows is of no matter.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split(',').map(str::trim).collect();
        let paths = head.len().checked_sub(1).filter(|cells| *cells > 0 && cells % 3 == 0)? / 3;
        if !head.into_iter().eq(names(paths)) {
            return None;
        }
        let mut rows = lines.map(|line| row(line, paths)).collect::<Option<Vec<Row>>>()?;
        rows.sort_by_key(|row| row.number);
        // Of several tests in one file nobody can tell which is which.
        let is_once = |pair: &[Row]| matches!(pair, [one, other] if one.number < other.number);
        rows.windows(2).all(is_once).then_some(Self { rows, paths })
    }

    /// Numbers whose time came.
    pub fn scheduled(&self) -> f64 {
        self.rows.len() as f64
    }

    /// Those that were sent on one path or more.
    pub fn sent(&self) -> f64 {
        self.count(|row| row.first_sent().is_some())
    }

    /// Those that were sent on none.
    pub fn without_path(&self) -> f64 {
        self.count(|row| row.first_sent().is_none())
    }

    /// Those that were answered on one path or more.
    pub fn received(&self) -> f64 {
        self.count(|row| row.first_received().is_some())
    }

    /// Those that were sent and not answered.
    pub fn lost(&self) -> f64 {
        self.count(|row| row.first_sent().is_some() && row.first_received().is_none())
    }

    /// Those that the primary lost, and another path did not.
    pub fn prevented(&self) -> f64 {
        self.count(|row| row.is_lost(0) && row.first_received().is_some())
    }

    /// Those whose first answer came on another path than the primary.
    pub fn first_elsewhere(&self) -> Option<f64> {
        (1..self.paths).map(|path| self.path_first(path)).sum()
    }

    /// From the first sending to the first answer.
    pub fn effective(&self) -> Durations {
        self.durations(Row::effective)
    }

    /// The same of those that the primary answered.
    pub fn paired(&self) -> Durations {
        self.durations(|row| row.received(0).and_then(|_| row.effective()))
    }

    /// By how much less was waited for the first answers than for the primary's, of those that the primary answered, in all; and
    /// what was waited for the primary's.
    pub fn waiting(&self) -> (f64, f64) {
        let both = self.rows.iter().filter_map(|row| row.latency(0).zip(row.effective()));
        both.fold((0.0, 0.0), |(saved, waited), (primary, effective)| {
            (saved + (primary - effective), waited + primary)
        })
    }

    /// How long after their times numbers left, but for one and the same time more or less for all: the file does not tell
    /// when the schedule began.
    pub fn lags(&self, schedule: &Schedule) -> Option<Durations> {
        let left = self.rows.iter().filter_map(|row| Some((row.number, row.first_sent()?)));
        let lags = left.map(|(number, at)| Some(at - schedule.due(number)?));
        Some(Durations::new(lags.collect::<Option<_>>()?))
    }

    /// Losses of two paths.
    pub fn together(&self, one: usize, other: usize) -> Option<Together> {
        if one >= self.paths || other >= self.paths {
            return None;
        }
        let mut together = Together::default();
        for row in &self.rows {
            if row.sent(one).is_none() || row.sent(other).is_none() {
                continue;
            }
            let kind = match (row.is_lost(one), row.is_lost(other)) {
                (true, true) => &mut together.both,
                (true, false) => &mut together.one,
                (false, true) => &mut together.other,
                (false, false) => &mut together.neither,
            };
            *kind += 1.0;
        }
        Some(together)
    }

    /// Datagrams that were sent on a path.
    pub fn path_sent(&self, path: usize) -> Option<f64> {
        self.count_of(path, |row| row.sent(path).is_some())
    }

    /// Numbers that did not leave on it.
    pub fn path_unsent(&self, path: usize) -> Option<f64> {
        self.count_of(path, |row| row.sent(path).is_none())
    }

    /// Numbers that were answered on it.
    pub fn path_received(&self, path: usize) -> Option<f64> {
        self.count_of(path, |row| row.received(path).is_some())
    }

    /// Those that were sent and not answered on it.
    pub fn path_lost(&self, path: usize) -> Option<f64> {
        self.count_of(path, |row| row.is_lost(path))
    }

    /// Those that it answered first; absent where that hangs on less than a microsecond.
    pub fn path_first(&self, path: usize) -> Option<f64> {
        if path >= self.paths {
            return None;
        }
        self.rows.iter().map(|row| Some(f64::from(u8::from(row.is_first(path)?)))).sum()
    }

    /// Those that it alone answered.
    pub fn path_only(&self, path: usize) -> Option<f64> {
        self.count_of(path, |row| row.is_only(path))
    }

    /// From its own sendings to its own answers.
    pub fn path_latency(&self, path: usize) -> Option<Durations> {
        (path < self.paths).then(|| self.durations(|row| row.latency(path)))
    }

    /// Answers on a path that came after one of a higher number: at the least, and at the most if of those within one
    /// microsecond the higher came first.
    pub fn path_reordered(&self, path: usize) -> Option<(f64, f64)> {
        if path >= self.paths {
            return None;
        }
        let (mut least, mut most) = (0.0, 0.0);
        let mut soonest = f64::INFINITY;
        for at in self.rows.iter().rev().filter_map(|row| row.received(path)) {
            least += f64::from(u8::from(soonest < at));
            most += f64::from(u8::from(soonest <= at));
            soonest = soonest.min(at);
        }
        Some((least, most))
    }

    /// Makes every latency longer by this factor, and every count greater by one at the least: what a rule must notice.
    pub fn stretch(&mut self, factor: f64) {
        for stamp in self.rows.iter_mut().flat_map(|row| &mut row.paths) {
            let longer = |(sent, received): (f64, f64)| sent + (received - sent) * factor;
            stamp.received = stamp.sent.zip(stamp.received).map(longer);
        }
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return };
        let since = |row: &Row| row.last_sent().unwrap_or(0.0);
        let step = ((since(last) - since(first)) / (self.rows.len() as f64)).max(MICROSECOND);
        // What comes more leaves sooner after its time than all others.
        let (start, mut number) = (since(last) - SOONER, last.number);
        let longest = self.rows.iter().filter_map(|row| row.latency(0)).fold(step, f64::max);
        let slow = longest * (1.0 + self.rows.len() as f64 / 20.0);
        // An outage; one that left on no path; one with slow answers, the slower the earlier the path; for each path one that
        // it alone answers, before those.
        let lost = (2 * self.most_in_a_row()).max((OUTAGE / step) as usize) + 1;
        let mut more = vec![vec![None; self.paths]; lost];
        more.push(vec![None; self.paths]);
        let nowhere = more.len();
        more.push((0..self.paths).map(|path| Some(slow * (self.paths - path) as f64)).collect());
        for alone in 0..self.paths {
            more.push((0..self.paths).map(|path| (path == alone).then_some(longest)).collect());
        }
        for (place, latencies) in (1..).zip(more) {
            number = number.saturating_add(1);
            let sent = Some(start + step * place as f64).filter(|_| place != nowhere);
            let stamp = |latency: Option<f64>| Stamp {
                sent,
                received: sent.zip(latency).map(|(sent, latency)| sent + latency),
            };
            self.rows.push(Row { number, paths: latencies.into_iter().map(stamp).collect() });
        }
    }

    /// Rows without an answer on one path.
    fn most_in_a_row(&self) -> usize {
        let of = |path: usize| {
            let runs = self.rows.iter().scan(0, |run, row| {
                *run = if row.received(path).is_none() { *run + 1 } else { 0 };
                Some(*run)
            });
            runs.max().unwrap_or(0)
        };
        (0..self.paths).map(of).max().unwrap_or(0)
    }

    fn count(&self, is: impl Fn(&Row) -> bool) -> f64 {
        self.rows.iter().filter(|row| is(row)).count() as f64
    }

    /// The same of a path; absent where the file has no such path.
    fn count_of(&self, path: usize, is: impl Fn(&Row) -> bool) -> Option<f64> {
        (path < self.paths).then(|| self.count(is))
    }

    fn durations(&self, of: impl Fn(&Row) -> Option<f64>) -> Durations {
        Durations::new(self.rows.iter().filter_map(of).collect())
    }
}

/// The head of a file of so many paths.
fn names(paths: usize) -> impl Iterator<Item = String> {
    let path = |index: usize| match index {
        0 => "Primary".to_owned(),
        1 => "Secondary".to_owned(),
        _ => format!("Path {}", index + 1),
    };
    let of = move |index: usize| {
        let what = ["Send", "Echo", "Receive"];
        what.map(|what| format!("{} {what} timestamp (microsec)", path(index)))
    };
    std::iter::once("Sequence number".to_owned()).chain((0..paths).flat_map(of))
}

fn row(line: &str, paths: usize) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let (number, stamps) = cells.split_first()?;
    let number = number.parse().ok()?;
    let stamps = stamps.chunks(3).map(Stamp::read).collect::<Option<Vec<Stamp>>>()?;
    (stamps.len() == paths).then_some(Row { number, paths: stamps })
}

#[cfg(test)]
mod tests;
