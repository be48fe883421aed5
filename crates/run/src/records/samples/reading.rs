//! Files of samples again: the pings that a run of `latency` kept, as text or as Parquet, row by row into what they come to. Memory
//! does not grow with a file.
//!
//! Not here: what rows come to (`modes/latency`), and files of frames and of datagrams on paths, which other programs open.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use parquet::basic::Type as PhysicalType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use pathscope_modes::foreign::ForeignResult;
use pathscope_modes::latency::{KeptPing, KeptPings};
use pathscope_os::outlets::explain;

/// With what a file of Parquet begins.
const MAGIC: &[u8] = b"PAR1";
/// The longest row of text that may be one: ten numbers of 64 bits have less.
const MOST_ROW: u64 = 512;
/// What is read of a file at once.
const READ_AT_ONCE: usize = 1 << 18;
/// Rows of columns that are held.
const ROWS_AT_ONCE: usize = 1 << 14;

/// What a file of pings comes to; none where the file of this name does not begin as one. Errors are sentences.
pub fn pings_of(path: &Path) -> Option<Result<ForeignResult, String>> {
    // What a pipe has can be read once alone.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    let head = KeptPing::HEAD.len() as u64;
    // What cannot be opened or read is told by whoever reads results.
    File::open(path).ok()?.take(head).read_to_end(&mut beginning).ok()?;
    if !may_hold_pings(&beginning) {
        return None;
    }
    let file = File::open(path).map_err(|error| explain(&error));
    Some(file.and_then(pings).map(|pings| ForeignResult::of_pings(&pings)))
}

/// Whether a file that begins so has pings one by one, as far as that tells: one of Parquet may have something else.
fn may_hold_pings(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC) || beginning == KeptPing::HEAD.as_bytes()
}

/// All pings of a file. Errors are sentences.
fn pings(mut file: File) -> Result<KeptPings, String> {
    let mut magic = Vec::new();
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|it| explain(&it))?;
    let pings = if magic == MAGIC {
        of_columns(file)?
    } else {
        file.seek(SeekFrom::Start(0)).map_err(|error| explain(&error))?;
        of_text(BufReader::with_capacity(READ_AT_ONCE, file))?
    };
    if pings.count() == 0 {
        return Err("it holds no ping".to_owned());
    }
    Ok(pings)
}

fn of_text(mut rows: impl BufRead) -> Result<KeptPings, String> {
    let mut pings = KeptPings::default();
    let mut row = Vec::new();
    for line in 1_u64.. {
        row.clear();
        let fault = |why: String| format!("line {line}: {why}");
        let read = rows.by_ref().take(MOST_ROW).read_until(b'\n', &mut row);
        if read.map_err(|error| explain(&error))? == 0 {
            break;
        }
        // Of a row that was cut off nobody knows how much of a number is missing.
        let Some((b'\n', text)) = row.split_last() else {
            return Err(fault("it ends in the middle, or is longer than any row".to_owned()));
        };
        let text = std::str::from_utf8(text).map_err(|error| fault(error.to_string()))?;
        let text = text.strip_suffix('\r').unwrap_or(text);
        match line {
            1 if text == KeptPing::HEAD => {}
            1 => return Err("it does not begin with the columns of pings".to_owned()),
            _ => KeptPing::of(text).and_then(|ping| pings.add(ping)).map_err(fault)?,
        }
    }
    Ok(pings)
}

/// A column as it is read: of each row whether there is a value, and the values.
struct Cells<T: parquet::data_type::DataType> {
    reader: ColumnReaderImpl<T>,
    present: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: parquet::data_type::DataType> Cells<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Self {
        Self { reader, present: Vec::new(), values: Vec::new() }
    }

    /// The next rows; how many those are.
    fn next_rows(&mut self) -> Result<usize, ParquetError> {
        self.present.clear();
        self.values.clear();
        let (present, values) = (&mut self.present, &mut self.values);
        Ok(self.reader.read_records(ROWS_AT_ONCE, Some(present), None, values)?.0)
    }

    /// Of each of these rows its value, where there is one. A column whose rows all have to have one says nothing of that.
    fn cells(&self, rows: usize) -> impl Iterator<Item = Option<&T::T>> {
        let mut values = self.values.iter();
        let is_told = !self.present.is_empty();
        (0..rows).map(move |row| {
            let is_there = !is_told || self.present.get(row).is_some_and(|it| *it > 0);
            if is_there { values.next() } else { None }
        })
    }
}

fn of_columns(file: File) -> Result<KeptPings, String> {
    let unreadable = |error: ParquetError| format!("not a whole file of Parquet: {error}");
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let place = |name: &str, kind: PhysicalType| {
        let mut columns = schema.columns().iter();
        let is_it = |column: &parquet::schema::types::ColumnDescPtr| {
            column.path().string() == name
                && column.physical_type() == kind
                && column.max_rep_level() == 0
                && column.max_def_level() <= 1
        };
        columns.position(is_it).ok_or_else(|| {
            format!(
                "it has no column '{name}' as `latency --samples` writes it: only pings are read"
            )
        })
    };
    let [scheduled, rtt, outcome] = KeptPing::COLUMNS;
    let places = [
        place(scheduled, PhysicalType::INT64)?,
        place(rtt, PhysicalType::INT64)?,
        place(outcome, PhysicalType::BYTE_ARRAY)?,
    ];
    let mut pings = KeptPings::default();
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number).map_err(unreadable)?;
        add_group(&mut pings, group.as_ref(), places)?;
    }
    Ok(pings)
}

fn add_group(
    pings: &mut KeptPings,
    group: &dyn RowGroupReader,
    [scheduled, rtt, outcome]: [usize; 3],
) -> Result<(), String> {
    let unreadable = |error: ParquetError| format!("not a whole file of Parquet: {error}");
    let column = |place| group.get_column_reader(place).map_err(unreadable);
    let (
        ColumnReader::Int64ColumnReader(scheduled),
        ColumnReader::Int64ColumnReader(rtt),
        ColumnReader::ByteArrayColumnReader(outcome),
    ) = (column(scheduled)?, column(rtt)?, column(outcome)?)
    else {
        return Err("its columns are not of the types that its schema says".to_owned());
    };
    let mut scheduled = Cells::<Int64Type>::new(scheduled);
    let mut rtt = Cells::<Int64Type>::new(rtt);
    let mut outcome = Cells::<ByteArrayType>::new(outcome);
    loop {
        let rows = scheduled.next_rows().map_err(unreadable)?;
        let others = [rtt.next_rows(), outcome.next_rows()];
        for other in others {
            if other.map_err(unreadable)? != rows {
                return Err("its columns are not equally long".to_owned());
            }
        }
        if rows == 0 {
            return Ok(());
        }
        let rtts = rtt.cells(rows);
        let cells = scheduled.cells(rows).zip(rtts).zip(outcome.cells(rows));
        for ((scheduled, rtt), outcome) in cells {
            add_row(pings, scheduled.copied(), rtt.copied(), outcome)?;
        }
    }
}

fn add_row(
    pings: &mut KeptPings,
    scheduled: Option<i64>,
    rtt: Option<i64>,
    outcome: Option<&ByteArray>,
) -> Result<(), String> {
    let nanoseconds = |number: i64| {
        u64::try_from(number).map_err(|_| "a row has a time below nothing".to_owned())
    };
    let scheduled = scheduled.ok_or("a row has no scheduled_ns")?;
    let outcome = outcome.map_or("", |outcome| std::str::from_utf8(outcome.data()).unwrap_or(""));
    let rtt_ns = rtt.map(nanoseconds).transpose()?;
    pings.add(KeptPing { scheduled_ns: nanoseconds(scheduled)?, rtt_ns, outcome })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use pathscope_core::Tick;
    use pathscope_core::id::FlowId;
    use pathscope_modes::latency::{Outcome, PingRows, Sample};
    use pathscope_modes::samples::SampleRows as _;

    use super::super::layout::Layout;
    use super::super::parquet_file::ParquetFile;
    use super::*;

    /// So many rows as a run writes them; each hundredth ping is lost.
    fn text(rows: u64) -> String {
        let mut text = Vec::new();
        for number in 0..rows {
            let at = |nanoseconds: u64| Tick::from_nanos(number * 1_000_000 + nanoseconds);
            let is_lost = number % 100 == 99;
            let sample = Sample {
                flow: FlowId(0),
                sequence: number,
                due: at(0),
                from: at(0),
                sent: at(5),
                received: if is_lost { Tick::NEVER } else { at(20_000 + number % 50) },
                server: None,
                outcome: if is_lost { Outcome::Lost } else { Outcome::Answered },
            };
            PingRows.add(&mut text, &sample, Tick::ZERO);
        }
        String::from_utf8(text).expect("digits and words")
    }

    fn file(bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!(
            "pathscope-reading-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let mut file = File::create(&path).expect("a folder for tests");
        file.write_all(bytes).expect("room");
        let file = File::open(&path).expect("it is there");
        std::fs::remove_file(&path).expect("ours");
        file
    }

    fn columns(rows: &str) -> Vec<u8> {
        let mut columns = ParquetFile::begin(Vec::new(), &Layout::of(&PingRows)).expect("memory");
        columns.add(rows).expect("memory");
        columns.end().expect("memory");
        columns.out().clone()
    }

    #[test]
    fn text_and_columns_of_the_same_pings_come_to_the_same() {
        // More than one group of columns has.
        let rows = text(70_000);
        let of_text = pings(file(format!("{}\n{rows}", KeptPing::HEAD).as_bytes())).expect("pings");
        let of_columns = pings(file(&columns(&rows))).expect("pings");
        let summary = of_text.summary();
        assert_eq!((summary.sent, summary.received, summary.lost), (70_000, 69_300, 700));
        assert_eq!((summary.rtt.min_ns, summary.rtt.max_ns), (Some(20_000), Some(20_049)));
        assert_eq!(of_columns.summary(), summary);
        assert_eq!(of_columns.section(), of_text.section());
    }

    #[test]
    fn what_is_no_whole_file_of_pings_is_refused_in_a_sentence() {
        let refused = |bytes: &[u8]| pings(file(bytes)).expect_err("no pings");
        let head = KeptPing::HEAD;
        assert!(refused(head.as_bytes()).contains("line 1: it ends in the middle"));
        assert!(refused(format!("{head}\n").as_bytes()).contains("no ping"));
        assert!(
            refused(format!("{head}\n0,1,2,3,,,,lost,2,\n0,1,2").as_bytes()).contains("line 3")
        );
        assert!(refused(format!("{head}\n0,1,2,3,,,,gone,2,\n").as_bytes()).contains("line 2"));
        assert!(refused(format!("{head}\n{}", "1".repeat(9_999)).as_bytes()).contains("line 2"));
        assert!(refused(b"PAR1").contains("not a whole file of Parquet"));
        let mut cut = columns(&text(100));
        cut.truncate(cut.len() - 9);
        assert!(refused(&cut).contains("not a whole file of Parquet"));
    }

    #[test]
    fn a_file_of_pings_is_told_from_its_beginning() {
        assert!(may_hold_pings(KeptPing::HEAD.as_bytes()) && may_hold_pings(b"PAR1\x15"));
        assert!(
            !may_hold_pings(b"") && !may_hold_pings(b"{}") && !may_hold_pings(b"SequenceNumber,")
        );
    }
}
