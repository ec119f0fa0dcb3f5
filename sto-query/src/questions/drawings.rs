//! Stacks for drawings.

use crate::QueryError;
use crate::answer::Answer;
use crate::calls::new_outliers;
use crate::compare::{CompareOptions, Comparison, Focus, compare};
use crate::functions::KeyOptions;
use crate::sources::{BuildRef, EVENT, Filter, Sources};
use crate::tree::{RootsBy, View, Window};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use sto_core::store::Snapshot;

/// The stacks that a drawing shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DrawnStacks {
    /// Only stacks that contain these functions, as parsed by [`Focus::new`].
    pub focus: Option<String>,
    /// No stack that contains these functions.
    pub ignore: Option<String>,
    /// The roots below which stacks are placed.
    pub by: Option<RootsBy>,
}

/// Request for a flame graph.
///
/// It is an error if no function has a requested name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FlameRequest {
    /// The profiles.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event.
    pub filter: Filter,
    /// The stacks to draw.
    pub stacks: DrawnStacks,
}

/// Request for a differential flame graph.
///
/// It is an error if no function has a requested name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DiffRequest {
    /// The baseline.
    pub baseline: BuildRef,
    /// The candidate.
    pub candidate: BuildRef,
    /// Filter of their runs, the event, and the part of their time.
    pub filter: Filter,
    /// The part of the baseline's time, if it differs.
    pub against: Option<Window>,
    /// How functions of the two builds are matched.
    pub matching: KeyOptions,
    /// The stacks to draw.
    pub stacks: DrawnStacks,
}

/// The stacks of a flame graph. In JSON, they are columns: the caller, the frame, self and total cost of each stack.
#[derive(Debug)]
#[non_exhaustive]
pub struct FlameStacks {
    /// The stacks and their costs.
    pub view: Arc<View>,
    /// The functions of [`DrawnStacks::focus`].
    pub focus: Option<Focus>,
    /// The functions of [`DrawnStacks::ignore`].
    pub ignore: Option<Focus>,
}

/// The stacks of a differential flame graph, and the comparison of their functions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffStacks {
    /// The baseline and the candidate.
    #[serde(skip)]
    pub views: [View; 2],
    /// The functions of [`DrawnStacks::focus`].
    #[serde(skip)]
    pub focus: Option<Focus>,
    /// The functions of [`DrawnStacks::ignore`].
    #[serde(skip)]
    pub ignore: Option<Focus>,
    /// The comparison, with the test of every function and the stacks of both sides.
    pub comparison: Comparison,
    /// For traces of calls, a sentence about functions whose calls took unusually long only in the
    /// candidate.
    pub new_outliers: Option<String>,
}

impl Answer for DiffStacks {
    const SCHEMA: &'static str = "sto.diff/1";
}

/// Loads the stacks of a flame graph.
pub(super) fn flame(sources: &Sources, request: &FlameRequest) -> Result<FlameStacks, QueryError> {
    let FlameRequest {
        named,
        filter,
        stacks,
    } = request;
    let view = match &stacks.by {
        None => sources.view(named, filter)?,
        Some(by) => Arc::new(sources.view_with_roots(named, filter, by)?),
    };
    Ok(FlameStacks {
        focus: functions(stacks.focus.as_deref(), sources, &[&view])?,
        ignore: functions(stacks.ignore.as_deref(), sources, &[&view])?,
        view,
    })
}

/// Loads the stacks of two sides.
pub(super) fn diff(sources: &Sources, request: &DiffRequest) -> Result<DiffStacks, QueryError> {
    let (named, filter) = ([&request.baseline, &request.candidate], &request.filter);
    let stacks = &request.stacks;
    let (views, new_outliers) = match &stacks.by {
        None => {
            let sides = sources.pair_and_stores(named, filter, request.against, None)?;
            let longer = longer_calls(&sides)?;
            (sides.map(|(view, _)| view), longer)
        }
        Some(by) => (
            sources.pair_with_roots(named, filter, request.against, by)?,
            None,
        ),
    };
    let both = views.each_ref();
    let options = CompareOptions {
        matching: request.matching,
        all: true,
        stacks: true,
        cancel: sources.context().cancel.clone(),
        ..CompareOptions::default()
    };
    let mut comparison = compare(both[0], both[1], &options)?;
    let focus = functions(stacks.focus.as_deref(), sources, &both)?;
    let ignore = functions(stacks.ignore.as_deref(), sources, &both)?;
    if let Some(drawn) = &mut comparison.stacks {
        focus.iter().for_each(|focus| focus.restrict(drawn, false));
        ignore
            .iter()
            .for_each(|ignore| ignore.restrict(drawn, true));
    }
    Ok(DiffStacks {
        comparison,
        focus,
        ignore,
        views,
        new_outliers,
    })
}

/// Returns the functions with this name.
pub(super) fn functions(
    name: Option<&str>,
    sources: &Sources,
    views: &[&View],
) -> Result<Option<Focus>, QueryError> {
    let Some(name) = name else { return Ok(None) };
    let focus = Focus::new(name, views)?;
    if let several @ [_, _, ..] = focus.functions() {
        sources.environment().takes_all(name, several);
    }
    Ok(Some(focus))
}

/// Returns a sentence about calls that took unusually long only in the candidate, if the sides are
/// traces of calls.
fn longer_calls(sides: &[(View, Snapshot); 2]) -> Result<Option<String>, QueryError> {
    let is_time = |(view, _): &(View, _)| {
        let sample_type = view.sample_types.get(EVENT);
        sample_type.is_some_and(|sample_type| view.is_time_of_calls(sample_type))
    };
    if !sides.iter().all(is_time) {
        return Ok(None);
    }
    let sides = sides
        .each_ref()
        .map(|(view, store)| (store, &view.selection));
    Ok(new_outliers(sides, CompareOptions::default().min_share)?)
}
