//! The Internet checksum (RFC 1071), repaired where one word changes.

/// The checksum after one 16-bit word that it covers has changed. RFC 1624, equation 3:
/// `HC' = ~(~HC + ~m + m')`, which unlike its predecessor in RFC 1141 never makes 0xffff where a
/// full sum makes zero.
pub fn repaired(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    !fold(sum)
}

fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// The ones' complement sum of whole bytes, an odd one at the end padded with zero: 0xffff where
/// they hold their own valid checksum.
#[cfg(test)]
pub fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0, |sum, pair| {
        let word = u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        fold(u32::from(sum) + word)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 1624, section 4: the sum is 0 and 0x5555 becomes 0x3285; RFC 1141 made 0xffff of it.
        assert_eq!(repaired(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn repairing_equals_computing_anew(
            mut words in prop::collection::vec(any::<u16>(), 1..40),
            which: prop::sample::Index,
            after: u16,
        ) {
            let bytes = |words: &[u16]| -> Vec<u8> {
                words.iter().flat_map(|it| it.to_be_bytes()).collect()
            };
            let before_all = !sum(&bytes(&words));
            let which = which.index(words.len());
            let before = std::mem::replace(&mut words[which], after);
            // A header that is all zero cannot be: 0 and 0xffff are the same number there.
            prop_assume!(words.iter().any(|word| *word != 0));
            let mut whole = bytes(&words);
            prop_assert_eq!(repaired(before_all, before, after), !sum(&whole));
            whole.extend(repaired(before_all, before, after).to_be_bytes());
            prop_assert_eq!(sum(&whole), 0xffff);
        }
    }
}
