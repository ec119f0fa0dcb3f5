//! A server from its start to its end.

use crate::access::{Access, Session, needs, same_site, secure_headers};
use crate::connection::Connections;
use crate::log::LogLine;
use crate::monitor::observe;
use crate::options::{Options, Program};
use crate::problem::{Problem, describe_errors};
use crate::shared::Shared;
use crate::tls::{self, TlsError};
use crate::token::Scope;
use crate::{checks, downloads, openapi, pages, pull, querier, questions, senders, status};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;
use sto_core::store::Store;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// The reason why a server cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// Other machines can reach the address, and anyone could read and write.
    #[error(
        "other machines can reach {0}, but the configuration has no `[[token]]`; make one with `sto serve --new-token NAME`"
    )]
    NoTokens(SocketAddr),
    /// Other machines can reach the address, and tokens would be sent in the clear.
    #[error(
        "other machines can reach {0}, but the configuration has no `[tls]`; if a proxy in front does TLS, set `insecure = true`"
    )]
    NoTls(SocketAddr),
    /// Certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system refuses threads or connections.
    #[error("cannot serve")]
    System(#[from] io::Error),
}

/// Serves a store until `stop` is ready, and then finishes the requests that have begun.
///
/// # Errors
///
/// Returns an error if the address is in use or not allowed, or if the certificate cannot be read.
pub fn serve(
    store: Store,
    options: Options,
    program: Program,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    check(&options)?;
    let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listen = |source| ServeError::Listen {
            address: options.listen,
            source,
        };
        let listener = TcpListener::bind(options.listen).await.map_err(listen)?;
        let address = listener.local_addr()?;
        let session = options
            .one_browser
            .then(|| Session::new(address.port()))
            .transpose()?;
        let link = session
            .as_ref()
            .and_then(Session::query)
            .unwrap_or_default();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let shared = Arc::new(Shared::new(store, options, &program)?);
        let monitor = Arc::clone(&shared.monitor);
        let access = Access::new(&shared.options, session, Arc::clone(&monitor));
        tokio::spawn(forget_outdated(Arc::downgrade(&shared)));
        if !shared.options.read_only {
            pull::start(&shared.options.scrapes, &shared, runtime.handle())?;
        }
        let connections = Connections {
            limits: shared.options.limits.clone(),
            tls,
            router: router(&Arc::new(access), shared),
        };
        let pages = format!("{scheme}://{address}/");
        (program.on_ready)(&format!("{pages}{link}"));
        if link.is_empty() {
            monitor.log(&LogLine::Ready { address: pages });
        }
        connections.serve(listener, stop).await;
        monitor.log(&LogLine::Stopped);
        Ok(())
    });
    // Questions are cancelled, and need not be waited for.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

/// Checks that nobody can read or write, or see tokens, by accident.
fn check(options: &Options) -> Result<(), ServeError> {
    let address = options.listen;
    if address.ip().is_loopback() || options.one_browser {
        return Ok(());
    }
    if options.tokens.is_empty() {
        return Err(ServeError::NoTokens(address));
    }
    if options.tls.is_none() && !options.insecure {
        return Err(ServeError::NoTls(address));
    }
    Ok(())
}

/// All routes, each with the scope that it needs, and the checks of every request.
fn router(access: &Arc<Access>, shared: Arc<Shared>) -> Router {
    let monitor = Arc::clone(&shared.monitor);
    let body = usize::try_from(shared.options.limits.body().0).unwrap_or(usize::MAX);
    let limit = shared.options.limits.request_time();
    Router::new()
        .merge(needs(Scope::Read, access, pages::routes()))
        .merge(needs(Scope::Read, access, questions::routes()))
        .merge(needs(Scope::Read, access, openapi::routes()))
        .merge(needs(Scope::Read, access, status::routes()))
        .merge(needs(Scope::Read, access, querier::routes()))
        .merge(needs(Scope::Read, access, downloads::routes()))
        .merge(downloads::signed_routes())
        .merge(needs(Scope::Read, access, checks::routes()))
        .merge(needs(Scope::Read, access, senders::reading_routes()))
        .merge(needs(Scope::Write, access, senders::routes()))
        .merge(status::health_routes())
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(DefaultBodyLimit::max(body))
        .layer(from_fn_with_state(limit, within_time))
        .layer(from_fn_with_state(Arc::clone(access), same_site))
        .layer(from_fn(catch_panics))
        .layer(from_fn(describe_errors))
        .layer(from_fn(secure_headers))
        .layer(from_fn_with_state(monitor, observe))
        .with_state(shared)
}

/// Gives up requests that take too long, such as those whose bodies never end.
async fn within_time(
    State(limit): State<Duration>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    timeout(limit, next.run(request)).await.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the request took longer than the limit of {} s",
                limit.as_secs()
            ),
        )
    })
}

/// Time after which a state of the store that nobody asks about any more is forgotten.
const OUTDATED: Duration = Duration::from_secs(10);

async fn forget_outdated(server: Weak<Shared>) {
    loop {
        tokio::time::sleep(OUTDATED).await;
        match server.upgrade() {
            Some(shared) => shared.forget_outdated(),
            None => return,
        }
    }
}

async fn catch_panics(request: Request, next: Next) -> Response {
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    response.unwrap_or_else(|_| Problem::internal().into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_tokens_and_tls() {
        let parse = |text| check(&Options::parse(text).unwrap());
        let token = format!(
            "[[token]]\nname = 'a'\nsha256 = '{}'\nscopes = []\n",
            "0".repeat(64)
        );
        assert!(parse("listen = '127.0.0.1:0'").is_ok());
        assert!(parse("listen = '[::1]:0'").is_ok());
        assert!(matches!(
            parse("listen = '0.0.0.0:0'"),
            Err(ServeError::NoTokens(_))
        ));
        let with_token = format!("listen = '[::]:0'\n{token}");
        assert!(matches!(parse(&with_token), Err(ServeError::NoTls(_))));
        assert!(parse(&format!("insecure = true\n{with_token}")).is_ok());
    }
}
