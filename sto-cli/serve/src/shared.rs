//! What all handlers share: the open store, and the limits of one request.

use crate::intake::{Intake, Settings};
use crate::options::Options;
use crate::problem::Problem;
use axum::http::StatusCode;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use sto_core::store::{StateId, Store};
use sto_core::units::Bytes;
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
    store: Store,
    /// The newest known state, and the sources of its questions.
    current: Mutex<Option<(StateId, Sources)>>,
}

impl Shared {
    pub(crate) fn new(store: Store, options: Options) -> io::Result<Shared> {
        let settings = Settings {
            max_decoded: options.max_decoded,
            retention: options.retention.clone(),
            ..Settings::default()
        };
        Ok(Shared {
            options,
            intake: Intake::start(store.clone(), settings)?,
            store,
            current: Mutex::default(),
        })
    }

    /// The store in its newest state.
    pub(crate) fn sources(&self) -> Result<Sources, StoreError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, sources)) = &*current
            && !self.store.changed_since(*state)?
        {
            return Ok(sources.clone());
        }
        let snapshot = self.store.snapshot()?;
        let state = snapshot.state();
        let sources = Sources::from_snapshot(snapshot).with_cache(CACHE);
        *current = Some((state, sources.clone()));
        Ok(sources)
    }

    /// Answers a question within the time limit.
    pub(crate) async fn ask<Q>(self: &Arc<Shared>, question: Q) -> Result<Q::Answer, Problem>
    where
        Q: Question + Send + 'static,
        Q::Answer: Send + 'static,
    {
        let cancel = CancelToken::default();
        let mut context = Context::default();
        context.cancel = cancel.clone();
        let shared = Arc::clone(self);
        let asking = spawn_blocking(move || {
            let sources = shared.sources()?;
            Ok(sto_query::ask(&sources, &question, &context)?)
        });
        match tokio::time::timeout(self.options.question_timeout, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the question ended with an internal error; please report it",
            )),
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
