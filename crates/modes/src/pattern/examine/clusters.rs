//! Wrong bytes that stand together.

/// So many right bytes in a row are right by no chance: what is wrong before them and behind them are two stretches.
const GAP_BYTES: usize = 8;

/// A stretch of wrong bytes with few right ones between them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Cluster {
    /// Index of its first wrong byte.
    pub start: usize,
    /// Index after its last.
    pub end: usize,
    /// Wrong bytes.
    pub bytes: u32,
    /// Wrong bits.
    pub bits: u32,
}

impl Cluster {
    /// From its first wrong byte to its last.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether the bits differ one by one. Data that has nothing to do with what was expected differs in four of eight.
    pub fn has_few_bits(&self) -> bool {
        self.bits <= 2 * self.bytes
    }

    /// This and one behind it.
    pub fn with(self, later: Self) -> Self {
        Self {
            start: self.start,
            end: later.end,
            bytes: self.bytes + later.bytes,
            bits: self.bits + later.bits,
        }
    }
}

/// The stretches of wrong bytes among those that came.
pub(super) fn of(expected: impl Iterator<Item = u8>, came: &[u8]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    for (index, (expected, came)) in expected.zip(came).enumerate() {
        let bits = (expected ^ came).count_ones();
        if bits == 0 {
            continue;
        }
        let wrong = Cluster { start: index, end: index + 1, bytes: 1, bits };
        match clusters.last_mut() {
            Some(last) if index - last.end < GAP_BYTES => *last = last.with(wrong),
            _ => clusters.push(wrong),
        }
    }
    clusters
}
