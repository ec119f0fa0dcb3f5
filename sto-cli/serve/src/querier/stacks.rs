//! Flame graphs and pprof of summed stacks.

use super::request::{Request, Selected, found};
use crate::problem::Problem;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;
use sto_query::questions::{ExportFormat, ExportRequest, ExportedData, FlameRequest};
use sto_query::render::export::{Flamebearer, FlamebearerOptions, flamebearer, write};
use sto_query::results::View;
use sto_query::sources::{Context, Sources};

/// Number of boxes if the request does not say, and the largest one.
const USUAL_NODES: usize = 8192;
const MAX_NODES: usize = 1 << 18;

pub(super) fn merge(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let Some(graph) = flame_graph(request, sources, context)? else {
        return Ok(json!({}));
    };
    Ok(json!({ "flamegraph": {
        "names": graph.names,
        "levels": levels(&graph),
        "total": graph.totals[0],
        "maxSelf": graph.max_self,
    } }))
}

pub(super) fn diff(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Value, Problem> {
    let [Some(left), Some(right)] = [&request.left, &request.right] else {
        return Err(Problem::bad_request(
            "expected two selections, left and right",
        ));
    };
    let Some(graph) = difference([left, right], sources, context)? else {
        return Ok(json!({}));
    };
    Ok(json!({ "flamegraph": {
        "names": graph.names,
        "levels": levels(&graph),
        "total": graph.totals.iter().fold(0_i64, |sum, total| sum.saturating_add(*total)),
        "maxSelf": graph.max_self,
        "leftTicks": graph.totals[0],
        "rightTicks": graph.totals[1],
    } }))
}

fn levels(graph: &Flamebearer) -> Vec<Value> {
    let levels = graph.levels.iter();
    levels.map(|values| json!({ "values": values })).collect()
}

/// Returns the flame graph of the selected stacks; `None` without any stack.
pub(super) fn flame_graph(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Option<Flamebearer>, Problem> {
    let stacks = stacks(request, sources, context)?;
    Ok(stacks.map(|(view, selected)| {
        flamebearer(&[&view], options(request, selected.profile_type.by_samples))
    }))
}

/// Returns the flame graph of both selections next to each other; `None` if there are no stacks.
pub(super) fn difference(
    sides: [&Request; 2],
    sources: &Sources,
    context: &Context,
) -> Result<Option<Flamebearer>, Problem> {
    let [left, right] = sides.map(|side| stacks(side, sources, context));
    let (left, right) = (left?, right?);
    let Some((any, selected)) = left.as_ref().or(right.as_ref()) else {
        return Ok(None);
    };
    // A side without stacks has the other's stacks without cost.
    let mut none = View::clone(any);
    none.runs.clear();
    let views = [&left, &right].map(|side| side.as_ref().map_or(&none, |(view, _)| &**view));
    let options = options(sides[0], selected.profile_type.by_samples);
    Ok(Some(flamebearer(&views, options)))
}

fn options(request: &Request, by_samples: bool) -> FlamebearerOptions {
    FlamebearerOptions {
        max_nodes: match usize::try_from(request.max_nodes) {
            Ok(count @ 1..) => count.min(MAX_NODES),
            _ => USUAL_NODES,
        },
        by_samples,
    }
}

fn stacks(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Option<(Arc<View>, Selected)>, Problem> {
    let Some(selected) = request.select(sources, context)? else {
        return Ok(None);
    };
    let mut question = FlameRequest::default();
    (question.named, question.filter) = selected.named();
    let flame = found(sto_query::ask(sources, &question, context))?;
    let view = flame.map(|flame| flame.view).filter(|view| has_cost(view));
    Ok(view.map(|view| (view, selected)))
}

fn has_cost(view: &View) -> bool {
    view.runs.iter().flatten().any(|costs| !costs.is_empty())
}

/// Returns the selected stacks in pprof's format, not compressed; nothing without any stack.
pub(super) fn pprof(
    request: &Request,
    sources: &Sources,
    context: &Context,
) -> Result<Vec<u8>, Problem> {
    let compressed = export(request, ExportFormat::Pprof, sources, context)?;
    let mut bytes = Vec::new();
    if let Some(compressed) = compressed {
        GzDecoder::new(&*compressed)
            .read_to_end(&mut bytes)
            .map_err(|_| Problem::internal())?;
    }
    Ok(bytes)
}

/// Returns the selected stacks in a format of another tool; `None` without any stack.
pub(super) fn export(
    request: &Request,
    format: ExportFormat,
    sources: &Sources,
    context: &Context,
) -> Result<Option<Vec<u8>>, Problem> {
    let Some(selected) = request.select(sources, context)? else {
        return Ok(None);
    };
    let mut question = ExportRequest::default();
    (question.named, question.filter) = selected.named();
    question.format = format;
    let Some(exported) = found(sto_query::ask(sources, &question, context))? else {
        return Ok(None);
    };
    if let ExportedData::Stacks(view, _) = &exported.data
        && !has_cost(view)
    {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    write(&exported, false, &mut bytes)?;
    Ok(Some(bytes))
}
