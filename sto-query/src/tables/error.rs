//! Why SQL has no answer.

use crate::QueryError;
use rusqlite::Error;
use rusqlite::ErrorCode;
use std::io;
use std::time::Duration;
use sto_core::Cancelled;

/// Why SQL has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// SQLite cannot read the query.
    #[error("{message}")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The line of the query that is meant, and below it a caret.
        place: [String; 2],
    },
    /// SQLite cannot answer it.
    #[error("{0}")]
    Sqlite(String),
    /// It would change something.
    #[error("the store is read-only here")]
    ReadOnly,
    /// It took longer than it may.
    #[error("the query was stopped after {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// A [`Cancel`](sto_core::Cancel) ended it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A parameter has no value.
    #[error("the query has a parameter `{0}`, which has no value")]
    MissingParameter(String),
    /// A value is of no parameter.
    #[error("the query has no parameter `{0}`")]
    UnknownParameter(String),
    /// What it asks for cannot be answered.
    #[error(transparent)]
    Question(#[from] Box<QueryError>),
    /// The rows cannot be written.
    #[error("cannot write the rows: {0}")]
    Write(#[from] io::Error),
}

impl SqlError {
    /// Of what SQLite says of a query.
    pub(super) fn of(error: Error) -> SqlError {
        match error {
            Error::SqlInputError { error, .. } if is_refused(error) => SqlError::ReadOnly,
            Error::SqliteFailure(error, _) if is_refused(error) => SqlError::ReadOnly,
            Error::SqlInputError {
                msg, sql, offset, ..
            } => match usize::try_from(offset).ok().and_then(|at| place(&sql, at)) {
                Some(place) => SqlError::Syntax {
                    message: msg,
                    place,
                },
                None => SqlError::Sqlite(msg),
            },
            // What SQLite says of a table that takes no rows.
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

/// Most characters of a line that are shown before a place in it, and after.
const AROUND: usize = 35;

/// The line of a query that a byte of it is in, with a caret below that; `None` where it has no such byte.
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
