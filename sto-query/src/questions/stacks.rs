//! Costs of stacks.

use super::drawings;
use crate::QueryError;
use crate::compare::{self, CalibrateOptions, Calibration, CompareOptions};
use crate::functions::KeyOptions;
use crate::policy::Thresholds;
use crate::potential::{self, Degree, Potentials};
use crate::show::{self, ShownBuild};
use crate::sources::{BuildRef, EVENT, Filter, Sources};
use crate::tree::{self, CallTree, Listed, Order, Prune, Top};
use serde::{Deserialize, Serialize};

/// Request for the most expensive functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TopRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// The cost by which functions are ordered.
    pub order: Order,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// Only the cost of stacks that contain these functions, of which all shares are then: a name, a part of it, or
    /// `re:` and a regular expression.
    pub focus: Option<String>,
    /// Only functions with this text in their symbol or module, regardless of case.
    pub search: Option<String>,
    /// Number of functions to leave out at the beginning.
    pub offset: usize,
    /// Maximum number of functions; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Lists the most expensive functions.
pub(super) fn top(sources: &Sources, request: &TopRequest) -> Result<Top, QueryError> {
    let TopRequest {
        named,
        filter,
        inlined,
        ..
    } = request;
    let listed = Listed {
        search: request.search.as_deref(),
        offset: request.offset,
        limit: request.limit,
    };
    if request.focus.is_none() {
        let view = sources.view_by_function(named, filter, *inlined)?;
        return Ok(tree::top(&view, EVENT, request.order, &listed));
    }
    // The function may have been inlined everywhere.
    let view = sources.view(named, filter)?;
    let focus = drawings::functions(request.focus.as_deref(), sources, &[&view])?;
    let view = focus.map_or_else(|| (*view).clone(), |focus| focus.focused(&view, EVENT));
    let view = if *inlined {
        view
    } else {
        view.without_inlined()
    };
    Ok(tree::top(&view, EVENT, request.order, &listed))
}

/// Request for a call tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TreeRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// Limits of the tree.
    pub prune: Prune,
    /// Whether to show every call of a chain, not only those where it begins, branches or has a
    /// cost.
    pub unfold: bool,
}

/// Returns the pruned call tree.
pub(super) fn tree(sources: &Sources, request: &TreeRequest) -> Result<CallTree, QueryError> {
    let view = sources.view(&request.named, &request.filter)?;
    let tree = tree::call_tree(&view, EVENT, &request.prune);
    Ok(if request.unfold {
        tree.unfolded()
    } else {
        tree
    })
}

/// Request for the functions with the highest optimization potential.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PotentialRequest {
    /// The profiles of any number of builds, whose costs are added up.
    pub named: Vec<BuildRef>,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// Number of levels of callees that count for a function's potential.
    pub degree: Degree,
    /// Whether inlined functions count separately from those that they were compiled into.
    pub inlined: bool,
    /// How functions of several builds are matched.
    pub matching: KeyOptions,
    /// Maximum number of functions; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Lists the functions with the highest optimization potential.
pub(super) fn potential(
    sources: &Sources,
    request: &PotentialRequest,
) -> Result<Potentials, QueryError> {
    let views = sources.views(&request.named, &request.filter, request.inlined)?;
    Ok(potential::potential(
        &views,
        request.matching,
        EVENT,
        request.degree,
        request.limit,
    ))
}

/// Request for the details of profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ShowRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
}

/// Returns the origin of profiles, and the quality of their stacks.
pub(super) fn show(sources: &Sources, request: &ShowRequest) -> Result<ShownBuild, QueryError> {
    let (view, store) = sources.runs_with_contexts(&request.named)?;
    Ok(show::show(&view, &store)?)
}

/// Request for the reliability of comparisons with a build.
///
/// It is an error if a threshold is out of range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CalibrateRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// Thresholds of the comparisons.
    pub thresholds: Thresholds,
    /// How functions are matched.
    pub matching: KeyOptions,
    /// Number of comparisons; by default as in [`CalibrateOptions`].
    pub splits: Option<usize>,
    /// Number of runs on each side; half of the runs if `None`.
    pub runs: Option<usize>,
}

/// Measures how often a check reports false regressions, and how large a change it detects.
pub(super) fn calibrate(
    sources: &Sources,
    request: &CalibrateRequest,
) -> Result<Calibration, QueryError> {
    let view = sources.runs(&request.named, &request.filter)?;
    let usual = CalibrateOptions::default();
    let options = CalibrateOptions {
        compare: request.thresholds.override_options(CompareOptions {
            matching: request.matching,
            cancel: sources.context().cancel.clone(),
            ..usual.compare
        }),
        splits: request.splits.unwrap_or(usual.splits),
        runs: request.runs,
    };
    Ok(compare::calibrate(&view, EVENT, &options)?)
}
