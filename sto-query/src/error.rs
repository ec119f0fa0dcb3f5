//! Why a question has no answer.

use crate::compare::CompareError;
use crate::functions::FunctionError;
use crate::history::HistoryError;
use crate::render::export::ExportError;
use crate::render::flame::FlameError;
use crate::select::SelectError;
use crate::text::printable;
use crate::tree::RootsError;
use sto_core::id::ProfileId;
use sto_core::ingest::IngestError;
use sto_core::store::StoreError;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A selector names nothing in the store, or too much.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A file cannot be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// Stacks cannot be told apart.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// Profiles cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// No function has a name, or several have it where one is meant.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// There is no such history.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// There is nothing to draw.
    #[error(transparent)]
    Flame(#[from] FlameError),
    /// A format has no place for the stacks.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A selector names nothing in the store, and no file either.
    #[error("{source}")]
    NothingNamed {
        /// What was written.
        selector: String,
        /// Why the store has nothing of that name.
        source: SelectError,
    },
    /// A selector names a revision that is no commit's id, and nobody knows which commit it is.
    #[error("git knows no revision `{}` here", printable(.revision))]
    NoRevision {
        /// What stands behind `git:`.
        revision: String,
    },
    /// A run that is asked for by its id is not in the store.
    #[error("the store has no run {run}")]
    NoRun {
        /// The run.
        run: ProfileId,
    },
    /// Runs that are asked for by their ids are not runs of one build.
    #[error("{}", not_one_build(.builds))]
    NotOneBuild {
        /// The builds that they are of, as `EXE@BUILD`; none where no run was named.
        builds: Vec<String>,
    },
    /// A build was not measured by an event.
    #[error("{build} has no event `{event}`")]
    UnknownEvent {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// What was asked for.
        event: String,
        /// The events that there are.
        known: Vec<String>,
    },
    /// A check names no baseline, and neither does its policy.
    #[error("there is nothing to compare with")]
    NoBaseline,
}

fn not_one_build(builds: &[String]) -> String {
    match builds {
        [] => "no run is named".to_owned(),
        builds => format!("these are runs of several builds: {}", builds.join(", ")),
    }
}
