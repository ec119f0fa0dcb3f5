//! `/api/v1/sql`: queries in SQL, and with `GET`, the tables and examples.
//!
//! The body is SQL text, or JSON with `sql`, `parameters` and `limit`. The response is JSON with `columns`, `rows`, and
//! whether there are `more` rows; with `Accept: text/csv`, it is CSV.

use crate::body::Decoded;
use crate::parse::json;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use sto_query::tables::{
    Database, EXAMPLES, SqlCell, SqlError, SqlFormat, SqlOptions, SqlRows, SqlValue, SqlWriter,
};
use sto_query::text::Style;

/// Number of rows of a result, by default and at most.
const USUAL_ROWS: usize = 10_000;
const MAX_ROWS: usize = 100_000;

/// Size of a result in bytes.
const MAX_SIZE: usize = 32 << 20;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/api/v1/sql", get(catalog).post(query))
}

/// A query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SqlRequest {
    sql: String,
    /// Values of parameters by name, without the `:`.
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    /// Number of rows.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number or text")]
enum Parameter {
    Integer(i64),
    Real(f64),
    Text(String),
}

async fn query(app: App, headers: HeaderMap, body: Decoded) -> Result<Response, Problem> {
    let request = parse(&headers, &body.bytes)?;
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    let as_csv = accept.is_some_and(|accept| accept.starts_with("text/csv"));
    let timeout = app.options.limits.sql_time();
    app.query(move |sources, context| {
        let mut options = SqlOptions::default();
        options.parameters = request
            .parameters
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        options.timeout = Some(timeout);
        options.cancel = context.cancel.clone();
        let mut database = Database::open(sources.clone())?;
        let mut rows = Limited::new(request.limit.unwrap_or(USUAL_ROWS).min(MAX_ROWS));
        match database.query(&request.sql, &options, &mut rows) {
            Err(SqlError::Write(_)) if rows.result.more => {}
            done => done?,
        }
        if !as_csv {
            return Ok(Json(rows.result).into_response());
        }
        let content_type = "text/csv; charset=utf-8";
        Ok((
            [(header::CONTENT_TYPE, content_type)],
            rows.csv.into_inner(),
        )
            .into_response())
    })
    .await
}

fn parse(headers: &HeaderMap, body: &[u8]) -> Result<SqlRequest, Problem> {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.as_bytes());
    if content_type.is_some_and(|value| value.starts_with(b"application/json")) {
        return json(body);
    }
    let sql = str::from_utf8(body).map_err(|_| Problem::bad_request("the query is not UTF-8"))?;
    Ok(SqlRequest {
        sql: sql.to_owned(),
        parameters: BTreeMap::new(),
        limit: None,
    })
}

/// The result of the only statement, up to a number of rows and a size.
struct Limited {
    result: SqlResult,
    csv: SqlWriter<Vec<u8>>,
    limit: usize,
    size: usize,
    has_statement: bool,
}

/// The rows of a query.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct SqlResult {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Whether there are rows beyond the limit.
    more: bool,
}

impl Limited {
    fn new(limit: usize) -> Limited {
        Limited {
            result: SqlResult::default(),
            csv: SqlWriter::new(SqlFormat::Csv, Style::default(), Vec::new()),
            limit,
            size: 0,
            has_statement: false,
        }
    }
}

impl SqlRows for Limited {
    fn columns(&mut self, names: &[&str]) -> io::Result<()> {
        if self.has_statement {
            let several = "a query has one statement here, not several";
            return Err(io::Error::other(several));
        }
        self.has_statement = true;
        self.result.columns = names.iter().map(|&name| name.to_owned()).collect();
        self.csv.columns(names)
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        self.size += cells.iter().map(size_of_cell).sum::<usize>();
        if self.result.rows.len() == self.limit || self.size > MAX_SIZE {
            self.result.more = true;
            return Err(io::Error::other("there are more rows than the limit"));
        }
        self.csv.row(cells)?;
        self.result.rows.push(cells.iter().map(value).collect());
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.csv.end()
    }
}

fn size_of_cell(cell: &SqlCell<'_>) -> usize {
    size_of::<Value>()
        + match cell {
            SqlCell::Text(text) => text.len(),
            SqlCell::Blob(bytes) => 2 * bytes.len(),
            _ => 0,
        }
}

fn value(cell: &SqlCell<'_>) -> Value {
    match *cell {
        SqlCell::Null => Value::Null,
        SqlCell::Integer(number) => number.into(),
        SqlCell::Real(number) => number.into(),
        SqlCell::Text(text) => text.into(),
        SqlCell::Blob(bytes) => bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            .into(),
    }
}

impl From<Parameter> for SqlValue {
    fn from(parameter: Parameter) -> SqlValue {
        match parameter {
            Parameter::Integer(number) => SqlValue::Integer(number),
            Parameter::Real(number) => SqlValue::Real(number),
            Parameter::Text(text) => SqlValue::Text(text),
        }
    }
}

impl From<SqlError> for Problem {
    fn from(error: SqlError) -> Problem {
        let status = match error {
            SqlError::Question(error) => return (*error).into(),
            SqlError::Timeout(_) | SqlError::Cancelled(_) => StatusCode::SERVICE_UNAVAILABLE,
            SqlError::OutOfMemory => StatusCode::PAYLOAD_TOO_LARGE,
            SqlError::Syntax { message, place } => {
                let detail = format!("{message}\n{}", place.join("\n"));
                return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
            }
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Problem::new(status, error.to_string())
    }
}

/// Tables, functions, and examples.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Catalog {
    names: Vec<CatalogName>,
    examples: Vec<CatalogExample>,
}

#[derive(Serialize, JsonSchema)]
struct CatalogName {
    name: String,
    /// Arguments in parentheses; `None` for a table.
    arguments: Option<String>,
    /// Columns with their types; empty for a scalar function.
    columns: Vec<(String, String)>,
}

#[derive(Serialize, JsonSchema)]
struct CatalogExample {
    name: &'static str,
    about: &'static str,
    sql: &'static str,
}

async fn catalog() -> Json<Catalog> {
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
