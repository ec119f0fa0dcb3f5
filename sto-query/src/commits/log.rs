//! Commit history of a repository with measurements.

use super::MeasuredCommits;
use crate::QueryError;
use crate::answer::Answer;
use crate::check::{Baseline, CheckRequest, check};
use crate::compare::{FindingKind, TOTAL_COST, Verdict};
use crate::history::HistoryQuery;
use crate::select::Ancestry;
use crate::sources::{BuildRef, EVENT, Filter, Sources};
use serde::{Deserialize, Serialize};
use sto_core::model::CommitHash;
use sto_core::tree::total_cost;
use sto_core::units::{SampleType, UnixSeconds};

/// Request for a commit history; the caller provides the commits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LogRequest {
    /// The commits to show, in this order.
    pub shown: Vec<ShownCommit>,
    /// Ancestry of all commits, shown or not.
    pub ancestry: Ancestry,
    /// Selection of the commits' runs.
    pub history: HistoryQuery,
    /// Options for judging a commit. Sides are taken from `history`.
    pub check: CheckRequest,
}

/// A commit as shown in a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownCommit {
    /// Commit id.
    pub hash: CommitHash,
    /// Parents; if only commits of a path are shown, the nearest shown ancestors.
    pub parents: Vec<CommitHash>,
    /// Author time.
    pub author_time: UnixSeconds,
    /// The first paragraph of the message.
    pub subject: String,
    /// The branches and tags that point to it, as git writes them: `HEAD -> main`, `tag: v1`.
    pub refs: Vec<String>,
    /// Text to the left of the commit in a drawing of the ancestry: for its first line, for further lines, and lines
    /// between it and the next commit. Empty without a drawing.
    pub graph: Vec<String>,
}

/// Commits with their runs, costs, and changes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommitLog {
    /// The program; `None` if no commit was measured.
    pub executable: Option<String>,
    /// The benchmark; `None` for runs without one.
    pub benchmark: Option<String>,
    /// The sample type of costs; `None` if no commit was measured.
    pub sample_type: Option<SampleType>,
    /// The commits, in the order of the request.
    pub commits: Vec<LoggedCommit>,
}

impl Answer for CommitLog {
    const SCHEMA: &'static str = "sto.log/1";
}

/// A commit with its measurements.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LoggedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: ShownCommit,
    /// Version of the measured build; `None` if it was not measured.
    pub build: Option<String>,
    /// Number of runs.
    pub runs: usize,
    /// Mean cost of a run, in the unit of the sample type; `None` if it is not known.
    pub cost: Option<u64>,
    /// Whether it is worse than every commit it is compared with; `None` if it is compared with none.
    pub verdict: Option<Verdict>,
    /// Comparisons with each of the nearest measured ancestors.
    pub compared: Vec<Judgement>,
}

/// Comparison of a commit with an ancestor.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Judgement {
    /// The ancestor.
    pub with: CommitHash,
    /// Outcome of the comparison.
    pub verdict: Verdict,
    /// Outcome as a sentence.
    pub reason: String,
    /// Description of the first regression; `None` without regressions.
    pub finding: Option<String>,
    /// Ratio of the mean costs of a run; `None` if it is not known.
    pub change: Option<f64>,
    /// Number of functions that cost less.
    pub improvements: usize,
}

/// Returns a history with measurements, and judges each commit against its nearest measured ancestors.
///
/// # Errors
///
/// Returns an error if the store cannot be read, if the runs of these commits are of several programs or benchmarks,
/// or if they cannot be compared by [`check`].
pub(crate) fn log(sources: &Sources, request: &LogRequest) -> Result<CommitLog, QueryError> {
    let ancestry = &request.ancestry;
    let builds = sources.store()?.builds()?;
    let measured = MeasuredCommits::select(builds, ancestry, &request.history)?;
    let mut commits = Vec::with_capacity(request.shown.len());
    for (done, shown) in request.shown.iter().enumerate() {
        sources.context().begin_step(done, request.shown.len())?;
        let index = ancestry.index_of(&shown.hash);
        let mut logged = LoggedCommit {
            commit: shown.clone(),
            build: None,
            runs: 0,
            cost: None,
            verdict: None,
            compared: Vec::new(),
        };
        if let Some(index) = index
            && let Some(named) = measured.runs_of_commit(index)
        {
            let runs = &measured.runs[&index];
            logged.build = Some(runs.build.version.clone());
            logged.runs = runs.profiles.len();
            logged.cost = mean_cost(sources, &named, &measured)?;
            for before in ancestry.nearest_before(index, |ix| measured.runs.contains_key(&ix)) {
                if let Some(baseline) = measured.runs_of_commit(before) {
                    let with = &ancestry.commits()[before];
                    let sides = [baseline, named.clone()];
                    logged
                        .compared
                        .push(judge(sources, request, &measured, with, sides)?);
                }
            }
            logged.verdict = overall(&logged.compared);
        }
        commits.push(logged);
    }
    Ok(CommitLog {
        executable: measured.executable,
        benchmark: measured.benchmark,
        sample_type: measured.sample_type,
        commits,
    })
}

/// Combines the verdicts. A merge is not blamed for what one of its parents already had.
fn overall(compared: &[Judgement]) -> Option<Verdict> {
    let has = |verdict| compared.iter().any(|judged| judged.verdict == verdict);
    match () {
        () if compared.is_empty() => None,
        () if has(Verdict::Clean) => Some(Verdict::Clean),
        () if has(Verdict::Insufficient) => Some(Verdict::Insufficient),
        () => Some(Verdict::Regression),
    }
}

/// Returns the mean cost of a run.
fn mean_cost(
    sources: &Sources,
    named: &BuildRef,
    measured: &MeasuredCommits,
) -> Result<Option<u64>, QueryError> {
    let filter = Filter {
        event: measured.sample_type.as_ref().map(|t| t.event.clone()),
        ..Filter::default()
    };
    let view = match sources.runs(named, &filter) {
        Err(QueryError::UnknownEvent { .. }) => return Ok(None),
        view => view?,
    };
    let costs: Vec<u64> = view
        .runs
        .iter()
        .filter_map(|columns| columns.get(EVENT))
        .map(|column| total_cost(column).value)
        .collect();
    let sum: u128 = costs.iter().map(|&cost| u128::from(cost)).sum();
    let mean = sum.checked_div(costs.len() as u128);
    Ok(mean.and_then(|mean| u64::try_from(mean).ok()))
}

/// Compares the runs of two commits as a release check does.
fn judge(
    sources: &Sources,
    request: &LogRequest,
    measured: &MeasuredCommits,
    with: &CommitHash,
    [baseline, candidate]: [BuildRef; 2],
) -> Result<Judgement, QueryError> {
    let asked = CheckRequest {
        baseline: Some(Baseline::Any(baseline)),
        candidate,
        benchmarks: measured.benchmark.iter().cloned().collect(),
        event: measured.sample_type.as_ref().map(|t| t.event.clone()),
        matching: request.history.matching,
        ..request.check.clone()
    };
    let mut context = sources.context().clone();
    // The commits are the steps.
    context.on_step = None;
    let checked = check(&sources.with_context(&context), &asked)?;
    let first = checked.comparisons.first();
    let metrics = first.map(|first| &first.metrics[..]).unwrap_or_default();
    let total = metrics.iter().find(|metric| metric.name == TOTAL_COST);
    let findings = first.map(|first| &first.findings[..]).unwrap_or_default();
    let worse = findings.iter().find(|finding| finding.is_regression());
    let is_less = |kind| matches!(kind, FindingKind::Improvement | FindingKind::Gone);
    Ok(Judgement {
        with: with.clone(),
        verdict: checked.verdict,
        reason: first.map(|first| first.reason.clone()).unwrap_or_default(),
        finding: worse.map(|finding| finding.reason.clone()),
        change: total.and_then(|total| total.change),
        improvements: findings
            .iter()
            .filter(|finding| is_less(finding.kind))
            .count(),
    })
}
