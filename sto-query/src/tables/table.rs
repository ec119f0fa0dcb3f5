//! Tables of SQLite whose rows are made as they are asked for.

use super::asked::Asked;
use super::stored::{Stored, Unanswered};
use crate::QueryError;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::vtab::Context;
use std::sync::Arc;

/// A table: its columns, and the rows that fit what a query asks for.
pub(super) trait Table: Sized + 'static {
    /// What SQL calls it.
    const NAME: &'static str;
    /// Its columns, those of the same index in [`Cursor::cell`].
    const COLUMNS: &'static [Column];
    /// About how many rows it has where nothing is asked for.
    const ROWS: Rows;
    /// What the first row costs, where one after another costs 1: stacks are read for it, or nothing is.
    const START: f64 = 10.0;
    /// The column by which the rows of a build come in order, where that is asked for and they are found by no other
    /// column than the build's.
    const ORDER: Option<Order> = None;
    /// Its rows, one after another.
    type Cursor: Cursor;

    /// The rows that may fit; SQLite looks at each again.
    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Self::Cursor, Unanswered>;
}

/// How the rows of a build may come in order.
pub(super) struct Order {
    /// By this column.
    pub(super) by: usize,
    /// The column of the build.
    pub(super) of: usize,
}

/// About how many rows there are.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    /// So many.
    Few(f64),
    /// So many a build.
    OfBuild(f64),
    /// So many a run.
    OfRun(f64),
}

impl Rows {
    /// Of this store.
    pub(super) fn of(self, stored: &Stored) -> f64 {
        let (builds, runs) = stored.counts();
        match self {
            Rows::Few(rows) => rows,
            Rows::OfBuild(rows) => rows * builds,
            Rows::OfRun(rows) => rows * runs,
        }
    }
}

/// Rows, of which there is one at a time.
pub(super) trait Cursor {
    /// Whether there is none left.
    fn is_done(&self) -> bool;

    /// Goes to the next.
    fn advance(&mut self) -> Result<(), QueryError>;

    /// Gives a cell of the row.
    fn cell(&self, column: usize, cell: Cell<'_>) -> rusqlite::Result<()>;
}

/// What the first row costs where stacks are read for it.
pub(super) const READ: f64 = 20_000.0;

/// A column of a table.
pub(super) struct Column {
    /// What SQL calls it.
    pub(super) name: &'static str,
    /// The type by which SQLite compares it.
    pub(super) sql_type: &'static str,
    /// What a query may do with it.
    pub(super) role: Role,
}

/// What a query may do with a column beside reading it.
pub(super) enum Role {
    Plain,
    /// Rows are found by it.
    Sought(Found),
    /// Rows are found by it and by its range.
    Ordered,
    /// It is an argument, without which there are no rows.
    Argument,
    /// It is an argument that may be left out.
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

    /// A column of text, such as an id in hexadecimal.
    pub(super) const fn text(name: &'static str) -> Column {
        Column::new(name, "TEXT", Role::Plain)
    }

    /// A column of whole numbers.
    pub(super) const fn integer(name: &'static str) -> Column {
        Column::new(name, "INTEGER", Role::Plain)
    }

    /// A column of numbers.
    pub(super) const fn real(name: &'static str) -> Column {
        Column::new(name, "REAL", Role::Plain)
    }

    /// Rows are found by it without a look at the others.
    pub(super) const fn finds(self, rows: Found) -> Column {
        Column::new(self.name, self.sql_type, Role::Sought(rows))
    }

    /// Rows are found by where it begins and ends.
    pub(super) const fn ordered(self) -> Column {
        Column::new(self.name, self.sql_type, Role::Ordered)
    }

    /// What stands in parentheses behind the name of the table; hidden elsewhere.
    pub(super) const fn argument(name: &'static str) -> Column {
        Column::new(name, "TEXT", Role::Argument)
    }

    /// The same of what may be left out.
    pub(super) const fn option(name: &'static str, sql_type: &'static str) -> Column {
        Column::new(name, sql_type, Role::Option)
    }

    /// Its name and its type.
    pub(super) fn described(&self) -> (String, String) {
        (self.name.to_owned(), self.sql_type.to_owned())
    }

    /// Whether it is an argument.
    pub(super) fn is_hidden(&self) -> bool {
        matches!(self.role, Role::Argument | Role::Option)
    }
}

/// About how many rows are found by a column.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// So many.
    Few(f64),
    /// Those of a build.
    Build,
    /// Those of a run.
    Run,
    /// Nearly all.
    Most,
}

impl Found {
    /// Of so many rows of this store.
    pub(super) fn of(self, rows: f64, stored: &Stored) -> f64 {
        let (builds, runs) = stored.counts();
        match self {
            Found::Few(rows) => rows,
            Found::Build => rows / builds,
            Found::Run => rows / runs,
            Found::Most => rows,
        }
    }
}

/// Where a cell of a row goes.
pub(super) struct Cell<'a>(pub(super) &'a mut Context);

impl Cell<'_> {
    /// Text.
    pub(super) fn text(self, text: &str) -> rusqlite::Result<()> {
        self.0.set_result(text)
    }

    /// Text, or nothing where it is empty.
    pub(super) fn known(self, text: &str) -> rusqlite::Result<()> {
        match text {
            "" => self.null(),
            known => self.text(known),
        }
    }

    /// A count or a cost; one that SQLite has no integer for is a real number.
    pub(super) fn count(self, count: u64) -> rusqlite::Result<()> {
        match i64::try_from(count) {
            Ok(count) => self.0.set_result(count),
            Err(_) => self.0.set_result(count as f64),
        }
    }

    /// Nothing.
    pub(super) fn null(self) -> rusqlite::Result<()> {
        self.0.set_result(rusqlite::types::Null)
    }

    /// What was made before.
    fn value(self, value: &Value) -> rusqlite::Result<()> {
        self.0.set_result(ToSqlOutput::Borrowed(value.into()))
    }
}

/// Few rows, which are all made before the first is read.
pub(super) struct Listed {
    rows: Vec<Vec<Value>>,
    at: usize,
}

impl Listed {
    /// These rows.
    pub(super) fn new(rows: Vec<Vec<Value>>) -> Listed {
        Listed { rows, at: 0 }
    }
}

impl Cursor for Listed {
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
            // An argument, which SQLite knows.
            None => cell.null(),
        }
    }
}

/// A count as a value; one that SQLite has no integer for is a real number.
pub(super) fn count(count: u64) -> Value {
    i64::try_from(count).map_or(Value::Real(count as f64), Value::Integer)
}

/// Text as a value, or nothing where it is empty.
pub(super) fn known(text: impl Into<String>) -> Value {
    let text = text.into();
    match text.is_empty() {
        true => Value::Null,
        false => Value::Text(text),
    }
}

/// What stands in parentheses behind its name.
pub(super) fn arguments_of<T: Table>() -> String {
    let hidden = T::COLUMNS.iter().filter(|column| column.is_hidden());
    let names: Vec<&str> = hidden.map(|column| column.name).collect();
    names.join(", ")
}
