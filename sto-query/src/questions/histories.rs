//! Analyses of a history of runs.

use crate::QueryError;
use crate::correlate::{self, BottleneckOptions, Bottlenecks};
use crate::expand::{
    self, BranchSelection, CorrelationSelection, Direction, ExpandLimits, Expansion,
    GreedySelection, InformedSelection, Method, PositiveSelection, StopCriterion,
};
use crate::history::{
    self, Evolution, History, HistoryError, HistoryQuery, Judged, JudgedWindow, Occurrences,
};
use crate::series::{
    self, FunctionSeries, Observation, Observed, ScoreOptions, Scores, SeriesOptions,
};
use crate::sources::Sources;
use crate::suspects::{SuspectOptions, Suspects};
use crate::tree::Prune;
use serde::{Deserialize, Serialize};

/// Default number of builds or runs from which the next one is predicted.
const WINDOW: usize = 10;

/// The build of a history that is judged, and the builds it is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgedRequest {
    /// The id of a run of the build, or its beginning; the newest build if `None`.
    pub at: Option<String>,
    /// Number of builds before it from which it is predicted; if the program has only one build,
    /// number of runs.
    pub window: usize,
    /// Number of runs before it from which it is predicted instead, whether or not there was a level shift among
    /// them.
    pub window_runs: Option<usize>,
}

impl Default for JudgedRequest {
    fn default() -> Self {
        JudgedRequest {
            at: None,
            window: WINDOW,
            window_runs: None,
        }
    }
}

impl JudgedRequest {
    fn find_build(&self, history: &History) -> Result<Judged, HistoryError> {
        let builds = JudgedWindow::Builds(self.window);
        let window = self.window_runs.map_or(builds, JudgedWindow::Runs);
        history.choose_judged(self.at.as_deref(), window)
    }
}

/// Request for the cost of a function, or of a whole program, over the runs of a program.
///
/// It is an error if there is no such history, or no such function in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SeriesRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression. The whole program if empty.
    pub function: String,
    /// The runs.
    pub history: HistoryQuery,
    /// The unit of observation.
    pub by: Observation,
    /// The observed number.
    pub observed: Observed,
    /// Number of observations before each one from which it is predicted.
    pub window: usize,
}

impl Default for SeriesRequest {
    fn default() -> Self {
        SeriesRequest {
            function: String::new(),
            history: HistoryQuery::default(),
            by: Observation::default(),
            observed: Observed::default(),
            window: WINDOW,
        }
    }
}

/// Returns the cost of a function over the runs of a program.
pub(super) fn series(
    sources: &Sources,
    request: &SeriesRequest,
) -> Result<FunctionSeries, QueryError> {
    let history = loaded(sources, &request.history)?;
    let functions = match &*request.function {
        "" => None,
        function => Some(history.find(function)?),
    };
    let options = SeriesOptions {
        by: request.by,
        observed: request.observed,
        window: request.window,
    };
    Ok(series::series(&history, functions.as_deref(), options))
}

/// Request for the functions of a build that differ from earlier builds.
///
/// It is an error if there is no such history, or no such run in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RegressionsRequest {
    /// The runs.
    pub history: HistoryQuery,
    /// The build that is judged.
    pub judged: JudgedRequest,
    /// Share below which functions are left out if they don't reach it in any run; by default as in
    /// [`ScoreOptions`].
    pub min_share: Option<f64>,
    /// Score below which functions are left out, unless they had a level shift.
    pub min_score: Option<f64>,
    /// Maximum number of functions; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Lists the functions of a build that are far from the values predicted by earlier builds, for each benchmark.
pub(super) fn regressions_over_time(
    sources: &Sources,
    request: &RegressionsRequest,
) -> Result<Scores, QueryError> {
    let usual = ScoreOptions::default();
    let options = ScoreOptions {
        min_share: request.min_share.unwrap_or(usual.min_share),
        ..usual
    };
    let (min_score, limit) = (request.min_score, request.limit);
    let histories = History::load_by_benchmark(sources.store()?, &request.history)?;
    let mut scores = histories.iter().map(|history| {
        let judged = request.judged.find_build(history)?;
        Ok(series::regressions_over_time(
            history, &judged, options, min_score, limit,
        ))
    });
    let first = scores
        .next()
        .expect("a query that selects no run is an error");
    Ok(Scores {
        other_benchmarks: scores.collect::<Result<_, QueryError>>()?,
        ..first?
    })
}

/// Request for the runs in which a function exceeds a share.
///
/// It is an error if there are no such runs, or no such function in them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OccurrencesRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression.
    pub function: String,
    /// The runs, of any program and benchmark.
    pub history: HistoryQuery,
    /// The share to exceed, from 0 to 1.
    pub over: f64,
}

/// Finds the runs in which a function exceeds a share.
pub(super) fn occurrences(
    sources: &Sources,
    request: &OccurrencesRequest,
) -> Result<Occurrences, QueryError> {
    let histories = all(sources, &request.history)?;
    let found = history::occurrences(&histories, &request.function, request.over)?;
    Ok(found)
}

/// Request for the call tree of a program over its builds.
///
/// It is an error if there are no such runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EvolveRequest {
    /// The runs.
    pub history: HistoryQuery,
    /// Limits of the tree. A stack is kept if its share is large enough in one build.
    pub prune: Prune,
}

/// Returns the call tree of a program with the cost of each stack in each build.
pub(super) fn evolve(sources: &Sources, request: &EvolveRequest) -> Result<Evolution, QueryError> {
    let history = History::load(sources.store()?, &request.history)?;
    Ok(history::evolution(&history, &request.prune))
}

/// Request for the functions whose cost correlates with a metric.
///
/// It is an error if there are no such runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BottlenecksRequest {
    /// The runs, of any program and benchmark.
    pub history: HistoryQuery,
    /// The metric and the method.
    pub options: BottleneckOptions,
    /// Maximum number of functions; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Lists the functions that cost more in the runs in which a metric is higher.
pub(super) fn bottlenecks(
    sources: &Sources,
    request: &BottlenecksRequest,
) -> Result<Bottlenecks, QueryError> {
    let histories = all(sources, &request.history)?;
    let BottlenecksRequest { options, limit, .. } = request;
    Ok(correlate::bottlenecks(&histories, options, *limit))
}

/// Request for the contexts of a function that explain its change.
///
/// It is an error if there is no such history, no such run or function in it, or fewer than two runs have the
/// metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpandRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression that matches one
    /// function.
    pub function: String,
    /// The runs.
    pub history: HistoryQuery,
    /// The build that is judged.
    pub judged: JudgedRequest,
    /// Whether to expand callers or callees.
    pub direction: Direction,
    /// How contexts are ranked.
    pub method: Method,
    /// The metric, for [`Method::Correlation`].
    pub metric: String,
    /// How far to expand.
    pub reach: ExpandLimits,
    /// Whether to show every context of a chain, not only those where it begins, branches or
    /// changes.
    pub unfold: bool,
}

/// Finds the contexts in which a function behaves differently than before.
pub(super) fn expand(sources: &Sources, request: &ExpandRequest) -> Result<Expansion, QueryError> {
    let history = loaded(sources, &request.history)?;
    let judged = request.judged.find_build(&history)?;
    let newest = judged.newest();
    let greedy = GreedySelection(judged);
    let ExpandRequest {
        direction,
        method,
        reach,
        ..
    } = *request;
    let selection: Box<dyn BranchSelection> = match method {
        Method::Greedy => Box::new(greedy.clone()),
        Method::Informed => {
            let recorded = history.runs[newest].profile.profile.origin.recorded;
            Box::new(InformedSelection {
                greedy: greedy.clone(),
                history: &history,
                changed: sources.environment().changes(recorded),
            })
        }
        Method::Correlation => Box::new(CorrelationSelection::new(&history, &request.metric)?),
    };
    let positive = PositiveSelection(&*selection);
    let criterion: &dyn StopCriterion = match method {
        Method::Correlation => &positive,
        Method::Greedy | Method::Informed => &greedy,
    };
    let function = history.largest(&history.find_one(&request.function)?, newest);
    let branches = expand::expand(&history, function, direction, criterion, &*selection, reach);
    let expansion = expand::expansion(&history, &branches, direction, method, &greedy, &*selection);
    Ok(if request.unfold {
        expansion.unfolded()
    } else {
        expansion
    })
}

/// Request for the suspects of a build: functions that are far from the values predicted by earlier
/// builds, with their history and contexts.
///
/// It is an error if there is no such history, or no such run in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SuspectsRequest {
    /// The runs.
    pub history: HistoryQuery,
    /// The run that is judged, see [`JudgedRequest::at`].
    pub at: Option<String>,
    /// The functions to consider, and the number of earlier builds.
    pub options: SuspectOptions,
}

/// Finds the functions of a build that are far from the values predicted by earlier builds, their
/// histories, and the contexts that explain them.
pub(super) fn suspects(
    sources: &Sources,
    request: &SuspectsRequest,
) -> Result<Suspects, QueryError> {
    let history = loaded(sources, &request.history)?;
    let judged = history.choose_judged(
        request.at.as_deref(),
        JudgedWindow::Builds(request.options.window),
    )?;
    Ok(Suspects::find(&history, judged, request.options))
}

fn loaded(sources: &Sources, query: &HistoryQuery) -> Result<History, QueryError> {
    Ok(History::load(sources.store()?, query)?)
}

fn all(sources: &Sources, query: &HistoryQuery) -> Result<Vec<History>, QueryError> {
    Ok(History::load_all(sources.store()?, query)?)
}
