//! Pyroscope's endpoints, so that its SDKs send to this server unchanged.
//!
//! Sources: <https://grafana.com/docs/pyroscope/latest/reference-server-api/>, and `push/v1/push.proto` and
//! `types/v1/types.proto` of <https://github.com/grafana/pyroscope>.

mod form;
mod ingest;
mod name;
mod push;
mod text;
mod time;

pub(crate) use ingest::IngestParameters;

use crate::shared::Shared;
use axum::Router;
use axum::routing::post;
use std::sync::Arc;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/ingest", post(ingest::receive))
        .route("/push.v1.PusherService/Push", post(push::receive))
}
