//! State that all handlers share: the open store, and the limits of one request.

use crate::answers::Answers;
use crate::clock::now;
use crate::intake::{Intake, Settings};
use crate::monitor::Monitor;
use crate::options::{MemoryInUse, Options, Program, RenderCheck};
use crate::problem::Problem;
use crate::room::room_for;
use crate::turn;
use crate::verdicts::{Key, Verdicts};
use axum::body::Bytes as Body;
use axum::http::{HeaderValue, StatusCode};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use sto_core::store::{StateId, Store};
use sto_core::units::Bytes;
use sto_core::{CancelToken, StoreError};
use sto_query::QueryError;
use sto_query::check::{Check, CheckRequest};
use sto_query::questions::{AnyAnswer, Question};
use sto_query::sources::{Context, Environment, Sources};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The state of handlers.
pub(crate) type App = axum::extract::State<Arc<Shared>>;

/// Memory for stacks that are kept between questions.
const CACHE: Bytes = Bytes(256 << 20);

/// Time that heavy work waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// State that all handlers share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) intake: Intake,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) started: Instant,
    /// Room for bodies that are being received.
    pub(crate) bodies: Arc<Semaphore>,
    /// Turns of heavy work.
    turns: Arc<Semaphore>,
    pub(crate) memory: Option<MemoryInUse>,
    pub(crate) render_check: Option<RenderCheck>,
    pub(crate) verdicts: Verdicts,
    environment: Option<Arc<dyn Environment>>,
    pub(crate) answers: Answers,
    pub(crate) store: Store,
    /// The newest known state, and the sources of its questions.
    current: Mutex<Option<(StateId, Sources)>>,
}

impl Shared {
    pub(crate) fn new(store: Store, options: Options, program: &Program) -> io::Result<Shared> {
        let cores = available_parallelism().map_or(2, usize::from);
        let settings = Settings {
            max_decoded: options.limits.decoded(),
            retention: options.retention.clone(),
            read_only: options.read_only,
            ..Settings::default()
        };
        Ok(Shared {
            started: Instant::now(),
            intake: Intake::start(store.clone(), settings)?,
            monitor: Arc::new(Monitor::new(Arc::clone(&program.log))),
            bodies: room_for(options.limits.bodies()),
            turns: Arc::new(Semaphore::new(cores.max(2))),
            memory: program.memory_in_use,
            render_check: program.render_check.clone(),
            verdicts: Verdicts::default(),
            environment: program.environment.clone(),
            answers: Answers::default(),
            options,
            store,
            current: Mutex::default(),
        })
    }

    /// The store, for changes of it.
    pub(crate) fn store(&self) -> &Store {
        &self.store
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
        let sources = match &self.environment {
            Some(environment) => sources.with_environment(Arc::clone(environment)),
            None => sources.without_files(),
        };
        *current = Some((state, sources.clone()));
        Ok((state, sources))
    }

    /// Like [`Shared::sources`], for work that does not take long, and has no turn to wait for.
    pub(crate) async fn newest_sources(self: &Arc<Shared>) -> Result<(StateId, Sources), Problem> {
        let shared = Arc::clone(self);
        let newest = spawn_blocking(move || shared.sources()).await;
        Ok(newest.map_err(|_| Problem::internal())??)
    }

    /// Forgets the kept state if the store has a newer one, so that its space can be used again.
    pub(crate) fn forget_outdated(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, _)) = &*current
            && self.store.changed_since(*state).unwrap_or(true)
        {
            *current = None;
        }
    }

    /// The entity tag of an answer: it changes when the store does, and each day, because findings are ignored until some
    /// day. `None` if the answer may depend on files.
    pub(crate) fn tag(&self, state: StateId, request: &[&[u8]]) -> Option<HeaderValue> {
        if self.environment.is_some() {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        let day = now().0 / 86_400;
        let state = format!("{} {state} {day}", env!("CARGO_PKG_VERSION"));
        for part in [state.as_bytes()].iter().chain(request) {
            hasher
                .update(&(part.len() as u64).to_le_bytes())
                .update(part);
        }
        let hash = &hasher.finalize().to_hex()[..32];
        HeaderValue::try_from(format!("\"{hash}\"")).ok()
    }

    /// Does work that takes a core for more than a millisecond, when it is its turn.
    ///
    /// It is refused if too much other work waits, or if the memory limit is near, because exceeding it ends the process.
    pub(crate) async fn heavy<T>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
    {
        if self.memory.is_some_and(MemoryInUse::is_scarce) {
            return Err(Problem::busy(
                5,
                "the server's memory is almost used up; try again later",
            ));
        }
        let turn = timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(Problem::busy(
                2,
                "the server is busy with other requests; try again later",
            ));
        };
        turn::work(turn, work).await
    }

    /// Answers a check as JSON, if possible by a known verdict.
    pub(crate) fn check(
        &self,
        state: StateId,
        request: &CheckRequest,
        answer: impl FnOnce() -> Result<Check, QueryError>,
    ) -> Result<Body, Problem> {
        let snapshot = self.store.snapshot()?;
        // Otherwise the store changed in between.
        let key = if snapshot.state() == state {
            Key::new(request, &snapshot.builds()?, now())
        } else {
            None
        };
        if let Some(known) = key.as_ref().and_then(|key| self.verdicts.find(key)) {
            return Ok(known);
        }
        let answer = AnyAnswer::Check(answer()?);
        let json = serde_json::to_vec(&answer).map_err(|_| Problem::internal())?;
        let json = Body::from(json);
        if let (Some(key), AnyAnswer::Check(check)) = (key, &answer) {
            self.verdicts.add(&key, check, json.clone());
        }
        Ok(json)
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
        let shared = Arc::clone(self);
        self.timed(move |context| read(&shared.sources()?.1, context))
            .await
    }

    /// Does the work of a question within its time limit.
    pub(crate) async fn timed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Context) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let cancel = CancelOnDrop(CancelToken::default());
        let mut context = Context::default();
        context.cancel = cancel.0.clone();
        context.now = Some(now());
        let limit = self.options.limits.question_time();
        match timeout(limit, self.heavy(move || work(&context))).await {
            Ok(outcome) => outcome?,
            Err(_) => Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "the answer takes longer than the limit of {} s; ask for fewer runs",
                    limit.as_secs()
                ),
            )),
        }
    }
}

/// Cancels a question whose answer nobody waits for any more.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
