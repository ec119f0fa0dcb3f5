//! `POST /api/v1/questions/{name}`: every question of the library, with the request as JSON.
//!
//! `GET` takes the request as the parameter `request`. Answers have an entity tag, which changes when the store does.

mod columns;
mod sql;

pub(crate) use sql::{Catalog, SqlRequest, SqlResult};

use crate::body::Decoded;
use crate::parse::{Parameters, json_as};
use crate::problem::Problem;
use crate::shared::{App, Shared};
use crate::wording::plain;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use std::sync::Arc;
use sto_query::questions::{AnyQuestion, QuestionName};

pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route(
            "/api/v1/questions/{name}",
            get(answer_get).post(answer_post),
        )
        .merge(columns::routes())
        .merge(sql::routes())
}

/// Parameters of a question that is asked by `GET`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ByGet {
    /// The request as JSON.
    #[serde(default)]
    request: String,
}

async fn answer_get(
    app: App,
    Path(name): Path<String>,
    Parameters(ByGet { request }): Parameters<ByGet>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(app, name, request.into(), &headers).await
}

async fn answer_post(
    app: App,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Decoded,
) -> Result<Response, Problem> {
    answer(app, name, body.bytes.clone(), &headers).await
}

async fn answer(
    app: App,
    name: String,
    request: Bytes,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let question = parse(&name, &request)?;
    let (state, sources) = app.newest_sources().await?;
    let shared = Arc::clone(&app);
    let compute = app.timed(move |context| match &question {
        AnyQuestion::Check(request) => shared.check(state, request, || {
            sto_query::ask(&sources, request, context)
        }),
        question => {
            let answer = sto_query::ask(&sources, question, context)?;
            let json = serde_json::to_vec(&answer).map_err(|_| Problem::internal())?;
            Ok(Bytes::from(json))
        }
    });
    let tag = app.tag(state, &[name.as_bytes(), &request]);
    let json = match &tag {
        Some(tag) if headers.get(header::IF_NONE_MATCH) == Some(tag) => {
            return Ok((StatusCode::NOT_MODIFIED, cached(Some(tag.clone()))).into_response());
        }
        Some(tag) => {
            let known = &app.answers;
            known.get_or_compute(state, tag.clone(), compute).await?
        }
        None => compute.await?,
    };
    let content_type = [(header::CONTENT_TYPE, "application/json")];
    Ok((content_type, cached(tag), json).into_response())
}

/// Headers that let a client keep an answer, and ask each time whether it still is the same.
fn cached(tag: Option<HeaderValue>) -> HeaderMap {
    let cache = HeaderValue::from_static("private, no-cache");
    let tag = tag.map(|tag| [(header::ETAG, tag), (header::CACHE_CONTROL, cache)]);
    tag.into_iter().flatten().collect()
}

/// Parses the JSON of a request. An empty one has all defaults.
fn parse(name: &str, request: &[u8]) -> Result<AnyQuestion, Problem> {
    let question: Result<QuestionName, ValueError> =
        QuestionName::deserialize(name.into_deserializer());
    let question = question.map_err(|error| {
        let error = plain("", &error.to_string());
        Problem::new(
            StatusCode::NOT_FOUND,
            format!("there is no such question: {error}"),
        )
    })?;
    json_as(question, if request.is_empty() { b"{}" } else { request })
}
