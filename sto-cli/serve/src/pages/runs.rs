//! Pages of a single run, as `sto timeline` writes them. The screen `/run` frames them.

use crate::parse::Parameters;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use std::sync::Arc;
use sto_core::id::ProfileId;
use sto_query::QueryError;
use sto_query::questions::{
    CallTimelineRequest, CallTraceRequest, TimelineRequest, TimelinesRequest,
};
use sto_query::render;
use sto_query::sources::{BuildRef, Filter};
use sto_query::text::{Command, Words};

/// Rows of each timeline.
const ROWS: usize = 20;

/// The prefix of content ids in addresses, see `assets/build_ref.js`.
const RUNS: &str = "runs:";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/pages/timeline", get(timeline))
        .route("/pages/calls", get(calls))
}

/// The run of a page, and the event.
#[derive(Deserialize)]
struct RunPage {
    build: String,
    event: Option<String>,
}

impl RunPage {
    fn named(&self) -> Result<BuildRef, Problem> {
        let Some(ids) = self.build.strip_prefix(RUNS) else {
            return Ok(BuildRef::Selector(self.build.clone()));
        };
        let ids: Result<Vec<ProfileId>, _> = ids.split(',').map(str::parse).collect();
        let ids = ids.map_err(|error| Problem::bad_request(format!("`build`: {error}")))?;
        Ok(BuildRef::Runs(ids))
    }

    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.event.clone_from(&self.event);
        filter
    }
}

async fn timeline(app: App, Parameters(page): Parameters<RunPage>) -> Result<Response, Problem> {
    let mut request = TimelineRequest::default();
    request.named = page.named()?;
    request.filter = page.filter();
    request.limit = Some(ROWS);
    let found = app.ask(TimelinesRequest(request)).await?;
    let mut ranking = vec!["sto".to_owned(), "correlate".to_owned()];
    let run = found.run.view.selection.profiles.first();
    ranking.extend(run.map(|run| run.id.to_string()));
    let ranking = Command { words: ranking };
    Ok(framed(render::timeline::html(
        &found,
        Words::default(),
        &ranking,
    )))
}

async fn calls(app: App, Parameters(page): Parameters<RunPage>) -> Result<Response, Problem> {
    let mut request = CallTimelineRequest::default();
    request.named = page.named()?;
    let run = app.ask(CallTraceRequest(request)).await?;
    let html = render::calls::html(&run, Words::default(), &|_| Default::default());
    Ok(framed(html.map_err(QueryError::from)?))
}

/// Returns a page that may be shown in a frame of this server. The page itself has the policy of its scripts.
fn framed(page: String) -> Response {
    let policy = HeaderValue::from_static("frame-ancestors 'self'");
    ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}
