//! From a received profile to the store: a profile is acknowledged when it is on disk.

use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::formats::{Format, FormatError};
use sto_core::ingest::{IngestError, PreparedFile};
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::{Nanoseconds, UnixSeconds};
use sto_core::{IngestOptions, IngestOutcome, prepare};
use tokio::task::spawn_blocking;

/// A profile as a sender sent it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Where it comes from and what it belongs to.
    pub(crate) origin: Origin,
    /// Its bytes in a format that sto reads.
    pub(crate) body: Bytes,
    /// The format, if the sender tells; otherwise it is detected.
    pub(crate) format: Option<Format>,
    /// When it was recorded, if the sender tells.
    pub(crate) range: Option<TimeRange>,
    /// Number of slices of time of a run.
    pub(crate) slices: Option<SliceCount>,
}

/// A range of time, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub(crate) from: Nanoseconds,
    pub(crate) until: Nanoseconds,
}

/// The program, build and labels of a received profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Origin {
    /// The program, or service. Without it, each program of the recording has a profile of its own.
    pub(crate) program: Option<String>,
    /// The build, or version of the service. By default, it is named after the GNU build id of its main module.
    pub(crate) build: Option<String>,
    /// The revision that the build was made from.
    pub(crate) revision: Option<String>,
    /// The benchmark that ran.
    pub(crate) benchmark: Option<String>,
    /// Labels of the profile.
    pub(crate) labels: BTreeMap<String, String>,
    /// Metrics of the profile.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// When the profile was recorded.
    pub(crate) recorded: Option<UnixSeconds>,
}

/// The build of a continuous profile that neither its sender nor its main module names.
const NO_VERSION: &str = "unversioned";

/// Takes profiles from senders.
pub(crate) struct Intake {
    store: Store,
}

impl Intake {
    pub(crate) fn new(store: Store) -> Intake {
        Intake { store }
    }

    /// Stores a run, which is kept apart from all others.
    pub(crate) async fn add_run(&self, received: Received) -> Result<IngestOutcome, Problem> {
        let store = self.store.clone();
        blocking(move || prepare_one(received, false)?.store(&mut store.writer(), &mut |_| {}))
            .await
    }

    /// Accepts continuous profiles, all or none; returns when they are on disk.
    pub(crate) async fn accept(&self, received: Vec<Received>) -> Result<(), Problem> {
        let store = self.store.clone();
        blocking(move || {
            let prepared = received.into_iter().map(prepare_continuous);
            let prepared: Vec<_> = prepared.collect::<Result<_, _>>()?;
            for prepared in prepared.into_iter().flatten() {
                prepared.store(&mut store.writer(), &mut |_| {})?;
            }
            Ok(())
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, Problem> {
    match spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(problem(error)),
        Err(_) => Err(internal()),
    }
}

fn internal() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "reading the profile ended with an internal error; please report it",
    )
}

/// Bytes in memory that cannot be read are the sender's fault.
fn problem(error: IngestError) -> Problem {
    let is_unreadable = matches!(error, IngestError::Format(_));
    let problem = Problem::from(error);
    if is_unreadable && problem.status >= 500 {
        return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, problem.detail);
    }
    problem
}

/// Returns `None` if there are no samples, because nothing happened in this time.
fn prepare_continuous(received: Received) -> Result<Option<PreparedFile>, IngestError> {
    let split = received.origin.program.is_none();
    let mut unversioned = received.clone();
    unversioned.origin.build = Some(NO_VERSION.to_owned());
    match prepare_one(received, split) {
        Err(IngestError::NoBuildName { .. }) => prepare_one(unversioned, split).map(Some),
        Err(IngestError::Format(FormatError::NoSamples { .. })) => Ok(None),
        prepared => prepared.map(Some),
    }
}

fn prepare_one(received: Received, split_processes: bool) -> Result<PreparedFile, IngestError> {
    let Received {
        origin,
        body,
        format,
        range,
        slices,
    } = received;
    let from = range.map(|range| UnixSeconds(range.from.0 / 1_000_000_000));
    let options = IngestOptions {
        executable: origin.program,
        version: origin.build,
        revision: origin.revision,
        benchmark: origin.benchmark,
        labels: origin.labels,
        metrics: origin.metrics,
        recorded: origin.recorded.or(from),
        format,
        slices,
        split_processes,
        ..IngestOptions::default()
    };
    prepare((Path::new("profile"), &body[..]), &options, &mut |_| {})
}
