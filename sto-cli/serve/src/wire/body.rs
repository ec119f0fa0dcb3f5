//! Bodies of requests: received and decompressed within limits.

use super::compression::{Encoding, decode};
use crate::problem::Problem;
use crate::shared::Shared;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use std::sync::Arc;

/// The body of a request, decompressed as its `Content-Encoding` says.
pub(crate) struct Decoded {
    pub(crate) bytes: Bytes,
}

impl FromRequest<Arc<Shared>> for Decoded {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Decoded, Problem> {
        let encoding = Encoding::of(request.headers())?;
        let bytes = Bytes::from_request(request, shared).await;
        let bytes = bytes.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        match encoding {
            None => Ok(Decoded { bytes }),
            Some(encoding) => Ok(Decoded {
                bytes: decode(encoding, &bytes, shared.options.max_decoded)?.into(),
            }),
        }
    }
}
