//! Search for the commit that introduced a finding.
//!
//! See [the manual](crate::manual::bisect).

mod evidence;
mod posterior;
mod result;
#[cfg(test)]
mod tests;

pub use result::{BisectedCommit, SoughtFinding};

pub use result::{BisectState, Bisection, NextRun};

use super::MeasuredCommits;
use crate::QueryError;
use crate::check::{Baseline, CheckRequest, check};
use crate::compare::{Comparison, Verdict};
use crate::history::{FunctionIx, History, HistoryQuery};
use crate::select::Ancestry;
use crate::sources::Sources;
use evidence::{Levels, Run};
use posterior::{Candidates, information};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use sto_core::model::CommitHash;

/// Minimum number of runs of the good and the bad commit for a comparison.
const RUNS_OF_ENDS: usize = 2;
/// Number of runs of the good and of the bad commit after which the search ends if they do not differ.
const MOST_RUNS_OF_ENDS: usize = 6;
/// Maximum probability of a misleading run for the good and bad commit to be measured well enough.
const CLEAR: f64 = 0.03;
/// Minimum expected information of another run, in bits.
const LEAST_INFORMATION: f64 = 0.02;

/// Request for a bisection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BisectRequest {
    /// The commits after the good one up to the bad one, starting with the bad one, and then the good one: as `git
    /// rev-list --topo-order --parents GOOD..BAD` lists them.
    pub ancestry: Ancestry,
    /// Selection of the commits' runs.
    pub history: HistoryQuery,
    /// The function whose change is sought: its name, a part of it, or `re:` and a regular expression. Default: the
    /// function of the first finding.
    pub function: Option<String>,
    /// Commits that cannot be measured, with the reasons.
    pub skipped: BTreeMap<CommitHash, String>,
    /// Options for comparing the bad commit with the good one. Sides and benchmark are taken from `history`.
    pub check: CheckRequest,
    /// Probability at which a commit counts as found.
    pub sure: Option<f64>,
}

impl BisectRequest {
    /// Default probability at which a commit counts as found.
    pub const CONFIDENCE: f64 = 0.95;
}

/// Estimates which commit is the first with the finding, and which commit to measure next.
///
/// All measurements are in the store: the caller records the run that the answer asks for, and calls this again.
///
/// # Errors
///
/// Returns an error if there is no commit in between, if the store cannot be read, if the runs of these commits are
/// of several programs or benchmarks, if they cannot be compared by [`check`], or if the function is not found.
pub(crate) fn bisect(sources: &Sources, request: &BisectRequest) -> Result<Bisection, QueryError> {
    let ancestry = &request.ancestry;
    let all = ancestry.commits();
    let (good, bad) = match all {
        [] | [_] => return Err(QueryError::NoCommits),
        [bad, .., good] => (good, bad),
    };
    let found = all.len() - 1;
    if found > Candidates::MAX_CANDIDATES {
        let most = Candidates::MAX_CANDIDATES;
        return Err(QueryError::TooManyCommits { found, most });
    }
    let builds = sources.store()?.builds()?;
    let measured = MeasuredCommits::select(builds, ancestry, &request.history)?;
    let mut bisection = Bisection {
        good: good.clone(),
        bad: bad.clone(),
        executable: measured.executable.clone(),
        benchmark: measured.benchmark.clone(),
        finding: None,
        commits: (0..found)
            .map(|ix| commit(request, &measured, ix))
            .collect(),
        good_runs: runs(&measured, found),
        state: BisectState::Undecided,
    };
    let ends = [found, 0];
    if let Some(next) = fewest(&measured, ends, RUNS_OF_ENDS) {
        bisection.state = at_end(ancestry, next);
        return Ok(bisection);
    }
    let comparison = compared(sources, request, &measured, ends)?;
    let is_worse = |comparison: &Comparison| comparison.verdict == Verdict::Regression;
    let Some(comparison) = comparison.filter(is_worse) else {
        bisection.state = match fewest(&measured, ends, MOST_RUNS_OF_ENDS) {
            Some(next) => at_end(ancestry, next),
            None => BisectState::NothingToFind,
        };
        return Ok(bisection);
    };
    let sought = SoughtCost::load(sources, request, &measured, &comparison, ends)?;
    let candidates = Candidates::new(ancestry, (0..found).collect());
    let mut odds = vec![0.0; found];
    for (commit, runs) in &sought.runs {
        // The user has classified the good and the bad commit.
        if !ends.contains(commit) {
            odds[*commit] = runs
                .iter()
                .map(|run| sought.levels.log_odds(run.samples))
                .sum();
        }
    }
    let posterior = candidates.posterior(&odds);
    let having = candidates.probability_of_finding(&posterior);
    for (ix, commit) in bisection.commits.iter_mut().enumerate() {
        commit.first = posterior[ix];
        commit.having = having[ix];
    }
    bisection.finding = Some(sought.finding(&comparison));
    let ends = fewest(&measured, ends, MOST_RUNS_OF_ENDS)
        .filter(|_| sought.levels.error_probability() > CLEAR);
    if let Some(next) = ends {
        bisection.state = at_end(ancestry, next);
        return Ok(bisection);
    }
    bisection.state = decided(
        request,
        &posterior,
        &having,
        sought.levels.error_probability(),
    );
    Ok(bisection)
}

fn commit(request: &BisectRequest, measured: &MeasuredCommits, ix: usize) -> BisectedCommit {
    let hash = request.ancestry.commits()[ix].clone();
    let even = 1.0 / (request.ancestry.commits().len() - 1) as f64;
    BisectedCommit {
        runs: runs(measured, ix),
        first: even,
        having: if ix == 0 { 1.0 } else { 0.5 },
        skipped: request.skipped.get(&hash).cloned(),
        hash,
    }
}

fn runs(measured: &MeasuredCommits, commit: usize) -> usize {
    let runs = measured.runs.get(&commit);
    runs.map_or(0, |runs| runs.profiles.len())
}

/// Returns the end with fewer runs, if it has fewer than `enough`; the first if both have equally many.
fn fewest(measured: &MeasuredCommits, ends: [usize; 2], enough: usize) -> Option<usize> {
    let end = ends.into_iter().min_by_key(|&end| runs(measured, end))?;
    (runs(measured, end) < enough).then_some(end)
}

fn at_end(ancestry: &Ancestry, end: usize) -> BisectState {
    BisectState::Next(NextRun {
        commit: ancestry.commits()[end].clone(),
        information: None,
    })
}

/// Compares the bad commit with the good one as a release check does.
fn compared(
    sources: &Sources,
    request: &BisectRequest,
    measured: &MeasuredCommits,
    ends: [usize; 2],
) -> Result<Option<Comparison>, QueryError> {
    let (Some(baseline), Some(candidate)) = (
        measured.runs_of_commit(ends[0]),
        measured.runs_of_commit(ends[1]),
    ) else {
        return Ok(None);
    };
    let asked = CheckRequest {
        baseline: Some(Baseline::Any(baseline)),
        candidate,
        benchmarks: measured.benchmark.iter().cloned().collect(),
        event: measured.sample_type.as_ref().map(|t| t.event.clone()),
        matching: request.history.matching,
        ..request.check.clone()
    };
    Ok(check(sources, &asked)?.comparisons.into_iter().next())
}

/// Returns the commit if one is certain enough, or otherwise the one to measure next.
fn decided(request: &BisectRequest, posterior: &[f64], having: &[f64], wrong: f64) -> BisectState {
    let commits = request.ancestry.commits();
    let sure = request.sure.unwrap_or(BisectRequest::CONFIDENCE);
    let likeliest = (0..posterior.len()).max_by(|&a, &b| posterior[a].total_cmp(&posterior[b]));
    if let Some(first) = likeliest.filter(|&first| posterior[first] >= sure) {
        return BisectState::Found(commits[first].clone());
    }
    // The user has classified the bad commit, so it is not measured.
    let open = (1..posterior.len()).filter(|&ix| !request.skipped.contains_key(&commits[ix]));
    let told = open.map(|ix| (information(having[ix], wrong), ix));
    // Of equal ones, the first.
    let best = told.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    match best {
        Some((bits, ix)) if bits >= LEAST_INFORMATION => BisectState::Next(NextRun {
            commit: commits[ix].clone(),
            information: Some(bits),
        }),
        _ => BisectState::Undecided,
    }
}

/// The cost sought in every run.
struct SoughtCost {
    /// The function; `None` for the total cost of a run.
    function: Option<String>,
    /// Runs by commit.
    runs: BTreeMap<usize, Vec<Run>>,
    levels: Levels,
}

impl SoughtCost {
    fn load(
        sources: &Sources,
        request: &BisectRequest,
        measured: &MeasuredCommits,
        comparison: &Comparison,
        ends: [usize; 2],
    ) -> Result<SoughtCost, QueryError> {
        let query = HistoryQuery {
            executable: measured.executable.clone(),
            benchmarks: vec![measured.benchmark.clone().unwrap_or_default()],
            event: measured.sample_type.as_ref().map(|t| t.event.clone()),
            ancestry: None,
            ..request.history.clone()
        };
        let history = History::from_builds(sources.store()?, measured.builds.clone(), &query)?;
        let dispersion = comparison.statistics.as_ref().map(|s| s.dispersion.total);
        let measure = |of_runs: Vec<f64>| {
            let runs = samples_by_commit(&history, measured, &of_runs);
            let [without, with] = ends.map(|end| runs.get(&end).cloned().unwrap_or_default());
            let levels = Levels::from_runs(&without, &with, dispersion.unwrap_or(0.0));
            (runs, levels)
        };
        let first = comparison
            .findings
            .iter()
            .find(|finding| finding.is_regression());
        let functions = match (&request.function, first) {
            (Some(name), _) => history.find(name)?,
            (None, Some(finding)) => {
                let is_it =
                    |ix: &FunctionIx| history.functions[ix.get()].function == finding.function;
                let all = (0..history.functions.len()).map(FunctionIx::new);
                all.filter(is_it).collect()
            }
            (None, None) => Vec::new(),
        };
        if functions.is_empty() {
            let whole = history.runs.iter().map(|run| run.whole.samples as f64);
            let (runs, levels) = measure(whole.collect());
            return Ok(SoughtCost {
                function: None,
                runs,
                levels,
            });
        }
        // Self or total cost, whichever distinguishes the good and the bad commit better.
        let totals = history.totals_of(&functions);
        let totals = totals.iter().map(|cost| cost.samples as f64).collect();
        let selves = (0..history.runs.len()).map(|run| {
            let costs = history.self_costs(run);
            functions
                .iter()
                .map(|f| costs[f.get()].samples as f64)
                .sum()
        });
        let (total, self_) = (measure(totals), measure(selves.collect()));
        let (runs, levels) = if self_.1.error_probability() < total.1.error_probability() {
            self_
        } else {
            total
        };
        Ok(SoughtCost {
            function: Some(history.functions[functions[0].get()].function.clone()),
            runs,
            levels,
        })
    }

    fn finding(&self, comparison: &Comparison) -> SoughtFinding {
        let regressions = comparison
            .findings
            .iter()
            .filter(|finding| finding.is_regression());
        let is_it = |name: &str| self.function.as_deref() == Some(name);
        let reason = regressions.clone().find(|finding| is_it(&finding.function));
        SoughtFinding {
            function: self.function.clone(),
            reason: reason.map_or_else(|| comparison.reason.clone(), |f| f.reason.clone()),
            ratio: self.levels.ratio(),
            others: regressions
                .filter(|finding| !is_it(&finding.function))
                .map(|finding| finding.function.clone())
                .collect(),
        }
    }
}

/// Returns the samples in each run, by the run's commit.
fn samples_by_commit(
    history: &History,
    measured: &MeasuredCommits,
    of_runs: &[f64],
) -> BTreeMap<usize, Vec<Run>> {
    let mut commits = BTreeMap::new();
    for (&commit, selection) in &measured.runs {
        for run in &selection.profiles {
            commits.insert(run.id, commit);
        }
    }
    let mut found: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for (run, &samples) in history.runs.iter().zip(of_runs) {
        if let Some(&commit) = commits.get(&run.profile.id) {
            let whole = run.whole.samples as f64;
            found
                .entry(commit)
                .or_default()
                .push(Run { samples, whole });
        }
    }
    found
}
