//! Known damages, done at known places: what is said of each.

use proptest::prelude::*;

use super::*;

const LAP: u64 = LAP_BYTES;
/// Bytes before the damage, in what is received at once with it.
const BEFORE: u64 = 100;
/// Bytes behind it: a sound mark among them.
const AFTER: u64 = LAP + 100;

fn key() -> StreamKey {
    StreamKey::new(0x1234_5678, 3, true)
}

fn stream(key: StreamKey, from: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    key.copy_to(from, &mut bytes);
    bytes
}

/// Bytes that are in no stream.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// What is said of `bytes` that came at `position` of the stream.
fn judge(position: u64, bytes: &[u8]) -> Corruption {
    let first = key().first_wrong(position, bytes).expect("the bytes are wrong");
    Examination::new(Payload::Keyed, key(), position + first as u64, &bytes[first..]).judge()
}

/// Where damages are done: at the begin of a stream, in a mark, behind one, at the end of a lap, far inside of a lap.
fn places() -> Vec<u64> {
    let lap = 90 * LAP;
    vec![BEFORE, LAP - 3, lap, lap + 5, lap + 12, lap + 16, lap + 8_000, lap + LAP - 1]
}

/// `came` in place of what should stand from `at` on, and then so much of the right stream.
fn in_place(at: u64, came: &[u8], after: u64) -> Vec<u8> {
    let mut bytes = stream(key(), at - BEFORE, BEFORE);
    bytes.extend_from_slice(came);
    bytes.extend(stream(key(), at + came.len() as u64, after));
    bytes
}

/// What is said of `came` in place of what should stand from `at` on: where much follows, and where nothing does.
fn both(at: u64, came: &[u8]) -> [Nature; 2] {
    [AFTER, 0].map(|after| judge(at - BEFORE, &in_place(at, came, after)).nature)
}

/// From a place to another.
fn shifted(at: u64, by_bytes: i64, len: u64) -> Vec<u8> {
    stream(key(), at.checked_add_signed(by_bytes).expect("inside of the stream"), len)
}

#[test]
fn a_few_bits_are_flipped_bits_wherever_they_are() {
    for at in places() {
        for bytes in [1, 2, 3, 7, 8, 23, 24, 64] {
            for (step, mask) in [(1, 0x10), (1, 0x81), (3, 0x40), (9, 0x01), (700, 0x02)] {
                let mut came = stream(key(), at, bytes * step);
                for index in 0..bytes {
                    came[(index * step) as usize] ^= mask;
                }
                let nature = Nature::BitFlip { bits: mask.count_ones() * bytes as u32 };
                let length_bytes = (bytes - 1) * step + 1;
                let expected = Corruption { offset_bytes: at, length_bytes, nature };
                for after in [AFTER, 0] {
                    let judged = judge(at - BEFORE, &in_place(at, &came, after));
                    assert_eq!(judged, expected, "{bytes} bytes, one in {step}, {mask:#x} at {at}");
                }
            }
        }
    }
}

#[test]
fn a_few_overwritten_bytes_are_that_and_more_are_of_no_flow() {
    for at in places() {
        for len in 1..=64_usize {
            for zeros in [false, true] {
                let came: Vec<u8> = if zeros {
                    vec![0; len]
                } else {
                    stream(key(), at, len as u64).iter().map(|byte| !byte).collect()
                };
                for after in [AFTER, 0] {
                    let bytes = in_place(at, &came, after);
                    if key().first_wrong(at - BEFORE, &bytes).is_none() {
                        continue;
                    }
                    let judged = judge(at - BEFORE, &bytes);
                    let what = format!("{len} bytes at {at}: {judged:?}");
                    assert!(judged.length_bytes <= len as u64, "{what}");
                    match judged.nature {
                        Nature::Overwritten { bytes, .. } => {
                            assert!(
                                bytes as usize <= len && (zeros || bytes as usize == len),
                                "{what}"
                            );
                            assert!((judged.length_bytes as usize) < FOREIGN_BYTES, "{what}");
                        }
                        // Marks are full of zeros: few of their bytes are wrong then.
                        Nature::BitFlip { .. } => assert!(zeros, "{what}"),
                        Nature::Foreign => assert!(len >= FOREIGN_BYTES, "{what}"),
                        _ => panic!("{what}"),
                    }
                }
            }
        }
        assert_eq!(both(at, &noise(1_448)), [Nature::Foreign, Nature::Foreign]);
        assert_eq!(both(at, &noise(5 * LAP as usize)), [Nature::Foreign, Nature::Foreign]);
    }
}

#[test]
fn one_overwritten_byte_is_one_byte_whatever_it_is() {
    for at in [7, LAP + 2, LAP + 7, LAP + 8, LAP + 9, LAP + 15, LAP + 16, 5 * LAP + 4_000] {
        for value in 0..=255_u8 {
            let right = key().byte(at);
            if value == right {
                continue;
            }
            let bits = (value ^ right).count_ones();
            let expected = match bits {
                1..=2 => Nature::BitFlip { bits },
                _ => Nature::Overwritten { bytes: 1, bits },
            };
            for after in [AFTER, 2_000, 0] {
                let mut bytes = vec![value];
                bytes.extend(stream(key(), at + 1, after));
                let judged = judge(at, &bytes);
                let found =
                    Corruption { offset_bytes: at, length_bytes: 1, nature: expected.clone() };
                assert_eq!(judged, found, "{value:#x} at {at}, {after} after it");
            }
        }
    }
}

/// Distances in a stream: less than a lap, whole laps, beyond those, and lengths of segments and buffers.
fn distances() -> impl Iterator<Item = i64> {
    let lap = LAP as i64;
    let segments = [1, 7, 16, 384, 1_448, 4_096, 8_144, 65_536, 131_072, 1 << 20];
    let laps = [1, 2, 3, 4, 16, 64].map(|laps| laps * lap);
    let around = [lap - 16, lap - 1, lap + 1, lap + 16, 4 * lap - 384, 4 * lap + 384];
    segments.into_iter().chain(laps).chain(around).flat_map(|distance| [distance, -distance])
}

#[test]
fn a_shift_that_lasts_is_told_exactly_at_any_distance() {
    for at in places().into_iter().map(|at| at + 200 * LAP) {
        for by_bytes in distances() {
            let came = shifted(at, by_bytes, 5 * LAP);
            let judged = judge(at - BEFORE, &in_place(at, &came, 0));
            assert_eq!(judged.nature, Nature::Shifted { by_bytes }, "at {at}: {judged:?}");
        }
    }
}

#[test]
fn a_block_from_elsewhere_is_told_exactly_by_its_mark_and_up_to_laps_without_one() {
    let lap = LAP as i64;
    let at = 200 * LAP + 3_000;
    // No mark stands in the block, neither here nor where it is from.
    let is_plain = |by_bytes: &i64| {
        let from = (at as i64 + by_bytes).rem_euclid(lap);
        by_bytes % lap != 0 && (16..lap - 1_448).contains(&from)
    };
    assert!(distances().filter(is_plain).count() > 20);
    for by_bytes in distances().filter(is_plain) {
        for judged in both(at, &shifted(at, by_bytes, 1_448)) {
            let Nature::Misplaced { by_bytes: Some(told) } = judged else {
                panic!("{by_bytes}: {judged:?}")
            };
            assert_eq!((told - by_bytes) % lap, 0, "{by_bytes}: {told}");
            assert!(told.abs() <= lap / 2, "{by_bytes}: {told}");
        }
        let expected = Nature::Shifted { by_bytes };
        assert_eq!(both(at, &shifted(at, by_bytes, LAP + 1_448)), [expected.clone(), expected]);
    }
}

#[test]
fn copies_and_gaps_are_shifts_back_and_ahead() {
    for at in places().into_iter().map(|at| at + 200 * LAP) {
        for len in [1, 1_448, 65_536, LAP, 3 * LAP] {
            // Bytes that come again, and the stream behind them.
            let mut again = stream(key(), at - len, len);
            again.extend(stream(key(), at, 5 * LAP));
            let nature = judge(at - BEFORE, &in_place(at, &again, 0)).nature;
            assert_eq!(nature, Nature::Shifted { by_bytes: -(len as i64) }, "{len} at {at}");
        }
    }
}

#[test]
fn data_of_another_flow_is_named_by_its_mark() {
    for other in [StreamKey::new(0x1234_5678, 9, true), StreamKey::new(0x1234_5678, 3, false)] {
        let expected =
            Nature::OtherFlow { flow: other.flow(), from_client: other.is_from_client() };
        for at in places() {
            for from in [at, 700_000, 0] {
                for len in [LAP + 100, 65_536, 6 * LAP] {
                    let judged = both(at, &stream(other, from, len));
                    assert_eq!(judged, [expected.clone(), expected.clone()], "{len} at {at}");
                }
                // Without a mark it is a stretch of table that may be anybody's.
                let start = from - from % LAP + 4_000;
                for judged in both(at, &stream(other, start, 1_448)) {
                    assert!(matches!(judged, Nature::Misplaced { .. }), "{judged:?} at {at}");
                }
            }
        }
    }
    // That of another session is foreign only where it is nothing that this one could send.
    let stranger = stream(StreamKey::new(0x8765_4321, 3, true), 4_000, 1_448);
    assert!(both(90 * LAP, &stranger).iter().all(|it| matches!(it, Nature::Misplaced { .. })));
}

#[test]
fn of_several_damages_the_longest_is_named_and_the_first_located() {
    // A bit, and 5,000 bytes later a gap that lasts.
    let at = 100 * LAP + 4_000;
    let mut came = stream(key(), at, 5_000);
    came[0] ^= 4;
    came.extend(stream(key(), at + 5_000 + 1_448, 5 * LAP));
    let judged = judge(at - BEFORE, &in_place(at, &came, 0));
    assert_eq!((judged.offset_bytes, judged.nature), (at, Nature::Shifted { by_bytes: 1_448 }));
    // A gap in which a bit has flipped, too.
    let mut came = stream(key(), at + 1_448, 5 * LAP);
    came[20] ^= 4;
    assert_eq!(
        judge(at - BEFORE, &in_place(at, &came, 0)).nature,
        Nature::Shifted { by_bytes: 1_448 }
    );
    // Three bytes here and there.
    let mut came = stream(key(), at, 2_000);
    for index in [0, 900, 1_999] {
        came[index] = !came[index];
    }
    let expected = Nature::Overwritten { bytes: 3, bits: 24 };
    assert_eq!(both(at, &came), [expected.clone(), expected]);
}

#[test]
fn each_nature_is_said_in_words() {
    let text = |nature: Nature| nature.to_string();
    assert_eq!(text(Nature::BitFlip { bits: 1 }), "1 bit flipped");
    assert_eq!(
        text(Nature::Overwritten { bytes: 1, bits: 4 }),
        "1 byte overwritten (4 wrong bits)"
    );
    assert_eq!(
        text(Nature::Shifted { by_bytes: -65_536 }),
        "the data is that of 65,536 bytes before in its stream"
    );
    assert_eq!(
        text(Nature::Misplaced { by_bytes: Some(1) }),
        "the data is that of 1 byte further on in its stream, whole laps of 16,288 bytes more or less, or that of another flow"
    );
    assert_eq!(text(Nature::Foreign), "the data is of no flow of this session");
}

#[test]
fn a_nature_of_a_later_version_is_read() {
    let later = r#"{"kind":"teleported","from":{"planet":3}}"#;
    assert_eq!(serde_json::from_str::<Nature>(later).expect("unknown is a value"), Nature::Unknown);
    let flip = serde_json::to_string(&Nature::BitFlip { bits: 2 }).expect("plain data");
    assert_eq!(flip, r#"{"kind":"bit_flip","bits":2}"#);
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(
        position in prop_oneof![0_u64..200_000, Just(u64::MAX >> 2), Just(u64::MAX - 100)],
        bytes in prop::collection::vec(any::<u8>(), 1..2_000),
    ) {
        let corruption = Examination::new(Payload::Keyed, key(), position, &bytes).judge();
        prop_assert!(corruption.length_bytes <= bytes.len() as u64);
    }

    #[test]
    fn any_shift_is_told_exactly(
        position in 200_000_u64..10_000_000, shift in -190_000_i64..190_000,
    ) {
        prop_assume!(shift != 0);
        let mut bytes = stream(key(), position, 64);
        bytes.extend(stream(key(), (position + 64).wrapping_add_signed(shift), 2 * LAP + 64));
        prop_assert_eq!(judge(position, &bytes).nature, Nature::Shifted { by_bytes: shift });
    }
}
