//! Unary calls of Connect and of gRPC, which carry the same messages.
//!
//! ```text
//! Connect   POST application/proto or application/json    the message is the body; an error is JSON with a status
//! gRPC      POST application/grpc[+proto]                 the message is framed; the status follows in trailers
//! ```
//!
//! Sources: <https://connectrpc.com/docs/protocol> and
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

mod code;
mod connect;
mod frame;
mod grpc;

pub(crate) use code::Code;

use crate::body::Decoded;
use crate::problem::Problem;
use crate::shared::Shared;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::future::Future;
use std::sync::Arc;

/// How messages are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Protobuf,
    Json,
}

/// A call of a unary method.
pub(crate) struct Call {
    /// How the message is encoded, and how the answer has to be.
    pub(crate) codec: Codec,
    pub(crate) message: Bytes,
    pub(crate) headers: HeaderMap,
    /// Keeps the memory of the body counted.
    _body: Decoded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Connect,
    Grpc,
}

/// Answers a call of a unary method: `answer` returns the encoded message. A call that cannot be received is counted as refused
/// if it has a sender.
pub(crate) async fn unary<Answer>(
    shared: &Arc<Shared>,
    request: Request,
    sender: Option<&str>,
    answer: impl FnOnce(Call) -> Answer,
) -> Response
where
    Answer: Future<Output = Result<Vec<u8>, Problem>>,
{
    let Some((protocol, codec)) = protocol_of(request.headers()) else {
        return Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected a content type of application/proto, application/json or application/grpc",
        )
        .into_response();
    };
    let answered = match receive(shared, request, protocol, codec).await {
        Ok(call) => answer(call).await,
        Err(problem) => {
            if let Some(sender) = sender {
                shared.monitor.refused(sender, &problem);
            }
            Err(problem)
        }
    };
    match protocol {
        Protocol::Connect => connect::respond(codec, answered),
        Protocol::Grpc => grpc::respond(codec, answered),
    }
}

/// The protocol and codec that a content type names.
fn protocol_of(headers: &HeaderMap) -> Option<(Protocol, Codec)> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let name = content_type.split(';').next()?.trim();
    Some(match name.to_ascii_lowercase().as_str() {
        "application/proto" => (Protocol::Connect, Codec::Protobuf),
        "application/json" => (Protocol::Connect, Codec::Json),
        "application/grpc" | "application/grpc+proto" => (Protocol::Grpc, Codec::Protobuf),
        "application/grpc+json" => (Protocol::Grpc, Codec::Json),
        _ => return None,
    })
}

async fn receive(
    shared: &Arc<Shared>,
    request: Request,
    protocol: Protocol,
    codec: Codec,
) -> Result<Call, Problem> {
    let headers = request.headers().clone();
    let body = Decoded::from_request(request, shared).await?;
    let bytes = body.bytes.clone();
    let message = match protocol {
        Protocol::Connect => bytes,
        Protocol::Grpc => frame::message(shared, &headers, bytes).await?,
    };
    Ok(Call {
        codec,
        message,
        headers,
        _body: body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_name_protocol_and_codec() {
        for (content_type, expected) in [
            (
                "application/proto",
                Some((Protocol::Connect, Codec::Protobuf)),
            ),
            (
                "application/json; charset=utf-8",
                Some((Protocol::Connect, Codec::Json)),
            ),
            ("application/grpc", Some((Protocol::Grpc, Codec::Protobuf))),
            ("application/grpc+json", Some((Protocol::Grpc, Codec::Json))),
            ("application/grpc-web+proto", None),
            ("text/plain", None),
        ] {
            let value = content_type.parse().expect("a header");
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, value)]);
            assert_eq!(protocol_of(&headers), expected, "{content_type}");
        }
    }
}
