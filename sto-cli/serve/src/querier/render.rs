//! `GET /pyroscope/render` and `/pyroscope/render-diff`, which scripts call.

use super::request::{Request, Selected, found};
use super::stacks::{difference, export, flame_graph};
use crate::parse::Parameters;
use crate::problem::Problem;
use crate::shared::App;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;
use sto_core::units::UnixSeconds;
use sto_query::questions::{CostOverTimeRequest, ExportFormat, TreeRequest};
use sto_query::render::export::Flamebearer;
use sto_query::results::CallTree;
use sto_query::sources::{Context, Sources};
use sto_query::text::printable;

/// Parameters of a flame graph.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneGraph {
    query: String,
    from: Option<String>,
    until: Option<String>,
    format: Option<String>,
    #[serde(alias = "max-nodes")]
    max_nodes: Option<i64>,
}

/// Parameters of two flame graphs next to each other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TwoGraphs {
    left_query: String,
    left_from: Option<String>,
    left_until: Option<String>,
    right_query: String,
    right_from: Option<String>,
    right_until: Option<String>,
    #[serde(alias = "max-nodes")]
    max_nodes: Option<i64>,
}

/// Number of steps of a timeline, at most.
const STEPS: u64 = 1000;
/// Length of the shortest step of a timeline, in seconds.
const SHORTEST_STEP: u64 = 10;

pub(super) async fn render(
    app: App,
    Parameters(parameters): Parameters<OneGraph>,
) -> Result<Response, Problem> {
    let read = move |sources: &Sources, context: &Context| {
        let request = parameters.request(context)?;
        match parameters.format.as_deref() {
            None | Some("json" | "") => {
                let graph = flame_graph(&request, sources, context)?.unwrap_or_default();
                let timeline = timeline(&request, sources, context)?;
                let shown = shown(&graph, "single", &request);
                Ok(Json(with(shown, "timeline", timeline)).into_response())
            }
            Some("pprof") => {
                let pprof = export(&request, ExportFormat::Pprof, sources, context)?;
                let pprof = pprof.ok_or_else(|| {
                    Problem::new(
                        StatusCode::NOT_FOUND,
                        "no profile was recorded in that time",
                    )
                })?;
                let content_type = [(header::CONTENT_TYPE, "application/octet-stream")];
                Ok((content_type, pprof).into_response())
            }
            Some("dot") => {
                let dot = match request.select(sources, context)? {
                    Some(selected) => dot(&selected, sources, context)?,
                    None => dot_of(None),
                };
                Ok((
                    [(header::CONTENT_TYPE, "text/vnd.graphviz; charset=utf-8")],
                    dot,
                )
                    .into_response())
            }
            Some(other) => Err(Problem::bad_request(format!(
                "the format `{other}` is unknown; expected json, pprof or dot"
            ))),
        }
    };
    app.query(read).await
}

pub(super) async fn render_diff(
    app: App,
    Parameters(both): Parameters<TwoGraphs>,
) -> Result<Json<Value>, Problem> {
    let read = move |sources: &Sources, context: &Context| {
        let max_nodes = both.max_nodes;
        let side = |query, from, until| OneGraph {
            query,
            from,
            until,
            format: None,
            max_nodes,
        };
        let left = side(both.left_query, both.left_from, both.left_until).request(context)?;
        let right = side(both.right_query, both.right_from, both.right_until).request(context)?;
        let graph = difference([&left, &right], sources, context)?;
        let graph = graph.unwrap_or_default();
        let mut shown = shown(&graph, "double", &left);
        for (ix, name) in ["leftTicks", "rightTicks"].into_iter().enumerate() {
            shown = with(
                shown,
                name,
                graph.totals.get(ix).copied().unwrap_or_default().into(),
            );
        }
        Ok(Json(shown))
    };
    app.query(read).await
}

impl OneGraph {
    /// Returns the request that these parameters stand for.
    fn request(&self, context: &Context) -> Result<Request, Problem> {
        let (profile_type, labels) = match self.query.find('{') {
            Some(at) => self.query.split_at(at),
            None => (&*self.query, ""),
        };
        Ok(Request {
            profile_type: profile_type.trim().to_owned(),
            label_selector: labels.to_owned(),
            start: time(self.from.as_deref().unwrap_or("now-1h"), context)?,
            end: time(self.until.as_deref().unwrap_or("now"), context)?,
            max_nodes: self.max_nodes.unwrap_or_default(),
            ..Request::default()
        })
    }
}

/// Parses a time: `now`, `now-1h`, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970, which
/// its size tells apart. Returns milliseconds.
fn time(text: &str, context: &Context) -> Result<i64, Problem> {
    let now = || i64::try_from(context.now.unwrap_or_default().0).unwrap_or_default() * 1000;
    let parsed = match text.strip_prefix("now") {
        Some("") => Some(now()),
        Some(ago) => ago
            .strip_prefix('-')
            .and_then(milliseconds)
            .map(|ago| now().saturating_sub(ago)),
        None => text
            .parse::<i64>()
            .ok()
            .map(|number| match number.checked_ilog10() {
                None | Some(..11) => number.saturating_mul(1000),
                Some(11..14) => number,
                Some(14..17) => number / 1000,
                Some(17..) => number / 1_000_000,
            }),
    };
    parsed.ok_or_else(|| {
        Problem::bad_request(format!(
            "`{text}` is no time; expected `now`, `now-` and a number of s, m, h, d or w, or seconds since 1970"
        ))
    })
}

fn milliseconds(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86400,
        "w" => 7 * 86400,
        _ => return None,
    };
    number
        .parse::<i64>()
        .ok()?
        .checked_mul(seconds)?
        .checked_mul(1000)
}

/// Returns a flame graph with its metadata.
fn shown(graph: &Flamebearer, format: &str, request: &Request) -> Value {
    let parts: Vec<&str> = request.profile_type.split(':').collect();
    let units = match parts.get(2) {
        Some(&"nanoseconds") => "nanoseconds",
        Some(&"bytes") => "bytes",
        _ => "samples",
    };
    let total = graph
        .totals
        .iter()
        .fold(0_i64, |sum, total| sum.saturating_add(*total));
    json!({
        "version": 1,
        "flamebearer": {
            "names": graph.names,
            "levels": graph.levels,
            "numTicks": total,
            "maxSelf": graph.max_self,
        },
        "metadata": {
            "format": format,
            "spyName": "",
            // Nanoseconds are shown as such if there are so many samples a second.
            "sampleRate": 1_000_000_000,
            "units": units,
            "name": parts.get(1),
        },
        "timeline": null,
        "groups": null,
    })
}

fn with(mut value: Value, name: &str, part: Value) -> Value {
    value[name] = part;
    value
}

/// Returns the cost of the selected runs over time; `null` without any.
fn timeline(request: &Request, sources: &Sources, context: &Context) -> Result<Value, Problem> {
    let Some(Selected { runs, profile_type }) = request.select(sources, context)? else {
        return Ok(Value::Null);
    };
    let (Some(since), Some(until)) = (runs.since, runs.until) else {
        return Ok(Value::Null);
    };
    let step = (until.0.saturating_sub(since.0) / STEPS).max(SHORTEST_STEP);
    let mut question = CostOverTimeRequest::default();
    question.runs = runs;
    question.event = Some(profile_type.event);
    question.step = step;
    let Some(costs) = found(sto_query::ask(sources, &question, context))? else {
        return Ok(Value::Null);
    };
    let begin = since.0 - since.0 % step;
    let count = until.0.saturating_sub(begin).div_ceil(step);
    let mut samples = vec![0; usize::try_from(count).unwrap_or_default()];
    for point in costs.series.iter().flat_map(|series| &series.points) {
        let UnixSeconds(time) = point.time;
        let ix = usize::try_from(time.saturating_sub(begin) / step).unwrap_or_default();
        if let Some(sample) = samples.get_mut(ix) {
            let by_samples = profile_type.by_samples || point.cost.value == 0;
            *sample = if by_samples {
                point.cost.samples
            } else {
                point.cost.value
            };
        }
    }
    Ok(json!({
        "startTime": begin,
        "samples": samples,
        "durationDelta": step,
        "watermarks": {},
    }))
}

/// Returns the call tree in the language of Graphviz.
fn dot(selected: &Selected, sources: &Sources, context: &Context) -> Result<String, Problem> {
    let mut question = TreeRequest::default();
    (question.named, question.filter) = selected.named();
    question.unfold = true;
    let tree = found(sto_query::ask(sources, &question, context))?;
    Ok(dot_of(tree.as_ref()))
}

fn dot_of(tree: Option<&CallTree>) -> String {
    let mut dot = "digraph stacks {\n  node [shape=box];\n".to_owned();
    let nodes = tree.map_or(&[][..], |tree| &tree.nodes);
    for (ix, node) in nodes.iter().enumerate() {
        let name = printable(&node.frame.function)
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        let (own, total) = (node.self_cost, node.total);
        let [own, whole] = [own.value.max(own.samples), total.value.max(total.samples)];
        let share = 100.0 * total.share;
        let label = format!("{name}\\n{own} of {whole} ({share:.2}%)");
        // Writing to a string cannot fail.
        let _ = writeln!(dot, "  N{ix} [label=\"{label}\"];");
        if let Some(parent) = node.parent {
            let _ = writeln!(dot, "  N{parent} -> N{ix} [label=\"{whole}\"];");
        }
    }
    dot + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_or_since_1970() {
        let mut context = Context::default();
        context.now = Some(UnixSeconds(1_700_000_000));
        for (text, expected) in [
            ("now", 1_700_000_000_000),
            ("now-30m", 1_699_998_200_000),
            ("1700000000", 1_700_000_000_000),
            ("1700000000123", 1_700_000_000_123),
            ("1700000000123000000", 1_700_000_000_123),
        ] {
            assert_eq!(time(text, &context).unwrap(), expected, "{text}");
        }
        for text in [
            "",
            "now-",
            "now-1y",
            "now+1h",
            "yesterday",
            "now-99999999999999999999h",
            "now-é",
        ] {
            assert_eq!(time(text, &context).unwrap_err().status, 400, "{text}");
        }
    }
}
