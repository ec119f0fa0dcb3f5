//! Columns out of the bytes of a Parquet file, which may be another's.

use super::LakeError;
use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sto_model::{memory, units};

/// Most rows of a file: a stack has a number of 32 bits, and 1 GiB of columns is enough for a run.
const MOST_ROWS: usize = 1 << 27;

/// A file's columns, by their names.
pub(super) struct Table<'p> {
    reader: SerializedFileReader<Bytes>,
    file: &'p str,
    rows: usize,
}

/// Does work with a file that may be damaged: what the library panics of is damage, too.
pub(super) fn guarded<T>(
    file: &str,
    work: impl FnOnce() -> Result<T, LakeError>,
) -> Result<T, LakeError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(damaged(file, "it cannot be read as Parquet")))
}

/// What is wrong with a file.
pub(super) fn damaged(file: &str, what: impl Into<String>) -> LakeError {
    LakeError::Damaged {
        file: file.to_owned(),
        what: what.into(),
    }
}

impl<'p> Table<'p> {
    /// The columns of these bytes of a file, as messages call it.
    pub(super) fn open(file: &'p str, bytes: Vec<u8>) -> Result<Table<'p>, LakeError> {
        let reader = SerializedFileReader::new(Bytes::from(bytes));
        let reader = reader.map_err(|error| damaged(file, error.to_string()))?;
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows());
        let claimed = reader.metadata().row_groups().iter();
        let claimed = claimed.map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0));
        memory::check(units::Bytes(claimed.fold(0, u64::saturating_add)))
            .map_err(|error| damaged(file, error.to_string()))?;
        match rows {
            Ok(rows) if rows <= MOST_ROWS => Ok(Table { reader, file, rows }),
            _ => Err(damaged(file, format!("it has not 0 to {MOST_ROWS} rows"))),
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers of a column.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<Option<u64>>, LakeError> {
        let cells = self.cells::<Int64Type>(name, Physical::INT64)?;
        let number = |cell: Option<i64>| cell.map(u64::try_from).transpose();
        let numbers = cells.into_iter().map(number).collect::<Result<_, _>>();
        numbers.map_err(|_| self.damaged(format!("a number below 0 in column {name}")))
    }

    /// The numbers of a column that has one in each row.
    pub(super) fn all_numbers(&self, name: &str) -> Result<Vec<u64>, LakeError> {
        let numbers: Option<Vec<u64>> = self.numbers(name)?.into_iter().collect();
        numbers.ok_or_else(|| self.damaged(format!("a row has nothing in column {name}")))
    }

    /// The texts of a column, or bytes, which share those of its pages.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<Option<ByteArray>>, LakeError> {
        self.cells::<ByteArrayType>(name, Physical::BYTE_ARRAY)
    }

    /// A cell of them as text; what is null is empty.
    pub(super) fn text<'c>(&self, cell: Option<&'c ByteArray>) -> Result<&'c str, LakeError> {
        let bytes = cell.map_or(&[][..], ByteArray::data);
        str::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))
    }

    /// What is wrong with it.
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
        match cells.len() == self.rows {
            true => Ok(cells),
            false => Err(self.damaged(format!("column {name} has not as many rows as the file"))),
        }
    }
}

/// Adds the cells of a column of a row group, so long as there are not too many.
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
            cells.push(match level == known {
                true => values.next(),
                false => None,
            });
        }
    }
    Ok(())
}
