//! `POST /ingest`: one profile of an application, whose name, labels and time are in the query.

use super::form::Form;
use super::name::AppName;
use super::text::{Nodes, lines_to_folded, tree_to_folded};
use super::time::range;
use crate::body::Decoded;
use crate::intake::Received;
use crate::parse::{Parameters, json};
use crate::problem::Problem;
use crate::senders::mapping::{PROFILE, map};
use crate::shared::App;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use sto_core::Format;

/// Parameters of the query; others are ignored.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IngestParameters {
    /// `APP` or `APP{KEY=VALUE,…}`.
    name: String,
    /// Begin of the recording, in seconds, milliseconds, microseconds or nanoseconds since 1970.
    from: Option<String>,
    /// End of the recording.
    until: Option<String>,
    /// Format of the body; by default, folded stacks.
    #[serde(default)]
    format: String,
    /// The profiler.
    spy_name: Option<String>,
    /// The unit of the values.
    units: Option<String>,
}

/// How the types of values in a pprof are shown.
#[derive(Deserialize)]
struct TypeConfig {
    #[serde(rename = "display-name", default)]
    display_name: String,
    #[serde(default)]
    cumulative: bool,
}

/// Answers with exactly 200, because Go's SDK takes every other status for a failure.
pub(super) async fn receive(
    app: App,
    Parameters(query): Parameters<IngestParameters>,
    headers: HeaderMap,
    body: Result<Decoded, Problem>,
) -> Result<StatusCode, Problem> {
    let name = AppName::parse(&query.name)?;
    let sender = format!("pyroscope /ingest: {}", name.app);
    let accepting = async {
        let body = body?;
        accept(&app, query, name, &headers, body.bytes.clone(), &sender).await?;
        Ok(body.bytes.len() as u64)
    };
    let accepted = accepting.await;
    let size = accepted.inspect_err(|problem| app.monitor.refused(&sender, problem))?;
    app.monitor.accepted(&sender, 1, size);
    Ok(StatusCode::OK)
}

async fn accept(
    app: &App,
    query: IngestParameters,
    name: AppName,
    headers: &HeaderMap,
    body: Bytes,
    sender: &str,
) -> Result<(), Problem> {
    let range = range(query.from.as_deref(), query.until.as_deref())?;
    let content = Content::read(&query.format, headers, body)?;
    let mut labels = BTreeMap::from([("service_name".to_owned(), name.app)]);
    labels.extend(query.spy_name.map(|spy| ("pyroscope_spy".to_owned(), spy)));
    let profile = content
        .profile
        .or(name.counted)
        .or(query.units.filter(|units| units != "samples"));
    labels.extend(profile.map(|profile| (PROFILE.to_owned(), profile)));
    labels.extend(name.labels);
    let mapped = map(labels, headers);
    for reason in content
        .left_out
        .into_iter()
        .map(str::to_owned)
        .chain(mapped.left_out)
    {
        app.monitor.left_out(sender, &reason);
    }
    let received = Received {
        origin: mapped.origin,
        body: content.bytes,
        earlier: content.earlier,
        format: content.format,
        range,
        ..Received::default()
    };
    app.intake.accept(vec![received]).await
}

/// The profile in a body.
struct Content {
    bytes: Bytes,
    /// An earlier reading of the same counters.
    earlier: Option<Bytes>,
    format: Option<Format>,
    /// The profile's name, such as `mutex`, if the body tells.
    profile: Option<String>,
    /// Why a part of the body is not used.
    left_out: Option<&'static str>,
}

impl Content {
    fn new(bytes: impl Into<Bytes>, format: Option<Format>) -> Content {
        Content {
            bytes: bytes.into(),
            earlier: None,
            format,
            profile: None,
            left_out: None,
        }
    }

    fn read(format: &str, headers: &HeaderMap, body: Bytes) -> Result<Content, Problem> {
        let content_type = headers.get(header::CONTENT_TYPE);
        let content_type = content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let form = Form::boundary(headers).map(|boundary| Form::parse(&body, &boundary));
        match (format, form.transpose()?) {
            ("jfr", Some(form)) => Content::from_jfr_form(form),
            ("jfr", None) => Ok(Content::new(body, Some(Format::Jfr))),
            ("pprof" | "", Some(form)) => Content::from_pprof_form(form),
            ("pprof", None) => Ok(Content::new(body, Some(Format::Pprof))),
            ("speedscope", None) => Ok(Content::new(body, Some(Format::Speedscope))),
            ("trie", None) => tree(&body, Nodes::Text),
            ("tree", None) => tree(&body, Nodes::Functions),
            ("lines", None) => Ok(folded(lines_to_folded(&body))),
            ("" | "folded" | "groups" | "collapsed", None) => match content_type {
                "binary/octet-stream+trie" => tree(&body, Nodes::Text),
                "binary/octet-stream+tree" => tree(&body, Nodes::Functions),
                _ => Ok(folded(body)),
            },
            (format, _) => Err(Problem::bad_request(format!(
                "format={format}: expected folded, groups, lines, trie, tree, pprof, jfr or speedscope"
            ))),
        }
    }

    fn from_jfr_form(mut form: Form) -> Result<Content, Problem> {
        let mut content = Content::new(form.take_required("jfr")?, Some(Format::Jfr));
        let has_labels = form.take("labels").is_some_and(|labels| !labels.is_empty());
        content.left_out =
            has_labels.then_some("labels of samples in a recording of Java are not read");
        Ok(content)
    }

    fn from_pprof_form(mut form: Form) -> Result<Content, Problem> {
        let mut content = Content::new(form.take_required("profile")?, Some(Format::Pprof));
        let config: BTreeMap<String, TypeConfig> = match form.take("sample_type_config") {
            Some(config) => json(&config).map_err(|problem| {
                Problem::bad_request(format!("the part sample_type_config: {}", problem.detail))
            })?,
            None => BTreeMap::new(),
        };
        let earlier = form.take("prev_profile");
        content.earlier = earlier.filter(|earlier| !earlier.is_empty());
        if content.earlier.is_none() && config.values().any(|config| config.cumulative) {
            return Err(Problem::bad_request(
                "a cumulative profile without the part `prev_profile`; send the profile before it, too",
            ));
        }
        let shown = |name: &str| {
            config
                .values()
                .any(|config| config.display_name.starts_with(name))
        };
        let known = ["mutex", "block", "goroutine"]
            .into_iter()
            .find(|name| shown(name));
        content.profile = known.map(str::to_owned);
        Ok(content)
    }
}

fn folded(bytes: impl Into<Bytes>) -> Content {
    Content::new(bytes, Some(Format::Folded))
}

fn tree(body: &[u8], nodes: Nodes) -> Result<Content, Problem> {
    Ok(folded(tree_to_folded(body, nodes)?))
}
