//! The state of the server: health, metrics, and what senders lost.

use crate::shared::Shared;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/healthz", get(|| async { "ok\n" }))
}
