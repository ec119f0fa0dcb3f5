//! Errors of requests, as RFC 9457 describes them.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sto_core::StoreError;
use sto_core::ingest::IngestError;
use sto_query::QueryError;
use sto_query::error::ErrorClass;

/// The reason why a request failed: the JSON body of a response with an error status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Problem {
    /// The status, which the response has, too.
    pub(crate) status: u16,
    /// The kind of problem: `about:blank`, because the status tells it.
    pub(crate) r#type: &'static str,
    /// The status in words.
    pub(crate) title: &'static str,
    /// What was found, what was expected, and the remedy.
    pub(crate) detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            status: status.as_u16(),
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            detail: detail.into(),
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        let content_type = HeaderValue::from_static("application/problem+json");
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
        response
    }
}

/// The status of an error of this class.
fn status_of(class: ErrorClass) -> StatusCode {
    match class {
        ErrorClass::NotFound => StatusCode::NOT_FOUND,
        ErrorClass::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorClass::Busy => StatusCode::TOO_MANY_REQUESTS,
        ErrorClass::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorClass::Unsupported => StatusCode::NOT_IMPLEMENTED,
        ErrorClass::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Problem {
        Problem::new(status_of(error.class()), error.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        QueryError::from(error).into()
    }
}

impl From<IngestError> for Problem {
    fn from(error: IngestError) -> Problem {
        QueryError::from(error).into()
    }
}
