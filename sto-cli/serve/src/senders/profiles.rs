//! `POST /api/v1/profiles`: a file of any format, with its program and build in the query.

use crate::body::Decoded;
use crate::intake::{Origin, Received};
use crate::parse::Parameters;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use crate::wording::plain_error;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use sto_core::tree::SliceCount;
use sto_query::results::{IngestSummary, IngestedFile, json};

/// The parameters, for messages.
const KNOWN: &str =
    "program, build, revision, benchmark, label.KEY, metric.NAME, recorded, slices and format";

/// The name of all senders of runs in the status.
const SENDER: &str = "api/v1/profiles";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/api/v1/profiles", post(receive))
}

async fn receive(
    app: App,
    Parameters(query): Parameters<Vec<(String, String)>>,
    body: Result<Decoded, Problem>,
) -> Result<impl IntoResponse, Problem> {
    let adding = async {
        let (mut received, body) = (parse(query)?, body?);
        received.body = body.bytes.clone();
        let outcome = app.intake.add_run(received).await?;
        Ok((outcome, body.bytes.len() as u64))
    };
    let added = adding.await;
    let (outcome, size) = added.inspect_err(|problem| app.monitor.refused(SENDER, problem))?;
    let file = IngestedFile::new("profile".to_owned(), &outcome, |notice| notice.text.clone());
    app.monitor
        .accepted(SENDER, file.profiles.len() as u64, size);
    let summary = IngestSummary {
        recordings: vec![file],
        is_dataset: false,
    };
    let json = json(&summary).map_err(|_| Problem::internal())?;
    Ok((
        StatusCode::CREATED,
        [(header::CONTENT_TYPE, "application/json")],
        json,
    ))
}

/// Parses the query.
fn parse(query: Vec<(String, String)>) -> Result<Received, Problem> {
    let mut received = Received::default();
    let mut origin = Origin::default();
    for (key, value) in query {
        let is_repeated = match key.as_str() {
            "program" => origin.program.replace(value).is_some(),
            "build" => origin.build.replace(value).is_some(),
            "revision" => origin.revision.replace(value).is_some(),
            "benchmark" => origin.benchmark.replace(value).is_some(),
            "recorded" => origin.recorded.replace(parsed(&key, &value)?).is_some(),
            "format" => received.format.replace(parsed(&key, &value)?).is_some(),
            "slices" => {
                let slices = value.parse().ok().and_then(SliceCount::new);
                let slices = slices.ok_or_else(|| {
                    let expected = format!("expected a whole number from 1 to {}", SliceCount::MAX);
                    invalid(&key, &value, expected)
                })?;
                received.slices.replace(slices).is_some()
            }
            _ => match (key.strip_prefix("label."), key.strip_prefix("metric.")) {
                (Some(label), _) if !label.is_empty() => {
                    origin.labels.insert(label.to_owned(), value).is_some()
                }
                (_, Some(metric)) if !metric.is_empty() => {
                    let number: f64 = parsed(&key, &value)?;
                    if !number.is_finite() {
                        return Err(invalid(&key, &value, "expected a finite number"));
                    }
                    origin.metrics.insert(metric.to_owned(), number).is_some()
                }
                _ => {
                    return Err(Problem::bad_request(format!(
                        "`{key}` is not a parameter; expected {KNOWN}"
                    )));
                }
            },
        };
        if is_repeated {
            return Err(Problem::bad_request(format!(
                "`{key}` is given twice; expected it once"
            )));
        }
    }
    Ok(Received { origin, ..received })
}

fn parsed<T: FromStr<Err: Display>>(key: &str, value: &str) -> Result<T, Problem> {
    let parsed = value.parse::<T>();
    parsed.map_err(|error| invalid(key, value, plain_error(&error.to_string())))
}

fn invalid(key: &str, value: &str, error: impl Display) -> Problem {
    Problem::bad_request(format!("{key}={value}: {error}"))
}
