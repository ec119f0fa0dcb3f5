//! Complete queries: from names and options to a result in one call.
//!
//! Each takes [`Sources`](crate::sources::Sources) or the store to change, and a request, and
//! returns a result to render as text, JSON or a page. Requests are plain data with defaults that
//! serde can read and write. The check of a release is [`check`](crate::check::check).

mod calls;
mod correlate;
mod drawings;
mod exchange;
mod export;
mod histories;
mod hot;
mod lake;
mod models;
mod phases;
mod source;
mod stacks;
mod stores;
mod timeline;

pub use crate::commits::bisect::{BisectRequest, bisect};
pub use crate::commits::{LogRequest, ShownCommit, log};
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
pub use crate::series::{ChangeOptions, Observation, ScoreOptions};
pub use crate::suspects::SuspectOptions;
pub use crate::timeline::RowsBy;
pub use crate::tree::{Order, Prune, RootsBy, Window};

pub use calls::{OutliersRequest, WaitsRequest, outliers, waits};
pub use correlate::{
    AlignRequest, CorrelateRequest, CorrelateTableRequest, align, correlate, correlate_columns,
};
pub use drawings::{DiffRequest, DiffStacks, DrawnStacks, FlameRequest, FlameStacks, diff, flame};
pub use exchange::{OnProfiles, PullRequest, PushRequest, pull, push};
pub use export::{ExportFormat, ExportRequest, Exported, ExportedData, export};
pub use histories::{
    BottlenecksRequest, EvolveRequest, ExpandRequest, JudgedRequest, OccurrencesRequest,
    RegressionsRequest, SeriesRequest, SuspectsRequest, bottlenecks, evolve, expand, occurrences,
    regressions_over_time, series, suspects,
};
pub use hot::{BlameRequest, HotSpotsRequest, blame, hot};
pub use lake::{
    ImportLakeRequest, LakeRequest, add_to_lake, check_lake, import_lake, ingest_to_lake,
};
pub use models::{
    CompareModelsRequest, ModelRequest, PointsTable, calibrate_curves, compare_models,
    compare_tables, model, model_of_two, model_table, models,
};
pub use phases::{PhasesRequest, phases};
pub use source::{SourceRequest, source};
pub use stacks::{
    CalibrateRequest, PotentialRequest, ShowRequest, TopRequest, TreeRequest, calibrate, potential,
    show, top, tree,
};
pub use stores::{
    AnnotateRequest, AverageRequest, ExportStoreRequest, MergeRequest, PruneRequest,
    SymbolizeRequest, TagRequest, annotate, average, export_store, ls, merge, prune, runs,
    symbolize, tag,
};
pub use timeline::{
    CallTimelineRequest, TimelineRequest, Timelines, call_timeline, call_trace, timeline, timelines,
};
