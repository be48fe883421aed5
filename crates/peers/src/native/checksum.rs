//! CRC-32C (Castagnoli): finds what a path has damaged, and keeps no secret.
//!
//! Source: RFC 3720, 12.1 and B.4. A table and a loop: a control connection says some kilobytes a second, so the
//! libraries that compute it with the processor's own instructions would bring unsafe code into a pure room for nothing.

/// The polynomial, bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// The checksum of these parts, one after the other.
pub(super) fn crc32c(parts: &[&[u8]]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    !bytes
        .fold(u32::MAX, |crc, &byte| (crc >> 8) ^ TABLE[((crc ^ u32::from(byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_rfc_3720() {
        assert_eq!(crc32c(&[b"123456789"]), 0xe306_9283);
        assert_eq!(crc32c(&[b"1234", b"", b"56789"]), 0xe306_9283);
        assert_eq!(crc32c(&[&[0; 32]]), 0x8a91_36aa);
        assert_eq!(crc32c(&[&[0xff; 32]]), 0x62a8_ab43);
        assert_eq!(crc32c(&[&std::array::from_fn::<u8, 32, _>(|index| index as u8)]), 0x46dd_794e);
    }
}
