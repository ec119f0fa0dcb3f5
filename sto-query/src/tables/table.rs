//! Tables of SQLite whose rows are made as they are asked for.

use super::stored::{Stored, Unanswered};
use crate::QueryError;
use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection,
    VTabCursor,
};
use rusqlite::{Connection, Error};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::fmt::Write;
use std::marker::PhantomData;
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
    /// Its rows, one after another.
    type Cursor: Cursor;

    /// The rows that may fit; SQLite looks at each again.
    fn rows(stored: &Arc<Stored>, asked: &Asked<'_>) -> Result<Self::Cursor, Unanswered>;
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
    fn of(self, stored: &Stored) -> f64 {
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
    name: &'static str,
    sql_type: &'static str,
    role: Role,
}

/// What a query may do with a column beside reading it.
enum Role {
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
    fn of(self, rows: f64, stored: &Stored) -> f64 {
        let (builds, runs) = stored.counts();
        match self {
            Found::Few(rows) => rows,
            Found::Build => rows / builds,
            Found::Run => rows / runs,
            Found::Most => rows,
        }
    }
}

/// What a query asks of a table.
pub(super) struct Asked<'a> {
    conditions: Vec<(usize, Is, ValueRef<'a>)>,
    columns_used: u32,
}

/// What a number is to be.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    least: f64,
    most: f64,
}

impl Bounds {
    /// Whether a number may be one of those; SQLite looks again, by whole numbers.
    pub(super) fn take(self, number: u64) -> bool {
        (self.least..=self.most).contains(&(number as f64))
    }
}

/// How a column is to compare with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Equal,
    AtLeast,
    AtMost,
}

impl Is {
    fn of(operator: IndexConstraintOp) -> Option<Is> {
        Some(match operator {
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Is::Equal,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT
            | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => Is::AtLeast,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT
            | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => Is::AtMost,
            _ => return None,
        })
    }

    fn sign(self) -> char {
        match self {
            Is::Equal => '=',
            Is::AtLeast => '>',
            Is::AtMost => '<',
        }
    }
}

impl<'a> Asked<'a> {
    /// What was planned, by `column sign` a value; `None` where a value is null, with which nothing compares.
    fn of(
        plan: &str,
        columns_used: u32,
        values: impl Iterator<Item = ValueRef<'a>>,
    ) -> Option<Self> {
        let mut conditions = Vec::with_capacity(4);
        let mut plan = plan.as_bytes();
        for value in values {
            let (&[column, sign], rest) = plan.split_first_chunk()?;
            plan = rest;
            let is = match sign {
                b'>' => Is::AtLeast,
                b'<' => Is::AtMost,
                _ => Is::Equal,
            };
            if value == ValueRef::Null {
                return None;
            }
            conditions.push((usize::from(column - b'a'), is, value));
        }
        Some(Asked {
            conditions,
            columns_used,
        })
    }

    fn value(&self, column: usize, is: Is) -> Option<ValueRef<'a>> {
        let mut conditions = self.conditions.iter();
        let found = conditions.find(|(of, how, _)| (*of, *how) == (column, is));
        found.map(|&(_, _, value)| value)
    }

    /// What a column is to be, as text.
    pub(super) fn text(&self, column: usize) -> Option<Cow<'a, str>> {
        self.value(column, Is::Equal).map(|value| match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
            ValueRef::Integer(number) => number.to_string().into(),
            ValueRef::Real(number) => number.to_string().into(),
            ValueRef::Null => Cow::Borrowed(""),
        })
    }

    /// What a column is to be, where it is a whole number.
    pub(super) fn integer(&self, column: usize) -> Option<i64> {
        match self.value(column, Is::Equal)? {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Whether a column is to be this text, or may be anything.
    pub(super) fn takes(&self, column: usize, text: &str) -> bool {
        self.text(column).is_none_or(|asked| asked == text)
    }

    /// Between which numbers a column is to be.
    pub(super) fn bounds(&self, column: usize) -> Bounds {
        let mut bounds = Bounds {
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        };
        for &(of, is, value) in &self.conditions {
            let bound = match value {
                ValueRef::Integer(bound) => bound as f64,
                ValueRef::Real(bound) => bound,
                _ => continue,
            };
            if of == column && is != Is::AtMost {
                bounds.least = bounds.least.max(bound);
            }
            if of == column && is != Is::AtLeast {
                bounds.most = bounds.most.min(bound);
            }
        }
        bounds
    }

    /// Whether the query looks at a column.
    pub(super) fn uses(&self, column: usize) -> bool {
        self.columns_used >> column & 1 == 1
    }
}

/// Where a cell of a row goes.
pub(super) struct Cell<'a>(&'a mut Context);

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

/// Has a connection know a table.
pub(super) fn register<T: Table>(
    connection: &Connection,
    stored: &Arc<Stored>,
) -> rusqlite::Result<()> {
    connection.create_module(
        T::NAME,
        const { &Module::<Registered<T>>::eponymous_only_module() },
        Some(stored.clone()),
    )
}

/// A table as SQLite has it.
#[repr(C)]
struct Registered<T> {
    // SQLite takes a pointer to it for one to this.
    base: sqlite3_vtab,
    stored: Arc<Stored>,
    table: PhantomData<T>,
}

// SAFETY: it is `repr(C)`, and begins with what SQLite takes it for.
unsafe impl<'vtab, T: Table> VTab<'vtab> for Registered<T> {
    type Aux = Arc<Stored>;
    type Cursor = Opened<T>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let stored =
            aux.ok_or_else(|| Error::ModuleError("registered without a store".to_owned()))?;
        let table = Registered {
            base: sqlite3_vtab::default(),
            stored: stored.clone(),
            table: PhantomData,
        };
        let declaration = CString::new(declaration::<T>())?;
        Ok((Cow::Owned(declaration), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let mut plan = String::new();
        let all = T::ROWS.of(&self.stored);
        let mut rows = all;
        let mut arguments = 0;
        let mut is_given = vec![false; T::COLUMNS.len()];
        for (constraint, mut usage) in info.constraints_and_usages() {
            let column = usize::try_from(constraint.column()).ok();
            let column = column.and_then(|ix| Some((ix, T::COLUMNS.get(ix)?)));
            let (Some((ix, column)), Some(is)) = (column, Is::of(constraint.operator())) else {
                continue;
            };
            match (&column.role, is) {
                (Role::Sought(_) | Role::Argument | Role::Option, Is::Equal)
                | (Role::Ordered, _) => {}
                _ => continue,
            }
            if !constraint.is_usable() {
                // What a function is given must be known before it is called.
                if column.is_hidden() {
                    return Ok(false);
                }
                continue;
            }
            if is == Is::Equal && std::mem::replace(&mut is_given[ix], true) {
                continue;
            }
            match column.role {
                Role::Sought(found) => rows = rows.min(found.of(all, &self.stored)),
                Role::Ordered => rows /= 4.0,
                _ => usage.set_omit(true),
            }
            arguments += 1;
            usage.set_argv_index(arguments);
            plan.push(char::from(b'a' + ix as u8));
            plan.push(is.sign());
        }
        let mut columns = T::COLUMNS.iter().zip(&is_given);
        if let Some((missing, _)) =
            columns.find(|(column, given)| matches!(column.role, Role::Argument) && !**given)
        {
            let name = T::NAME;
            let missing = missing.name;
            return Err(Error::ModuleError(format!(
                "{name} needs to know `{missing}`: {name}({})",
                arguments_of::<T>()
            )));
        }
        info.set_idx_num((info.col_used() & i32::MAX as u64) as c_int);
        info.set_idx_str(&plan);
        info.set_estimated_rows(rows as i64);
        info.set_estimated_cost(T::START + rows);
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Opened<T>> {
        Ok(Opened {
            base: sqlite3_vtab_cursor::default(),
            stored: self.stored.clone(),
            rows: None,
            row: 0,
        })
    }
}

/// `CREATE TABLE` as SQLite wants to read it.
fn declaration<T: Table>() -> String {
    let mut text = "CREATE TABLE x(".to_owned();
    for (ix, column) in T::COLUMNS.iter().enumerate() {
        let separator = if ix == 0 { "" } else { ", " };
        let hidden = if column.is_hidden() { " HIDDEN" } else { "" };
        let Column { name, sql_type, .. } = column;
        let _ = write!(text, "{separator}\"{name}\" {sql_type}{hidden}");
    }
    text + ")"
}

/// What stands in parentheses behind its name.
pub(super) fn arguments_of<T: Table>() -> String {
    let hidden = T::COLUMNS.iter().filter(|column| column.is_hidden());
    let names: Vec<&str> = hidden.map(|column| column.name).collect();
    names.join(", ")
}

/// Where a query is in a table.
#[repr(C)]
struct Opened<T: Table> {
    // SQLite takes a pointer to it for one to this.
    base: sqlite3_vtab_cursor,
    stored: Arc<Stored>,
    rows: Option<T::Cursor>,
    row: i64,
}

// SAFETY: it is `repr(C)`, and begins with what SQLite takes it for.
unsafe impl<T: Table> VTabCursor for Opened<T> {
    fn filter(
        &mut self,
        columns_used: c_int,
        plan: Option<&str>,
        values: &Filters<'_>,
    ) -> rusqlite::Result<()> {
        self.row = 0;
        let asked = Asked::of(plan.unwrap_or(""), columns_used as u32, values.iter());
        self.rows = match asked {
            Some(asked) => Some(self.stored.explained(T::rows(&self.stored, &asked))?),
            None => None,
        };
        Ok(())
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row += 1;
        match &mut self.rows {
            Some(rows) => match rows.advance() {
                Ok(()) => Ok(()),
                failed => self.stored.explained(failed),
            },
            None => Ok(()),
        }
    }

    fn eof(&self) -> bool {
        self.rows.as_ref().is_none_or(T::Cursor::is_done)
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        match &self.rows {
            Some(rows) => rows.cell(column as usize, Cell(context)),
            None => Ok(()),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.row)
    }
}
