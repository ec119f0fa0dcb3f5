//! Errors of requests, as RFC 9457 describes them.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sto_core::StoreError;
use sto_core::ingest::IngestError;
use sto_core::memory::HumanBytes;
use sto_core::units::Bytes;
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
    /// The problem in a sentence: the value found, the value expected, and the remedy.
    pub(crate) detail: String,
    /// Seconds after which another attempt may succeed.
    #[serde(skip)]
    retry_after: Option<u32>,
    /// Whether the response asks for a token; browsers then show a form for a password.
    #[serde(skip)]
    needs_token: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            status: status.as_u16(),
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            detail: detail.into(),
            retry_after: (status == StatusCode::TOO_MANY_REQUESTS).then_some(1),
            needs_token: false,
        }
    }

    /// The server has too much to do; another attempt may succeed after some seconds.
    pub(crate) fn busy(retry_after: u32, detail: impl Into<String>) -> Problem {
        Problem {
            retry_after: Some(retry_after),
            ..Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)
        }
    }

    /// A body, or something in it, exceeds a limit; `what` is the beginning of a sentence.
    pub(crate) fn too_large(what: &str, limit: Bytes) -> Problem {
        let limit = HumanBytes(limit.0);
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("{what} the limit of {limit}; send less at once"),
        )
    }

    /// The token is missing or unknown.
    pub(crate) fn needs_token(detail: impl Into<String>) -> Problem {
        Problem {
            needs_token: true,
            ..Problem::new(StatusCode::UNAUTHORIZED, detail)
        }
    }

    /// A panic, or another error of this program.
    pub(crate) fn internal() -> Problem {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request ended with an internal error; please report it, with the lines of the log",
        )
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }
}

/// The detail of a problem, as an extension of its response.
#[derive(Clone, Debug)]
pub(crate) struct Detail(pub(crate) String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let needs_token = self.needs_token;
        let detail = Detail(self.detail.clone());
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        let content_type = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, content_type);
        response.extensions_mut().insert(detail);
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if needs_token {
            let basic = HeaderValue::from_static("Basic realm=\"sto\", charset=\"UTF-8\"");
            headers.insert(header::WWW_AUTHENTICATE, basic);
        }
        response
    }
}

/// Turns errors that the framework describes by plain text into problems.
pub(crate) async fn describe_errors(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_text = content_type.is_none_or(|value| value.as_bytes().starts_with(b"text/plain"));
    if !(status.is_client_error() || status.is_server_error()) || !is_text {
        return response;
    }
    let detail = match status {
        StatusCode::NOT_FOUND => {
            "there is nothing at this address; /api/v1/openapi.json lists all".to_owned()
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            "this address takes other methods, as the header `Allow` says".to_owned()
        }
        _ => to_bytes(response.into_body(), MAX_DETAIL)
            .await
            .map_or_else(
                |_| status.to_string(),
                |text| String::from_utf8_lossy(&text).into_owned(),
            ),
    };
    Problem::new(status, detail).into_response()
}

/// Size of the framework's descriptions of errors in bytes.
const MAX_DETAIL: usize = 4096;

/// The status of an error of this class.
fn status_of(class: ErrorClass) -> StatusCode {
    match class {
        ErrorClass::NotFound => StatusCode::NOT_FOUND,
        ErrorClass::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorClass::Forbidden => StatusCode::FORBIDDEN,
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
