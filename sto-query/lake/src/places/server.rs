//! A server of sto: its store, as files in the layout of the [exchange](crate::exchange), and its answers.

use super::error::{Advice, Refusal};
use super::{FailureReason, ListedFile, MAX_NAMES, Machine};
use serde::Deserialize;
use std::thread;
use std::time::Duration;
use sto_model::tls_config;
use sto_model::units::Bytes;
use ureq::http::{Method, Request, Response, StatusCode, header};
use ureq::{Agent, Body, Error};

/// Maximum size of an error message.
const ERROR_BYTES: u64 = 64 << 10;

/// Number of attempts while the server is busy, and the time between them.
const ATTEMPTS: (u32, Duration) = (5, Duration::from_secs(1));

/// The store of a server.
pub(super) struct Files {
    agent: Agent,
    url: String,
    token: Option<String>,
}

/// A problem as RFC 9457 describes it.
#[derive(Deserialize)]
struct Problem {
    detail: String,
}

impl Files {
    pub(super) fn new(url: String, machine: &Machine) -> Result<Files, Refusal> {
        let token = token(machine)?;
        if token.is_some() && url.starts_with("http://") && !is_this_machine(&url) {
            return Err(Refusal::other(
                "a token would be sent unencrypted; use https://, or send none",
            ));
        }
        let config = Agent::config_builder()
            .user_agent(concat!("sto/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(machine.timeout))
            .timeout_per_read(Some(machine.timeout))
            .timeout_per_write(Some(machine.timeout))
            .tls_config(tls_config().build());
        Ok(Files {
            agent: config.build().into(),
            url,
            token,
        })
    }

    /// Sends a request about a file; returns `None` if there is no such file.
    fn ask_for(
        &self,
        method: Method,
        name: &str,
        body: &[u8],
    ) -> Result<Option<Response<Body>>, Refusal> {
        let response = self.send(&method, &format!("exchange/{name}"), body)?;
        match response.status() {
            status if status.is_success() => Ok(Some(response)),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(refusal(response)),
        }
    }

    /// Sends a request, again if the server is busy.
    fn send(&self, method: &Method, path: &str, body: &[u8]) -> Result<Response<Body>, Refusal> {
        let (attempts, pause) = ATTEMPTS;
        for _ in 1..attempts {
            match self.send_once(method, path, body) {
                Ok(response) if is_busy(response.status()) => thread::sleep(pause),
                response => return response,
            }
        }
        self.send_once(method, path, body)
    }

    fn send_once(
        &self,
        method: &Method,
        path: &str,
        body: &[u8],
    ) -> Result<Response<Body>, Refusal> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/api/v1/{path}", self.url));
        let request = match &self.token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        };
        let invalid = |error: ureq::http::Error| Refusal::other(&error.to_string());
        let response = match *method {
            Method::POST => {
                let request = request.header(header::CONTENT_TYPE, "application/json");
                self.agent.run(request.body(body).map_err(invalid)?)
            }
            Method::PUT => self.agent.run(request.body(body).map_err(invalid)?),
            _ => self.agent.run(request.body(()).map_err(invalid)?),
        };
        response.map_err(|error| unanswered(&error))
    }
}

impl super::Files for Files {
    fn list(&self, folder: &str) -> Result<Vec<ListedFile>, Refusal> {
        let Some(mut listed) = self.ask_for(Method::GET, folder, &[])? else {
            return Ok(Vec::new());
        };
        let listed = listed
            .body_mut()
            .with_config()
            .limit(MAX_NAMES.0)
            .read_to_vec();
        let listed = listed.map_err(|error| unanswered(&error))?;
        serde_json::from_slice(&listed).map_err(|error| Refusal::other(&error.to_string()))
    }

    fn is_empty(&self) -> Result<bool, Refusal> {
        // Another server answers here, because each server of sto has a manifest.
        Err(Refusal::other("it is no server of sto"))
    }

    fn has(&self, name: &str) -> Result<bool, Refusal> {
        Ok(self.ask_for(Method::HEAD, name, &[])?.is_some())
    }

    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(mut found) = self.ask_for(Method::GET, name, &[])? else {
            return Ok(None);
        };
        match found.body_mut().with_config().limit(most.0).read_to_vec() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::BodyExceedsLimit(_)) => Err(Refusal::new(FailureReason::TooLong, "")),
            Err(error) => Err(unanswered(&error)),
        }
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        let created = self.ask_for(Method::PUT, name, bytes)?;
        let created = created.ok_or_else(|| Refusal::other("it is no server of sto"))?;
        Ok(created.status() == StatusCode::CREATED)
    }

    fn ask(&self, path: &str, json: &[u8], most: Bytes) -> Result<Vec<u8>, Refusal> {
        let mut answer = self.send(&Method::POST, path, json)?;
        if !answer.status().is_success() {
            return Err(refusal(answer));
        }
        let body = answer.body_mut().with_config().limit(most.0);
        body.read_to_vec().map_err(|error| unanswered(&error))
    }
}

/// The token in `STO_TOKEN`, or in the file that `STO_TOKEN_FILE` names.
fn token(machine: &Machine) -> Result<Option<String>, Refusal> {
    if let Some(token) = machine.variables.get("STO_TOKEN") {
        return Ok(Some(token.trim().to_owned()));
    }
    let file = machine.variables.get("STO_TOKEN_FILE");
    let token = file.map(|file| {
        let token = std::fs::read_to_string(file);
        token.map_err(|error| Refusal::other(&format!("STO_TOKEN_FILE: {file}: {error}")))
    });
    Ok(token.transpose()?.map(|token| token.trim().to_owned()))
}

/// Whether a URL names this machine, so that nobody can read along.
fn is_this_machine(url: &str) -> bool {
    let host = url.trim_start_matches("http://");
    let host = host.split('/').next().unwrap_or_default();
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, _)) => host,
        None => host.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn is_busy(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    )
}

fn refusal(mut response: Response<Body>) -> Refusal {
    let status = response.status();
    let why = match status {
        StatusCode::UNAUTHORIZED => FailureReason::Credentials(Advice::Token),
        StatusCode::FORBIDDEN => FailureReason::Forbidden,
        StatusCode::CONFLICT => FailureReason::Conflict,
        StatusCode::PAYLOAD_TOO_LARGE => FailureReason::TooLong,
        _ => FailureReason::Other,
    };
    let body = response
        .body_mut()
        .with_config()
        .limit(ERROR_BYTES)
        .read_to_vec();
    let problem = body
        .ok()
        .and_then(|body| serde_json::from_slice::<Problem>(&body).ok());
    let said = problem.map_or_else(|| status.to_string(), |problem| problem.detail);
    Refusal::new(why, &said)
}

fn unanswered(error: &Error) -> Refusal {
    let why = match error {
        Error::HostNotFound => FailureReason::NoHost,
        Error::ConnectionFailed | Error::Timeout(_) => FailureReason::NoAnswer,
        Error::Io(error) if error.to_string().starts_with("failed to lookup address") => {
            FailureReason::NoHost
        }
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            FailureReason::NoAnswer
        }
        _ => FailureReason::Other,
    };
    Refusal::new(why, &error.to_string())
}
