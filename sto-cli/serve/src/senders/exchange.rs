//! The exchange with other stores: `sto push URL` and `sto pull URL` transfer profiles with their symbols, each as a file
//! named by its id.
//!
//! The files have the layout of [places](sto_query::places); `manifest.json` names it and its version.

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, put};
use axum::{Json, Router};
use std::sync::Arc;
use sto_query::places::ListedFile;
use sto_query::questions::{
    AddedFile, add_exchange_file, exchange_file, exchange_files, exchange_manifest,
};

/// Routes that only read, for `sto pull` and for the profiles that `sto push` need not send.
pub(crate) fn reading_routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/exchange/manifest.json", get(manifest))
        .route("/api/v1/exchange/profiles", get(list))
        .route("/api/v1/exchange/profiles/{name}", get(read))
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/api/v1/exchange/profiles/{name}", put(add))
}

async fn manifest() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        exchange_manifest(),
    )
}

async fn list(app: App) -> Result<Json<Vec<ListedFile>>, Problem> {
    let shared = Arc::clone(&app);
    let listed = app.heavy(move || exchange_files(&shared.store().snapshot()?));
    Ok(Json(listed.await??))
}

async fn read(app: App, Path(name): Path<String>) -> Result<Vec<u8>, Problem> {
    let name = format!("profiles/{name}");
    let shared = Arc::clone(&app);
    let reading = app.heavy(move || {
        let found = exchange_file(&shared.store().snapshot()?, &name)?;
        found.ok_or_else(|| {
            Problem::new(
                StatusCode::NOT_FOUND,
                format!("{name}: the store has no such profile"),
            )
        })
    });
    reading.await?
}

/// The name of other stores in the status: `sto push`, and `--to` of `sto record` and `sto ingest`.
const SENDER: &str = "api/v1/exchange";

/// Answers with 201 if the profile is new, with 200 if the store has it, and with 409 if it has another one of the same
/// recording.
async fn add(
    app: App,
    Path(name): Path<String>,
    body: Result<Decoded, Problem>,
) -> Result<StatusCode, Problem> {
    let body = body.inspect_err(|problem| app.monitor.refused(SENDER, problem))?;
    let name = format!("profiles/{name}");
    let shared = Arc::clone(&app);
    let size = body.bytes.len() as u64;
    let adding = app.heavy(move || add_exchange_file(shared.store(), &name, &body.bytes));
    let problem = match adding.await? {
        Ok(AddedFile::New) => {
            app.monitor.accepted(SENDER, 1, size);
            return Ok(StatusCode::CREATED);
        }
        Ok(AddedFile::Known) => return Ok(StatusCode::OK),
        Ok(AddedFile::Conflict(kept)) => Problem::new(
            StatusCode::CONFLICT,
            format!("{kept} has other labels or symbols"),
        ),
        Err(error) => error.into(),
    };
    app.monitor.refused(SENDER, &problem);
    Err(problem)
}
