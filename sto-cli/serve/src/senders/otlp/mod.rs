//! OTLP's profiles, over HTTP and gRPC.
//!
//! ```text
//! request     export       checks the version, and accepts the profiles of each program
//!    |
//! resources   protobuf     attributes, profiles, and the dictionary that they share
//!             json         the same in JSON
//!             dictionary   the part of the dictionary that some resources use
//!    |
//!    v
//! intake
//! ```
//!
//! Sources: <https://opentelemetry.io/docs/specs/otlp/>, and `collector/profiles/v1development/profiles_service.proto` of
//! <https://github.com/open-telemetry/opentelemetry-proto>.

mod dictionary;
mod export;
mod json;
mod protobuf;
mod resources;

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::{App, Shared};
use crate::wire::{Call, Code, Codec, unary};
use axum::Router;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use export::{SENDER, export};
use serde_json::json;
use std::sync::Arc;
use sto_core::formats::MessageWriter;

const GRPC: &str = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1development/profiles", post(over_http))
        .route(GRPC, post(over_grpc))
}

async fn over_grpc(app: App, request: Request) -> Response {
    let answer = async |call: Call| {
        let accepted = export(&app, call.codec, &call.headers, &call.message).await?;
        Ok(accepted.encode(call.codec))
    };
    unary(&app, request, Some(SENDER), answer).await
}

async fn over_http(app: App, request: Request) -> Response {
    let Some(codec) = codec_of(request.headers()) else {
        return Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected a content type of application/x-protobuf or application/json",
        )
        .into_response();
    };
    let content_type = match codec {
        Codec::Protobuf => "application/x-protobuf",
        Codec::Json => "application/json",
    };
    let content_type = [(header::CONTENT_TYPE, content_type)];
    let headers = request.headers().clone();
    let accepted = match Decoded::from_request(request, &app).await {
        Ok(body) => export(&app, codec, &headers, &body.bytes).await,
        Err(problem) => {
            app.monitor.refused(SENDER, &problem);
            Err(problem)
        }
    };
    match accepted {
        Ok(accepted) => (content_type, accepted.encode(codec)).into_response(),
        Err(problem) => {
            let body = status(&problem, codec);
            // The problem has the status, and the time of the next attempt.
            let (mut head, _) = problem.into_response().into_parts();
            head.headers.remove(header::CONTENT_LENGTH);
            head.headers.remove(header::CONTENT_TYPE);
            if head.status == StatusCode::UNPROCESSABLE_ENTITY {
                head.status = StatusCode::BAD_REQUEST;
            }
            (head, content_type, body).into_response()
        }
    }
}

fn codec_of(headers: &HeaderMap) -> Option<Codec> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    match content_type.split(';').next()?.trim() {
        "application/x-protobuf" => Some(Codec::Protobuf),
        "application/json" => Some(Codec::Json),
        _ => None,
    }
}

/// Encodes a problem as `google.rpc.Status`.
fn status(problem: &Problem, codec: Codec) -> Vec<u8> {
    let code = Code::of_status(problem.status).number;
    match codec {
        Codec::Protobuf => {
            let mut status = MessageWriter::default();
            status.number(1, code.into());
            status.bytes(2, problem.detail.as_bytes());
            status.bytes
        }
        Codec::Json => json!({ "code": code, "message": problem.detail })
            .to_string()
            .into_bytes(),
    }
}
