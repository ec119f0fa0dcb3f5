//! Endpoints that profiles are sent to.
//!
//! ```text
//! profiles                    a file of any format, as a run                      curl, CI
//! pyroscope   ingest          one profile, with its name in the query             Pyroscope's SDKs
//!             push            several series of pprof                             Pyroscope's SDKs, Alloy
//! exchange                    a profile of another store                          `sto push`, `sto record --to`
//! otlp                        resources with profiles and their dictionary        OpenTelemetry
//!    |
//! mapping     names, versions and labels -> program, build and labels
//!    |
//!    v
//! intake
//! ```
//!
//! [exchange.md]: https://docs.rs/sto-lake/latest/sto_lake/manual/exchange/index.html
//! [otlp.md]: https://docs.rs/sto-formats/latest/sto_formats/manual/otlp/index.html
//!
#![doc = include_str!("senders.md")]

mod exchange;
mod mapping;
mod otlp;
mod profiles;
mod pyroscope;

pub(crate) use exchange::reading_routes;
pub(crate) use pyroscope::IngestParameters;

use crate::shared::Shared;
use axum::Router;
use std::sync::Arc;

pub(crate) fn routes() -> Router<Arc<Shared>> {
    profiles::routes()
        .merge(pyroscope::routes())
        .merge(otlp::routes())
        .merge(exchange::routes())
}
