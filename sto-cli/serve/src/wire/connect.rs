//! Responses of Connect.

use super::{Code, Codec};
use crate::problem::Problem;
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) fn respond(codec: Codec, answered: Result<Vec<u8>, Problem>) -> Response {
    match answered {
        Ok(message) => {
            let content_type = match codec {
                Codec::Protobuf => "application/proto",
                Codec::Json => "application/json",
            };
            ([(header::CONTENT_TYPE, content_type)], message).into_response()
        }
        Err(problem) => {
            let code = Code::of_status(problem.status).name;
            let body = Json(json!({ "code": code, "message": problem.detail }));
            // The problem has the status and other headers.
            let (mut head, _) = problem.into_response().into_parts();
            head.headers.remove(header::CONTENT_TYPE);
            head.headers.remove(header::CONTENT_LENGTH);
            (head, body).into_response()
        }
    }
}
