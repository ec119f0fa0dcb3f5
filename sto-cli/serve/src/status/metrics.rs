//! `GET /metrics`: metrics in the text format of Prometheus.

use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::http::header;
use axum::response::IntoResponse;
use std::fmt::Write;
use std::sync::Arc;
use sto_core::memory;
use sto_query::questions::BuildsRequest;

pub(super) async fn metrics(app: App) -> Result<impl IntoResponse, Problem> {
    let builds = app
        .ask(BuildsRequest::default())
        .await
        .map_or(0, |list| list.builds.len());
    let text = write(&app, builds);
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text))
}

fn write(shared: &Arc<Shared>, builds: usize) -> String {
    let totals = shared.monitor.senders.totals();
    let size = shared.store.file_size().map_or(0, |size| size.0);
    let mut metrics = vec![
        (
            "sto_uptime_seconds",
            "gauge",
            "Time since the server started.",
            shared.started.elapsed().as_secs(),
        ),
        (
            "sto_store_bytes",
            "gauge",
            "Size of the store's file.",
            size,
        ),
        (
            "sto_store_builds",
            "gauge",
            "Builds in the store.",
            builds as u64,
        ),
        (
            "sto_profiles_accepted_total",
            "counter",
            "Profiles of senders that were stored.",
            totals.accepted,
        ),
        (
            "sto_profiles_refused_total",
            "counter",
            "Profiles of senders that were refused, lost, or stored in part.",
            totals.refused,
        ),
        (
            "sto_received_bytes_total",
            "counter",
            "Size of stored profiles as received.",
            totals.bytes,
        ),
    ];
    if let Some(in_use) = shared.memory {
        metrics.push((
            "sto_memory_bytes",
            "gauge",
            "Memory that the server has allocated.",
            (in_use.0)().0,
        ));
        metrics.push((
            "sto_memory_limit_bytes",
            "gauge",
            "Memory at which the server ends.",
            memory::limit().0,
        ));
    }
    let mut text = String::new();
    for (name, kind, help, value) in metrics {
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
        );
    }
    shared.monitor.requests.write(&mut text);
    text
}
