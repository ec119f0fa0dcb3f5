//! The state of the server: health, metrics, and losses of senders.

mod metrics;

use crate::intake::IntakeStatus;
use crate::monitor::SenderState;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::routing::get;
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/status", get(status))
        .route("/metrics", get(metrics::metrics))
}

/// Addresses that say whether the server is alive, which everyone may ask.
pub(crate) fn health_routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}

/// Whether the store can be read, and profiles can be sent.
async fn ready(app: App) -> Result<&'static str, Problem> {
    app.intake.check_ready()?;
    app.query(|_, _| Ok("ok\n")).await
}

/// The state of the server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerStatus {
    version: &'static str,
    read_only: bool,
    uptime_seconds: u64,
    /// Counts and losses of each sender.
    senders: BTreeMap<String, SenderState>,
    /// Profiles of services.
    intake: IntakeStatus,
}

async fn status(app: App) -> Json<ServerStatus> {
    Json(ServerStatus {
        version: env!("CARGO_PKG_VERSION"),
        read_only: app.options.read_only,
        uptime_seconds: app.started.elapsed().as_secs(),
        senders: app.monitor.senders.all(),
        intake: app.intake.status(),
    })
}
