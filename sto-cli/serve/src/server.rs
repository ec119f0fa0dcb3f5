//! Connections: listening, limits, and shutdown.

use crate::options::Options;
use crate::shared::Shared;
use crate::{pages, pull, questions, senders, status};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use sto_core::store::Store;
use thiserror::Error;
use tokio::net::TcpListener;

/// The reason why a server cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system refuses threads or connections.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// Serves a store until `stop` is ready. `on_ready` is called with the address when connections are accepted.
///
/// # Errors
///
/// Returns an error if the address is in use or not allowed.
pub fn serve(
    store: Store,
    options: Options,
    stop: impl Future<Output = ()> + Send + 'static,
    on_ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let address = options.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| ServeError::Listen { address, source })?;
        on_ready(listener.local_addr()?);
        let shared = Arc::new(Shared::new(store, options)?);
        pull::start(&shared.options.scrapes, &shared, runtime.handle())?;
        let router = router(shared);
        axum::serve(listener, router)
            .with_graceful_shutdown(stop)
            .await?;
        Ok(())
    })
}

fn router(shared: Arc<Shared>) -> Router {
    let max_body = usize::try_from(shared.options.max_body.0).unwrap_or(usize::MAX);
    Router::new()
        .merge(pages::routes())
        .merge(questions::routes())
        .merge(senders::routes())
        .merge(status::routes())
        .layer(DefaultBodyLimit::max(max_body))
        .with_state(shared)
}
