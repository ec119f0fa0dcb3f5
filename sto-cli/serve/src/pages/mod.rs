//! The pages: static files that are part of the program.
//!
//! All screens are one page, whose script reads the address. The addresses of its files contain the hash of all files,
//! so that browsers keep them until the next version.
//!
//! ```text
//! assets/main.js         renders the screen of an address
//!        shell/          addresses, header, keys, palette, dark and light
//!        screens/        one file for each screen; index.js lists them
//!        ask.js          questions to the library
//!        host/           what differs in a page without a server, see the folder `web`
//!        dom.js          elements, without HTML from text
//!        styles/         variables of colours first, then one file for each part
//! ```
//!
//! The folder `web` next to `assets` has the files of a page without a server: `sto-cli/dist/web.sh` puts them over those
//! of `assets`, with the library as a WebAssembly module (`sto-query/wasm`).
//!
//! A new file needs a line in `assets.rs`; a new screen needs one in `assets/screens/index.js` and in `SCREENS` as well.
//! Everything that a link should reproduce is in the address: builds as content ids, see `assets/build_ref.js`. There is
//! no HTML from text, no inline script and no `style` attribute in markup, so that the content security policy can
//! forbid them.

mod assets;
mod runs;

use crate::pages::assets::{ASSETS, Asset};
use crate::problem::Problem;
use crate::shared::Shared;
use axum::Router;
use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// Addresses of the screens besides `/`; each is the `path` of a screen in `assets/screens`.
const SCREENS: [&str; 8] = [
    "/builds", "/profile", "/compare", "/time", "/run", "/savings", "/sql", "/status",
];

pub(crate) fn routes() -> Router<Arc<Shared>> {
    SCREENS
        .into_iter()
        .fold(Router::new(), |router, screen| {
            router.route(screen, get(page))
        })
        .merge(runs::routes())
        .route("/", get(page))
        .route("/assets/{digest}/{*name}", get(asset))
}

/// Serves the page of all screens. It names the current files, so it is never taken from a cache unasked.
async fn page(headers: HeaderMap) -> Response {
    let mut response = content(&ASSETS.page, &headers);
    let cache = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(CACHE_CONTROL, cache);
    response
}

async fn asset(
    Path((digest, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asset = ASSETS.files.get(name.as_str());
    let asset = asset.filter(|_| digest == ASSETS.digest).ok_or_else(|| {
        let detail = "no such file of the pages; the server may have been updated: reload the page";
        Problem::new(StatusCode::NOT_FOUND, detail)
    })?;
    let mut response = content(asset, &headers);
    let cache = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, cache);
    Ok(response)
}

/// Returns an asset's bytes, compressed if the client understands that.
fn content(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT_ENCODING).map(HeaderValue::as_bytes);
    let takes_gzip =
        accepted.is_some_and(|accepted| accepted.windows(4).any(|part| part == b"gzip"));
    let body = if takes_gzip {
        &asset.gzipped
    } else {
        &asset.bytes
    };
    let mut response = body.as_slice().into_response();
    let response_headers = response.headers_mut();
    response_headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    response_headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if takes_gzip {
        response_headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
