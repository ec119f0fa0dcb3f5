//! The exchange with other stores: `sto push URL` sends profiles with their symbols, each as a file named by its id.
//!
//! The files are those of [the exchange](sto_query::manual) of places, and `manifest.json` tells its layout and version.

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
use sto_query::questions::{add_exchange_file, exchange_files, exchange_manifest};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/exchange/manifest.json", get(manifest))
        .route("/api/v1/exchange/profiles", get(list))
        .route("/api/v1/exchange/profiles/{name}", put(add))
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

/// Answers with 201 if the profile is new, and with 200 if the store has it.
async fn add(app: App, Path(name): Path<String>, body: Decoded) -> Result<StatusCode, Problem> {
    let name = format!("profiles/{name}");
    let shared = Arc::clone(&app);
    let size = body.bytes.len() as u64;
    let adding = app.heavy(move || add_exchange_file(shared.store(), &name, &body.bytes));
    match adding.await? {
        Ok(is_new) => {
            app.monitor.accepted("sto push", u64::from(is_new), size);
            Ok(if is_new {
                StatusCode::CREATED
            } else {
                StatusCode::OK
            })
        }
        Err(error) => {
            app.monitor.refused("sto push", &error.to_string());
            Err(error.into())
        }
    }
}
