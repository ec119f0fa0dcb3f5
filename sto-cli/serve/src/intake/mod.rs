//! From a received profile to the store: a profile is acknowledged when it is on disk.

use crate::problem::Problem;
use axum::body::Bytes;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::formats::Format;
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_core::{IngestOptions, ingest};
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
}

/// The program, build and labels of a received profile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    /// The program, or service.
    pub(crate) program: Option<String>,
    /// The build, or version of the service.
    pub(crate) build: Option<String>,
    /// The benchmark that ran.
    pub(crate) benchmark: Option<String>,
    /// Labels of the profile.
    pub(crate) labels: BTreeMap<String, String>,
    /// Metrics of the profile.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// When the profile was recorded.
    pub(crate) recorded: Option<UnixSeconds>,
}

/// Takes profiles from senders.
pub(crate) struct Intake {
    store: Store,
}

impl Intake {
    pub(crate) fn new(store: Store) -> Intake {
        Intake { store }
    }

    /// Accepts a profile; returns when it is on disk.
    pub(crate) async fn accept(&self, received: Received) -> Result<(), Problem> {
        let store = self.store.clone();
        let stored = spawn_blocking(move || {
            let options = IngestOptions {
                executable: received.origin.program,
                version: received.origin.build,
                benchmark: received.origin.benchmark,
                labels: received.origin.labels,
                metrics: received.origin.metrics,
                recorded: received.origin.recorded,
                format: received.format,
                ..IngestOptions::default()
            };
            let input = (Path::new("profile"), &received.body[..]);
            ingest(&store, input, &options, &mut |_| {})
        });
        match stored.await {
            Ok(outcome) => outcome.map(drop).map_err(Problem::from),
            Err(_) => Err(Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "reading the profile ended with an internal error; please report it",
            )),
        }
    }
}
