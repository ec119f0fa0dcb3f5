//! Virtual tables whose rows are computed on demand.

use super::constraints::Constraints;
use super::stored::{QueryFailure, Stored};
use crate::QueryError;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::vtab::Context;
use std::sync::Arc;

/// A table: its columns, and the rows that match a query's constraints.
pub(super) trait Table: Sized + 'static {
    /// Name in SQL.
    const NAME: &'static str;
    /// Columns, in the order of the indices of [`Cursor::cell`].
    const COLUMNS: &'static [Column];
    /// Estimated number of rows without constraints.
    const ROWS: RowEstimate;
    /// Cost of the first row relative to the following rows: higher if stacks must be read.
    const START: f64 = 10.0;
    /// Column by which the rows of a build are in order, if a query uses it and only constrains the build.
    const ORDER: Option<Order> = None;
    /// Iterator over the rows.
    type Cursor: Cursor;

    /// Returns the rows that may match; SQLite checks each again.
    fn rows(stored: &Arc<Stored>, asked: &Constraints<'_>) -> Result<Self::Cursor, QueryFailure>;
}

/// Order of the rows of a build.
pub(super) struct Order {
    /// The column by which rows are sorted.
    pub(super) by: usize,
    /// The column of the build.
    pub(super) of: usize,
}

/// Estimated number of rows.
#[derive(Clone, Copy)]
pub(super) enum RowEstimate {
    /// Total number.
    Few(f64),
    /// Number per build.
    OfBuild(f64),
    /// Number per run.
    OfRun(f64),
}

impl RowEstimate {
    /// Returns the estimate for this store.
    pub(super) fn estimate(self, stored: &Stored) -> f64 {
        let (builds, runs) = stored.counts();
        match self {
            RowEstimate::Few(rows) => rows,
            RowEstimate::OfBuild(rows) => rows * builds,
            RowEstimate::OfRun(rows) => rows * runs,
        }
    }
}

/// Cursor over rows.
pub(super) trait Cursor {
    /// Returns `true` after the last row.
    fn is_done(&self) -> bool;

    /// Moves to the next row.
    fn advance(&mut self) -> Result<(), QueryError>;

    /// Sets the value of a cell of the current row.
    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()>;
}

/// Cost of the first row if stacks must be read.
pub(super) const FIRST_ROW_COST: f64 = 20_000.0;

/// A column of a table.
pub(super) struct Column {
    /// Name in SQL.
    pub(super) name: &'static str,
    /// Type affinity.
    pub(super) sql_type: &'static str,
    /// Use of the column in constraints.
    pub(super) role: Role,
}

/// Use of a column in constraints.
pub(super) enum Role {
    Plain,
    /// Rows can be found by equality.
    Sought(MatchEstimate),
    /// Rows can be found by equality and by range.
    Ordered,
    /// A required argument of a table-valued function.
    Argument,
    /// An optional argument of a table-valued function.
    Option,
}

impl Column {
    const fn new(name: &'static str, sql_type: &'static str, role: Role) -> Column {
        Column {
            name,
            sql_type,
            role,
        }
    }

    /// Creates a column of text, such as an id in hexadecimal.
    pub(super) const fn text(name: &'static str) -> Column {
        Column::new(name, "TEXT", Role::Plain)
    }

    /// Creates a column of integers.
    pub(super) const fn integer(name: &'static str) -> Column {
        Column::new(name, "INTEGER", Role::Plain)
    }

    /// Creates a column of floating-point numbers.
    pub(super) const fn real(name: &'static str) -> Column {
        Column::new(name, "REAL", Role::Plain)
    }

    /// Lets rows be found by equality without reading the others.
    pub(super) const fn with_equality_index(self, rows: MatchEstimate) -> Column {
        Column::new(self.name, self.sql_type, Role::Sought(rows))
    }

    /// Lets rows be found by range.
    pub(super) const fn with_range_index(self) -> Column {
        Column::new(self.name, self.sql_type, Role::Ordered)
    }

    /// Creates a required argument.
    pub(super) const fn required_argument(name: &'static str) -> Column {
        Column::new(name, "TEXT", Role::Argument)
    }

    /// Creates an optional argument.
    pub(super) const fn optional_argument(name: &'static str, sql_type: &'static str) -> Column {
        Column::new(name, sql_type, Role::Option)
    }

    /// Returns the name and the type.
    pub(super) fn name_and_type(&self) -> (String, String) {
        (self.name.to_owned(), self.sql_type.to_owned())
    }

    /// Returns `true` for an argument.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(self.role, Role::Argument | Role::Option)
    }
}

/// Estimated number of rows with the same value in a column.
#[derive(Clone, Copy)]
pub(super) enum MatchEstimate {
    /// A fixed number.
    Few(f64),
    /// The rows of a build.
    Build,
    /// The rows of a run.
    Run,
    /// Nearly all rows.
    Most,
}

impl MatchEstimate {
    /// Returns the estimate for a table with this number of rows.
    pub(super) fn estimate(self, rows: f64, stored: &Stored) -> f64 {
        let (builds, runs) = stored.counts();
        match self {
            MatchEstimate::Few(rows) => rows,
            MatchEstimate::Build => rows / builds,
            MatchEstimate::Run => rows / runs,
            MatchEstimate::Most => rows,
        }
    }
}

/// Destination for the value of a cell.
pub(super) struct Cell<'a>(pub(super) &'a mut Context);

impl Cell<'_> {
    /// Sets text.
    pub(super) fn set_text(self, text: &str) -> rusqlite::Result<()> {
        self.0.set_result(text)
    }

    /// Sets text, or null if it is empty.
    pub(super) fn set_text_or_null(self, text: &str) -> rusqlite::Result<()> {
        match text {
            "" => self.set_null(),
            known => self.set_text(known),
        }
    }

    /// Sets a count or cost; as a floating-point number if it exceeds SQLite's integers.
    pub(super) fn set_count(self, count: u64) -> rusqlite::Result<()> {
        match i64::try_from(count) {
            Ok(count) => self.0.set_result(count),
            Err(_) => self.0.set_result(count as f64),
        }
    }

    /// Sets null.
    pub(super) fn set_null(self) -> rusqlite::Result<()> {
        self.0.set_result(rusqlite::types::Null)
    }

    /// Sets a value.
    fn value(self, value: &Value) -> rusqlite::Result<()> {
        self.0.set_result(ToSqlOutput::Borrowed(value.into()))
    }
}

/// Cursor over precomputed rows.
pub(super) struct PrecomputedRows {
    rows: Vec<Vec<Value>>,
    at: usize,
}

impl PrecomputedRows {
    /// Creates a cursor over these rows.
    pub(super) fn new(rows: Vec<Vec<Value>>) -> PrecomputedRows {
        PrecomputedRows { rows, at: 0 }
    }
}

impl Cursor for PrecomputedRows {
    fn is_done(&self) -> bool {
        self.at >= self.rows.len()
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        self.at += 1;
        Ok(())
    }

    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()> {
        match self.rows.get(self.at).and_then(|row| row.get(column)) {
            Some(value) => cell.value(value),
            // SQLite fills in arguments.
            None => cell.set_null(),
        }
    }
}

/// Converts a count; to a floating-point number if it exceeds SQLite's integers.
pub(super) fn count(count: u64) -> Value {
    i64::try_from(count).map_or(Value::Real(count as f64), Value::Integer)
}

/// Converts text; to null if it is empty.
pub(super) fn text_or_null(text: impl Into<String>) -> Value {
    let text = text.into();
    if text.is_empty() {
        Value::Null
    } else {
        Value::Text(text)
    }
}

/// Returns the list of a table's arguments.
pub(super) fn list_arguments<T: Table>() -> String {
    let hidden = T::COLUMNS.iter().filter(|column| column.is_hidden());
    let names: Vec<&str> = hidden.map(|column| column.name).collect();
    names.join(", ")
}
