//! Rows of SQL as columns of Arrow.

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray, NullArray, RecordBatch,
};
use arrow_schema::ArrowError;
use std::io;
use std::sync::Arc;
use sto_query::tables::{SqlCell, SqlRows};

/// Collects the rows of one statement.
#[derive(Default)]
pub(crate) struct Columns {
    columns: Option<Vec<Column>>,
}

struct Column {
    name: String,
    cells: Vec<Cell>,
}

enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Columns {
    /// Returns the columns as a batch; `None` if there was no statement.
    ///
    /// Cells of SQLite have types of their own. A column has the narrowest type that all of its cells have: null,
    /// integer, floating point, bytes or text.
    pub(crate) fn into_batch(self) -> Option<Result<RecordBatch, ArrowError>> {
        let columns = self.columns?.into_iter();
        let columns = columns.map(|column| (column.name, array(&column.cells), true));
        Some(RecordBatch::try_from_iter_with_nullable(columns))
    }
}

impl SqlRows for Columns {
    fn columns(&mut self, names: &[&str]) -> io::Result<()> {
        if self.columns.is_some() {
            let several = "the query has several statements; ask one at a time";
            return Err(io::Error::other(several));
        }
        let columns = names.iter().map(|&name| Column {
            name: name.to_owned(),
            cells: Vec::new(),
        });
        self.columns = Some(columns.collect());
        Ok(())
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().flatten().zip(cells) {
            column.cells.push(match *cell {
                SqlCell::Null => Cell::Null,
                SqlCell::Integer(number) => Cell::Integer(number),
                SqlCell::Real(number) => Cell::Real(number),
                SqlCell::Text(text) => Cell::Text(text.to_owned()),
                SqlCell::Blob(bytes) => Cell::Blob(bytes.to_owned()),
            });
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn array(cells: &[Cell]) -> ArrayRef {
    let all = |is_kind: fn(&Cell) -> bool| {
        let mut cells = cells.iter().filter(|cell| !matches!(cell, Cell::Null));
        cells.all(is_kind)
    };
    if all(|_| false) {
        Arc::new(NullArray::new(cells.len()))
    } else if all(|cell| matches!(cell, Cell::Integer(_))) {
        let integer = |cell: &Cell| match *cell {
            Cell::Integer(number) => Some(number),
            _ => None,
        };
        Arc::new(Int64Array::from_iter(cells.iter().map(integer)))
    } else if all(|cell| matches!(cell, Cell::Integer(_) | Cell::Real(_))) {
        let real = |cell: &Cell| match *cell {
            Cell::Integer(number) => Some(number as f64),
            Cell::Real(number) => Some(number),
            _ => None,
        };
        Arc::new(Float64Array::from_iter(cells.iter().map(real)))
    } else if all(|cell| matches!(cell, Cell::Blob(_))) {
        let blob = |cell: &Cell| match cell {
            Cell::Blob(bytes) => Some(bytes.clone()),
            _ => None,
        };
        Arc::new(LargeBinaryArray::from_iter(cells.iter().map(blob)))
    } else {
        Arc::new(LargeStringArray::from_iter(cells.iter().map(text)))
    }
}

/// The text of a cell in a column with text, as in CSV.
fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(number.to_string()),
        Cell::Text(text) => Some(text.clone()),
        Cell::Blob(bytes) => Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
    }
}
