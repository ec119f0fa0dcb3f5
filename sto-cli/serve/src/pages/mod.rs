//! The pages: static files that are part of the program.

use crate::shared::Shared;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new().route(
        "/",
        get(|| async { Html(include_str!("../../assets/index.html")) }),
    )
}
