//! The history of a repository with what was measured of it.

use super::MeasuredCommits;
use crate::QueryError;
use crate::answer::Answer;
use crate::check::{Baseline, CheckRequest, check};
use crate::compare::{FindingKind, TOTAL_COST, Verdict};
use crate::history::HistoryQuery;
use crate::select::Ancestry;
use crate::sources::{EVENT, Filter, Named, Sources};
use serde::{Deserialize, Serialize};
use sto_core::model::CommitHash;
use sto_core::tree::total;
use sto_core::units::{SampleType, UnixSeconds};

/// The history that is to be shown, as whoever has the repository says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LogRequest {
    /// The commits to show, in this order.
    pub shown: Vec<ShownCommit>,
    /// All commits by which they follow one another, shown or not.
    pub ancestry: Ancestry,
    /// Which runs of them.
    pub history: HistoryQuery,
    /// What a commit is judged by; its sides are those that the history says.
    pub check: CheckRequest,
}

/// A commit as a history shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownCommit {
    /// Its id.
    pub hash: CommitHash,
    /// The commits that it follows; where only commits of a path are shown, the nearest of these.
    pub parents: Vec<CommitHash>,
    /// When its author wrote it.
    pub author_time: UnixSeconds,
    /// The first paragraph of its message.
    pub subject: String,
    /// The branches and tags that point to it, as git writes them: `HEAD -> main`, `tag: v1`.
    pub refs: Vec<String>,
    /// What stands left of it in a drawing of how commits follow one another: before its own line, before a line that says
    /// more of it, and lines between it and the next commit. Empty where nothing is drawn.
    pub graph: Vec<String>,
}

/// Commits, each with its runs, what they cost, and whether that is more than before.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CommitLog {
    /// The program; `None` where no commit was measured.
    pub executable: Option<String>,
    /// The benchmark; `None` of runs that name none.
    pub benchmark: Option<String>,
    /// What cost is measured in; `None` where no commit was measured.
    pub sample_type: Option<SampleType>,
    /// The commits, in the order of the request.
    pub commits: Vec<LoggedCommit>,
}

impl Answer for CommitLog {
    const SCHEMA: &'static str = "sto.log/1";
}

/// A commit with what was measured of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LoggedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: ShownCommit,
    /// The version of the build that its runs are of; `None` where it was not measured.
    pub build: Option<String>,
    /// Number of its runs.
    pub runs: usize,
    /// What a run costs on average, in the unit of the sample type; `None` where it has none of it.
    pub cost: Option<u64>,
    /// Whether it got worse than every commit that it is compared with; `None` where there is nothing to compare.
    pub verdict: Option<Verdict>,
    /// The comparison with each of the nearest commits before it that were measured.
    pub compared: Vec<Judgement>,
}

/// What became of a commit since another one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Judgement {
    /// The other commit.
    pub with: CommitHash,
    /// Whether it got worse.
    pub verdict: Verdict,
    /// The verdict as a sentence.
    pub reason: String,
    /// What a release check says first of the functions that got worse; `None` where none did.
    pub finding: Option<String>,
    /// Mean cost of a run / mean cost of a run of the other commit; `None` where that is not known.
    pub change: Option<f64>,
    /// Number of functions that cost less.
    pub improvements: usize,
}

/// Shows a history with what was measured of it, and judges each commit by the nearest measured ones before it.
///
/// # Errors
/// Where the store cannot be read, its runs of these commits are of several programs or benchmarks, or they cannot be
/// compared as [`check`] says.
pub fn log(sources: &Sources, request: &LogRequest) -> Result<CommitLog, QueryError> {
    let ancestry = &request.ancestry;
    let builds = sources.store()?.builds()?;
    let measured = MeasuredCommits::of(builds, ancestry, &request.history)?;
    let mut commits = Vec::with_capacity(request.shown.len());
    for shown in &request.shown {
        request.check.cancel.check()?;
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
            && let Some(named) = measured.named(index)
        {
            let runs = &measured.runs[&index];
            logged.build = Some(runs.build.version.clone());
            logged.runs = runs.profiles.len();
            logged.cost = mean_cost(sources, &named, &measured)?;
            for before in ancestry.nearest_before(index, |ix| measured.runs.contains_key(&ix)) {
                if let Some(baseline) = measured.named(before) {
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

/// What was there before on one of the ways to a merge is not the merge's doing.
fn overall(compared: &[Judgement]) -> Option<Verdict> {
    let has = |verdict| compared.iter().any(|judged| judged.verdict == verdict);
    match () {
        () if compared.is_empty() => None,
        () if has(Verdict::Clean) => Some(Verdict::Clean),
        () if has(Verdict::Insufficient) => Some(Verdict::Insufficient),
        () => Some(Verdict::Regression),
    }
}

/// What a run costs on average.
fn mean_cost(
    sources: &Sources,
    named: &Named,
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
        .map(|column| total(column).value)
        .collect();
    let sum: u128 = costs.iter().map(|&cost| u128::from(cost)).sum();
    let mean = sum.checked_div(costs.len() as u128);
    Ok(mean.and_then(|mean| u64::try_from(mean).ok()))
}

/// Compares the runs of two commits, as a release check does.
fn judge(
    sources: &Sources,
    request: &LogRequest,
    measured: &MeasuredCommits,
    with: &CommitHash,
    [baseline, candidate]: [Named; 2],
) -> Result<Judgement, QueryError> {
    let asked = CheckRequest {
        baseline: Some(Baseline::Any(baseline)),
        candidate,
        benchmarks: measured.benchmark.iter().cloned().collect(),
        event: measured.sample_type.as_ref().map(|t| t.event.clone()),
        matching: request.history.matching,
        ..request.check.clone()
    };
    let checked = check(sources, &asked)?;
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
