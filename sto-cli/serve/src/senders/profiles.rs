//! `POST /api/v1/profiles`: a file of any format, with its program and build in the query.

use crate::body::Decoded;
use crate::intake::{Origin, Received};
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::post;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/api/v1/profiles", post(receive))
}

async fn receive(
    app: App,
    Query(query): Query<BTreeMap<String, String>>,
    body: Decoded,
) -> Result<StatusCode, Problem> {
    let origin = Origin {
        program: query.get("program").cloned(),
        build: query.get("build").cloned(),
        benchmark: query.get("benchmark").cloned(),
        ..Origin::default()
    };
    let received = Received {
        origin,
        body: body.bytes,
        ..Received::default()
    };
    app.intake.accept(received).await?;
    Ok(StatusCode::CREATED)
}
