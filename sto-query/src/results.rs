//! Results of queries: plain data that can be serialized by serde.

pub use crate::annotate::AnnotatedRuns;
#[cfg(feature = "schemas")]
pub use crate::answer::schema;
pub use crate::answer::{Answer, InStore, json};
pub use crate::average::StoredAverage;
pub use crate::calls::{CallFrames, CallTimeline, CallTrace, Outliers, Waits};
pub use crate::commits::CommitLog;
pub use crate::commits::bisect::{BisectState, Bisection, NextRun};
pub use crate::compare::{
    Basis, Calibration, CallPath, Change, Comparison, CurveCalibration, Finding, FindingKind,
    MetricChange, MetricOutcome, RunCost, Side, TestedFunction, Verdict,
};
pub use crate::correlate::{
    Alignment, Bottlenecks, Doubt, RankedMetric, RankedMetrics, Sign, WhyLeftOut,
};
pub use crate::exchange::{AddedToLake, Pulled, Pushed};
pub use crate::expand::Expansion;
pub use crate::functions::{Rule, SymbolMatch};
pub use crate::history::{Evolution, Occurrences};
pub use crate::hot::{Blame, HotSpots};
pub use crate::listing::{BuildList, LabelList, MetricRange, RunList};
pub use crate::maintain::{
    ExportedStore, IngestSummary, IngestedFile, Merges, SymbolizedProfiles, TagList,
};
pub use crate::models::{CostModel, CostModels, ModelChange, ModelChanges, ModelOfTwo, SideModel};
pub use crate::phases::{PhaseChange, Phases};
pub use crate::potential::Potentials;
pub use crate::prune::Pruned;
pub use crate::render::drawing::DrawnFile;
pub use crate::series::{FunctionScore, FunctionSeries, Scores, Status};
pub use crate::show::ShownBuild;
pub use crate::source::FunctionSource;
pub use crate::suspects::{Suspect, Suspects};
pub use crate::timeline::{RunOverTime, Timeline};
pub use crate::tree::{CallTree, ContextCosts, Subject, Top, View};
