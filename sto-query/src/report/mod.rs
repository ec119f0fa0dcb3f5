//! Answers as plain data, to be rendered as text or serialized as JSON.
//!
//! Every report has a `schema`: its name and version. A version keeps the meaning of every field;
//! it may gain fields.

mod annotate;
mod average;
mod bottlenecks;
mod call_tree;
mod drawing;
mod expansion;
mod history;
mod ingest;
mod limit;
mod listing;
mod ls;
mod merge;
mod occurrences;
mod potential;
mod rewrite;
mod runs;
mod scores;
mod series;
mod show;
mod stats;
mod subject;
mod tag;
mod top;
mod verify;

pub use annotate::AnnotateReport;
pub use average::AverageReport;
pub use bottlenecks::{
    BenchmarkReport, BottleneckReport, BottlenecksReport, InBenchmarkReport, bottlenecks_report,
};
pub use call_tree::{CutReport, NodeReport, TreeReport, call_tree};
pub use drawing::{DrawingReport, drawing};
pub use expansion::{ContextReport, ExpansionReport, Method, expansion};
pub use history::{ChangePointReport, HistoryFunctionReport, HistoryReport, RunReport};
pub use ingest::{IngestSummary, IngestedReport, ModuleReport, RecordingReport, SlicesReport};
pub use listing::{Listing, ListingError};
pub use ls::{BuildReport, ListedProfile, LsReport, ProfileReport, QualityReport, Totals, ls};
pub use merge::{ConflictReport, LeftOutReport, MergeReport, SourceReport};
pub use occurrences::{OccurrenceReport, WhereReport, occurrences};
pub use potential::{FunctionPotential, PotentialReport, potential};
pub use rewrite::{CompactReport, ExportReport};
pub use runs::{ListedRun, RunsReport};
pub use scores::{ScoreReport, ScoresReport, regressions_over_time};
pub use series::{Observation, PointReport, SeriesReport, series};
pub use show::{OriginReport, SampleLabelReport, ShowReport, ShownProfile, UnresolvedReport, show};
pub use stats::{ExecutableReport, PartReport, StatsReport, stats};
pub use subject::{CostReport, EventTotal, FrameReport, SampleTypeReport, Subject};
pub use tag::{TagAction, TagEntry, TagReport};
pub use top::{FunctionReport, Omitted, Order, TopReport, top};
pub use verify::{CheckedReport, DamageReport, VerifyReport, verify};
