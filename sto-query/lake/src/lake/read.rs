//! Decoding of columns from Parquet files, which may come from untrusted sources.

use super::LakeError;
use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sto_model::{memory, units};

/// Maximum number of rows in a file: stacks have 32-bit numbers, and 1 GiB of columns is enough for a run.
const MOST_ROWS: usize = 1 << 27;

/// Columns of a file by name.
pub(super) struct Table<'p> {
    reader: SerializedFileReader<Bytes>,
    file: &'p str,
    rows: usize,
}

/// Runs `work` on a file that may be damaged; panics of the Parquet library become errors.
pub(super) fn guarded<T>(
    file: &str,
    work: impl FnOnce() -> Result<T, LakeError>,
) -> Result<T, LakeError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(damaged(file, "it cannot be read as Parquet")))
}

/// Creates the error for a damaged file.
pub(super) fn damaged(file: &str, what: impl Into<String>) -> LakeError {
    LakeError::Damaged {
        file: file.to_owned(),
        what: what.into(),
    }
}

impl<'p> Table<'p> {
    /// Opens the contents of a file with this name in messages.
    pub(super) fn open(file: &'p str, bytes: Vec<u8>) -> Result<Table<'p>, LakeError> {
        let reader = SerializedFileReader::new(Bytes::from(bytes));
        let reader = reader.map_err(|error| damaged(file, error.to_string()))?;
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows());
        let claimed = reader.metadata().row_groups().iter();
        let claimed = claimed.map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0));
        memory::check_limit(units::Bytes(claimed.fold(0, u64::saturating_add)))
            .map_err(|error| damaged(file, error.to_string()))?;
        match rows {
            Ok(rows) if rows <= MOST_ROWS => Ok(Table { reader, file, rows }),
            _ => Err(damaged(
                file,
                format!("its number of rows is not between 0 and {MOST_ROWS}"),
            )),
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the numbers in a column.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<Option<u64>>, LakeError> {
        let cells = self.cells::<Int64Type>(name, Physical::INT64)?;
        let number = |cell: Option<i64>| cell.map(u64::try_from).transpose();
        let numbers = cells.into_iter().map(number).collect::<Result<_, _>>();
        numbers.map_err(|_| self.damaged(format!("a number below 0 in column {name}")))
    }

    /// Returns the numbers in a column without nulls.
    pub(super) fn all_numbers(&self, name: &str) -> Result<Vec<u64>, LakeError> {
        let numbers: Option<Vec<u64>> = self.numbers(name)?.into_iter().collect();
        numbers.ok_or_else(|| self.damaged(format!("a row has no value in column {name}")))
    }

    /// Returns the texts or bytes in a column, which share the memory of its pages.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<Option<ByteArray>>, LakeError> {
        self.cells::<ByteArrayType>(name, Physical::BYTE_ARRAY)
    }

    /// Converts a cell to text; null becomes an empty text.
    pub(super) fn text<'c>(&self, cell: Option<&'c ByteArray>) -> Result<&'c str, LakeError> {
        let bytes = cell.map_or(&[][..], ByteArray::data);
        str::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))
    }

    /// Creates the error for damage in this file.
    pub(super) fn damaged(&self, what: impl Into<String>) -> LakeError {
        damaged(self.file, what)
    }

    fn cells<T: DataType>(
        &self,
        name: &str,
        physical: Physical,
    ) -> Result<Vec<Option<T::T>>, LakeError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut columns = schema.columns().iter();
        let index = columns
            .position(|column| column.path().string() == name)
            .ok_or_else(|| self.damaged(format!("it has no column {name}")))?;
        let column = schema.column(index);
        if column.physical_type() != physical || column.max_rep_level() > 0 {
            let found = column.physical_type();
            return Err(self.damaged(format!("column {name} is {found}, and not {physical}")));
        }
        let mut cells = Vec::new();
        for group in 0..self.reader.num_row_groups() {
            let mut read = || -> Result<(), ParquetError> {
                let reader = self.reader.get_row_group(group)?.get_column_reader(index)?;
                read_column::<T>(reader, column.max_def_level(), self.rows, &mut cells)
            };
            read().map_err(|error| self.damaged(format!("column {name}: {error}")))?;
        }
        if cells.len() == self.rows {
            Ok(cells)
        } else {
            Err(self.damaged(format!(
                "column {name} does not have as many rows as the file"
            )))
        }
    }
}

/// Appends the cells of a column in a row group, unless there are too many.
fn read_column<T: DataType>(
    reader: ColumnReader,
    known: i16,
    most: usize,
    cells: &mut Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    const AT_ONCE: usize = 1 << 16;
    let mut reader = get_typed_column_reader::<T>(reader);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while cells.len() <= most {
        levels.clear();
        values.clear();
        let (rows, ..) = reader.read_records(AT_ONCE, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            break;
        }
        let mut values = values.drain(..);
        if known == 0 {
            cells.extend(values.map(Some));
            continue;
        }
        for &level in &levels {
            cells.push(if level == known { values.next() } else { None });
        }
    }
    Ok(())
}
