//! Questions: from names and options to an answer in one call.
//!
//! [`ask()`] takes [`Sources`](crate::sources::Sources) and a request, and returns the request's kind of answer, to
//! render as text, JSON or a page. Requests are plain data with defaults; serde can read and write them. The check of a
//! release is a [`CheckRequest`](crate::check::CheckRequest).
//!
//! Other functions change a store, and take it with a request.

mod ask;
mod calls;
mod columns;
mod correlate;
mod drawings;
mod exchange;
mod export;
mod histories;
mod hot;
mod labelled;
mod lake;
mod models;
mod phases;
mod savings;
mod search;
mod source;
mod stacks;
mod stores;
mod timeline;

pub use crate::commits::bisect::BisectRequest;
pub use crate::commits::{LogRequest, ShownCommit};
pub use crate::compare::{
    CalibrateOptions, CompareOptions, Focus, Ignored, IgnoredFunction, NormalisationMethod, WorseIf,
};
pub use crate::correlate::{
    BottleneckOptions, Combination, CorrelateOptions, Correlator, MAX_ALIGNED, Measure,
};
pub use crate::expand::{Direction, ExpandLimits, Method};
pub use crate::functions::{Attribution, KeyOptions, explain_match, key_symbol};
pub use crate::history::HistoryQuery;
pub use crate::listing::Listing;
pub use crate::models::{CompareModelsOptions, Detector};
pub use crate::potential::Degree;
pub use crate::prune::PruneOptions;
pub use crate::savings::{SavingsOf, SavingsOptions};
pub use crate::search::FoundKind;
pub use crate::series::{ChangeOptions, Observation, Observed, ScoreOptions};
pub use crate::suspects::SuspectOptions;
pub use crate::timeline::RowsBy;
pub use crate::tree::{Order, Prune, RootsBy, Window};

pub use crate::hot::HotRequest;
#[cfg(feature = "schemas")]
pub use ask::QuestionSchema;
pub use ask::{AnyAnswer, AnyQuestion, Question, QuestionName, ask};
pub use calls::{OutliersRequest, WaitsRequest};
pub use columns::{DifferenceColumns, FlameColumns};
pub use correlate::{AlignRequest, CorrelateRequest, CorrelateTableRequest, correlate_columns};
pub use drawings::{DiffRequest, DiffStacks, DrawnStacks, FlameRequest, FlameStacks};
pub use exchange::{
    AddedFile, OnProfiles, PullRequest, PushRequest, add_exchange_file, exchange_file,
    exchange_files, exchange_manifest, pull, push,
};
pub use export::{ExportFormat, ExportRequest, Exported, ExportedData};
pub use histories::{
    BottlenecksRequest, EvolveRequest, ExpandRequest, JudgedRequest, OccurrencesRequest,
    RegressionsRequest, SeriesRequest, SuspectsRequest,
};
pub use hot::{BlameRequest, HotSpotsRequest};
pub use labelled::{CostOverTimeRequest, LabelSetsRequest};
pub use lake::{
    ImportLakeRequest, LakeRequest, add_to_lake, check_lake, import_lake, ingest_to_lake,
};
pub use models::{
    CalibrateCurvesRequest, CompareModelsRequest, FunctionModelRequest, ModelRequest, PointsTable,
    TwoNumberModelRequest, compare_tables, model_table,
};
pub use phases::PhasesRequest;
pub use savings::SavingsRequest;
pub use search::SearchRequest;
pub use source::SourceRequest;
pub use stacks::{CalibrateRequest, PotentialRequest, ShowRequest, TopRequest, TreeRequest};
pub use stores::{
    AnnotateRequest, AverageRequest, BuildsRequest, ExportStoreRequest, LabelsRequest,
    MergeRequest, PruneRequest, RunsRequest, SymbolizeRequest, TagRequest, annotate, average,
    export_store, merge, prune, symbolize, tag,
};
pub use timeline::{
    CallTimelineRequest, CallTraceRequest, TimelineRequest, Timelines, TimelinesRequest,
};
