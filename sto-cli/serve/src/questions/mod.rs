//! `POST /api/v1/questions/{name}`: every question of the library, and `/api/v1/sql`.

mod columns;
mod sql;

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::Router;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value};
use std::sync::Arc;
use sto_query::questions::AnyQuestion;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/questions/{name}", post(answer))
        .route("/api/v1/sql", get(sql::catalog).post(sql::query))
        .merge(columns::routes())
}

async fn answer(app: App, Path(name): Path<String>, body: Decoded) -> Result<Response, Problem> {
    let question = parse(name, &body.bytes)?;
    let answer = app
        .query(move |sources, context| {
            let answer = sto_query::ask(sources, &question, context)?;
            serde_json::to_vec(&answer).map_err(|_| Problem::internal())
        })
        .await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], answer).into_response())
}

/// Parses the JSON of a request. An empty body is a request with all defaults.
fn parse(name: String, body: &[u8]) -> Result<AnyQuestion, Problem> {
    let mut request: Map<String, Value> = if body.is_empty() {
        Map::new()
    } else {
        serde_json::from_slice(body).map_err(|error| {
            Problem::bad_request(format!("the body is not a JSON object: {error}"))
        })?
    };
    request.insert("question".to_owned(), name.into());
    serde_json::from_value(request.into()).map_err(|error| Problem::bad_request(error.to_string()))
}
