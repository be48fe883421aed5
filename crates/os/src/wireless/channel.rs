//! The band and the channel that a frequency is, as IEEE 802.11 numbers them.

/// The band's name and the channel's number, of the centre of a channel's primary 20 MHz (of 60 GHz: of the channel).
pub(super) fn of(frequency_mhz: u32) -> Option<(&'static str, u32)> {
    let (band, first, spacing) = match frequency_mhz {
        2_484 => return Some(("2.4 GHz", 14)),
        2_412..=2_472 => ("2.4 GHz", 2_407, 5),
        4_910..=4_980 => ("5 GHz", 4_000, 5),
        5_035..=5_885 => ("5 GHz", 5_000, 5),
        // The one channel of 6 GHz that is not counted from 5,950.
        5_935 => return Some(("6 GHz", 2)),
        5_955..=7_115 => ("6 GHz", 5_950, 5),
        58_320..=69_120 => ("60 GHz", 56_160, 2_160),
        _ => return None,
    };
    let above: u32 = frequency_mhz - first;
    above.is_multiple_of(spacing).then(|| (band, above / spacing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_the_channels_of_the_standard() {
        let table = [
            (2_412, "2.4 GHz", 1),
            (2_437, "2.4 GHz", 6),
            (2_472, "2.4 GHz", 13),
            (2_484, "2.4 GHz", 14),
            (4_920, "5 GHz", 184),
            (5_180, "5 GHz", 36),
            (5_500, "5 GHz", 100),
            (5_885, "5 GHz", 177),
            (5_935, "6 GHz", 2),
            (5_955, "6 GHz", 1),
            (7_115, "6 GHz", 233),
            (58_320, "60 GHz", 1),
            (64_800, "60 GHz", 4),
        ];
        for (frequency, band, channel) in table {
            assert_eq!(of(frequency), Some((band, channel)), "{frequency} MHz");
        }
        for frequency in [0, 916, 2_400, 2_413, 5_000, 5_182, 7_120, 60_000, u32::MAX] {
            assert_eq!(of(frequency), None, "{frequency} MHz");
        }
    }
}
