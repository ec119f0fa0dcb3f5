//! Results of queries: plain data that can be serialized by serde.

pub use crate::annotate::AnnotatedRuns;
#[cfg(feature = "schemas")]
pub use crate::answer::schema;
pub use crate::answer::{Answer, InStore, json};
pub use crate::average::StoredAverage;
pub use crate::calls::{
    CallFrames, CallGap, CallTimeline, CallTrace, CallWindow, CalledCall, CalledExpression,
    CalledFrames, CalledThread, InStack, Outliers, SlowCall, ThreadMeanwhile, TimedCall, Waited,
    WaitingFunction, Waits,
};
pub use crate::commits::bisect::{BisectState, Bisection, NextRun};
pub use crate::commits::{BisectedCommit, CommitLog, Judgement, LoggedCommit, SoughtFinding};
pub use crate::compare::{
    AffectedCaller, AttributedCallee, Basis, CalibratedWay, Calibration, CallChange, CallPath,
    Change, Comparison, CurveCalibration, Dispersion, FalseReports, Finding, FindingKind,
    FunctionName, Measured, MetricChange, MetricOutcome, MetricUnit, Needed, Normalisation,
    Reported, ReportedMetric, Run, RunCost, RunCosts, Side, StackNode, Stacks, Statistics, Tested,
    TestedFunction, Undecided, Verdict, Visible,
};
pub use crate::correlate::{
    AlignedRun, Alignment, Benchmark, Bottleneck, Bottlenecks, Correlation, Doubt, Fit,
    InBenchmark, LeftOut, RankedMetric, RankedMetrics, RankedRun, Sign, WhyLeftOut,
};
pub use crate::exchange::{AddedToLake, Pulled, Pushed};
pub use crate::expand::{ExpandedContext, Expansion};
pub use crate::functions::{FunctionPatterns, Rule, Step, SymbolKey, SymbolMatch};
pub use crate::history::{
    BuildCost, Evolution, EvolvedStack, HistorySubject, Judged, Occurrence, Occurrences, RunSummary,
};
pub use crate::hot::{
    Blame, BlamedFunction, BlamedLine, BlamedSince, DoubtfulFile, HotCosts, HotLine, HotSpot,
    HotSpots,
};
pub use crate::keys::Matching;
pub use crate::labelled::{CostOverTime, CostPoint, LabelSet, LabelSets, LabelledCosts};
pub use crate::listing::{
    BuildList, LabelList, ListedBuild, ListedProfile, ListedRun, MetricRange, ProfileSummary,
    QualityShares, RunList, Totals,
};
pub use crate::maintain::{
    ExportedStore, FoundSymbols, IngestSummary, IngestedFile, IngestedProfile, MergedStore, Merges,
    SymbolizedProfile, SymbolizedProfiles, TagAction, TagEntry, TagList,
};
pub use crate::models::{
    Commits, ComparedCurves, CostModel, CostModels, Detected, FunctionChange, FunctionModels,
    Growth, ModelChange, ModelChanges, ModelOfTwo, Modelled, Point, PointOfTwo, SideModel,
};
pub use crate::phases::{Cycle, Phase, PhaseChange, PhaseFunction, Phases};
pub use crate::potential::{FunctionPotential, Potentials};
pub use crate::prune::{Pruned, PrunedBuild, TaggedBuild};
pub use crate::render::drawing::DrawnFile;
pub use crate::savings::{Cores, LeftOutRuns, ProgramCores, ProgramPart, Saving, Savings};
pub use crate::search::{Found, SearchResults};
pub use crate::series::{
    Expected, FunctionScore, FunctionSeries, LevelShift, Scores, SeriesPoint, Status,
};
pub use crate::show::{
    AllCalls, CallsOverTime, MetricOverTime, SampleLabelKey, ShownBuild, ShownOrigin, ShownProfile,
    UnresolvedModule,
};
pub use crate::source::{FileSource, FunctionSource, LineSource};
pub use crate::suspects::{Suspect, SuspectRun, Suspects};
pub use crate::timeline::{RowName, RunOverTime, Timeline, TimelineMetric, TimelineRow};
pub use crate::tree::{
    CallTree, CallTreeNode, ContextCosts, CostShare, CutStacks, FrameInfo, Omitted, RunWindow,
    Subject, Top, TopFunction, View,
};
