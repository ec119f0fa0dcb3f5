//! Why a question has no answer.

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
use sto_core::id::ProfileId;
use sto_core::ingest::IngestError;
use sto_core::store::{OtherValue, StoreError};
use sto_core::{Cancelled, Hint};
pub use sto_lake::exchange::ExchangeError;
#[cfg(feature = "lake")]
use sto_lake::lake::LakeError;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// A selector names nothing in the store, or too much.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A file cannot be read.
    #[error(transparent)]
    Ingest(IngestError),
    /// Stacks cannot be split by thread or label.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// A run cannot be seen over time.
    #[error(transparent)]
    Timeline(TimelineError),
    /// What a run's threads called is not known.
    #[error(transparent)]
    Calls(#[from] CallsError),
    /// A part of a run's time cannot be taken.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Metrics of runs cannot be ranked, or aligned.
    #[error(transparent)]
    Correlate(#[from] CorrelateError),
    /// Cost cannot be modelled.
    #[error(transparent)]
    Model(ModelError),
    /// Profiles cannot be compared.
    #[error(transparent)]
    Compare(CompareError),
    /// No function has a name, or several have it where one is meant.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// There is no such history.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// There is nothing to list.
    #[error(transparent)]
    Listing(#[from] ListingError),
    /// There is no average.
    #[error(transparent)]
    Average(#[from] AverageError),
    /// The source of a function cannot be shown.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A table of metrics cannot be used.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    /// A run has another value of a metric, which is not to be replaced.
    #[error("the run {} has {} = {}, not {}{}", first.profile, printable(&first.metric), first.stored, first.given,
        match more { 0 => String::new(), more => format!("; so have {more} more metrics") })]
    OtherMetric {
        /// The first such metric.
        first: OtherValue,
        /// Number of others.
        more: usize,
    },
    /// A tag cannot be set, or taken away.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// There is nothing to draw.
    #[error(transparent)]
    Flame(#[from] FlameError),
    /// A format cannot hold the stacks.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// This program was built without the feature `lake`.
    #[error("this program was built without Parquet files")]
    WithoutParquet,
    /// A dataset of Parquet files cannot be written.
    #[cfg(feature = "lake")]
    #[error(transparent)]
    Lake(LakeError),
    /// Profiles cannot be sent or fetched.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// It was ended early.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
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
        /// What follows `git:`.
        revision: String,
    },
    /// A selector names a range of revisions, and nobody knows which commits it has.
    #[error("git knows no range of commits `{}` here", printable(.range))]
    NoRange {
        /// What follows `git:`.
        range: String,
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
    /// There is no commit that follows the good one up to the bad one.
    #[error("there is no commit between the good and the bad one")]
    NoCommits,
    /// There are more commits than can be looked at together.
    #[error(
        "there are {found} commits between the good and the bad one, and {most} at most can be looked at together; name \
         a good one that is nearer"
    )]
    TooManyCommits {
        /// Number of commits.
        found: usize,
        /// The most.
        most: usize,
    },
    /// A check names no baseline, and neither does its policy.
    #[error("there is nothing to compare with")]
    NoBaseline,
}

/// What was ended early is that, in whichever stage.
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

/// A store that cannot be read is that.
#[cfg(feature = "lake")]
impl From<LakeError> for QueryError {
    fn from(error: LakeError) -> QueryError {
        match error {
            LakeError::Store(error) => error.into(),
            error => QueryError::Lake(error),
        }
    }
}

/// A function or label that is not there is that, whatever is asked of it.
impl From<TimelineError> for QueryError {
    fn from(error: TimelineError) -> QueryError {
        match error {
            TimelineError::Function(error) => QueryError::Function(error),
            TimelineError::Roots(error) => QueryError::Roots(error),
            error => QueryError::Timeline(error),
        }
    }
}

/// A function that is not there is that, whatever is asked of it.
impl From<ModelError> for QueryError {
    fn from(error: ModelError) -> QueryError {
        match error {
            ModelError::Function(error) => QueryError::Function(error),
            error => QueryError::Model(error),
        }
    }
}

impl QueryError {
    /// What can be done about it.
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
        [] => "no run is named".to_owned(),
        builds => format!("these are runs of several builds: {}", builds.join(", ")),
    }
}

/// Why a flame graph cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlameError {
    /// There is nothing to draw.
    #[error("{build} has no samples to draw")]
    Empty {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// What was chosen is none of the stacks.
    #[error("no stacks are left to draw: all that were chosen have the function to ignore")]
    NothingChosen,
    /// The candidate has every stack of the baseline.
    #[error("nothing is gone: {candidate} has every stack of {baseline}")]
    NothingElided {
        /// The baseline, as `EXE@BUILD`.
        baseline: String,
        /// The candidate, as `EXE@BUILD`.
        candidate: String,
    },
}

/// Why stacks cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// There is nothing to export.
    #[error("{build} has no samples to export")]
    Empty {
        /// The build, as `EXE@BUILD`.
        build: String,
    },
    /// The format writes every stack from root to leaf, which would be too much.
    #[error(
        "the stacks of {build} have {frames} frames together, and {format} has each of them written out; \
         export it to a format that has a tree: speedscope, firefox, d3 or csv"
    )]
    TooDeep {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// Number of frames of all stacks.
        frames: u64,
        /// The format.
        format: &'static str,
    },
    /// The format has calls over time, and the run has none.
    #[error(
        "{build} has no calls over time, and {format} has nothing else; export its stacks: as pprof, otlp, speedscope, \
         firefox or html"
    )]
    NoCalls {
        /// The build, as `EXE@BUILD`.
        build: String,
        /// The format.
        format: &'static str,
    },
    /// It is longer than readers of the format take.
    #[error(
        "{build} takes {bytes} bytes as {format}, and its readers take {} at most; export some of it: one event, \
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
    /// A count is larger than the format's numbers are.
    #[error("a stack costs {value}, and {format} has numbers up to {limit} only")]
    TooLarge {
        /// The count.
        value: u64,
        /// The format.
        format: &'static str,
        /// Its largest number.
        limit: u64,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
