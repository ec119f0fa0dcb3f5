//! `POST /api/v1/questions/{name}`: every question of the library.

mod columns;

use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::extract::Path;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Map, Value};
use std::sync::Arc;
use sto_query::questions::{AnyAnswer, AnyQuestion};

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/questions/{name}", post(answer))
        .merge(columns::routes())
}

async fn answer(
    app: App,
    Path(name): Path<String>,
    Json(mut request): Json<Map<String, Value>>,
) -> Result<Json<AnyAnswer>, Problem> {
    request.insert("question".to_owned(), name.into());
    let question: AnyQuestion = serde_json::from_value(request.into())
        .map_err(|error| Problem::bad_request(error.to_string()))?;
    Ok(Json(app.ask(question).await?))
}
