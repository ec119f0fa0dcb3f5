//! What is known from runs one after another.

use crate::QueryError;
use crate::correlate::{self, BottleneckOptions, Bottlenecks};
use crate::expand::{
    self, Correlated, Direction, Expansion, Greedy, Informed, Method, Positive, Reach, Selection,
    StopCriterion,
};
use crate::history::{self, History, HistoryError, HistoryQuery, Judged, Occurrences};
use crate::series::{self, FunctionSeries, Observation, ScoreOptions, Scores};
use crate::sources::Sources;
use crate::suspects::{SuspectOptions, Suspects};
use serde::{Deserialize, Serialize};

/// Builds, or runs, from which the next is predicted.
const WINDOW: usize = 10;

/// Which build of a history is judged, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct JudgedRequest {
    /// The id of a run of the build, or the start of it; without it, the newest build is judged.
    pub at: Option<String>,
    /// Number of builds before from which it is predicted; of a program with one build, number of runs.
    pub window: usize,
}

impl Default for JudgedRequest {
    fn default() -> Self {
        JudgedRequest {
            at: None,
            window: WINDOW,
        }
    }
}

impl JudgedRequest {
    fn of(&self, history: &History) -> Result<Judged, HistoryError> {
        history.judged(self.at.as_deref(), self.window)
    }
}

/// A function over the runs of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SeriesRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression.
    pub function: String,
    /// The runs.
    pub history: HistoryQuery,
    /// What one observation is.
    pub by: Observation,
    /// Number of observations before one from which it is predicted.
    pub window: usize,
}

impl Default for SeriesRequest {
    fn default() -> Self {
        SeriesRequest {
            function: String::new(),
            history: HistoryQuery::default(),
            by: Observation::default(),
            window: WINDOW,
        }
    }
}

/// Follows a function over the runs of a program.
///
/// # Errors
/// Where there is no such history, or no such function in it.
pub fn series(sources: &Sources, request: &SeriesRequest) -> Result<FunctionSeries, QueryError> {
    let history = loaded(sources, &request.history)?;
    let functions = history.find(&request.function)?;
    let SeriesRequest { by, window, .. } = *request;
    Ok(series::series(&history, &functions, by, window))
}

/// The functions of a build against those before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RegressionsRequest {
    /// The runs.
    pub history: HistoryQuery,
    /// Which of them are judged.
    pub judged: JudgedRequest,
    /// Functions with a smaller share of every run that is looked at are left out; by default as
    /// [`ScoreOptions`] says.
    pub min_share: Option<f64>,
    /// Functions that score less are left out, but for those that had a level shift.
    pub min_score: Option<f64>,
    /// The most functions to list; all without it.
    pub limit: Option<usize>,
}

/// Lists the functions of a build that are far from what the builds before lead to expect.
///
/// # Errors
/// Where there is no such history, or no such run in it.
pub fn regressions_over_time(
    sources: &Sources,
    request: &RegressionsRequest,
) -> Result<Scores, QueryError> {
    let history = loaded(sources, &request.history)?;
    let judged = request.judged.of(&history)?;
    let usual = ScoreOptions::default();
    let options = ScoreOptions {
        min_share: request.min_share.unwrap_or(usual.min_share),
        ..usual
    };
    let (min_score, limit) = (request.min_score, request.limit);
    let scores = series::regressions_over_time(&history, &judged, options, min_score, limit);
    Ok(scores)
}

/// The runs in which a function takes more than a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct OccurrencesRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression.
    pub function: String,
    /// The runs, of any program and benchmark.
    pub history: HistoryQuery,
    /// The share that it has to exceed, from 0 to 1.
    pub over: f64,
}

/// Finds the runs in which a function takes more than a share.
///
/// # Errors
/// Where there are no such runs, or no such function in them.
pub fn occurrences(
    sources: &Sources,
    request: &OccurrencesRequest,
) -> Result<Occurrences, QueryError> {
    let histories = all(sources, &request.history)?;
    let found = history::occurrences(&histories, &request.function, request.over)?;
    Ok(found)
}

/// The functions whose cost goes with a metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BottlenecksRequest {
    /// The runs, of any program and benchmark.
    pub history: HistoryQuery,
    /// What is correlated, and how.
    pub options: BottleneckOptions,
    /// The most functions to list; all without it.
    pub limit: Option<usize>,
}

/// Lists the functions that cost more in the runs in which a metric is higher.
///
/// # Errors
/// Where there are no such runs.
pub fn bottlenecks(
    sources: &Sources,
    request: &BottlenecksRequest,
) -> Result<Bottlenecks, QueryError> {
    let histories = all(sources, &request.history)?;
    let BottlenecksRequest { options, limit, .. } = request;
    Ok(correlate::bottlenecks(&histories, options, *limit))
}

/// The contexts of a function that explain its behaviour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExpandRequest {
    /// The function: its name, a part of it, or `re:` and a regular expression that fits one.
    pub function: String,
    /// The runs.
    pub history: HistoryQuery,
    /// Which of them are judged.
    pub judged: JudgedRequest,
    /// Where to.
    pub direction: Direction,
    /// How contexts are ranked.
    pub method: Method,
    /// The metric, for [`Method::Correlation`].
    pub metric: String,
    /// How far.
    pub reach: Reach,
    /// Whether every context of a chain is shown, not only where it begins, branches or changes.
    pub unfold: bool,
}

/// Shows in which contexts a function behaves otherwise than before.
///
/// # Errors
/// Where there is no such history, no such run or function in it, or no two runs have the metric.
pub fn expand(sources: &Sources, request: &ExpandRequest) -> Result<Expansion, QueryError> {
    let history = loaded(sources, &request.history)?;
    let judged = request.judged.of(&history)?;
    let newest = judged.newest();
    let greedy = Greedy(judged);
    let ExpandRequest {
        direction,
        method,
        reach,
        ..
    } = *request;
    let selection: Box<dyn Selection> = match method {
        Method::Greedy => Box::new(greedy.clone()),
        Method::Informed => {
            let recorded = history.runs[newest].profile.profile.origin.recorded;
            Box::new(Informed {
                greedy: greedy.clone(),
                history: &history,
                changed: sources.surroundings().changes(recorded),
            })
        }
        Method::Correlation => Box::new(Correlated::with(&history, &request.metric)?),
    };
    let positive = Positive(&*selection);
    let criterion: &dyn StopCriterion = match method {
        Method::Correlation => &positive,
        Method::Greedy | Method::Informed => &greedy,
    };
    let function = history.largest(&history.find_one(&request.function)?, newest);
    let branches = expand::expand(&history, function, direction, criterion, &*selection, reach);
    let expansion = expand::expansion(&history, &branches, direction, method, &greedy, &*selection);
    Ok(match request.unfold {
        true => expansion.unfolded(),
        false => expansion,
    })
}

/// The functions of a build that are far from what the builds before lead to expect, with all that explains
/// them: what a page is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SuspectsRequest {
    /// The runs.
    pub history: HistoryQuery,
    /// Which run is judged: see [`JudgedRequest::at`].
    pub at: Option<String>,
    /// Which functions are looked at, and by how many builds before.
    pub options: SuspectOptions,
}

/// Finds the functions of a build that are far from what the builds before lead to expect, their histories,
/// and the contexts that explain them.
///
/// # Errors
/// Where there is no such history, or no such run in it.
pub fn suspects(sources: &Sources, request: &SuspectsRequest) -> Result<Suspects, QueryError> {
    let history = loaded(sources, &request.history)?;
    let judged = history.judged(request.at.as_deref(), request.options.window)?;
    Ok(Suspects::of(&history, judged, request.options))
}

fn loaded(sources: &Sources, query: &HistoryQuery) -> Result<History, QueryError> {
    Ok(History::load(sources.store()?, query)?)
}

fn all(sources: &Sources, query: &HistoryQuery) -> Result<Vec<History>, QueryError> {
    Ok(History::load_all(sources.store()?, query)?)
}
