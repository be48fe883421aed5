//! Rows of samples as a Parquet file: columns with a type, one group of rows after another, and a footer at the end, without
//! which no reader takes the file.
//!
//! Not here: what a row holds (the modes), and what is said where it cannot be written. Nothing is compressed: differences of
//! numbers that rise take a few bits.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use pathscope_modes::samples::Cells;

use super::layout::Layout;

/// Rows of one group. They are held until the group is whole: some 6 MB of ten columns.
const GROUP_ROWS: usize = 1 << 16;

/// A file to which rows are written.
pub(super) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    absent: &'static str,
    /// Rows that are held.
    rows: usize,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file in `out`, which is empty.
    pub fn begin(out: W, layout: &Layout) -> io::Result<Self> {
        let schema = schema(layout).map_err(as_io)?;
        let mut properties = WriterProperties::builder()
            .set_created_by("pathscope".to_owned())
            .set_dictionary_enabled(false);
        for (name, cells) in &layout.columns {
            let column = ColumnPath::new(vec![name.clone()]);
            properties = match cells {
                Cells::Integers => {
                    properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
                }
                Cells::Words => properties.set_column_dictionary_enabled(column, true),
                Cells::Decimals => properties,
            };
        }
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build()));
        Ok(Self {
            writer: writer.map_err(as_io)?,
            columns: layout.columns.iter().map(|(_, cells)| Column::new(*cells)).collect(),
            absent: layout.absent,
            rows: 0,
        })
    }

    /// Adds whole rows.
    pub fn add(&mut self, text: &str) -> io::Result<()> {
        for row in text.lines() {
            let mut cells = row.split(',').map(str::trim);
            for column in &mut self.columns {
                column.add(cells.next().filter(|cell| *cell != self.absent));
            }
            self.rows += 1;
            if self.rows == GROUP_ROWS {
                self.close_group()?;
            }
        }
        Ok(())
    }

    /// Writes what is held, and the footer. Nothing can be added afterwards.
    pub fn end(&mut self) -> io::Result<()> {
        self.close_group()?;
        self.writer.finish().map_err(as_io)?;
        self.writer.inner_mut().flush()
    }

    /// Where it is written.
    pub fn out(&mut self) -> &mut W {
        self.writer.inner_mut()
    }

    fn close_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let mut group = self.writer.next_row_group().map_err(as_io)?;
        self.columns.iter_mut().try_for_each(|column| column.write(&mut group)).map_err(as_io)?;
        group.close().map_err(as_io)?;
        Ok(())
    }
}

fn schema(layout: &Layout) -> Result<Arc<Type>, ParquetError> {
    let field = |(name, cells): &(String, Cells)| {
        let (physical, logical) = match cells {
            Cells::Integers => (PhysicalType::INT64, None),
            Cells::Decimals => (PhysicalType::DOUBLE, None),
            Cells::Words => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = layout.columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("samples").with_fields(fields).build().map(Arc::new)
}

/// The cells of one column that are held.
struct Column {
    /// Of each row: 1 where there is a value, 0 where there is none.
    present: Vec<i16>,
    values: Values,
}

enum Values {
    Integers(Vec<i64>),
    Decimals(Vec<f64>),
    Words(Vec<ByteArray>),
}

impl Column {
    fn new(cells: Cells) -> Self {
        let values = match cells {
            Cells::Integers => Values::Integers(Vec::with_capacity(GROUP_ROWS)),
            Cells::Decimals => Values::Decimals(Vec::with_capacity(GROUP_ROWS)),
            Cells::Words => Values::Words(Vec::with_capacity(GROUP_ROWS)),
        };
        Self { present: Vec::with_capacity(GROUP_ROWS), values }
    }

    fn add(&mut self, cell: Option<&str>) {
        fn push<T>(values: &mut Vec<T>, value: Option<T>) -> i16 {
            let is_present = value.is_some();
            values.extend(value);
            is_present.into()
        }
        let present = match &mut self.values {
            Values::Integers(values) => push(values, cell.and_then(|cell| cell.parse().ok())),
            Values::Decimals(values) => push(values, cell.and_then(|cell| cell.parse().ok())),
            Values::Words(values) => push(values, cell.map(ByteArray::from)),
        };
        self.present.push(present);
    }

    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        let present = Some(&self.present[..]);
        match &mut self.values {
            Values::Integers(values) => {
                column.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Decimals(values) => {
                column.typed::<DoubleType>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Words(values) => {
                column.typed::<ByteArrayType>().write_batch(values, present, None)?;
                values.clear();
            }
        }
        self.present.clear();
        column.close()
    }
}

/// What the system said, where it was the system.
fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => {
            inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error)
        }
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    fn layout() -> Layout {
        let columns = [("ping", Cells::Integers), ("ms", Cells::Decimals), ("fate", Cells::Words)];
        Layout {
            head: "ping, ms, fate\n".to_owned(),
            columns: columns.map(|(name, cells)| (name.to_owned(), cells)).into(),
            absent: "-1",
        }
    }

    fn read(bytes: Vec<u8>) -> Vec<Vec<(String, Field)>> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a whole file");
        let rows = reader.get_row_iter(None).expect("rows");
        rows.map(|row| row.expect("a row").into_columns()).collect()
    }

    #[test]
    fn cells_have_their_types_and_what_is_absent_is_null() {
        let mut file = ParquetFile::begin(Vec::new(), &layout()).expect("memory");
        file.add("7, 0.250, lost\n-9223372036854775808, -1, -1\n").expect("memory");
        file.end().expect("memory");
        let named = |name: &str, field| (name.to_owned(), field);
        let rows = read(file.out().clone());
        assert_eq!(
            rows,
            [
                vec![
                    named("ping", Field::Long(7)),
                    named("ms", Field::Double(0.25)),
                    named("fate", Field::Str("lost".to_owned())),
                ],
                vec![
                    named("ping", Field::Long(i64::MIN)),
                    named("ms", Field::Null),
                    named("fate", Field::Null),
                ],
            ]
        );
    }

    #[test]
    fn more_rows_than_a_group_has_are_several_groups_in_order() {
        let mut file = ParquetFile::begin(Vec::new(), &layout()).expect("memory");
        for number in 0..2 * GROUP_ROWS + 3 {
            file.add(&format!("{number}, 1.5, answered\n")).expect("memory");
        }
        file.end().expect("memory");
        let rows = read(file.out().clone());
        assert_eq!(rows.len(), 2 * GROUP_ROWS + 3);
        assert!((0..).zip(&rows).all(|(number, row)| row[0].1 == Field::Long(number)));
        let reader = SerializedFileReader::new(bytes::Bytes::from(file.out().clone()));
        assert_eq!(reader.expect("a whole file").num_row_groups(), 3);
    }

    #[test]
    fn a_file_without_rows_has_its_columns() {
        let mut file = ParquetFile::begin(Vec::new(), &layout()).expect("memory");
        file.end().expect("memory");
        let reader = SerializedFileReader::new(bytes::Bytes::from(file.out().clone()));
        let reader = reader.expect("a whole file");
        assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), 3);
        assert!(read(file.out().clone()).is_empty());
    }
}
