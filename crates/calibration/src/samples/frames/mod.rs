//! Single frames from the file of a run, and what follows from them by the definitions. No part of what pathscope counts by:
//! how a frame ended is told here by its times and by what is missing of it, and by its word only where nothing else tells it.
//!
//! In one file: one file of samples, read and turned into figures.

use std::collections::BTreeMap;

use super::Durations;

/// The file has whole microseconds where it has milliseconds.
pub const RESOLUTION_NS: f64 = 1_000.0;
const SECOND_NS: u128 = 1_000_000_000;

/// How a frame ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// Whole in time.
    Completed,
    /// Whole in time, and something of it came again.
    Repeated,
    /// Whole, and not in time.
    Late,
    /// Not whole in time, and something of it came damaged.
    Erroneous,
    /// Never whole.
    Dropped,
    /// Not whole, and not to be played any more.
    Cut,
}

impl Ended {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "completed" => Self::Completed,
            "repeated" => Self::Repeated,
            "late" => Self::Late,
            "erroneous" => Self::Erroneous,
            "dropped" => Self::Dropped,
            "cut" => Self::Cut,
            _ => return None,
        })
    }

    /// Whether it was there when it was to be played.
    pub const fn is_played(self) -> bool {
        matches!(self, Self::Completed | Self::Repeated)
    }
}

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    stream: u64,
    /// From 0.
    frame: u64,
    word: Ended,
    missing: u64,
    repeats: u64,
    /// When its last datagram left, and when that came, by two clocks; absent in frames that were not played.
    stamps: Option<(u64, u64)>,
    /// How long before its time it was whole; absent where it never was.
    margin_ns: Option<f64>,
}

impl Row {
    /// By its times. Damage and a stop are in no other column than the word, and a time of no microsecond is on neither side.
    fn ended(&self) -> Ended {
        match (self.word, self.missing, self.margin_ns) {
            (Ended::Erroneous | Ended::Cut, ..) => self.word,
            (_, 0, Some(margin)) if margin >= RESOLUTION_NS => {
                if self.repeats > 0 {
                    Ended::Repeated
                } else {
                    Ended::Completed
                }
            }
            (_, 0, Some(margin)) if margin <= -RESOLUTION_NS => Ended::Late,
            (_, 0, _) => self.word,
            _ => Ended::Dropped,
        }
    }

    /// By two clocks, which have no common zero.
    fn transit_ns(&self) -> Option<i128> {
        self.stamps.map(|(sent, received)| i128::from(received) - i128::from(sent))
    }
}

/// The frames of one stream or more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    /// By stream and number.
    rows: Vec<Row>,
    /// By what each duration is longer than it is, where each count is one more than it is as well.
    stretched: Option<f64>,
}

/// How much the times of neighbouring datagrams varied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// RFC 3550, section 6.4.1: the mean over all arrivals.
    pub mean_ns: f64,
    /// The most.
    pub max_ns: f64,
    /// At the end, where there is one stream and so one end.
    pub last_ns: Option<f64>,
    /// RFC 3393: of neighbours that came one after the other.
    pub neighbours: Durations,
}

/// What is known of datagrams that were lost where only their frames are known: the least that may be, and the most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Datagrams.
    pub lost: f64,
    /// Runs of them.
    pub runs: (f64, f64),
    /// In the longest run.
    pub longest: (f64, f64),
}

impl Frames {
    /// Reads a file as `media --jitter-file` writes it; absent where it is none.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split(',').collect();
        let column = |name: &str| head.iter().position(|it| *it == name);
        let (number, stream) = (column("SequenceNumber")?, column("Stream")?);
        let (sent, received) = (column("SenderQpc")?, column("ReceiverQpc")?);
        let (outcome, margin) = (column("Outcome")?, column("MarginMs")?);
        let (missing, repeats) = (column("MissingDatagrams")?, column("RepeatedDatagrams")?);
        let mut rows = Vec::new();
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let whole = |at: usize| cells.get(at)?.parse::<u64>().ok();
            let word = Ended::read(cells.get(outcome)?)?;
            let stamps = (whole(sent)?, whole(received)?);
            let margin_ns = match *cells.get(margin)? {
                "" => None,
                milliseconds => Some(nanoseconds(milliseconds)?),
            };
            rows.push(Row {
                stream: whole(stream)?,
                // Theirs count from 1.
                frame: whole(number)?.checked_sub(1)?,
                word,
                missing: whole(missing)?,
                repeats: whole(repeats)?,
                // Theirs says zero of all others.
                stamps: word.is_played().then_some(stamps),
                margin_ns,
            });
        }
        rows.sort_by_key(|row| (row.stream, row.frame));
        Some(Self { rows, stretched: None })
    }

    /// Makes every duration longer by this factor, and every count greater by one: what a rule must notice.
    pub fn stretch(&mut self, factor: f64) {
        self.stretched = Some(factor);
    }

    /// A count as it is told.
    fn told(&self, count: f64) -> f64 {
        count + f64::from(u8::from(self.stretched.is_some()))
    }

    /// A duration as it is told.
    fn lasting(&self, nanoseconds: f64) -> f64 {
        nanoseconds * self.stretched.unwrap_or(1.0)
    }

    /// Durations as they are told.
    fn durations(&self, durations: Vec<f64>) -> Durations {
        let mut durations = Durations::new(durations);
        self.stretched.into_iter().for_each(|factor| durations.stretch(factor));
        durations
    }

    /// Frames that ended so.
    pub fn count(&self, ended: Ended) -> f64 {
        self.told(self.rows.iter().filter(|row| row.ended() == ended).count() as f64)
    }

    /// All rows.
    pub fn number(&self) -> f64 {
        self.told(self.rows.len() as f64)
    }

    /// Of those that were to be played, the share that was there.
    pub fn played_share(&self) -> Option<f64> {
        let judged = self.number() - self.count(Ended::Cut);
        let played = self.count(Ended::Completed) + self.count(Ended::Repeated);
        (judged > 0.0).then(|| played / judged)
    }

    /// Datagrams that came whole and right, each once, of frames of so many; absent where more of a frame are missing.
    pub fn came(&self, per_frame: u64) -> Option<f64> {
        let came: Option<u128> =
            self.rows.iter().map(|row| per_frame.checked_sub(row.missing).map(u128::from)).sum();
        came.map(|came| self.told(came as f64))
    }

    /// Datagrams that came again until their frame was played.
    pub fn repeats(&self) -> f64 {
        self.told(self.rows.iter().map(|row| u128::from(row.repeats)).sum::<u128>() as f64)
    }

    /// Whether each frame that was ever whole was so that long before its time.
    pub fn are_early_by(&self, nanoseconds: f64) -> bool {
        self.rows.iter().all(|row| row.margin_ns.is_none_or(|margin| margin >= nanoseconds))
    }

    /// Frames beyond those that each stream's sender has sent; absent where one of them is not known.
    pub fn never_sent(&self, sent: &BTreeMap<u64, u64>) -> Option<f64> {
        let is_beyond = |row: &Row| sent.get(&row.stream).map(|sent| u64::from(row.frame >= *sent));
        let beyond: Option<u64> = self.rows.iter().map(is_beyond).sum();
        beyond.map(|count| self.told(count as f64))
    }

    /// What was lost of frames that were sent, whose datagrams have numbers one after the other.
    pub fn losses(&self, per_frame: u64, sent: &BTreeMap<u64, u64>) -> Option<Losses> {
        let (mut lost, mut runs, mut longest) = (0_u64, (0_u64, 0_u64), (0_u64, 0_u64));
        for rows in self.streams() {
            let sent = *sent.get(&rows.first()?.stream)?;
            // The frame before, what is missing in a row up to it, and how much of that in frames of which all is.
            let mut before: Option<u64> = None;
            let (mut in_a_row, mut in_whole_frames) = (0_u64, 0_u64);
            for row in rows.iter().filter(|row| row.frame < sent) {
                let came = per_frame.checked_sub(row.missing)?;
                let goes_on = before.is_some_and(|before| before.checked_add(1) == Some(row.frame));
                if row.missing == 0 || !goes_on {
                    (in_a_row, in_whole_frames) = (0, 0);
                }
                before = (row.missing > 0).then_some(row.frame);
                if row.missing == 0 {
                    continue;
                }
                lost = lost.checked_add(row.missing)?;
                // What is missing of neighbours may be one run; where both are missing as a whole, it is.
                runs.0 += u64::from(in_a_row == 0);
                runs.1 += row.missing.min(came + 1);
                if came == 0 && in_whole_frames > 0 {
                    runs.1 -= 1;
                }
                in_a_row = in_a_row.checked_add(row.missing)?;
                in_whole_frames = if came == 0 { in_whole_frames + per_frame } else { 0 };
                // Those that came part what is missing into so many runs at the most.
                let shared_out = row.missing.div_ceil(came + 1);
                longest.0 = longest.0.max(shared_out).max(in_whole_frames);
                longest.1 = longest.1.max(in_a_row);
            }
        }
        let told = |(least, most): (u64, u64)| (self.told(least as f64), self.told(most as f64));
        Some(Losses { lost: self.told(lost as f64), runs: told(runs), longest: told(longest) })
    }

    /// The most frames of a stream in a row that were not there, as a time.
    pub fn longest_freeze_ns(&self, frame_rate: u64) -> Option<f64> {
        let mut most = 0_u64;
        for rows in self.streams() {
            let mut frozen = 0_u64;
            // One that was cut was not to be played.
            for ended in rows.iter().map(Row::ended).filter(|ended| *ended != Ended::Cut) {
                frozen = if ended.is_played() { 0 } else { frozen + 1 };
                most = most.max(frozen);
            }
        }
        due_ns(self.told(most as f64) as u64, frame_rate).map(|time| time as f64)
    }

    /// How much the last datagram of each frame that was played took longer or shorter than that of the one before.
    pub fn changes(&self) -> Durations {
        let of = |rows: &[Row]| -> Vec<f64> {
            let transits: Vec<i128> = rows.iter().filter_map(Row::transit_ns).collect();
            transits.windows(2).filter_map(difference).collect()
        };
        self.durations(self.streams().flat_map(of).collect())
    }

    /// From when each whole frame was due to when it had come, above the least of its stream, for each stream; absent where
    /// one of them came too late to have stamps. That the last datagram was due at the same time in each is the caller's word.
    pub fn delays(&self, frame_rate: u64) -> Option<Vec<Durations>> {
        let of = |rows: &[Row]| {
            let whole = rows.iter().filter(|row| row.missing == 0);
            let since_due: Option<Vec<i128>> = whole
                .map(|row| Some(i128::from(row.stamps?.1) - due_ns(row.frame, frame_rate)?))
                .collect();
            Some(self.above_least(&since_due?))
        };
        self.streams().map(of).collect()
    }

    /// How late each frame left, above the least of that, of one stream; absent where it is not known of all. One datagram a
    /// frame, since stamps are those of a frame's last.
    pub fn lags(&self, frame_rate: u64) -> Option<Durations> {
        let late = |row: &Row| Some(i128::from(row.stamps?.0) - due_ns(row.frame, frame_rate)?);
        let lags: Option<Vec<i128>> = self.rows.iter().map(late).collect();
        let is_one = self.streams().count() == 1;
        Some(self.above_least(&lags.filter(|_| is_one)?))
    }

    /// The deepest buffer that any whole frame needed, by how long before its time each was whole in one of this depth.
    pub fn needed_depth_ns(&self, depth_ns: f64) -> Option<f64> {
        let needed = self.rows.iter().filter_map(|row| row.margin_ns);
        let most = needed.map(|margin| (depth_ns - margin).max(0.0)).reduce(f64::max)?;
        // What the file has in whole microseconds has to be off by more than one.
        let more = self.stretched.map_or(0.0, |_| 3.0 * RESOLUTION_NS);
        Some(self.lasting(most) + more)
    }

    /// The same without that: from the first datagram of each stream on. Of one datagram a frame, where each that came has
    /// stamps; absent elsewhere.
    pub fn needed_depth_by_stamps_ns(&self, frame_rate: u64) -> Option<f64> {
        let mut most = None;
        for rows in self.streams() {
            let mut came: Vec<(u64, i128)> = Vec::new();
            for row in rows.iter().filter(|row| row.missing == 0) {
                came.push((row.stamps?.1, due_ns(row.frame, frame_rate)?));
            }
            let Some(&(first, first_due)) = came.iter().min_by_key(|(received, _)| *received)
            else {
                continue;
            };
            let after_first = |(received, due): &(u64, i128)| {
                (i128::from(*received) - i128::from(first)) - (due - first_due)
            };
            most = most.max(came.iter().map(after_first).max());
        }
        most.map(|most| self.lasting(most.max(0) as f64))
    }

    /// How much neighbouring datagrams varied, where each frame is one and none overtook another; absent where one came too
    /// late to have stamps, or where they came in another order.
    pub fn variation(&self) -> Option<Variation> {
        let (mut smoothed, mut neighbours) = (Vec::new(), Vec::new());
        let (mut streams, mut last) = (0, None);
        for rows in self.streams() {
            streams += 1;
            let mut jitter = 0.0;
            let mut before: Option<(&Row, u64, i128)> = None;
            for row in rows.iter().filter(|row| row.missing == 0) {
                let ((_, received), transit) = (row.stamps?, row.transit_ns()?);
                if let Some((earlier, at, its)) = before.replace((row, received, transit)) {
                    if received < at {
                        return None;
                    }
                    let size = (transit - its).unsigned_abs() as f64;
                    jitter += (size - jitter) / 16.0;
                    smoothed.push(jitter);
                    if row.frame - earlier.frame == 1 {
                        neighbours.push(size);
                    }
                    last = Some(jitter);
                }
            }
        }
        let count = smoothed.len();
        (count > 0).then(|| Variation {
            mean_ns: self.lasting(smoothed.iter().sum::<f64>() / count as f64),
            max_ns: self.lasting(smoothed.iter().copied().fold(0.0, f64::max)),
            last_ns: last.filter(|_| streams == 1).map(|last| self.lasting(last)),
            neighbours: self.durations(neighbours),
        })
    }

    /// By how much each is more than the least.
    fn above_least(&self, times: &[i128]) -> Durations {
        let least = times.iter().min().copied().unwrap_or(0);
        self.durations(times.iter().map(|time| (time - least) as f64).collect())
    }

    /// The frames of each stream, by number.
    fn streams(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunk_by(|one, other| one.stream == other.stream)
    }
}

/// From the begin of a stream to when a frame is due.
fn due_ns(frame: u64, frame_rate: u64) -> Option<i128> {
    let at = (u128::from(frame) * SECOND_NS).checked_div(frame_rate.into())?;
    i128::try_from(at).ok()
}

/// Of milliseconds with three decimals.
fn nanoseconds(milliseconds: &str) -> Option<f64> {
    let digits = milliseconds.strip_prefix('-').unwrap_or(milliseconds);
    let (whole, parts) = digits.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(parts) || parts.len() != 3 {
        return None;
    }
    let micros = whole.parse::<u64>().ok()?.checked_mul(1_000)?;
    let micros = micros.checked_add(parts.parse().ok()?)?;
    let size = micros as f64 * RESOLUTION_NS;
    Some(if digits.len() < milliseconds.len() { -size } else { size })
}

/// Of two.
fn difference(pair: &[i128]) -> Option<f64> {
    let (earlier, later) = (pair.first()?, pair.last()?);
    Some((later - earlier).unsigned_abs() as f64)
}

#[cfg(test)]
mod tests;
