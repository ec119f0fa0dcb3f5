//! `GET /metrics`: metrics in the text format of Prometheus.

use crate::monitor::Totals;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::http::header;
use axum::response::IntoResponse;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use sto_core::memory;
use sto_query::questions::BuildsRequest;

pub(super) async fn metrics(app: App) -> Result<impl IntoResponse, Problem> {
    let builds = app
        .ask(BuildsRequest::default())
        .await
        .map_or(0, |list| list.builds.len());
    let mut metrics = Metrics::default();
    metrics.add_server(&app, builds);
    metrics.add_verdicts(&app);
    metrics.add_senders(&app);
    metrics.add_intake(&app);
    let Metrics(mut text) = metrics;
    app.monitor.requests.write(&mut text);
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text))
}

/// The text of metrics.
#[derive(Default)]
struct Metrics(String);

/// The kinds of a metric.
const GAUGE: &str = "gauge";
const COUNTER: &str = "counter";

impl Metrics {
    fn add(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.add_each(name, kind, help, [(String::new(), value)]);
    }

    /// Adds a metric with a value for each set of labels, such as `{sender="otlp"}`.
    fn add_each(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    fn add_server(&mut self, shared: &Arc<Shared>, builds: usize) {
        let uptime = shared.started.elapsed().as_secs();
        let size = shared.store.file_size().map_or(0, |size| size.0);
        self.add(
            "sto_uptime_seconds",
            GAUGE,
            "Time since the server started.",
            uptime,
        );
        self.add("sto_store_bytes", GAUGE, "Size of the store's file.", size);
        self.add(
            "sto_store_builds",
            GAUGE,
            "Builds in the store.",
            builds as u64,
        );
        if let Some(in_use) = shared.memory {
            let used = (in_use.0)().0;
            let limit = memory::limit().0;
            self.add(
                "sto_memory_bytes",
                GAUGE,
                "Memory that the server has allocated.",
                used,
            );
            self.add(
                "sto_memory_limit_bytes",
                GAUGE,
                "Memory at which the server ends.",
                limit,
            );
        }
    }

    fn add_verdicts(&mut self, shared: &Arc<Shared>) {
        let hits = shared.verdicts.hits.load(Relaxed);
        let help = "Checks that were answered by a known verdict.";
        self.add("sto_known_verdicts_total", COUNTER, help, hits);
    }

    fn add_senders(&mut self, shared: &Arc<Shared>) {
        let kinds = shared.monitor.senders.totals();
        let of_each = |count: fn(&Totals) -> u64| {
            let kinds = kinds.iter();
            kinds.map(move |(kind, totals)| (format!("{{sender=\"{kind}\"}}"), count(totals)))
        };
        let lost = kinds.iter().flat_map(|(kind, totals)| {
            totals.lost.iter().map(move |(loss, &count)| {
                let reason = loss.name();
                (format!("{{sender=\"{kind}\",reason=\"{reason}\"}}"), count)
            })
        });
        self.add_each(
            "sto_profiles_accepted_total",
            COUNTER,
            "Profiles of senders that were stored.",
            of_each(|totals| totals.accepted),
        );
        self.add_each(
            "sto_received_bytes_total",
            COUNTER,
            "Size of stored profiles as received.",
            of_each(|totals| totals.bytes),
        );
        self.add_each(
            "sto_profiles_refused_total",
            COUNTER,
            "Profiles of senders that were refused, or stored in part.",
            lost,
        );
    }

    fn add_intake(&mut self, shared: &Arc<Shared>) {
        let intake = shared.intake.status();
        let failing = intake.pulled.values().flatten().count() as u64;
        for (name, kind, help, value) in [
            (
                "accepted_total",
                COUNTER,
                "Continuous profiles that were acknowledged.",
                intake.accepted,
            ),
            (
                "repeated_total",
                COUNTER,
                "Continuous profiles that were sent again, and counted once.",
                intake.repeated,
            ),
            (
                "refused_total",
                COUNTER,
                "Profiles that could not be read.",
                intake.refused,
            ),
            (
                "throttled_total",
                COUNTER,
                "Requests whose senders were asked to wait.",
                intake.throttled,
            ),
            (
                "windows_total",
                COUNTER,
                "Sums of continuous profiles that were stored.",
                intake.windows,
            ),
            (
                "quarantined",
                GAUGE,
                "Acknowledged profiles that cannot be stored.",
                intake.quarantined.len() as u64,
            ),
            (
                "spool_bytes",
                GAUGE,
                "Acknowledged profiles that are not in the store yet.",
                intake.spool_bytes,
            ),
            (
                "waiting_segments",
                GAUGE,
                "Parts of the spool that wait for the store.",
                intake.waiting_segments,
            ),
            (
                "scrape_failures",
                GAUGE,
                "Addresses whose profiles could not be fetched the last time.",
                failing,
            ),
        ] {
            self.add(&format!("sto_intake_{name}"), kind, help, value);
        }
    }
}
