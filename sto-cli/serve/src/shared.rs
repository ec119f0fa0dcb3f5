//! What all handlers share: the open store, and the limits of one request.

use crate::intake::Intake;
use crate::options::{Options, RenderCheck};
use crate::problem::Problem;
use axum::http::StatusCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use sto_core::store::{StateId, Store};
use sto_core::units::{Bytes, UnixSeconds};
use sto_core::{CancelToken, StoreError};
use sto_query::questions::Question;
use sto_query::sources::{Context, Sources};
use tokio::task::spawn_blocking;

/// The state of handlers.
pub(crate) type App = axum::extract::State<Arc<Shared>>;

/// Memory for stacks that are kept between questions.
const CACHE: Bytes = Bytes(256 << 20);

/// What all handlers share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) intake: Intake,
    pub(crate) render_check: Option<RenderCheck>,
    store: Store,
    /// The newest known state, and the sources of its questions.
    current: Mutex<Option<(StateId, Sources)>>,
}

impl Shared {
    pub(crate) fn new(store: Store, options: Options) -> Shared {
        Shared {
            options,
            intake: Intake::new(store.clone()),
            render_check: None,
            store,
            current: Mutex::default(),
        }
    }

    /// The store in its newest state.
    pub(crate) fn sources(&self) -> Result<(StateId, Sources), StoreError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, sources)) = &*current
            && !self.store.changed_since(*state)?
        {
            return Ok((*state, sources.clone()));
        }
        let snapshot = self.store.snapshot()?;
        let state = snapshot.state();
        let sources = Sources::from_snapshot(snapshot).with_cache(CACHE);
        *current = Some((state, sources.clone()));
        Ok((state, sources))
    }

    /// Answers a question within the time limit.
    pub(crate) async fn ask<Q>(self: &Arc<Shared>, question: Q) -> Result<Q::Answer, Problem>
    where
        Q: Question + Send + 'static,
        Q::Answer: Send + 'static,
    {
        self.query(move |sources, context| Ok(sto_query::ask(sources, &question, context)?))
            .await
    }

    /// Reads the newest state of the store within the time limit of a question.
    pub(crate) async fn query<T: Send + 'static>(
        self: &Arc<Shared>,
        read: impl FnOnce(&Sources, &Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let cancel = CancelToken::default();
        let mut context = Context::default();
        context.cancel = cancel.clone();
        context.now = now();
        let shared = Arc::clone(self);
        let reading = spawn_blocking(move || {
            let (_, sources) = shared.sources()?;
            read(&sources, &context)
        });
        match tokio::time::timeout(self.options.question_timeout, reading).await {
            Ok(outcome) => outcome.map_err(|_| Problem::internal())?,
            Err(_) => {
                cancel.cancel();
                Err(Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!(
                        "the answer takes longer than the limit of {} s; ask for fewer runs",
                        self.options.question_timeout.as_secs()
                    ),
                ))
            }
        }
    }
}

fn now() -> Option<UnixSeconds> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Some(UnixSeconds(since.ok()?.as_secs()))
}
