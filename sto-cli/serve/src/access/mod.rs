//! Access to the server: the rights of each request.
//!
//! Three checks, in this order: the name in the `Host` header, so that a page of another site whose name resolves to this
//! machine reaches nothing; the `Origin` of requests that change something, so that pages of other sites cannot use the
//! rights of a browser; and the token or cookie.

mod headers;
mod host;
mod session;

pub(crate) use headers::secure_headers;
pub(crate) use session::Session;

use crate::client::Caller;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::problem::Problem;
use crate::token::{self, Scope, Token};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::sync::Arc;

/// Checks requests.
pub(crate) struct Access {
    hosts: Vec<String>,
    tokens: Vec<Token>,
    session: Option<Session>,
    read_only: bool,
    monitor: Arc<Monitor>,
}

impl Access {
    pub(crate) fn new(
        options: &Options,
        session: Option<Session>,
        monitor: Arc<Monitor>,
    ) -> Access {
        Access {
            hosts: options.hosts.clone(),
            tokens: options.tokens.clone(),
            session,
            read_only: options.read_only,
            monitor,
        }
    }

    /// Finds the client, which must have the scope.
    fn caller(&self, scope: Scope, request: &Request) -> Result<Caller, Problem> {
        if scope != Scope::Read && self.read_only {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "this server is read-only; send to the one that writes the store",
            ));
        }
        let named = |name: &str| Caller { name: name.into() };
        if let Some(session) = &self.session {
            session.check(request)?;
            return Ok(named("browser"));
        }
        if self.tokens.is_empty() {
            return Ok(named("anyone"));
        }
        let sent = sent_token(request.headers()).ok_or_else(|| {
            Problem::needs_token(
                "send a token: `Authorization: Bearer TOKEN`, or as the password of Basic",
            )
        })?;
        let known = token::find(&self.tokens, &sent).ok_or_else(|| {
            Problem::needs_token("this server does not know the token; ask who runs it for one")
        })?;
        if !known.allows(scope) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!(
                    "the token `{}` lacks the scope `{}`; ask who runs the server to add it, or use another token",
                    known.name,
                    scope.name()
                ),
            ));
        }
        Ok(named(&known.name))
    }
}

impl Access {
    /// Records that a client may not send profiles. Clients without a known token are one sender, so that they cannot drive
    /// others out of the status.
    fn note_refused_sender(&self, scope: Scope, request: &Request, problem: &Problem) {
        if scope != Scope::Write {
            return;
        }
        let sent = sent_token(request.headers());
        let known = sent.and_then(|sent| token::find(&self.tokens, &sent));
        let sender = known.map_or_else(
            || "no access".to_owned(),
            |token| format!("no access: {}", token.name),
        );
        self.monitor.refused(&sender, problem);
    }
}

/// The token in the `Authorization` header: of Bearer, or the password of Basic.
fn sent_token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(rest.trim()).ok()?).ok()?;
    Some(decoded.split_once(':')?.1.to_owned())
}

/// Lets these routes be used only with a scope.
pub(crate) fn needs<S>(scope: Scope, access: &Arc<Access>, routes: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let state = (Arc::clone(access), scope);
    routes.route_layer(from_fn_with_state(state, admit))
}

async fn admit(
    State((access, scope)): State<(Arc<Access>, Scope)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if let Some(session) = &access.session
        && let Some(entered) = session.enter(&request)
    {
        return Ok(entered);
    }
    let caller = access.caller(scope, &request);
    let caller =
        caller.inspect_err(|problem| access.note_refused_sender(scope, &request, problem))?;
    request.extensions_mut().insert(caller.clone());
    let mut response = next.run(request).await;
    response.extensions_mut().insert(caller);
    Ok(response)
}

/// Refuses requests that a page of another site may have sent.
pub(crate) async fn same_site(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let host = host::requested(&request)?;
    host::check(&host, &access.hosts)?;
    let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
    // Browsers add cookies to requests of any page, but a page has to know a token.
    let uses_tokens = access.session.is_none() && !access.tokens.is_empty();
    let has_secret = uses_tokens && has_bearer(request.headers());
    if !is_safe && !has_secret && is_from_other_site(request.headers(), &host) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "the request comes from a page of another site; if the server has tokens, send it with `Authorization: Bearer \
             TOKEN`",
        ));
    }
    Ok(next.run(request).await)
}

/// Whether the request has a token that browsers do not add to requests of pages by themselves.
fn has_bearer(headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION);
    let start = value.and_then(|value| value.as_bytes().get(..7));
    start.is_some_and(|start| start.eq_ignore_ascii_case(b"bearer "))
}

/// Whether a browser sent the request for a page of another site.
fn is_from_other_site(headers: &HeaderMap, host: &str) -> bool {
    match headers
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or("null"))
    {
        // The scheme may be that of a proxy.
        Some(origin) => origin
            .split_once("://")
            .is_none_or(|(_, of)| !of.eq_ignore_ascii_case(host)),
        None => headers
            .get("sec-fetch-site")
            .is_some_and(|site| site != "same-origin" && site != "none"),
    }
}
