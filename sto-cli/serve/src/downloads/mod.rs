//! Files of profiles for other programs.
//!
//! ```text
//! GET /api/v1/export/{format}?selector=v2                       a file
//! GET /api/v1/export-links/{format}?selector=v2                 a signed address of the same file
//! GET /api/v1/signed/{signature}/export/{format}?selector=v2    the file, for viewers on other sites
//! ```
//!
//! speedscope and the Firefox Profiler are pages of other sites that fetch a file by its address. A browser sends them
//! neither cookies nor tokens of this server, so the address is signed: it is valid for some minutes and for this file
//! only. Only the pages of these two sites may read the response.

mod file;
mod signature;

pub(crate) use file::FileParameters;

use crate::parse::{Parameters, parameters};
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use signature::Signature;
use std::sync::Arc;

/// The sites whose pages may read files by signed addresses.
const VIEWERS: [&str; 2] = ["https://www.speedscope.app", "https://profiler.firefox.com"];

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/v1/export/{format}", get(export))
        .route("/api/v1/export-links/{format}", get(link))
}

/// Routes for clients that are known by a signature in the address.
pub(crate) fn signed_routes() -> Router<Arc<Shared>> {
    Router::new().route(
        "/api/v1/signed/{signature}/export/{format}",
        get(signed).options(preflight),
    )
}

async fn export(
    app: App,
    Path(format): Path<String>,
    Parameters(chosen): Parameters<FileParameters>,
) -> Result<Response, Problem> {
    let format = file::format(&format)?;
    let read = move |sources: &_, context: &_| chosen.export(format, sources, context);
    app.query(read).await
}

/// Returns the signed address of a file, if the file exists.
async fn link(
    app: App,
    Path(format): Path<String>,
    RawQuery(query): RawQuery,
    Parameters(chosen): Parameters<FileParameters>,
) -> Result<Json<Value>, Problem> {
    let name = format.clone();
    let format = file::format(&format)?;
    let check = move |sources: &_, context: &_| chosen.export(format, sources, context).map(drop);
    app.query(check).await?;
    let query = query.unwrap_or_default();
    let signature = Signature::new(&name, &query)?;
    let path = format!("/api/v1/signed/{signature}/export/{name}?{query}");
    Ok(Json(json!({ "path": path, "expires": signature.expires })))
}

async fn signed(
    app: App,
    Path((signature, format)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let answer = async {
        Signature::check(&signature, &format, &query.unwrap_or_default())?;
        let chosen = Parameters(parameters(&uri)?);
        export(app, Path(format), chosen).await
    };
    let mut response = answer.await.into_response();
    allow_viewer(&headers, response.headers_mut());
    response
}

/// Answers browsers that ask whether a page of another site may fetch a file, also from a private network.
async fn preflight(headers: HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let allowed = response.headers_mut();
    if allow_viewer(&headers, allowed) {
        let get = HeaderValue::from_static("GET");
        allowed.insert(header::ACCESS_CONTROL_ALLOW_METHODS, get);
        allowed.insert(
            "access-control-allow-private-network",
            HeaderValue::from_static("true"),
        );
    }
    response
}

/// Lets a page read the response if it is one of the viewers.
fn allow_viewer(request: &HeaderMap, response: &mut HeaderMap) -> bool {
    response.insert(header::VARY, HeaderValue::from_static("Origin"));
    let origin = request.get(header::ORIGIN);
    let is_viewer = |origin: &&HeaderValue| {
        VIEWERS
            .iter()
            .any(|viewer| viewer.as_bytes() == origin.as_bytes())
    };
    let Some(origin) = origin.filter(is_viewer) else {
        return false;
    };
    response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    response.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("cross-origin"),
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_viewers_may_read() {
        for (origin, expected) in [
            ("https://www.speedscope.app", true),
            ("https://profiler.firefox.com", true),
            ("http://www.speedscope.app", false),
            ("https://www.speedscope.app.evil.example", false),
            ("null", false),
        ] {
            let request = HeaderMap::from_iter([(header::ORIGIN, origin.parse().unwrap())]);
            let mut response = HeaderMap::new();
            assert_eq!(allow_viewer(&request, &mut response), expected, "{origin}");
            let allowed = response.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(allowed.is_some(), expected);
        }
    }
}
