//! The exchange with other stores: `sto push URL` sends profiles with their symbols, each as a file named by its id.
//!
//! The files are those of [the exchange](sto_query::manual) of places, and `manifest.json` tells its layout and version.

use crate::problem::Problem;
use crate::shared::{App, Shared};
use crate::wire::Decoded;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use std::sync::Arc;
use sto_query::places::ListedFile;
use sto_query::questions::{exchange_files, exchange_manifest};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/exchange/manifest.json", get(manifest))
        .route("/api/v1/exchange/profiles", get(list))
        .route("/api/v1/exchange/profiles/{name}", axum::routing::put(add))
}

async fn manifest() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        exchange_manifest(),
    )
}

async fn list(app: App) -> Result<Json<Vec<ListedFile>>, Problem> {
    let snapshot = app.intake.store().snapshot()?;
    Ok(Json(exchange_files(&snapshot)?))
}

/// Answers with 201 if the profile is new, and with 200 if the store has it.
async fn add(app: App, Path(name): Path<String>, body: Decoded) -> Result<StatusCode, Problem> {
    let name = format!("profiles/{name}");
    let is_new = app.intake.add_file(name, body.bytes).await?;
    Ok(if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    })
}
