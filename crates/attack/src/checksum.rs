//! CRC-32C (Castagnoli; RFC 3720, B.4), as the protocol's document names it.

const TABLE: [u32; 256] = table();

/// The checksum of these bytes.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ TABLE[usize::from((crc as u8) ^ byte)])
}

const fn table() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0x82f6_3b78 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn nine_digits_have_the_sum_that_the_document_states() {
        assert_eq!(super::crc(b"123456789"), 0xe306_9283);
    }
}
