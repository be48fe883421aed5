//! What wrong bytes say: where they are, how many, and what happened to them. Off the hot path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{LAP_BYTES, MARK_BYTES, StreamKey};

/// Evidence is gathered until four laps and a mark are certain to be in it.
const EVIDENCE_BYTES: usize = (4 * LAP_BYTES + 2 * MARK_BYTES) as usize;

/// As long as this, a stretch of table is found nowhere else by chance.
const TELLING_BYTES: usize = 24;

/// A stretch of wrong bytes: where, how long, and of what nature.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Corruption {
    /// Position of the first wrong byte in the stream of its direction.
    pub offset_bytes: u64,
    /// From the first to the last wrong byte among those looked at, inclusive. At most some 64 KiB are
    /// looked at: a stream that is shifted from here on is wrong to its end.
    pub length_bytes: u64,
    /// What kind of damage it is.
    pub nature: Nature,
}

/// What kind of damage.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Nature {
    /// Single bits differ here and there.
    BitFlip {
        /// How many bits.
        bits: u32,
    },
    /// The stream's own data from another position: bytes are missing (positive) or come again
    /// (negative).
    Shifted {
        /// By how many bytes the data is ahead of its place.
        by_bytes: i64,
    },
    /// Data of another flow of the same session, or of its other direction.
    OtherFlow {
        /// Which flow.
        flow: u32,
        /// Whether it is of the direction that the client sends.
        from_client: bool,
    },
    /// Nothing that a flow of this session sends.
    Foreign,
    /// A nature that this version does not know.
    #[serde(other)]
    Unknown,
}

/// Wrong bytes under examination: gathers what follows the first of them, then judges.
#[derive(Debug)]
pub struct Examination {
    key: StreamKey,
    /// Position of the first wrong byte.
    offset: u64,
    evidence: Vec<u8>,
}

impl Examination {
    /// Begins with the first wrong byte and what follows it.
    pub fn new(key: StreamKey, offset: u64, bytes: &[u8]) -> Self {
        let mut examination = Self { key, offset, evidence: Vec::with_capacity(EVIDENCE_BYTES) };
        examination.add(bytes);
        examination
    }

    /// Adds bytes that follow. Returns whether there is now enough to judge.
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        let room = EVIDENCE_BYTES - self.evidence.len();
        self.evidence.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.evidence.len() == EVIDENCE_BYTES
    }

    /// Judges what there is.
    pub fn judge(&self) -> Corruption {
        let wrong = self.wrong_against(self.key, 0);
        Corruption {
            offset_bytes: self.offset,
            length_bytes: wrong.extent as u64,
            nature: self.nature(&wrong),
        }
    }

    fn nature(&self, wrong: &Wrong) -> Nature {
        let few_bits = wrong.bits <= 2 * wrong.bytes
            && (wrong.bytes * 2 <= wrong.extent as u32 || wrong.extent <= 4);
        let flip = Nature::BitFlip { bits: wrong.bits };
        // One damaged mark among sound ones is damage; a mark of another lap is followed by more of them.
        if wrong.marks == 1
            && wrong.outside_marks == 0
            && (wrong.sound_marks > 0 || wrong.bits == 1)
        {
            return flip;
        }
        match self.other_source(wrong) {
            Some((key, shift)) if key == self.key => Nature::Shifted { by_bytes: shift },
            Some((key, _)) => {
                Nature::OtherFlow { flow: key.flow(), from_client: key.is_from_client() }
            }
            None if few_bits => flip,
            None => Nature::Foreign,
        }
    }

    /// The stream, and how far from here in it, whose data this is.
    fn other_source(&self, wrong: &Wrong) -> Option<(StreamKey, i64)> {
        let explains = |&(key, shift): &(StreamKey, i64)| {
            (key, shift) != (self.key, 0) && self.explains(key, shift, wrong)
        };
        self.sources_named_by_marks()
            .find(explains)
            .or_else(|| self.source_by_content().filter(explains))
    }

    /// Streams that the marks in the evidence name, each with its shift.
    fn sources_named_by_marks(&self) -> impl Iterator<Item = (StreamKey, i64)> {
        // The mark that the first wrong byte lies in began before the evidence, as it had to.
        let before = self.offset.min(MARK_BYTES - 1);
        let start = self.offset - before;
        let context: Vec<u8> = (start..self.offset)
            .map(|position| self.key.byte(position))
            .chain(self.evidence.iter().copied())
            .collect();
        let session = self.key.session().to_le_bytes();
        let last = context.len().saturating_sub(MARK_BYTES as usize - 1);
        (0..last).filter_map(move |index| {
            let mark = &context[index..index + MARK_BYTES as usize];
            if mark[4..8] != session {
                return None;
            }
            let tag = u64::from_le_bytes(mark[..8].try_into().ok()?);
            let lap = u64::from_le_bytes(mark[8..].try_into().ok()?);
            let source = i64::try_from(lap.checked_mul(LAP_BYTES)?).ok()?;
            let here = i64::try_from(start + index as u64).ok()?;
            Some((StreamKey::from_tag(tag), source - here))
        })
    }

    /// Where in this stream, nearest to here, the first telling stretch of the evidence belongs.
    fn source_by_content(&self) -> Option<(StreamKey, i64)> {
        let telling = self.evidence.get(..TELLING_BYTES)?;
        let index = StreamKey::find_in_table(telling)?;
        let lap = LAP_BYTES as i64;
        let there = self.key.offset_of_table_index(index) as i64;
        let here = (self.offset % LAP_BYTES) as i64;
        let ahead = (there - here).rem_euclid(lap);
        let shift =
            if ahead > lap / 2 && self.offset as i64 >= lap - ahead { ahead - lap } else { ahead };
        Some((self.key, shift))
    }

    /// Whether the data of `key`, `shift` bytes from here, is what came in place of the right data.
    fn explains(&self, key: StreamKey, shift: i64, wrong: &Wrong) -> bool {
        let needed = wrong.extent.min(4 * TELLING_BYTES);
        (0..needed).all(|index| {
            (self.offset + index as u64)
                .checked_add_signed(shift)
                .is_some_and(|position| key.byte(position) == self.evidence[index])
        })
    }

    /// What is wrong, if the evidence should be the data of `key`, `shift` bytes from here.
    fn wrong_against(&self, key: StreamKey, shift: i64) -> Wrong {
        let mut wrong = Wrong::default();
        let mut last_mark = None;
        for (index, &byte) in self.evidence.iter().enumerate() {
            let position = (self.offset + index as u64).wrapping_add_signed(shift);
            let in_mark = position % LAP_BYTES < MARK_BYTES;
            let difference = key.byte(position) ^ byte;
            if difference != 0 {
                wrong.bytes += 1;
                wrong.bits += difference.count_ones();
                wrong.extent = index + 1;
                wrong.outside_marks += u32::from(!in_mark);
                if in_mark && last_mark != Some(position / LAP_BYTES) {
                    last_mark = Some(position / LAP_BYTES);
                    wrong.marks += 1;
                }
            }
            let ends_mark = position % LAP_BYTES == MARK_BYTES - 1;
            wrong.sound_marks += u32::from(ends_mark && last_mark != Some(position / LAP_BYTES));
        }
        wrong
    }
}

/// How the evidence differs from what it should be.
#[derive(Default)]
struct Wrong {
    bytes: u32,
    bits: u32,
    /// Index after the last wrong byte.
    extent: usize,
    outside_marks: u32,
    /// Marks with a wrong byte.
    marks: u32,
    /// Marks without one.
    sound_marks: u32,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAP: u64 = LAP_BYTES;

    fn key() -> StreamKey {
        StreamKey::new(0x1234_5678, 3, true)
    }

    fn stream(key: StreamKey, from: u64, len: u64) -> Vec<u8> {
        (from..from + len).map(|position| key.byte(position)).collect()
    }

    /// What is said of `bytes` that came at `position` of the stream.
    fn judge(position: u64, bytes: &[u8]) -> Corruption {
        let first = key().first_wrong(position, bytes).expect("the bytes are wrong");
        Examination::new(key(), position + first as u64, &bytes[first..]).judge()
    }

    #[test]
    fn a_flipped_bit_is_a_flipped_bit() {
        let mut bytes = stream(key(), 1_000, 100_000);
        bytes[5_000] ^= 0x10;
        assert_eq!(
            judge(1_000, &bytes),
            Corruption {
                offset_bytes: 6_000,
                length_bytes: 1,
                nature: Nature::BitFlip { bits: 1 }
            }
        );
    }

    #[test]
    fn a_flipped_bit_in_a_mark_is_not_another_lap() {
        for byte in 0..MARK_BYTES as usize {
            let mut bytes = stream(key(), 0, 3 * LAP);
            bytes[LAP as usize + byte] ^= 1;
            assert_eq!(judge(0, &bytes).nature, Nature::BitFlip { bits: 1 }, "byte {byte}");
        }
    }

    #[test]
    fn scattered_flips_are_counted() {
        let mut bytes = stream(key(), 0, 60_000);
        for index in [100, 20_000, 40_000] {
            bytes[index] ^= 0x81;
        }
        let corruption = judge(0, &bytes);
        assert_eq!(corruption.nature, Nature::BitFlip { bits: 6 });
        assert_eq!(corruption.length_bytes, 39_901);
    }

    #[test]
    fn lost_and_repeated_bytes_are_shifts() {
        for shift in
            [1, 1_448, 65_536, -1, -1_448, -65_536, LAP as i64, -(LAP as i64), 3 * LAP as i64]
        {
            let position = 1_000_000_u64;
            let mut bytes = stream(key(), position, 10_000);
            let source = (position + 10_000).checked_add_signed(shift).expect("positive");
            bytes.extend(stream(key(), source, 3 * LAP));
            assert_eq!(
                judge(position, &bytes).nature,
                Nature::Shifted { by_bytes: shift },
                "{shift}"
            );
        }
    }

    #[test]
    fn data_of_another_flow_is_named() {
        for other in [StreamKey::new(0x1234_5678, 9, true), StreamKey::new(0x1234_5678, 3, false)] {
            let mut bytes = stream(key(), 0, 10_000);
            bytes.extend(stream(other, 700_000, 2 * LAP));
            let expected =
                Nature::OtherFlow { flow: other.flow(), from_client: other.is_from_client() };
            assert_eq!(judge(0, &bytes).nature, expected);
        }
    }

    #[test]
    fn a_block_swapped_in_has_its_extent() {
        let mut bytes = stream(key(), 0, 3 * LAP);
        bytes[1_000..5_000].copy_from_slice(&stream(key(), 105_000, 4_000));
        // The block is shorter than a lap and holds no mark: it is placed in the nearest lap.
        let nature = Nature::Shifted { by_bytes: 104_000 - 6 * LAP as i64 };
        assert_eq!(
            judge(0, &bytes),
            Corruption { offset_bytes: 1_000, length_bytes: 4_000, nature }
        );
    }

    #[test]
    fn a_nature_of_a_later_version_is_read() {
        let later = r#"{"kind":"teleported","from":{"planet":3}}"#;
        assert_eq!(
            serde_json::from_str::<Nature>(later).expect("unknown is a value"),
            Nature::Unknown
        );
        let flip = serde_json::to_string(&Nature::BitFlip { bits: 2 }).expect("plain data");
        assert_eq!(flip, r#"{"kind":"bit_flip","bits":2}"#);
    }

    #[test]
    fn noise_is_foreign() {
        let mut bytes = stream(key(), 0, 100);
        bytes.extend((0..100_000_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8));
        assert_eq!(judge(0, &bytes).nature, Nature::Foreign);
        let mut bytes = stream(key(), 0, 100);
        bytes.extend([0; 5_000]);
        assert_eq!(judge(0, &bytes).nature, Nature::Foreign);
    }

    #[test]
    fn a_stream_that_ends_early_is_judged_by_what_there_is() {
        let mut bytes = stream(key(), 0, 100);
        bytes[99] ^= 0x80;
        assert_eq!(judge(0, &bytes).nature, Nature::BitFlip { bits: 1 });
        let mut bytes = stream(key(), 0, 1_000);
        bytes.extend(stream(key(), 1_500, 40));
        assert_eq!(judge(0, &bytes).nature, Nature::Shifted { by_bytes: 500 });
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(
            position in prop_oneof![0_u64..200_000, Just(u64::MAX >> 2)],
            bytes in prop::collection::vec(any::<u8>(), 1..2_000),
        ) {
            let corruption = Examination::new(key(), position, &bytes).judge();
            prop_assert!(corruption.length_bytes <= bytes.len() as u64);
        }

        #[test]
        fn any_shift_is_told_exactly(
            position in 200_000_u64..10_000_000, shift in -190_000_i64..190_000,
        ) {
            prop_assume!(shift != 0);
            let mut bytes = stream(key(), position, 64);
            bytes.extend(stream(key(), (position + 64).wrapping_add_signed(shift), LAP + 64));
            prop_assert_eq!(judge(position, &bytes).nature, Nature::Shifted { by_bytes: shift });
        }
    }
}
