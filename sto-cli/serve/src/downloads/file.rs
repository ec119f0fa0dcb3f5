//! The files of a selection of profiles.

use crate::problem::Problem;
use crate::wording::plain;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use sto_core::id::ProfileId;
use sto_core::units::UnixSeconds;
use sto_query::questions::{ExportFormat, ExportRequest};
use sto_query::render::export::write;
use sto_query::results::Subject;
use sto_query::select::{LabelMatchers, LabelledRuns};
use sto_query::sources::{BuildRef, Context, Filter, Sources};

/// The profiles of a file, as parameters of an address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileParameters {
    /// A selector as on the command line.
    selector: Option<String>,
    /// Content ids of runs of one build, with commas between them.
    runs: Option<String>,
    /// Matchers of labels as in PromQL, for runs of any builds.
    labels: Option<LabelMatchers>,
    /// With `labels`, only the time from this one on, as in RFC 3339 or in seconds since 1970.
    since: Option<String>,
    /// With `labels`, only the time before this one.
    until: Option<String>,
    /// The event; by default, the first.
    event: Option<String>,
    /// The benchmark.
    benchmark: Option<String>,
    /// The metric that is x in a Perun profile.
    x: Option<String>,
}

impl FileParameters {
    /// Answers with the file in this format.
    pub(super) fn export(
        &self,
        format: ExportFormat,
        sources: &Sources,
        context: &Context,
    ) -> Result<Response, Problem> {
        let mut request = ExportRequest::default();
        request.named = self.named()?;
        request.filter = Filter::default();
        request.filter.event.clone_from(&self.event);
        request.filter.benchmarks.extend(self.benchmark.clone());
        request.format = format;
        request.x = self.x.clone().unwrap_or_default();
        let exported = sto_query::ask(sources, &request, context)?;
        let mut bytes = Vec::new();
        write(&exported, false, &mut bytes)?;
        let (extension, content_type) = kind(format);
        let name = exported.subjects.first().map_or_else(String::new, name);
        let disposition = format!("attachment; filename=\"{name}.{extension}\"");
        let headers = [
            (header::CONTENT_TYPE, content_type),
            (header::CONTENT_DISPOSITION, &*disposition),
        ];
        Ok((headers, bytes).into_response())
    }

    fn named(&self) -> Result<BuildRef, Problem> {
        match (&self.selector, &self.runs, &self.labels) {
            (Some(selector), None, None) => Ok(BuildRef::Selector(selector.clone())),
            (None, Some(ids), None) => {
                let ids = ids.split(',').map(|id| id.parse::<ProfileId>());
                let ids: Result<_, _> = ids.collect();
                let ids = ids.map_err(|error| Problem::bad_request(error.to_string()))?;
                Ok(BuildRef::Runs(ids))
            }
            (None, None, Some(labels)) => {
                let mut runs = LabelledRuns::default();
                runs.labels = labels.clone();
                runs.since = self.since.as_deref().map(time).transpose()?;
                runs.until = self.until.as_deref().map(time).transpose()?;
                Ok(BuildRef::Labelled(runs))
            }
            _ => Err(Problem::bad_request(
                "expected one of the parameters `selector`, `runs` and `labels`",
            )),
        }
    }
}

fn time(text: &str) -> Result<UnixSeconds, Problem> {
    let seconds = text.parse().ok().map(UnixSeconds);
    seconds.or_else(|| text.parse().ok()).ok_or_else(|| {
        Problem::bad_request(format!(
            "`{text}` is no time; expected seconds since 1970, or a time such as 2026-11-29T12:00:00Z"
        ))
    })
}

/// Returns the format with this name.
pub(super) fn format(name: &str) -> Result<ExportFormat, Problem> {
    let parsed = ExportFormat::deserialize(name.into_deserializer());
    parsed.map_err(|error: ValueError| {
        let error = plain("", &error.to_string());
        Problem::new(
            StatusCode::NOT_FOUND,
            format!("there is no such format: {error}"),
        )
    })
}

/// Returns the ending of a file's name, and its content type.
fn kind(format: ExportFormat) -> (&'static str, &'static str) {
    match format {
        ExportFormat::Folded => ("folded", "text/plain; charset=utf-8"),
        ExportFormat::Pprof => ("pb.gz", "application/octet-stream"),
        ExportFormat::Otlp => ("otlp", "application/octet-stream"),
        ExportFormat::Html => ("html", "text/html; charset=utf-8"),
        ExportFormat::Speedscope => ("speedscope.json", "application/json"),
        ExportFormat::Firefox => ("firefox.json", "application/json"),
        ExportFormat::Perfetto => ("perfetto-trace", "application/octet-stream"),
        ExportFormat::D3 => ("d3.json", "application/json"),
        ExportFormat::Callgrind => ("callgrind", "text/plain; charset=utf-8"),
        ExportFormat::Csv => ("csv", "text/csv; charset=utf-8"),
        ExportFormat::Perun => ("perf", "application/json"),
        _ => ("bin", "application/octet-stream"),
    }
}

/// Returns the name of a file without its ending: program and build, in characters that every system takes.
fn name(subject: &Subject) -> String {
    /// Maximum length, so that names with an ending fit into 255 bytes.
    const LONGEST: usize = 120;
    let name = format!("{}-{}", subject.executable, subject.build);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let safe = name.chars().map(|c| if is_safe(c) { c } else { '-' });
    let safe: String = safe.take(LONGEST).collect();
    safe.trim_start_matches(['.', '-']).to_owned()
}
