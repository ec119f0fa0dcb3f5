//! Bodies of requests: received and decompressed within limits.

use crate::compression::{Encoding, decode};
use crate::problem::Problem;
use crate::room::Room;
use crate::shared::Shared;
use axum::body::{BodyDataStream, Bytes};
use axum::extract::{FromRequest, Request};
use futures_util::StreamExt;
use std::sync::Arc;
use sto_core::units;

/// The body of a request, decompressed as its `Content-Encoding` says.
///
/// As long as it exists, it counts towards [`Limits::bodies_mib`](crate::options::Limits::bodies_mib).
pub(crate) struct Decoded {
    pub(crate) bytes: Bytes,
    _room: Room,
}

impl FromRequest<Arc<Shared>> for Decoded {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Decoded, Problem> {
        let limits = &shared.options.limits;
        let (head, body) = request.into_parts();
        let mut room = Room::new(&shared.bodies);
        let mut body = body.into_data_stream();
        let received = receive(&mut body, limits.body(), &mut room).await;
        if received.is_err() {
            skip_rest(body, limits.body()).await;
        }
        let bytes = received?;
        let Some(encoding) = Encoding::of(&head.headers)? else {
            return Ok(Decoded { bytes, _room: room });
        };
        // What it expands to is only known afterwards.
        let most = limits.decoded();
        let decoded = shared
            .heavy(move || decode(encoding, &bytes, most))
            .await??;
        room.take(decoded.len())?;
        Ok(Decoded {
            bytes: decoded.into(),
            _room: room,
        })
    }
}

/// Receives a body.
async fn receive(
    body: &mut BodyDataStream,
    limit: units::Bytes,
    room: &mut Room,
) -> Result<Bytes, Problem> {
    let mut received = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk =
            chunk.map_err(|_| Problem::bad_request("the connection ended within the body"))?;
        if (received.len() + chunk.len()) as u64 > limit.0 {
            return Err(Problem::too_large("the body is larger than", limit));
        }
        room.take(chunk.len())?;
        received.extend_from_slice(&chunk);
    }
    Ok(received.into())
}

/// Receives the rest of a body that is refused, because many clients read the response only after they sent everything.
async fn skip_rest(mut body: BodyDataStream, limit: units::Bytes) {
    let mut skipped = 0;
    while let Some(Ok(chunk)) = body.next().await {
        skipped += chunk.len() as u64;
        if skipped > limit.0 {
            return;
        }
    }
}
