//! What bare loops send and compare where they check: a table's bytes, with a mark at the start of each lap that says where in the
//! stream it stands, or a header before each datagram. The same work for each byte as the instrument has, and nothing else.

use std::io::{self, IoSlice, Read, Write};

use anyhow::{Result, ensure};

use super::PAGE;

/// Bytes from one mark to the next: whole pages, so that a copy's source and target never come to lie where copying is slow.
const LAP: usize = 4 * PAGE;
/// Bytes of a mark.
const MARK: usize = 16;
/// Laps of the largest write, a cut one at each end.
const MOST_LAPS: usize = 66;

/// Of a datagram: the word of its session, its number, and when it was sent.
pub const HEADER: usize = 24;
/// The word of every session.
const WORD: u64 = 0x7061_7468_7363_6f70;

/// The bytes that follow each mark, at a steady place of a page.
pub struct Table {
    bytes: Vec<u8>,
    start: usize,
}

impl Table {
    /// One whose bytes lie so far into a page.
    pub fn new(place: usize) -> Self {
        let mut bytes = vec![0; LAP + 2 * PAGE];
        let start = bytes.as_ptr().align_offset(PAGE) + place % PAGE;
        for (index, byte) in bytes[start..start + LAP].iter_mut().enumerate() {
            *byte = (index as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0];
        }
        Self { bytes, start }
    }

    /// The bytes of a lap, from a place on.
    pub fn lap(&self) -> &[u8] {
        &self.bytes[self.start..self.start + LAP]
    }

    /// Writes so many bytes of a stream; how many went.
    pub fn write(
        &self,
        stream: &mut impl Write,
        position: u64,
        mut bytes: usize,
    ) -> io::Result<usize> {
        let first = position / LAP as u64;
        let marks: [[u8; MARK]; MOST_LAPS] = std::array::from_fn(|lap| mark(first + lap as u64));
        let mut slices = [IoSlice::new(&[]); 2 * MOST_LAPS];
        let (mut count, mut from) = (0, (position % LAP as u64) as usize);
        for mark in &marks {
            for part in [&mark[from.min(MARK)..], &self.lap()[from.max(MARK)..]] {
                let part = &part[..part.len().min(bytes)];
                slices[count] = IoSlice::new(part);
                (count, bytes) = (count + 1, bytes - part.len());
            }
            from = 0;
            if bytes == 0 {
                break;
            }
        }
        stream.write_vectored(&slices[..count])
    }

    /// Compares what came at a place of a stream with what was to come.
    pub fn check(&self, mut position: u64, mut came: &[u8]) -> Result<()> {
        while !came.is_empty() {
            let from = (position % LAP as u64) as usize;
            let (now, rest) = came.split_at(came.len().min(LAP - from));
            let (of_mark, of_table) = now.split_at(now.len().min(MARK.saturating_sub(from)));
            let mark = &mark(position / LAP as u64)[from.min(MARK)..];
            let table = &self.lap()[from.max(MARK)..];
            let is_right =
                of_mark == &mark[..of_mark.len()] && of_table == &table[..of_table.len()];
            ensure!(is_right, "find the bytes at {position} right");
            position += now.len() as u64;
            came = rest;
        }
        Ok(())
    }
}

fn mark(lap: u64) -> [u8; MARK] {
    (u128::from(WORD) << 64 | u128::from(lap)).to_be_bytes()
}

/// Puts a header before a datagram.
pub fn head(datagram: &mut [u8], number: u64, at_ns: u64) {
    for (place, word) in [WORD, number, at_ns].into_iter().enumerate() {
        datagram[8 * place..][..8].copy_from_slice(&word.to_be_bytes());
    }
}

/// Compares a datagram with what it has to be; its number.
pub fn number_of(datagram: &[u8], table: &Table) -> Result<u64> {
    let word = |place: usize| -> Option<u64> {
        datagram.get(8 * place..)?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
    };
    let rest = datagram.get(HEADER..).unwrap_or_default();
    ensure!(word(0) == Some(WORD) && *rest == table.lap()[..rest.len()], "find a datagram right");
    Ok(word(1).unwrap_or_default())
}

/// Reads once to a place that keeps its distance from the stream's position, and compares what came.
pub fn read(
    stream: &mut impl Read,
    room: &mut [u8],
    position: u64,
    table: Option<&Table>,
) -> Result<usize> {
    let came = stream.read(room)?;
    if let Some(table) = table {
        table.check(position, &room[..came])?;
    }
    Ok(came)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_at_any_place_is_found_right_there_and_nowhere_else() {
        let table = Table::new(100);
        for position in [0, 1, 15, 16, 17, 16_383, 16_384, 1 << 40] {
            for bytes in [1, 15, 40_000, 1 << 20] {
                let mut sent = Vec::new();
                let went = table.write(&mut sent, position, bytes).expect("memory takes all");
                assert_eq!((went, sent.len()), (bytes, bytes));
                assert!(table.check(position, &sent).is_ok(), "{bytes} at {position}");
                assert!(table.check(position + (1 << 20), &sent).is_err() || bytes < LAP);
                sent[bytes / 2] ^= 1;
                assert!(table.check(position, &sent).is_err(), "{bytes} at {position}");
            }
        }
    }

    #[test]
    fn a_datagram_is_right_with_its_header_and_every_byte() {
        let table = Table::new(0);
        let mut datagram = table.lap()[..1_400].to_vec();
        datagram.copy_within(..1_400 - HEADER, HEADER);
        head(&mut datagram, 7, 9);
        assert_eq!(number_of(&datagram, &table).ok(), Some(7));
        for place in [0, HEADER, 1_399] {
            let mut damaged = datagram.clone();
            damaged[place] ^= 1;
            assert!(number_of(&damaged, &table).is_err(), "{place}");
        }
    }
}
