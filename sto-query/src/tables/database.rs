//! A database connection that shows a store as tables.

use super::error::SqlError;
use super::module::register;
use super::stored::Stored;
use super::table::{Table, list_arguments};
use super::{analyses, call, executable, function, function_sample, math, profile, recursion};
use super::{sample, scalar, search, slice, stack_node, stack_node_data};
use crate::QueryError;
use crate::sources::Sources;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, Statement};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sto_core::CancelToken;
use sto_core::memory;

/// A read-only SQL view of a store.
pub struct Database {
    connection: Connection,
    stored: Arc<Stored>,
}

/// A cell of a result row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SqlCell<'a> {
    /// SQL `NULL`.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text, with invalid UTF-8 replaced.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

/// A value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
}

impl From<&str> for SqlValue {
    /// Converts to a number if the text is one, otherwise to text.
    fn from(text: &str) -> SqlValue {
        let real = || text.parse().ok().filter(|number: &f64| number.is_finite());
        match text.parse() {
            Ok(number) => SqlValue::Integer(number),
            Err(_) => real().map_or_else(|| SqlValue::Text(text.to_owned()), SqlValue::Real),
        }
    }
}

/// Options of a query.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SqlOptions {
    /// Values of parameters, by their names without the `:`.
    pub parameters: Vec<(String, SqlValue)>,
    /// Time limit.
    pub timeout: Option<Duration>,
    /// Cancels the query.
    pub cancel: CancelToken,
}

/// Receiver of result rows.
pub trait SqlRows {
    /// Starts the result of a statement with these columns.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written; this ends the query.
    fn columns(&mut self, names: &[&str]) -> io::Result<()>;

    /// Receives the next row, with one cell per column.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written; this ends the query.
    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()>;

    /// Ends the result of a statement.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written; this ends the query.
    fn end(&mut self) -> io::Result<()>;
}

/// A table, table-valued function or scalar function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqlName {
    /// Name in SQL.
    pub name: String,
    /// Arguments in parentheses; `None` for a table.
    pub arguments: Option<String>,
    /// Columns with their types; empty for a scalar function.
    pub columns: Vec<(String, String)>,
}

/// Number of SQLite virtual machine steps between two checks of the time limit.
const STEPS: i32 = 10_000;
/// Maximum length of a cell in bytes.
const LONGEST: i32 = 256 << 20;

/// Repeats code for each table.
macro_rules! each_table {
    ($($table:path),* $(,)?) => {
        fn register_all(connection: &Connection, stored: &Arc<Stored>) -> rusqlite::Result<()> {
            $(register::<$table>(connection, stored)?;)*
            Ok(())
        }

        fn describe_tables() -> Vec<SqlName> {
            vec![$(describe_table::<$table>()),*]
        }
    };
}

each_table!(
    executable::Executable,
    stack_node::StackNode,
    stack_node_data::StackNodeData,
    profile::Profile,
    profile::Label,
    profile::Metric,
    recursion::Recursion,
    sample::Sample,
    slice::Slice,
    call::Call,
    function::Function,
    function::FunctionCost,
    function_sample::FunctionSample,
    analyses::FindRegressions,
    analyses::Potential,
    search::Search,
);

fn describe_table<T: Table>() -> SqlName {
    let columns = T::COLUMNS.iter().filter(|column| !column.is_hidden());
    let arguments = list_arguments::<T>();
    SqlName {
        name: T::NAME.to_owned(),
        arguments: (!arguments.is_empty()).then_some(arguments),
        columns: columns.map(|column| column.name_and_type()).collect(),
    }
}

impl Database {
    /// Opens the store of these sources, in its state at the first query.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn open(sources: Sources) -> Result<Database, SqlError> {
        sources.store().map_err(|error| Box::new(error.into()))?;
        let stored = Arc::new(Stored::new(sources));
        let mut connection = Connection::open_in_memory().map_err(SqlError::from_sqlite)?;
        prepare(&mut connection, &stored).map_err(SqlError::from_sqlite)?;
        Ok(Database { connection, stored })
    }

    /// Returns all names available in queries: tables first, then functions.
    pub fn names() -> Vec<SqlName> {
        let functions = scalar::FUNCTIONS.map(|(name, arguments, _)| (name, arguments));
        let functions = functions.into_iter().chain(math::names());
        let functions = functions.map(|(name, arguments)| SqlName {
            name: name.to_owned(),
            arguments: Some(arguments.to_owned()),
            columns: Vec::new(),
        });
        describe_tables().into_iter().chain(functions).collect()
    }

    /// Runs each statement of a query.
    ///
    /// # Errors
    ///
    /// Returns an error if a statement is invalid, fails, cannot be written, or would modify something.
    pub fn query(
        &mut self,
        sql: &str,
        options: &SqlOptions,
        rows: &mut dyn SqlRows,
    ) -> Result<(), SqlError> {
        self.watch(options)?;
        self.stored.begin_query(&options.cancel);
        let mut used = BTreeSet::new();
        let answered = self.answer(sql, options, &mut used, rows);
        answered.map_err(|failure| match (failure, self.stored.take_failure()) {
            (Failure::Sql(error), _) if is_interrupted(&error) => match &options.timeout {
                _ if options.cancel.is_cancelled() => SqlError::Cancelled(sto_core::Cancelled),
                Some(timeout) => SqlError::Timeout(*timeout),
                None => SqlError::from_sqlite(error),
            },
            (Failure::Sql(_), Some(QueryError::Cancelled(cancelled))) => {
                SqlError::Cancelled(cancelled)
            }
            (Failure::Sql(_), Some(reason)) => SqlError::Question(Box::new(reason)),
            (Failure::Sql(error), None) => SqlError::from_sqlite(error),
            (Failure::Other(error), _) => error,
        })?;
        let mut given = options.parameters.iter().map(|(name, _)| name);
        match given.find(|name| !used.contains(*name)) {
            Some(name) => Err(SqlError::UnknownParameter(name.clone())),
            None => Ok(()),
        }
    }

    /// Installs the check for the time limit and cancellation.
    fn watch(&mut self, options: &SqlOptions) -> Result<(), SqlError> {
        let cancel = options.cancel.clone();
        let end = options.timeout.map(|timeout| Instant::now() + timeout);
        let is_over = move || cancel.is_cancelled() || end.is_some_and(|end| Instant::now() >= end);
        let watched = self.connection.progress_handler(STEPS, Some(is_over));
        watched.map_err(SqlError::from_sqlite)
    }

    fn answer(
        &self,
        sql: &str,
        options: &SqlOptions,
        used: &mut BTreeSet<String>,
        rows: &mut dyn SqlRows,
    ) -> Result<(), Failure> {
        let mut batch = Batch::new(&self.connection, sql);
        while let Some(mut statement) = batch.next()? {
            bind(&mut statement, &options.parameters, used)?;
            let names = statement.column_names();
            rows.columns(&names.collect::<Vec<_>>())?;
            let count = statement.column_count();
            let mut answer = statement.raw_query();
            while let Some(row) = answer.next()? {
                let values = (0..count).map(|ix| row.get_ref(ix));
                let values = values.collect::<rusqlite::Result<Vec<_>>>()?;
                let texts: Vec<_> = values.iter().map(text_of).collect();
                let cells = values.iter().zip(&texts);
                let cells: Vec<_> = cells.map(|(value, text)| cell(*value, text)).collect();
                rows.row(&cells)?;
            }
            rows.end()?;
        }
        Ok(())
    }
}

/// Reason why a result ended early.
enum Failure {
    Sql(rusqlite::Error),
    Other(SqlError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sql(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Other(error.into())
    }
}

fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
}

fn prepare(connection: &mut Connection, stored: &Arc<Stored>) -> rusqlite::Result<()> {
    use rusqlite::config::DbConfig;
    register_all(connection, stored)?;
    scalar::register(connection, stored)?;
    math::register(connection)?;
    // Double-quoted names are only columns, so a misspelt column is an error rather than text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    // SQLite sorts as many rows at once as fit into its cache. The default of 2 MB also fits into the processor's.
    connection.pragma_update(None, "threads", 2)?;
    let most = i64::try_from(memory::limit().0).unwrap_or(i64::MAX);
    connection.pragma_update(None, "hard_heap_limit", most)?;
    connection.authorizer(Some(|context: rusqlite::hooks::AuthContext<'_>| {
        match context.action {
            AuthAction::Select
            | AuthAction::Read { .. }
            | AuthAction::Function { .. }
            | AuthAction::Recursive => Authorization::Allow,
            // SQLite reports this action for tables that are registered already.
            AuthAction::CreateVtable { .. } => Authorization::Allow,
            _ => Authorization::Deny,
        }
    }))
}

/// Binds a statement's parameters, and records which were used.
fn bind(
    statement: &mut Statement<'_>,
    parameters: &[(String, SqlValue)],
    used: &mut BTreeSet<String>,
) -> Result<(), Failure> {
    for ix in 1..=statement.parameter_count() {
        let written = statement.parameter_name(ix).unwrap_or("?").to_owned();
        let name = written.trim_start_matches([':', '@', '$']);
        let Some((name, value)) = parameters.iter().find(|(given, _)| given == name) else {
            return Err(Failure::Other(SqlError::MissingParameter(written)));
        };
        used.insert(name.clone());
        match value {
            SqlValue::Integer(number) => statement.raw_bind_parameter(ix, number)?,
            SqlValue::Real(number) => statement.raw_bind_parameter(ix, number)?,
            SqlValue::Text(text) => statement.raw_bind_parameter(ix, text)?,
        }
    }
    Ok(())
}

fn text_of<'a>(value: &ValueRef<'a>) -> std::borrow::Cow<'a, str> {
    match value {
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes),
        _ => "".into(),
    }
}

fn cell<'a>(value: ValueRef<'a>, text: &'a str) -> SqlCell<'a> {
    match value {
        ValueRef::Null => SqlCell::Null,
        ValueRef::Integer(number) => SqlCell::Integer(number),
        ValueRef::Real(number) => SqlCell::Real(number),
        ValueRef::Text(_) => SqlCell::Text(text),
        ValueRef::Blob(bytes) => SqlCell::Blob(bytes),
    }
}
