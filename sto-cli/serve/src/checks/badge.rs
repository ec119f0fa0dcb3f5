//! `GET /api/v1/badge?program=demo`: a picture with the verdict of the newest build against the previous one.

use crate::parse::Parameters;
use crate::problem::Problem;
use crate::shared::App;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use sto_query::QueryError;
use sto_query::check::{Baseline, CheckRequest};
use sto_query::error::ErrorClass;
use sto_query::results::Verdict;
use sto_query::sources::{BuildRef, Context, Sources};

/// The program that a badge is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BadgeParameters {
    /// The program.
    program: String,
    /// The benchmark; by default, all that both builds have.
    benchmark: Option<String>,
}

/// Text and colour of a badge's right half.
struct Face {
    text: &'static str,
    color: &'static str,
}

pub(super) async fn badge(
    app: App,
    Parameters(subject): Parameters<BadgeParameters>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // The verdict depends only on the store's content, so whoever has seen it in this state need not ask again.
    let tag = format!("\"{}\"", app.sources()?.0);
    let tag = HeaderValue::try_from(tag).map_err(|_| Problem::internal())?;
    let seen = headers.get(header::IF_NONE_MATCH) == Some(&tag);
    let mut response = if seen {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let read = move |sources: &_, context: &_| subject.face(sources, context);
        let face = app.query(read).await?;
        ([(header::CONTENT_TYPE, "image/svg+xml")], picture(&face)).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

impl BadgeParameters {
    fn face(&self, sources: &Sources, context: &Context) -> Result<Face, Problem> {
        let build = |age: &str| BuildRef::Selector(format!("{}@{age}", self.program));
        let mut request = CheckRequest::default();
        request.baseline = Some(Baseline::Any(build("previous")));
        request.candidate = build("newest");
        request.benchmarks.extend(self.benchmark.clone());
        let (text, color) = match sto_query::ask(sources, &request, context) {
            Ok(check) => match check.verdict {
                Verdict::Regression => ("slower", "#b35900"),
                Verdict::Clean => ("no regression", "#1f6feb"),
                Verdict::Insufficient => ("too little data", "#6e7781"),
            },
            Err(error) if is_missing(&error) => ("no data", "#6e7781"),
            Err(error) => return Err(error.into()),
        };
        Ok(Face { text, color })
    }
}

fn is_missing(error: &QueryError) -> bool {
    error.class() == ErrorClass::NotFound
}

/// Draws a badge in the form that is usual for these.
fn picture(face: &Face) -> String {
    /// Mean width of a character of 11 px, and the space around a text.
    const CHARACTER: usize = 7;
    const SPACE: usize = 10;
    const LEFT: usize = 3 * CHARACTER + SPACE;
    let Face { text, color } = face;
    let right = text.len() * CHARACTER + SPACE;
    let width = LEFT + right;
    let [left_middle, right_middle] = [LEFT / 2, LEFT + right / 2];
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"20\" role=\"img\" aria-label=\"sto: {text}\">\
         <title>sto: {text}</title>\
         <rect width=\"{LEFT}\" height=\"20\" fill=\"#444d56\"/>\
         <rect x=\"{LEFT}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\
         <text x=\"{left_middle}\" y=\"14\">sto</text><text x=\"{right_middle}\" y=\"14\">{text}</text></g></svg>\n"
    )
}
