//! Queries as Grafana's data source and Pyroscope's scripts send them.
//!
//! ```text
//! POST /querier.v1.QuerierService/{method}    Connect or gRPC: labels, series, flame graphs, pprof
//! GET  /pyroscope/render[-diff]               JSON, DOT or pprof
//! ```
//!
//! Every answer is made of questions about runs that labels select; this module only translates names: the label
//! `service_name` is the program, `version` the build, and a profile type is an event.

mod labels;
mod render;
mod request;
mod schema;
mod series;
mod stacks;
mod types;

pub(crate) use render::{OneGraph, TwoGraphs};
pub(crate) use request::Request;

use crate::problem::Problem;
use crate::shared::{App, Shared};
use crate::wire::{Call, unary};
use axum::Router;
use axum::extract::{Path, Request as HttpRequest};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use schema::{Field, decode, encode, transcode};
use serde_json::Value;
use std::sync::Arc;
use sto_query::sources::{Context, Sources};

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/querier.v1.QuerierService/{method}", post(call))
        .route("/pyroscope/render", get(render::render))
        .route("/pyroscope/render-diff", get(render::render_diff))
}

/// A method whose answer is a JSON value.
type Method = fn(&Request, &Sources, &Context) -> Result<Value, Problem>;

/// All methods.
pub(crate) const METHODS: [&str; 8] = [
    "ProfileTypes",
    "LabelNames",
    "LabelValues",
    "Series",
    "SelectSeries",
    "SelectMergeStacktraces",
    "SelectMergeProfile",
    "Diff",
];

/// Returns the messages and the function of a method.
fn method(name: &str) -> Option<(&'static [&'static [Field]; 2], Method)> {
    Some(match name {
        "ProfileTypes" => (&schema::PROFILE_TYPES, labels::profile_types),
        "LabelNames" => (&schema::LABEL_NAMES, labels::names),
        "LabelValues" => (&schema::LABEL_VALUES, labels::values),
        "Series" => (&schema::SERIES, labels::series),
        "SelectSeries" => (&schema::SELECT_SERIES, series::select),
        "SelectMergeStacktraces" => (&schema::SELECT_MERGE_STACKTRACES, stacks::merge),
        "Diff" => (&schema::DIFF, stacks::diff),
        _ => return None,
    })
}

async fn call(app: App, Path(name): Path<String>, request: HttpRequest) -> Response {
    let shared = Arc::clone(&app);
    unary(&app, request, None, async move |call| {
        answer(&shared, &name, call).await
    })
    .await
}

async fn answer(shared: &Arc<Shared>, name: &str, call: Call) -> Result<Vec<u8>, Problem> {
    let codec = call.codec;
    if name == "SelectMergeProfile" {
        let [request, answer] = schema::SELECT_MERGE_PROFILE;
        let request: Request = decode(codec, &call.message, request)?;
        let read = move |sources: &Sources, context: &Context| {
            transcode(codec, stacks::pprof(&request, sources, context)?, answer)
        };
        return shared.query(read).await;
    }
    let ([fields, answer], method) = method(name).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            format!(
                "this server has no such method of querier.v1.QuerierService; expected one of {}",
                METHODS.join(", ")
            ),
        )
    })?;
    let mut request: Request = decode(codec, &call.message, fields)?;
    request.takes_any_label_name = takes_any_label_name(&call.headers);
    let read = move |sources: &Sources, context: &Context| {
        encode(codec, &method(&request, sources, context)?, answer)
    };
    shared.query(read).await
}

/// Whether a client knows names of labels with other characters than letters, digits and `_`.
fn takes_any_label_name(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| {
        let mut parameters = value.split([';', ',']).map(str::trim);
        parameters.any(|parameter| parameter == "allow-utf8-labelnames=true")
    })
}
