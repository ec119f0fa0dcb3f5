//! Responses of gRPC.

use super::frame::framed;
use super::{Code, Codec};
use crate::problem::Problem;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Full};
use std::future::ready;

const STATUS: &str = "grpc-status";

pub(super) fn respond(codec: Codec, answered: Result<Vec<u8>, Problem>) -> Response {
    let content_type = HeaderValue::from_static(match codec {
        Codec::Protobuf => "application/grpc",
        Codec::Json => "application/grpc+json",
    });
    let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type)]);
    match answered {
        Ok(message) => {
            let mut trailers = HeaderMap::new();
            trailers.insert(STATUS, HeaderValue::from_static("0"));
            let body = Full::from(framed(&message)).with_trailers(ready(Some(Ok(trailers))));
            (headers, Body::new(body)).into_response()
        }
        // Without a message, the status is among the headers.
        Err(problem) => {
            headers.insert(STATUS, Code::of_status(problem.status).number.into());
            if let Ok(message) = HeaderValue::from_str(&percent_encoded(&problem.detail)) {
                headers.insert("grpc-message", message);
            }
            headers.into_response()
        }
    }
}

/// Escapes everything but printable ASCII.
fn percent_encoded(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b' '..=b'~' if byte != b'%' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_percent_encoded() {
        assert_eq!(percent_encoded("10 % of µs\n"), "10 %25 of %C2%B5s%0A");
    }
}
