//! `POST /api/v1/columns/flame` and `/diff`: stacks in binary columns, as
//! [`render::columns`](sto_query::render::columns) describes them.
//!
//! The requests are the same as for the questions `flame` and `diff`. A response has the type
//! `application/vnd.sto.columns`.

use crate::parse::JsonBody;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use std::sync::Arc;
use sto_query::questions::{DiffRequest, FlameRequest};
use sto_query::render::columns;
use tokio::task::spawn_blocking;

const MEDIA_TYPE: &str = "application/vnd.sto.columns";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/columns/flame", post(flame))
        .route("/api/v1/columns/diff", post(diff))
}

async fn flame(app: App, JsonBody(request): JsonBody<FlameRequest>) -> Result<Response, Problem> {
    let stacks = app.ask(request).await?;
    write_aside(move || columns::flame(&stacks)).await
}

async fn diff(app: App, JsonBody(request): JsonBody<DiffRequest>) -> Result<Response, Problem> {
    let answer = app.ask(request).await?;
    write_aside(move || columns::diff(answer)).await
}

/// Writes a response on a thread that may take its time.
async fn write_aside(
    write: impl FnOnce() -> Result<Vec<u8>, serde_json::Error> + Send + 'static,
) -> Result<Response, Problem> {
    let written = spawn_blocking(write).await.map_err(internal)?;
    let bytes = written.map_err(internal)?;
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], bytes).into_response())
}

fn internal(error: impl ToString) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
