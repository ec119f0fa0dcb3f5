//! Frames of gRPC: a byte that tells whether the message is compressed, its length in four bytes, and the message.

use crate::compression::{Encoding, decode};
use crate::problem::Problem;
use crate::shared::Shared;
use axum::body::Bytes;
use axum::http::HeaderMap;
use std::sync::Arc;

/// Number of bytes before a message.
const HEAD: usize = 5;

/// Returns the only message of a body, decompressed.
pub(super) async fn message(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Bytes, Problem> {
    let (is_compressed, message) = only_message(&body)?;
    if !is_compressed {
        return Ok(message);
    }
    let name = headers.get("grpc-encoding");
    let name = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    let encoding = Encoding::named(name)?.ok_or_else(|| {
        Problem::bad_request("a compressed message without the header grpc-encoding; expected gzip")
    })?;
    let limit = shared.options.limits.decoded();
    let decoded = shared
        .heavy(move || decode(encoding, &message, limit))
        .await??;
    Ok(decoded.into())
}

fn only_message(body: &Bytes) -> Result<(bool, Bytes), Problem> {
    let Some((&[flag, a, b, c, d], message)) = body.split_first_chunk::<HEAD>() else {
        return Err(Problem::bad_request(format!(
            "a body of {} bytes; expected a frame of gRPC, which has at least {HEAD}",
            body.len()
        )));
    };
    let length = [a, b, c, d]
        .iter()
        .fold(0, |length, &byte| length << 8 | usize::from(byte));
    if flag > 1 || message.len() != length {
        return Err(Problem::bad_request(format!(
            "a frame of gRPC with the flag {flag} and {length} of {} bytes; expected one message, and the flag 0 or 1",
            message.len()
        )));
    }
    Ok((flag == 1, body.slice(HEAD..)))
}

/// Frames a message that is not compressed.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let length = message.len() as u64;
    let length = [length >> 24, length >> 16, length >> 8, length].map(|byte| byte as u8);
    [&[0][..], &length, message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_message_is_read_back() {
        for message in [&b""[..], &[7; 70_000]] {
            let body = Bytes::from(framed(message));
            let (is_compressed, read) = only_message(&body).expect("one message");
            assert!(!is_compressed);
            assert_eq!(read, message);
        }
    }

    #[test]
    fn rejects_bodies_that_are_not_one_message() {
        for body in [
            &b""[..],
            &[0, 0, 0, 0],
            &[0, 0, 0, 0, 1],
            &[0, 0, 0, 0, 0, 0],
            &[2, 0, 0, 0, 0],
            &[0, 255, 255, 255, 255, 1],
        ] {
            let problem = only_message(&Bytes::copy_from_slice(body)).expect_err("not a message");
            assert_eq!(problem.status, 400);
        }
    }
}
