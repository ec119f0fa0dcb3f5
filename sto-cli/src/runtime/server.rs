//! Requests to a server of sto.

use crate::runtime::CliError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sto_model::tls_config;
use ureq::Agent;
use ureq::http::header::AUTHORIZATION;

/// Size of the largest answer, in bytes.
const MAX_ANSWER: u64 = 1 << 30;

/// A server of sto.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its address, without a slash at the end.
    pub(crate) url: String,
    token: Option<String>,
}

impl Server {
    /// Makes requests to the server at this address, with a token if it needs one.
    pub(crate) fn new(url: &str, token: Option<String>) -> Result<Server, CliError> {
        let url = url.trim_end_matches('/').to_owned();
        if !["http://", "https://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(CliError::Server {
                message: "expected an address that begins with http:// or https://".to_owned(),
                url,
            });
        }
        Ok(Server { url, token })
    }

    /// Sends JSON, and returns the answer.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CliError> {
        let failed = |message: String| CliError::Server {
            url: self.url.clone(),
            message,
        };
        let config = Agent::config_builder()
            .user_agent(concat!("sto/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            // A token must not be sent to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(tls_config().build())
            .build();
        let mut request = Agent::new_with_config(config).post(format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut response = request
            .send_json(body)
            .map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER)
            .read_to_string();
        let text = text.map_err(|error| failed(error.to_string()))?;
        if !status.is_success() {
            return Err(failed(problem(&text).unwrap_or_else(|| {
                format!("the server answered with status {status}, which is no answer of sto")
            })));
        }
        serde_json::from_str(&text).map_err(|error| {
            failed(format!(
                "the server's answer cannot be read, it may be of another version: {error}"
            ))
        })
    }
}

/// Returns the message of an error.
fn problem(text: &str) -> Option<String> {
    let problem: Value = serde_json::from_str(text).ok()?;
    Some(problem["detail"].as_str()?.to_owned())
}
