//! HTTP client for the crate `object_store`, based on ureq.

use super::FailureReason;
use async_trait::async_trait;
use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use std::error::Error as _;
use std::fmt::Display;
use std::io::{ErrorKind, Read};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use sto_model::tls_config;
use ureq::http::{Method, Request};
use ureq::{Agent, BodyReader, Error, Proxy, Timeout};

/// Maximum number of bytes of a response read at once.
const PIECE: usize = 1 << 16;

/// Maximum size of a page of a listing, and of an error message.
const PAGE_BYTES: u64 = 16 << 20;
const ERROR_BYTES: u64 = 64 << 10;

/// Maximum size of the file that a request asks for.
#[derive(Clone, Copy)]
pub(super) struct MaxBody(pub(super) u64);

/// Factory of HTTP clients for an object store.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    /// Creates a client with those options that have an equivalent in ureq.
    ///
    /// It does not follow redirects, because credentials would be sent to another host, and `object_store` handles
    /// redirects.
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let value = |key| options.get_config_value(&key);
        let is_on = |key| {
            let value = value(key).unwrap_or_default().to_ascii_lowercase();
            ["1", "true", "on", "yes", "y"].contains(&&*value)
        };
        let duration = |key| -> object_store::Result<Option<Duration>> {
            let parsed = value(key).map(|text| humantime::parse_duration(&text));
            parsed.transpose().map_err(|error| unusable(key, error))
        };
        let tls =
            tls_config().disable_verification(is_on(ClientConfigKey::AllowInvalidCertificates));
        let user_agent = value(ClientConfigKey::UserAgent);
        let mut config = Agent::config_builder()
            .user_agent(
                user_agent.unwrap_or_else(|| concat!("sto/", env!("CARGO_PKG_VERSION")).into()),
            )
            .http_status_as_error(false)
            .https_only(!is_on(ClientConfigKey::AllowHttp))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(duration(ClientConfigKey::ConnectTimeout)?)
            .timeout_per_read(duration(ClientConfigKey::ReadTimeout)?)
            .timeout_per_write(duration(ClientConfigKey::ReadTimeout)?)
            .timeout_global(duration(ClientConfigKey::Timeout)?)
            .tls_config(tls.build());
        if let Some(url) = value(ClientConfigKey::ProxyUrl) {
            let proxy = Proxy::new(&url);
            config = config.proxy(Some(
                proxy.map_err(|error| unusable(ClientConfigKey::ProxyUrl, error))?,
            ));
        }
        Ok(HttpClient::new(Client(config.build().into())))
    }
}

fn unusable(key: ClientConfigKey, error: impl Display) -> object_store::Error {
    object_store::Error::Generic {
        store: "HTTP client",
        source: format!("{}: {error}", key.as_ref()).into(),
    }
}

#[derive(Debug)]
struct Client(Agent);

#[async_trait]
impl HttpService for Client {
    /// Blocks this thread until the response arrives; the thread has no other work.
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let most = head.extensions.get();
        let most = most.map_or(PAGE_BYTES, |&MaxBody(bytes)| bytes);
        let answer = match head.method {
            Method::POST | Method::PUT => self.0.run(Request::from_parts(head, &body[..])),
            _ => self.0.run(Request::from_parts(head, ())),
        };
        let (head, body) = answer.map_err(http_error)?.into_parts();
        let most = if head.status.is_success() {
            most
        } else {
            ERROR_BYTES
        };
        let body = body.into_with_config().limit(most).reader();
        let body = HttpResponseBody::new(Answer(body));
        Ok(HttpResponse::from_parts(head, body))
    }
}

/// Body of a response, read on demand.
struct Answer(BodyReader<'static>);

impl Body for Answer {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let mut piece = Vec::new();
        let read = self.0.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        Poll::Ready(match read {
            Ok(0) => None,
            Ok(_) => Some(Ok(Frame::data(piece.into()))),
            Err(error) => Some(Err(http_error(Error::from(error)))),
        })
    }
}

/// Returns the reason why a request failed.
pub(super) fn unsent(error: &HttpError) -> FailureReason {
    let is_unknown = |source: &Error| matches!(source, Error::HostNotFound);
    let source = error.source().and_then(|source| source.downcast_ref());
    match error.kind() {
        HttpErrorKind::Connect if source.is_some_and(is_unknown) => FailureReason::NoHost,
        HttpErrorKind::Connect | HttpErrorKind::Timeout => FailureReason::NoAnswer,
        _ => FailureReason::Other,
    }
}

/// Converts an error for `object_store`, which decides by it whether to retry.
fn http_error(error: Error) -> HttpError {
    let error = match error {
        // The standard library has no `ErrorKind` for an unknown name of a host.
        Error::Io(error) if error.to_string().starts_with("failed to lookup address") => {
            Error::HostNotFound
        }
        error => error,
    };
    let kind = match &error {
        Error::HostNotFound | Error::ConnectionFailed | Error::Timeout(Timeout::Connect) => {
            HttpErrorKind::Connect
        }
        Error::Timeout(_) => HttpErrorKind::Timeout,
        Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable => HttpErrorKind::Connect,
            ErrorKind::TimedOut => HttpErrorKind::Timeout,
            ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => HttpErrorKind::Interrupted,
            _ => HttpErrorKind::Unknown,
        },
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
