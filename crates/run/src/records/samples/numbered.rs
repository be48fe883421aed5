//! Rows that say of which measurement they are, where tests are repeated and all of their rows go to one file.
//!
//! Not here: what else a row holds (the modes).

use pathscope_core::Tick;
use pathscope_core::journal::Each;
use pathscope_modes::samples::{Cells, SampleRows};

/// The column's name.
const COLUMN: &str = "measurement";

/// The rows of a mode with a column more, the last one: the place of their measurement among those of the result, from 0.
pub(super) struct Numbered<R> {
    pub own: R,
    pub measurement: u64,
}

impl<R: SampleRows> SampleRows for Numbered<R> {
    type Sample = R::Sample;

    fn head(&self) -> String {
        let head = self.own.head();
        let columns = head.trim_end();
        format!("{columns},{COLUMN}{}", &head[columns.len()..])
    }

    fn cells(&self, column: &str) -> Cells {
        if column == COLUMN { Cells::Integers } else { self.own.cells(column) }
    }

    fn absent(&self) -> &'static str {
        self.own.absent()
    }

    fn add(&mut self, rows: &mut Vec<u8>, sample: &Self::Sample, start: Tick) {
        self.own.add(rows, sample, start);
        let ends = rows.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let end = rows.split_off(rows.len() - ends);
        rows.push(b',');
        rows.extend_from_slice(self.measurement.to_string().as_bytes());
        rows.extend_from_slice(&end);
    }

    fn each(&self, sample: &Self::Sample, start: Tick) -> Option<Each> {
        self.own.each(sample, start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl SampleRows for Plain {
        type Sample = u8;

        fn head(&self) -> String {
            "ping,fate\r\n".to_owned()
        }

        fn cells(&self, _: &str) -> Cells {
            Cells::Words
        }

        fn add(&mut self, rows: &mut Vec<u8>, sample: &u8, _: Tick) {
            rows.extend_from_slice(format!("{sample},\r\n").as_bytes());
        }
    }

    #[test]
    fn each_row_has_the_number_at_its_end() {
        let mut numbered = Numbered { own: Plain, measurement: 12 };
        assert_eq!(numbered.head(), "ping,fate,measurement\r\n");
        assert_eq!(numbered.cells("measurement"), Cells::Integers);
        assert_eq!(numbered.cells("fate"), Cells::Words);
        let mut rows = Vec::new();
        numbered.add(&mut rows, &7, Tick::ZERO);
        numbered.add(&mut rows, &8, Tick::ZERO);
        assert_eq!(rows, b"7,,12\r\n8,,12\r\n");
    }
}
