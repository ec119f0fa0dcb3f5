//! What stacks cost.

use crate::QueryError;
use crate::compare::{self, CalibrateOptions, Calibration, CompareOptions};
use crate::functions::KeyOptions;
use crate::policy::Thresholds;
use crate::potential::{self, Degree, Potentials};
use crate::show::{self, ShownBuild};
use crate::sources::{EVENT, Filter, Named, Sources};
use crate::tree::{self, CallTree, Order, Prune, Top, View};
use serde::{Deserialize, Serialize};
use sto_core::Cancel;

/// Which functions cost most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TopRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// The cost that functions are ordered by.
    pub order: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// The most functions to list; all without it.
    pub limit: Option<usize>,
}

/// Lists the functions that cost most.
///
/// # Errors
/// As [`Sources::view`].
pub fn top(sources: &Sources, request: &TopRequest) -> Result<Top, QueryError> {
    let view = sources.view(&request.named, &request.filter)?;
    let view = with_inlined(view, request.inlined);
    Ok(tree::top(&view, EVENT, request.order, request.limit))
}

/// Which calls cost what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TreeRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// What to leave out.
    pub prune: Prune,
    /// Whether every call of a chain is shown, not only where it begins, branches or costs something.
    pub unfold: bool,
}

/// Gives the call tree, without what is small.
///
/// # Errors
/// As [`Sources::view`].
pub fn tree(sources: &Sources, request: &TreeRequest) -> Result<CallTree, QueryError> {
    let view = sources.view(&request.named, &request.filter)?;
    let tree = tree::call_tree(&view, EVENT, &request.prune);
    Ok(match request.unfold {
        true => tree.unfolded(),
        false => tree,
    })
}

/// Which functions could save most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PotentialRequest {
    /// The profiles, of any number of builds, whose costs are added up.
    pub named: Vec<Named>,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// How far below a function its potential reaches.
    pub degree: Degree,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// Which functions of several builds are one.
    pub matching: KeyOptions,
    /// The most functions to list; all without it.
    pub limit: Option<usize>,
}

/// Lists the functions that could save most.
///
/// # Errors
/// As [`Sources::view`].
pub fn potential(sources: &Sources, request: &PotentialRequest) -> Result<Potentials, QueryError> {
    let views = sources.views(&request.named, &request.filter)?;
    let views = views.into_iter();
    let views: Vec<View> = views
        .map(|view| with_inlined(view, request.inlined))
        .collect();
    Ok(potential::potential(
        &views,
        request.matching,
        EVENT,
        request.degree,
        request.limit,
    ))
}

/// What is known of profiles beside their stacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ShowRequest {
    /// The profiles.
    pub named: Named,
}

/// Says where profiles are from, and how much of their stacks can be trusted.
///
/// # Errors
/// As [`Sources::view`].
pub fn show(sources: &Sources, request: &ShowRequest) -> Result<ShownBuild, QueryError> {
    let (view, store) = sources.runs_with_contexts(&request.named)?;
    Ok(show::show(&view, &store)?)
}

/// What comparisons with a build are worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CalibrateRequest {
    /// The profiles.
    pub named: Named,
    /// Which of their runs, and by which event.
    pub filter: Filter,
    /// Thresholds of the comparisons.
    pub thresholds: Thresholds,
    /// Which functions are one.
    pub matching: KeyOptions,
    /// How many comparisons are made; by default as many as [`CalibrateOptions`] says.
    pub splits: Option<usize>,
    /// Runs a side; by default half of them.
    pub runs: Option<usize>,
    /// Ends it early.
    #[serde(skip)]
    pub cancel: Cancel,
}

/// Says how often a check would report what is not there, and how much it can see.
///
/// # Errors
/// As [`Sources::view`], and where a threshold is out of its range.
pub fn calibrate(sources: &Sources, request: &CalibrateRequest) -> Result<Calibration, QueryError> {
    let view = sources.runs(&request.named, &request.filter)?;
    let usual = CalibrateOptions::default();
    let options = CalibrateOptions {
        compare: request.thresholds.over(CompareOptions {
            matching: request.matching,
            cancel: request.cancel.clone(),
            ..usual.compare
        }),
        splits: request.splits.unwrap_or(usual.splits),
        runs: request.runs,
    };
    Ok(compare::calibrate(&view, EVENT, &options)?)
}

fn with_inlined(view: View, inlined: bool) -> View {
    match inlined {
        true => view,
        false => view.without_inlined(),
    }
}
