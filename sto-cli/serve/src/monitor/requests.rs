//! Counts and durations of requests.

use super::Monitor;
use crate::client::{Caller, Peer};
use crate::log::LogLine;
use crate::problem::Detail;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Requests that take longer have a line in the log, unless the client is at fault.
const SLOW: Duration = Duration::from_secs(1);

/// Upper bounds of the buckets of durations in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Counts and durations of requests. Routes are patterns of the program, so that their number is bounded.
#[derive(Default)]
pub(crate) struct Requests(Mutex<BTreeMap<Route, Durations>>);

/// A method, the pattern of a path, and the status of the response.
type Route = (String, String, u16);

/// Durations of requests.
#[derive(Clone, Default)]
struct Durations {
    /// Number of requests in each bucket, and slower ones.
    buckets: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

impl Requests {
    fn add(&self, route: Route, time: Duration) {
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let durations = routes.entry(route).or_default();
        let seconds = time.as_secs_f64();
        durations.buckets[BOUNDS.partition_point(|&bound| bound < seconds)] += 1;
        durations.seconds += seconds;
    }

    /// Writes the metrics of requests in the text format of Prometheus.
    pub(crate) fn write(&self, text: &mut String) {
        let routes = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        const NAME: &str = "sto_http_request_duration_seconds";
        let _ = writeln!(
            text,
            "# HELP {NAME} Time until the response began.\n# TYPE {NAME} histogram"
        );
        for ((method, path, status), durations) in routes {
            let labels = format!("method=\"{method}\",route=\"{path}\",status=\"{status}\"");
            let mut count = 0;
            let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (bound, in_bucket) in bounds.zip(durations.buckets) {
                count += in_bucket;
                let _ = writeln!(text, "{NAME}_bucket{{{labels},le=\"{bound}\"}} {count}");
            }
            let _ = writeln!(text, "{NAME}_sum{{{labels}}} {}", durations.seconds);
            let _ = writeln!(text, "{NAME}_count{{{labels}}} {count}");
        }
    }
}

/// Counts a request, and writes a line to the log if it failed in the server or took long.
pub(crate) async fn observe(
    State(monitor): State<Arc<Monitor>>,
    request: Request,
    next: Next,
) -> Response {
    let begin = Instant::now();
    let method = match request.method().as_str() {
        method @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS") => method.to_owned(),
        _ => "other".to_owned(),
    };
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("none", MatchedPath::as_str).to_owned();
    let path = request.uri().path().to_owned();
    let peer = request.extensions().get::<Peer>();
    let address = peer.map_or_else(String::new, |peer| peer.0.to_string());
    let response = next.run(request).await;
    let time = begin.elapsed();
    let status = response.status();
    if status.is_server_error() || time > SLOW && !status.is_client_error() {
        let caller = response.extensions().get::<Caller>();
        let detail = response.extensions().get::<Detail>();
        monitor.log(&LogLine::Request {
            client: caller.map_or_else(String::new, |caller| caller.name.to_string()),
            address,
            method: method.clone(),
            path,
            status: status.as_u16(),
            milliseconds: time.as_millis() as u64,
            detail: detail.map_or_else(String::new, |detail| detail.0.clone()),
        });
    }
    monitor.requests.add((method, route, status.as_u16()), time);
    response
}
