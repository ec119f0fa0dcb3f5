//! `push.v1.PusherService/Push`: several series of pprof profiles.

use crate::intake::Received;
use crate::parse::json;
use crate::problem::Problem;
use crate::senders::mapping::map;
use crate::shared::App;
use crate::wire::{Call, Codec, unary};
use axum::body::Bytes;
use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer};
use std::path::Path;
use sto_core::Format;
use sto_core::formats::{DecodeError, Message};

/// Profiles of one program with the same labels.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Series {
    labels: Vec<Label>,
    samples: Vec<Sample>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Label {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sample {
    #[serde(
        rename = "rawProfile",
        alias = "raw_profile",
        deserialize_with = "base64"
    )]
    profile: Bytes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PushRequest {
    series: Vec<Series>,
}

/// The kind of these senders in the status.
const SENDER: &str = "pyroscope push";

pub(super) async fn receive(app: App, request: Request) -> Response {
    unary(&app, request, Some(SENDER), |call| push(&app, call)).await
}

async fn push(app: &App, call: Call) -> Result<Vec<u8>, Problem> {
    let request = match call.codec {
        Codec::Protobuf => parse(&call.message).map_err(|error| {
            let error = error.in_file(Path::new("the request"), call.message.len());
            Problem::bad_request(error.to_string())
        })?,
        Codec::Json => json(&call.message)?,
    };
    let mut sender = SENDER.to_owned();
    let (mut received, mut left_out) = (Vec::new(), Vec::new());
    for series in request.series {
        let labels = series
            .labels
            .into_iter()
            .map(|label| (label.name, label.value));
        let mapped = map(labels, &call.headers);
        left_out.extend(mapped.left_out);
        if let Some(program) = &mapped.origin.program {
            sender = format!("{SENDER}: {program}");
        }
        received.extend(series.samples.into_iter().map(|sample| Received {
            origin: mapped.origin.clone(),
            body: sample.profile,
            format: Some(Format::Pprof),
            ..Received::default()
        }));
    }
    let profiles = received.len() as u64;
    for reason in left_out {
        app.monitor.left_out(&sender, &reason);
    }
    match app.intake.accept(received).await {
        Ok(()) => {
            app.monitor
                .accepted(&sender, profiles, call.message.len() as u64);
            Ok(match call.codec {
                Codec::Protobuf => Vec::new(),
                Codec::Json => b"{}".to_vec(),
            })
        }
        Err(problem) => {
            app.monitor.refused(&sender, &problem);
            Err(problem)
        }
    }
}

/// Parses a `push.v1.PushRequest`.
fn parse(message: &Bytes) -> Result<PushRequest, DecodeError> {
    let mut request = PushRequest::default();
    for field in Message::from_file(message).fields() {
        let field = field?;
        if field.number == 1 {
            request
                .series
                .push(parse_series(message, field.message()?)?);
        }
    }
    Ok(request)
}

fn parse_series(all: &Bytes, series: Message<'_>) -> Result<Series, DecodeError> {
    let mut parsed = Series::default();
    for field in series.fields() {
        let field = field?;
        match field.number {
            1 => parsed.labels.push(parse_label(field.message()?)?),
            2 => parsed.samples.push(parse_sample(all, field.message()?)?),
            _ => {}
        }
    }
    Ok(parsed)
}

fn parse_label(label: Message<'_>) -> Result<Label, DecodeError> {
    let mut parsed = Label::default();
    for field in label.fields() {
        let field = field?;
        match field.number {
            1 => parsed.name = text(field.bytes()?),
            2 => parsed.value = text(field.bytes()?),
            _ => {}
        }
    }
    Ok(parsed)
}

fn parse_sample(all: &Bytes, sample: Message<'_>) -> Result<Sample, DecodeError> {
    let mut parsed = Sample::default();
    for field in sample.fields() {
        let field = field?;
        if field.number == 1 {
            parsed.profile = all.slice_ref(field.bytes()?);
        }
    }
    Ok(parsed)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64_STANDARD.decode(text);
    let bytes =
        bytes.map_err(|error| serde::de::Error::custom(format!("expected base64: {error}")))?;
    Ok(bytes.into())
}
