//! Verdicts for CI: checks that are rendered for a client, and a badge.

mod badge;

pub(crate) use badge::BadgeParameters;

use crate::parse::JsonBody;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use sto_query::check::CheckRequest;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/checks", post(check))
        .route("/api/v1/badge", get(badge::badge))
}

/// A check, and how its findings are rendered.
#[derive(Deserialize)]
struct RenderedCheck {
    request: CheckRequest,
    output: Value,
}

async fn check(app: App, JsonBody(body): JsonBody<RenderedCheck>) -> Result<Json<Value>, Problem> {
    let render = app.render_check.clone().ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this server cannot render findings; ask /api/v1/questions/check for JSON",
        )
    })?;
    let read = move |sources: &_, context: &_| {
        let check = sto_query::ask(sources, &body.request, context)?;
        render(check, body.output)
            .map(Json)
            .map_err(Problem::bad_request)
    };
    app.query(read).await
}
