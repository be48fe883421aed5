//! Whose data it is that came in place of the right one: by the marks among it, else by what the table holds.

use super::Nature;
use super::clusters::Cluster;
use crate::pattern::table::{LAP_BYTES, MARK_BYTES, StreamKey};

/// A stretch of table of so many bytes is found nowhere else by chance.
const LEAST_BYTES: usize = 8;
/// No more than this is looked for at once.
const SOUGHT_BYTES: usize = 24;
/// From one place that is looked for to the next, and how many: the first may hold a mark, which is not in the table.
const STEP_BYTES: usize = 8;
const STEPS: usize = 9;
/// So much of a stretch is compared with what it is said to be.
const COMPARED_BYTES: usize = 96;
/// So many bytes must be right there and wrong here: some are right in both places by chance.
const PROVEN_BYTES: usize = LEAST_BYTES - 2;
/// Of that, one byte in so many may differ: a bit may have flipped on top of all.
const WRONG_PART: usize = 8;

const MARK: usize = MARK_BYTES as usize;

/// Where data belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// To this stream, so many bytes from here: a mark says so.
    Named(StreamKey, i64),
    /// To this very stream, so many bytes from here, give or take whole laps; or to another one.
    Own(i64),
    /// To some other stream.
    Another,
}

impl Source {
    pub fn nature(self, own: StreamKey) -> Nature {
        match self {
            Self::Named(key, by_bytes) if key == own => Nature::Shifted { by_bytes },
            Self::Named(key, _) => {
                Nature::OtherFlow { flow: key.flow(), from_client: key.is_from_client() }
            }
            Self::Own(by_bytes) => Nature::Misplaced { by_bytes: Some(by_bytes) },
            Self::Another => Nature::Misplaced { by_bytes: None },
        }
    }
}

/// Looks for where the evidence belongs.
#[derive(Debug)]
pub(super) struct Search<'evidence> {
    key: StreamKey,
    offset: u64,
    evidence: &'evidence [u8],
    /// Streams that marks in the evidence name other than this one's here, each with its distance, as often as it is named.
    named: Vec<(StreamKey, i64)>,
}

impl<'evidence> Search<'evidence> {
    /// In what came from the first wrong byte on, which is at this position of the stream.
    pub fn new(key: StreamKey, offset: u64, evidence: &'evidence [u8]) -> Self {
        let named = named_by_marks(key, offset, evidence);
        Self { key, offset, evidence, named }
    }

    /// Where a stretch belongs.
    pub fn source_of(&self, cluster: &Cluster) -> Option<Source> {
        if cluster.len() < LEAST_BYTES {
            return None;
        }
        let named = self.named.iter().find(|&&(key, shift)| self.explains(key, shift, cluster));
        named
            .map(|&(key, shift)| Source::Named(key, shift))
            .or_else(|| self.source_by_content(cluster))
    }

    /// What several marks agree on.
    pub fn agreed_by_marks(&self) -> Option<Source> {
        let is_agreed =
            |(index, named): &(usize, &(StreamKey, i64))| self.named[index + 1..].contains(named);
        let (_, &(key, shift)) = self.named.iter().enumerate().find(is_agreed)?;
        Some(Source::Named(key, shift))
    }

    /// By the first stretch of it that stands in the table.
    fn source_by_content(&self, cluster: &Cluster) -> Option<Source> {
        let mut starts = (cluster.start..cluster.end).step_by(STEP_BYTES).take(STEPS);
        let (start, index) = starts.find_map(|start| {
            let sought = &self.evidence[start..cluster.end.min(start + SOUGHT_BYTES)];
            let is_telling = sought.len() >= LEAST_BYTES;
            Some((start, StreamKey::find_in_table(sought).filter(|_| is_telling)?))
        })?;
        let lap = LAP_BYTES as i64;
        let there = self.key.offset_of_table_index(index) as i64;
        let here = (self.offset.wrapping_add(start as u64) % LAP_BYTES) as i64;
        let ahead = (there - here).rem_euclid(lap);
        let mut nearest = [ahead, ahead - lap];
        nearest.sort_by_key(|shift| shift.unsigned_abs());
        let own = nearest.into_iter().find(|&shift| self.explains(self.key, shift, cluster));
        Some(own.map_or(Source::Another, Source::Own))
    }

    /// Whether the data of `key`, `shift` bytes from here, is what came in place of the right data. What a mark says of
    /// itself proves nothing: only bytes of the table that are right there and wrong here do.
    fn explains(&self, key: StreamKey, shift: i64, cluster: &Cluster) -> bool {
        let end = cluster.end.min(cluster.start + COMPARED_BYTES);
        let (mut proven, mut wrong) = (0, 0);
        for (index, &came) in self.evidence[..end].iter().enumerate().skip(cluster.start) {
            let here = self.offset.wrapping_add(index as u64);
            let Some(there) = here.checked_add_signed(shift) else { return false };
            let is_right = key.byte(there) == came;
            let is_of_table = there % LAP_BYTES >= MARK_BYTES;
            wrong += usize::from(!is_right);
            proven += usize::from(is_right && is_of_table && self.key.byte(here) != came);
        }
        proven >= PROVEN_BYTES && wrong * WRONG_PART <= end - cluster.start
    }
}

/// Streams that marks name other than this one's here, each with its distance.
fn named_by_marks(key: StreamKey, offset: u64, evidence: &[u8]) -> Vec<(StreamKey, i64)> {
    // The mark that the first wrong byte lies in began before the evidence, as it had to.
    let before = offset.min(MARK_BYTES - 1);
    let start = offset - before;
    let mut context = vec![0; before as usize];
    key.copy_to(start, &mut context);
    context.extend_from_slice(evidence);
    let session = key.session().to_le_bytes();
    let named = context.windows(MARK).enumerate().filter_map(|(index, mark)| {
        if mark[4..8] != session {
            return None;
        }
        let tag = u64::from_le_bytes(mark[..8].try_into().ok()?);
        let lap = u64::from_le_bytes(mark[8..].try_into().ok()?);
        let source = i64::try_from(lap.checked_mul(LAP_BYTES)?).ok()?;
        let here = i64::try_from(start.wrapping_add(index as u64)).ok()?;
        Some((StreamKey::from_tag(tag), source - here))
    });
    named.filter(|&named| named != (key, 0)).collect()
}
