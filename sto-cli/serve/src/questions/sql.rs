//! `/api/v1/sql`: queries in SQL, and the tables and examples to write them.

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::App;
use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use sto_query::sources::Sources;
use sto_query::tables::{Database, EXAMPLES, SqlCell, SqlError, SqlOptions, SqlRows, SqlValue};

/// Rows of an answer if the request has no limit, and at most.
const USUAL_ROWS: usize = 1000;
const MAX_ROWS: usize = 100_000;
/// Text in the cells of an answer.
const MAX_TEXT: usize = 16 << 20;

/// The tables and functions of queries, and examples.
#[derive(Serialize)]
pub(super) struct Catalog {
    names: Vec<CatalogName>,
    examples: Vec<CatalogExample>,
}

/// A table or function.
#[derive(Serialize)]
struct CatalogName {
    name: String,
    /// Arguments in parentheses; `None` for a table.
    arguments: Option<String>,
    /// Columns with their types; empty for a scalar function.
    columns: Vec<(String, String)>,
}

/// An example query.
#[derive(Serialize)]
struct CatalogExample {
    name: &'static str,
    about: &'static str,
    sql: &'static str,
}

/// Describes the tables and functions, and lists examples.
pub(super) async fn catalog() -> Json<Catalog> {
    let names = Database::names().into_iter().map(|name| CatalogName {
        name: name.name,
        arguments: name.arguments,
        columns: name.columns,
    });
    let examples = EXAMPLES.iter().map(|example| CatalogExample {
        name: example.name,
        about: example.about(),
        sql: example.sql,
    });
    Json(Catalog {
        names: names.collect(),
        examples: examples.collect(),
    })
}

/// A query of one statement.
#[derive(Deserialize)]
pub(super) struct SqlRequest {
    sql: String,
    /// Values of parameters by name, without the `:`.
    #[serde(default)]
    parameters: BTreeMap<String, ParameterValue>,
    limit: Option<usize>,
}

/// A value for a parameter.
#[derive(Deserialize)]
#[serde(untagged)]
enum ParameterValue {
    Integer(i64),
    Real(f64),
    Text(String),
}

/// The rows of a query.
#[derive(Default, Serialize)]
pub(super) struct SqlAnswer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Whether a limit left out rows.
    more: bool,
}

/// Answers a query.
pub(super) async fn query(app: App, body: Decoded) -> Result<Json<SqlAnswer>, Problem> {
    let request: SqlRequest = serde_json::from_slice(&body.bytes)
        .map_err(|error| Problem::bad_request(error.to_string()))?;
    let timeout = app.options.limits.question_time();
    app.query(move |sources, context| {
        let mut options = SqlOptions::default();
        options.timeout = Some(timeout);
        options.cancel = context.cancel.clone();
        rows(sources, request, options).map(Json).map_err(problem)
    })
    .await
}

fn rows(
    sources: &Sources,
    request: SqlRequest,
    mut options: SqlOptions,
) -> Result<SqlAnswer, SqlError> {
    let parameters = request.parameters.into_iter();
    options.parameters = parameters
        .map(|(name, value)| (name, value.into()))
        .collect();
    let mut rows = CollectedRows {
        answer: SqlAnswer::default(),
        max_rows: request.limit.unwrap_or(USUAL_ROWS).min(MAX_ROWS),
        text: 0,
        has_statement: false,
    };
    let mut database = Database::open(sources.clone())?;
    match database.query(&request.sql, &options, &mut rows) {
        // The collector ended the query.
        Err(SqlError::Write(_)) if rows.answer.more => Ok(rows.answer),
        answered => answered.map(|()| rows.answer),
    }
}

impl From<ParameterValue> for SqlValue {
    fn from(value: ParameterValue) -> SqlValue {
        match value {
            ParameterValue::Integer(number) => SqlValue::Integer(number),
            ParameterValue::Real(number) => SqlValue::Real(number),
            ParameterValue::Text(text) => SqlValue::Text(text),
        }
    }
}

/// Collects the first rows of the only statement.
struct CollectedRows {
    answer: SqlAnswer,
    max_rows: usize,
    /// Length of all text so far.
    text: usize,
    has_statement: bool,
}

impl SqlRows for CollectedRows {
    fn columns(&mut self, names: &[&str]) -> io::Result<()> {
        if self.has_statement {
            return Err(io::Error::other(
                "a query has one statement here, not several",
            ));
        }
        self.has_statement = true;
        self.answer.columns = names.iter().map(|&name| name.to_owned()).collect();
        Ok(())
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        let cells: Vec<Value> = cells.iter().map(value).collect();
        let texts = cells.iter().filter_map(Value::as_str);
        self.text += texts.map(str::len).sum::<usize>();
        if self.answer.rows.len() == self.max_rows || self.text > MAX_TEXT {
            self.answer.more = true;
            return Err(io::Error::other("the limit of rows is reached"));
        }
        self.answer.rows.push(cells);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts a cell to JSON; bytes become hexadecimal text.
fn value(cell: &SqlCell<'_>) -> Value {
    match *cell {
        SqlCell::Null => Value::Null,
        SqlCell::Integer(number) => number.into(),
        SqlCell::Real(number) => number.into(),
        SqlCell::Text(text) => text.into(),
        SqlCell::Blob(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            digits.collect::<String>().into()
        }
    }
}

fn problem(error: SqlError) -> Problem {
    let status = match error {
        SqlError::Question(error) => return (*error).into(),
        SqlError::Timeout(_) | SqlError::Cancelled(_) => StatusCode::SERVICE_UNAVAILABLE,
        SqlError::OutOfMemory => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    match &error {
        SqlError::Syntax { message, place } => {
            Problem::new(status, format!("{message}\n{}", place.join("\n")))
        }
        error => Problem::new(status, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{SqlAnswer, SqlRequest, problem, rows};
    use serde_json::{Value, json};
    use std::path::Path;
    use sto_core::ingest::{IngestOptions, Input, ingest};
    use sto_core::store::Store;
    use sto_query::sources::Sources;
    use sto_query::tables::{SqlError, SqlOptions};

    fn ask(request: Value) -> Result<SqlAnswer, SqlError> {
        let store = Store::in_memory().expect("a store in memory");
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some("v1".to_owned()),
            ..IngestOptions::default()
        };
        let input = Input::Bytes {
            name: Path::new("stacks.folded"),
            bytes: b"main;parse 3\nmain;read 6\nmain 1\n",
        };
        ingest(&store, input, &options, &mut |_| {}).expect("the stacks are valid");
        let sources = Sources::from_snapshot(store.snapshot().expect("the store is readable"));
        let request: SqlRequest = serde_json::from_value(request).expect("the request is valid");
        rows(&sources, request, SqlOptions::default())
    }

    #[test]
    fn rows_are_numbers_and_texts_up_to_the_limit() {
        let sql = "SELECT function, self FROM function_cost WHERE self > :least ORDER BY self";
        let answer = ask(json!({ "sql": sql, "parameters": { "least": 0 }, "limit": 2 }));
        let answer = answer.expect("the query is valid");
        assert_eq!(answer.columns, ["function", "self"]);
        assert_eq!(
            answer.rows,
            [[json!("main"), json!(1)], [json!("parse"), json!(3)]]
        );
        assert!(answer.more);
        let answer = ask(json!({ "sql": "SELECT NULL, x'00ff'" })).expect("the query is valid");
        assert_eq!(answer.rows, [[Value::Null, json!("00ff")]]);
        assert!(!answer.more);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let detail = |sql: &str| {
            let error = ask(json!({ "sql": sql }))
                .err()
                .expect("the query is invalid");
            let problem = problem(error);
            assert_eq!(problem.status, 422);
            problem.detail
        };
        assert!(detail("SELECT nothing FROM profile").contains("nothing"));
        assert!(detail("SELECT 1; SELECT 2").contains("one statement"));
        assert!(detail("SELECT :x").contains(":x"));
        assert!(detail("DELETE FROM profile").contains("read-only"));
    }
}
