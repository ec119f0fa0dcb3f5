//! Encoding of rows as a Parquet file.

use super::LakeError;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::sync::Arc;

/// Number of rows in a row group; this many are in memory as columns.
const ROWS_OF_GROUP: usize = 1 << 20;

/// A column of a table.
pub(super) struct Column<'a, Row> {
    name: &'static str,
    cells: Cells<'a, Row>,
}

type Cell<'a, Row, T> = Box<dyn Fn(&Row) -> Option<T> + 'a>;

enum Cells<'a, Row> {
    Count(Cell<'a, Row, u64>),
    Number(Cell<'a, Row, u64>),
    Text(Cell<'a, Row, ByteArray>),
    Bytes(Cell<'a, Row, ByteArray>),
    Flag(Cell<'a, Row, bool>),
}

impl<'a, Row> Column<'a, Row> {
    /// Creates a column of counts or costs, with few distinct values.
    pub(super) fn count(name: &'static str, cell: impl Fn(&Row) -> Option<u64> + 'a) -> Self {
        let cells = Cells::Count(Box::new(cell));
        Column { name, cells }
    }

    /// Creates a column of numbers that mostly ascend.
    pub(super) fn number(name: &'static str, cell: impl Fn(&Row) -> Option<u64> + 'a) -> Self {
        let cells = Cells::Number(Box::new(cell));
        Column { name, cells }
    }

    /// Creates a column of texts; unknown ones are null.
    pub(super) fn text(name: &'static str, cell: impl Fn(&Row) -> Option<ByteArray> + 'a) -> Self {
        let cells = Cells::Text(Box::new(cell));
        Column { name, cells }
    }

    /// Creates a column of bytes.
    pub(super) fn bytes(name: &'static str, cell: impl Fn(&Row) -> Option<ByteArray> + 'a) -> Self {
        let cells = Cells::Bytes(Box::new(cell));
        Column { name, cells }
    }

    /// Creates a column of booleans.
    pub(super) fn flag(name: &'static str, cell: impl Fn(&Row) -> bool + 'a) -> Self {
        let cells = Cells::Flag(Box::new(move |row| Some(cell(row))));
        Column { name, cells }
    }

    fn field(&self) -> Result<Type, LakeError> {
        let (physical, logical) = match self.cells {
            Cells::Count(_) | Cells::Number(_) => (Physical::INT64, None),
            Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Cells::Bytes(_) => (Physical::BYTE_ARRAY, None),
            Cells::Flag(_) => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(self.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL);
        Ok(field.build()?)
    }

    fn write(&self, rows: &[Row], to: &mut SerializedColumnWriter<'_>) -> Result<(), LakeError> {
        match &self.cells {
            Cells::Count(cell) | Cells::Number(cell) => {
                let integer = |count| i64::try_from(count).map_err(|_| LakeError::TooLarge(count));
                let cells = rows.iter().map(|row| cell(row).map(integer).transpose());
                write::<Int64Type>(cells.collect::<Result<_, _>>()?, to)
            }
            Cells::Text(cell) | Cells::Bytes(cell) => {
                write::<ByteArrayType>(rows.iter().map(cell).collect(), to)
            }
            Cells::Flag(cell) => write::<BoolType>(rows.iter().map(cell).collect(), to),
        }
    }
}

fn write<T: DataType>(
    cells: Vec<Option<T::T>>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), LakeError> {
    let is_known: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let known: Vec<T::T> = cells.into_iter().flatten().collect();
    to.typed::<T>().write_batch(&known, Some(&is_known), None)?;
    Ok(())
}

/// Converts a text to a cell that can be cloned cheaply.
pub(super) fn text(text: &str) -> ByteArray {
    text.as_bytes().to_vec().into()
}

/// Encodes rows as a file. Equal rows give equal bytes.
pub(super) fn file<Row>(rows: &[Row], columns: &[Column<'_, Row>]) -> Result<Vec<u8>, LakeError> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let schema = Type::group_type_builder("row").with_fields(fields.collect::<Result<_, _>>()?);
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(9)?))
        // Files are selected by their folders, and nearly all of a file is read.
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for column in columns {
        if matches!(column.cells, Cells::Number(_)) {
            let name = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(name.clone(), false)
                .set_column_encoding(name, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let mut writer = SerializedFileWriter::new(
        Vec::new(),
        Arc::new(schema.build()?),
        Arc::new(properties.build()),
    )?;
    for rows in rows.chunks(ROWS_OF_GROUP) {
        let mut group = writer.next_row_group()?;
        for column in columns {
            if let Some(mut to) = group.next_column()? {
                column.write(rows, &mut to)?;
                to.close()?;
            }
        }
        group.close()?;
    }
    Ok(writer.into_inner()?)
}
