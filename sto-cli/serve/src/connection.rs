//! Connections: their number, their time limits, TLS, and HTTP.

use crate::client::Peer;
use crate::options::Limits;
use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Time in which a client must send the head of a request, or agree on TLS.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// Time in which requests that have begun must end when the server stops.
const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Requests of one HTTP/2 connection at the same time.
const STREAMS: u32 = 100;

/// The connections of a server.
#[derive(Clone)]
pub(crate) struct Connections {
    pub(crate) limits: Limits,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) router: Router,
}

impl Connections {
    /// Accepts connections until `stop` is ready, and then waits for the requests that have begun.
    pub(crate) async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let free = Arc::new(Semaphore::new(
            self.limits.connections.min(Semaphore::MAX_PERMITS),
        ));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                // No more files may be open, or the client is gone.
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            // Without a free place, the connection is closed.
            if let Ok(place) = Arc::clone(&free).try_acquire_owned() {
                let connections = self.clone();
                let watcher = graceful.watcher();
                tokio::spawn(async move {
                    connections.serve_one(stream, peer, watcher).await;
                    drop(place);
                });
            }
        }
        drop(listener);
        let _ = timeout(LAST_REQUESTS, graceful.shutdown()).await;
    }

    async fn serve_one(self, stream: TcpStream, peer: SocketAddr, watcher: Watcher) {
        let _ = stream.set_nodelay(true);
        let stream = IdleTimeout::new(stream, self.limits.idle_time());
        let Some(tls) = &self.tls else {
            return self.serve_stream(stream, peer, watcher).await;
        };
        if let Ok(Ok(stream)) = timeout(HEAD_TIME, tls.accept(stream)).await {
            self.serve_stream(stream, peer, watcher).await;
        }
    }

    /// Serves HTTP/1, or HTTP/2 if the client begins with it.
    async fn serve_stream<S>(&self, stream: S, peer: SocketAddr, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer.ip()));
            router.call(request)
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .keep_alive_interval(HEAD_TIME)
            .keep_alive_timeout(HEAD_TIME);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        // A connection that fails ends; there is nobody to tell.
        let _ = watcher.watch(connection.into_owned()).await;
    }
}

/// A stream that fails if no byte moved in either direction for some time.
struct IdleTimeout<S> {
    stream: S,
    limit: Duration,
    /// Boxed, because it must not move.
    end: Pin<Box<Sleep>>,
}

impl<S> IdleTimeout<S> {
    fn new(stream: S, limit: Duration) -> IdleTimeout<S> {
        IdleTimeout {
            stream,
            limit,
            end: Box::pin(sleep(limit)),
        }
    }

    /// Passes on the outcome of an operation, unless it has to wait and the time is up.
    fn within_limit<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.end.as_mut().reset(Instant::now() + self.limit);
            return outcome;
        }
        ready!(self.end.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.within_limit(cx, outcome)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.within_limit(cx, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.within_limit(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within_limit(cx, outcome)
    }
}
