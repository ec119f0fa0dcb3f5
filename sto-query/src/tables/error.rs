//! Errors of SQL queries.

use crate::QueryError;
use rusqlite::Error;
use rusqlite::ErrorCode;
use std::io;
use std::time::Duration;
use sto_core::Cancelled;

/// Error of an SQL query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// The query has a syntax error.
    #[error("{message}")]
    Syntax {
        /// Message of SQLite.
        message: String,
        /// The line of the query with the error, and a line with a caret below it.
        place: [String; 2],
    },
    /// SQLite reported an error.
    #[error("{0}")]
    Sqlite(String),
    /// The query would modify something.
    #[error("the store is read-only here")]
    ReadOnly,
    /// The query exceeded its time limit.
    #[error("the query exceeded its time limit of {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The query needs more memory than [its limit](sto_core::memory).
    #[error("the query needs more memory than the limit")]
    OutOfMemory,
    /// A [`CancelToken`](sto_core::CancelToken) ended the query.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A parameter has no value.
    #[error("the query has a parameter `{0}` without a value")]
    MissingParameter(String),
    /// A value was given for a parameter that the query does not have.
    #[error("the query has no parameter `{0}`")]
    UnknownParameter(String),
    /// An analysis called by the query failed.
    #[error(transparent)]
    Question(#[from] Box<QueryError>),
    /// The rows cannot be written.
    #[error("cannot write the rows: {0}")]
    Write(#[from] io::Error),
}

impl SqlError {
    /// Converts an error of SQLite.
    pub(super) fn from_sqlite(error: Error) -> SqlError {
        match error {
            Error::SqlInputError { error, .. } if is_refused(error) => SqlError::ReadOnly,
            Error::SqliteFailure(error, _) if is_refused(error) => SqlError::ReadOnly,
            Error::SqliteFailure(error, _) | Error::SqlInputError { error, .. }
                if error.code == ErrorCode::OutOfMemory =>
            {
                SqlError::OutOfMemory
            }
            Error::SqlInputError {
                msg, sql, offset, ..
            } => match usize::try_from(offset).ok().and_then(|at| place(&sql, at)) {
                Some(place) => SqlError::Syntax {
                    message: msg,
                    place,
                },
                None => SqlError::Sqlite(msg),
            },
            // SQLite's message for a table that cannot be written.
            Error::SqliteFailure(_, Some(message)) if message.ends_with("may not be modified") => {
                SqlError::ReadOnly
            }
            Error::SqliteFailure(_, Some(message)) => SqlError::Sqlite(message),
            error => SqlError::Sqlite(error.to_string()),
        }
    }
}

fn is_refused(error: rusqlite::ffi::Error) -> bool {
    matches!(
        error.code,
        ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly
    )
}

/// Maximum number of characters shown before and after the place of an error.
const AROUND: usize = 35;

/// Returns the line of a query that contains a byte offset, and a line with a caret below it; `None` if the offset is
/// outside the query.
fn place(sql: &str, at: usize) -> Option<[String; 2]> {
    let (before, after) = sql.split_at_checked(at)?;
    let before = before.rsplit('\n').next()?;
    let after = after.lines().next().unwrap_or_default();
    let shown_of = |text: &str| crate::text::printable(text).into_owned();
    let skipped = before.chars().count().saturating_sub(AROUND);
    let before = shown_of(&before.chars().skip(skipped).collect::<String>());
    let after = shown_of(&after.chars().take(AROUND).collect::<String>());
    let column = crate::text::display_width(&before);
    Some([format!("{before}{after}"), format!("{:column$}^", "")])
}
