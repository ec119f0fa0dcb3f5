//! Errors of queries.

mod class;
mod place;

pub use class::ErrorClass;
pub use place::ErrorPlace;

pub use crate::annotate::AnnotateError;
pub use crate::average::AverageError;
pub use crate::calls::CallsError;
pub use crate::compare::CompareError;
pub use crate::correlate::CorrelateError;
pub use crate::functions::FunctionError;
pub use crate::history::HistoryError;
pub use crate::listing::ListingError;
pub use crate::maintain::MergeError;
pub use crate::maintain::TagError;
pub use crate::models::ModelError;
use crate::select::SelectError;
pub use crate::source::SourceError;
use crate::text::printable;
pub use crate::timeline::TimelineError;
pub use crate::tree::{RootsError, WindowError};
use std::io;
use std::path::PathBuf;
use sto_core::id::ProfileId;
use sto_core::ingest::IngestError;
use sto_core::store::{OtherValue, StoreError};
use sto_core::{Cancelled, Hint};
pub use sto_lake::exchange::ExchangeError;
#[cfg(feature = "lake")]
use sto_lake::lake::LakeError;

/// Error of a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// A file that another store sent is not a profile.
    #[error("{why}; send it again")]
    RefusedFile {
        /// The name of the file, and the problem.
        why: String,
    },
    /// A selector denotes nothing in the store, or too much.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A file cannot be read.
    #[error(transparent)]
    Ingest(IngestError),
    /// Stacks cannot be split by thread or label.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// A run cannot be analysed over time.
    #[error(transparent)]
    Timeline(TimelineError),
    /// The calls of a run are not available.
    #[error(transparent)]
    Calls(#[from] CallsError),
    /// A time window of a run is invalid.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Metrics of runs cannot be ranked or aligned.
    #[error(transparent)]
    Correlate(#[from] CorrelateError),
    /// Cost cannot be modelled.
    #[error(transparent)]
    Model(ModelError),
    /// Profiles cannot be compared.
    #[error(transparent)]
    Compare(CompareError),
    /// A name does not denote exactly one function.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// The history is not available.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The listing would be empty.
    #[error(transparent)]
    Listing(#[from] ListingError),
    /// The profiles cannot be averaged.
    #[error(transparent)]
    Average(#[from] AverageError),
    /// The source of a function cannot be shown.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A table of metrics cannot be used.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    /// A run has another value of a metric, which must not be replaced.
    #[error("the run {} has {} = {}, not {}{}", first.profile, printable(&first.metric), first.stored, first.given,
        match more { 0 => String::new(), more => format!("; so have {more} more metrics") })]
    OtherMetric {
        /// The first such metric.
        first: OtherValue,
        /// Number of others.
        more: usize,
    },
    /// A tag cannot be set or deleted.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// The flame graph cannot be drawn.
    #[error(transparent)]
    Flame(#[from] FlameError),
    /// A format cannot represent the stacks.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// This program was built without the feature `lake`.
    #[error("this program was built without support for Parquet files")]
    WithoutParquet,
    /// A dataset of Parquet files cannot be read or written.
    #[cfg(feature = "lake")]
    #[error(transparent)]
    Lake(LakeError),
    /// Profiles cannot be sent or fetched.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The question names a file, and [`Sources::without_files`](crate::sources::Sources::without_files) was called.
    #[error("`{}` is a file, and questions cannot read files here; name a build in the store", printable(&path.to_string_lossy()))]
    FilesForbidden {
        /// The file.
        path: PathBuf,
    },
    /// The query was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A selector denotes nothing in the store, and is not a file.
    #[error("{source}")]
    NothingNamed {
        /// The selector, as given.
        selector: String,
        /// Error of looking it up in the store.
        source: SelectError,
    },
    /// The revision in a selector is unknown and not a commit id.
    #[error("git knows no revision `{}` here", printable(.revision))]
    NoRevision {
        /// The revision after `git:`.
        revision: String,
    },
    /// The range of revisions in a selector is unknown.
    #[error("git knows no range of commits `{}` here", printable(.range))]
    NoRange {
        /// The range after `git:`.
        range: String,
    },
    /// A run given by its id is not in the store.
    #[error("the store has no run {run}")]
    NoRun {
        /// The run.
        run: ProfileId,
    },
    /// Runs given by their ids are not of one build.
    #[error("{}", not_one_build(.builds))]
    NotOneBuild {
        /// The builds of the runs, as `EXE@BUILD`; empty if no run was given.
        builds: Vec<String>,
    },
    /// A build was not measured by an event.
    #[error("{build} has no event `{event}`")]
    UnknownEvent {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The event, as given.
        event: String,
        /// Events of the build.
        known: Vec<String>,
    },
    /// The saved part of a cost is out of range.
    #[error("the saved part of a cost must be above 0 and at most 1, not {less}")]
    SavedPart {
        /// The part, as given.
        less: f64,
    },
    /// No commit lies between the good and the bad one.
    #[error("there is no commit between the good and the bad one")]
    NoCommits,
    /// Too many commits lie between the good and the bad one.
    #[error(
        "there are {found} commits between the good and the bad one, but at most {most} can be searched; name \
         a good one that is nearer"
    )]
    TooManyCommits {
        /// Number of commits.
        found: usize,
        /// Maximum number.
        most: usize,
    },
    /// Neither a check nor its policy names a baseline.
    #[error("there is no baseline to compare with")]
    NoBaseline,
}

/// Converts errors of a stage, with cancellation as the same variant for all stages.
macro_rules! from_stage {
    ($($stage:ident: $error:ident),*) => {$(
        impl From<$error> for QueryError {
            fn from(error: $error) -> QueryError {
                match error {
                    $error::Cancelled(cancelled) => QueryError::Cancelled(cancelled),
                    error => QueryError::$stage(error),
                }
            }
        }
    )*};
}

from_stage!(Store: StoreError, Ingest: IngestError, Compare: CompareError);

/// Uses the same variant for store errors everywhere.
#[cfg(feature = "lake")]
impl From<LakeError> for QueryError {
    fn from(error: LakeError) -> QueryError {
        match error {
            LakeError::Store(error) => error.into(),
            error => QueryError::Lake(error),
        }
    }
}

/// Uses the same variants for unknown functions and labels everywhere.
impl From<TimelineError> for QueryError {
    fn from(error: TimelineError) -> QueryError {
        match error {
            TimelineError::Function(error) => QueryError::Function(error),
            TimelineError::Roots(error) => QueryError::Roots(error),
            error => QueryError::Timeline(error),
        }
    }
}

/// Uses the same variant for unknown functions everywhere.
impl From<ModelError> for QueryError {
    fn from(error: ModelError) -> QueryError {
        match error {
            ModelError::Cancelled(cancelled) => QueryError::Cancelled(cancelled),
            ModelError::Function(error) => QueryError::Function(error),
            error => QueryError::Model(error),
        }
    }
}

impl QueryError {
    /// Returns a hint about how to resolve the error.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            QueryError::Store(error) => error.hint(),
            QueryError::Select(error) | QueryError::NothingNamed { source: error, .. } => {
                error.hint()
            }
            QueryError::Ingest(error) => error.hint(),
            QueryError::History(error) => error.hint(),
            QueryError::Timeline(error)
            | QueryError::Correlate(CorrelateError::Timeline(error)) => error.hint(),
            QueryError::Annotate(error) => error.hint(),
            QueryError::Calls(error) => error.hint(),
            QueryError::Average(AverageError::Store(error)) => error.hint(),
            QueryError::Average(AverageError::Select(error)) => error.hint(),
            QueryError::Roots(RootsError::Store(error)) => error.hint(),
            QueryError::Window(error) | QueryError::Model(ModelError::Window(error)) => {
                error.hint()
            }
            QueryError::Model(ModelError::NotKept { .. }) => Some(Hint::KeepCalls),
            QueryError::Model(ModelError::Store(error)) => error.hint(),
            _ => None,
        }
    }
}

fn not_one_build(builds: &[String]) -> String {
    match builds {
        [] => "no run was given".to_owned(),
        builds => format!("these are runs of several builds: {}", builds.join(", ")),
    }
}

/// Error of drawing a flame graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlameError {
    /// The build has no samples.
    #[error("{build} has no samples to draw")]
    Empty {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// All selected stacks contain the ignored function.
    #[error("no stacks are left to draw: all selected ones contain the ignored function")]
    NothingChosen,
    /// The candidate has every stack of the baseline.
    #[error("nothing to draw: {candidate} has every stack of {baseline}")]
    NothingElided {
        /// The baseline, as `EXE@BUILD`.
        baseline: String,
        /// The candidate, as `EXE@BUILD`.
        candidate: String,
    },
}

/// Error of exporting stacks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The build has no samples.
    #[error("{build} has no samples to export")]
    Empty {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The format writes every stack from root to leaf, which would take too much space.
    #[error(
        "the stacks of {build} have {frames} frames in total, and {format} writes each of them out; \
         export it to a format with a tree: speedscope, firefox, d3 or csv"
    )]
    TooDeep {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// Total number of frames in all stacks.
        frames: u64,
        /// The format.
        format: &'static str,
    },
    /// The format needs calls over time, which the run does not have.
    #[error(
        "{build} has no calls over time, which {format} needs; export its stacks as pprof, otlp, speedscope, \
         firefox or html"
    )]
    NoCalls {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The format.
        format: &'static str,
    },
    /// The output exceeds the size that readers of the format accept.
    #[error(
        "{build} takes {bytes} bytes as {format}, but its readers accept at most {}; export a part of it: one event, \
         one run, or a part of its time",
        i32::MAX
    )]
    TooLong {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// Number of bytes.
        bytes: usize,
        /// The format.
        format: &'static str,
    },
    /// A count exceeds the range of the format's numbers.
    #[error("a stack costs {value}, but {format} only has numbers up to {limit}")]
    TooLarge {
        /// The count.
        value: u64,
        /// The format.
        format: &'static str,
        /// Largest number of the format.
        limit: u64,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
